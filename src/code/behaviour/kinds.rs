//! Names of the grammars' nodes, by what they mean here.

use crate::code::language::Language;

/// What a node means.
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

/// What a node means in its language.
pub fn of(language: Language, kind: &str) -> Kind {
    match language {
        Language::Python => python(kind),
        Language::JavaScript | Language::TypeScript | Language::Tsx => script(kind),
        Language::Rust => rust(kind),
        Language::Go => go(kind),
        Language::Java => java(kind),
    }
}

fn python(kind: &str) -> Kind {
    match kind {
        "function_definition" => Kind::Function,
        "class_definition" => Kind::Group,
        "if_statement" | "elif_clause" => Kind::If,
        "conditional_expression" => Kind::Ternary,
        "while_statement" | "for_statement" => Kind::Loop,
        "case_clause" => Kind::Case,
        "raise_statement" => Kind::Raise,
        "return_statement" | "yield" => Kind::Return,
        "comparison_operator" => Kind::Comparison,
        "except_clause" => Kind::Handler,
        "call" => Kind::Call,
        "assignment" | "augmented_assignment" => Kind::Assignment,
        _ => Kind::Other,
    }
}

fn script(kind: &str) -> Kind {
    match kind {
        "function_declaration"
        | "generator_function_declaration"
        | "method_definition"
        | "variable_declarator"
        | "pair" => Kind::Function,
        "class_declaration" | "class" => Kind::Group,
        "if_statement" => Kind::If,
        "ternary_expression" => Kind::Ternary,
        "while_statement" | "for_statement" | "for_in_statement" | "do_statement" => Kind::Loop,
        "switch_case" => Kind::Case,
        "throw_statement" => Kind::Raise,
        "return_statement" => Kind::Return,
        "binary_expression" => Kind::Comparison,
        "catch_clause" => Kind::Handler,
        "call_expression" | "new_expression" => Kind::Call,
        "assignment_expression" | "augmented_assignment_expression" | "update_expression" => {
            Kind::Assignment
        }
        _ => Kind::Other,
    }
}

fn rust(kind: &str) -> Kind {
    match kind {
        "function_item" => Kind::Function,
        "impl_item" | "mod_item" | "trait_item" => Kind::Group,
        "if_expression" => Kind::If,
        "while_expression" | "for_expression" | "loop_expression" => Kind::Loop,
        "match_arm" => Kind::Case,
        "return_expression" => Kind::Return,
        "binary_expression" => Kind::Comparison,
        "call_expression" => Kind::Call,
        "macro_invocation" => Kind::Macro,
        "assignment_expression" | "compound_assignment_expr" => Kind::Assignment,
        _ => Kind::Other,
    }
}

fn go(kind: &str) -> Kind {
    match kind {
        "function_declaration" | "method_declaration" => Kind::Function,
        "if_statement" => Kind::If,
        "for_statement" => Kind::Loop,
        "expression_case" | "type_case" | "communication_case" => Kind::Case,
        "return_statement" => Kind::Return,
        "binary_expression" => Kind::Comparison,
        "call_expression" => Kind::Call,
        "assignment_statement" | "inc_statement" | "dec_statement" => Kind::Assignment,
        _ => Kind::Other,
    }
}

fn java(kind: &str) -> Kind {
    match kind {
        "method_declaration" | "constructor_declaration" => Kind::Function,
        "class_declaration"
        | "enum_declaration"
        | "record_declaration"
        | "interface_declaration" => Kind::Group,
        "if_statement" => Kind::If,
        "ternary_expression" => Kind::Ternary,
        "while_statement" | "for_statement" | "enhanced_for_statement" | "do_statement" => {
            Kind::Loop
        }
        "switch_block_statement_group" | "switch_rule" => Kind::Case,
        "throw_statement" => Kind::Raise,
        "return_statement" => Kind::Return,
        "binary_expression" => Kind::Comparison,
        "catch_clause" => Kind::Handler,
        "method_invocation" | "object_creation_expression" => Kind::Call,
        "assignment_expression" | "update_expression" => Kind::Assignment,
        _ => Kind::Other,
    }
}
