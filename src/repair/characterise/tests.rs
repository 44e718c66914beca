//! Tests of characterisation: rendered test files, and the search with a fake observer.

use std::sync::Mutex;

use async_trait::async_trait;
use futures::executor::block_on;

use super::render::{ModuleKind, TestPackage, TestStyle};
use super::*;
use crate::code::java_packages::JUnit;
use crate::code::signature::callables;
use crate::domain::framework::Framework;
use crate::effect::{CallOutcome, ResultKind};

fn seen(outcome: CallOutcome) -> Observation {
    Observation { outcome, ..Observation::refused("") }
}

fn value(literal: &str, way: ResultKind) -> Observation {
    seen(CallOutcome::Value { literal: literal.into(), way })
}

fn case(callee: &str, arguments: &[&str], seen: Observation) -> Case {
    let arguments = arguments.iter().map(|one| (*one).to_owned()).collect();
    Case { call: Call::new(callee, arguments), seen, documented: None }
}

fn functions(language: Language, text: &str, cases: Vec<Case>) -> ObservedFunction {
    let callable = callables(language, text).remove(0);
    let file = RepoPath::parse("src/fee-table.js").unwrap();
    let local = local_name(&callable, &file, "");
    ObservedFunction {
        callable,
        local,
        cases,
        tried: 0,
        dropped: Vec::new(),
        fruitless: Vec::new(),
        limits: BTreeSet::new(),
    }
}

fn naming(framework: Framework, test: ModuleKind, source: ModuleKind) -> Naming {
    let subject = if framework.is_python() { "shop.fees" } else { "../src/fee-table.js" };
    let package = TestPackage::default();
    let subject = subject.into();
    Naming {
        imports: Vec::new(),
        defaults: Vec::new(),
        framework,
        subject,
        source,
        test,
        typed: false,
        quote: '\'',
        style: TestStyle::default(),
        is_behaviour: false,
        package,
    }
}

fn python() -> Vec<ObservedFunction> {
    let sorted =
        Observation { after: vec![(0, "[1, 3]".into())], ..value("None", ResultKind::Plain) };
    let raised = seen(CallOutcome::Raised {
        class: "ValueError".into(),
        message: "below \"0\": -1".into(),
        explicit: true,
        way: ResultKind::Plain,
    });
    let dated = Observation {
        needs: vec!["datetime".into()],
        ..value("datetime.date(2024, 2, 29)", ResultKind::Plain)
    };
    vec![
        functions(
            Language::Python,
            "def fee(x):\n    return x\n",
            vec![
                case("fee", &["1"], value("True", ResultKind::Plain)),
                case("fee", &["2"], value("0.30000000000000004", ResultKind::Plain)),
                case("fee", &["-1"], raised),
                case("fee", &["3"], dated),
                case("fee", &["4"], value("float('nan')", ResultKind::Nan)),
            ],
        ),
        functions(
            Language::Python,
            "def tidy(rows):\n    rows.sort()\n",
            vec![case("tidy", &["[3, 1]"], sorted)],
        ),
    ]
}

/// The functions of a source, each with what was seen of it.
fn observed(
    language: Language,
    text: &str,
    cases: impl IntoIterator<Item = Vec<Case>>,
) -> Vec<ObservedFunction> {
    let seen = callables(language, text).into_iter().zip(cases);
    seen.map(|(callable, cases)| {
        let local = callable.subject().to_owned();
        let (dropped, fruitless, limits) = (Vec::new(), Vec::new(), BTreeSet::new());
        ObservedFunction { callable, local, cases, tried: 0, dropped, fruitless, limits }
    })
    .collect()
}

#[test]
fn what_a_call_prints_and_what_objects_tell_are_compared() {
    let source = "def fee(x):\n    return x\n";
    let made = |style: TestStyle| {
        let cases = vec![
            case("fee", &["1"], value("'1 cent\\n'", ResultKind::Printed)),
            case("fee", &["2"], value("['a', 'b']", ResultKind::Texts)),
            case("fee", &["3"], value("{'size': 2, 'is_open': True}", ResultKind::Members)),
        ];
        let pytest = naming(Framework::Pytest, ModuleKind::Module, ModuleKind::Module);
        let own = vec![functions(Language::Python, source, cases)];
        render(&Naming { style, ..pytest }, &own, false).text
    };
    let plain = made(TestStyle::default());
    let expected = [
        "(capsys):\n    fee(1)\n    assert capsys.readouterr().out == '1 cent\\n'\n",
        "assert [str(one) for one in fee(2)] == ['a', 'b']\n",
        "    result = fee(3)\n    assert result.size == 2\n    assert result.is_open is True\n",
    ];
    for part in expected {
        assert!(plain.contains(part), "{part}\n{plain}");
    }
    let grouped = made(TestStyle { grouped: true, ..TestStyle::default() });
    let part = "        with contextlib.redirect_stdout(io.StringIO()) as printed:\n            fee(1)\n        self.assertEqual(printed.getvalue(), '1 cent\\n')\n";
    assert!(
        grouped.contains(part) && grouped.contains("import contextlib\nimport io\n"),
        "{grouped}"
    );
    let annotated = made(TestStyle { is_annotated: true, ..TestStyle::default() });
    let part = "(capsys: pytest.CaptureFixture[str]) -> None:\n";
    assert!(annotated.contains(part) && annotated.contains("import pytest\n"), "{annotated}");
}

