//! Tests of the facts that are read from functions in every supported language.

use super::*;

/// The facts of all functions, one line each, so that tables can list them.
fn facts(language: Language, text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for one in read(language, text) {
        let head = if one.is_public { "pub " } else { "" };
        let kind = if one.is_async { "async " } else { "" };
        let names: Vec<&str> = one.parameters.iter().map(|one| one.name.as_str()).collect();
        let signature = format!("{}({})", one.name, names.join(", "));
        lines.push(format!("{head}{kind}{signature} {}-{}", one.start, one.end));
        let when = |guard: &Guard| {
            let words: Vec<String> = guard.iter().map(condition).collect();
            if words.is_empty() { "always".to_owned() } else { words.join(", ") }
        };
        for raise in &one.raises {
            let message = raise.message.clone().unwrap_or_default();
            lines.push(format!(
                "  {} {} ({message}): {}",
                raise.line,
                raise.class,
                when(&raise.guard)
            ));
        }
        for give in &one.returns {
            lines.push(format!("  {} -> {}: {}", give.line, give.value, when(&give.guard)));
        }
        for edge in &one.boundaries {
            lines.push(format!(
                "  {} edge {} {} {}",
                edge.line, edge.left, edge.operator, edge.right
            ));
        }
        for handler in &one.handlers {
            lines.push(format!("  {}-{} catches {}", handler.line, handler.body, handler.catches));
        }
        for (line, field) in &one.changes {
            lines.push(format!("  {line} changes {field}"));
        }
    }
    lines
}

#[test]
fn python_functions_tell_errors_results_and_edges() {
    let text = r#"
def parse_price(text, currency="EUR"):
    if not text:
        raise ValueError("empty price")
    amount = float(text)
    if amount < 0:
        raise PriceError(f"negative {amount}")
    elif amount > 1_000:
        return None
    return round(amount, 2) if currency == "EUR" else amount


class Cart:
    def add(self, item, *, count: int = 1):
        self.items[item] = self.items.get(item, 0) + count
        self.total += count

    async def load(self, path):
        try:
            return await read(path)
        except OSError as error:
            raise

    def _hidden(self):
        pass
"#;
    let expected = [
        "pub parse_price(text, currency) 2-10",
        "  4 ValueError (empty price): an empty `text`",
        "  7 PriceError (negative {amount}): a `text` that is not empty, `amount` below 0",
        "  9 -> None: a `text` that is not empty, `amount` of at least 0, `amount` above 1_000",
        "  10 -> round(amount, 2): a `text` that is not empty, `amount` of at least 0, `amount` of at most 1_000, `currency` equal to \"EUR\"",
        "  10 -> amount: a `text` that is not empty, `amount` of at least 0, `amount` of at most 1_000, `currency` other than \"EUR\"",
        "  6 edge amount < 0",
        "  8 edge amount > 1_000",
        "pub Cart.add(item, count) 14-16",
        "  15 changes items",
        "  16 changes total",
        "pub async Cart.load(path) 18-22",
        "  22 what was caught (): a failure inside that is caught as `OSError as error`",
        "  20 -> await read(path): always",
        "  21-22 catches OSError as error",
        "Cart._hidden() 24-25",
    ];
    assert_eq!(facts(Language::Python, text), expected);
}

#[test]
fn scripts_tell_what_they_export() {
    let text = r#"
export function parsePrice(text) {
  if (!text) {
    throw new TypeError("empty price");
  }
  return Number(text);
}
export const half = (price) => price >= 50 ? price / 2 : price;
function hidden() { return 1; }
export class Cart {
  add(item) { this.items.push(item); this.count += 1; }
  async load() { try { await get(); } catch (error) { return null; } }
}
"#;
    let expected = [
        "pub parsePrice(text) 2-7",
        "  4 TypeError (empty price): an empty `text`",
        "  6 -> Number(text): a `text` that is not empty",
        "pub half(price) 8-8",
        "  8 -> price / 2: `price` of at least 50",
        "  8 -> price: `price` below 50",
        "  8 edge price >= 50",
        "hidden() 9-9",
        "  9 -> 1: always",
        "pub Cart.add(item) 11-11",
        "  11 changes count",
        "pub async Cart.load() 12-12",
        "  12 -> null: a failure inside that is caught as `error`",
        "  12-12 catches error",
    ];
    assert_eq!(facts(Language::JavaScript, text), expected);
    let prototype = "function A(n) { this.n = n; }\nA.prototype.f = function g(a) {\n  if (!a) { throw new TypeError('no a'); }\n  this.n = a;\n};\nA.prototype.h = {\n  n: 1 };\nObject.defineProperty(A.prototype, 'size', { get: function () { return this.n; } });\nB.prototype = { i: function () {} };\nmodule.exports = A;\n";
    let expected = [
        "pub A.constructor(n) 1-1",
        "  1 changes n",
        "pub A.f(a) 2-5",
        "  3 TypeError (no a): an empty `a`",
        "  4 changes n",
        "pub A.size() 8-8",
        "  8 -> this.n: always",
        "B.i() 9-9",
    ];
    assert_eq!(facts(Language::JavaScript, prototype), expected);
    let common = "function a() {}\nfunction b() {}\nmodule.exports = { a };\n";
    assert_eq!(facts(Language::JavaScript, common), ["pub a() 1-1", "b() 2-2"]);
}

