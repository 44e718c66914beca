//! `regreen test` with a command-line client that edits a checkout itself, played by a script that
//! answers like Codex. The file that it writes is checked like any other answer.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::support::fake_model::FakeModel;
use super::support::{CALC, Ran, TestRepo, write_program};
use super::test_writing::{BRANCH, FINDING, GOOD, PLACE, RIGHT, SHOP, texts};

/// A fake client, and what it does in each turn: the files that it leaves in its checkout, and its
/// last message.
fn client(repo: &TestRepo, turns: &[(&[(&str, &str)], &str)]) -> PathBuf {
    let folder = repo.around().join("client");
    let put = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    for (number, (files, said)) in (1..).zip(turns) {
        put(&format!("turn.{number}.said"), &Value::from(*said).to_string());
        put(&format!("turn.{number}/.keep"), "");
        for (name, text) in *files {
            put(&format!("turn.{number}/{name}"), text);
        }
    }
    let verdict = serde_json::json!({
        "verdicts": [{
            "test": FINDING, "wrong": "code", "function": "discount", "lines": "",
            "evidence": "its documentation says that it takes off",
        }],
        "confidence_score": 0.9,
        "report": "",
    });
    put("verdict.said", &Value::from(verdict.to_string()).to_string());
    put("fixed/shop/price.py", &SHOP[1].1.replace(RIGHT.1, RIGHT.2));
    let here = folder.display();
    let script = format!(
        r#"#!/bin/sh
if [ "$1" = "--version" ]; then echo "codex-cli 0.169.0"; exit 0; fi
count=$(($(cat '{here}/count' 2>/dev/null || echo 0) + 1))
echo $count > '{here}/count'
cat > '{here}/asked.'$count
pwd > '{here}/where.'$count
said='"I have nothing to add."'
if grep -q '# Question IMPL-001-1-verdict' '{here}/asked.'$count; then
  said=$(cat '{here}/verdict.said')
elif grep -q '# Question IMPL-001-1$' '{here}/asked.'$count; then
  turn=$(($(cat '{here}/turn' 2>/dev/null || echo 0) + 1))
  echo $turn > '{here}/turn'
  rm -f '{here}/turn.'$turn/.keep
  cp -r '{here}/turn.'$turn/. .
  said=$(cat '{here}/turn.'$turn.said)
elif grep -q '# Question IMPL-fix-1' '{here}/asked.'$count; then
  cp -r '{here}/fixed/.' .
  if [ "$count" = 1 ] && [ -d '{here}/left' ]; then cp -r '{here}/left/.' .; fi
elif grep -q '# Question IMPL-fix-2' '{here}/asked.'$count; then
  cp calc.py '{here}/found.'$count
  cp -r '{here}/fixed.2/.' .
fi
printf '{{"type":"item.completed","item":{{"type":"agent_message","text":%s}}}}\n' "$said"
printf '{{"type":"turn.completed","usage":{{"input_tokens":1000,"output_tokens":100}}}}\n'
"#
    );
    let path = folder.join("codex");
    write_program(&path, &script);
    path
}

fn configure(repo: &TestRepo, program: &Path, chain: &str) {
    let text = format!(
        r"providers: [{chain}]
provider:
  agent: {{ client: codex, mode: agent, program: '{}', key: AGENT_KEY, price: {{ input: 1.0, output: 10.0 }} }}
",
        program.display()
    );
    repo.write(&[(".github/regreen.yml", &text)]);
}

fn run(repo: &TestRepo) -> Ran {
    let mut command = repo.command();
    // The script keeps its records where the sandbox lets no client write.
    command.env("REGREEN_SANDBOX", "off");
    command.env("AGENT_KEY", "sk-agent").args(["test", "shop/price.py", "--no-coverage", "--json"]);
    command.output().expect("regreen starts").into()
}

