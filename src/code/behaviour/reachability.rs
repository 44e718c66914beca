//! Conditions under which a statement is reached that no enclosing `if` states: earlier statements
//! did not leave the function, a loop was entered, a `switch` selected this case.

use tree_sitter::Node;

use super::body::Walk;
use super::describe::unwrapped;
use super::kinds::{self, Kind};
use super::walk::one_line;
use super::{Condition, Guard};
use crate::code::language::Language;
use crate::code::tree::{FUNCTIONS, children, first_field, line};

/// Nodes whose children are statements executed in sequence.
const BLOCKS: &[&str] = &[
    "block",
    "statement_block",
    "statement_list",
    "switch_case",
    "switch_default",
    "constructor_body",
    "switch_block_statement_group",
    "expression_case",
    "default_case",
    "type_case",
];

/// Statements other than loops that a `break` leaves.
const SWITCHES: &[&str] = &[
    "switch_statement",
    "switch_expression",
    "expression_switch_statement",
    "type_switch_statement",
    "select_statement",
];

/// Whether a node is a nested function, whose errors and return values are not the outer one's.
pub(super) fn is_inner(node: Node<'_>) -> bool {
    FUNCTIONS.contains(&node.kind())
}

/// Whether the children of a node are statements executed in sequence.
pub(super) fn is_block(node: Node<'_>) -> bool {
    BLOCKS.contains(&node.kind())
}

/// The condition under which a line does not end the call.
pub(super) fn past(node: Node<'_>) -> Condition {
    Condition::Past(line(node))
}

