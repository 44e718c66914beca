//! Errors of `regreen`: exit code, message and hint, and what a failed run leaves behind.

use super::support::{CALC, Ran, TestRepo};

/// Asserts the exit code, a message with a hint, and a JSON document that says the same.
fn refused(repo: &TestRepo, arguments: &[&str], code: i32, message: &str) -> Ran {
    let mut all = vec!["fix", "--json"];
    all.extend(arguments);
    let ran = repo.regreen(&all);
    assert_eq!(ran.code, Some(code), "{}", ran.err);
    assert!(ran.err.contains(message), "{}", ran.err);
    assert!(ran.err.contains("hint: "), "{}", ran.err);
    let document = ran.document();
    assert_eq!(document["error"]["exit-code"], code);
    assert!(!document["error"]["hint"].as_str().unwrap().is_empty());
    assert_eq!(
        repo.git(&["branch", "--format=%(refname:short)", "--list", "regreen/*"]),
        "",
        "no branch is left"
    );
    ran
}

#[test]
fn no_repository() {
    let folder = tempfile::tempdir().unwrap();
    let repo = TestRepo::new(CALC);
    let output = repo.command().args(["fix", "--json"]).arg(folder.path()).output().unwrap();
    let ran = Ran::from(output);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    assert!(ran.err.contains("is not in a git repository"), "{}", ran.err);
}

#[test]
fn no_commit() {
    let repo = TestRepo::empty_at("fresh");
    let ran = repo.regreen(&["fix"]);
    assert_eq!(ran.code, Some(3));
    assert!(ran.err.contains("has no commit yet"), "{}", ran.err);
}

#[test]
fn unknown_framework() {
    let repo = TestRepo::new(&[("notes.txt", "nothing to run")]);
    refused(&repo, &[], 3, "no test framework was recognised");
}

#[test]
fn a_session_that_is_named_like_a_secret() {
    let repo = TestRepo::new(CALC);
    let name = ["WFS-ghs", "_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"].concat();
    refused(&repo, &["--session", &name], 2, "the name of the session holds a secret");
}

#[test]
fn no_tests() {
    let repo = TestRepo::new(&[("test_empty.py", "x = 1\n")]);
    let ran = repo.regreen(&["fix", "--json"]);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    assert!(ran.err.contains("reported no tests"), "{}", ran.err);
}

#[test]
fn a_test_command_that_does_not_exist() {
    let repo = TestRepo::new(CALC);
    let ran = repo.regreen(&["fix", "--json", "--test-command", "no-such-program --all"]);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    assert!(ran.err.contains("could not be started"), "{}", ran.err);
}

#[test]
fn a_report_pattern_that_matches_nothing() {
    let repo = TestRepo::new(CALC);
    let ran = repo.regreen(&["fix", "--json", "--test-command", "true", "--report", "out/*.xml"]);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    assert!(
        ran.err.contains("wrote no file that matches the report pattern `out/*.xml`"),
        "{}",
        ran.err
    );
}

#[test]
fn a_report_is_missed_only_where_there_are_tests() {
    let settings = (".github/regreen.yml", "test:\n  command: \"true\"\n  report: \"out/*.xml\"\n");
    let code = ("shop.py", "def fee(price):\n    return price * 2\n");
    let test = ("test_shop.py", "def test_fee():\n    pass\n");
    let table: [(&[(&str, &str)], &str); 2] = [
        (&[settings, code], "there are no tests, and none could be written"),
        (&[settings, code, test], "wrote no file that matches the report pattern"),
    ];
    for (files, expected) in table {
        let ran = TestRepo::new(files).regreen(&["test", "--yes", "shop.py"]);
        assert!(ran.err.contains(expected), "{expected}: {}", ran.err);
    }
}

#[test]
fn a_suite_that_crashes_or_hangs_is_never_a_rate() {
    let crash = TestRepo::new(&[("test_a.py", "import os\nos._exit(7)\n")]);
    let ran = crash.regreen(&["fix", "--json"]);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    assert!(ran.err.contains("exit code 7"), "{}", ran.err);
    let hang = TestRepo::new(&[("test_a.py", "while True:\n    pass\n")]);
    let ran = hang.regreen(&["fix", "--json", "--test-timeout", "2s"]);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    assert!(ran.err.contains("was stopped after 2 s"), "{}", ran.err);
}

