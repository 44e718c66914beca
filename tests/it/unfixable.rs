//! Failures that no edit of the code can honestly repair: tests that contradict each other, set-ups
//! that fail, and environments that lack something.

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

#[test]
fn a_call_for_what_the_environment_lacks_is_not_taken_out() {
    let source = "import os\n\n\ndef link(page):\n    return os.environ[\"SHOP_URL\"].strip() and page.lower()\n\n\ndef total(prices):\n    return sum(prices) + 1\n";
    let tests = "import unittest\n\nfrom price import link, total\n\n\nclass ShopTest(unittest.TestCase):\n    def test_link(self):\n        self.assertEqual(link(\"CART\"), \"cart\")\n\n    def test_total(self):\n        self.assertEqual(total([2, 3]), 5)\n";
    let repo = TestRepo::new(&[("price.py", source), ("test_price.py", tests)]);
    let ran = repo.regreen(&["fix", "--json"]);
    let document = ran.document();
    assert_eq!(ran.code, Some(1), "{document:#}\n{}", ran.err);
    assert_eq!(document["unfixable"], true, "{document:#}");
    let reason = document["reason"].as_str().unwrap_or_default();
    let needs =
        "`test_price.ShopTest.test_link`: it needs the variable `SHOP_URL`, which is not set";
    assert!(reason.ends_with(needs), "{reason}");
    let branch = repo.git(&["show", "regreen/WFS-test-main:price.py"]);
    assert!(branch.contains("os.environ[\"SHOP_URL\"]"), "{branch}");
    assert!(!branch.contains("sum(prices) + 1"), "{branch}");
}

#[test]
fn a_set_up_that_fails_by_itself_ends_the_session_before_anything_is_tried() {
    let tests = REPAIRABLE.replace(
        "    def test_total",
        "    def setUp(self):\n        raise RuntimeError(\"no licence\")\n\n    def test_total",
    );
    let repo = TestRepo::new(&[("price.py", SOURCE), ("test_total.py", &tests)]);
    let ran = repo.regreen(&["fix", "--json"]);
    let document = ran.document();
    assert_eq!(ran.code, Some(1), "{document:#}\n{}", ran.err);
    assert_eq!(document["unfixable"], true, "{document:#}");
    let reason = document["reason"].as_str().unwrap_or_default();
    let why = "a set-up fails whatever the code does, so a person must repair it: `test_total.TotalTest.test_total`: its set-up `setUp` fails by itself (test_total.py:8: `raise RuntimeError(\"no licence\")`)";
    assert!(reason.starts_with(why), "{reason}");
    assert_eq!(document["iterations"].as_array().map(Vec::len), Some(0), "{document:#}");
}

const MARKED: &str = r"import unittest

from price import total


class TotalTest(unittest.TestCase):
    @unittest.expectedFailure
    def test_total_is_known_to_be_wrong(self):
        self.assertEqual(total([1, 2, 3]), 6)
";

const SUMS: &str = "def total(prices):\n    result = 0\n    for price in prices:\n        result += price\n    return result\n\n\ndef half(number):\n    return number // 2 + 1\n";

#[test]
fn an_expected_failure_that_passes_asks_a_person_to_take_its_mark_away() {
    let repo = TestRepo::new(&[("price.py", SUMS), ("test_total.py", MARKED)]);
    let ran = repo.regreen(&["fix", "--json"]);
    let document = ran.document();
    assert_eq!(ran.code, Some(1), "{document:#}\n{}", ran.err);
    assert_eq!(document["unfixable"], true, "{document:#}");
    assert_eq!(
        document["reason"],
        "no edit of the code makes an expected failure right: \
         `test_total.TotalTest.test_total_is_known_to_be_wrong`: it passes although it is marked as an \
         expected failure: take its mark (`expectedFailure`) away"
    );
    assert_eq!(document["initial"]["failed"], 1, "{document:#}");
    assert_eq!(document["iterations"].as_array().map(Vec::len), Some(0), "{document:#}");
}

const CLAMP: &str = "def clamp(x, lo, hi):\n    if x < lo:\n        return hi\n    if x > hi:\n        return hi\n    return x\n";

