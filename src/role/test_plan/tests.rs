//! Tests of phases 2 to 4 on a small example shop: from sources to requirements and tasks.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use crate::domain::coverage::CoverageTarget;
use crate::domain::coverage::FileLines;
use crate::domain::id::{RepoPath, SessionId};
use crate::domain::test_plan::analysis::samples;
use crate::domain::test_plan::context::{CoverageSource, Package, Priority};
use crate::domain::test_plan::{analysis, task};
use crate::effect::SuiteFacts;

use super::gather::{GatherError, assemble};
use super::*;

const NOW: &str = "2026-01-02T03:04:05Z";

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
    let source = CoverageSource::Mapping { reason: "no tool".into() };
    ExecutedLines { source, ..ExecutedLines::default() }
}

fn request<'a>(session: &'a SessionId, description: &'a str) -> GatherRequest<'a> {
    GatherRequest {
        session,
        description,
        source: None,
        report: None,
        measure: false,
        now: NOW,
        target: CoverageTarget::default(),
    }
}

fn gathered(description: &str, ran: ExecutedLines) -> Gathered {
    let (session, survey) = (session(), survey(SHOP));
    let named = crate::code::description_match::find(description, &survey.known);
    assemble(&request(&session, description), &named, ran, &facts(), &survey)
}

fn analysed(description: &str, ran: &ExecutedLines) -> (analysis::TestAnalysis, Package) {
    let found = gathered(description, ran.clone());
    let analysis = analyse(&session(), description, &found.package, &survey(SHOP), ran, NOW);
    (analysis, found.package)
}

fn lines(analysis: &analysis::TestAnalysis) -> Vec<String> {
    let all = analysis.files.iter().flat_map(|file| &file.requirements);
    all.map(|one| format!("{} {}", one.layer, one.text)).collect()
}