#[test]
fn errors_as_values_are_errors() {
    let rust = r"
pub fn parse(text: &str, mut limit: u32) -> Result<u32, Bad> {
    if text.is_empty() {
        return Err(Bad::Empty);
    }
    if limit > 10 { Err(Bad::Large { limit }) } else { Ok(limit) }
}
impl Cart {
    pub fn add(&mut self, n: u32) { self.count += n; }
}
#[cfg(test)]
mod tests { fn x() {} }
";
    let expected = [
        "pub parse(text, limit) 2-7",
        "  4 Err(Bad::Empty) (): an empty `text`",
        "  6 Err(Bad::Large) (): a filled `text`, `limit` above 10",
        "  6 -> Ok(limit): a filled `text`, `limit` of at most 10",
        "  6 edge limit > 10",
        "pub Cart.add(n) 9-9",
        "  9 changes count",
    ];
    assert_eq!(facts(Language::Rust, rust), expected);
    let go = r#"package price
func Discount(price, percent int) (int, error) {
	if percent > 100 {
		return 0, errors.New("more than all")
	}
	return price * (100 - percent) / 100, nil
}
func (c *Cart) add(n int) { c.count += n }
"#;
    let expected = [
        "pub Discount(price, percent) 2-7",
        "  4 an error (more than all): `percent` above 100",
        "  6 -> price * (100 - percent) / 100, nil: `percent` of at most 100",
        "  3 edge percent > 100",
        "Cart.add(n) 8-8",
        "  8 changes count",
    ];
    assert_eq!(facts(Language::Go, go), expected);
    let java = r#"
class Calc {
  public int divide(int a, int b) {
    if (b == 0) { throw new IllegalArgumentException("zero"); }
    return a / b;
  }
  int hidden() { return 1; }
  static int inside() { return 2; }
}
"#;
    let expected = [
        "pub Calc.divide(a, b) 3-6",
        "  4 IllegalArgumentException (zero): `b` equal to 0",
        "  5 -> a / b: `b` other than 0",
        "  4 edge b == 0",
        "Calc.hidden() 7-7",
        "  7 -> 1: always",
        "pub Calc.inside() 8-8",
        "  8 -> 2: always",
    ];
    assert_eq!(facts(Language::Java, java), expected);
}

/// The errors and return values, with the conditions that lead to them.
fn led_to(language: Language, text: &str) -> Vec<String> {
    let places = facts(language, text).into_iter().filter(|line| line.starts_with("  "));
    places.filter(|line| !line.contains(" edge ")).map(|line| line.trim().to_owned()).collect()
}