/// The questions that the client received, in order.
fn asked(repo: &TestRepo) -> Vec<String> {
    let path = |number: u32| repo.around().join(format!("client/asked.{number}"));
    (1..).map_while(|number| std::fs::read_to_string(path(number)).ok()).collect()
}

#[cfg(feature = "slow-tests")]
#[test]
fn an_agent_writes_tests_into_a_checkout_and_only_the_new_file_that_was_asked_for_is_taken() {
    let repo = TestRepo::new(SHOP);
    let made_up = GOOD.replace("from shop.price", "from shop.money import Money\nfrom shop.price");
    let meddled = format!("{}\nHACK = 1\n", SHOP[1].1);
    let covers = r#"Done. {"task_id": "IMPL-001-1", "covers": [{"test": "test_nothing_off", "requirements": ["R-001"]}], "notes": "n"}"#;
    let program = client(
        &repo,
        &[
            (&[(PLACE, GOOD), ("shop/price.py", &meddled), ("notes.txt", "x")], "I wrote them."),
            (&[(PLACE, &made_up)], "I wrote them again."),
            (&[(PLACE, GOOD)], covers),
        ],
    );
    configure(&repo, &program, "agent, embedded");
    let before = repo.belongings();
    let ran = run(&repo);
    let document = ran.document();
    assert_eq!(ran.code, Some(0), "{document:#}\n{}", ran.err);
    let asked = asked(&repo);
    let name = |text: &String| {
        let (_, rest) = text.split_once("# Question ").expect("a name");
        rest.lines().next().unwrap_or_default().to_owned()
    };
    let names: Vec<String> = asked.iter().map(name).collect();
    assert_eq!(names[..4], ["IMPL-001-1", "IMPL-001-1", "IMPL-001-1", "IMPL-001-1-verdict"]);
    assert!(asked[0].contains("Write the file into the folder you work in"), "{}", asked[0]);
    assert!(asked[1].contains("changes-existing-file: `shop/price.py`"), "{}", asked[1]);
    assert_eq!(repo.belongings(), before, "nothing of the user's changed");
    assert_eq!(document["degraded"], false, "what the code says was used on purpose");
    let produced = &document["produced"];
    let given_up = texts(&produced["given-up"]).join("\n");
    for reason in [
        "refused, by agent: changes-existing-file: `shop/price.py`",
        "wrong-place: `notes.txt`",
        "refused, by agent: hallucinated-import: line 3",
    ] {
        assert!(given_up.contains(reason), "{reason}: {given_up}");
    }
    assert_eq!(produced["authors"][PLACE], "agent", "{produced:#}");
    assert!(produced["findings"][0]["what"].as_str().unwrap().starts_with(FINDING), "{produced:#}");
    assert_eq!(repo.git(&["show", &format!("{BRANCH}:{PLACE}")]), GOOD.trim_end());
    let fixed = repo.git(&["show", &format!("{BRANCH}:shop/price.py")]);
    assert!(fixed.contains(RIGHT.2.trim()) && !fixed.contains("HACK"), "{fixed}");
    assert_eq!(document["spending"]["calls"].as_u64(), Some(asked.len() as u64));
    // A question that needs no files is asked in an empty folder.
    let place = |number: u32| {
        std::fs::read_to_string(repo.around().join(format!("client/where.{number}"))).unwrap()
    };
    assert!(place(1).trim_end().ends_with("/agent"), "{}", place(1));
    assert!(place(4).trim_end().ends_with("/empty"), "{}", place(4));
    let folder = PathBuf::from(document["folder"].as_str().unwrap());
    super::test_sessions::complete(&folder);
}

