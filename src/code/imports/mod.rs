//! Imports: what a file asks for, which files of the repository that means, and which files depend
//! on which.

mod graph;
mod read;
mod resolve;

pub use graph::Graph;
pub use read::{Import, ImportKind, read, read_nodes};
pub use resolve::{join, local_module, python_base, script_candidates, submodule};
