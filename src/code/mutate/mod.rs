//! Edit operators over syntax trees, as data: each candidate is one replaced range with the
//! operator that made it. The same operators repair code and prove that tests notice when code
//! breaks.

mod constant;
mod expression;
mod ingredients;
mod mutants;
mod name;
mod operator;
mod statement;
mod table;
mod value;

use std::collections::HashSet;
use std::ops::Range;

use tree_sitter::Node;

use super::language::Language;
use ingredients::Scope;
use table::{Kind, Spelling};

pub use mutants::{Depth, mutants};
pub use table::spelling;

/// One edit of one file.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Replaced bytes.
    pub range: Range<usize>,
    /// What stands there instead.
    pub text: String,
    /// The operator, a row of [`OPERATORS`].
    pub operator: &'static str,
    /// First line of the edit, from 1.
    pub line: u32,
    /// How likely the operator is right, by itself: its yield, lowered by the size of the change.
    pub weight: f64,
}

impl Candidate {
    /// The whole text with the edit in place.
    #[must_use]
    pub fn apply(&self, source: &str) -> String {
        let before = source.get(..self.range.start).unwrap_or_default();
        let after = source.get(self.range.end..).unwrap_or_default();
        format!("{before}{}{after}", self.text)
    }
}

/// Operators by how often they repair, from the measurements of a prototype on published sets of
/// small bugs; the scale is arbitrary.
pub const OPERATORS: &[(&str, f64)] = &[
    ("constant", 10.0),
    ("comparison", 14.0),
    ("off by one", 9.0),
    ("variable", 8.0),
    ("arithmetic", 8.0),
    ("drop operand", 6.0),
    ("slice", 4.0),
    ("method", 9.0),
    ("string", 2.5),
    ("ingredient", 3.0),
    ("logic", 15.0),
    ("wrap in call", 4.0),
    ("unwrap call", 5.0),
    ("assignment target", 4.0),
    ("augmented assignment", 7.0),
    ("truth", 10.0),
    ("flip returns", 6.0),
    ("swap operands", 5.0),
    ("swap elements", 5.0),
    ("swap arguments", 7.0),
    ("swap branches", 8.0),
    ("negate", 7.0),
    ("drop negation", 7.0),
    ("sign", 4.0),
    ("callee", 4.0),
    ("property", 5.0),
    ("return", 4.0),
    ("extend condition", 2.0),
    ("drop argument", 3.0),
    ("add argument", 2.0),
    ("drop statement", 1.5),
    ("insert statement", 1.5),
    ("guard", 1.2),
    ("move statement", 3.5),
    ("replace all", 2.0),
    ("await", 6.0),
    ("update", 6.0),
    ("suffix call", 2.0),
    ("exception", 5.0),
    ("reverse change", 100.0),
];

/// The yield of an operator.
#[must_use]
pub fn yield_of(operator: &str) -> f64 {
    OPERATORS.iter().find(|(name, _)| *name == operator).map_or(1.0, |(_, weight)| *weight)
}

/// Gathers candidates while the tree is walked.
struct Gather<'a> {
    source: &'a str,
    spelling: &'static Spelling,
    scope: &'a Scope,
    wanted: &'a dyn Fn(u32) -> bool,
    /// Operators that are asked for; empty for all.
    only: &'a [&'a str],
    /// Where each line of the source ends.
    ends: &'a [usize],
    seen: HashSet<(usize, usize, String)>,
    found: Vec<Candidate>,
}

