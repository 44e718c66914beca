//! Task files decide: what a person writes into one between plan and run counts, a finished one says
//! what it was about, and a gate that is not met blocks and says why.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::support::fake_model::{FakeModel, Reply};
use super::support::{CALC, Ran, TestRepo};
use super::test_writing::{
    BRANCH, KEY, PLACE, RIGHT, SHOP, TEST, configured, knowing, run, server,
};
use super::validate::on_path;

const SESSION: &str = "WFS-test-shop-price-py";

fn json_of(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|_| panic!("{}", path.display()));
    serde_json::from_str(&text).unwrap()
}

/// A planned session with a document beside the code, and the file of its first task.
fn planned(model: &FakeModel) -> (TestRepo, PathBuf) {
    let rules = ("docs/prices.md", "Prices are in cents.\nA price is never negative.\n");
    let repo = configured(&[SHOP, &[rules]].concat(), model, "one, embedded");
    let ran = run(&repo, &["plan", "shop/price.py"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let file = repo.root().join(".git/regreen/active").join(SESSION).join(".task/IMPL-001.json");
    assert!(file.is_file(), "{}", ran.err);
    (repo, file)
}

fn change(file: &Path, edit: impl Fn(&mut Value)) {
    let mut task = json_of(file);
    edit(&mut task);
    std::fs::write(file, task.to_string()).unwrap();
}

fn resume(repo: &TestRepo) -> Ran {
    run(repo, &["test", "--resume", SESSION])
}

fn reading(command: &str, on_error: &str) -> Value {
    json!([{
        "step": "rules", "action": "What the owner says", "commands": [command], "on_error": on_error,
    }])
}

/// The question in which tests are written.
fn question(model: &FakeModel) -> String {
    let asked = model.asked();
    let one = asked.iter().find(|one| {
        one.text().contains("# Question IMPL-001-1\\n")
            || one.text().contains("# Question IMPL-001-1\n")
    });
    one.expect("tests are asked for").text()
}

#[test]
fn what_a_person_writes_into_a_task_file_reaches_its_writer() {
    let model = server(vec![Reply::By(knowing)]);
    let (repo, file) = planned(&model);
    change(&file, |task| {
        task["flow_control"]["pre_analysis"] = json!([
            {
                "step": "rules",
                "action": "What the owner says",
                "commands": ["Read(docs/prices.md)", "Search(def tax, shop)", "Glob(docs/*.md)"],
                "on_error": "fail",
            },
            {
                "step": "gone",
                "action": "What nobody wrote",
                "commands": ["Read(docs/gone.md)", "Read(shop/tax.py)"],
                "on_error": "continue",
            },
            {
                "step": "skipped",
                "action": "What is left out",
                "commands": ["Read(docs/gone.md)", "Read(shop/__init__.py)"],
                "on_error": "skip",
            },
        ]);
        let steps = task["flow_control"]["implementation_approach"].as_array_mut().unwrap();
        let units = steps.iter_mut().find(|step| step["title"] == "L1: units").unwrap();
        units["description"] = "begin with the error for an empty price".into();
        let own = task["context"]["requirements"].as_array_mut().unwrap();
        own.push("a price of 1e3 is read as 1000.0".into());
        let one = own.iter_mut().find(|one| one.as_str().unwrap().contains(" L1.1 ")).unwrap();
        let id = one.as_str().unwrap().split(' ').next().unwrap().to_owned();
        *one = format!("{id} the word of the owner").into();
    });
    let ran = resume(&repo);
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.out, ran.err);
    let asked = question(&model);
    for part in [
        "A price is never negative.",
        "shop/tax.py:1: def tax(price: int)",
        "What the owner says: Glob(docs/*.md)",
        "What nobody wrote: Read(shop/tax.py)",
        ". L1: units: begin with the error for an empty price",
        "Requirements that a person added",
        "a price of 1e3 is read as 1000.0",
        "): the word of the owner\\n",
    ] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
    assert!(!asked.contains("What is left out"), "{asked}");
    for part in [
        "step gone of IMPL-001: `Read(docs/gone.md)`: the commit has no such file; going on without it",
        "step skipped of IMPL-001: `Read(docs/gone.md)`: the commit has no such file; the rest of the step is left out",
    ] {
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
    }
}

#[cfg(feature = "slow-tests")]
#[test]
fn a_reader_that_must_not_fail_stops_the_run_and_the_repaired_task_goes_on() {
    let model = server(vec![Reply::By(knowing)]);
    let (repo, file) = planned(&model);
    change(&file, |task| {
        task["flow_control"]["pre_analysis"] = reading("Read(docs/gone.md)", "fail");
    });
    let ran = resume(&repo);
    assert_eq!(ran.code, Some(2), "{}\n{}", ran.out, ran.err);
    for part in [
        "IMPL-001.json: step rules of IMPL-001: `Read(docs/gone.md)`: the commit has no such file",
        &format!("then `regreen test --resume {SESSION}`"),
    ] {
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
    }
    let task = json_of(&file);
    assert_eq!(task["status"], "failed", "{task:#}");
    assert_eq!(task["flow_control"]["pre_analysis"], reading("Read(docs/gone.md)", "fail"));
    change(&file, |task| {
        task["flow_control"]["pre_analysis"] = reading("Read(docs/prices.md)", "fail");
    });
    let ran = resume(&repo);
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.out, ran.err);
    assert!(question(&model).contains("A price is never negative."));
}

