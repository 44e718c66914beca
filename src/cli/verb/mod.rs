//! One file per verb.

pub mod config;
pub mod demo;
pub mod doctor;
pub mod fix;
pub mod pin;
pub mod plan;
pub mod providers;
pub mod replay;
pub mod report;
pub mod score;
pub mod session;
mod settings;
pub mod status;
mod subject;
pub mod validate;
mod work;

use std::path::Path;

use crate::adapter::store;
use crate::cli::failure::Failure;
use crate::domain::id::SessionId;

/// The session that is named, else the newest below this state root.
fn named(session: Option<&str>, root: &Path) -> Result<SessionId, Failure> {
    match session {
        Some(text) => SessionId::parse(text).map_err(|error| {
            Failure::usage(error.to_string(), "`regreen session list` names the sessions")
        }),
        None => store::newest(root)?.ok_or_else(|| {
            Failure::usage("there is no session here", "start one with `regreen fix`")
        }),
    }
}
