//! What the body of a function decides, raises, gives and changes.

use tree_sitter::Node;

use super::kinds::{self, Kind};
use super::walk::{callable, children, first_text, line, said};
use super::{Behaviour, Boundary, Condition, Guard, Handler, Raise, Return};
use crate::code::language::Language;

/// A walk through one body.
pub(super) struct Walk<'a> {
    pub(super) language: Language,
    pub(super) text: &'a str,
    pub(super) told: &'a mut Behaviour,
    pub(super) receiver: Option<String>,
}

impl Walk<'_> {
    /// Notes what is below a node.
    pub(super) fn visit(&mut self, node: Node<'_>, guard: &mut Guard) {
        let mut kind = kinds::of(self.language, node.kind());
        // A variable or property is a function only when it holds one.
        if kind == Kind::Function && callable(node).is_none() {
            kind = Kind::Other;
        }
        match kind {
            Kind::If | Kind::Ternary => return self.choice(node, guard),
            Kind::Loop => {
                self.told.decisions += 1;
                self.over(node);
            }
            Kind::Case => self.told.decisions += 1,
            Kind::Raise => self.raise(node, guard),
            Kind::Return => self.give(node, guard),
            Kind::Comparison => self.comparison(node),
            Kind::Handler => {
                let catches = self.handler(node);
                guard.push(Condition { text: format!("caught {catches}"), holds: true });
                for child in children(node) {
                    self.visit(child, guard);
                }
                guard.pop();
                return;
            }
            Kind::Call => self.call(node, guard),
            Kind::Macro => self.macro_call(node, guard),
            Kind::Assignment => self.assignment(node),
            Kind::Function | Kind::Group | Kind::Other => {}
        }
        let mut added = 0;
        for child in children(node) {
            self.visit(child, guard);
            // What follows an `if` that leaves holds only without its condition.
            if let Some(condition) = self.leaving(child) {
                guard.push(Condition { text: condition, holds: false });
                added += 1;
            }
        }
        guard.truncate(guard.len() - added);
    }

    /// The condition of an `if` without an else whose body always leaves.
    fn leaving(&self, node: Node<'_>) -> Option<String> {
        let inner = if node.kind() == "expression_statement" { node.named_child(0)? } else { node };
        if kinds::of(self.language, inner.kind()) != Kind::If
            || inner.child_by_field_name("alternative").is_some()
        {
            return None;
        }
        let body = inner.child_by_field_name("consequence")?;
        let mut last = body;
        if matches!(body.kind(), "block" | "statement_block" | "statement_list") {
            let mut cursor = body.walk();
            last = body.named_children(&mut cursor).last()?;
        }
        while matches!(last.kind(), "expression_statement" | "statement_list") {
            let mut cursor = last.walk();
            last = last.named_children(&mut cursor).last()?;
        }
        let leaves = matches!(kinds::of(self.language, last.kind()), Kind::Raise | Kind::Return)
            || matches!(
                last.kind(),
                "continue_statement"
                    | "break_statement"
                    | "continue_expression"
                    | "break_expression"
            );
        leaves.then(|| self.condition_of(inner)).flatten()
    }

    fn condition_of(&self, node: Node<'_>) -> Option<String> {
        let condition = if node.kind() == "conditional_expression" {
            node.named_child(1)
        } else {
            node.child_by_field_name("condition")
        };
        Some(said(condition?, self.text))
    }

    /// An `if` or a ternary: its parts are visited with what must hold for them.
    fn choice(&mut self, node: Node<'_>, guard: &mut Guard) {
        self.told.decisions += 1;
        let condition = self.condition_of(node);
        let consequence = if node.kind() == "conditional_expression" {
            node.named_child(0)
        } else {
            node.child_by_field_name("consequence")
        };
        for child in children(node) {
            let Some(text) = &condition else {
                self.visit(child, guard);
                continue;
            };
            let is_consequence = Some(child.id()) == consequence.map(|node| node.id());
            let is_condition = said(child, self.text) == *text;
            if is_condition && !is_consequence {
                self.visit(child, guard);
                continue;
            }
            guard.push(Condition { text: text.clone(), holds: is_consequence });
            self.visit(child, guard);
            guard.pop();
        }
    }

    /// What a loop goes over.
    fn over(&mut self, node: Node<'_>) {
        let range = children(node).into_iter().find(|child| child.kind() == "range_clause");
        let over = node
            .child_by_field_name("right")
            .or_else(|| node.child_by_field_name("value"))
            .or_else(|| range.and_then(|range| range.child_by_field_name("right")));
        if let Some(over) = over {
            self.told.loops.push((line(node), said(over, self.text)));
        }
    }

    fn raise(&mut self, node: Node<'_>, guard: &Guard) {
        let Some(value) = node.named_child(0) else {
            return self.note_raise(line(node), "what was caught".into(), None, guard);
        };
        let class = value
            .child_by_field_name("function")
            .or_else(|| value.child_by_field_name("constructor"))
            .or_else(|| value.child_by_field_name("type"))
            .unwrap_or(value);
        let class = said(class, self.text);
        let message = first_text(value, self.text);
        self.note_raise(line(node), class, message, guard);
    }

    fn note_raise(&mut self, line: u32, class: String, message: Option<String>, guard: &Guard) {
        self.told.raises.push(Raise { line, class, message, guard: guard.clone() });
    }

    fn give(&mut self, node: Node<'_>, guard: &Guard) {
        let Some(value) = node.named_child(0) else { return };
        self.result(value, guard);
    }

    /// The value a function ends with: a result, or an error as a value.
    fn result(&mut self, value: Node<'_>, guard: &Guard) {
        let shown = said(value, self.text);
        match self.language {
            Language::Rust if shown.starts_with("Err(") => {
                let inner = shown.trim_start_matches("Err(").trim_end_matches(')');
                let class: String =
                    inner.split(['{', '(', ' ', '"']).next().unwrap_or_default().to_owned();
                let class =
                    if class.is_empty() { "Err".to_owned() } else { format!("Err({class})") };
                self.note_raise(line(value), class, first_text(value, self.text), guard);
            }
            Language::Go if is_go_error(value, self.text) => {
                self.note_raise(
                    line(value),
                    "an error".into(),
                    first_text(value, self.text),
                    guard,
                );
            }
            _ => {
                // A choice is told by its parts.
                if kinds::of(self.language, value.kind()) == Kind::Ternary {
                    return self.ternary_results(value, guard);
                }
                let (line, guard) = (line(value), guard.clone());
                self.told.returns.push(Return { line, value: shown, guard });
            }
        }
    }

    fn ternary_results(&mut self, node: Node<'_>, guard: &Guard) {
        let python = node.kind() == "conditional_expression";
        let part = |name: &str, index: usize| {
            if python {
                node.named_child(u32::try_from(index).unwrap_or(0) as _)
            } else {
                node.child_by_field_name(name)
            }
        };
        let Some(text) = self.condition_of(node) else { return };
        for (value, holds) in [(part("consequence", 0), true), (part("alternative", 2), false)] {
            let mut inner = guard.clone();
            inner.push(Condition { text: text.clone(), holds });
            if let Some(value) = value {
                self.result(value, &inner);
            }
        }
    }

    /// The last expression of a body gives a result in Rust; an arrow function may be one.
    pub(super) fn tail(&mut self, body: Node<'_>) {
        let own = match self.language {
            Language::Rust => {
                let mut cursor = body.walk();
                body.named_children(&mut cursor).last()
            }
            Language::JavaScript | Language::TypeScript | Language::Tsx
                if body.kind() != "statement_block" =>
            {
                Some(body)
            }
            _ => None,
        };
        let Some(last) = own else { return };
        let mut guard: Guard = Vec::new();
        self.tail_of(last, &mut guard);
    }

    fn tail_of(&mut self, node: Node<'_>, guard: &mut Guard) {
        let node = if node.kind() == "expression_statement" {
            // With a semicolon it gives nothing.
            if said(node, self.text).ends_with(';') {
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
                let mut cursor = node.walk();
                if let Some(last) = node.named_children(&mut cursor).last() {
                    self.tail_of(last, guard);
                }
            }
            "if_expression" => {
                let Some(text) = self.condition_of(node) else { return };
                for (name, holds) in [("consequence", true), ("alternative", false)] {
                    if let Some(part) = node.child_by_field_name(name) {
                        guard.push(Condition { text: text.clone(), holds });
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
        let operator = said(operator, self.text);
        let plain = match operator.as_str() {
            "===" => "==",
            "!==" => "!=",
            "<" | "<=" | ">" | ">=" | "==" | "!=" => operator.as_str(),
            _ => return,
        };
        let (left_text, right_text) = (said(left, self.text), said(right, self.text));
        let turned = match plain {
            "<" => ">",
            "<=" => ">=",
            ">" => "<",
            ">=" => "<=",
            same => same,
        };
        let (left, operator, right) = if is_number(&right_text) {
            (left_text, plain, right_text)
        } else if is_number(&left_text) {
            (right_text, turned, left_text)
        } else {
            return;
        };
        let operator = operator.to_owned();
        self.told.boundaries.push(Boundary { line: line(node), left, operator, right });
    }

    fn handler(&mut self, node: Node<'_>) -> String {
        let catches = children(node)
            .into_iter()
            .find(|child| {
                child.is_named() && !matches!(child.kind(), "block" | "statement_block" | "comment")
            })
            .map(|child| said(child, self.text))
            .unwrap_or_default();
        let catches = catches.trim_matches(['(', ')']).to_owned();
        self.told.handlers.push(Handler { line: line(node), catches: catches.clone() });
        catches
    }

    fn call(&mut self, node: Node<'_>, guard: &Guard) {
        let callee = node
            .child_by_field_name("function")
            .or_else(|| node.child_by_field_name("constructor"))
            .or_else(|| node.child_by_field_name("type"));
        let callee = match (callee, node.kind()) {
            (Some(callee), _) => said(callee, self.text),
            (None, "method_invocation") => {
                let part = |name: &str| {
                    node.child_by_field_name(name).map(|n| said(n, self.text)).unwrap_or_default()
                };
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
            self.note_raise(line(node), "panic".into(), message, guard);
        }
        self.told.calls.push((line(node), callee));
    }

    fn macro_call(&mut self, node: Node<'_>, guard: &Guard) {
        let name =
            node.child_by_field_name("macro").map(|n| said(n, self.text)).unwrap_or_default();
        if matches!(name.as_str(), "panic" | "bail" | "unreachable" | "assert" | "assert_eq") {
            let class = if name == "bail" { "Err" } else { "panic" };
            self.note_raise(line(node), class.into(), first_text(node, self.text), guard);
        }
        self.told.calls.push((line(node), format!("{name}!")));
    }

    fn assignment(&mut self, node: Node<'_>) {
        let left = node
            .child_by_field_name("left")
            .or_else(|| node.child_by_field_name("argument"))
            .or_else(|| node.named_child(0));
        let Some(left) = left else { return };
        let target = said(left, self.text);
        let own = ["self.", "this."].iter().find_map(|own| target.strip_prefix(own));
        let by_receiver = self.receiver.as_ref().and_then(|name| {
            target.strip_prefix(name.as_str()).and_then(|rest| rest.strip_prefix('.'))
        });
        if let Some(field) = own.or(by_receiver) {
            let field: String =
                field.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if !field.is_empty() && self.told.changes.iter().all(|(_, known)| *known != field) {
                self.told.changes.push((line(node), field));
            }
        }
    }
}

/// `return …, errors.New("x")` and its kin.
fn is_go_error(value: Node<'_>, text: &str) -> bool {
    let mut cursor = value.walk();
    let last = if value.kind() == "expression_list" {
        value.named_children(&mut cursor).last()
    } else {
        Some(value)
    };
    last.is_some_and(|last| {
        let last = said(last, text);
        last.starts_with("errors.New(")
            || last.starts_with("fmt.Errorf(")
            || last.starts_with("Err")
    })
}

fn is_number(text: &str) -> bool {
    let digits = text.trim_start_matches('-').replace('_', "");
    digits.starts_with(|c: char| c.is_ascii_digit()) && digits.parse::<f64>().is_ok()
}