impl Gather<'_> {
    fn text(&self, node: Node<'_>) -> &str {
        self.source.get(node.byte_range()).unwrap_or_default()
    }

    /// Notes a replacement of `range`; `factor` lowers or raises the operator's yield.
    fn put(&mut self, operator: &'static str, range: Range<usize>, text: String, factor: f64) {
        self.put_sized(operator, range, text, factor, 0);
    }

    /// Like [`Gather::put`]; a `size` above 0 says how many bytes change when most of the range
    /// stays as it is.
    fn put_sized(
        &mut self,
        operator: &'static str,
        range: Range<usize>,
        text: String,
        factor: f64,
        size: usize,
    ) {
        let old = self.source.get(range.clone()).unwrap_or_default();
        if old == text {
            return;
        }
        // Two operators that write the same text are one candidate: cut what both share.
        let prefix: usize = old
            .chars()
            .zip(text.chars())
            .take_while(|(a, b)| a == b)
            .map(|(character, _)| character.len_utf8())
            .sum();
        let (old_rest, new_rest) =
            (old.get(prefix..).unwrap_or_default(), text.get(prefix..).unwrap_or_default());
        let suffix: usize = old_rest
            .chars()
            .rev()
            .zip(new_rest.chars().rev())
            .take_while(|(a, b)| a == b)
            .map(|(character, _)| character.len_utf8())
            .sum();
        let start = range.start + prefix;
        let end = range.end - suffix;
        let new = new_rest.get(..new_rest.len() - suffix).unwrap_or_default();
        if !self.seen.insert((start, end, new.to_owned())) {
            return;
        }
        if !self.only.is_empty() && !self.only.contains(&operator) {
            return;
        }
        let row = self.ends.partition_point(|end| *end < range.start);
        // Tokens that change, roughly: short edits are likelier than long ones.
        let size = if size > 0 { size } else { (end - start).max(new.len()) };
        let size = f64::from(u32::try_from(size).unwrap_or(u32::MAX));
        let weight = yield_of(operator) * factor / (1.0 + size / 40.0);
        let line = u32::try_from(row + 1).unwrap_or(u32::MAX);
        self.found.push(Candidate { range, text, operator, line, weight });
    }

    fn replace(
        &mut self,
        operator: &'static str,
        node: Node<'_>,
        text: impl Into<String>,
        factor: f64,
    ) {
        self.put(operator, node.byte_range(), text.into(), factor);
    }
}

/// All single edits on the lines that `wanted` accepts, in the order of the text. Whether a
/// result parses is checked by the caller, one candidate at a time.
#[must_use]
pub fn candidates(
    language: Language,
    source: &str,
    wanted: &dyn Fn(u32) -> bool,
    foreign_names: &[String],
) -> Vec<Candidate> {
    candidates_by(language, source, wanted, foreign_names, &[])
}

/// The same by some operators only; what another one would write as well is theirs.
fn candidates_by(
    language: Language,
    source: &str,
    wanted: &dyn Fn(u32) -> bool,
    foreign_names: &[String],
    only: &[&str],
) -> Vec<Candidate> {
    let (Some(spelling), Some(tree)) = (spelling(language), language.parse(source)) else {
        return Vec::new();
    };
    let ends: Vec<usize> = source.match_indices('\n').map(|(at, _)| at).collect();
    let mut all = Vec::new();
    let root = tree.root_node();
    let mut seen = HashSet::new();
    let mut units = Vec::new();
    units_of(root, &mut units);
    for unit in units {
        let first = unit.start_position().row;
        let last = unit.end_position().row;
        let line = |row: usize| u32::try_from(row + 1).unwrap_or(u32::MAX);
        if !(first..=last).any(|row| wanted(line(row))) {
            continue;
        }
        let scope = Scope::of(unit, root, source, foreign_names);
        let mut gather =
            Gather { source, spelling, scope: &scope, wanted, only, ends: &ends, seen, found: all };
        walk(unit, &mut gather, unit);
        seen = gather.seen;
        all = gather.found;
    }
    all.sort_by_key(|candidate| (candidate.range.start, candidate.range.end));
    all
}

/// Functions, each without those inside it, and the module around them.
fn units_of<'tree>(node: Node<'tree>, units: &mut Vec<Node<'tree>>) {
    if is_function(node) || node.parent().is_none() {
        units.push(node);
    }
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        units_of(child, units);
    }
}

fn is_function(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "function_definition"
            | "function_declaration"
            | "method_definition"
            | "arrow_function"
            | "function_expression"
            | "generator_function_declaration"
    )
}

fn walk(node: Node<'_>, gather: &mut Gather<'_>, unit: Node<'_>) {
    if node != unit && is_function(node) {
        return;
    }
    let first = u32::try_from(node.start_position().row + 1).unwrap_or(u32::MAX);
    let last = u32::try_from(node.end_position().row + 1).unwrap_or(u32::MAX);
    if !(first..=last).any(|line| (gather.wanted)(line)) {
        return;
    }
    if (gather.wanted)(first) && node.is_named() && node != unit {
        let kind = table::kind(node);
        expression::edits(node, kind, gather);
        statement::edits(node, kind, gather);
    } else if kind_of_block(node) {
        statement::edits(node, Kind::Block, gather);
    }
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        // Types and imports are not where small bugs live, and names in them are not values.
        if matches!(
            child.kind(),
            "type"
                | "type_annotation"
                | "import_statement"
                | "import_from_statement"
                | "comment"
                | "decorator"
                | "future_import_statement"
        ) {
            continue;
        }
        walk(child, gather, unit);
    }
}

fn kind_of_block(node: Node<'_>) -> bool {
    table::kind(node) == Kind::Block
}