#[test]
fn an_agent_that_writes_nothing_leaves_the_work_to_the_engine() {
    let repo = TestRepo::new(SHOP);
    let program = client(&repo, &[(&[], "I cannot."), (&[], "I cannot."), (&[], "I cannot.")]);
    configure(&repo, &program, "agent, embedded");
    let ran = run(&repo);
    let document = ran.document();
    let given_up = texts(&document["produced"]["given-up"]).join("\n");
    assert!(given_up.contains("refused, by agent: no-file: `tests/test_price.py`"), "{given_up}");
    assert_eq!(document["produced"]["authors"], serde_json::json!({}), "{document:#}");
    assert!(document["produced"]["tests"].as_u64().unwrap() > 0, "{document:#}\n{}", ran.err);
}

#[test]
#[ignore = "needs node and the clients; an_agent_writes_tests_into_a_checkout_and_only_the_new_file_that_was_asked_for_is_taken always runs"]
fn codex_itself_is_asked_for_tests() {
    let clients = std::env::var("REGREEN_CLIENTS").expect("REGREEN_CLIENTS names the folder");
    let repo = TestRepo::new(SHOP);
    let model = FakeModel::serve(vec![]);
    let text = format!(
        r"providers: [agent, embedded]
provider:
  agent: {{ client: codex, mode: agent, program: '{clients}/node_modules/.bin/codex', key: AGENT_KEY, base-url: 'http://127.0.0.1:{}/one', model: m }}
",
        model.port()
    );
    repo.write(&[(".github/regreen.yml", &text)]);
    let document = run(&repo).document();
    // The server has no answers, but the client was started, asked it, and reported the failure.
    assert!(!model.asked().is_empty(), "{document:#}");
    let question = model.asked()[0].text();
    assert!(question.contains("# Question IMPL-001-1"), "{question}");
    assert!(question.contains("Write the file into the folder you work in"), "{question}");
    assert!(document["produced"]["tests"].as_u64().unwrap() > 0, "{document:#}");
}

#[test]
fn an_agent_changes_what_it_finds_and_a_file_that_it_leaves_behind_is_refused() {
    let repo = TestRepo::new(CALC);
    repo.write(&[("other.py", "RATE = 1\n")]);
    repo.git(&["add", "-A"]);
    repo.git(&["commit", "-qm", "other"]);
    let program = client(&repo, &[]);
    let folder = repo.around().join("client");
    std::fs::remove_dir_all(folder.join("fixed")).unwrap();
    for name in ["fixed", "left"] {
        std::fs::create_dir(folder.join(name)).unwrap();
    }
    let right = CALC[0].1.replace("total -= value", "total += value");
    std::fs::write(folder.join("fixed/calc.py"), right).unwrap();
    std::fs::write(folder.join("fixed/other.py"), "RATE = 2\n").unwrap();
    std::fs::write(folder.join("left/scratch.py"), "print(1)\n").unwrap();
    configure(&repo, &program, "agent");
    let mut command = repo.command();
    command.env("REGREEN_SANDBOX", "off").env("AGENT_KEY", "sk-agent");
    command.args(["fix", "--json", "--max-iterations", "1"]);
    let ran: Ran = command.output().expect("regreen starts").into();
    let document = ran.document();
    assert_eq!(document["iterations"][0]["outcome"], "improved", "{document:#}\n{}", ran.err);
    let asked = asked(&repo);
    assert_eq!(asked.len(), 2, "{}", ran.err);
    let refusal = "unneeded-file: scratch.py is new, and neither the rest of the change nor a \
                   failing test mentions it";
    assert!(asked[1].contains(refusal), "{}", asked[1]);
    // Its checkout begins anew, so the question shows the change that is gone.
    let block = "other.py\n<<<<<<< SEARCH\nRATE = 1\n=======\nRATE = 2\n>>>>>>> REPLACE\n";
    assert!(asked[1].contains(block) && !asked[0].contains(block), "{}", asked[1]);
    let changed = repo.git(&["diff", "--name-only", "main", "regreen/WFS-test-main", "--", "*.py"]);
    assert_eq!(changed.lines().collect::<Vec<_>>(), ["calc.py", "other.py"]);
}