#[cfg(feature = "slow-tests")]
#[test]
fn a_task_file_that_cannot_be_carried_out_is_named_and_left_as_it_is() {
    let model = server(vec![Reply::By(knowing)]);
    let (repo, file) = planned(&model);
    let good = std::fs::read_to_string(&file).unwrap();
    let with = |edit: fn(&mut Value)| {
        let mut task: Value = serde_json::from_str(&good).unwrap();
        edit(&mut task);
        task.to_string()
    };
    let table: [(String, &str); 4] = [
        (good.replacen('{', "", 1), "IMPL-001.json"),
        (with(|task| task["status"] = "almost".into()), "unknown variant `almost`"),
        (
            with(|task| {
                let step = reading("bash(cat /etc/passwd)", "skip");
                task["flow_control"]["pre_analysis"] = step;
            }),
            "`bash(cat /etc/passwd)` is none of `Read(path)`, `Search(text,path)` and `Glob(pattern)`",
        ),
        (
            with(|task| task["context"]["requirements"] = json!(["R-777 L1.1 it works"])),
            "R-777 is not in the plan",
        ),
    ];
    let asked = model.asked().len();
    for (text, part) in table {
        std::fs::write(&file, &text).unwrap();
        let ran = resume(&repo);
        assert_eq!(ran.code, Some(2), "{}\n{}", ran.out, ran.err);
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text, "it is not planned anew");
    }
    assert_eq!(model.asked().len(), asked, "nobody is asked for what cannot be done");
    std::fs::write(&file, good).unwrap();
    assert_eq!(resume(&repo).code, Some(0));
}

#[test]
fn a_task_writes_nothing_beyond_its_focus_paths() {
    let model = server(vec![Reply::By(knowing)]);
    let (repo, file) = planned(&model);
    change(&file, |task| task["context"]["focus_paths"] = json!(["tests/other"]));
    let ran = resume(&repo);
    let document = ran.document();
    let produced = &document["produced"];
    assert_eq!(produced["tests"], 0, "{produced:#}\n{}", ran.err);
    let open = produced["open"].as_array().unwrap();
    assert!(!open.is_empty(), "{produced:#}");
    for one in open {
        let reason = format!("the focus_paths of IMPL-001 do not name {PLACE}");
        assert_eq!(one["reason"], reason.as_str(), "{one}");
    }
    let task = document["tasks"].as_array().unwrap().iter().find(|task| task["id"] == "IMPL-001");
    assert_eq!(task.unwrap()["status"], "skipped", "{document:#}");
    assert!(!model.asked().iter().any(|one| one.text().contains("# Question IMPL-001")));
}

