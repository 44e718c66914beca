//! Failures that no edit of the code can honestly repair: tests that contradict each other.

use super::support::TestRepo;

const SOURCE: &str = "def half(number):\n    return number // 2\n\n\ndef total(prices):\n    return sum(prices) + 1\n";

const CONTRADICTING: &str = r"import unittest

from price import half


class HalfTest(unittest.TestCase):
    def test_rounds_down(self):
        self.assertEqual(half(9), 4)

    def test_rounds_up(self):
        self.assertEqual(half(9), 5)
";

const REPAIRABLE: &str = r"import unittest

from price import total


class TotalTest(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([2, 3]), 5)
";

const REASON: &str = "tests contradict each other, so a person must decide which one is right: \
                      `test_half.HalfTest.test_rounds_up`: it expects `half(9)` to be `5` \
                      (test_half.py:11), and `test_half.HalfTest.test_rounds_down` expects `4` of the \
                      same call (test_half.py:8): no code meets both";

#[test]
fn tests_that_contradict_each_other_end_the_session_before_anything_is_tried() {
    let repo = TestRepo::new(&[("price.py", SOURCE), ("test_half.py", CONTRADICTING)]);
    let ran = repo.regreen(&["fix", "--json"]);
    let document = ran.document();
    assert_eq!(ran.code, Some(1), "{document:#}\n{}", ran.err);
    assert_eq!(document["result"], "failure");
    assert_eq!(document["unfixable"], true, "{document:#}");
    assert_eq!(document["reason"], REASON);
    assert_eq!(document["iterations"].as_array().map(Vec::len), Some(0), "{document:#}");
    let evidence = document["failing-tests"][0]["evidence"].as_str().unwrap_or_default();
    assert!(evidence.starts_with("it expects `half(9)` to be `5`"), "{evidence}");
    let report = std::fs::read_to_string(document["report"].as_str().unwrap()).unwrap();
    assert!(report.contains("Cannot be fixed honestly"), "{report}");
}

#[test]
fn what_else_fails_is_repaired_first() {
    let files =
        [("price.py", SOURCE), ("test_half.py", CONTRADICTING), ("test_total.py", REPAIRABLE)];
    let repo = TestRepo::new(&files);
    let ran = repo.regreen(&["fix", "--json"]);
    let document = ran.document();
    assert_eq!(ran.code, Some(1), "{document:#}\n{}", ran.err);
    assert_eq!(document["reason"], REASON);
    let iterations = document["iterations"].as_array().expect("iterations");
    assert_eq!(iterations.len(), 1, "{document:#}");
    assert_eq!(iterations[0]["outcome"], "improved", "{document:#}");
}

#[test]
fn tests_whose_result_something_else_decides_do_not_contradict() {
    // The second call differs because the module counts, which an edit can repair.
    let source = "CALLS = []\n\n\ndef half(number):\n    CALLS.append(number)\n    return number // 2 + len(CALLS)\n";
    let tests =
        CONTRADICTING.replace("test_rounds_down", "test_a").replace("half(9), 5", "half(9), 7");
    let repo = TestRepo::new(&[("price.py", source), ("test_half.py", &tests)]);
    let ran = repo.regreen(&["fix", "--json", "--max-iterations", "1"]);
    let document = ran.document();
    assert_eq!(document["unfixable"], serde_json::Value::Null, "{document:#}\n{}", ran.err);
}
