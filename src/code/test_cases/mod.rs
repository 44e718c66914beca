//! The tests of a source file: how they are found in its syntax tree, counted, deleted and
//! reordered.

mod edit;
mod expectations;
mod facts;
mod find;
mod set_up;

pub use edit::{SourceTest, source_tests, with_tests_reversed, without};
pub use expectations::{Expectation, expectations};
pub use facts::facts;
pub use find::{Skip, TestNode, find_tests};
pub use set_up::raising_set_up;
