//! The questions about three small repositories, as snapshots with their size.

use crate::domain::fix_loop::FixLoop;
use crate::domain::fix_plan::{FixPlan, ModificationPoint, RootCause};
use crate::domain::id::{RepoPath, TestId};
use crate::domain::latest_results::LatestResults;
use crate::domain::strategy::Strategy;
use crate::domain::test::{CaseKind, FailureText, Frame, Layer, Results, Scope, Status, TestCase};

use super::prompt::{self, Role};
use super::prompt_context::{self, Context};

/// A repository with one fault.
struct Sample {
    name: &'static str,
    /// Source and test file.
    files: [(&'static str, &'static str); 2],
    test: &'static str,
    line: u32,
    message: &'static str,
    stack: &'static str,
}

const SAMPLES: [Sample; 3] = [
    Sample {
        name: "python",
        files: [
            (
                "shop/price.py",
                "def total(prices, discount=0):\n    \"\"\"The sum of the prices, less the discount.\n\n    >>> total([5, 5], 2)\n    8\n    \"\"\"\n    return sum(prices) + discount\n",
            ),
            (
                "tests/test_price.py",
                "import unittest\n\nfrom shop.price import total\n\n\nclass PriceTest(unittest.TestCase):\n    def test_discount(self):\n        self.assertEqual(total([50, 50], 10), 90)\n",
            ),
        ],
        test: "tests.test_price.PriceTest.test_discount",
        line: 7,
        message: "110 != 90",
        stack: "Traceback (most recent call last):\n  File \"/home/ci/drivers/unittest_driver.py\", line 117, in call\n    return inner(method)\n           ^^^^^^^^^^^^^\n  File \"/home/ci/checkout/tests/test_price.py\", line 8, in test_discount\n    self.assertEqual(total([50, 50], 10), 90)\nAssertionError: 110 != 90",
    },
    Sample {
        name: "javascript",
        files: [
            (
                "lib/price.js",
                "/** The sum of the prices, less the discount. */\nexport function total(prices, discount = 0) {\n  return prices.reduce((sum, price) => sum + price, 0) + discount;\n}\n",
            ),
            (
                "test/price.test.js",
                "import test from 'node:test';\nimport assert from 'node:assert';\nimport { total } from '../lib/price.js';\n\ntest('discount', () => {\n  assert.strictEqual(total([50, 50], 10), 90);\n});\n",
            ),
        ],
        test: "discount",
        line: 2,
        message: "Expected values to be strictly equal:\n\n110 !== 90\n",
        stack: "AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n\n110 !== 90\n\n    at TestContext.<anonymous> (file:///home/ci/checkout/test/price.test.js:6:10)\n    at Test.runInAsyncScope (node:async_hooks:206:9)\n    at Test.run (node:internal/test_runner/test:796:25)",
    },
    Sample {
        name: "go",
        files: [
            (
                "price/price.go",
                "package price\n\n// Total returns the sum of the prices, less the discount.\nfunc Total(prices []int, discount int) int {\n\tsum := 0\n\tfor _, price := range prices {\n\t\tsum += price\n\t}\n\treturn sum + discount\n}\n",
            ),
            (
                "price/price_test.go",
                "package price\n\nimport \"testing\"\n\nfunc TestDiscount(t *testing.T) {\n\tif got := Total([]int{50, 50}, 10); got != 90 {\n\t\tt.Errorf(\"got %d, want 90\", got)\n\t}\n}\n",
            ),
        ],
        test: "example.com/shop/price::TestDiscount",
        line: 9,
        message: "price_test.go:7: got 110, want 90",
        stack: "    price_test.go:7: got 110, want 90",
    },
];

fn state(sample: &Sample) -> FixLoop {
    let [(source, _), (test, _)] = sample.files;
    let path = |text: &str| RepoPath::parse(text).unwrap();
    let failure = FailureText {
        class: String::new(),
        message: sample.message.into(),
        stack: sample.stack.into(),
        frames: vec![Frame { file: path(source), line: sample.line, function: String::new() }],
    };
    let case = TestCase {
        kind: CaseKind::Test,
        id: TestId(sample.test.into()),
        status: Status::Failed,
        file: Some(path(test)),
        line: Some(7),
        duration_ms: 1,
        layer: Layer::Unit,
        failure: Some(failure),
    };
    let results = Results {
        cases: vec![case],
        scope: Scope::Full,
        command: String::new(),
        exit_code: Some(1),
        started_at: String::new(),
        duration_ms: 1,
        log: String::new(),
        is_offline: false,
        objections: Vec::new(),
        flaky: Vec::new(),
        notices: Vec::new(),
        lacking: std::collections::BTreeMap::new(),
    };
    let mut state = crate::domain::fix_loop::tests::new(95, 10);
    state.current_iteration = 1;
    state.selected_strategy = Some(Strategy::Conservative);
    state.ledger = LatestResults::from_full(&results, 0);
    state
}

fn plan(sample: &Sample) -> FixPlan {
    let file = RepoPath::parse(sample.files[0].0).unwrap();
    let (start, end) = (sample.line, sample.line);
    let point = ModificationPoint { file, function: "total".into(), start, end };
    FixPlan {
        author: "one".into(),
        approach: "Take the discount off.".into(),
        root_causes: vec![RootCause {
            tests: vec![TestId(sample.test.into())],
            cause: "The discount is added.".into(),
            point: point.clone(),
        }],
        modification_points: vec![point],
        files: Vec::new(),
        affected_tests: Vec::new(),
        confidence: 0.6,
        expected_outcome: "The test passes.".into(),
        verification_steps: Vec::new(),
        impact: String::new(),
        report: "- expected: 90\n- actual: 110".into(),
        edits: Vec::new(),
    }
}

#[test]
fn questions_about_three_repositories() {
    for sample in &SAMPLES {
        let state = state(sample);
        let context = Context::sample(&state, &sample.files, "/home/ci/checkout");
        let subject = prompt_context::subject(&state);
        let changes = context.for_fixer(&state, &plan(sample), &[], 12_000);
        let analysis = context.for_analyst(&state, 24_000);
        let built = |role, parts| prompt::build(role, &subject, parts, 24_000, "FENCE");
        let questions = [
            ("analyst", built(Role::Analyst, &analysis)),
            ("fixer", built(Role::Fixer, &changes)),
            ("agent", prompt::build_for_agent(&subject, &changes, 24_000, "FENCE")),
        ];
        for (role, prompt) in questions {
            let text = format!("{}\n=====\n{}", prompt.system, prompt.text);
            let tokens = text.len() / 4;
            insta::assert_snapshot!(
                format!("{}-{role}", sample.name),
                format!("{tokens} tokens at 4 bytes\n=====\n{text}")
            );
        }
    }
}
