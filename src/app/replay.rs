//! Decide a session again from its files.

use std::path::Path;

use crate::adapter::host::files;
use crate::adapter::store::file_path;
use crate::cycle::{self, Machine, Replayed, Transition};
use crate::domain::fix_loop::FixLoop;
use crate::domain::id::SessionId;
use crate::domain::integration::Integration;
use crate::domain::test_plan::pipeline::Pipeline;

use super::session::{FoundSession, find};
use super::{AppError, SessionSelection};

/// Bytes of a session file that are read at most.
const LIMIT: u64 = 4 << 30;

/// What a session would decide now.
#[derive(Debug)]
pub struct ReplayOutcome {
    pub session: SessionId,
    pub replayed: Replayed,
}

/// Decides a session again, by its stored transitions.
pub fn replay(selection: &SessionSelection) -> Result<ReplayOutcome, AppError> {
    let FoundSession { id, folder, .. } = find(selection)?;
    let mut replayed = Replayed::default();
    // A session that writes tests has a machine for that, and a fix loop once the tests are written.
    let planned = file_path(&folder, Pipeline::STATE_FILE).exists()
        && file_path(&folder, Pipeline::TRANSITIONS).exists();
    if planned {
        replayed.extend(machine::<Pipeline>(&folder, &id)?);
    }
    if id.is_integration() {
        replayed.extend(machine::<Integration>(&folder, &id)?);
    }
    if !(planned || id.is_integration()) || file_path(&folder, FixLoop::STATE_FILE).exists() {
        replayed.extend(machine::<FixLoop>(&folder, &id)?);
    }
    Ok(ReplayOutcome { session: id, replayed })
}

/// Decides one machine of a session again.
fn machine<M: Machine>(folder: &Path, id: &SessionId) -> Result<Replayed, AppError> {
    let state = file_path(folder, M::STATE_FILE);
    let last: M = serde_json::from_str(&text(&state)?)
        .map_err(|error| broken(&state, error.line(), &error))?;
    let path = file_path(folder, M::TRANSITIONS);
    let transitions: Vec<Transition<M>> = text(&path)?
        .lines()
        .zip(1..)
        .map(|(line, number)| {
            serde_json::from_str(line).map_err(|error| broken(&path, number, &error))
        })
        .collect::<Result<_, _>>()?;
    cycle::replay(&transitions, &last).map_err(|reason| {
        AppError::environment(
            format!("session {id} cannot be replayed: {reason}"),
            "read its report instead: `regreen report`",
        )
    })
}

fn text(path: &Path) -> Result<String, AppError> {
    let no =
        |what: String| AppError::usage(what, "replay a session that this version of regreen ran");
    let bytes = files::read(path, LIMIT)
        .map_err(|error| no(format!("{}: {error}", path.display())))?
        .ok_or_else(|| no(format!("{} is not there", path.display())))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn broken(path: &Path, line: usize, error: &serde_json::Error) -> AppError {
    AppError::environment(
        format!("{}:{line}: {error}", path.display()),
        "the file was changed or written by another version; read the report instead",
    )
}
