//! The tests of a source file: found once, in its syntax tree, for all that count, edit or lint
//! them.

mod edit;
mod facts;
mod find;

pub use edit::{SourceTest, source_tests, with_tests_reversed, without};
pub use facts::facts;
pub use find::{Skip, TestNode, find_tests};
