//! The tests of a source file: found once, in its syntax tree, for whoever counts, edits or lints
//! them.

mod edit;
mod facts;
mod find;

pub use edit::{SourceTest, source_tests, with_tests_reversed, without};
pub use facts::facts;
pub use find::{Skip, TestNode, find_tests};
