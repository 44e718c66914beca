//! Every operator in every language: what it offers parses, and nothing foreign is offered.

mod mutant_selection;
mod operators;
mod typed_languages;

use std::collections::BTreeSet;

use proptest::prelude::*;

use crate::code::language::Language;
use crate::code::mutate::operators::OPERATORS;
use crate::code::mutate::{Candidate, Depth, OperatorId, candidates, inline_test_lines, mutants};
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
    assert_eq!(list, [(20544, 11_249_977_548_485_448_870), (13412, 9_107_994_790_260_948_112)]);
}

#[test]
fn every_operator_writes_something_that_parses_in_each_language() {
    for (language, source) in SAMPLES {
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
            Language::Python => {
                &[OperatorId::Update, OperatorId::Syntax, OperatorId::ReverseChange]
            }
            // The sample is short, and its truths are returned: `return` writes the other one first.
            Language::JavaScript | Language::Rust | Language::Go | Language::Java => continue,
            _ => &[OperatorId::Truth, OperatorId::Syntax, OperatorId::ReverseChange],
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
            Language::Rust => &["===", "await", "null", "nil", " and "],
            Language::Go | Language::Java => &["===", "await", "None", " and "],
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
        // Reversals of the change since the base come from the difference, and what does not parse has no
        // nodes to edit.
        let others = [OperatorId::Syntax, OperatorId::ReverseChange];
        assert_eq!(rows.count() == 0, others.contains(id), "{id:?}");
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
}

#[test]
fn another_operator_is_tried_before_one_more_operand() {
    let source = "def product(a, b):\n    return a + b\n";
    let weight = |text: &str| {
        let all = all_of(Language::Python, source);
        let of = all.iter().filter(|one| one.apply(source).contains(&format!("return {text}\n")));
        of.map(|one| one.weight).fold(0.0, f64::max)
    };
    for operator in ["a - b", "a * b"] {
        for operand in ["a + 1 + b", "a + b + 1", "a + b - 1", "a + -b"] {
            let (other, more) = (weight(operator), weight(operand));
            assert!(other > more && more > 0.0, "{operator}: {other}, {operand}: {more}");
        }
    }
}

#[test]
fn what_another_edit_says_more_simply_is_not_tried() {
    let table = [
        (Language::Go, "package a\n\nfunc f(i int) int {\n\treturn i + 1\n}\n", "i * 1"),
        (Language::JavaScript, "const f = (a) => {\n  if (!a.ok()) return 1;\n};\n", "!!"),
    ];
    for (language, source, written) in table {
        let all = all_of(language, source);
        let found = all.iter().find(|one| one.apply(source).contains(written));
        assert!(!all.is_empty() && found.is_none(), "{found:?}");
    }
}

#[test]
fn what_a_bug_may_lack_inside_of_an_expression_is_tried() {
    let table = [
        (Language::Go, "func f(n int) int {\n\treturn 1 + f(n - 1)\n}\n", "return n + f(n - 1)"),
        (Language::Go, "func f(i, n int) int {\n\treturn n * i\n}\n", "return n * (i + 1)"),
        (Language::Go, "func f(i, n int) int {\n\treturn n + i\n}\n", "return n + i + 1"),
        (
            Language::Rust,
            "fn f(text: &str) -> String {\n    text.chars().collect()\n}\n",
            "text.chars().rev().collect()",
        ),
        (Language::Rust, "fn f(n: i32) -> bool {\n    n.is_negative()\n}\n", "n.is_positive()"),
        (
            Language::Java,
            "class A {\n  List<String> f(Stream<String> s) {\n    return s.filter(this::is).toList();\n  }\n}\n",
            "s.filter(this::is).sorted().toList()",
        ),
    ];
    for (language, source, expected) in table {
        let mut texts = all_of(language, source).into_iter().map(|one| one.apply(source));
        assert!(texts.any(|text| text.contains(expected)), "{expected}");
    }
}

#[test]
fn tests_inside_of_a_file_of_rust_are_told_from_its_code() {
    let source = "/// assert_eq!(f(), 1);\nfn f() -> u8 {\n    1\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() {}\n}\n\n#[test]\nfn u() {\n    f();\n}\n";
    let lines: Vec<u32> = inline_test_lines(Language::Rust, source).into_iter().collect();
    assert_eq!(lines, [1, 2, 7, 8, 9, 10, 13, 14, 15]);
    assert!(inline_test_lines(Language::Python, "# a\n").is_empty());
}
