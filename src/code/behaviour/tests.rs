//! What functions of every language do, side by side.

use super::*;

/// One line per fact, so that a table shows them side by side.
fn facts(language: Language, text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for one in read(language, text) {
        let head = if one.is_public { "pub " } else { "" };
        let kind = if one.is_async { "async " } else { "" };
        lines.push(format!("{head}{kind}{} {}-{}", one.signature(), one.start, one.end));
        let when = |guard: &Guard| {
            let said: Vec<String> = guard.iter().map(condition).collect();
            if said.is_empty() { "always".to_owned() } else { said.join(", ") }
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
            lines.push(format!("  {} catches {}", handler.line, handler.catches));
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
        "  10 -> round(amount, 2): a `text` that is not empty, `currency` equal to \"EUR\"",
        "  10 -> amount: a `text` that is not empty, `currency` other than \"EUR\"",
        "  6 edge amount < 0",
        "  8 edge amount > 1_000",
        "pub Cart.add(item, count) 14-16",
        "  15 changes items",
        "  16 changes total",
        "pub async Cart.load(path) 18-22",
        "  22 what was caught (): a failure inside that is caught as `OSError as error`",
        "  20 -> await read(path): always",
        "  21 catches OSError as error",
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
        "  12 catches error",
    ];
    assert_eq!(facts(Language::JavaScript, text), expected);
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
        "  6 Err(Bad::Large) (): `limit` above 10",
        "  6 -> Ok(limit): `limit` of at most 10",
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
}
"#;
    let expected = [
        "pub Calc.divide(a, b) 3-6",
        "  4 IllegalArgumentException (zero): `b` equal to 0",
        "  5 -> a / b: `b` other than 0",
        "  4 edge b == 0",
        "Calc.hidden() 7-7",
        "  7 -> 1: always",
    ];
    assert_eq!(facts(Language::Java, java), expected);
}

#[test]
fn imports_name_packages() {
    let table = [
        (
            Language::Python,
            "import os, sys\nfrom .a import b\nfrom requests.auth import x\n",
            "os requests",
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