#[test]
fn a_finished_fix_task_says_what_it_was_about() {
    let repo = TestRepo::new(CALC);
    let ran = repo.regreen(&["fix", "--jobs", "1", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let folder = PathBuf::from(ran.document()["folder"].as_str().unwrap());
    let task = |number: u32| json_of(&folder.join(format!(".task/IMPL-fix-{number}.json")));
    let (first, second) = (task(1), task(2));
    let tests = |task: &Value| task["context"]["failure_context"]["failed_tests"].clone();
    let (high, total) = ("test_calc.ClampTest.test_high", "test_calc.TotalTest.test_total");
    assert_eq!(tests(&first), json!([high, total]), "{first:#}");
    assert_eq!(tests(&second).as_array().unwrap().len(), 1, "{second:#}");
    assert_eq!(first["context"]["requirements"][0], "Repair 2 failing tests; the gate is 95 %");
    assert_eq!(second["context"]["requirements"][0], "Repair 1 failing test; the gate is 95 %");
    assert_eq!(first["context"]["failure_context"]["pass_rate"], "60.0");
    assert_eq!(first["context"]["depends_on"], json!([]));
    assert_eq!(second["context"]["depends_on"], json!(["IMPL-fix-1"]));
    let attempts = &second["context"]["failure_context"]["previous_attempts"];
    assert_eq!(attempts[0]["result"], "improved", "{second:#}");
    assert_eq!(first["meta"]["test_layer"], "unit");
    for (task, history) in [
        (&first, json!(["pending", "in_progress", "completed"])),
        (
            &json_of(&folder.join(".task/IMPL-002.json")),
            json!(["pending", "in_progress", "completed"]),
        ),
    ] {
        let changes = task["status_history"].as_array().unwrap();
        let mut states = vec![changes[0]["from"].clone()];
        states.extend(changes.iter().map(|one| one["to"].clone()));
        assert_eq!(Value::from(states), history, "{task:#}");
        assert_eq!(task["status"], "completed");
    }
}

#[cfg(feature = "slow-tests")]
#[test]
fn coverage_that_cannot_be_measured_misses_the_target_unless_nobody_asks() {
    let model = server(vec![Reply::By(knowing)]);
    let test = |more: &[&str]| {
        let repo = configured(SHOP, &model, "one, embedded");
        let mut command = repo.command();
        command.env("ONE_KEY", KEY).args(TEST).args(["--json", "--coverage-command", "false"]);
        command.args(["--set", "coverage.report=*.info"]).args(more);
        let ran: Ran = command.output().unwrap().into();
        (ran, repo)
    };
    let (ran, _repo) = test(&[]);
    let document = ran.document();
    assert_eq!(ran.code, Some(0), "{document:#}\n{}", ran.err);
    let shortfall = document["produced"]["shortfall"].as_str().unwrap();
    assert!(shortfall.starts_with("coverage not measured: `false` left no report"), "{shortfall}");
    assert_eq!(document["produced"]["gates-met"], true);
    assert!(document["produced"]["coverage"]["unmeasured"]["reason"].is_string(), "{document:#}");
    let folder = PathBuf::from(document["folder"].as_str().unwrap());
    let page = std::fs::read_to_string(folder.join(".summaries/IMPL-001.5-summary.md")).unwrap();
    assert!(page.contains("Not measured, so no target is reached: "), "{page}");
    let none = ["line", "branch", "function"].map(|what| format!("coverage.{what}=0"));
    let set: Vec<&str> = none.iter().flat_map(|one| ["--set", one.as_str()]).collect();
    let (ran, _repo) = test(&set);
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.out, ran.err);
    let shown = &ran.document()["produced"]["coverage"]["unmeasured"]["reason"];
    assert!(shown.as_str().unwrap().contains("`false` left no report"), "{shown}");
}

#[test]
fn a_critical_finding_blocks_and_the_report_names_it() {
    let model = server(vec![Reply::By(knowing)]);
    let manifest = ("pyproject.toml", "[project]\nname = \"shop\"\n\n[tool.ruff]\n");
    let files: Vec<(&str, String)> = SHOP
        .iter()
        .chain([&manifest])
        .map(|(name, text)| (*name, text.replace(RIGHT.1, RIGHT.2)))
        .collect();
    let files: Vec<(&str, &str)> =
        files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let repo = configured(&files, &model, "one");
    // The linter of the project knows a name that the new tests lack.
    let remark = format!("{PLACE}:8:9: F821 Undefined name `gone`");
    let ruff = format!(
        "case \"$*\" in\n*--fix*) cat; exit;;\nesac\ntest -f {PLACE} || exit 0\necho '{remark}'\nexit 1"
    );
    let path = on_path(&repo, &[("ruff", ruff.as_str())]);
    let mut command = repo.command();
    command.env("ONE_KEY", KEY).env("PATH", path).args(TEST).args(["--no-coverage", "--json"]);
    let ran: Ran = command.output().unwrap().into();
    let document = ran.document();
    assert_eq!(ran.code, Some(1), "{document:#}\n{}", ran.err);
    let named = "1 critical, none is tolerated (undefined-variable in tests/test_price.py, line 8); 1 file left out";
    assert_eq!(document["produced"]["validation"], format!("HARD_FAIL: {named}").as_str());
    assert_eq!(document["result"], "blocked", "{document:#}");
    let folder = PathBuf::from(document["folder"].as_str().unwrap());
    let report = json_of(&folder.join(".process/code-validation-report.json"));
    assert_eq!(report["status"], "HARD_FAIL", "{report:#}");
    assert_eq!(report["findings"]["critical"][0]["id"], "undefined-variable", "{report:#}");
    assert_eq!(report["findings"]["critical"][0]["file"], PLACE);
    let gate = json_of(&folder.join(".task/IMPL-001.3-validation.json"));
    assert_eq!(gate["status"], "blocked");
    assert_eq!(json_of(&folder.join(".task/IMPL-002.json"))["status"], "blocked");
    let page = std::fs::read_to_string(folder.join(".summaries/IMPL-001.3-summary.md")).unwrap();
    assert!(page.contains("undefined-variable"), "{page}");
    let branches = repo.git(&["branch", "--list", BRANCH]);
    if !branches.is_empty() {
        assert_eq!(repo.git(&["ls-tree", "--name-only", BRANCH, PLACE]), "", "it is not committed");
    }
}