#[test]
fn every_function_is_called_before_one_has_many_calls() {
    let of = |index: usize, number: usize| (index, Call::new(format!("f{number}"), Vec::new()));
    let wave: Vec<(usize, Call)> =
        (0..3).flat_map(|index| (0..60).map(move |n| of(index, n))).collect();
    let turns: Vec<usize> =
        call_turns::in_turns(wave).into_iter().map(|(index, _)| index).collect();
    let expected =
        [(0, 10), (1, 10), (2, 10), (0, 40), (1, 40), (2, 40), (0, 10), (1, 10), (2, 10)];
    let expected = expected.map(|(index, count)| vec![index; count]).concat();
    assert_eq!(turns, expected);
}

#[test]
fn a_class_of_the_module_is_imported_by_its_name_where_an_object_is_expected() {
    let of_module = |literal| Observation {
        needs: vec!["shop.fees".into()],
        ..value(literal, ResultKind::Plain)
    };
    let pytest = naming(Framework::Pytest, ModuleKind::Module, ModuleKind::Module);
    let table = [
        ("shop.fees.Fee()", "from shop.fees import Fee, fee\n", "fee(1) == Fee()\n"),
        (
            "shop.fees.Fee(shop.fees.Kind())",
            "import shop.fees\nfrom shop.fees import fee\n",
            "fee(1) == shop.fees.Fee(shop.fees.Kind())\n",
        ),
    ];
    for (literal, imports, asserted) in table {
        let cases = vec![case("fee", &["1"], of_module(literal))];
        let own = vec![functions(Language::Python, "def fee(x):\n    return x\n", cases)];
        let text = render(&pytest, &own, false).text;
        assert!(text.starts_with(imports) && text.contains(asserted), "{text}");
    }
}