#[test]
fn tests_that_hang_cost_a_limit_and_its_confirmation_and_are_all_named() {
    let tests = "import time\nimport unittest\n\nclass T(unittest.TestCase):\n    def test_one(self):\n        time.sleep(90)\n    def test_other(self):\n        time.sleep(90)\n    def test_quick(self):\n        pass\n";
    let repo = TestRepo::new(&[("test_a.py", tests)]);
    let began = std::time::Instant::now();
    let ran = repo.regreen(&["fix", "--json", "--test-timeout", "5s"]);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    for part in ["was stopped after 5 s", "test_one", "1 more"] {
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
    }
    assert!(!ran.err.contains("running it once more"), "{}", ran.err);
    assert!(began.elapsed() < std::time::Duration::from_secs(80), "{}", ran.err);
}

#[test]
fn a_broken_configuration_names_line_column_and_expectation() {
    let repo = TestRepo::new(CALC);
    repo.write(&[(".github/regreen.yml", "gate:\n  target: 950\n")]);
    let ran = refused(&repo, &[], 2, ".github/regreen.yml:2:3");
    assert!(ran.err.contains("`target` is a whole number from 1 to 100"), "{}", ran.err);
    let check = repo.regreen(&["config", "check"]);
    assert_eq!(check.code, Some(2));
    assert!(check.err.contains("2:3"), "{}", check.err);
}

#[test]
fn a_branch_that_exists_and_belongs_to_somebody_else() {
    let repo = TestRepo::new(CALC);
    repo.git(&["checkout", "-q", "-b", "mine"]);
    repo.write(&[("mine.txt", "x")]);
    repo.git(&["add", "-A"]);
    repo.git(&["commit", "-q", "-m", "mine"]);
    repo.git(&["checkout", "-q", "main"]);
    let before = repo.git(&["rev-parse", "mine"]);
    refused(&repo, &["--branch", "mine"], 2, "branch `mine` already exists");
    refused(&repo, &["--branch", "main"], 3, "is checked out here");
    assert_eq!(repo.git(&["rev-parse", "mine"]), before);
}

#[test]
fn a_branch_in_the_way_of_the_fix_branch_is_named() {
    let repo = TestRepo::new(CALC);
    repo.git(&["branch", "fixes/totals/old"]);
    let blocked = "branch `fixes/totals` cannot exist beside branch `fixes/totals/old`";
    let ran = refused(&repo, &["--branch", "fixes/totals"], 2, blocked);
    assert!(ran.err.contains("git branch -m fixes/totals/old"), "{}", ran.err);
    repo.git(&["branch", "regreen"]);
    let blocked = "branch `regreen/WFS-test-main` cannot exist beside branch `regreen`";
    let ran = refused(&repo, &[], 2, blocked);
    assert!(ran.err.contains("choose another with `--branch`"), "{}", ran.err);
}

#[test]
fn an_unknown_base_provider_and_session() {
    let repo = TestRepo::new(CALC);
    refused(&repo, &["--providers", "embeded"], 2, "there is no provider `embeded`");
    let ran = refused(&repo, &["--providers", "gemini"], 2, "GEMINI_API_KEY is not set");
    assert!(ran.err.contains("hint: set what is missing"), "{}", ran.err);
    let ran =
        refused(&repo, &["--resume", "WFS-test-none"], 2, "there is no session WFS-test-none");
    assert!(ran.err.contains("hint: `regreen session list` names"), "{}", ran.err);
    refused(&repo, &["--resume"], 2, "no session can be resumed: there is none");
    let ran = repo.regreen(&["fix", "--base", "nowhere"]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.err.contains("`nowhere` is not a branch"), "{}", ran.err);
}

#[test]
fn a_name_that_no_branch_can_have_is_told_from_one_that_is_unknown() {
    let repo = TestRepo::new(CALC);
    let ran = repo.regreen(&["fix", "--branch", "bad name"]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.err.contains("error: `bad name` cannot be the name of a branch"), "{}", ran.err);
    assert!(ran.err.contains("choose another with `--branch`: no blanks"), "{}", ran.err);
}

