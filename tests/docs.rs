//! What the docs name exists. `REGREEN_BLESS=1` writes the generated tables of the README.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the test reads the docs of this project and asks the binary for its help"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// README, docs and the notes beside them.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md"), root().join("CONTRIBUTING.md")];
    for entry in fs::read_dir(root().join("docs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "md") {
            pages.push(path);
        }
    }
    pages
}

/// A table of `action.yml`; `default` adds a column.
fn table(what: &str, default: bool) -> String {
    let text = fs::read_to_string(root().join("action.yml")).unwrap();
    let action: serde_yaml::Value = serde_yaml::from_str(&text).unwrap();
    let mut table = if default {
        String::from("| Input | Given by default | What it sets |\n|---|---|---|\n")
    } else {
        String::from("| Output | Meaning |\n|---|---|\n")
    };
    for (name, row) in action[what].as_mapping().unwrap() {
        let cell = |key: &str| {
            row.get(key).and_then(|text| text.as_str()).unwrap_or_default().replace('|', "\\|")
        };
        let name = name.as_str().unwrap();
        if default {
            let given = cell("default");
            let given = if given.is_empty() { given } else { format!("`{given}`") };
            table.push_str(&format!("| `{name}` | {given} | {} |\n", cell("description")));
        } else {
            table.push_str(&format!("| `{name}` | {} |\n", cell("description")));
        }
    }
    table
}

#[test]
fn the_tables_of_the_readme_are_those_of_the_action() {
    let page = root().join("README.md");
    let text = fs::read_to_string(&page).unwrap();
    let mut current = text.clone();
    for (what, default) in [("inputs", true), ("outputs", false)] {
        let (start, end) = (format!("<!-- {what} -->\n"), format!("<!-- end of {what} -->"));
        let (before, rest) = current.split_once(&start).expect("a place for the table");
        let (_, after) = rest.split_once(&end).expect("the end of the table");
        current = format!("{before}{start}{}{end}{after}", table(what, default));
    }
    if std::env::var("REGREEN_BLESS").is_ok() {
        fs::write(&page, current).unwrap();
    } else {
        assert_eq!(text, current, "run the test with REGREEN_BLESS=1");
    }
}

/// The help of a verb, or of the whole when none is named; `None` when there is no such verb.
fn help(verb: Option<&str>) -> Option<String> {
    let out =
        Command::new(env!("CARGO_BIN_EXE_regreen")).args(verb).arg("--help").output().unwrap();
    out.status.success().then(|| String::from_utf8(out.stdout).unwrap())
}

/// Words of lines that call `regreen`: the verb, and the flags behind it.
fn calls(text: &str) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    // Of a block with more than one line only what follows a prompt is a call.
    let code = text.split('`').skip(1).step_by(2).filter(|span| !span.contains('\n'));
    let console = text.lines().filter_map(|line| line.strip_prefix("$ "));
    for call in code.chain(console) {
        let call = call.trim_start_matches("$ ").split('#').next().unwrap();
        let Some(rest) = call.strip_prefix("regreen ") else { continue };
        let mut words = rest.split_whitespace();
        let Some(verb) = words.next().filter(|word| word.chars().all(char::is_alphabetic)) else {
            continue;
        };
        let flags = words
            .filter(|word| word.starts_with("--"))
            .map(|word| word.split('=').next().unwrap().trim_end_matches([',', '.']).to_owned());
        found.push((verb.to_owned(), flags.collect()));
    }
    found
}

