//! Reads the imports of source files, resolves them to files of the repository, and builds the
//! import graph.

mod graph;
mod read;
mod resolve;

pub use graph::Graph;
pub use read::{Import, ImportKind, read, read_nodes};
pub use resolve::{Index, join, local_module, python_base, script_candidates, submodule};
