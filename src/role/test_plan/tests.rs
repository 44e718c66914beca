//! Tests of phases 2 to 4 on a small example shop: from sources to requirements and tasks.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use crate::domain::coverage::CoverageTarget;
use crate::domain::coverage::FileLines;
use crate::domain::id::{RepoPath, SessionId};
use crate::domain::test_plan::framework::TestFramework;
use crate::domain::test_plan::plan::{TestPlan, samples};
use crate::domain::test_plan::requirement::Priority;
use crate::effect::SuiteFacts;

use super::gather::{GatherError, assemble};
use super::*;

const SHOP: &[(&str, &str)] = &[
    (
        "shop/price.py",
        "from shop.tax import rate\n\n\ndef parse_price(text):\n    if not text:\n        raise ValueError(\"empty price\")\n    amount = float(text)\n    if amount < 0:\n        raise ValueError(\"negative price\")\n    return round(amount, 2)\n\n\ndef gross(price, percent):\n    if percent > 100:\n        raise ValueError(\"more than all\")\n    return price * (1 + rate(percent))\n",
    ),
    ("shop/tax.py", "def rate(percent):\n    return percent / 100\n"),
    (
        "shop/cart.py",
        "import requests\n\n\nclass Cart:\n    def add(self, item, count=1):\n        self.items[item] = count\n\n    def load(self, url):\n        try:\n            return requests.get(url).json()\n        except requests.Timeout:\n            return None\n\n    def total(self, prices):\n        result = 0\n        for price in prices:\n            result += price\n        return result\n",
    ),
    (
        "tests/test_price.py",
        "import pytest\n\nfrom shop.price import parse_price\n\n\ndef test_parse_price():\n    assert parse_price(\"2\") == 2.0\n\n\ndef test_empty():\n    with pytest.raises(ValueError, match=\"empty price\"):\n        parse_price(\"\")\n",
    ),
    ("pyproject.toml", "[project]\nname = \"shop\"\n[tool.pytest.ini_options]\n"),
    ("README.md", "# Shop\n"),
];

fn path(text: &str) -> RepoPath {
    RepoPath::parse(text).unwrap()
}

fn survey(files: &[(&str, &str)]) -> Survey {
    let texts: BTreeMap<RepoPath, String> =
        files.iter().map(|(name, text)| (path(name), (*text).to_owned())).collect();
    Survey::of(texts.keys().cloned().collect(), texts)
}

pub fn facts() -> SuiteFacts {
    SuiteFacts {
        framework: crate::domain::framework::Framework::Pytest,
        version: "pytest 9.2.0".into(),
        directory: String::new(),
        command: "python3 -m pytest".into(),
        format: String::new(),
        languages: vec!["Python".into()],
        evidence: vec!["pyproject.toml".into()],
        not_run: Vec::new(),
    }
}

fn session() -> SessionId {
    SessionId::parse("WFS-test-x").unwrap()
}

fn by_names() -> ExecutedLines {
    ExecutedLines { source: CoverageSource::by_names("no tool"), ..ExecutedLines::default() }
}

pub fn request<'a>(session: &'a SessionId, description: &'a str) -> GatherRequest<'a> {
    GatherRequest {
        session,
        description,
        source: None,
        report: None,
        unmeasured: Some("no coverage was asked for"),
        target: CoverageTarget::default(),
    }
}

fn gathered(description: &str, ran: ExecutedLines) -> Gathered {
    let (session, survey) = (session(), survey(SHOP));
    let named = survey.find_described(description);
    assemble(&request(&session, description), &named, ran, &facts(), &survey)
}

fn analysed(description: &str, ran: &ExecutedLines) -> TestPlan {
    let mut plan = gathered(description, ran.clone()).plan;
    derive_requirements(&mut plan, &survey(SHOP), ran);
    plan
}

fn lines(plan: &TestPlan) -> Vec<String> {
    plan.all_requirements().map(|(_, one)| format!("{} {}", one.layer, one.text)).collect()
}