/// The mistake of `ms` 2.1.3: what stands behind a chain of branches that all leave was reported as
/// what happens for ordinary arguments.
#[test]
fn what_is_reached_only_sometimes_is_never_told_as_what_always_happens() {
    let table: [(&str, Language, &str, &[&str]); 14] = [
        (
            "behind a chain that leaves",
            Language::JavaScript,
            "module.exports = function (val) {\n  var type = typeof val;\n  if (type === 'string') {\n    return parse(val);\n  } else if (type === 'number') {\n    return fmt(val);\n  }\n  throw new Error('no');\n};\n",
            &[
                "4 -> parse(val): `type` equal to 'string'",
                "6 -> fmt(val): `type` other than 'string', `type` equal to 'number'",
                "8 Error (no): `type` other than 'string', `type` other than 'number'",
            ],
        ),
        (
            "behind an else that leaves",
            Language::Python,
            "def f(a):\n    if a > 1:\n        a = 2\n    else:\n        return 0\n    raise ValueError('x')\n",
            &["5 -> 0: `a` of at most 1", "6 ValueError (x): `a` above 1"],
        ),
        (
            "in the else of a chain",
            Language::Python,
            "def f(a):\n    if a == 1:\n        return 1\n    elif a == 2:\n        return 2\n    else:\n        raise KeyError('x')\n",
            &[
                "3 -> 1: `a` equal to 1",
                "5 -> 2: `a` other than 1, `a` equal to 2",
                "7 KeyError (x): `a` other than 1, `a` other than 2",
            ],
        ),
        (
            "behind a branch that may leave",
            Language::Python,
            "def f(a, b):\n    if a:\n        if b:\n            return 1\n    raise ValueError('x')\n",
            &[
                "4 -> 1: a `a` that is not empty, a `b` that is not empty",
                "5 ValueError (x): an empty `a`",
            ],
        ),
        (
            "behind a loop that may leave",
            Language::Python,
            "def find(rows, key):\n    for row in rows:\n        if row.key == key:\n            return row\n    raise KeyError('none')\n",
            &[
                "4 -> row: a filled `rows`, `row.key` equal to key",
                "5 KeyError (none): input with which line 2 does not end the call",
            ],
        ),
        (
            "in a loop",
            Language::Python,
            "def f(rows):\n    for row in rows:\n        raise ValueError('some')\n",
            &["3 ValueError (some): a filled `rows`"],
        ),
        (
            "a break leaves only its loop, and a yield nothing",
            Language::Python,
            "def f(rows):\n    for row in rows:\n        if row:\n            break\n    if rows:\n        yield 1\n    raise ValueError('x')\n",
            &["6 -> 1: a `rows` that is not empty", "7 ValueError (x): always"],
        ),
        (
            "behind a try that gives",
            Language::Python,
            "def f(a):\n    try:\n        return int(a)\n    except ValueError:\n        pass\n    raise TypeError('x')\n",
            &[
                "3 -> int(a): always",
                "6 TypeError (x): input with which line 2 does not end the call",
                "4-5 catches ValueError",
            ],
        ),
        (
            "cases",
            Language::JavaScript,
            "export function f(kind) {\n  switch (kind) {\n    case 'a':\n      return 1;\n    default:\n      throw new Error('no');\n  }\n}\n",
            &[
                "6 Error (no): another `kind` than in the cases",
                "4 -> 1: `kind` that matches `'a'`",
            ],
        ),
        (
            "what a function inside does is not the outer one's",
            Language::JavaScript,
            "export function f(rows) {\n  const check = (row) => { throw new Error('no'); };\n  return rows.map(function (row) { return row + 1; });\n}\n",
            &["3 -> rows.map(function (row) { return row + 1; }): always"],
        ),
        (
            "asserts and unwraps",
            Language::Rust,
            "pub fn f(map: &Map, a: u32) -> u32 {\n    assert!(a > 3, \"small\");\n    map.get(&a).unwrap()\n}\n",
            &[
                "2 panic (small): `a` of at most 3",
                "3 panic (): input for which `map.get(&a)` gives no value",
                "3 -> map.get(&a).unwrap(): always",
            ],
        ),
        (
            "arms and let else",
            Language::Rust,
            "pub fn f(a: Option<u32>) -> Result<u32, Bad> {\n    let Some(n) = a else {\n        return Err(Bad::None);\n    };\n    match n {\n        0 => return Err(Bad::Zero),\n        _ => {}\n    }\n    Ok(n)\n}\n",
            &[
                "3 Err(Bad::None) (): input for which `let Some(n) = a` does not hold",
                "6 Err(Bad::Zero) (): input for which `let Some(n) = a` holds, `n` that matches `0`",
                "9 -> Ok(n): input for which `let Some(n) = a` holds, input with which line 5 does not end the call",
            ],
        ),
        (
            "cases of Go",
            Language::Go,
            "package p\nfunc F(kind string) int {\n\tswitch kind {\n\tcase \"a\":\n\t\treturn 1\n\tdefault:\n\t\tpanic(\"no\")\n\t}\n}\n",
            &[
                "7 panic (no): another `kind` than in the cases",
                "5 -> 1: `kind` that matches `\"a\"`",
            ],
        ),
        (
            "behind a chain in Java",
            Language::Java,
            "class C {\n  public int f(int a) {\n    if (a > 1) { return 1; } else if (a < -1) { return 2; }\n    throw new IllegalStateException(\"x\");\n  }\n}\n",
            &[
                "4 IllegalStateException (x): `a` of at most 1, `a` of at least -1",
                "3 -> 1: `a` above 1",
                "3 -> 2: `a` of at most 1, `a` below -1",
            ],
        ),
    ];
    for (why, language, text, expected) in table {
        let mut guards = led_to(language, text);
        let mut expected: Vec<String> = expected.iter().map(|line| (*line).to_owned()).collect();
        guards.sort();
        expected.sort();
        assert_eq!(guards, expected, "{why}");
    }
}

