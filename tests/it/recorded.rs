//! A session with recorded answers about a public package, replayed in another folder.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::support::TestRepo;

const RECORDINGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/recordings");

/// The exchanges of one recording, by the names of their files.
fn exchanges(package: &str) -> Vec<(String, String)> {
    let folder = Path::new(RECORDINGS).join(package);
    let names = (1..).map(|number| format!("{number:04}.json"));
    let there = names.take_while(|name| folder.join(name).is_file());
    there
        .map(|name| {
            let text = std::fs::read_to_string(folder.join(&name)).expect("an exchange");
            (name, text)
        })
        .collect()
}

/// What a question shows under a title.
fn shown(exchange: &str, title: &str) -> String {
    let exchange: Value = serde_json::from_str(exchange).expect("an exchange");
    let prompt = exchange["prompt"].as_str().expect("a prompt");
    let (_, rest) = prompt.split_once(&format!("\n## {title}\n\nBEGIN ")).expect("a title");
    let (fence, text) = rest.split_once('\n').expect("a fence");
    let (text, _) = text.split_once(&format!("\nEND {fence}")).expect("an end");
    text.to_owned()
}

#[test]
#[ignore = "needs node; recorded_questions_are_those_of_the_templates_and_carry_no_place_of_a_machine always runs"]
fn tests_of_a_public_package_are_written_again_from_recorded_answers() {
    let list = exchanges("ms");
    let asked = &list.iter().find(|(name, _)| name == "0003.json").expect("a third question").1;
    let (source, manifest) =
        (shown(asked, "The source index.js"), shown(asked, "The manifest package.json"));
    let repo = TestRepo::new(&[("index.js", &source), ("package.json", &manifest)]);
    // The recording names the release of Node.js that was there.
    let version = Command::new("node").arg("--version").output().expect("node").stdout;
    let version = String::from_utf8(version).expect("text");
    let release = version.trim_start_matches('v').split('.').next().unwrap_or_default();
    let tape = repo.around().join("tape");
    std::fs::create_dir(&tape).expect("a folder");
    for (name, text) in &list {
        let text = text.replace("node --test 20\\n", &format!("node --test {release}\\n"));
        std::fs::write(tape.join(name), text).expect("an exchange");
    }
    std::fs::copy(Path::new(RECORDINGS).join("ms/run.json"), tape.join("run.json")).expect("a run");
    let tape = tape.display().to_string();
    let ran = repo.regreen(&["test", "index.js", "--no-coverage", "--json", "--replay", &tape]);
    let document = ran.document();
    assert_eq!(ran.code, Some(0), "{document:#}\n{}", ran.err);
    assert_eq!(document["result"], "generated");
    assert_eq!(document["degraded"], false);
    let produced = &document["produced"];
    assert_eq!(produced["authors"]["test/index.test.js"], "recorded", "{produced:#}");
    assert_eq!(produced["authors"]["test/index.more.test.js"], "recorded", "{produced:#}");
    assert_eq!(produced["tests"], 15, "{produced:#}");
    assert_eq!(produced["flaky"], 0);
    let score = produced["mutation-score"].as_str().and_then(|score| score.parse::<f64>().ok());
    assert!(score.is_some_and(|score| score > 95.0), "{produced:#}");
}
