//! The commands that are answered without a run.

pub mod apply;
pub mod extend;
pub mod fix_branch;
pub mod issues;
pub mod plan;
pub mod status;
pub mod validate;