#[test]
fn a_repair_with_which_an_expected_failure_passes_is_taken() {
    let tests = r"import unittest

from clamp import clamp


class ClampTest(unittest.TestCase):
    def test_low(self):
        self.assertEqual(clamp(-5, 0, 10), 0)
        self.assertEqual(clamp(-5, 0, 12), 0)

    def test_high(self):
        self.assertEqual(clamp(50, 0, 10), 10)

    @unittest.expectedFailure
    def test_known_bug(self):
        self.assertEqual(clamp(-1, 0, 3), 0)

    def test_within(self):
        self.assertEqual(clamp(2, 0, 3), 2)
";
    let repo = TestRepo::new(&[("clamp.py", CLAMP), ("test_clamp.py", tests)]);
    let ran = repo.regreen(&["fix", "--json"]);
    let document = ran.document();
    assert_eq!(ran.code, Some(1), "{document:#}\n{}", ran.err);
    assert_eq!(document["unfixable"], true, "{document:#}");
    let patch = document["patch"].as_str().unwrap_or_default();
    assert!(patch.contains("+        return lo"), "{patch}");
    let reason = document["reason"].as_str().unwrap_or_default();
    assert!(reason.ends_with("take its mark (`expectedFailure`) away"), "{reason}");
    let counts =
        |rate: &str| (document[rate]["passed"].as_u64(), document[rate]["failed"].as_u64());
    assert_eq!(counts("initial"), (Some(2), Some(1)), "it passed by failing: {document:#}");
    assert_eq!(counts("last"), (Some(3), Some(1)), "{document:#}");
}

#[test]
fn what_fails_beside_an_expected_failure_is_repaired_and_it_goes_on_passing() {
    let half = "import unittest\n\nfrom price import half\n\n\nclass HalfTest(unittest.TestCase):\n    def test_half(self):\n        self.assertEqual(half(8), 4)\n";
    let repo =
        TestRepo::new(&[("price.py", SUMS), ("test_total.py", MARKED), ("test_half.py", half)]);
    let ran = repo.regreen(&["fix", "--json"]);
    let document = ran.document();
    assert_eq!(ran.code, Some(1), "{document:#}\n{}", ran.err);
    assert_eq!(document["iterations"].as_array().map(Vec::len), Some(1), "{document:#}");
    assert_eq!(document["iterations"][0]["outcome"], "improved", "{document:#}");
    assert_eq!(document["last"]["failed"], 1, "{document:#}");
    let patch = document["patch"].as_str().unwrap_or_default();
    assert!(patch.contains("number // 2") && !patch.contains("result"), "{patch}");
}

/// pytest prints the whole environment, and with it the false token, in the traceback of a `KeyError`.
#[test]
fn a_variable_that_is_not_set_is_no_hunt_for_tokens() {
    let shop = "import os\n\n\ndef key():\n    return os.environ['SHOP_API_KEY']\n\n\ndef total(a, b):\n    return a - b\n";
    let tests = "from shop import key, total\n\n\ndef test_key():\n    assert key()\n\n\ndef test_total():\n    assert total(1, 2) == 3\n\n\ndef test_nothing():\n    assert total(1, 0) == 1\n";
    let repo = TestRepo::new(&[("shop.py", shop), ("test_shop.py", tests)]);
    let typed = ["fix", "--json", "--test-command", "python3 -m pytest --showlocals"];
    let ran = repo.regreen(&typed);
    let document = ran.document();
    assert_eq!(ran.code, Some(1), "{document:#}\n{}", ran.err);
    let reason = document["reason"].as_str().unwrap();
    assert!(reason.contains("needs the variable `SHOP_API_KEY`"), "{reason}");
    assert!(document["patch"].as_str().unwrap().contains("+    return a + b"), "{document:#}");
    assert!(!format!("{document}{}", ran.err).contains("DEPLOY_TOKEN"), "{}", ran.err);
}

/// A project whose tests ask for the metadata of its installation, which nothing here has.
const PROJECT: &str = "[project]\nname = \"price-of-all\"\nversion = \"1\"\n";
const UNINSTALLED: &str = "import unittest\nfrom importlib.metadata import version\n\n\nclass VersionTest(unittest.TestCase):\n    def test_version(self):\n        self.assertEqual(version('price-of-all'), '1')\n";

#[test]
fn what_only_an_installation_brings_is_not_searched_for_and_other_failures_are_repaired() {
    let lacking = [
        ("pyproject.toml", PROJECT),
        ("price.py", SOURCE),
        ("test_version.py", UNINSTALLED),
        ("test_total.py", REPAIRABLE),
    ];
    for (files, iterations) in [(&lacking[..3], 0), (&lacking[..], 1)] {
        let repo = TestRepo::new(files);
        let ran = repo.regreen(&["fix", "--json"]);
        let document = ran.document();
        assert_eq!(ran.code, Some(1), "{document:#}\n{}", ran.err);
        assert_eq!(document["unfixable"], true, "{document:#}");
        let reason = document["reason"].as_str().unwrap();
        assert!(reason.starts_with("something is not installed"), "{reason}");
        assert!(reason.contains("run `python3 -m pip install -e .`"), "{reason}");
        let rows = document["iterations"].as_array().unwrap();
        assert_eq!(rows.len(), iterations, "{document:#}");
        assert!(rows.iter().all(|row| row["outcome"] == "improved"), "{document:#}");
    }
}