#[test]
fn verbs_and_flags_in_the_docs_exist() {
    let mut wrong = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for page in pages() {
        for (verb, flags) in calls(&fs::read_to_string(&page).unwrap()) {
            let Some(help) = help(Some(&verb)) else {
                wrong.insert(format!("{}: regreen {verb}", page.display()));
                continue;
            };
            for flag in flags {
                if !help.split([' ', ',', '\n', '=', '[']).any(|word| word == flag) {
                    wrong.insert(format!("{}: regreen {verb} {flag}", page.display()));
                }
            }
            seen.insert(verb);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(seen.contains("fix") && seen.contains("doctor"), "{seen:?}");
    assert_eq!(help(Some("no-such-verb")), None);
}

#[test]
fn links_in_the_docs_lead_somewhere() {
    let (mut wrong, mut count) = (BTreeSet::new(), 0);
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for rest in text.split("](").skip(1) {
            let target = rest.split([')', '#', ' ']).next().unwrap();
            if target.is_empty() || target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            count += 1;
            if !page.parent().unwrap().join(target).exists() {
                wrong.insert(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count > 10, "{count} links");
}

#[test]
fn paths_in_backticks_exist() {
    let mut wrong = BTreeSet::new();
    let mut count = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for span in text.split('`').skip(1).step_by(2) {
            let ours =
                ["src/", "docs/", "tests/", "benches/"].iter().any(|at| span.starts_with(at));
            let plain = !span.contains(['<', '*', ' ', '…', '\n', '{']);
            if ours && plain {
                count += 1;
                if !root().join(span).exists() {
                    wrong.insert(format!("{}: {span}", page.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count > 2, "{count} paths");
}

/// All names of tests in the sources.
fn tests() -> BTreeSet<String> {
    let mut folders = vec![root().join("src"), root().join("tests")];
    let mut found = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = fs::read_to_string(path).unwrap();
                let mut marked = false;
                for line in text.lines().map(str::trim) {
                    if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
                        marked = true;
                    } else if let Some((_, rest)) = line.split_once("fn ").filter(|_| marked) {
                        found.insert(rest.split('(').next().unwrap().to_owned());
                        marked = false;
                    }
                }
            }
        }
    }
    found
}

#[test]
fn every_test_that_a_page_relies_on_exists() {
    let known = tests();
    assert!(known.len() > 300, "{} tests", known.len());
    let (mut wrong, mut count) = (BTreeSet::new(), 0);
    for page in ["SECURITY.md", "docs/peers.md", "docs/validation.md"] {
        let text = fs::read_to_string(root().join(page)).unwrap();
        let mut column = None;
        for line in text.lines() {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            if let Some(found) = cells.iter().position(|cell| *cell == "Test") {
                column = Some(found);
                continue;
            }
            let Some(index) = column.filter(|_| line.starts_with('|')) else {
                column = None;
                continue;
            };
            let cell = cells.get(index).copied().unwrap_or_default();
            if cell.starts_with("---") || matches!(cell, "the same two" | "the same four") {
                continue;
            }
            let names: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
            if names.is_empty() {
                wrong.insert(format!("{page}: no test in `{line}`"));
            }
            count += names.len();
            let unknown = names.iter().filter(|name| !known.contains(**name));
            wrong.extend(unknown.map(|name| format!("{page}: {name}")));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count > 70, "{count} tests named");
    let demands = fs::read_to_string(root().join("docs/peers.md")).unwrap();
    assert!(
        (1..=26).all(|number| demands.contains(&format!("\n| {number} | "))),
        "a demand is missing"
    );
}

#[test]
fn the_workflow_of_the_readme_is_the_example() {
    let page = root().join("README.md");
    let text = fs::read_to_string(&page).unwrap();
    let example = fs::read_to_string(root().join("examples/workflows/regreen.yml")).unwrap();
    let (before, rest) = text.split_once("<!-- workflow -->\n").expect("a place for it");
    let (_, after) = rest.split_once("<!-- end of workflow -->").expect("its end");
    let block = format!("```yaml\n{example}```\n");
    let current = format!("{before}<!-- workflow -->\n{block}<!-- end of workflow -->{after}");
    if std::env::var("REGREEN_BLESS").is_ok() {
        fs::write(&page, current).unwrap();
    } else {
        assert_eq!(text, current, "run the test with REGREEN_BLESS=1");
    }
}

#[test]
fn the_example_workflows_give_nothing_away() {
    let mut count = 0;
    for entry in fs::read_dir(root().join("examples/workflows")).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        let workflow: serde_yaml::Value = serde_yaml::from_str(&text).unwrap();
        assert!(workflow["permissions"].as_mapping().unwrap().is_empty(), "{text}");
        // YAML reads `on` as a truth value in some versions; the text does not lie.
        assert!(!text.contains("pull_request_target"), "{text}");
        for (_, job) in workflow["jobs"].as_mapping().unwrap() {
            for step in job["steps"].as_sequence().unwrap() {
                count += 1;
                assert!(step.get("run").is_none(), "a script could be fed: {step:?}");
                let uses = step["uses"].as_str().unwrap();
                let (name, version) = uses.split_once('@').unwrap();
                assert!(!name.contains("cache"), "{uses}");
                let pinned = version.len() == 40 || name == "regreen/regreen";
                assert!(pinned, "{uses}");
                if name == "actions/checkout" {
                    assert_eq!(step["with"]["persist-credentials"].as_bool(), Some(false));
                }
                // No cache of dependencies either, which set-up actions bring.
                assert!(step.get("with").is_none_or(|with| with.get("cache").is_none()));
            }
        }
    }
    assert!(count > 5, "{count} steps");
}
