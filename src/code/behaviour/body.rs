//! Collects the branches, errors, return values and state changes in the body of a function.

use tree_sitter::Node;

use super::kinds::{self, Kind};
use super::reachability::{is_block, is_inner, past};
use super::walk::{callable, field_line, first_text, one_line};
use super::{Behaviour, Boundary, Condition, Guard, Handler, Raise, Return};
use crate::code::language::Language;
use crate::code::tree::{children, first_field, line, named_children};

/// The traversal of one function body, which fills in its [`Behaviour`].
pub(super) struct Walk<'a> {
    pub(super) language: Language,
    pub(super) text: &'a str,
    pub(super) behaviour: &'a mut Behaviour,
    pub(super) receiver: Option<String>,
    /// How many nested functions enclose the current node, not counting the function itself.
    pub(super) inner: u32,
}

impl Walk<'_> {
    /// Notes the nodes below a node.
    pub(super) fn visit(&mut self, node: Node<'_>, guard: &mut Guard) {
        let mut kind = kinds::of(node.kind());
        // A declaration of a variable or property counts as a function only if its value is one.
        if kind == Kind::Function && callable(node).is_none() {
            kind = Kind::Other;
        }
        match kind {
            Kind::If | Kind::Ternary => return self.choice(node, guard),
            Kind::Loop => {
                self.behaviour.decisions += 1;
                return self.round(node, guard);
            }
            Kind::Case => {
                self.behaviour.decisions += 1;
                return self.case(node, guard);
            }
            Kind::Raise => self.raise(node, guard),
            Kind::Return => {
                if let Some(value) = node.named_child(0) {
                    self.result(value, guard);
                }
            }
            Kind::Comparison => self.comparison(node),
            Kind::Handler => {
                let catches = self.handler(node);
                let caught = Condition::Caught(catches);
                for child in children(node) {
                    self.visit_under([caught.clone()], child, guard);
                }
                return;
            }
            Kind::Call => self.call(node, guard),
            Kind::Macro => self.macro_call(node, guard),
            Kind::Assignment => self.assignment(node),
            Kind::Function | Kind::Group | Kind::Other => {}
        }
        if matches!(node.kind(), "switch_default" | "default_case") {
            return self.case(node, guard);
        }
        let inner = u32::from(is_inner(node));
        self.inner += inner;
        self.each(node, guard);
        self.inner -= inner;
    }

    /// Visits inner nodes; code behind what may end the call counts as reached only if it did not.
    fn each(&mut self, node: Node<'_>, guard: &mut Guard) {
        let depth = guard.len();
        let alternative =
            node.child_by_field_name("alternative").filter(|_| node.kind() == "let_declaration");
        for child in children(node) {
            if alternative == Some(child)
                && let Some(text) = self.let_else(node)
            {
                self.visit_under([Condition::denied(text)], child, guard);
                continue;
            }
            self.visit(child, guard);
            if is_block(node) {
                guard.extend(self.behind(child));
            }
        }
        guard.truncate(depth);
    }

    /// Visits a node with additional conditions in force.
    fn visit_under(
        &mut self,
        own: impl IntoIterator<Item = Condition>,
        node: Node<'_>,
        guard: &mut Guard,
    ) {
        let depth = guard.len();
        guard.extend(own);
        self.visit(node, guard);
        guard.truncate(depth);
    }

    /// Visits a loop: its body if entered, and a Python `else` only if it ends without `break`.
    fn round(&mut self, node: Node<'_>, guard: &mut Guard) {
        if let Some(over) = self.range_of(node) {
            self.behaviour.loops.push((line(node), over));
        }
        let body = node.child_by_field_name("body");
        for child in children(node) {
            let own = if Some(child) == body {
                self.entered(node)
            } else {
                (child.kind() == "else_clause").then(|| past(node))
            };
            self.visit_under(own, child, guard);
        }
    }

    /// Visits one case of a `switch` or `match` under the condition that selects it.
    fn case(&mut self, node: Node<'_>, guard: &mut Guard) {
        let depth = guard.len();
        guard.extend(self.in_case(node));
        self.each(node, guard);
        guard.truncate(depth);
    }

    pub(super) fn condition_of(&self, node: Node<'_>) -> Option<String> {
        Some(one_line(part_of(node, "condition")?, self.text))
    }

    /// Visits an `if` or a ternary, each branch under the condition that leads to it.
    fn choice(&mut self, node: Node<'_>, guard: &mut Guard) {
        self.behaviour.decisions += 1;
        let condition = self.condition_of(node);
        let consequence = part_of(node, "consequence");
        let Some(text) = condition else {
            return self.each(node, guard);
        };
        // Each `elif` and `else` is reached only if all conditions before it were false.
        let mut denied = vec![text.clone()];
        for child in children(node) {
            let is_consequence = Some(child) == consequence;
            if one_line(child, self.text) == text && !is_consequence {
                self.visit(child, guard);
                continue;
            }
            let texts = if is_consequence { std::slice::from_ref(&text) } else { &denied };
            let own =
                texts.iter().cloned().map(|text| Condition::Source { text, holds: is_consequence });
            self.visit_under(own.collect::<Guard>(), child, guard);
            if child.kind() == "elif_clause" {
                denied.extend(self.condition_of(child));
            }
        }
    }

    /// The collection or range that a loop iterates over.
    pub(super) fn range_of(&self, node: Node<'_>) -> Option<String> {
        let range = children(node).into_iter().find(|child| child.kind() == "range_clause");
        let over = first_field(node, &["right", "value"])
            .or_else(|| range.and_then(|range| range.child_by_field_name("right")));
        over.map(|over| one_line(over, self.text))
    }

    fn raise(&mut self, node: Node<'_>, guard: &Guard) {
        let Some(value) = node.named_child(0) else {
            return self.note_raise(line(node), "what was caught".into(), None, guard);
        };
        let class = first_field(value, CALLEE).unwrap_or(value);
        let class = one_line(class, self.text);
        self.note_raise(line(node), class, first_text(value, self.text), guard);
    }

    fn note_raise(&mut self, line: u32, class: String, message: Option<String>, guard: &Guard) {
        if self.inner == 0 {
            self.behaviour.raises.push(Raise { line, class, message, guard: guard.clone() });
        }
    }

    /// Records a returned value, or an error where the language returns errors as values.
    fn result(&mut self, value: Node<'_>, guard: &Guard) {
        if self.inner > 0 {
            return;
        }
        let shown = one_line(value, self.text);
        match self.language {
            Language::Rust if shown.starts_with("Err(") => {
                let inner = shown.trim_start_matches("Err(").trim_end_matches(')');
                let class = match inner.split(['{', '(', ' ', '"']).next().unwrap_or_default() {
                    "" => "Err".to_owned(),
                    class => format!("Err({class})"),
                };
                self.note_raise(line(value), class, first_text(value, self.text), guard);
            }
            Language::Go if is_go_error(value, self.text) => {
                let message = first_text(value, self.text);
                self.note_raise(line(value), "an error".into(), message, guard);
            }
            _ => {
                // Each branch of a ternary is a separate return value.
                if kinds::of(value.kind()) == Kind::Ternary {
                    return self.ternary_results(value, guard);
                }
                let (line, guard) = (line(value), guard.clone());
                self.behaviour.returns.push(Return { line, value: shown, guard });
            }
        }
    }

    fn ternary_results(&mut self, node: Node<'_>, guard: &Guard) {
        let Some(text) = self.condition_of(node) else { return };
        for (part, holds) in [("consequence", true), ("alternative", false)] {
            let mut inner = guard.clone();
            inner.push(Condition::Source { text: text.clone(), holds });
            if let Some(value) = part_of(node, part) {
                self.result(value, &inner);
            }
        }
    }

    /// Records a return value without `return`, as in Rust and in short arrow functions.
    pub(super) fn tail(&mut self, body: Node<'_>) {
        let language = self.language;
        if language == Language::Rust || language.is_script() && body.kind() != "statement_block" {
            self.tail_of(body, &mut Vec::new());
        }
    }

    fn tail_of(&mut self, node: Node<'_>, guard: &mut Guard) {
        let node = if node.kind() == "expression_statement" {
            // With a semicolon it is a statement and returns nothing.
            if one_line(node, self.text).ends_with(';') {
                return;
            }
            node.named_child(0).unwrap_or(node)
        } else {
            node
        };
        match node.kind() {
            "let_declaration" | "macro_invocation" | "return_expression" | "while_expression"
            | "for_expression" | "loop_expression" | "match_expression" | "function_item"
            | "use_declaration" | "line_comment" => {}
            "block" | "else_clause" => {
                let depth = guard.len();
                if let Some((last, before)) = named_children(node).split_last() {
                    for one in before {
                        guard.extend(self.behind(*one));
                    }
                    self.tail_of(*last, guard);
                }
                guard.truncate(depth);
            }
            "if_expression" => {
                let Some(text) = self.condition_of(node) else { return };
                for (name, holds) in [("consequence", true), ("alternative", false)] {
                    if let Some(part) = node.child_by_field_name(name) {
                        guard.push(Condition::Source { text: text.clone(), holds });
                        self.tail_of(part, guard);
                        guard.pop();
                    }
                }
            }
            _ => self.result(node, guard),
        }
    }

    fn comparison(&mut self, node: Node<'_>) {
        let field = |name: &str| node.child_by_field_name(name);
        let (left, operator, right) = match (field("left"), field("operator"), field("right")) {
            (Some(left), Some(operator), Some(right)) => (left, operator, right),
            _ if node.kind() == "comparison_operator" && node.child_count() == 3 => {
                let list = children(node);
                let [left, operator, right] = list.as_slice() else { return };
                (*left, *operator, *right)
            }
            _ => return,
        };
        let operator = one_line(operator, self.text);
        let plain = match operator.as_str() {
            "===" => "==",
            "!==" => "!=",
            "<" | "<=" | ">" | ">=" | "==" | "!=" => operator.as_str(),
            _ => return,
        };
        let (left_text, right_text) = (one_line(left, self.text), one_line(right, self.text));
        let mirrored = match plain {
            "<" => ">",
            "<=" => ">=",
            ">" => "<",
            ">=" => "<=",
            same => same,
        };
        let (left, operator, right) = if is_number(&right_text) {
            (left_text, plain, right_text)
        } else if is_number(&left_text) {
            (right_text, mirrored, left_text)
        } else {
            return;
        };
        let operator = operator.to_owned();
        self.behaviour.boundaries.push(Boundary { line: line(node), left, operator, right });
    }

    fn handler(&mut self, node: Node<'_>) -> String {
        let catches = children(node)
            .into_iter()
            .find(|child| {
                child.is_named() && !matches!(child.kind(), "block" | "statement_block" | "comment")
            })
            .map(|child| one_line(child, self.text))
            .unwrap_or_default();
        let catches = catches.trim_matches(['(', ')']).to_owned();
        let is_block = |one: &Node<'_>| matches!(one.kind(), "block" | "statement_block");
        let block = children(node).into_iter().find(is_block);
        let mut statements = block.into_iter().flat_map(children).filter(Node::is_named);
        let first = statements.find(|one| one.kind() != "comment").unwrap_or(node);
        let handler = Handler { line: line(node), body: line(first), catches: catches.clone() };
        self.behaviour.handlers.push(handler);
        catches
    }

    fn call(&mut self, node: Node<'_>, guard: &Guard) {
        let callee = match (first_field(node, CALLEE), node.kind()) {
            (Some(callee), _) => one_line(callee, self.text),
            (None, "method_invocation") => {
                let part = |name: &str| field_line(node, name, self.text);
                format!("{}.{}", part("object"), part("name")).trim_start_matches('.').to_owned()
            }
            (None, _) => return,
        };
        if self.language == Language::Go && callee == "panic" {
            let message = first_text(node, self.text);
            self.note_raise(line(node), "panic".into(), message, guard);
        }
        if self.language == Language::Rust
            && (callee.ends_with(".unwrap") || callee.ends_with(".expect"))
        {
            let message = first_text(node, self.text);
            let given = callee.trim_end_matches(".expect").trim_end_matches(".unwrap");
            let mut guard = guard.clone();
            guard.push(Condition::Missing(given.to_owned()));
            self.note_raise(line(node), "panic".into(), message, &guard);
        }
        self.behaviour.calls.push((line(node), callee));
    }

    fn macro_call(&mut self, node: Node<'_>, guard: &Guard) {
        let name = field_line(node, "macro", self.text);
        let tokens = children(node).into_iter().find(|child| child.kind() == "token_tree");
        let tokens = tokens.map(|tokens| one_line(tokens, self.text)).unwrap_or_default();
        let given = parts(&tokens);
        let part = |at: usize| given.get(at).copied().unwrap_or_default();
        let broken = match name.as_str() {
            "panic" | "bail" => None,
            "assert" => Some(Condition::denied(part(0).to_owned())),
            "assert_eq" | "assert_ne" => {
                let operator = if name == "assert_eq" { "!=" } else { "==" };
                let text = format!("{} {operator} {}", part(0), part(1));
                Some(Condition::holding(text))
            }
            _ => return self.behaviour.calls.push((line(node), format!("{name}!"))),
        };
        let class = if name == "bail" { "Err" } else { "panic" };
        let guard: Guard = guard.iter().cloned().chain(broken).collect();
        self.note_raise(line(node), class.into(), first_text(node, self.text), &guard);
        self.behaviour.calls.push((line(node), format!("{name}!")));
    }

    fn assignment(&mut self, node: Node<'_>) {
        let left = first_field(node, &["left", "argument"]).or_else(|| node.named_child(0));
        let Some(left) = left else { return };
        let target = one_line(left, self.text);
        let own = ["self.", "this."].iter().find_map(|own| target.strip_prefix(own));
        let by_receiver = self.receiver.as_ref().and_then(|name| {
            target.strip_prefix(name.as_str()).and_then(|rest| rest.strip_prefix('.'))
        });
        if let Some(field) = own.or(by_receiver) {
            let field: String =
                field.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if !field.is_empty() && self.behaviour.changes.iter().all(|(_, known)| *known != field)
            {
                self.behaviour.changes.push((line(node), field));
            }
        }
    }
}