#[test]
fn requirements_say_what_to_give_and_what_to_see() {
    let (analysis, _) = analysed("cover shop/price.py and shop/cart.py", &by_names());
    insta::assert_snapshot!(lines(&analysis).join("\n"), @r#"
    L0.1 tests/test_cart.py compiles
    L0.2 tests/test_cart.py imports only what is there
    L0.5 tests/test_cart.py has no critical issue of the catalogue
    L1.1 `Cart.add` changes `items` for ordinary `item` (shop/cart.py:5)
    L1.4 `Cart.add` changes `items` and nothing else of its object (shop/cart.py:6)
    L1.1 `Cart.load` returns `requests.get(url).json()` for ordinary `url` (shop/cart.py:10)
    L2.4 `Cart.load` copes with what `requests.get` answers: success, refusal, timeout (shop/cart.py:10)
    L2.5 `Cart.load` does what its handler says when `requests.Timeout` is caught (shop/cart.py:11)
    L1.1 `Cart.load` returns `None` for a failure inside that is caught as `requests.Timeout` (shop/cart.py:12)
    L1.3 `Cart.total` has a defined result for an empty `prices` (shop/cart.py:16)
    L1.1 `Cart.total` returns `result` for ordinary `prices` (shop/cart.py:18)
    L0.1 tests/test_price.py compiles
    L0.2 tests/test_price.py imports only what is there
    L0.5 tests/test_price.py has no critical issue of the catalogue
    L1.3 `parse_price` keeps the edge `amount < 0`: `amount` of -1 and 0 differ (shop/price.py:8)
    L1.2 `parse_price` raises ValueError ("negative price") for a `text` that is not empty and `amount` below 0 (shop/price.py:9)
    L1.3 `gross` keeps the edge `percent > 100`: `percent` of 100 and 101 differ (shop/price.py:14)
    L1.2 `gross` raises ValueError ("more than all") for `percent` above 100 (shop/price.py:15)
    L1.1 `gross` returns `price * (1 + rate(percent))` for `percent` of at most 100 (shop/price.py:16)
    L2.1 `gross` works with the real `rate` of shop/tax.py (shop/price.py:16)
    "#);
    assert_eq!(analysis::problems(&analysis), Vec::<String>::new());
    assert_eq!(analysis.project_type, "Library (Python)");
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
    let (analysis, package) = analysed("shop/price.py", &ran);
    insta::assert_snapshot!(lines(&analysis).join("\n"), @r#"
    L0.1 tests/test_price.py compiles
    L0.2 tests/test_price.py imports only what is there
    L0.5 tests/test_price.py has no critical issue of the catalogue
    L1.3 `parse_price` keeps the edge `amount < 0`: `amount` of -1 and 0 differ (shop/price.py:8)
    L1.2 `parse_price` raises ValueError ("negative price") for a `text` that is not empty and `amount` below 0 (shop/price.py:9)
    L1.3 `gross` keeps the edge `percent > 100`: `percent` of 100 and 101 differ (shop/price.py:14)
    L1.2 `gross` raises ValueError ("more than all") for `percent` above 100 (shop/price.py:15)
    L1.1 `gross` returns `price * (1 + rate(percent))` for `percent` of at most 100 (shop/price.py:16)
    L2.1 `gross` works with the real `rate` of shop/tax.py (shop/price.py:16)
    "#);
    assert_eq!(analysis.files[0].already_covered, 2, "the empty text and the result");
    let missing = &package.coverage().missing_tests;
    insta::assert_snapshot!(missing[0].reason, @"7 of 11 lines run (63.6 %); 3 of 6 branches are taken (50.0 %); no test enters `gross`");
    assert_eq!(missing[0].suggested_test_file, path("tests/test_price.py"));
    assert_eq!(package.coverage().files[0].uncovered_lines, "9, 14-16");
}

#[test]
fn a_named_function_is_the_only_one_that_is_planned() {
    let (analysis, package) = analysed("`Cart.total` lacks tests", &by_names());
    let functions: BTreeSet<&str> = analysis
        .files
        .iter()
        .flat_map(|file| &file.requirements)
        .map(|one| one.function.as_str())
        .filter(|name| !name.is_empty())
        .collect();
    assert_eq!(functions.into_iter().collect::<Vec<_>>(), ["Cart.total"]);
    assert_eq!(package.only().len(), 1);
    let text = lines(&analysis).join("\n");
    assert!(text.contains("an empty `prices`"), "{text}");
}

#[test]
fn packages_hold_what_phase_three_needs() {
    let found = gathered("several prices and the cart", by_names());
    let Package::Prompt(package) = &found.package else { panic!("a description is no session") };
    assert_eq!(package.test_framework.conventions.file_naming, "test_*.py");
    let missing: Vec<(&str, Priority)> = package
        .test_coverage
        .missing_tests
        .iter()
        .map(|one| (one.implementation_file.as_str(), one.priority))
        .collect();
    assert!(missing.contains(&("shop/cart.py", Priority::Low)), "{missing:?}");
    assert_eq!(package.prioritized_context.user_intent.goal, "several prices and the cart");
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
fn a_small_plan_has_four_tasks_and_every_requirement_once() {
    let (analysis, package) = analysed("shop/price.py", &by_names());
    let plan = plan(analysis, &package, 10);
    let ids: Vec<&str> = plan.tasks.iter().map(|task| task.id.as_str()).collect();
    assert_eq!(ids, ["IMPL-001", "IMPL-001.3", "IMPL-001.5", "IMPL-002"]);
    assert_eq!(task::problems(&plan), Vec::<String>::new());
    assert_eq!(plan.tasks[3].meta.max_iterations, Some(10));
    assert_eq!(plan.tasks[2].context.depends_on, ["IMPL-001", "IMPL-001.3"]);
    assert_eq!(plan.tasks[1].file(), ".task/IMPL-001.3-validation.json");
    let first = &plan.tasks[0];
    assert!(first.context.requirements[0].starts_with("shop/price.py: "));
    assert_eq!(first.flow_control.target_files, [path("tests/test_price.py")]);
    for task in &plan.tasks {
        assert_eq!(task.context_package_path, ".process/context-package.json");
        assert_eq!(task.meta.project_type, plan.analysis.project_type);
        assert_eq!(task.meta.coverage_target, "line:80%,branch:70%,function:90%");
        assert_eq!(task.meta.source_session, None);
        assert_eq!(task.flow_control.test_commands, plan.analysis.framework.commands);
    }
    let tools = &first.flow_control.reusable_test_tools;
    assert_eq!(*tools, plan.analysis.framework.conventions.fixtures);
}

#[test]
fn explored_files_are_ranked_and_ordered() {
    let found = gathered("several prices and the cart", by_names());
    let Package::Prompt(package) = found.package else { panic!("a description is explored") };
    let own = &package.prioritized_context;
    let tiers =
        [&own.priority_tiers.critical, &own.priority_tiers.high, &own.priority_tiers.medium];
    assert!(tiers.iter().any(|tier| tier.contains(&path("shop/cart.py"))), "{own:?}");
    assert!(own.dependency_order.contains(&path("shop/cart.py")), "{own:?}");
    assert!(!own.sorting_rationale.is_empty() && !own.user_intent.scope.is_empty());
}

proptest! {
    #[test]
    fn every_analysis_becomes_a_plan_that_can_be_carried_out(
        files in 1usize..60, requirements in 1usize..9,
    ) {
        let (_, package) = analysed("shop/price.py", &by_names());
        let plan = plan(samples::analysis(files, requirements), &package, 10);
        let problems = task::problems(&plan);
        prop_assert!(problems.is_empty(), "{files} files: {problems:?}");
        prop_assert!((task::FEWEST..=task::MOST).contains(&plan.tasks.len()));
    }

    #[test]
    fn any_source_is_analysed_without_a_crash(text in "(def |if |raise |return |class |self\\.|[a-z ():<>=\n]){0,60}") {
        let survey = survey(&[("a.py", &text)]);
        let session = session();
        let named = crate::code::description_match::find("a.py", &survey.known);
        let found = assemble(&request(&session, "a.py"), &named, by_names(), &facts(), &survey);
        let analysis = analyse(&session, "a.py", &found.package, &survey, &by_names(), NOW);
        prop_assert!(analysis::problems(&analysis).is_empty());
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
            measure: false,
        };
        let (_, habits) = super::framework::describe(&facts(), &survey.tests);
        let coverage = super::coverage::assess(
            std::slice::from_ref(&file),
            &BTreeMap::new(),
            &survey,
            &habits,
            &ran,
        );
        let reasons: Vec<&str> =
            coverage.missing_tests.iter().map(|one| one.reason.as_str()).collect();
        let reason = reasons.join("");
        match expected {
            Some(part) => assert!(reason.contains(part), "{why}: {reason}"),
            None => assert_eq!(reason, "", "{why}"),
        }
    }
}
