//! Edit operators over syntax trees, as data: each candidate is one replaced range with the
//! operator that made it. The same operators repair code and generate the mutants that measure
//! tests.

mod binary;
mod constant;
mod edit_site;
mod expression;
mod ingredients;
mod mutants;
mod name;
mod node_kind;
mod operator_id;
mod operators;
mod search;
mod spelling;
mod statement;
#[cfg(test)]
mod tests;
mod tokens;
mod value;

pub use edit_site::Candidate;
pub use mutants::{Depth, mutants};
pub use operator_id::OperatorId;
pub use search::candidates;
pub use spelling::spelling;
