//! Maps the node names of all grammars to one [`Kind`]. No two grammars use the same name for
//! different constructs, so the language is not needed.

/// The meaning of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Function,
    Group,
    If,
    Ternary,
    Loop,
    Case,
    Raise,
    Return,
    Comparison,
    Handler,
    Call,
    Assignment,
    Macro,
    Other,
}

/// The meaning of a node, by the kind that its grammar gives it.
pub fn of(kind: &str) -> Kind {
    match kind {
        "function_definition"
        | "function_declaration"
        | "generator_function_declaration"
        | "method_definition"
        | "method_declaration"
        | "constructor_declaration"
        | "function_item"
        | "variable_declarator"
        | "pair" => Kind::Function,
        "class_definition"
        | "class_declaration"
        | "class"
        | "enum_declaration"
        | "record_declaration"
        | "interface_declaration"
        | "impl_item"
        | "mod_item"
        | "trait_item" => Kind::Group,
        "if_statement" | "elif_clause" | "if_expression" => Kind::If,
        "conditional_expression" | "ternary_expression" => Kind::Ternary,
        "while_statement"
        | "for_statement"
        | "for_in_statement"
        | "enhanced_for_statement"
        | "do_statement"
        | "while_expression"
        | "for_expression"
        | "loop_expression" => Kind::Loop,
        "case_clause"
        | "switch_case"
        | "match_arm"
        | "expression_case"
        | "type_case"
        | "communication_case"
        | "switch_block_statement_group"
        | "switch_rule" => Kind::Case,
        "raise_statement" | "throw_statement" => Kind::Raise,
        "return_statement" | "yield" | "return_expression" => Kind::Return,
        "comparison_operator" | "binary_expression" => Kind::Comparison,
        "except_clause" | "catch_clause" => Kind::Handler,
        "call"
        | "call_expression"
        | "new_expression"
        | "method_invocation"
        | "object_creation_expression" => Kind::Call,
        "assignment"
        | "augmented_assignment"
        | "assignment_expression"
        | "augmented_assignment_expression"
        | "compound_assignment_expr"
        | "assignment_statement"
        | "update_expression"
        | "inc_statement"
        | "dec_statement" => Kind::Assignment,
        "macro_invocation" => Kind::Macro,
        _ => Kind::Other,
    }
}