#[test]
fn an_agent_goes_on_from_the_change_that_failed_the_tests() {
    let repo = TestRepo::new(CALC);
    let program = client(&repo, &[]);
    let folder = repo.around().join("client");
    std::fs::remove_dir_all(folder.join("fixed")).unwrap();
    let wrong = CALC[0].1.replace("total -= value", "total = 7 - value");
    let right = CALC[0].1.replace("total -= value", "total += value");
    for (name, text) in [("fixed", &wrong), ("fixed.2", &right)] {
        std::fs::create_dir(folder.join(name)).unwrap();
        std::fs::write(folder.join(name).join("calc.py"), text).unwrap();
    }
    configure(&repo, &program, "agent");
    let mut command = repo.command();
    command.env("REGREEN_SANDBOX", "off").env("AGENT_KEY", "sk-agent");
    command.args(["fix", "--json", "--max-iterations", "2"]);
    let ran: Ran = command.output().expect("regreen starts").into();
    let document = ran.document();
    let outcomes = [0, 1].map(|number: usize| &document["iterations"][number]["outcome"]);
    assert!(outcomes[0] != "improved" && outcomes[1] == "improved", "{document:#}\n{}", ran.err);
    let asked = asked(&repo);
    assert_eq!(asked.len(), 2, "{}", ran.err);
    let shown = asked.iter().map(|text| text.matches("total = 7 - value").count());
    assert_eq!(shown.collect::<Vec<_>>(), [0, 1], "{}", asked[1]);
    assert!(asked[1].contains("This change did not help and was taken back"), "{}", asked[1]);
    let (_, after) = asked[1].split_once("With it, the tests said:").expect("what the tests said");
    assert!(after.contains("AssertionError"), "{after}");
    // The checkout is the accepted one.
    assert_eq!(std::fs::read_to_string(folder.join("found.2")).unwrap(), CALC[0].1);
}

#[test]
fn the_recording_of_an_agent_has_its_change_and_replays_without_it() {
    let wrong = "def double(value):\n    return value * 3\n";
    let right = wrong.replace('3', "2");
    let test = "import unittest\n\nfrom calc import double\n\n\nclass T(unittest.TestCase):\n    def test_two(self):\n        self.assertEqual(double(2), 4)\n";
    let files = [("calc.py", wrong), ("test_calc.py", test)];
    let repo = TestRepo::new(&files);
    let program = client(&repo, &[]);
    let folder = repo.around().join("client");
    std::fs::remove_dir_all(folder.join("fixed")).unwrap();
    std::fs::create_dir(folder.join("fixed")).unwrap();
    std::fs::write(folder.join("fixed/calc.py"), &right).unwrap();
    configure(&repo, &program, "agent");
    let tape = repo.around().join("tape");
    let tape = tape.to_str().unwrap();
    let fix = |repo: &TestRepo, options: &[&str]| -> Ran {
        let mut command = repo.command();
        command.env("REGREEN_SANDBOX", "off").env("AGENT_KEY", "sk-agent");
        command.args(["fix", "--json"]).args(options).output().expect("regreen starts").into()
    };
    let recorded = fix(&repo, &["--record", tape]);
    assert_eq!(recorded.document()["result"], "success", "{}", recorded.err);
    let text = std::fs::read_to_string(Path::new(tape).join("0001.json")).unwrap();
    assert!(text.contains("return value * 2") && !text.contains("sk-agent"), "{text}");
    std::fs::remove_file(&program).unwrap();
    let other = TestRepo::new(&files);
    configure(&other, &program, "agent");
    let replayed = fix(&other, &["--replay", tape]);
    let document = replayed.document();
    assert_eq!(document["result"], "success", "{document:#}\n{}", replayed.err);
    assert_eq!(document["iterations"][0]["calls"][0]["provider"], "agent", "{document:#}");
    assert_eq!(other.git(&["show", "regreen/WFS-test-main:calc.py"]), right.trim_end());
}
