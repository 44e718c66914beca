//! Adapters: implement the traits of `effect` for the real world. This file names all of them.

mod detection_notices;
pub mod github;
pub mod host;
pub mod model;
pub mod models;
mod open_error;
mod paths;
pub mod repo;
mod sandbox_entry;
mod session;
mod session_choice;
pub mod store;
pub mod suite;
mod useless_session;

pub use open_error::OpenError;
pub use paths::{clients_folder, state_root, work_home, work_root};
pub use sandbox_entry::{launched, protection};
pub use session::{PlanStart, Session, resume_archiving};
pub use session_choice::{PlanRequest, find_integration};
pub use useless_session::abandon_session;
