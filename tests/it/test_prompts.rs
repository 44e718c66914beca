//! The questions of `regreen test` about three small repositories, as snapshots with their size:
//! what the surveyor, the generator and the judge are really sent.

use serde_json::Value;

use super::support::fake_model::{Asked, Reply, survey, test_file, verdict};
use super::test_writing::{FINDING, GOOD, PLACE, SHOP, configured, nothing, run, server};

/// A repository, and what a model answers about it until the judge is asked.
struct PromptStory {
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
    subject: &'static str,
    /// The function with the defect, and its line.
    function: (&'static str, u32),
    place: &'static str,
    /// Tests of which one shows the defect.
    tests: &'static str,
    finding: &'static str,
}

const PYTHON: PromptStory = PromptStory {
    name: "python",
    files: SHOP,
    subject: "shop/price.py",
    function: ("discount", 12),
    place: PLACE,
    tests: GOOD,
    finding: FINDING,
};

const JAVASCRIPT: PromptStory = PromptStory {
    name: "javascript",
    files: &[
        (
            "package.json",
            "{\"name\": \"x\", \"version\": \"1.0.0\", \"scripts\": {\"test\": \"node --test\"}}",
        ),
        (
            "lib/text.js",
            r"/** Cuts a text to a size and adds three dots; a size below 0 is an error. */
function cut(text, size = 5) {
  if (size < 0) throw new RangeError(`below 0: ${size}`);
  return text.length > size ? text.slice(0, size - 1) + '...' : text;
}

module.exports = { cut };
",
        ),
        ("lib/join.js", "module.exports = (list) => list.join(', ');\n"),
        (
            "test/join.test.js",
            r"const test = require('node:test');
const assert = require('node:assert');
const join = require('../lib/join.js');

test('joins', () => assert.strictEqual(join(['a', 'b']), 'a, b'));
",
        ),
    ],
    subject: "lib/text.js",
    function: ("cut", 4),
    place: "test/text.test.js",
    tests: r"const test = require('node:test');
const assert = require('node:assert');
const { cut } = require('../lib/text.js');

test('cuts a long text', () => {
  assert.strictEqual(cut('abcdef', 3), 'abc...');
});

test('keeps a short text', () => {
  assert.strictEqual(cut('abc'), 'abc');
});

test('refuses a size below 0', () => {
  assert.throws(() => cut('a', -1), /below 0: -1/);
});
",
    finding: "test/text.test.js::cuts a long text",
};

const GO: PromptStory = PromptStory {
    name: "go",
    files: &[
        ("go.mod", "module example.com/shop\n\ngo 1.19\n"),
        (
            "price/price.go",
            r#"package price

import "errors"

// Discount takes so many percent off an amount; more than 100 is an error.
func Discount(amount, percent int) (int, error) {
	if percent > 100 {
		return 0, errors.New("more than all")
	}
	return amount * (100 + percent) / 100, nil
}
"#,
        ),
        (
            "tax/tax.go",
            "package tax\n\n// Tax is a fifth.\nfunc Tax(price int) int {\n\treturn price / 5\n}\n",
        ),
        (
            "tax/tax_test.go",
            "package tax\n\nimport \"testing\"\n\nfunc TestTax(t *testing.T) {\n\tif got := Tax(10); got != 2 {\n\t\tt.Errorf(\"got %d\", got)\n\t}\n}\n",
        ),
    ],
    subject: "price/price.go",
    function: ("Discount", 10),
    place: "price/price_test.go",
    tests: r#"package price

import "testing"

func TestNothingOff(t *testing.T) {
	got, err := Discount(80, 0)
	if err != nil || got != 80 {
		t.Errorf("got %d and %v", got, err)
	}
}

func TestMoreThanAll(t *testing.T) {
	_, err := Discount(80, 101)
	if err == nil || err.Error() != "more than all" {
		t.Errorf("got %v", err)
	}
}

func TestHalfOff(t *testing.T) {
	got, err := Discount(80, 50)
	if err != nil || got != 40 {
		t.Errorf("got %d and %v", got, err)
	}
}
"#,
    finding: "example.com/shop/price.TestHalfOff",
};

/// The messages of a question, one after the other.
fn messages(asked: &Asked) -> String {
    let list = asked.body["messages"].as_array().expect("a question has messages");
    let text = |one: &Value| one["content"].as_str().expect("a message is a text").to_owned();
    list.iter().map(text).collect::<Vec<_>>().join("\n=====\n")
}

fn questions_of(story: &PromptStory) {
    let (function, line) = story.function;
    let does = format!("`{function}` does what its documentation says");
    let model = server(vec![
        survey(story.subject, &[("L1.1", function, line, &does)]),
        test_file(story.place, story.tests, &[]),
        verdict(story.finding, "code", function, "its documentation says something else"),
        Reply::By(|_| nothing()),
    ]);
    let repo = configured(story.files, &model, "one");
    let ran = run(&repo, &["test", story.subject]);
    let asked = model.asked();
    assert!(asked.len() >= 3, "{} questions\n{}\n{}", asked.len(), ran.out, ran.err);
    for (role, one) in ["surveyor", "generator", "judge"].into_iter().zip(&asked) {
        let text = messages(one);
        assert!(text.contains(&format!("You are the {role} of regreen")), "{role}: {text}");
        let fence = text.split("BEGIN ").nth(1).and_then(|rest| rest.get(..32)).expect("a fence");
        let tokens = text.len() / 4;
        let mark =
            text.split("Never repeat this mark: ").nth(1).and_then(|rest| rest.lines().next());
        let text = text.replace(fence, "FENCE").replace(mark.expect("a mark"), "MARK");
        let mut settings = insta::Settings::clone_current();
        settings.add_filter(r"\b\d+(\.\d+)? m?s\b", "[time]");
        settings.add_filter(r"(?i)(python|node|go)(js)? ?v?\d+\.\d+(\.\d+)?", "[version]");
        let _scope = settings.bind_to_scope();
        insta::assert_snapshot!(
            format!("{}-{role}", story.name),
            format!("{} tokens at 4 bytes\n=====\n{text}", tokens / 50 * 50)
        );
    }
}

#[test]
fn questions_about_a_python_repository() {
    questions_of(&PYTHON);
}

#[cfg(feature = "slow-tests")]
#[test]
#[ignore = "needs node; questions_about_a_python_repository always runs"]
fn questions_about_a_javascript_repository() {
    questions_of(&JAVASCRIPT);
}

#[cfg(feature = "slow-tests")]
#[test]
#[ignore = "needs go; questions_about_a_python_repository always runs"]
fn questions_about_a_go_repository() {
    questions_of(&GO);
}
