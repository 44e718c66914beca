//! What keeps the contract of `effect` in the real world; the one file that names every adapter.

pub mod github;
pub mod host;
pub mod model;
pub mod models;
mod open_error;
mod opening;
mod paths;
mod plan_workspace;
pub mod repo;
mod session_choice;
mod session_effects;
pub mod store;
pub mod suite;
mod test_code;
mod workspace;

pub use open_error::OpenError;
pub use opening::{MAX_ITERATIONS, resume_archiving};
pub use paths::{state_root, work_home, work_root};
pub use plan_workspace::{PlanRequest, PlanWorkspace};
pub use test_code::{launched, protection};
pub use workspace::Workspace;
