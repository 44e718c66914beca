//! `regreen test` with fake models: the requirements they name, the tests they write, refused
//! answers, and defects that their tests find.

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;

use serde_json::Value;

use super::support::fake_model::{
    Asked, FakeModel, Reply, analysis_of, edit, survey, test_file, verdict,
};
use super::support::{Ran, TestRepo, sample_step};

pub const KEY: &str = "sk-canary/7+q=Zt9-canary-canary";

/// Correct functions, and one that adds where its documentation says that it subtracts.
pub const SHOP: &[(&str, &str)] = &[
    ("shop/__init__.py", ""),
    (
        "shop/price.py",
        r#"def parse_price(text: str) -> float:
    """Reads a price; an empty text is an error."""
    if not text:
        raise ValueError('empty price')
    return float(text)


def discount(price: int, percent: int) -> float:
    """Takes so many percent off a price; more than 100 is an error."""
    if percent > 100:
        raise ValueError('more than all')
    return price * (100 + percent) / 100


def double(rate: int) -> int:
    return rate * 2
"#,
    ),
    ("shop/tax.py", "def tax(price: int) -> int:\n    return price // 5\n"),
    (
        "tests/test_tax.py",
        r"import unittest

from shop.tax import tax


class TaxTest(unittest.TestCase):
    def test_tax(self):
        self.assertEqual(tax(10), 2)
",
    ),
    ("tests/__init__.py", ""),
    (".gitignore", "__pycache__/\n"),
];

pub const PLACE: &str = "tests/test_price.py";
pub const BRANCH: &str = "regreen/WFS-test-shop-price-py";
pub const FINDING: &str = "tests.test_price.PriceTest.test_half_off";

/// Tests of two functions; one of them shows the defect.
pub const GOOD: &str = r"import unittest

from shop.price import discount, parse_price


class PriceTest(unittest.TestCase):
    def test_price(self):
        self.assertEqual(parse_price('2.5'), 2.5)
        self.assertEqual(parse_price('0'), 0.0)

    def test_empty_price(self):
        with self.assertRaisesRegex(ValueError, 'empty price'):
            parse_price('')

    def test_nothing_off(self):
        self.assertEqual(discount(80, 0), 80.0)
        self.assertEqual(discount(0, 50), 0.0)

    def test_more_than_all(self):
        with self.assertRaisesRegex(ValueError, 'more than all'):
            discount(80, 101)

    def test_half_off(self):
        self.assertEqual(discount(80, 50), 40.0)
";

pub const RIGHT: (&str, &str, &str) = (
    "shop/price.py",
    "    return price * (100 + percent) / 100\n",
    "    return price * (100 - percent) / 100\n",
);

/// The sources with the defect fixed.
fn repaired() -> Vec<(&'static str, String)> {
    let text = |text: &str| text.replace(RIGHT.1, RIGHT.2);
    SHOP.iter().map(|(name, source)| (*name, text(source))).collect()
}

/// A test file with these lines after its imports.
fn tests_with(lines: &str) -> String {
    GOOD.replace("\n\nclass", &format!("\n{lines}\n\nclass"))
}

pub fn surveyed() -> Reply {
    survey(
        "shop/price.py",
        &[
            ("L1.1", "discount", 12, "`discount(80, 50)` is 40.0"),
            ("L2.1", "discount", 12, "a reduced price goes through `discount(…)` once"),
            ("L1.1", "reduce", 12, "`reduce(80)` is 40.0"),
            ("L1.3", "parse_price", 3, "`parse_money('')` raises ValueError"),
        ],
    )
}

pub fn nothing() -> Reply {
    let notes = "There is nothing that I could add.";
    Reply::Text(serde_json::json!({ "new_files": [], "edits": [], "notes": notes }).to_string())
}

pub fn server(one: Vec<Reply>) -> FakeModel {
    FakeModel::serve(vec![("one", one)])
}

pub fn configured(files: &[(&str, &str)], model: &FakeModel, chain: &str) -> TestRepo {
    let repo = TestRepo::new(files);
    model.provide(&repo, chain);
    repo
}

fn clean(model: &FakeModel, chain: &str) -> TestRepo {
    let files = repaired();
    let files: Vec<(&str, &str)> =
        files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    configured(&files, model, chain)
}