#[test]
fn a_file_is_no_suite_to_fix() {
    let repo = TestRepo::new(CALC);
    let ran = refused(&repo, &["test_calc.py"], 2, "test_calc.py is a file, not a repository");
    assert!(ran.err.contains("`regreen test FILE` writes tests of one file"), "{}", ran.err);
}

#[test]
fn wrong_flags_are_a_document_too_where_one_is_asked_for() {
    let repo = TestRepo::new(CALC);
    let ran = repo.regreen(&["fix", "--json", "--bogus"]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    let error = &ran.document()["error"];
    assert_eq!(error["message"], "unexpected argument '--bogus' found", "{}", ran.out);
    assert_eq!(error["exit-code"], 2, "{}", ran.out);
    assert!(ran.err.contains("Usage: regreen fix"), "{}", ran.err);
    let help = repo.regreen(&["fix", "--json", "--help"]);
    assert_eq!(help.code, Some(0));
    assert!(help.out.starts_with("Fix the failing tests"), "{}", help.out);
}

#[test]
fn wrong_usage_is_exit_code_2() {
    let repo = TestRepo::new(CALC);
    for arguments in [
        &["fix", "--target", "0"][..],
        &["fix", "--dry-run", "--publish", "suggest"],
        &["fix", "--dry-run", "--publish", "suggest"],
        &["fix", "--publish", "head"],
        &["fix", "--publish", "nowhere"],
        &["fux"],
        &["fix", "--max-iterations", "51"],
    ] {
        assert_eq!(repo.regreen(arguments).code, Some(2), "{arguments:?}");
    }
}

#[test]
fn a_state_root_that_cannot_be_written() {
    let repo = TestRepo::new(CALC);
    std::fs::write(repo.root().join(".git/regreen"), "a file where a folder belongs").unwrap();
    let ran = refused(&repo, &[], 3, "cannot ");
    assert!(ran.err.contains(".git/regreen"), "{}", ran.err);
}

#[test]
fn a_work_folder_that_cannot_be_written() {
    let repo = TestRepo::new(CALC);
    let file = repo.around().join("file");
    std::fs::write(&file, "x").unwrap();
    let output = repo
        .command()
        .args(["fix", "--json"])
        .env("REGREEN_WORK_DIR", file.join("below"))
        .output()
        .unwrap();
    let ran = Ran::from(output);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    assert!(ran.err.contains("cannot create"), "{}", ran.err);
}

#[test]
fn a_corrupt_or_missing_state_is_mended_from_the_branch() {
    for torn in [true, false] {
        let repo = TestRepo::new(CALC);
        let ran = repo.regreen(&["fix", "--json", "--max-iterations", "1"]);
        assert_eq!(ran.document()["result"], "failure", "{}", ran.err);
        let folder = repo.root().join(".git/regreen/active/WFS-test-main/.process");
        let state = folder.join("iteration-state.json");
        if torn {
            std::fs::write(&state, "{ torn").unwrap();
        } else {
            std::fs::remove_file(&state).unwrap();
        }
        let ran =
            repo.regreen(&["fix", "--json", "--resume", "WFS-test-main", "--max-iterations", "5"]);
        let fault = if torn { "cannot be read" } else { "is missing" };
        assert!(ran.err.contains(fault), "{}", ran.err);
        assert!(ran.err.contains("takes its place"), "{}", ran.err);
        let document = ran.document();
        assert_eq!(document["result"], "success", "{}", ran.err);
        let first = &document["iterations"][0];
        assert_eq!(first["iteration"], 1, "what was kept is not done again: {first}");
        let log = repo.git(&["log", "--oneline", "regreen/WFS-test-main"]);
        assert_eq!(log.matches("iteration 1 ").count(), 1, "{log}");
    }
}

#[cfg(feature = "slow-tests")]
#[test]
fn a_corrupt_state_without_a_branch_begins_again() {
    let repo = TestRepo::new(CALC);
    let ran = repo.regreen(&["fix", "--json", "--publish", "suggest", "--max-iterations", "1"]);
    assert_eq!(ran.document()["result"], "failure", "{}", ran.err);
    let state = repo.root().join(".git/regreen/active/WFS-test-main/.process/iteration-state.json");
    std::fs::write(&state, "{ torn").unwrap();
    let arguments = [
        "fix",
        "--json",
        "--publish",
        "suggest",
        "--resume",
        "WFS-test-main",
        "--max-iterations",
        "5",
    ];
    let ran = repo.regreen(&arguments);
    assert!(ran.err.contains("starting from the baseline"), "{}", ran.err);
    assert_eq!(ran.document()["result"], "success", "{}", ran.err);
}

#[test]
fn help_schema_and_completions_are_there() {
    let repo = TestRepo::new(CALC);
    for (arguments, expected) in [
        (&["--help"][..], "Exit codes: 0 gate met"),
        (&["fix", "--help"], "--budget-minutes"),
        (&["config", "schema"], "max-iterations"),
        (&["completions", "bash"], "_regreen"),
        (&["doctor"], "ready: `regreen fix` can start"),
        (&["status"], "no session here"),
    ] {
        let ran = repo.regreen(arguments);
        assert_eq!(ran.code, Some(0), "{arguments:?}: {}", ran.err);
        assert!(ran.out.contains(expected), "{arguments:?}: {}", ran.out);
    }
}

#[cfg(feature = "slow-tests")]
#[test]
fn a_disk_that_takes_no_more_is_named_and_the_session_goes_on_later() {
    for blocks in [1, 4, 12] {
        let repo = TestRepo::new(CALC);
        let before = repo.belongings();
        // Limits the size of files in blocks, so that every larger write fails as on a full disk.
        let regreen = env!("CARGO_BIN_EXE_regreen");
        let line = format!("trap '' XFSZ; ulimit -f {blocks}; exec {regreen} fix --quiet");
        let full: Ran = repo.shell(&line).output().expect("a shell").into();
        assert_eq!(full.code, Some(3), "{blocks}: {}", full.err);
        assert!(full.err.contains("help:") || full.err.contains("hint"), "{blocks}: {}", full.err);
        assert_eq!(repo.belongings(), before, "{blocks}");
        let later = repo.regreen(&["fix", "--quiet", "--resume"]);
        if later.code != Some(0) {
            let fresh = repo.regreen(&["fix", "--quiet"]);
            assert_eq!(fresh.code, Some(0), "{blocks}: {}\n{}", later.err, fresh.err);
        }
    }
}

/// A project whose suite only the configuration names.
const CONFIGURED: &[(&str, &str)] = &[
    ("calc.py", "def double(number):\n    return number * 2\n"),
    (
        "check.sh",
        "echo '<testsuite><testcase classname=\"calc\" name=\"double\"/></testsuite>' > out.xml\n",
    ),
    (".gitignore", "out.xml\n"),
    (".github/regreen.yml", "test: { command: sh check.sh, report: out.xml }\n"),
];

#[test]
fn doctor_and_score_read_the_configured_suite() {
    let repo = TestRepo::new(CONFIGURED);
    let doctor = repo.regreen(&["doctor"]);
    assert_eq!(doctor.code, Some(0), "{}", doctor.out);
    assert!(doctor.out.contains("ready: `regreen fix` can start"), "{}", doctor.out);
    let score = repo.regreen(&["score", "--json", "--mutants", "1", "calc.py"]);
    assert_eq!(score.code, Some(1), "{}", score.err);
    assert_eq!(score.document()["tried"], 1, "{}", score.out);

    repo.write(&[(".github/regreen.yml", "gate: { target: 0 }\n")]);
    let invalid = repo.regreen(&["doctor"]);
    assert_eq!(invalid.code, Some(3), "{}", invalid.out);
    assert!(invalid.out.contains("missing") && !invalid.out.contains("ready:"), "{}", invalid.out);
}

#[test]
fn a_configuration_that_is_missing_or_holds_no_globs_leaves_nothing_behind() {
    let repo = TestRepo::new(CALC);
    refused(&repo, &["--config", "absent.yml"], 2, "absent.yml does not exist");
    refused(&repo, &["--set", "protect=['[']"], 2, "`[` is not a valid glob");
    assert!(repo.regreen(&["status"]).out.contains("no session here"));
}
