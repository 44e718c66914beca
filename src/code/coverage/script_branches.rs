//! Finds the branches of scripts, as Istanbul counts them, and reads from V8's counts which were taken.
//!
//! V8 does not count default values of parameters and optional chains, so they are no branches here.

use tree_sitter::Node;

use crate::code::language::Language;

/// The counts of one script, by its UTF-16 code units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptCounts {
    /// What V8 ran, which a tool may have made of the source.
    pub text: String,
    /// For such a text the lines of the source by offset, in ascending order.
    pub lines: Option<Vec<(usize, u32)>>,
    pub counts: Vec<u64>,
}

/// A way that the code can take: the place where its count stands.
#[derive(Clone, Copy, Debug)]
enum Way {
    At(usize),
    /// Around the statement at the second place, if the first place runs more often.
    Around(usize, usize),
}

impl ScriptCounts {
    /// Adds the counts of another process.
    pub fn add_counts(&mut self, other: &Self) {
        if self.text == other.text {
            let pairs = self.counts.iter_mut().zip(&other.counts);
            pairs.for_each(|(known, count)| *known = known.saturating_add(*count));
        }
    }

    /// Each branch, by its line and whether it was taken.
    pub fn read_branches(&self, language: Language) -> Vec<(u32, bool)> {
        let language = if self.lines.is_some() { Language::JavaScript } else { language };
        let Some(tree) = language.parse(&self.text) else { return Vec::new() };
        let units = units(&self.text);
        let count = |byte: usize| {
            units.get(byte).and_then(|unit| self.counts.get(*unit)).copied().unwrap_or(0)
        };
        let mut found = Vec::new();
        let mut nodes = vec![tree.root_node()];
        while let Some(node) = nodes.pop() {
            let line = self.line(&node, &units);
            found.extend(ways(node).into_iter().map(|way| match way {
                Way::At(place) => (line, count(place) > 0),
                Way::Around(whole, part) => (line, count(whole) > count(part)),
            }));
            let children: Vec<Node<'_>> = node.children(&mut node.walk()).collect();
            nodes.extend(children.into_iter().rev());
        }
        found
    }

    fn line(&self, node: &Node<'_>, units: &[usize]) -> u32 {
        let unit = units.get(node.start_byte()).copied().unwrap_or(0);
        match &self.lines {
            Some(lines) => {
                let after = lines.partition_point(|(offset, _)| *offset <= unit);
                after.checked_sub(1).and_then(|at| lines.get(at)).map_or(0, |(_, line)| *line)
            }
            None => u32::try_from(node.start_position().row + 1).unwrap_or(u32::MAX),
        }
    }
}

/// The UTF-16 offset of each byte.
fn units(text: &str) -> Vec<usize> {
    let mut unit = 0;
    let mut units = Vec::with_capacity(text.len());
    for character in text.chars() {
        units.extend(std::iter::repeat_n(unit, character.len_utf8()));
        unit += character.len_utf16();
    }
    units
}

/// The ways out of a node that decides.
fn ways(node: Node<'_>) -> Vec<Way> {
    let field = |name: &str| node.child_by_field_name(name);
    match node.kind() {
        "if_statement" => {
            let Some(then) = field("consequence") else { return Vec::new() };
            let other = field("alternative").and_then(|clause| clause.named_child(0));
            let around = Way::Around(node.start_byte(), then.start_byte());
            let other = other.map_or(around, |other| Way::At(other.start_byte()));
            vec![Way::At(then.start_byte()), other]
        }
        "ternary_expression" => {
            let mut cursor = node.walk();
            let signs = node.children(&mut cursor).filter(|one| matches!(one.kind(), "?" | ":"));
            signs.map(|sign| Way::At(sign.start_byte())).collect()
        }
        "switch_case" | "switch_default" => vec![Way::At(node.start_byte())],
        "binary_expression" if is_logical(node) && !is_part(node) => {
            let mut operands = Vec::new();
            add_operands(node, node.start_byte(), &mut operands);
            operands
        }
        _ => Vec::new(),
    }
}

fn is_logical(node: Node<'_>) -> bool {
    let operator = node.child_by_field_name("operator");
    operator.is_some_and(|operator| matches!(operator.kind(), "&&" | "||" | "??"))
}

/// Whether a larger logical expression names its operands.
fn is_part(node: Node<'_>) -> bool {
    let mut parent = node.parent();
    while let Some(one) = parent.filter(|one| one.kind() == "parenthesized_expression") {
        parent = one.parent();
    }
    parent.is_some_and(|one| one.kind() == "binary_expression" && is_logical(one))
}

/// V8 counts a right operand from the operator on.
fn add_operands(node: Node<'_>, begin: usize, operands: &mut Vec<Way>) {
    let mut inner = node;
    while let Some(child) =
        inner.named_child(0).filter(|_| inner.kind() == "parenthesized_expression")
    {
        inner = child;
    }
    let part = |name: &str| inner.child_by_field_name(name);
    match (part("left"), part("operator"), part("right")) {
        (Some(left), Some(operator), Some(right)) if is_logical(inner) => {
            add_operands(left, begin, operands);
            add_operands(right, operator.start_byte(), operands);
        }
        _ => operands.push(Way::At(begin)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_of_scripts_are_those_of_istanbul() {
        // The text, what of it did not run, and each branch.
        let table: [(&str, &[&str], &[bool]); 11] = [
            ("if (a) { b(); }", &["{ b(); }"], &[false, true]),
            ("if (a) { b(); }", &[], &[true, false]),
            ("if (a) { b(); } else c();", &["c();"], &[true, false]),
            (
                "if (a) { b(); } else if (c) d();",
                &["{ b(); }", "d();"],
                &[false, true, false, true],
            ),
            ("x = a ? () => 1 : () => 2;", &["? () => 1", "() => 2"], &[false, true]),
            ("x = a && b || (c ?? d);", &["|| (c ?? d)"], &[true, true, false, false]),
            ("x = a + b; y = a?.b;", &[], &[]),
            ("function f(a = 1) {}", &["{}"], &[]),
            (
                "switch (a) { case 1: case 2: b(); break; default: c(); }",
                &["case 1:"],
                &[false, true, true],
            ),
            ("x = '\u{1f600}' + (a ? 1 : 2);", &[": 2"], &[true, false]),
            ("x = a || f(b && c);", &["&& c"], &[true, true, true, false]),
        ];
        for (text, missed, expected) in table {
            let mut counts = vec![1; text.encode_utf16().count()];
            for part in missed {
                let before = text.split(part).next().unwrap().encode_utf16().count();
                counts[before..before + part.encode_utf16().count()].fill(0);
            }
            let mut script = ScriptCounts { text: text.to_owned(), lines: None, counts };
            let found = script.read_branches(Language::JavaScript);
            let taken: Vec<bool> = found.iter().map(|(_, taken)| *taken).collect();
            assert_eq!((found.len(), taken.as_slice()), (expected.len(), expected), "{text}");
            script.lines = Some(vec![(0, 7)]);
            assert!(script.read_branches(Language::TypeScript).iter().all(|(line, _)| *line == 7));
        }
    }

    #[test]
    fn a_process_adds_what_it_ran_of_the_same_text() {
        let of = |text: &str, counts: [u64; 2]| ScriptCounts {
            text: text.to_owned(),
            lines: None,
            counts: counts.to_vec(),
        };
        let mut script = of("a;", [1, 0]);
        script.add_counts(&of("a;", [0, 2]));
        script.add_counts(&of("b;", [5, 5]));
        assert_eq!(script.counts, [1, 2]);
    }
}
