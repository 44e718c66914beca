//! [`EditSite`] is a node offered to edit operators; [`EditList`] collects the edits.

use std::collections::HashSet;
use std::ops::Range;

use tree_sitter::Node;

use super::ingredients::Ingredients;
use super::node_kind::NodeKind;
use super::operator_id::OperatorId;
use super::spelling::Spelling;
use crate::code::tree::{statements, text_of};

/// One edit of one file: a byte range and its replacement.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    pub range: Range<usize>,
    pub text: String,
    pub operator: OperatorId,
    /// First line of the edit, from 1.
    pub line: u32,
    /// The likelihood that the edit is right: the yield of its operator, lowered for large changes.
    pub weight: f64,
}

impl Candidate {
    /// The whole source text with the edit applied.
    pub fn apply(&self, source: &str) -> String {
        let before = source.get(..self.range.start).unwrap_or_default();
        let after = source.get(self.range.end..).unwrap_or_default();
        format!("{before}{}{after}", self.text)
    }
}

/// A node with the context that edit operators need.
pub struct EditSite<'a> {
    pub node: Node<'a>,
    pub kind: NodeKind,
    pub text: &'a str,
    pub parent: NodeKind,
    pub source: &'a str,
    /// The syntax of the language.
    pub spelling: &'static Spelling,
    /// Names and expressions from the function and the file.
    pub scope: &'a Ingredients,
    /// For a statement, all statements of its block; empty for other nodes.
    pub siblings: &'a [Node<'a>],
    /// The position of the statement among its siblings.
    pub index: usize,
}

impl<'a> EditSite<'a> {
    /// The text of another node.
    pub fn text_of(&self, node: Node<'_>) -> &'a str {
        text_of(node, self.source)
    }

    fn between(&self, first: Node<'_>, second: Node<'_>) -> &'a str {
        self.source.get(first.end_byte()..second.start_byte()).unwrap_or_default()
    }

    /// The source from `first` to `second`, with the two nodes swapped.
    pub fn exchanged(&self, first: Node<'_>, second: Node<'_>) -> String {
        let (before, after) = (self.text_of(second), self.text_of(first));
        format!("{before}{}{after}", self.between(first, second))
    }

    /// The most used variables of the function.
    pub fn names(&self, limit: usize) -> impl Iterator<Item = &'a str> + use<'a> {
        first(&self.scope.names, limit)
    }

    /// A field of the node.
    pub fn field(&self, name: &str) -> Option<Node<'a>> {
        self.node.child_by_field_name(name)
    }

    /// The named children, without comments.
    pub fn children(&self) -> Vec<Node<'a>> {
        statements(self.node)
    }

    /// Whether the node is the given field of a parent of the given grammar kind.
    pub fn is_field(&self, parent: &str, field: &str) -> bool {
        self.node.parent().is_some_and(|node| {
            node.kind() == parent && node.child_by_field_name(field) == Some(self.node)
        })
    }
}

/// Whether an expression is a condition that decides between branches.
pub fn is_condition(site: &EditSite<'_>) -> bool {
    let (mut child, Some(mut parent)) = (site.node, site.node.parent()) else { return false };
    if parent.kind() == "parenthesized_expression" {
        let Some(outer) = parent.parent() else { return false };
        (child, parent) = (parent, outer);
    }
    match parent.kind() {
        "if_clause" => true,
        "conditional_expression" => parent.named_child(1) == Some(child),
        // A loop of Go that has nothing but a condition.
        "for_statement" if parent.named_child(0) == Some(child) => child.kind() != "for_clause",
        _ => parent.child_by_field_name("condition") == Some(child),
    }
}

/// The first entries of a list of texts.
pub fn first(texts: &[String], limit: usize) -> impl Iterator<Item = &str> {
    texts.iter().take(limit).map(String::as_str)
}

/// Collects the edits of all operators; of equal ones, the first is kept.
pub struct EditList<'a> {
    source: &'a str,
    /// The operators whose edits are kept; empty for all.
    only: &'a [OperatorId],
    /// Byte offset of the end of each line of the source.
    line_ends: Vec<usize>,
    operator: OperatorId,
    share: f64,
    seen: HashSet<(usize, usize, String)>,
    candidates: Vec<Candidate>,
}