/// Fields that hold the callee or the class.
const CALLEE: &[&str] = &["function", "constructor", "type"];

/// A branch or the condition of an `if`; Python's conditional expression has no named fields.
fn part_of<'t>(node: Node<'t>, part: &str) -> Option<Node<'t>> {
    match (node.kind(), part) {
        ("conditional_expression", "consequence") => node.named_child(0),
        ("conditional_expression", "condition") => node.named_child(1),
        ("conditional_expression", _) => node.named_child(2),
        _ => node.child_by_field_name(part),
    }
}

/// The arguments of a macro, split at top-level commas, as written in the source.
fn parts(tokens: &str) -> Vec<&str> {
    let inside = tokens.get(1..tokens.len().saturating_sub(1)).unwrap_or_default();
    let (mut depth, mut quoted) = (0_i32, false);
    inside
        .split(|c: char| {
            quoted ^= c == '"';
            depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
            c == ',' && depth == 0 && !quoted
        })
        .map(str::trim)
        .collect()
}

/// Whether a Go return value is an error: `return …, errors.New("x")` and similar.
fn is_go_error(value: Node<'_>, text: &str) -> bool {
    let last = match value.kind() {
        "expression_list" => named_children(value).last().copied(),
        _ => Some(value),
    };
    let errors = ["errors.New(", "fmt.Errorf(", "Err"];
    last.is_some_and(|last| errors.iter().any(|one| one_line(last, text).starts_with(one)))
}

fn is_number(text: &str) -> bool {
    let digits = text.trim_start_matches('-').replace('_', "");
    digits.starts_with(|c: char| c.is_ascii_digit()) && digits.parse::<f64>().is_ok()
}
