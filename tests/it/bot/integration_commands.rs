//! Comment commands for integration tests: write them, show a design, adjust and confirm it, continue a
//! stopped session from its branch.

use super::harness::World;
use super::pull_request_life::shown;
use crate::integration::SHOP;
use crate::integration_repairs::quote;

/// A pull request on a project whose modules call each other, with this configuration.
fn shop(settings: &str) -> World {
    let tests = r#"import unittest

from shop.tax import add_tax, rate_of


class TaxTest(unittest.TestCase):
    def test_rate(self):
        self.assertEqual(rate_of("DE"), 19)

    def test_add_tax(self):
        self.assertEqual(add_tax(1000, "FR"), 1200)
"#;
    let mut good = SHOP.to_vec();
    good.retain(|(name, _)| *name != "tests/test_tax.py");
    good.extend([("tests/test_tax.py", tests), (".github/regreen.yml", settings)]);
    let mut world = World::new(&good, &[("notes.txt", "x\n")]);
    world.path = Some("/usr/bin:/bin");
    world
}

fn kept(number: u64) -> String {
    format!("refs/regreen/sessions/ITG-pr-{number}")
}

fn branch(number: u64) -> String {
    format!("regreen/ITG-pr-{number}")
}

const WAITS: &str = "plan: { confirm: always }\n";

#[test]
fn a_comment_becomes_a_pull_request_with_tests_of_the_boundaries() {
    let world = shop("gate: { target: 95 }\n");
    let number = world.pull();
    let ran = world.run(&world.comment(number, "ann", "/regreen integration \"shop/quote.py\" -y"));
    assert_eq!(ran.code, Some(0), "{}\n{}", shown(&ran), world.sticky(number));
    let comment = world.sticky(number);
    for words in ["written in 2 files, every test passes", "test_quote_tax.py`"] {
        assert!(comment.contains(words), "{words}: {comment}");
    }
    let files = world.git(&["diff", "--name-only", "topic", &branch(number)]);
    assert_eq!(files, "tests/test_quote_tax.py\ntests/test_receipt_quote.py", "{comment}");
    let titles: Vec<String> =
        world.github.state().pulls.iter().map(|pull| pull.title.clone()).collect();
    assert_eq!(titles.len(), 2, "the tests are offered: {titles:?}");
    for name in ["output", "summary"] {
        let left = world.left(name);
        assert!(left.contains(&format!("ITG-pr-{number}")), "{name}: {left}");
    }
    assert!(world.left("output").contains("success"), "{}", world.left("output"));
    let checks = world.github.state().checks.clone();
    assert!(!checks.is_empty(), "the suite ran, which the check run says");
    // The next session has the next number, whatever its kind is.
    let ran = world.run(&world.comment(number, "ann", "/regreen fix\n/regreen status"));
    assert_eq!(ran.code, Some(0), "{}\n{}", shown(&ran), world.sticky(number));
    let output = world.left("output");
    assert!(output.contains(&format!("WFS-test-pr-{number}-2")), "{output}");
    world.github.assert_clean();
    world.assert_no_token(&ran);
}

#[test]
fn a_design_is_shown_adjusted_and_carried_out_when_it_is_confirmed() {
    let world = shop(WAITS);
    let number = world.pull();
    let ran = world.run(&world.comment(number, "ann", "/regreen confirm"));
    let comment = world.sticky(number);
    assert!(comment.contains("There is no design that waits"), "{comment}\n{}", shown(&ran));

    let ran = world.run(&world.comment(number, "ann", "/regreen integration shop/quote.py"));
    assert_eq!(ran.code, Some(0), "{}\n{}", shown(&ran), world.sticky(number));
    let comment = world.sticky(number);
    for words in ["`IS-001`", "shop/quote.py → shop/tax.py", "Faked: nothing", "/regreen confirm"]
    {
        assert!(comment.contains(words), "{words}: {comment}");
    }
    assert!(world.left("output").contains("planned"), "{}", world.left("output"));
    assert!(!world.has(&branch(number)) && world.has(&kept(number)), "{comment}");
    assert!(world.github.state().checks.is_empty(), "a design says nothing of the head");

    let text = "/regreen adjust mocks: keep the `clock` real";
    let ran = world.run(&world.comment(number, "ann", &text.replace('`', "")));
    assert_eq!(ran.code, Some(0), "{}\n{}", shown(&ran), world.sticky(number));
    let comment = world.sticky(number);
    for words in ["`keep the clock real`", "a model that writes the tests is told", "`IS-001`"] {
        assert!(comment.contains(words), "{words}: {comment}");
    }
    let ran = world.run(&world.comment(number, "ann", "/regreen adjust scope: shop/quota.py"));
    let comment = world.sticky(number);
    assert!(comment.contains("quota") && comment.contains("quote"), "{comment}\n{}", shown(&ran));
    let ran = world.run(&world.comment(number, "ann", "/regreen adjust scope: shop/receipt.py"));
    assert_eq!(ran.code, Some(0), "{}\n{}", shown(&ran), world.sticky(number));
    let comment = world.sticky(number);
    assert!(comment.contains("for `shop/receipt.py`"), "{comment}");
    assert!(comment.contains("`keep the clock real`"), "an adjustment is kept: {comment}");
    assert!(!comment.contains("shop/tax.py"), "the old scope is gone: {comment}");
    let log = world.git(&["show", &format!("{}:state/reflection-log.md", kept(number))]);
    assert!(log.contains("keep the clock real"), "{log}");

    let ran = world.run(&world.comment(number, "ann", "/regreen confirm"));
    assert_eq!(ran.code, Some(0), "{}\n{}", shown(&ran), world.sticky(number));
    let files = world.git(&["diff", "--name-only", "topic", &branch(number)]);
    assert_eq!(files, "tests/test_receipt_quote.py", "{}", world.sticky(number));
    world.github.assert_clean();
    world.assert_no_token(&ran);
}

