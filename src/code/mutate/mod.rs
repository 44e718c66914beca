//! Edit operators over syntax trees. Each edit replaces one byte range and records its operator.
//! The same operators propose repairs and generate the mutants for measuring tests. A text that does
//! not parse has edits of its own.

mod binary;
mod constant;
mod edit_site;
mod expression;
mod ingredients;
mod insertion;
mod macro_arguments;
mod mutants;
mod name;
mod node_kind;
mod operator_id;
mod operators;
mod repeated_edit;
mod search;
mod spelling;
mod statement;
mod syntax_repair;
#[cfg(test)]
mod tests;
mod type_fit;
mod value;
mod value_types;

pub use edit_site::Candidate;
pub use macro_arguments::calls_of_own_macros;
pub use mutants::{Depth, mutants};
pub use node_kind::is_function;
pub use operator_id::OperatorId;
pub use search::{candidates, inline_test_lines, is_test_code};
pub use spelling::spelling;
pub use syntax_repair::syntax_repairs;
