//! Every operator in every language: what it offers parses, and nothing foreign is offered.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::operators::OPERATORS;
use super::{Candidate, Depth, OperatorId, candidates, mutants, spelling};
use crate::code::language::Language;
use crate::code::syntax::{Reparser, first_error};

/// A function or two in which every operator finds something to do.
const PYTHON: &str = r#"import math

LIMIT = 3.50


def pick(items, key, low, spare):
    """Says nothing."""
    best = None
    total = 0
    for item in items:
        if item.size <= low and not item.gone:
            best = item
        elif math.floor(item.cost * 2 + 1) == 7:
            total += item.cost // len(items)
        else:
            continue
        while total is not None:
            total = total - -low
            break
    found = sorted(items, key=key)
    found.append(best)
    head = found[0:low]
    pair = (total, head[1]) if head else [None, "abc", True]
    if total in pair:
        raise ValueError("below")
        total = low
    print(pair)
    return max(total, low + key * 2)


def flag(a, b):
    if a and (b or a > b):
        return True
    name = a.strip().lower()
    return False


async def wait(job):
    return await job.run(1)
"#;

const SCRIPT: &str = r#"import { read } from "./read";

export class Cart {
  constructor(private rows: number[]) {}

  total(rate: number, floor: number): number {
    let sum = 0;
    for (let i = 0; i < this.rows.length; i++) {
      if (this.rows[i] > floor && !rate) continue;
      sum += this.rows[i] * rate;
    }
    const names = ["a", "b"];
    names.push("c");
    while (sum === 0) {
      sum = -1;
      break;
    }
    return rate >= 1 ? Math.floor(sum / 2) : undefined;
  }
}

async function load(path, fallback) {
  const text = await read(path, 1);
  const size = count(text.trim());
  if (text == null) return false;
  if (size > 10) return true;
  return fallback || text.slice(1);
}
"#;

const PLAIN_SCRIPT: &str = r"function pick(items, low) {
  let best = null;
  for (const item of items) {
    if (item.size <= low && !item.gone) best = item;
    else break;
  }
  return best === null ? items[0] : best.name.trim();
}
";

const RUST: &str = r"use std::fmt;

/// Adds 1.
fn f(a: i32) -> bool {
    let mut sum = a * 2;
    sum += 1;
    if sum <= 3 && !true {
        return -a == 4;
    }
    false
}
";

const GO: &str = r#"package a

import "fmt"

func f(a int) bool {
	sum := a * 2
	sum += 1
	for i := 0; i < a; i++ {
		fmt.Println(i)
	}
	if sum <= 3 && !true {
		return -a == 4
	}
	return false
}
"#;

const JAVA: &str = r"import java.util.List;

class A {
    @Deprecated
    boolean f(int a) {
        int sum = a * 2;
        sum += 1;
        for (int i = 0; i < a; i++) { sum--; }
        if (sum <= 3 && !true) {
            return -a == 4;
        }
        return false;
    }
}
";

/// The samples, by language.
const SAMPLES: &[(Language, &str)] = &[
    (Language::Python, PYTHON),
    (Language::JavaScript, PLAIN_SCRIPT),
    (Language::TypeScript, SCRIPT),
    (Language::Tsx, SCRIPT),
    (Language::Rust, RUST),
    (Language::Go, GO),
    (Language::Java, JAVA),
];

fn all_of(language: Language, source: &str) -> Vec<Candidate> {
    candidates(language, source, &|_| true, &["helper".to_owned()])
}