impl Walk<'_> {
    /// The condition under which code behind a statement of the same block is reached.
    pub(super) fn behind(&self, node: Node<'_>) -> Guard {
        let inner = if node.kind() == "expression_statement" {
            node.named_child(0).unwrap_or(node)
        } else {
            node
        };
        if let Some(condition) = self.let_else(inner) {
            return vec![Condition::holding(condition)];
        }
        match kinds::of(inner.kind()) {
            Kind::If => self.behind_choice(inner),
            _ if self.ends(inner) => Guard::new(),
            _ if self.may_end(inner, false, false) => vec![past(inner)],
            _ => Guard::new(),
        }
    }

    /// The condition of a Rust `let … else`.
    pub(super) fn let_else(&self, node: Node<'_>) -> Option<String> {
        let alternative = node.child_by_field_name("alternative")?;
        if node.kind() != "let_declaration" {
            return None;
        }
        let whole = self.text.get(node.start_byte()..alternative.start_byte())?;
        let own = whole.trim().trim_end_matches("else").trim();
        Some(own.split_whitespace().collect::<Vec<_>>().join(" ").replace('`', "'"))
    }

    /// The conditions and bodies of an `if` chain; a final `else` has no condition.
    pub(super) fn branches<'t>(&self, node: Node<'t>) -> Vec<(Option<String>, Node<'t>)> {
        let mut found = Vec::new();
        let mut at = Some(node);
        while let Some(node) = at.take() {
            if let Some(body) = node.child_by_field_name("consequence") {
                found.push((self.condition_of(node), body));
            }
            let mut cursor = node.walk();
            for other in node.children_by_field_name("alternative", &mut cursor) {
                let inner = children(other)
                    .into_iter()
                    .find(|child| child.is_named() && kinds::of(child.kind()) == Kind::If);
                let chained = if kinds::of(other.kind()) == Kind::If {
                    Some(other)
                } else {
                    inner.filter(|_| {
                        other.kind() == "else_clause" && self.language != Language::Python
                    })
                };
                match (chained, other.child_by_field_name("consequence")) {
                    (Some(_), Some(body)) if other.kind() == "elif_clause" => {
                        found.push((self.condition_of(other), body));
                    }
                    (Some(next), _) => at = Some(next),
                    (None, _) => found.push((None, other)),
                }
            }
        }
        found
    }

    /// The conditions under which execution continues after an `if`: no branch left.
    fn behind_choice(&self, node: Node<'_>) -> Guard {
        let branches = self.branches(node);
        let (ending, open): (Vec<_>, Vec<_>) =
            branches.iter().partition(|(_, body)| self.may_end(*body, false, false));
        let denied = |(text, _): &&(Option<String>, Node<'_>)| text.clone().map(Condition::denied);
        let mut guard: Guard = ending.iter().filter_map(denied).collect();
        if ending.iter().any(|(text, _)| text.is_none()) {
            // The last branch leaves as well, so one of the remaining ones was taken.
            let texts: Vec<&str> = open.iter().filter_map(|(text, _)| text.as_deref()).collect();
            let or = if self.language == Language::Python { " or " } else { " || " };
            if texts.is_empty() {
                guard = vec![past(node)];
            } else {
                guard.push(Condition::holding(texts.join(or)));
            }
        }
        guard
    }

    /// Whether a statement itself leaves the function.
    fn ends(&self, node: Node<'_>) -> bool {
        let name = |field: &str| {
            node.child_by_field_name(field).and_then(|name| self.text.get(name.byte_range()))
        };
        match kinds::of(node.kind()) {
            Kind::Return => node.kind() != "yield",
            Kind::Raise => true,
            Kind::Macro => matches!(name("macro"), Some("panic" | "bail" | "unreachable" | "todo")),
            Kind::Call => self.language == Language::Go && name("function") == Some("panic"),
            _ => false,
        }
    }

    /// Whether code below a node may leave the function, or the current iteration of an outer loop.
    fn may_end(&self, node: Node<'_>, in_loop: bool, in_switch: bool) -> bool {
        if is_inner(node) {
            return false;
        }
        let leaves = match node.kind() {
            "continue_statement" | "continue_expression" => !in_loop,
            "break_statement" | "break_expression" => !in_loop && !in_switch,
            _ => self.ends(node),
        };
        let in_loop = in_loop || kinds::of(node.kind()) == Kind::Loop;
        let in_switch = in_switch || SWITCHES.contains(&node.kind());
        leaves || children(node).into_iter().any(|child| self.may_end(child, in_loop, in_switch))
    }

    /// The condition under which the body of a loop runs at least once.
    pub(super) fn entered(&self, node: Node<'_>) -> Option<Condition> {
        if matches!(node.kind(), "do_statement" | "loop_expression") {
            return None;
        }
        if let Some(over) = self.range_of(node) {
            return Some(Condition::Filled(over));
        }
        let counts = |child: &Node<'_>| child.kind() == "for_clause";
        if node.kind() == "for_statement" && self.language != Language::Go
            || children(node).iter().any(counts)
        {
            return Some(Condition::LoopEntered(line(node)));
        }
        let text = self.condition_of(node)?;
        let always = matches!(unwrapped(&text), "true" | "True" | "1");
        (!always).then(|| Condition::holding(text))
    }

    /// The condition under which a case of a `switch` or `match` is selected.
    pub(super) fn in_case(&self, node: Node<'_>) -> Option<Condition> {
        const AROUND: &[&str] = &["match_statement", "match_expression"];
        let mut around = node.parent()?;
        while !SWITCHES.contains(&around.kind()) && !AROUND.contains(&around.kind()) {
            around = around.parent()?;
        }
        // In Rust the `value` of an arm is its result, so look at its `pattern` first.
        let subject = first_field(around, &["value", "subject", "condition"]);
        let subject = subject.map(|one| one_line(one, self.text)).unwrap_or_default();
        let subject = unwrapped(&subject);
        let label = first_field(node, &["pattern", "value", "type"])
            .or_else(|| {
                let known = ["case_pattern", "switch_label"];
                children(node).into_iter().find(|child| known.contains(&child.kind()))
            })
            .map(|one| one_line(one, self.text))
            .unwrap_or_default();
        let label = label.strip_prefix("case ").unwrap_or(&label);
        let other = matches!(label, "" | "_" | "default");
        Some(match (subject, other) {
            (_, true) => Condition::OtherCase(subject.to_owned()),
            ("" | "true", false) => Condition::holding(label.to_owned()),
            _ => Condition::Case { subject: subject.to_owned(), label: label.to_owned() },
        })
    }
}