#[test]
fn code_that_contradicts_its_documentation_is_repaired_and_the_rest_followed_up() {
    let world = shop("gate: { target: 95 }\n");
    let tax = SHOP.iter().find(|(path, _)| *path == "shop/tax.py").unwrap().1;
    let tax = tax.replace("cents + round", "cents - round");
    let tests = "import unittest\n\nfrom shop.tax import rate_of\n\n\nclass TaxTest(unittest.TestCase):\n    def test_rate(self):\n        self.assertEqual(rate_of(\"DE\"), 19)\n";
    let files = [
        ("shop/quote.py", quote("1190")),
        ("shop/tax.py", tax),
        ("tests/test_tax.py", tests.into()),
    ];
    let files = files.each_ref().map(|(path, text)| (*path, text.as_str()));
    world.commit("topic", &files, "Document the quote");
    let number = world.pull();
    let job =
        world.comment(number, "ann", "/regreen integration shop/quote.py\n/regreen issue test");
    let ran = world.run(&job);
    let comment = world.sticky(number);
    assert_eq!(ran.code, Some(0), "{}\n{comment}", shown(&ran));
    for words in ["50.0 → 100.0 %", "test_quote_tax_documented.py`", "shop/tax.py"] {
        assert!(comment.contains(words), "{words}: {comment}");
    }
    let issues = world.github.state().issues.clone();
    assert_eq!(issues.len(), 1, "{comment}");
    let body = &issues[0].body;
    assert!(body.contains("shop/receipt.py → shop/quote.py"), "{body}");
    world.github.assert_clean();
}

#[test]
fn a_stopped_session_goes_on_elsewhere_from_its_branch_alone() {
    let world = shop("gate: { target: 95 }\n");
    let test = "import unittest\n\nfrom shop.alone import double\n\n\nclass AloneTest(unittest.TestCase):\n    def test_double(self):\n        self.assertEqual(double(2), 4)\n        self.assertEqual(double(3), 6)\n";
    let broken = "def double(number: int) -> int:\n    return number * 3\n";
    world.commit("topic", &[("tests/test_alone.py", test), ("shop/alone.py", broken)], "Break it");
    let number = world.pull();
    let job = world.comment(number, "ann", "/regreen integration shop/quote.py");
    world.run_until(&job, &branch(number), "test(integration): generate");
    world.git(&["update-ref", "-d", &kept(number)]);

    let ran = world.run(&world.comment(number, "ann", "/regreen continue"));
    assert_eq!(ran.code, Some(0), "{}\n{}", shown(&ran), world.sticky(number));
    assert!(!ran.err.contains("exploring"), "what is done is not done again: {}", shown(&ran));
    let files = world.git(&["diff", "--name-only", "topic", &branch(number)]);
    assert_eq!(files, "shop/alone.py\ntests/test_quote_tax.py\ntests/test_receipt_quote.py");
    let subjects = world.git(&["log", "--format=%s", &format!("topic..{}", branch(number))]);
    assert_eq!(subjects.matches("generate").count(), 1, "{subjects}");
    let comment = world.sticky(number);
    assert!(comment.contains("100.0 % pass after 1 iteration"), "{comment}");
    world.github.assert_clean();
    world.assert_no_token(&ran);
}

#[test]
fn without_write_access_nothing_runs() {
    let world = shop(WAITS);
    let number = world.pull();
    for command in ["integration shop/quote.py", "confirm", "adjust scope: shop/tax.py"] {
        let ran = world.run(&world.comment(number, "eve", &format!("/regreen {command}")));
        assert_eq!(ran.code, Some(0), "{}", shown(&ran));
        assert!(ran.out.contains("may not give commands"), "{command}: {}", shown(&ran));
        assert_eq!(world.sticky(number), "", "{command}");
    }
    assert!(!world.has(&kept(number)) && !world.has(&branch(number)));
}

#[test]
fn a_module_that_does_not_exist_is_answered_with_the_nearest() {
    let world = shop(WAITS);
    let number = world.pull();
    let ran = world.run(&world.comment(number, "ann", "/regreen integration shop/quota.py"));
    let comment = world.sticky(number);
    assert_eq!(ran.code, Some(2), "{}\n{comment}", shown(&ran));
    let again = "/regreen integration module";
    for words in ["no module of this repository is called", "shop/quote.py", again] {
        assert!(comment.to_lowercase().contains(words), "{words}: {comment}");
    }
    assert!(!world.has(&branch(number)) && !world.has(&kept(number)), "{comment}");
    assert!(world.github.state().checks.is_empty(), "it says nothing of the head");
}