pub fn run(repo: &TestRepo, arguments: &[&str]) -> Ran {
    let mut command = repo.command();
    command.env("ONE_KEY", KEY).args(arguments).args(["--no-coverage", "--json"]);
    command.output().expect("regreen starts").into()
}

pub const TEST: &[&str] = &["test", "shop/price.py"];

/// The name of each question, and whether it was asked again.
pub fn questions(asked: &[Asked]) -> Vec<String> {
    let name = |one: &Asked| {
        let text = one.text();
        let (_, rest) = text.split_once("# Question ").expect("every question has a name");
        let name = rest.split(['\\', '"']).next().unwrap_or_default().to_owned();
        let again = text.contains("# Your answer 1, which was refused");
        if again { format!("{name} again") } else { name }
    };
    asked.iter().map(name).collect()
}

pub fn read(document: &Value, file: &str) -> String {
    let path = PathBuf::from(document["folder"].as_str().expect("a folder")).join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|_| panic!("{} is there", path.display()))
}

pub fn texts(list: &Value) -> Vec<String> {
    let list = list.as_array().unwrap_or_else(|| panic!("a list: {list}"));
    list.iter().map(|one| one.as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_model_plans_writes_is_refused_finds_a_defect_and_the_suite_gets_green() {
    let made_up = GOOD.replace("from shop.price", "from shop.money import Money\nfrom shop.price");
    let covers: &[(&str, &[&str])] = &[("test_nothing_off", &["R-011", "R-999"])];
    let model = server(vec![
        surveyed(),
        test_file(PLACE, &made_up, &[]),
        test_file(PLACE, GOOD, covers),
        verdict(FINDING, "code", "discount", "its documentation says that it takes off"),
        nothing(),
        analysis_of(FINDING, "shop/price.py:discount:12-12", 0.9),
        edit(RIGHT.0, RIGHT.1, RIGHT.2),
    ]);
    let repo = configured(SHOP, &model, "one, embedded");
    let before = repo.belongings();
    let ran = run(&repo, TEST);
    let document = ran.document();
    assert_eq!(ran.code, Some(0), "{document:#}\n{}", ran.err);
    assert_eq!(
        questions(&model.asked()),
        [
            "analysis-1",
            "IMPL-001-1",
            "IMPL-001-1 again",
            "IMPL-001-1-verdict",
            "IMPL-001-1-survivors",
            "IMPL-fix-1",
            "IMPL-fix-1",
        ]
    );
    assert_eq!(model.left(), 0);
    assert_eq!(repo.belongings(), before, "nothing of the user's changed");
    // Spending is counted over all phases.
    assert_eq!(document["spending"]["calls"], 7);
    assert_eq!(document["spending"]["micro_usd"], 14_000);
    assert_eq!(document["degraded"], false);
    let produced = &document["produced"];
    assert_eq!(produced["authors"][PLACE], "one", "{produced:#}");
    let finding = &produced["findings"][0];
    let what = format!("{FINDING} in shop/price.py:8 discount");
    assert_eq!(finding["what"], what.as_str());
    assert_eq!(finding["reason"], "its documentation says that it takes off");
    let given_up = texts(&produced["given-up"]).join("\n");
    assert!(given_up.contains("refused, by one: hallucinated-import: line 3"), "{given_up}");
    // The engine covers what the model left open, and pins no wrong behaviour.
    assert!(texts(&produced["files"]).contains(&"tests/test_price.py".to_owned()));
    let pinned = repo.git(&["show", &format!("{BRANCH}:tests/test_price_more.py")]);
    assert!(pinned.contains("double(") && !pinned.contains("discount("), "{pinned}");
    let fixed = repo.git(&["show", &format!("{BRANCH}:shop/price.py")]);
    assert!(fixed.contains(RIGHT.2), "{fixed}");
    assert_eq!(repo.git(&["show", &format!("{BRANCH}:{PLACE}")]), GOOD.trim_end());
    // Requirements about code that does not exist are dropped with the reason.
    let analysis: Value =
        serde_json::from_str(&read(&document, ".process/TEST_ANALYSIS_RESULTS.json")).unwrap();
    let sources = analysis["files"][0]["requirements"].as_array().unwrap();
    assert_eq!(sources.iter().filter(|one| one["source"] == "one").count(), 2, "{sources:#?}");
    let dropped = texts(&analysis["left_out"]).join("\n");
    assert!(dropped.contains("there is no function `reduce` in it"), "{dropped}");
    assert!(dropped.contains("there is no `parse_money`"), "{dropped}");
    let page = read(&document, ".process/TEST_ANALYSIS_RESULTS.md");
    assert!(page.contains("a reduced price goes through"), "{page}");
    let raw = read(&document, ".process/analysis-1-cli-output.surveyor.1.1.txt");
    assert!(raw.contains("a reduced price goes through") && !raw.contains(KEY), "{raw}");
    let summary = read(&document, ".summaries/IMPL-001-summary.md");
    assert!(summary.contains("## Findings") && summary.contains("test_half_off"), "{summary}");
    super::test_sessions::complete(&PathBuf::from(document["folder"].as_str().unwrap()));
    let private = repo.around().display().to_string();
    for one in model.asked() {
        assert!(!one.text().contains(&private), "a private path in {}", one.text());
    }
}

/// A project, and a test file that depends on the side effect of an import.
fn side_effect_story() -> (Vec<(&'static str, String)>, String) {
    let text = GOOD
        .replace(
            "from shop.price",
            "from shop import registry, tax\nfrom shop.price",
        )
        .replace(
            "    def test_price(",
            "    def test_rates(self):\n        self.assertEqual(tax.RATES, {'a': 1})\n\n    def test_price(",
        );
    let mut files = repaired();
    files.push(("shop/registry.py", "from shop.tax import RATES\n\nRATES['a'] = 1\n".into()));
    for (name, text) in &mut files {
        if *name == "shop/tax.py" {
            *text = format!("RATES = {{}}\n\n\n{text}");
        }
    }
    (files, text)
}

#[cfg(feature = "slow-tests")]
#[test]
fn a_gate_takes_a_written_file_away_with_its_reason() {
    // The project's own fixer removes an import that looks unused, but the tests need it.
    let (mut files, text) = side_effect_story();
    files.push(("pyproject.toml", "[project]\nname = \"shop\"\n\n[tool.ruff]\n".into()));
    let model = server(vec![surveyed(), test_file(PLACE, &text, &[]), nothing()]);
    let files: Vec<(&str, &str)> =
        files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let repo = configured(&files, &model, "one, embedded");
    let fixer = "case \"$*\" in\n*--fix*) sed 's/import registry, tax/import tax/';;\nesac";
    let path = crate::validate::on_path(&repo, &[("ruff", fixer)]);
    let mut command = repo.command();
    command.env("ONE_KEY", KEY).env("PATH", path).args(TEST).args(["--no-coverage", "--json"]);
    let ran: Ran = command.output().expect("regreen starts").into();
    let document = ran.document();
    let produced = &document["produced"];
    assert_eq!(produced["dropped"][0]["what"], PLACE, "{produced:#}\n{}", ran.err);
    let reason = produced["dropped"][0]["reason"].as_str().unwrap();
    assert_eq!(reason, "its tests do not hold once it is repaired");
    assert_eq!(repo.git(&["ls-tree", "--name-only", BRANCH, PLACE]), "", "it is not on the branch");
}

#[cfg(feature = "slow-tests")]
#[test]
fn without_a_fixer_of_the_project_an_import_for_its_side_effect_stays() {
    // regreen itself removes no import that looks unused; only the project's own fixer may.
    let (files, text) = side_effect_story();
    let model = server(vec![surveyed(), test_file(PLACE, &text, &[]), nothing()]);
    let files: Vec<(&str, &str)> =
        files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let repo = configured(&files, &model, "one, embedded");
    let ran = run(&repo, TEST);
    let document = ran.document();
    let produced = &document["produced"];
    assert_eq!(produced["dropped"].as_array().map_or(0, Vec::len), 0, "{produced:#}\n{}", ran.err);
    let kept = repo.git(&["show", &format!("{BRANCH}:{PLACE}")]);
    assert!(kept.contains("from shop import registry, tax"), "{kept}");
}

#[test]
fn what_no_test_may_do_is_refused_by_name_and_what_slips_through_is_cut_out() {
    let body = |line: &str| tests_with(&format!("\n\ndef clean_up():\n    {line}\n"));
    let shaky = GOOD.replace(
        "class PriceTest(unittest.TestCase):\n",
        r"SEEN = []


class PriceTest(unittest.TestCase):
    def test_a_first(self):
        SEEN.append(parse_price('3'))
        self.assertEqual(SEEN[-1], 3.0)

    def test_b_second(self):
        self.assertEqual(SEEN, [3.0])

",
    );
    let stories: [(Vec<String>, Vec<&str>, bool); 3] = [
        (
            vec![
                "def test_price(:\n".into(),
                body("__import__('shutil').rmtree('/tmp/x')"),
                body("import time; time.sleep(86400)"),
            ],
            vec!["does-not-parse: line 1", "deletes-files: ", "sleeps: `time.sleep`"],
            false,
        ),
        (
            vec![
                body("import urllib.request; urllib.request.urlopen('http://x.invalid')"),
                tests_with("import pricelib"),
                body("while True: double(1)").replace("discount, ", "discount, double, "),
            ],
            vec![
                "uses-network: `urllib.request.urlopen`",
                "hallucinated-import: ModuleNotFoundError: No module named 'pricelib'",
                "endless-loop: `while True",
            ],
            false,
        ),
        (vec![shaky], vec!["test_b_second: it does not hold when"], true),
    ];
    for (answers, expected, kept) in stories {
        let mut script = vec![surveyed()];
        script.extend(answers.iter().map(|text| test_file(PLACE, text, &[])));
        // Mutants that survive are sent back once.
        script.push(nothing());
        let model = server(script);
        let repo = clean(&model, "one");
        let ran = run(&repo, TEST);
        let document = ran.document();
        let produced = &document["produced"];
        let given_up = texts(&produced["given-up"]).join("\n");
        for reason in expected {
            assert!(given_up.contains(reason), "{reason}: {given_up}\n{}", ran.err);
        }
        assert_eq!(produced["authors"][PLACE] == "one", kept, "{produced:#}");
        if kept {
            let text = repo.git(&["show", &format!("{BRANCH}:{PLACE}")]);
            assert!(text.contains("test_a_first") && !text.contains("test_b_second"), "{text}");
        }
    }
}

#[test]
fn a_test_that_no_mutant_makes_fail_is_cut_out() {
    let class = "class PriceTest(unittest.TestCase):\n";
    let blind = format!(
        "{class}    def test_something(self):\n        self.assertNotEqual(discount(80, 5), \"cheap\")\n\n"
    );
    let answer = test_file(PLACE, &GOOD.replace(class, &blind), &[]);
    let model = server(vec![surveyed(), answer, nothing()]);
    let repo = clean(&model, "one");
    let ran = run(&repo, TEST);
    let given_up = texts(&ran.document()["produced"]["given-up"]).join("\n");
    let reason = "test_something: no mutant of the code that it runs makes an assertion fail";
    assert!(given_up.contains(reason), "{given_up}\n{}", ran.err);
    let text = repo.git(&["show", &format!("{BRANCH}:{PLACE}")]);
    assert!(!text.contains("test_something") && text.contains("test_half_off"), "{text}");
}

#[cfg(feature = "slow-tests")]
#[test]
fn a_test_that_is_wrong_is_repaired_once_or_left_out() {
    let wrong = GOOD.replace("discount(80, 50), 40.0", "discount(80, 50), 41.0");
    let model = server(vec![
        surveyed(),
        test_file(PLACE, &wrong, &[]),
        verdict(FINDING, "test", "", "half of 80 is 40"),
        test_file(PLACE, GOOD, &[]),
        nothing(),
    ]);
    let repo = clean(&model, "one");
    let document = run(&repo, TEST).document();
    let asked = questions(&model.asked());
    assert_eq!(asked[1..4], ["IMPL-001-1", "IMPL-001-1-verdict", "IMPL-001-1-repair"]);
    assert_eq!(document["produced"]["findings"], serde_json::json!([]));
    assert_eq!(repo.git(&["show", &format!("{BRANCH}:{PLACE}")]), GOOD.trim_end());
    // The model has no further answers: the wrong test is dropped, the others stay.
    let model =
        server(vec![surveyed(), test_file(PLACE, &wrong, &[]), nothing(), nothing(), nothing()]);
    let repo = clean(&model, "one");
    let document = run(&repo, TEST).document();
    let given_up = texts(&document["produced"]["given-up"]).join("\n");
    let reason = format!("{FINDING}: nobody can say whether the code or the test is wrong");
    assert!(given_up.contains(&reason), "{given_up}");
    let text = repo.git(&["show", &format!("{BRANCH}:{PLACE}")]);
    assert!(text.contains("test_nothing_off") && !text.contains("test_half_off"), "{text}");
}

#[test]
fn survivors_go_back_to_the_model_as_work() {
    let weak = r"import unittest

from shop.price import discount, double, parse_price


class PriceTest(unittest.TestCase):
    def test_price(self):
        self.assertEqual(parse_price('0'), 0.0)

    def test_nothing(self):
        self.assertEqual(discount(0, 0), 0.0)
        self.assertEqual(double(0), 0)
";
    let more = "tests/test_price_more.py";
    let strong = format!(
        "{}\n    def test_double(self):\n        self.assertEqual(double(4), 8)\n",
        GOOD.replace("import discount,", "import discount, double,")
    );
    let model =
        server(vec![surveyed(), test_file(PLACE, weak, &[]), test_file(more, &strong, &[])]);
    let repo = clean(&model, "one");
    let ran = run(&repo, TEST);
    let document = ran.document();
    assert_eq!(questions(&model.asked())[2], "IMPL-001-1-survivors", "{}", ran.err);
    let asked = model.asked()[2].text();
    assert!(asked.contains("Unnoticed changes of the code"), "{asked}");
    assert!(asked.contains("return rate * 2"), "{asked}");
    let produced = &document["produced"];
    assert_eq!(texts(&produced["files"]), [PLACE, more], "{produced:#}");
    let score: f64 = produced["mutation-score"].as_str().unwrap().parse().unwrap();
    assert!(score >= 60.0, "{score}");
    assert_eq!(ran.code, Some(0), "{document:#}\n{}", ran.err);
}

/// A fake coverage tool: which lines run depends on which test files exist.
const TOOL: &str = r"import os

first = int(os.path.exists('tests/test_price.py'))
more = int(os.path.exists('tests/test_price_more.py'))
rows = [(3, first), (5, first), (10, first), (4, more), (11, more), (12, more), (16, more)]
with open('price.info', 'w') as out:
    out.write('SF:shop/price.py\n')
    out.writelines('DA:%d,%d\n' % row for row in rows)
    out.write('end_of_record\n')
";

fn answers_until_lines_run(question: &str) -> Reply {
    let strong = format!(
        "{}\n    def test_double(self):\n        self.assertEqual(double(4), 8)\n",
        GOOD.replace("import discount,", "import discount, double,")
    );
    if question.contains("Lines that no test runs") {
        return test_file("tests/test_price_more.py", &strong, &[]);
    }
    knowing(question)
}

#[cfg(feature = "slow-tests")]
#[test]
fn lines_that_no_test_runs_miss_the_gate_and_go_back_as_work() {
    let ran = |replies: Reply| {
        let model = server(vec![replies]);
        let repo = clean(&model, "one");
        repo.write(&[("tool.py", TOOL)]);
        repo.git(&["add", "tool.py"]);
        repo.git(&["commit", "-qm", "Add a tool"]);
        let mut command = repo.command();
        command.env("ONE_KEY", KEY).args(TEST).args(["--json", "--coverage-command"]);
        command.args(["python3 tool.py", "--set", "coverage.report=*.info"]);
        let ran: Ran = command.output().expect("regreen starts").into();
        (ran, model, repo)
    };
    let (fixed, model, _) = ran(Reply::By(answers_until_lines_run));
    let produced = &fixed.document()["produced"];
    assert_eq!(fixed.code, Some(0), "{produced:#}\n{}", fixed.err);
    let lines = &produced["coverage"]["measured"];
    let parts = ["before", "after"].map(|when| lines[when]["line"]["part"].clone());
    assert_eq!(parts, [0, 7], "{produced:#}");
    let asked = model.asked();
    let last = asked.iter().rfind(|one| one.text().contains("Lines that no test runs"));
    let text = last.expect("lines are asked for").text();
    assert!(text.contains("line 12: return price * (100 - percent)"), "{text}");
    assert!(!text.contains("line 10: if"), "what runs is not named: {text}");

    let (missed, _, _repo) = ran(Reply::By(knowing));
    let document = missed.document();
    assert_eq!(missed.code, Some(1), "{document:#}\n{}", missed.err);
    let review = document["produced"]["review"].as_str().unwrap().to_owned();
    assert!(review.starts_with("HARD_FAIL: ") && review.contains("lines 42 % of 80 %"), "{review}");
    let page = read(&document, ".summaries/IMPL-001.5-summary.md");
    assert!(page.contains("| lines | 0 % (0 of 7) | 42 % (3 of 7) | 80 % |"), "{page}");
}

#[test]
fn without_a_good_answer_the_code_speaks_for_itself_and_the_session_is_degraded() {
    let down = || Reply::Status(401, vec![], "{\"error\": {\"message\": \"no such key\"}}".into());
    let model = server(vec![down(), down(), down()]);
    let repo = clean(&model, "one, embedded");
    let ran = run(&repo, TEST);
    let document = ran.document();
    assert_eq!(ran.code, Some(0), "{document:#}\n{}", ran.err);
    assert_eq!(document["degraded"], true);
    assert_eq!(document["produced"]["authors"], serde_json::json!({}));
    assert!(document["produced"]["tests"].as_u64().unwrap() > 0);
    assert!(ran.err.contains("no provider gave a good analysis"), "{}", ran.err);
    assert_eq!(model.asked().len(), 1, "a key that was refused is tried once");
}

/// Answers every question, as often as it is asked.
pub fn knowing(question: &str) -> Reply {
    let is = |name: &str| question.contains(&format!("# Question {name}"));
    if is("analysis-1") {
        surveyed()
    } else if is("IMPL-001-1-verdict") {
        verdict(FINDING, "code", "discount", "its documentation says that it takes off")
    } else if is("IMPL-001-1-survivors") {
        nothing()
    } else if is("IMPL-001-1") {
        test_file(PLACE, GOOD, &[])
    } else if question.contains("Say what is wrong and where") {
        analysis_of(FINDING, "shop/price.py:discount:12-12", 0.9)
    } else {
        edit(RIGHT.0, RIGHT.1, RIGHT.2)
    }
}

pub fn story(repo: &TestRepo) -> (String, String) {
    let range = format!("main..{BRANCH}");
    let tree = repo.git(&["rev-parse", &format!("{BRANCH}^{{tree}}")]);
    (tree, repo.git(&["log", "--format=%s", &range]))
}

#[test]
fn killed_at_any_point_a_session_with_a_model_ends_the_same() {
    let reference = configured(SHOP, &server(vec![Reply::By(knowing)]), "one, embedded");
    let ran = run(&reference, TEST);
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.out, ran.err);
    let expected = story(&reference);
    let needed = ran.document()["spending"]["calls"].as_u64().unwrap();
    let mut visited = 0;
    for point in (40..900_u32).step_by(sample_step(153, 301)) {
        let model = server(vec![Reply::By(knowing)]);
        let repo = configured(SHOP, &model, "one, embedded");
        let mut command = repo.command();
        command.env("ONE_KEY", KEY).args(TEST).args(["--no-coverage", "--json"]);
        let killed = command.env("REGREEN_CRASH_AT", point.to_string()).output().unwrap();
        if killed.status.signal() != Some(9) {
            assert!(killed.status.success(), "{}", String::from_utf8_lossy(&killed.stderr));
            break;
        }
        visited += 1;
        let resumed = run(&repo, &["test", "--resume"]);
        assert!(matches!(resumed.code, Some(0 | 2)), "point {point}: {}", resumed.err);
        assert_eq!(story(&repo), expected, "point {point}: {}", resumed.err);
        // No question is asked twice, except one that was in flight, and that is reported.
        let asked = model.asked().len() as u64;
        let reported = resumed.err.contains("it may have been charged");
        assert!(asked <= needed + u64::from(reported), "point {point}: {asked} of {needed}");
        if resumed.code == Some(0) {
            let counted = resumed.document()["spending"]["calls"].as_u64().unwrap();
            assert_eq!(counted, needed + u64::from(reported), "point {point}: {}", resumed.err);
        }
    }
    assert!(visited > sample_step(2, 1), "a session has many points, {visited} were visited");
}

#[cfg(feature = "slow-tests")]
#[test]
fn a_budget_holds_for_the_whole_session_and_a_higher_one_goes_on() {
    let model = server(vec![Reply::By(knowing)]);
    let repo = configured(SHOP, &model, "one, embedded");
    let ran = run(&repo, &["test", "shop/price.py", "--budget-calls", "3"]);
    let document = ran.document();
    assert_eq!(ran.code, Some(1), "{document:#}\n{}", ran.err);
    assert_eq!(document["result"], "stopped");
    assert!(document["next"].as_str().unwrap().contains("budget of 3 calls"), "{document:#}");
    assert_eq!(model.asked().len(), 3);
    // Calls of the first run count towards the budget.
    let ran = run(&repo, &["test", "--resume", "--budget-calls", "4"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert_eq!(model.asked().len(), 4, "{:?}", questions(&model.asked()));
    let ran = run(&repo, &["test", "--resume", "--budget-calls", "20"]);
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.out, ran.err);
    let asked = model.asked().len();
    assert_eq!(ran.document()["spending"]["calls"].as_u64(), Some(asked as u64));
}

#[cfg(feature = "slow-tests")]
#[test]
fn a_recorded_session_is_replayed_without_asking_anybody() {
    let model = server(vec![Reply::By(knowing)]);
    let repo = configured(SHOP, &model, "one, embedded");
    let tape = repo.around().join("tape").display().to_string();
    let ran = run(&repo, &["test", "shop/price.py", "--record", &tape]);
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.out, ran.err);
    let (asked, expected) = (model.asked().len(), story(&repo));
    let again = TestRepo::new(SHOP);
    let replayed =
        again.regreen(&["test", "shop/price.py", "--no-coverage", "--json", "--replay", &tape]);
    assert_eq!(replayed.code, Some(0), "{}\n{}", replayed.out, replayed.err);
    assert_eq!(model.asked().len(), asked, "nobody is asked");
    assert_eq!(story(&again), expected);
    assert_eq!(replayed.document()["spending"], ran.document()["spending"]);
}

#[cfg(feature = "slow-tests")]
#[test]
#[ignore = "needs node; a_model_plans_writes_is_refused_finds_a_defect_and_the_suite_gets_green always runs"]
fn a_model_writes_tests_for_javascript_too() {
    let source = r"function cut(text, size = 5) {
  if (size < 0) throw new RangeError(`below 0: ${size}`);
  return text.length > size ? text.slice(0, size) + '...' : text;
}

module.exports = { cut };
";
    let place = "test/text.test.js";
    let tests = r"const test = require('node:test');
const assert = require('node:assert');
const { cut } = require('../lib/text.js');

test('short texts stay', () => {
  assert.equal(cut('abc'), 'abc');
  assert.equal(cut('abcde', 5), 'abcde');
});

test('long texts are cut', () => {
  assert.equal(cut('abcdefg'), 'abcde...');
  assert.equal(cut('abc', 1), 'a...');
});

test('a size below 0 is refused', () => {
  assert.throws(() => cut('a', -1), /below 0: -1/);
});
";
    let model = server(vec![
        survey("lib/text.js", &[("L1.1", "cut", 3, "`cut('abc', 1)` is 'a...'")]),
        test_file(place, tests, &[]),
        nothing(),
    ]);
    let files = [
        (
            "package.json",
            "{\"name\": \"x\", \"version\": \"1.0.0\", \"scripts\": {\"test\": \"node --test\"}}",
        ),
        ("lib/text.js", source),
        (
            "test/nothing.test.js",
            r"const test = require('node:test');
const assert = require('node:assert');
test('nothing', () => assert.equal(1 + 1, 2));
",
        ),
    ];
    let repo = configured(&files, &model, "one");
    let ran = run(&repo, &["test", "lib/text.js"]);
    let document = ran.document();
    assert_eq!(document["produced"]["authors"][place], "one", "{document:#}\n{}", ran.err);
    assert_eq!(document["produced"]["tests"], 3, "{document:#}");
    assert_eq!(document["result"], "generated");
}
