//! One file per verb.

pub mod config;
pub mod demo;
pub mod doctor;
pub mod fix;
pub mod pin;
pub mod plan;
pub mod replay;
pub mod report;
pub mod score;
pub mod session;
pub mod status;
pub mod validate;
pub mod work;

use std::path::Path;

use serde::Serialize;

use crate::adapter::store;
use crate::app::AppError;
use crate::domain::id::SessionId;

use super::failure::exit;

fn print_json(document: &impl Serialize) {
    println!("{}", serde_json::to_string_pretty(document).unwrap_or_default());
}

/// The exit code of a gate.
fn code_of(met: bool) -> u8 {
    if met { exit::MET } else { exit::NOT_MET }
}

/// The session that is named, else the newest below this state root.
fn named(session: Option<&str>, root: &Path) -> Result<SessionId, AppError> {
    match session {
        Some(text) => SessionId::parse(text).map_err(|error| {
            AppError::usage(error.to_string(), "`regreen session list` names the sessions")
        }),
        None => store::newest(root)?.ok_or_else(|| {
            AppError::usage("there is no session here", "start one with `regreen fix`")
        }),
    }
}