impl<'a> EditList<'a> {
    /// Creates an empty list for one source text.
    pub fn new(source: &'a str, only: &'a [OperatorId]) -> Self {
        Self {
            source,
            only,
            line_ends: source.match_indices('\n').map(|(at, _)| at).collect(),
            operator: OperatorId::Constant,
            share: 1.0,
            seen: HashSet::new(),
            candidates: Vec::new(),
        }
    }

    /// Attributes all following edits to an operator, weighted by a share of its yield.
    pub fn attribute_to(&mut self, operator: OperatorId, share: f64) {
        self.operator = operator;
        self.share = share;
    }

    /// The candidates in the order of their position in the source.
    pub fn into_candidates(mut self) -> Vec<Candidate> {
        self.candidates.sort_by_key(|candidate| (candidate.range.start, candidate.range.end));
        self.candidates
    }

    pub fn replace(&mut self, node: Node<'_>, text: impl Into<String>) {
        self.replace_with_share(node, text, 1.0);
    }

    /// Replaces a node by each of several texts, as separate edits.
    pub fn replace_all<T: Into<String>>(
        &mut self,
        node: Node<'_>,
        texts: impl IntoIterator<Item = T>,
    ) {
        for text in texts {
            self.replace(node, text);
        }
    }

    /// Replaces a node, scaling the operator's weight by `share`.
    pub fn replace_with_share(&mut self, node: Node<'_>, text: impl Into<String>, share: f64) {
        self.put_sized(node.byte_range(), text.into(), share, None);
    }

    pub fn put(&mut self, range: Range<usize>, text: impl Into<String>) {
        self.put_sized(range, text.into(), 1.0, None);
    }

    /// Replaces a range, scaling the operator's weight by `share`.
    pub fn put_with_share(&mut self, range: Range<usize>, text: impl Into<String>, share: f64) {
        self.put_sized(range, text.into(), share, None);
    }

    /// Replaces a range; `size` is the number of bytes that really change.
    pub fn put_sized(
        &mut self,
        range: Range<usize>,
        text: String,
        share: f64,
        size: Option<usize>,
    ) {
        let old = self.source.get(range.clone()).unwrap_or_default();
        if old == text || share <= 0.0 {
            return;
        }
        // Trim the common prefix and suffix, so that equal edits of two operators are recognised.
        let prefix = shared(old.chars(), text.chars());
        let (old_rest, new_rest) =
            (old.get(prefix..).unwrap_or_default(), text.get(prefix..).unwrap_or_default());
        let suffix = shared(old_rest.chars().rev(), new_rest.chars().rev());
        let (start, end) = (range.start + prefix, range.end - suffix);
        let new = new_rest.get(..new_rest.len() - suffix).unwrap_or_default();
        if !self.seen.insert(rightmost(self.source, start, end, new))
            || !self.only.is_empty() && !self.only.contains(&self.operator)
        {
            return;
        }
        // Roughly the number of changed tokens: short edits are more likely to be right.
        let size = size.unwrap_or((end - start).max(new.len()));
        let size = f64::from(u32::try_from(size).unwrap_or(u32::MAX));
        let weight = self.operator.base_yield() * (self.share * share) / (1.0 + size / 40.0);
        let row = self.line_ends.partition_point(|end| *end < range.start);
        let line = u32::try_from(row + 1).unwrap_or(u32::MAX);
        self.candidates.push(Candidate { range, text, operator: self.operator, line, weight });
    }
}

/// The last position for the same insertion or removal: `ab` before or after `ab` in `cab`.
fn rightmost(source: &str, start: usize, end: usize, new: &str) -> (usize, usize, String) {
    let (mut start, mut end, mut new) = (start, end, new.to_owned());
    if start != end && !new.is_empty() {
        return (start, end, new);
    }
    while let Some(next) = source.get(end..).and_then(|rest| rest.chars().next()) {
        let moved = if new.is_empty() { source.get(start..end) } else { Some(new.as_str()) };
        if !moved.is_some_and(|moved| moved.starts_with(next)) {
            break;
        }
        start += next.len_utf8();
        end += next.len_utf8();
        if !new.is_empty() {
            new = format!("{}{next}", new.strip_prefix(next).unwrap_or_default());
        }
    }
    (start, end, new)
}

/// The length of the common prefix of two texts in bytes.
fn shared(a: impl Iterator<Item = char>, b: impl Iterator<Item = char>) -> usize {
    a.zip(b).take_while(|(a, b)| a == b).map(|(character, _)| character.len_utf8()).sum()
}
