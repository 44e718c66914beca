//! [`NodeKind`]: a classification of syntax nodes that is the same for every grammar.

use tree_sitter::Node;

/// The kind of a syntax node, independent of the grammar's own names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeKind {
    Number,
    Text,
    Truth,
    Nothing,
    /// A variable or function name.
    Name,
    /// A name after a dot.
    Property,
    /// Arithmetic and operations on bits.
    Arithmetic,
    Compare,
    Logic,
    Not,
    Sign,
    Call,
    /// The list in the parentheses of a call.
    Arguments,
    /// An element or slice: `a[b]`.
    Subscript,
    /// The bounds of a slice: `a:b:c` inside a subscript.
    Slice,
    /// Access to a property: `a.b`.
    Member,
    Return,
    Assign,
    /// An augmented assignment such as `+=`.
    Augment,
    /// An increment or decrement: `++` and `--`.
    Update,
    /// An `if` statement with its condition.
    If,
    /// A `while` loop with its condition.
    While,
    For,
    /// A conditional expression: `a if c else b`, `c ? a : b`.
    Choice,
    /// A list, tuple, set or array.
    Sequence,
    /// A list of statements.
    Block,
    Await,
    OtherExpression,
    Other,
}

impl NodeKind {
    /// The kind of a node.
    #[must_use]
    pub fn of(node: Node<'_>) -> Self {
        match node.kind() {
            "integer" | "float" | "number" => Self::Number,
            "string" | "template_string" | "concatenated_string" => Self::Text,
            "true" | "false" => Self::Truth,
            "none" | "null" | "undefined" => Self::Nothing,
            "identifier" | "this" | "shorthand_property_identifier" => Self::Name,
            "property_identifier" => Self::Property,
            "binary_operator" => Self::Arithmetic,
            "comparison_operator" => Self::Compare,
            "boolean_operator" => Self::Logic,
            "binary_expression" => match operator_token(node).map(|token| token.kind()) {
                Some("&&" | "||" | "??") => Self::Logic,
                Some(
                    "<" | "<=" | ">" | ">=" | "===" | "!==" | "==" | "!=" | "in" | "instanceof",
                ) => Self::Compare,
                _ => Self::Arithmetic,
            },
            "not_operator" => Self::Not,
            "unary_expression" if operator_token(node).is_some_and(|token| token.kind() == "!") => {
                Self::Not
            }
            "unary_operator" | "unary_expression" => Self::Sign,
            "call" | "call_expression" | "new_expression" => Self::Call,
            "argument_list" | "arguments" => Self::Arguments,
            "subscript" | "subscript_expression" => Self::Subscript,
            "slice" => Self::Slice,
            "attribute" | "member_expression" => Self::Member,
            "return_statement" => Self::Return,
            "assignment" | "assignment_expression" | "variable_declarator" => Self::Assign,
            "augmented_assignment" | "augmented_assignment_expression" => Self::Augment,
            "update_expression" => Self::Update,
            "if_statement" | "elif_clause" | "if_clause" => Self::If,
            "while_statement" | "do_statement" => Self::While,
            "for_statement" | "for_in_statement" | "for_in_clause" => Self::For,
            "conditional_expression" | "ternary_expression" => Self::Choice,
            "tuple" | "list" | "expression_list" | "pattern_list" | "array" | "array_pattern"
            | "set" | "tuple_pattern" => Self::Sequence,
            "block" | "statement_block" | "module" | "program" => Self::Block,
            "await" | "await_expression" => Self::Await,
            "parenthesized_expression"
            | "dictionary"
            | "list_comprehension"
            | "generator_expression"
            | "set_comprehension"
            | "dictionary_comprehension"
            | "lambda"
            | "object"
            | "arrow_function" => Self::OtherExpression,
            _ => Self::Other,
        }
    }

    /// Whether a node of this kind is a value, which any other value could replace.
    #[must_use]
    pub fn is_value(self) -> bool {
        use NodeKind::{
            Arguments, Assign, Augment, Block, For, If, Other, Property, Return, Slice, Update,
            While,
        };
        let others = [
            Arguments, Assign, Augment, Block, For, If, Other, Property, Return, Slice, Update,
            While,
        ];
        !others.contains(&self)
    }

    /// Whether a statement of this kind has a body that is executed conditionally.
    #[must_use]
    pub fn has_body(self) -> bool {
        matches!(self, Self::If | Self::For | Self::While)
    }
}

/// The operator token of a binary, unary or augmented-assignment node.
pub fn operator_token(node: Node<'_>) -> Option<Node<'_>> {
    node.child_by_field_name("operator").or_else(|| {
        let mut cursor = node.walk();
        node.children_by_field_name("operators", &mut cursor).next()
    })
}

/// Whether a node is a function or method.
pub fn is_function(node: Node<'_>) -> bool {
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
