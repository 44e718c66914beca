//! The numeric constants of a file and their values.

use std::collections::BTreeMap;

use tree_sitter::Node;

use super::language::Language;
use super::tree::{FUNCTIONS, field_of, visit};

/// Maximum number of constants that are evaluated in one file.
const CONSTANTS: usize = 400;

/// Maximum length of an expression that is evaluated.
const EXPRESSION: usize = 80;

/// Values of the numeric constants of a file, by name; empty if the file does not parse.
pub fn number_constants(language: Language, text: &str) -> BTreeMap<String, f64> {
    language.parse(text).map(|tree| constants_below(tree.root_node(), text)).unwrap_or_default()
}

/// Values of the constants outside of functions whose text is arithmetic over numbers and earlier constants.
pub fn constants_below(root: Node<'_>, text: &str) -> BTreeMap<String, f64> {
    let mut known = BTreeMap::new();
    visit(root, |node| {
        if known.len() >= CONSTANTS {
            return false;
        }
        let (name, value) = match node.kind() {
            "assignment" => ("left", "right"),
            "variable_declarator" | "const_spec" | "var_spec" | "const_item" | "static_item" => {
                ("name", "value")
            }
            kind => return !FUNCTIONS.contains(&kind),
        };
        let (name, rest) = (field_of(node, name, text), field_of(node, value, text));
        if rest.len() <= EXPRESSION
            && let Some(value) = (Sum { rest, known: &known }).whole()
        {
            known.insert(name.to_owned(), value);
        }
        false
    });
    known
}

/// A small parser that evaluates arithmetic.
struct Sum<'a> {
    rest: &'a str,
    known: &'a BTreeMap<String, f64>,
}

impl Sum<'_> {
    fn whole(mut self) -> Option<f64> {
        let value = self.sum(0)?;
        self.rest.trim().is_empty().then_some(value).filter(|value| value.is_finite())
    }

    fn next(&mut self, accepted: &[char]) -> Option<char> {
        self.rest = self.rest.trim_start();
        let first = self.rest.chars().next().filter(|first| accepted.contains(first))?;
        self.rest = self.rest.get(first.len_utf8()..)?;
        Some(first)
    }

    fn sum(&mut self, depth: u32) -> Option<f64> {
        let mut value = self.product(depth)?;
        while let Some(sign) = self.next(&['+', '-']) {
            let other = self.product(depth)?;
            value += if sign == '+' { other } else { -other };
        }
        Some(value)
    }

    fn product(&mut self, depth: u32) -> Option<f64> {
        let mut value = self.single(depth)?;
        while let Some(sign) = self.next(&['*', '/']) {
            // `a ** b` fails to parse here, so its value stays unknown.
            let other = self.single(depth)?;
            value = if sign == '*' { value * other } else { value / other };
        }
        Some(value)
    }

    fn single(&mut self, depth: u32) -> Option<f64> {
        if depth > 8 {
            return None;
        }
        if self.next(&['-']).is_some() {
            return Some(-self.single(depth + 1)?);
        }
        if self.next(&['(']).is_some() {
            let value = self.sum(depth + 1)?;
            return self.next(&[')']).map(|_| value);
        }
        let end = self
            .rest
            .find(|c: char| !(c.is_alphanumeric() || "_.$".contains(c)))
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        let plain = word.replace('_', "");
        match self.known.get(word) {
            Some(value) => Some(*value),
            None if word.starts_with(|c: char| c.is_ascii_digit()) => plain.parse().ok(),
            None => None,
        }
    }
}

/// A number as both Python and JavaScript write it; `None` if it is not finite.
pub fn write_number(value: f64) -> Option<String> {
    let whole = value.fract() == 0.0 && value.abs() < 9e15;
    let text = if whole { format!("{value:.0}") } else { format!("{value:?}") };
    value.is_finite().then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_worked_out_from_those_before_them() {
        let script = "var s = 1000;\nvar m = s * 60;\nconst h = m * 60; // an hour\nexport const half = -h / 2;\nvar odd = f(2);\nfunction f() { var inner = 5; }\n";
        let python = "DAY: int = 24 * 10\nWEEK = DAY * 7 - 1_000\nODD = f(2)\nclass A:\n    MAX = (DAY + 2)\n    def f(self):\n        inner = 5\n";
        let rust = "pub static MAX: i32 = 3999;\nconst LIMITS: usize = 1 << 2;\nmod inner { pub(crate) const TOP: u8 = 7; }\nfn f() { const INNER: u8 = 1; }\n";
        let go = "package p\n\nconst (\n\tmaxSize = 10\n\tdouble = maxSize * 2\n)\n\nvar rate float64 = 0.5\n";
        let java = "class A { private static final int MAX = 10; int f() { int inner = 3; return inner; } }\n";
        let table = [
            (
                Language::JavaScript,
                script,
                vec![("h", 3_600_000.0), ("half", -1_800_000.0), ("m", 60_000.0), ("s", 1000.0)],
            ),
            (Language::Python, python, vec![("DAY", 240.0), ("MAX", 242.0), ("WEEK", 680.0)]),
            (Language::Rust, rust, vec![("MAX", 3999.0), ("TOP", 7.0)]),
            (Language::Go, go, vec![("double", 20.0), ("maxSize", 10.0), ("rate", 0.5)]),
            (Language::Java, java, vec![("MAX", 10.0)]),
        ];
        for (language, text, expected) in table {
            let known = number_constants(language, text);
            let found: Vec<(&str, f64)> =
                known.iter().map(|(name, value)| (name.as_str(), *value)).collect();
            assert_eq!(found, expected, "{language:?}");
        }
    }

    #[test]
    fn foreign_text_is_not_evaluated_without_end() {
        let deep = format!("a = {}1{}\nb = {}\n", "(".repeat(60), ")".repeat(10), "-".repeat(70));
        assert!(number_constants(Language::Python, &deep).is_empty());
        let many: String = (0..1000).map(|n| format!("A{n} = {n}\n")).collect();
        assert_eq!(number_constants(Language::Python, &many).len(), CONSTANTS);
    }
}