/// FNV-1a, so that a list of thousands of candidates fits on one line.
fn digest(lines: &[String]) -> u64 {
    let bytes = lines.iter().flat_map(|line| line.bytes().chain([b'\n']));
    bytes.fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[test]
fn candidates_their_weights_and_their_order_stay_as_they_are() {
    let list =
        [(Language::Python, PYTHON), (Language::TypeScript, SCRIPT)].map(|(language, source)| {
            let line = |one: &Candidate| {
                let Candidate { range, text, operator, line, weight } = one;
                format!("{} {range:?} {line} {weight:?} {text:?}", operator.name())
            };
            let lines: Vec<String> = all_of(language, source).iter().map(line).collect();
            (lines.len(), digest(&lines))
        });
    assert_eq!(list, [(16132, 14_743_955_982_490_783_854), (10883, 18_053_895_663_389_795_685)]);
}

#[test]
fn every_operator_writes_something_that_parses_in_each_language_with_repairs() {
    for (language, source) in SAMPLES.iter().filter(|(language, _)| spelling(*language).is_some()) {
        let mut reparser = Reparser::of(*language, source).unwrap();
        let mut parses = BTreeSet::new();
        for one in all_of(*language, source) {
            if !parses.contains(&one.operator)
                && reparser.parses(&one.range, &one.text, &one.apply(source))
            {
                parses.insert(one.operator);
            }
        }
        let without: &[OperatorId] = match language {
            Language::Python => &[OperatorId::Update, OperatorId::ReverseChange],
            // The sample is short, and its truths are returned: `return` writes the other one first.
            Language::JavaScript => continue,
            _ => &[OperatorId::Truth, OperatorId::ReverseChange],
        };
        for operator in OperatorId::ALL {
            let expected = !without.contains(operator);
            assert_eq!(parses.contains(operator), expected, "{language:?}: {}", operator.name());
        }
    }
}

#[test]
fn no_operator_writes_syntax_that_the_language_lacks() {
    let python = ["pass", "None", "True", "elif", "reverse=True", " and ", " or ", "not "];
    let script = ["await ", "===", "&&", "||", ".slice(", "null", "Math.", ".at("];
    for (language, source) in SAMPLES {
        let absent: &[&str] = match language {
            Language::Python => &script,
            Language::JavaScript | Language::TypeScript | Language::Tsx => &python,
            Language::Rust | Language::Go | Language::Java => &["===", "await", "None", " and "],
        };
        // Candidates repeat expressions of the sample, so its own `await` is cut off.
        let source = source.split("async def").next().unwrap();
        let candidates = all_of(*language, source);
        let mutants = mutants(*language, source, Depth::CHOICE, &|_| true);
        for one in candidates.iter().chain(&mutants) {
            let foreign = absent.iter().find(|word| one.text.contains(**word));
            assert_eq!(foreign, None, "{language:?} {}: {}", one.operator.name(), one.text);
        }
    }
}

#[test]
fn every_mutant_of_every_language_parses_and_differs() {
    for (language, source) in SAMPLES {
        let mutants = mutants(*language, source, Depth::CHOICE, &|_| true);
        assert!(mutants.len() >= 9, "{language:?}: {}", mutants.len());
        let texts: BTreeSet<String> = mutants.iter().map(|one| one.apply(source)).collect();
        assert_eq!(texts.len(), mutants.len(), "{language:?}");
        for text in texts {
            assert_ne!(text, *source);
            assert_eq!(first_error(*language, &text), None, "{language:?}: {text}");
        }
    }
}

#[test]
fn a_candidate_lies_on_an_accepted_line_and_is_undone_by_its_old_text() {
    for (language, source) in SAMPLES {
        for one in candidates(*language, source, &|line| line == 10, &[]) {
            let old = source.get(one.range.clone()).unwrap().to_owned();
            let after = one.apply(source);
            let back = Candidate {
                range: one.range.start..one.range.start + one.text.len(),
                text: old,
                ..one.clone()
            };
            assert_eq!(back.apply(&after), *source);
            assert!((9..=11).contains(&one.line), "{language:?} {}", one.line);
        }
    }
}

#[test]
fn operators_have_distinct_names_positive_weights_and_a_row() {
    let names: BTreeSet<&str> = OperatorId::ALL.iter().map(|id| id.name()).collect();
    assert_eq!(names.len(), OperatorId::ALL.len());
    for id in OperatorId::ALL {
        let rows = OPERATORS.iter().filter(|row| row.id == *id);
        assert!(rows.clone().all(|row| row.weight > 0.0) && id.base_yield() > 0.0, "{id:?}");
        // Reversals of the change since the base come from the difference, not from a node.
        assert_eq!(rows.count() == 0, *id == OperatorId::ReverseChange, "{id:?}");
    }
}

#[test]
fn common_slips_are_among_the_candidates() {
    let table = [
        (Language::Python, "def f(a, b):\n    return a < b\n", "return a <= b"),
        (Language::Python, "def f(a):\n    return a[1]\n", "return a[:1]"),
        (Language::Python, "def f(a):\n    return sorted(a)\n", "sorted(a, reverse=True)"),
        (Language::Python, "def f(a, b):\n    return a / b\n", "return a // b"),
        (Language::Python, "def f(a):\n    if a:\n        a = 1\n    return a\n", "    while a:"),
        (Language::Python, "def f(a):\n    if a:\n        g()\n    return a\n", "        return a"),
        (Language::JavaScript, "function f(a, b) {\n  return a && b;\n}\n", "return a || b;"),
        (Language::JavaScript, "function f(a, b) {\n  return g(a, b);\n}\n", "g(b, a)"),
        (Language::JavaScript, "function f(a) {\n  return g(a);\n}\n", "return await g(a)"),
        (Language::JavaScript, "function f(a) {\n  return a.trim();\n}\n", "a.trimStart()"),
        (Language::TypeScript, "function f(a: number[]) {\n  return a[0];\n}\n", "return a[1]"),
        (Language::TypeScript, "function f(a: string) {\n  return a;\n}\n", "return a.slice(1)"),
    ];
    for (language, source, expected) in table {
        let found = all_of(language, source);
        assert!(
            found.iter().any(|one| one.apply(source).contains(expected)),
            "{language:?}: {expected}"
        );
    }
}

/// Checks that an operator writes each text out of the one before it. The function's head is
/// `def f(a, b, c):` or `async function f(a, b, c)`.
fn check(operator: OperatorId, language: Language, table: &[(&str, &str)]) {
    let around = |body: &str| match language {
        Language::Python => {
            let lines = body.lines().map(|line| format!("    {line}\n"));
            format!("def f(a, b, c):\n{}", lines.collect::<String>())
        }
        _ => format!("async function f(a, b, c) {{\n  {body}\n}}\n"),
    };
    for (before, after) in table {
        let (source, expected) = (around(before), around(after));
        let found = candidates(language, &source, &|_| true, &[]);
        let of: BTreeSet<&str> = found
            .iter()
            .filter(|one| one.apply(&source) == expected)
            .map(|one| one.operator.name())
            .collect();
        assert_eq!(of, BTreeSet::from([operator.name()]), "{language:?}: {before} -> {after}");
    }
}

#[test]
fn comparisons_are_exchanged_for_those_that_people_confuse() {
    let python = [
        ("return a < b", "return a <= b"),
        ("return a >= b", "return a > b"),
        ("return a == b", "return a != b"),
        ("return a in b", "return a not in b"),
        ("return a is not b", "return a is b"),
    ];
    check(OperatorId::Comparison, Language::Python, &python);
    let script = [
        ("return a < b;", "return a <= b;"),
        ("return a === b;", "return a !== b;"),
        ("return a == b;", "return a === b;"),
    ];
    check(OperatorId::Comparison, Language::JavaScript, &script);
    check(OperatorId::Comparison, Language::TypeScript, &script);
}

#[test]
fn logic_and_negations_are_turned_around() {
    check(OperatorId::Logic, Language::Python, &[("return a and b", "return a or b")]);
    check(
        OperatorId::Logic,
        Language::JavaScript,
        &[("return a && b;", "return a || b;"), ("return a || b;", "return a && b;")],
    );
    check(OperatorId::DropNegation, Language::Python, &[("g(not a)", "g(a)")]);
    check(OperatorId::DropNegation, Language::JavaScript, &[("g(!a);", "g(a);")]);
    check(OperatorId::Negate, Language::Python, &[("if a:\n    b()", "if not a:\n    b()")]);
    check(OperatorId::Negate, Language::JavaScript, &[("if (a) b();", "if (!a) b();")]);
    check(OperatorId::Sign, Language::Python, &[("g(-a)", "g(a)")]);
    check(OperatorId::Sign, Language::JavaScript, &[("g(-a);", "g(a);")]);
}

#[test]
fn arithmetic_is_exchanged_swapped_and_cut() {
    let python = [
        ("return a + b", "return a - b"),
        ("return a / b", "return a // b"),
        ("return a ** b", "return a * b"),
        ("return a + b * c", "return (a + b) * c"),
        ("return (a + b) * c", "return a + b * c"),
    ];
    check(OperatorId::Arithmetic, Language::Python, &python);
    let script = [("return a + b;", "return a - b;"), ("return a << b;", "return a >> b;")];
    check(OperatorId::Arithmetic, Language::JavaScript, &script);
    check(OperatorId::SwapOperands, Language::Python, &[("return a - b", "return b - a")]);
    check(OperatorId::SwapOperands, Language::JavaScript, &[("return a - b;", "return b - a;")]);
    check(OperatorId::DropOperand, Language::Python, &[("g(a * b)", "g(b)")]);
    check(OperatorId::DropOperand, Language::JavaScript, &[("g(a * b);", "g(a);")]);
}

#[test]
fn constants_become_their_neighbours_and_strings_are_respelled() {
    check(
        OperatorId::Constant,
        Language::Python,
        &[
            ("return 7", "return 8"),
            ("return 7", "return 6"),
            ("return 7", "return 14"),
            ("return 2.5", "return 25.0"),
            ("x = None", "x = []"),
        ],
    );
    check(OperatorId::Constant, Language::JavaScript, &[("return 7;", "return 8;")]);
    check(
        OperatorId::Text,
        Language::Python,
        &[
            ("return 'Ab'", "return 'ab'"),
            ("return 'Ab'", "return ' Ab'"),
            ("return 'Ab'", "return 'b'"),
            ("return 'Ab'", "return ''"),
        ],
    );
    check(OperatorId::Text, Language::JavaScript, &[("return \"Ab\";", "return \"AB\";")]);
    check(OperatorId::Truth, Language::Python, &[("x = True", "x = False")]);
    check(OperatorId::Truth, Language::JavaScript, &[("let x = false;", "let x = true;")]);
}

#[test]
fn documentation_is_no_string_to_edit() {
    let source = "def f(a):\n    \"\"\"Adds one.\"\"\"\n    return a\n";
    let found = candidates(Language::Python, source, &|_| true, &[]);
    let strings: Vec<_> = found.iter().filter(|one| one.operator == OperatorId::Text).collect();
    assert!(strings.is_empty(), "{strings:?}");
}

#[test]
fn names_are_exchanged_for_those_that_are_confused() {
    let methods = [("a.append(b)", "a.extend(b)"), ("return a.strip()", "return a.lstrip()")];
    check(OperatorId::Method, Language::Python, &methods);
    let methods = [("a.push(b);", "a.unshift(b);"), ("return a.some(b);", "return a.every(b);")];
    check(OperatorId::Method, Language::JavaScript, &methods);
    check(OperatorId::Callee, Language::Python, &[("return min(a, b)", "return max(a, b)")]);
    let raised = [("raise ValueError(a)", "raise KeyError(a)")];
    let source = "def f(a):\n    raise ValueError(a)\n";
    let found = candidates(Language::Python, source, &|_| true, &[]);
    assert!(found.iter().any(|one| one.apply(source).contains(raised[0].1)), "{found:?}");
    check(OperatorId::Variable, Language::Python, &[("return g(a, a)", "return g(b, a)")]);
    check(OperatorId::Variable, Language::JavaScript, &[("return g(a, a);", "return g(a, b);")]);
}

#[test]
fn calls_lose_gain_and_exchange_what_they_are_given() {
    check(OperatorId::SwapArguments, Language::Python, &[("g(a, b)", "g(b, a)")]);
    check(OperatorId::SwapArguments, Language::JavaScript, &[("g(a, b, c);", "g(a, c, b);")]);
    check(OperatorId::DropArgument, Language::Python, &[("g(a, b, c)", "g(a, c)")]);
    check(OperatorId::DropArgument, Language::JavaScript, &[("g(a, b, c);", "g(b, c);")]);
    check(OperatorId::AddArgument, Language::Python, &[("g(a)", "g(a, c)"), ("g(a)", "g(b, a)")]);
    check(
        OperatorId::AddArgument,
        Language::Python,
        &[("return sorted(a)", "return sorted(a, reverse=True)")],
    );
    check(OperatorId::UnwrapCall, Language::Python, &[("g(abs(a))", "g(a)")]);
    check(OperatorId::UnwrapCall, Language::JavaScript, &[("g(a.trim());", "g(a);")]);
    check(
        OperatorId::WrapInCall,
        Language::Python,
        &[("return a", "return abs(a)"), ("return a", "return len(a)")],
    );
    check(OperatorId::WrapInCall, Language::JavaScript, &[("return a;", "return Math.abs(a);")]);
}

#[test]
fn elements_slices_and_bounds_are_confused() {
    check(
        OperatorId::Slice,
        Language::Python,
        &[("return a[b]", "return a[:b]"), ("g(a[b])", "g(a)")],
    );
    check(
        OperatorId::OffByOne,
        Language::Python,
        &[("return a[b]", "return a[b + 1]"), ("return a[b:c]", "return a[b:]")],
    );
    check(OperatorId::OffByOne, Language::JavaScript, &[("return a[b];", "return a[b - 1];")]);
    check(OperatorId::SwapElements, Language::Python, &[("return [a, b]", "return [b, a]")]);
    check(OperatorId::SwapElements, Language::JavaScript, &[("return [a, b];", "return [b, a];")]);
    check(
        OperatorId::SwapBranches,
        Language::Python,
        &[("return a if b else c", "return c if b else a")],
    );
    check(
        OperatorId::SwapBranches,
        Language::JavaScript,
        &[("return a ? b : c;", "return a ? c : b;")],
    );
}

#[test]
fn assignments_collect_and_count_the_other_way() {
    check(
        OperatorId::AugmentedAssignment,
        Language::Python,
        &[("a += b", "a -= b"), ("a = b", "a += b")],
    );
    check(
        OperatorId::AugmentedAssignment,
        Language::JavaScript,
        &[("a += b;", "a -= b;"), ("a += b;", "a = b;")],
    );
    check(OperatorId::Update, Language::JavaScript, &[("a++;", "a--;"), ("--a;", "++a;")]);
    check(
        OperatorId::Await,
        Language::JavaScript,
        &[("return await g(a);", "return g(a);"), ("return g(a);", "return await g(a);")],
    );
}

#[test]
fn statements_are_dropped_moved_and_return_something_else() {
    check(
        OperatorId::DropStatement,
        Language::Python,
        &[("g(a)\nreturn b", "return b"), ("if a:\n    b()", "b()")],
    );
    check(
        OperatorId::Guard,
        Language::Python,
        &[("if a:\n    b()", "while a:\n    b()"), ("if a:\n    b()", "if False:\n    b()")],
    );
    check(
        OperatorId::MoveStatement,
        Language::Python,
        &[("if a:\n    b()\n    c()", "if a:\n    b()\nc()")],
    );
    check(OperatorId::MoveStatement, Language::JavaScript, &[("g(); h();", "h(); g();")]);
    check(
        OperatorId::Return,
        Language::Python,
        &[("return g()", "return None"), ("return g()", "return a")],
    );
    check(OperatorId::Return, Language::JavaScript, &[("return g();", "return null;")]);
    let flipped =
        [("if a:\n    return True\nreturn False", "if a:\n    return False\nreturn True")];
    check(OperatorId::FlipReturns, Language::Python, &flipped);
}

#[test]
fn tokens_of_languages_without_repairs_are_exchanged_one_at_a_time() {
    let table = [
        (Language::Rust, "fn f(a: i32) -> i32 { a + 1 }", vec!["a - 1", "a + 2"]),
        (
            Language::Rust,
            "fn f(a: bool) -> bool { if a { !a } else { true } }",
            vec!["if !(a)", "{ a }", "{ false }"],
        ),
        (Language::Go, "package a\nfunc f(a int) { a++ }", vec!["a--"]),
        (Language::Go, "package a\nfunc f(a int) int { return -a }", vec!["return a "]),
        (
            Language::Java,
            "class A { int f(int a) { a += 2; return a % 3; } }",
            vec!["a -= 2", "a += 3", "a * 3", "a % 4"],
        ),
        (
            Language::Java,
            "class A { void f(boolean a) { while (a) { f(a); } } }",
            vec!["while (!(a))"],
        ),
    ];
    for (language, source, expected) in table {
        let texts: Vec<String> = mutants(language, source, Depth::CHOICE, &|_| true)
            .iter()
            .map(|one| one.apply(source))
            .collect();
        assert_eq!(texts.len(), expected.len(), "{source}: {texts:#?}");
        for text in expected {
            assert!(texts.iter().any(|one| one.contains(text)), "{text}: {texts:#?}");
        }
    }
}

#[test]
fn what_no_test_can_notice_is_no_mutant() {
    let table = [
        (Language::Python, "def f():\n    log.debug('a %d', 1)\n"),
        (Language::Python, "__version__ = '1.2'\n"),
        (Language::Python, "def f():\n    raise ValueError('at least 3')\n"),
        (Language::JavaScript, "function f() {\n  console.log(1 + 2);\n}\n"),
        (Language::JavaScript, "function f() {\n  throw new Error('below ' + 3);\n}\n"),
        (Language::Rust, "#[cfg(test)]\nmod tests { fn f() -> bool { 1 < 2 } }\n"),
        (Language::Rust, "fn f() { println!(\"{}\", 1 + 2); }\n"),
    ];
    for (language, source) in table {
        let found = mutants(language, source, Depth::CHOICE, &|_| true);
        let kinds: Vec<&str> = found
            .iter()
            .filter(|one| {
                !matches!(one.operator, OperatorId::DropStatement | OperatorId::Exception)
            })
            .map(|one| one.operator.name())
            .collect();
        assert_eq!(kinds, Vec::<&str>::new(), "{source}: {found:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever the lines of a function are, no two candidates write the same text, and each lies on
    /// whole characters.
    #[test]
    fn candidates_are_distinct_and_lie_inside_the_text(
        lines in prop::collection::vec(prop::sample::select(vec![
            "x = a + 1", "if a < 'ü':\n        b.append(a)", "return not b", "a, b = b, a",
            "for i in range(len(a)):\n        a[i] += 2", "return f(a, b)[1:]", "pass",
        ]), 1..5),
    ) {
        let body: String = lines.iter().map(|line| format!("    {line}\n")).collect();
        let source = format!("def f(a, b):\n{body}");
        let found = candidates(Language::Python, &source, &|_| true, &[]);
        let mut seen = BTreeSet::new();
        for one in &found {
            prop_assert!(source.get(one.range.clone()).is_some(), "{one:?}");
            let text = one.apply(&source);
            prop_assert_ne!(&text, &source);
            prop_assert!(seen.insert(text), "{one:?} twice");
        }
    }

    /// The limits of a depth hold for every line, and a deeper list contains no line that is not asked.
    #[test]
    fn mutants_keep_to_their_lines_and_their_number(
        only in 1u32..12, per_place in 1usize..4, per_line in 1usize..8,
        sample in prop::sample::select(SAMPLES.to_vec()),
    ) {
        let (language, source) = sample;
        let depth = Depth { per_place, per_line };
        let found = mutants(language, source, depth, &|line| line == only);
        prop_assert!(found.len() <= per_line, "{found:?}");
        prop_assert!(found.iter().all(|one| one.line.abs_diff(only) <= 1), "{found:?}");
    }

    /// Text that is not code is answered with edits that can be applied, or with none.
    #[test]
    fn any_text_can_be_mutated(text in "[ -~\\n]{0,60}") {
        for (language, _) in SAMPLES {
            for one in mutants(*language, &text, Depth::SCORE, &|_| true) {
                prop_assert!(text.get(one.range.clone()).is_some());
            }
        }
    }
}