#[test]
fn imports_name_packages() {
    let table = [
        (
            Language::Python,
            "import os, sys\nfrom .a import b\nfrom requests.auth import x\n",
            "os requests sys",
        ),
        (
            Language::JavaScript,
            "import a from 'axios';\nconst b = require('@x/y/z');\nimport './c';\n",
            "@x/y axios",
        ),
        (Language::Rust, "use serde::Serialize;\nuse crate::a;\n", "serde"),
        (Language::Go, "package a\nimport (\n\t\"net/http\"\n)\n", "net/http"),
        (Language::Java, "import java.sql.Connection;\n", "java.sql"),
    ];
    for (language, text, expected) in table {
        let found: Vec<String> = packages(language, text).into_iter().collect();
        assert_eq!(found.join(" "), expected, "{language:?}");
    }
}

/// The same function with a branch, an error and a return value in each language.
const CLAMPS: &[(Language, &str)] = &[
    (
        Language::Python,
        "def clamp(a, low):\n    if a < 0:\n        raise ValueError('below')\n    return max(a, low)\n",
    ),
    (
        Language::JavaScript,
        "export function clamp(a, low) {\n  if (a < 0) {\n    throw new Error('below');\n  }\n  return Math.max(a, low);\n}\n",
    ),
    (
        Language::TypeScript,
        "export function clamp(a: number, low: number): number {\n  if (a < 0) {\n    throw new Error('below');\n  }\n  return Math.max(a, low);\n}\n",
    ),
    (
        Language::Rust,
        "pub fn clamp(a: i32, low: i32) -> i32 {\n    if a < 0 {\n        panic!(\"below\");\n    }\n    return a.max(low);\n}\n",
    ),
    (
        Language::Go,
        "package a\n\nfunc Clamp(a int, low int) int {\n\tif a < 0 {\n\t\tpanic(\"below\")\n\t}\n\treturn max(a, low)\n}\n",
    ),
    (
        Language::Java,
        "public class A {\n  public int clamp(int a, int low) {\n    if (a < 0) {\n      throw new IllegalArgumentException(\"below\");\n    }\n    return Math.max(a, low);\n  }\n}\n",
    ),
];

#[test]
fn one_function_reads_the_same_in_every_language() {
    for (language, text) in CLAMPS {
        let found = read(*language, text);
        let [one] = found.as_slice() else { panic!("{language:?}: {found:?}") };
        assert_eq!(one.short_name().to_lowercase(), "clamp", "{language:?}");
        let names: Vec<&str> = one.parameters.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["a", "low"], "{language:?}");
        assert!(one.is_public, "{language:?}");
        let edges: Vec<_> = one
            .boundaries
            .iter()
            .map(|edge| (edge.left.as_str(), edge.operator.as_str(), edge.right.as_str()))
            .collect();
        assert_eq!(edges, [("a", "<", "0")], "{language:?}");
        let [raise] = one.raises.as_slice() else { panic!("{language:?}: {one:?}") };
        assert_eq!(raise.message.as_deref(), Some("below"), "{language:?}");
        assert_eq!(raise.guard.iter().map(condition).collect::<Vec<_>>(), ["`a` below 0"]);
        let last = one.returns.last().unwrap();
        let guard: Vec<String> = last.guard.iter().map(condition).collect();
        assert_eq!(guard, ["`a` of at least 0"], "{language:?}");
    }
}

#[test]
fn every_fact_lies_on_a_line_of_its_function() {
    for (language, text) in CLAMPS {
        for one in read(*language, text) {
            let raises = one.raises.iter().map(|fact| fact.line);
            let returns = one.returns.iter().map(|fact| fact.line);
            let boundaries = one.boundaries.iter().map(|fact| fact.line);
            let calls = one.calls.iter().map(|(line, _)| *line);
            for line in raises.chain(returns).chain(boundaries).chain(calls) {
                assert!((one.start..=one.end).contains(&line), "{language:?}: {line}");
            }
        }
    }
}

#[test]
fn imports_of_every_language_name_their_packages() {
    let table = [
        (Language::Python, "import os.path\nfrom shop.cart import Cart\n", vec!["os", "shop"]),
        (
            Language::JavaScript,
            "import a from 'lodash';\nconst b = require('fs');\n",
            vec!["fs", "lodash"],
        ),
    ];
    for (language, text, expected) in table {
        let found = packages(language, text);
        assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), expected, "{language:?}");
    }
}
