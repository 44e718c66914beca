//! [`NodeKind`]: a classification of syntax nodes that is the same for every grammar.

use tree_sitter::Node;

use crate::code::tree::named_children;

/// The kind of a syntax node, independent of the grammar's own names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeKind {
    Number,
    Text,
    /// A literal of one character, in languages that have such a type.
    Character,
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
        Self::of_literal(node)
            .or_else(|| Self::of_operation(node))
            .or_else(|| Self::of_statement(node))
            .or_else(|| Self::of_composite(node))
            .unwrap_or(Self::Other)
    }

    fn of_literal(node: Node<'_>) -> Option<Self> {
        Some(match node.kind() {
            "integer"
            | "float"
            | "number"
            | "int_literal"
            | "integer_literal"
            | "decimal_integer_literal"
            | "float_literal"
            | "decimal_floating_point_literal" => Self::Number,
            "string"
            | "template_string"
            | "concatenated_string"
            | "interpreted_string_literal"
            | "raw_string_literal"
            | "string_literal" => Self::Text,
            "rune_literal" | "char_literal" | "character_literal" => Self::Character,
            "true" | "false" | "boolean_literal" => Self::Truth,
            "none" | "null" | "undefined" | "nil" | "null_literal" => Self::Nothing,
            _ => return None,
        })
    }

    fn of_operation(node: Node<'_>) -> Option<Self> {
        Some(match node.kind() {
            "identifier" if is_member_name(node) => Self::Property,
            "identifier" | "this" | "self" | "shorthand_property_identifier" => Self::Name,
            "property_identifier" | "field_identifier" => Self::Property,
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
            "unary_expression" if is_pointer_operation(node) => Self::OtherExpression,
            "unary_operator" | "unary_expression" => Self::Sign,
            "call" | "call_expression" | "new_expression" | "method_invocation" => Self::Call,
            "argument_list" | "arguments" => Self::Arguments,
            "subscript"
            | "subscript_expression"
            | "index_expression"
            | "slice_expression"
            | "array_access" => Self::Subscript,
            "slice" | "range_expression" => Self::Slice,
            "attribute"
            | "member_expression"
            | "selector_expression"
            | "field_expression"
            | "field_access" => Self::Member,
            _ => return None,
        })
    }

    fn of_statement(node: Node<'_>) -> Option<Self> {
        Some(match node.kind() {
            "return_statement" | "return_expression" => Self::Return,
            "assignment_expression" | "assignment_statement" if is_augmented(node) => Self::Augment,
            "assignment"
            | "assignment_expression"
            | "assignment_statement"
            | "short_var_declaration"
            | "let_declaration"
            | "const_item"
            | "static_item"
            | "const_spec"
            | "variable_declarator" => Self::Assign,
            "augmented_assignment"
            | "augmented_assignment_expression"
            | "compound_assignment_expr" => Self::Augment,
            "update_expression" | "inc_statement" | "dec_statement" => Self::Update,
            "if_statement" | "elif_clause" | "if_clause" | "if_expression" => Self::If,
            "while_statement" | "do_statement" | "while_expression" => Self::While,
            "for_statement"
            | "for_in_statement"
            | "for_in_clause"
            | "for_expression"
            | "enhanced_for_statement"
            | "for_clause"
            | "range_clause" => Self::For,
            "block" if has_statement_list(node) => Self::Other,
            "block"
            | "statement_block"
            | "module"
            | "program"
            | "statement_list"
            | "switch_block_statement_group" => Self::Block,
            _ => return None,
        })
    }

    fn of_composite(node: Node<'_>) -> Option<Self> {
        Some(match node.kind() {
            "conditional_expression" | "ternary_expression" => Self::Choice,
            "expression_list" if node.named_child_count() == 1 => Self::Other,
            "tuple" | "list" | "expression_list" | "pattern_list" | "array" | "array_pattern"
            | "set" | "tuple_pattern" | "array_expression" | "tuple_expression"
            | "array_initializer" => Self::Sequence,
            "await" | "await_expression" => Self::Await,
            "parenthesized_expression"
            | "dictionary"
            | "list_comprehension"
            | "generator_expression"
            | "set_comprehension"
            | "dictionary_comprehension"
            | "lambda"
            | "object"
            | "arrow_function"
            | "composite_literal"
            | "func_literal"
            | "object_creation_expression"
            | "lambda_expression"
            | "closure_expression"
            | "reference_expression"
            | "try_expression"
            | "type_cast_expression"
            | "cast_expression"
            | "scoped_identifier"
            | "macro_invocation" => Self::OtherExpression,
            _ => return None,
        })
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
    let first = || node.child(0).filter(|token| !token.is_named());
    node.child_by_field_name("operator")
        .or_else(|| {
            let mut cursor = node.walk();
            node.children_by_field_name("operators", &mut cursor).next()
        })
        .or_else(|| first().filter(|_| node.kind() == "unary_expression"))
}

/// Whether an identifier stands after a dot, in grammars that give such names no kind of their own.
fn is_member_name(node: Node<'_>) -> bool {
    let Some(parent) = node.parent() else { return false };
    let is = |field: &str| parent.child_by_field_name(field) == Some(node);
    match parent.kind() {
        "field_access" => is("field"),
        "method_invocation" => is("name") && parent.child_by_field_name("object").is_some(),
        "scoped_identifier" => is("name"),
        _ => false,
    }
}

/// Whether a unary operation takes an address, follows a pointer or receives from a channel.
fn is_pointer_operation(node: Node<'_>) -> bool {
    operator_token(node).is_some_and(|token| matches!(token.kind(), "&" | "*" | "<-"))
}

fn is_augmented(node: Node<'_>) -> bool {
    operator_token(node).is_some_and(|token| token.kind() != "=")
}

fn has_statement_list(block: Node<'_>) -> bool {
    named_children(block).iter().any(|child| child.kind() == "statement_list")
}

/// Whether a node is a function or method.
pub fn is_function(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "function_definition"
            | "function_declaration"
            | "function_item"
            | "method_declaration"
            | "constructor_declaration"
            | "method_definition"
            | "arrow_function"
            | "function_expression"
            | "generator_function_declaration"
    )
}