#[test]
fn a_pytest_file_names_each_test_after_its_call() {
    let naming = naming(Framework::Pytest, ModuleKind::Module, ModuleKind::Module);
    let draft = render(&naming, &python(), false);
    insta::assert_snapshot!(draft.text, @r##"
    import datetime
    import math

    import pytest

    from shop.fees import fee, tidy


    def test_fee_1():
        assert fee(1) is True


    def test_fee_2():
        assert math.isclose(fee(2), 0.30000000000000004, rel_tol=1e-12)


    def test_fee_3():
        assert fee(3) == datetime.date(2024, 2, 29)


    def test_fee_4():
        assert math.isnan(fee(4))


    def test_fee_raises_value_error_for_minus_1():
        with pytest.raises(ValueError) as caught:
            fee(-1)
        assert str(caught.value) == "below \"0\": -1"


    def test_tidy_changes_rows():
        rows = [3, 1]
        assert tidy(rows) is None
        assert rows == [1, 3]
    "##);
}

#[test]
fn a_unittest_file_holds_the_same_tests() {
    let naming = naming(Framework::Unittest, ModuleKind::Module, ModuleKind::Module);
    let draft = render(&naming, &python(), false);
    insta::assert_snapshot!(draft.text, @r##"
    import datetime
    import math
    import unittest

    from shop.fees import fee, tidy


    class TestFees(unittest.TestCase):
        def test_fee_1(self):
            self.assertIs(fee(1), True)

        def test_fee_2(self):
            self.assertTrue(math.isclose(fee(2), 0.30000000000000004, rel_tol=1e-12))

        def test_fee_3(self):
            self.assertEqual(fee(3), datetime.date(2024, 2, 29))

        def test_fee_4(self):
            self.assertTrue(math.isnan(fee(4)))

        def test_fee_raises_value_error_for_minus_1(self):
            with self.assertRaises(ValueError) as caught:
                fee(-1)
            self.assertEqual(str(caught.exception), "below \"0\": -1")

        def test_tidy_changes_rows(self):
            rows = [3, 1]
            self.assertIs(tidy(rows), None)
            self.assertEqual(rows, [1, 3])


    if __name__ == "__main__":
        unittest.main()
    "##);
    let reversed = render(&naming, &python(), true);
    assert_eq!(reversed.tests.len(), 6);
    assert_eq!(reversed.tests[0].name, "test_tidy_changes_rows");
}

#[test]
fn script_files_take_and_assert_as_their_framework_does() {
    let thrown = |way| {
        seen(CallOutcome::Raised {
            class: "RangeError".into(),
            message: "no".into(),
            explicit: true,
            way,
        })
    };
    let list = || {
        vec![functions(
            Language::JavaScript,
            "module.exports = { f };\nfunction f(x) { return x; }",
            vec![
                case("f", &["1"], value("2", ResultKind::Plain)),
                case("f", &["\"it's\""], value("{ a: [1] }", ResultKind::Plain)),
                case("f", &["0"], thrown(ResultKind::Plain)),
                case("f", &["2"], value("3", ResultKind::Await)),
            ],
        )]
    };
    let common = naming(Framework::NodeTest, ModuleKind::Common, ModuleKind::Common);
    insta::assert_snapshot!(render(&common, &list(), false).text, @r##"
    const assert = require('node:assert/strict');
    const test = require('node:test');

    const { f } = require('../src/fee-table.js');

    test('f with 1', () => {
      assert.equal(f(1), 2);
    });

    test("f with it's", () => {
      assert.deepEqual(f("it's"), { a: [1] });
    });

    test('f with 2', async () => {
      assert.equal(await f(2), 3);
    });

    test('f throws RangeError for 0', () => {
      assert.throws(() => f(0), { name: 'RangeError', message: 'no' });
    });
    "##);
    let module = naming(Framework::Vitest, ModuleKind::Module, ModuleKind::Common);
    insta::assert_snapshot!(render(&module, &list(), false).text, @r##"
    import { expect, test } from 'vitest';

    import subjects from '../src/fee-table.js';
    const { f } = subjects;

    test('f with 1', () => {
      expect(f(1)).toBe(2);
    });

    test("f with it's", () => {
      expect(f("it's")).toStrictEqual({ a: [1] });
    });

    test('f with 2', async () => {
      expect(await f(2)).toBe(3);
    });

    test('f throws RangeError for 0', () => {
      expect(() => f(0)).toThrow('no');
    });
    "##);
    let single = vec![functions(
        Language::JavaScript,
        "export default (x) => x;",
        vec![case("feeTable", &["1"], value("2", ResultKind::Plain))],
    )];
    let module = naming(Framework::NodeTest, ModuleKind::Module, ModuleKind::Module);
    let draft = render(&module, &single, false);
    assert!(draft.text.contains("import feeTable from '../src/fee-table.js';"), "{}", draft.text);
}

#[test]
fn script_files_follow_their_neighbours() {
    let list = |text: &str, language| {
        let raised = CallOutcome::Raised {
            class: "TypeError".into(),
            message: "no".into(),
            explicit: true,
            way: ResultKind::Plain,
        };
        let cases = vec![
            case("f", &["1"], value("[2]", ResultKind::Plain)),
            case("f", &["'word'"], value("3", ResultKind::Plain)),
            case("f", &["0"], seen(raised)),
        ];
        vec![functions(language, text, cases)]
    };
    let source = "module.exports = { f };\nfunction f(x) { return x; }";
    let written = |framework, module, tests: &[&str]| {
        let texts: Vec<String> = tests.iter().map(|text| (*text).to_owned()).collect();
        let style = TestStyle::shown_by(Language::JavaScript, source, &texts, "");
        let naming = Naming { style, ..naming(framework, module, module) };
        render(&naming, &list(source, Language::JavaScript), false).text
    };
    let old = "var assert = require('assert');\n\ndescribe('f', function () {\n    it('is', function () {\n        assert.equal(f(1), 2)\n    })\n})\n";
    insta::assert_snapshot!(written(Framework::Mocha, ModuleKind::Common, &[old]), @r"
    var assert = require('assert')

    var f = require('../src/fee-table.js').f

    describe('fee-table', function () {
        it('f with 1', function () {
            assert.deepStrictEqual(f(1), [2])
        })

        it('f with word', function () {
            assert.strictEqual(f('word'), 3)
        })

        it('f throws TypeError for 0', function () {
            assert.throws(function () { f(0) }, { name: 'TypeError', message: 'no' })
        })
    })
    ");
    let flat = "it('f', function () {\n  assert.equal(f(1), 2);\n});\n";
    for (tests, is_grouped) in [(&[][..], true), (&[flat][..], false)] {
        let text = written(Framework::Mocha, ModuleKind::Common, tests);
        assert_eq!(text.contains("\ndescribe('fee-table', "), is_grouped, "{text}");
    }
    let chai = "import { expect } from \"chai\";\n\ndescribe(\"f\", () => {\n\tit(\"is\", () => {\n\t\texpect(f(1)).to.equal(2);\n\t});\n});\n";
    let text = written(Framework::Mocha, ModuleKind::Module, &[chai]);
    assert!(text.starts_with("import { expect } from \"chai\";\n\n"), "{text}");
    assert!(text.contains("\n\t\texpect(f(1)).to.deep.equal([2]);\n"), "{text}");
    assert!(text.contains("\n\t\texpect(() => f(0)).to.throw(\"no\");\n"), "{text}");
    let grouped = "import { describe, it } from 'node:test'\nimport assert from 'node:assert'\n\ndescribe('f', () => {\n  it('is', () => {\n    assert.strictEqual(f(1), 2)\n  })\n})\n";
    insta::assert_snapshot!(written(Framework::NodeTest, ModuleKind::Module, &[grouped]), @r"
    import assert from 'node:assert'
    import { describe, it } from 'node:test'

    import { f } from '../src/fee-table.js'

    describe('fee-table', () => {
      it('f with 1', () => {
        assert.deepStrictEqual(f(1), [2])
      })

      it('f with word', () => {
        assert.strictEqual(f('word'), 3)
      })

      it('f throws TypeError for 0', () => {
        assert.throws(() => f(0), { name: 'TypeError', message: 'no' })
      })
    })
    ");
    let vitest = grouped.replace("node:test", "vitest");
    let text = written(Framework::Vitest, ModuleKind::Module, &[&vitest]);
    assert!(text.starts_with("import { describe, expect, it } from 'vitest'\n\n"), "{text}");
    let tabs = "import test from 'ava';\n\ntest('f', t => {\n\tt.is(f(1), 2);\n});\n";
    let text = written(Framework::Ava, ModuleKind::Module, &[tabs]);
    assert!(text.contains("t => {\n\tt.is(f('word'), 3);\n});\n"), "{text}");
}

#[test]
fn arguments_of_unknown_types_are_typed_one_by_one() {
    let source = "export function f(text = '', other: Foreign) { return text; }";
    let cases = vec![
        case("f", &["\"a\""], value("\"a\"", ResultKind::Plain)),
        case("f", &["\"b\"", "{}"], value("\"b\"", ResultKind::Plain)),
    ];
    let list = vec![functions(Language::TypeScript, source, cases)];
    let naming = naming(Framework::Vitest, ModuleKind::Module, ModuleKind::Module);
    let text = render(&Naming { typed: true, ..naming }, &list, false).text;
    assert!(!text.contains("@ts-nocheck") && text.contains("f('a')"), "{text}");
    assert!(text.contains("f('b', {} as never)"), "{text}");
}

#[test]
fn an_object_that_is_given_twice_has_a_name() {
    let text = "/**\n * @param {Error} one it\n * @param {Error} two it\n */\nexport function same(one, two) {\n  return one === two;\n}\n";
    let given = &["new Error(\"a\")", "arguments[0]"];
    let cases = vec![case("same", given, value("true", ResultKind::Plain))];
    let naming = naming(Framework::NodeTest, ModuleKind::Module, ModuleKind::Module);
    let written = render(&naming, &[functions(Language::JavaScript, text, cases)], false).text;
    assert!(
        written.contains("  const one = new Error('a');\n  assert.equal(same(one, one), true);\n"),
        "{written}"
    );
}

#[test]
fn a_function_that_takes_a_needed_name_is_left_out() {
    let mut list = python();
    list[1].local = "datetime".into();
    let naming = naming(Framework::Pytest, ModuleKind::Module, ModuleKind::Module);
    let draft = render(&naming, &list, false);
    assert_eq!(draft.left_out.len(), 1);
    assert!(!draft.text.contains("datetime.date("), "{}", draft.text);
}

/// A fake observer that doubles numbers; multiples of 7 depend on the environment.
struct Doubling(Mutex<u32>);

#[async_trait]
impl Observer for Doubling {
    async fn observe(&self, request: &ObserveRequest<'_>) -> Result<Vec<Observation>, RunError> {
        *self.0.lock().unwrap() += 1;
        let world = i64::from(request.world.number);
        Ok(request
            .calls
            .iter()
            .map(|call| match call.arguments[0].parse::<i64>() {
                Ok(number) => {
                    let moved = if number % 7 == 0 { world } else { 0 };
                    let mut seen = value(&(number * 2 + moved).to_string(), ResultKind::Plain);
                    seen.marks = vec![if number > 50 { "large" } else { "small" }.to_owned()];
                    seen
                }
                Err(_) => Observation::refused("prints"),
            })
            .collect())
    }
}

#[test]
fn what_differs_between_environments_is_dropped_with_a_reason() {
    let text =
        "def double(x: int):\n    return x * 2\n\ndef clock():\n    return random.random()\n";
    let callables = callables(Language::Python, text);
    let observer = Doubling(Mutex::new(0));
    let file = RepoPath::parse("a.py").unwrap();
    let examples = BTreeMap::from([("double".to_owned(), vec![vec!["'x'".to_owned()]])]);
    let task = FileTask {
        root: Path::new("/nowhere"),
        file: &file,
        language: Language::Python,
        module: "a",
        callables: &callables,
        examples: &examples,
        chains: &BTreeMap::new(),
        limit: Duration::from_secs(1),
        text: "",
        imports: &[],
        files: &[],
        missed: &BTreeSet::new(),
        goes_on: &|_| true,
    };
    let found = block_on(characterise(&observer, &task)).unwrap();
    assert_eq!(found[1].dropped, [("uses random numbers".to_owned(), 1)]);
    assert!(found[1].cases.is_empty() && found[1].tried == 0);
    let reasons: Vec<&str> = found[0].dropped.iter().map(|(reason, _)| reason.as_str()).collect();
    assert!(reasons.contains(&"gives another result in another environment"), "{reasons:?}");
    assert!(reasons.contains(&"prints"), "{reasons:?}");
    assert!(
        found[0].cases.iter().all(|case| case.call.arguments[0].parse::<i64>().unwrap() % 7 != 0
            || case.call.arguments[0] == "0")
    );
    let reaches = |mark: &str| found[0].cases.iter().any(|case| case.seen.marks == [mark]);
    assert!(reaches("large") && reaches("small"));
    assert!(*observer.0.lock().unwrap() >= 5);
}

#[test]
fn calls_end_with_the_time_and_every_function_had_its_turn() {
    let text: String =
        (0..12).map(|n| format!("def f{n}(x: int, y: int):\n    return x\n\n")).collect();
    let callables = callables(Language::Python, &text);
    let file = RepoPath::parse("a.py").unwrap();
    for left in [0_u32, 2] {
        let observer = Doubling(Mutex::new(0));
        let asked = Mutex::new((0_u32, 0_u64));
        let goes_on = |made: u64| {
            let mut asked = asked.lock().unwrap();
            asked.0 += u32::from(made == 0);
            asked.1 += made;
            asked.0 <= left
        };
        let task = FileTask {
            root: Path::new("/nowhere"),
            file: &file,
            language: Language::Python,
            module: "a",
            callables: &callables,
            examples: &BTreeMap::new(),
            chains: &BTreeMap::new(),
            limit: Duration::from_secs(1),
            text: &text,
            imports: &[],
            files: &[],
            missed: &BTreeSet::new(),
            goes_on: &goes_on,
        };
        let found = block_on(characterise(&observer, &task)).unwrap();
        let tried: u32 = found.iter().map(|one| one.tried).sum();
        assert_eq!(u64::from(tried), asked.lock().unwrap().1, "every call is counted");
        for one in &found {
            assert_eq!(one.tried > 0, left > 0, "{}: {}", one.callable.name, one.tried);
            let none = one.dropped.iter().any(|(reason, _)| reason.starts_with("the time"));
            assert_eq!(none, left == 0, "{:?}", one.dropped);
        }
    }
}

#[test]
fn the_variable_of_a_story_is_no_word_of_the_language_or_of_the_test() {
    let table = [
        (Framework::Pytest, "Basket", "basket = Basket()"),
        (Framework::Pytest, "HttpClient", "http_client = HttpClient()"),
        (Framework::Pytest, "Import", "subject = Import()"),
        (Framework::Unittest, "Self", "subject = Self()"),
        (Framework::Jest, "HttpClient", "const httpClient = HttpClient();"),
        (Framework::Jest, "Delete", "const subject = Delete();"),
    ];
    for (framework, class, expected) in table {
        let text = format!("class {class}:\n    def size(self):\n        return 1\n");
        let call = Call {
            setup: vec!["size()".into()],
            ..Call::new(format!("{class}().size"), Vec::new())
        };
        let story = Case { call, seen: value("1", ResultKind::Plain), documented: None };
        let mut one = functions(Language::Python, &text, vec![story]);
        one.callable.export = Some(class.into());
        let naming = naming(framework, ModuleKind::Module, ModuleKind::Module);
        let draft = render(&naming, &[one], false);
        assert!(draft.text.contains(expected), "{expected}: {}", draft.text);
    }
}

const GO: &str = "package shop\n\nimport \"errors\"\n\ntype Cart struct{ sum int }\n\nfunc Parse(text string) (int64, error) { return 0, nil }\n\nfunc Sort(items []int) {}\n\nfunc (c *Cart) Sum() int { return c.sum }\n\nfunc (c *Cart) Add(n int) {}\n";

#[test]
fn a_go_file_has_tables_and_subtests_of_their_own() {
    let failed = seen(CallOutcome::Raised {
        class: "error".into(),
        message: "no number".into(),
        explicit: true,
        way: ResultKind::Plain,
    });
    let thrown = seen(CallOutcome::Raised {
        class: "panic".into(),
        message: "too far".into(),
        explicit: true,
        way: ResultKind::Plain,
    });
    let sorted =
        Observation { after: vec![(0, "[]int{1, 3}".into())], ..value("", ResultKind::Plain) };
    let cases = [
        vec![
            case("Parse", &["\"12\""], value("int64(12)", ResultKind::Plain)),
            case("Parse", &["\"x\""], failed),
        ],
        vec![case("Sort", &["[]int{3, 1}"], sorted), case("Sort", &["nil"], thrown)],
        vec![Case {
            call: Call { setup: vec!["Add(2)".into()], ..Call::new("(&Cart{}).Sum", Vec::new()) },
            seen: value("2", ResultKind::Plain),
            documented: None,
        }],
    ];
    let functions = observed(Language::Go, GO, cases);
    let taken = BTreeSet::from(["TestSort".to_owned()]);
    let naming = Naming {
        subject: "shop".into(),
        package: TestPackage { taken, ..TestPackage::default() },
        ..naming(Framework::GoTest, ModuleKind::Module, ModuleKind::Module)
    };
    let draft = render(&naming, &functions, false);
    let names: Vec<&str> = draft.tests.iter().map(|test| test.name.as_str()).collect();
    let expected = [
        "TestParse/12",
        "TestParse/fails_for_x",
        "TestSortMore/changes_items",
        "TestSortMore/fails_for_nil",
        "TestCart_Sum",
    ];
    assert_eq!(names, expected);
    insta::assert_snapshot!(draft.text);
}

#[test]
fn a_go_table_expects_an_error_by_its_variable_by_its_text_or_by_its_being_there() {
    let failed = |class: &str, message: &str| {
        seen(CallOutcome::Raised {
            class: class.into(),
            message: message.into(),
            explicit: true,
            way: ResultKind::Plain,
        })
    };
    let table = [
        (
            vec![("ErrEmpty", "empty"), ("ErrLong", "")],
            ["wantErr error", "ErrLong}", "if !errors.Is(err, tt.wantErr) {"],
        ),
        (
            vec![("error", "empty"), ("error", "long")],
            ["wantErr string", "\"long\"}", "err.Error() != tt.wantErr"],
        ),
        (
            vec![("error", "empty"), ("error", "")],
            ["wantErr bool", "true}", "if (err != nil) != tt.wantErr {"],
        ),
    ];
    let naming = Naming {
        subject: "shop".into(),
        ..naming(Framework::GoTest, ModuleKind::Module, ModuleKind::Module)
    };
    for (errors, expected) in table {
        let given = ["\"\"", "\"xx\""];
        let mut cases = vec![case("Parse", &["\"12\""], value("int64(12)", ResultKind::Plain))];
        let rows = given.iter().zip(errors);
        cases.extend(
            rows.map(|(given, (class, text))| case("Parse", &[given], failed(class, text))),
        );
        let functions = observed(Language::Go, GO, [cases, Vec::new(), Vec::new()]);
        let draft = render(&naming, &functions, false);
        for part in expected {
            assert!(draft.text.contains(part), "{part}: {}", draft.text);
        }
    }
    let single = vec![case("Parse", &["\"\""], failed("ErrEmpty", ""))];
    let draft =
        render(&naming, &observed(Language::Go, GO, [single, Vec::new(), Vec::new()]), false);
    assert!(
        draft.text.contains("if _, err := Parse(\"\"); !errors.Is(err, ErrEmpty) {"),
        "{}",
        draft.text
    );
}

#[test]
fn calls_that_return_the_object_are_chained_in_java() {
    let text = "package shop;\n\npublic class Cart {\n  public static Cart of(String owner) { return null; }\n  Cart size(int n) { return this; }\n  void add(int n) {}\n  int sum() { return 1; }\n}\n";
    let story = |setup: &[&str]| {
        let setup = setup.iter().map(|one| (*one).to_owned()).collect();
        let call = Call { setup, ..Call::new("Cart.of(\"Ada\").sum", Vec::new()) };
        let seen = value("2", ResultKind::Plain);
        vec![Vec::new(), Vec::new(), Vec::new(), vec![Case { call, seen, documented: None }]]
    };
    let naming = naming(Framework::Maven, ModuleKind::Module, ModuleKind::Module);
    let table: [(&[&str], &str, &str); 3] = [
        (
            &["size(2)"],
            "void sumWithSize2Is2()",
            "assertEquals(2, Cart.of(\"Ada\").size(2).sum());",
        ),
        (
            &["size(2)", "add(3)"],
            "void sumAfterSizeAndAddIs2()",
            "Cart cart = Cart.of(\"Ada\").size(2);\n        cart.add(3);\n        assertEquals(2, cart.sum());",
        ),
        (&["add(3)", "size(2)"], "void sumAfterAddAndSizeIs2()", "cart = cart.size(2);"),
    ];
    for (setup, name, lines) in table {
        let functions = observed(Language::Java, text, story(setup));
        let naming = Naming {
            package: TestPackage { indent: "    ".into(), ..TestPackage::default() },
            ..naming.clone()
        };
        let draft = render(&naming, &functions, false);
        assert!(draft.text.contains(name) && draft.text.contains(lines), "{}", draft.text);
    }
}

const JAVA: &str = "/*\n * Licensed to nobody.\n */\npackage shop;\n\npublic class Cart {\n  Cart(String owner) {}\n\n  static long parse(String text) { return 0; }\n\n  static void sort(int[] items) {}\n\n  int sum() throws IOException { return 1; }\n\n  void add(int n) {}\n\n  List<String> names() { return null; }\n\n  Item first() { return null; }\n}\n";

#[test]
fn a_java_file_is_a_class_of_the_version_of_junit() {
    let failed = seen(CallOutcome::Raised {
        class: "IllegalArgumentException".into(),
        message: "no number".into(),
        explicit: true,
        way: ResultKind::Plain,
    });
    let sorted =
        Observation { after: vec![(0, "new int[] {1, 3}".into())], ..value("", ResultKind::None) };
    let on = |method: &str| Call::new(format!("new Cart(\"Ada\").{method}"), Vec::new());
    let story = Call { setup: vec!["add(2)".into()], ..on("sum") };
    let object = |call, seen| vec![Case { call, seen, documented: None }];
    let attributes = "getName()=\"pen\"\u{1f}isNew()=true";
    let cases = [
        vec![case("new Cart", &["null"], failed.clone())],
        vec![
            case("Cart.parse", &["\"12\""], value("12L", ResultKind::Plain)),
            case("Cart.parse", &["\"12\""], value("12L", ResultKind::Plain)),
            case("Cart.parse", &["\"x\""], failed),
        ],
        vec![case("Cart.sort", &["new int[] {3, 1}"], sorted)],
        object(story, value("2", ResultKind::Plain)),
        Vec::new(),
        object(on("names"), value("List.of()", ResultKind::Plain)),
        object(on("first"), value(attributes, ResultKind::Attributes)),
    ];
    let functions = observed(Language::Java, JAVA, cases);
    let files = BTreeSet::new();
    let site =
        ProjectLayout { framework: Framework::Maven, directory: "", files: &files, modules: false };
    let subject = RepoPath::parse("core/src/main/java/shop/Cart.java").unwrap();
    let (path, mut naming) = locate_test_file(&site, &subject, JAVA, None).unwrap();
    assert_eq!(path.as_str(), "core/src/test/java/shop/CartTest.java");
    insta::assert_snapshot!(render(&naming, &functions, false).text);
    for (junit, expected) in [
        (JUnit::Four, "import static org.junit.Assert.assertThrows;\n"),
        (
            JUnit::Early,
            "  @Test(expected = IllegalArgumentException.class)\n  public void parseThrowsForX() {\n    Cart.parse(\"x\");\n",
        ),
    ] {
        naming.package.junit = junit;
        let text = render(&naming, &functions, false).text;
        assert!(text.contains(expected) && text.contains("public class CartTest {"), "{text}");
    }
}

#[test]
fn no_java_test_is_named_like_a_method_of_every_object() {
    let text = "package shop;\n\npublic class Cart {\n  public String toString() { return null; }\n  public int size() { return 1; }\n}\n";
    let on = |method: &str, literal: &str, way| {
        let call = Call::new(format!("new Cart().{method}"), Vec::new());
        vec![Case { call, seen: value(literal, way), documented: None }]
    };
    let cases =
        vec![on("toString", "\"Cart(2)\"", ResultKind::Plain), on("size", "1", ResultKind::Plain)];
    let functions = observed(Language::Java, text, cases);
    let naming = naming(Framework::Maven, ModuleKind::Module, ModuleKind::Module);
    let draft = render(&naming, &functions, false);
    let names: Vec<&str> = draft.tests.iter().map(|test| test.name.as_str()).collect();
    assert_eq!(names, ["toStringReturnsString", "sizeIs1"]);
}

#[test]
fn a_class_that_only_type_checkers_see_is_imported_from_its_own_module() {
    let text = "def host(url):\n    return url.host\n";
    let needs = vec!["shop.urls:URL".to_owned()];
    let seen = Observation { needs, ..value("'a'", ResultKind::Plain) };
    let one = functions(Language::Python, text, vec![case("host", &["URL('a')"], seen)]);
    let naming = naming(Framework::Pytest, ModuleKind::Module, ModuleKind::Module);
    let draft = render(&naming, &[one], false);
    let expected = "from shop.fees import host\nfrom shop.urls import URL\n";
    assert!(draft.text.starts_with(expected), "{}", draft.text);
}

#[test]
fn a_function_without_a_result_that_refuses_nothing_has_no_test() {
    let silent = |argument: &str| Case {
        call: Call::new("f", vec![argument.into()]),
        seen: Observation {
            outcome: CallOutcome::Value { literal: "None".into(), way: ResultKind::Plain },
            ..Observation::refused("")
        },
        documented: None,
    };
    let refused = Case {
        seen: Observation {
            outcome: CallOutcome::Raised {
                class: "ValueError".into(),
                message: String::new(),
                explicit: true,
                way: ResultKind::Plain,
            },
            ..Observation::refused("")
        },
        ..silent("3")
    };
    let table = [
        ("self.log = x", vec![silent("1"), silent("2")], 0),
        ("return None", vec![silent("1")], 0),
        ("return self.rows.get(x)", vec![silent("1"), silent("2")], 2),
        ("if x > 2: raise ValueError", vec![silent("1"), refused], 2),
    ];
    for (source, mut known, expected) in table {
        let callable = callables(Language::Python, "def f(x):\n    return x\n").remove(0);
        let is_dropped = case_selection::drop_silent_calls(&callable, &mut known, source);
        assert_eq!((known.len(), is_dropped), (expected, expected == 0));
    }
}

#[test]
fn a_method_without_a_result_is_a_step_of_tests_of_its_own_class_alone() {
    let after = |setup: &str, callee: &str| {
        let mut one = case(callee, &[], value("true", ResultKind::Plain));
        one.call.setup = vec!["push(3)".into(), setup.into()];
        one
    };
    let table = [
        ("clear()", "new Stack().isEmpty", "Stack", case_selection::NO_RESULT, true),
        ("clearAll()", "new Stack().isEmpty", "Stack", case_selection::NO_RESULT, false),
        ("clear()", "new Queue().isEmpty", "Queue", case_selection::NO_RESULT, false),
        ("clear()", "new Stack().isEmpty", "Stack", "reads the clock", false),
    ];
    for (setup, callee, class, reason, expected) in table {
        let text = |class: &str, method: &str| {
            format!("export class {class} {{ {method}() {{ this.n = []; }} }}")
        };
        let mut clear = functions(Language::JavaScript, &text("Stack", "clear"), Vec::new());
        clear.dropped = vec![(reason.to_owned(), 1)];
        let cases = vec![after(setup, callee)];
        let other = functions(Language::JavaScript, &text(class, "isEmpty"), cases);
        assert_eq!(clear.is_run_by_others(&[other]), expected, "{setup} {callee} {reason}");
    }
}

#[test]
fn private_attributes_are_compared_only_where_no_method_lists_what_the_object_holds() {
    let private = || value("{ _items: [3] }", ResultKind::Attributes);
    let table = [
        ("this._items.push(3); return this;", "[]", private(), true),
        ("this._items.push(3); return this;", "0", private(), false),
        ("return new Stack(this._items);", "[]", private(), false),
        ("return this;", "[]", value("{ items: [3] }", ResultKind::Attributes), false),
    ];
    for (body, listed, result, expected) in table {
        let text = format!("export class Stack {{ push() {{ {body} }} }}").replace("; ", ";\n");
        let push = functions(Language::JavaScript, &text, Vec::new()).callable;
        let all = functions(Language::JavaScript, "export class Stack { all() { } }", Vec::new());
        let seen = vec![case("new Stack().all", &[], value(listed, ResultKind::Plain))];
        let listed = case_selection::find_listed_classes(&[all], &[seen]);
        let mut known = vec![case("new Stack().push", &[], result)];
        let source = body.replace("; ", ";\n");
        let is_dropped = case_selection::drop_private_state(&push, &mut known, &source, &listed);
        assert_eq!((is_dropped, known.is_empty()), (expected, expected), "{body} {listed:?}");
    }
}

#[test]
fn a_name_is_bound_once_however_many_files_have_it() {
    let imports =
        [("parse", "src/index.js#parse"), ("cut", "src/cut.js#cut"), ("cut", "src/cut.js#cut")];
    let imports = imports.map(|(name, place)| (name.to_owned(), place.to_owned()));
    let text = "export function parse(a) {\n  return a;\n}\n";
    let own = functions(Language::JavaScript, text, Vec::new());
    let bound = list_bindings(&[own], &imports);
    let bound: Vec<_> = bound.iter().map(|(name, place)| (name.as_str(), place.as_str())).collect();
    assert_eq!(bound, [("parse", "parse"), ("cut", "src/cut.js#cut")]);
}