/// What phase 4 makes of a plan.
fn planned(mut plan: TestPlan) -> TestPlan {
    plan_tasks(&mut plan, 10);
    plan
}

#[test]
fn requirements_say_what_to_give_and_what_to_see() {
    let plan = analysed("cover shop/price.py and shop/cart.py", &by_names());
    insta::assert_snapshot!(lines(&plan).join("\n"), @r#"
    L1.1 `Cart.add` changes `items` for ordinary `item` (shop/cart.py:5)
    L1.4 `Cart.add` changes `items` of its object (shop/cart.py:6)
    L1.1 `Cart.load` returns `requests.get(url).json()` for ordinary `url` (shop/cart.py:10)
    L2.4 `Cart.load` copes with what `requests.get` answers: success, refusal, timeout (shop/cart.py:10)
    L1.1 `Cart.load` returns `None` for a failure inside that is caught as `requests.Timeout` (shop/cart.py:12)
    L2.5 `Cart.load` does what its handler says when `requests.Timeout` is caught (shop/cart.py:12)
    L1.1 `Cart.total` returns `result` for ordinary `prices` (shop/cart.py:18)
    L1.2 `parse_price` raises ValueError ("empty price") for an empty `text` (shop/price.py:6)
    L1.3 `parse_price` keeps the edge `amount < 0`: `amount` of -1 and 0 differ (shop/price.py:8)
    L1.2 `parse_price` raises ValueError ("negative price") for a `text` that is not empty and `amount` below 0 (shop/price.py:9)
    L1.3 `gross` keeps the edge `percent > 100`: `percent` of 100 and 101 differ (shop/price.py:14)
    L1.2 `gross` raises ValueError ("more than all") for `percent` above 100 (shop/price.py:15)
    L1.1 `gross` returns `price * (1 + rate(percent))` for `percent` of at most 100 (shop/price.py:16)
    L2.1 `gross` works with the real `rate` of shop/tax.py (shop/price.py:16)
    "#);
    assert_eq!(plan.project_type, "Library (Python)");
}

#[test]
fn a_function_on_one_line_that_only_loading_ran_is_asked_for() {
    let text = "export function a (n) { return n + 1 }\nexport function b (n) { return n * 2 }\n";
    let (session, survey) = (session(), survey(&[("lib/dice.js", text)]));
    let mut ran = by_names();
    ran.source = CoverageSource::Measured { command: "node".into(), format: "V8 JSON".into() };
    let mut file = FileLines::default();
    for (name, line, hits) in [("a", 1, 3), ("b", 2, 0)] {
        file.line(line, 1);
        file.add_function(name, line, hits);
    }
    ran.files.insert(path("lib/dice.js"), file);
    let named = survey.find_described("lib/dice.js");
    let request = request(&session, "lib/dice.js");
    let mut plan = assemble(&request, &named, ran.clone(), &facts(), &survey).plan;
    derive_requirements(&mut plan, &survey, &ran);
    let functions: BTreeSet<&str> =
        plan.all_requirements().map(|(_, one)| one.function.as_str()).collect();
    assert_eq!(functions, BTreeSet::from(["b"]), "{:?}", lines(&plan));
}

#[test]
fn lines_that_ran_are_not_asked_for_again() {
    let mut ran = by_names();
    ran.source = CoverageSource::Measured { command: "coverage".into(), format: "JSON".into() };
    let mut file = FileLines::default();
    for (line, hits) in [
        (4, 1),
        (5, 1),
        (6, 1),
        (7, 1),
        (8, 1),
        (9, 0),
        (10, 1),
        (13, 1),
        (14, 0),
        (15, 0),
        (16, 0),
    ] {
        file.line(line, hits);
    }
    file.branch(5, 2, 2);
    file.branch(8, 1, 2);
    file.branch(14, 0, 2);
    ran.files.insert(path("shop/price.py"), file);
    let plan = analysed("shop/price.py", &ran);
    insta::assert_snapshot!(lines(&plan).join("\n"), @r#"
    L1.3 `parse_price` keeps the edge `amount < 0`: `amount` of -1 and 0 differ (shop/price.py:8)
    L1.2 `parse_price` raises ValueError ("negative price") for a `text` that is not empty and `amount` below 0 (shop/price.py:9)
    L1.3 `gross` keeps the edge `percent > 100`: `percent` of 100 and 101 differ (shop/price.py:14)
    L1.2 `gross` raises ValueError ("more than all") for `percent` above 100 (shop/price.py:15)
    L1.1 `gross` returns `price * (1 + rate(percent))` for `percent` of at most 100 (shop/price.py:16)
    L2.1 `gross` works with the real `rate` of shop/tax.py (shop/price.py:16)
    "#);
    insta::assert_snapshot!(plan.files[0].reason, @"7 of 11 lines run (63 %); 3 of 6 branches are taken (50 %); no test enters `gross`");
    assert_eq!(plan.files[0].test_file, path("tests/test_price.py"));
}

#[test]
fn a_named_function_is_the_only_one_that_is_planned() {
    let plan = analysed("`Cart.total` lacks tests", &by_names());
    let functions: BTreeSet<&str> =
        plan.all_requirements().map(|(_, one)| one.function.as_str()).collect();
    assert_eq!(functions.into_iter().collect::<Vec<_>>(), ["Cart.total"]);
    let text = lines(&plan).join("\n");
    assert!(text.contains("returns `result`"), "{text}");
}

#[test]
fn the_plan_of_phase_two_holds_what_phase_three_needs() {
    let plan = gathered("several prices and the cart", by_names()).plan;
    assert_eq!(plan.framework.conventions.file_naming, "test_*.py");
    let gaps: Vec<(&str, Priority)> =
        plan.files.iter().map(|one| (one.file.as_str(), one.priority)).collect();
    assert!(gaps.contains(&("shop/cart.py", Priority::Low)), "{gaps:?}");
    assert_eq!(plan.description, "several prices and the cart");
}

#[test]
fn descriptions_that_name_nothing_offer_what_is_near() {
    let error = GatherError::NamesNothing {
        description: "zebra".into(),
        nearest: vec!["parse_price".into()],
    };
    assert!(error.hint().ends_with("such as parse_price"));
    let survey = survey(SHOP);
    let near = crate::code::description_match::nearest("parse_prise", &survey.known, 3);
    assert_eq!(near[0], "parse_price");
}

#[test]
fn a_plan_has_four_tasks_and_every_requirement_once() {
    let plan = planned(analysed("shop/price.py", &by_names()));
    let ids: Vec<&str> = plan.tasks.iter().map(|task| task.id.as_str()).collect();
    assert_eq!(ids, ["IMPL-001", "IMPL-001.3", "IMPL-001.5", "IMPL-002"]);
    assert_eq!(plan.find_contradictions(), Vec::<String>::new());
    assert_eq!(plan.max_iterations(), 10);
    assert_eq!(plan.tasks[2].context.depends_on, ["IMPL-001", "IMPL-001.3"]);
    assert_eq!(plan.tasks[1].file(), ".task/IMPL-001.3-validation.json");
    let first = &plan.tasks[0];
    assert_eq!(first.requirement_ids().count(), plan.requirement_count());
    assert!(
        first.added_requirements().is_empty()
            && first.own_steps(plan.all_requirements().map(|(_, one)| one)).is_empty()
    );
    for task in &plan.tasks {
        for acceptance in &task.context.acceptance {
            assert!(acceptance.contains('`'), "{acceptance} names no command");
        }
    }
}

#[test]
fn what_a_person_changes_in_a_task_is_seen() {
    let plan = planned(analysed("shop/price.py", &by_names()));
    let (file, one) = plan.all_requirements().next().unwrap();
    let mut task = plan.tasks[0].clone();
    task.context.requirements[0] = format!("{} in other words", one.id);
    task.context.requirements.push("a price is never negative".into());
    assert_eq!(task.in_its_words(one).text, "in other words");
    assert_eq!(task.added_requirements(), ["a price is never negative"]);
    assert!(task.works_on(file, one));
    task.context.requirements.remove(0);
    assert!(!task.works_on(file, one), "it was taken out");
    assert_eq!(task.requirement_ids().count() + 1, plan.requirement_count());
    task.context.requirements.push("R-777 is there".into());
    let changed = TestPlan { tasks: vec![task], ..plan };
    let problems = changed.find_contradictions().join("; ");
    assert!(problems.contains("R-777 is not in the plan"), "{problems}");
    assert!(problems.contains("IMPL-002 is not planned"), "{problems}");
}

proptest! {
    #[test]
    fn every_plan_can_be_carried_out(files in 1usize..60, requirements in 1usize..9) {
        let plan = planned(samples::plan(files, requirements));
        let problems = plan.find_contradictions();
        prop_assert!(problems.is_empty(), "{files} files: {problems:?}");
        prop_assert_eq!(plan.tasks.len(), 4);
    }

    #[test]
    fn any_source_is_analysed_without_a_crash(text in "(def |if |raise |return |class |self\\.|[a-z ():<>=\n]){0,60}") {
        let survey = survey(&[("a.py", &text)]);
        let session = session();
        let named = survey.find_described("a.py");
        let found = assemble(&request(&session, "a.py"), &named, by_names(), &facts(), &survey);
        let mut plan = found.plan;
        derive_requirements(&mut plan, &survey, &by_names());
        prop_assert!(plan.files.iter().all(|file| !file.requirements.is_empty()));
    }
}

/// Whether a file has a gap depends on the requested percentage.
#[test]
fn a_file_below_the_asked_percentage_is_a_gap_and_one_above_is_none() {
    let files: &[(&str, &str)] = &[
        (
            "calc.py",
            "def one(value):\n    return value + 1\n\n\ndef two(value):\n    return value + 2\n",
        ),
        (
            "tests/test_calc.py",
            "from calc import one\n\n\ndef test_one():\n    assert one(1) == 2\n",
        ),
    ];
    let survey = survey(files);
    let file = RepoPath::parse("calc.py").unwrap();
    let lines = FileLines {
        lines: BTreeMap::from([(1, 1), (2, 1), (5, 1), (6, 0)]),
        branches: BTreeMap::from([(2, (3, 4))]),
        functions: BTreeMap::new(),
    };
    let target =
        |line, branch, function| CoverageTarget { line, branch, function, branch_is_set: true };
    let table = [
        ("three of four lines", target(76, 0, 0), Some("3 of 4 lines run")),
        ("exactly", target(75, 75, 50), None),
        ("three of four branches", target(0, 76, 0), Some("3 of 4 branches are taken")),
        ("one of two functions", target(0, 0, 51), Some("no test enters `two`")),
    ];
    for (why, target, expected) in table {
        let source = CoverageSource::Report { file: "x".into(), format: "y".into() };
        let ran = ExecutedLines {
            source,
            files: BTreeMap::from([(file.clone(), lines.clone())]),
            target,
            ..ExecutedLines::default()
        };
        let conventions = crate::code::conventions::read(facts().framework, &survey.tests);
        let framework = TestFramework { conventions, ..TestFramework::default() };
        let assessed = super::coverage::assess(
            std::slice::from_ref(&file),
            &BTreeMap::new(),
            &survey,
            &framework,
            &ran,
        );
        let reasons: Vec<&str> = assessed.gaps.iter().map(|one| one.reason.as_str()).collect();
        let reason = reasons.join("");
        match expected {
            Some(part) => assert!(reason.contains(part), "{why}: {reason}"),
            None => assert_eq!(reason, "", "{why}"),
        }
    }
}
