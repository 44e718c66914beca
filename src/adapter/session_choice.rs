//! Finds the session that a request means: a new one, one of this machine, or one that only its
//! branch holds.

use std::path::Path;

use crate::domain::fix_loop::FixLoop;
use crate::domain::id::{SessionId, slug};
use crate::domain::request::{FixSettings, Mode};
use crate::domain::session::files::{LOOP, PIPELINE, RECORD};
use crate::domain::session::{
    SessionChoice, SessionRecord, SessionStatus, free_id, is_stopped_on, newest_resumable, refusal,
};
use crate::effect::{Clock, EffectError, Store, StoreError};

use super::host::clock::HostClock;
use super::open_error::OpenError;
use super::opening::{MAX_ITERATIONS, new_record};
use super::repo::{self, RepositoryFacts};
use super::store::{self, STATE_FOLDER, SessionStore};

/// The result of a session that never got anywhere; its id is free again.
pub const ABANDONED: &str = "error";

/// Files of a session that this machine does not have yet.
pub type Restored = Option<repo::SessionFiles>;

/// The session that a request means, with its files when they are only on its branch.
pub fn choose(
    request: &FixSettings,
    facts: &RepositoryFacts,
    root: &Path,
    clock: &HostClock,
    notices: &mut Vec<String>,
) -> Result<(SessionRecord, Restored), OpenError> {
    let limit = request.max_iterations;
    match &request.session {
        SessionChoice::Resume { session: id } => {
            let (mut record, restored) = load(facts, root, id)?;
            if let Some(reason) = refusal(&record, limit) {
                return Err(OpenError::Resume { session: id.to_string(), reason });
            }
            reopen(&mut record, limit, clock);
            Ok((record, restored))
        }
        SessionChoice::Newest => {
            let mut why = String::from("none can be resumed");
            let (mut records, mut restored) = (Vec::new(), Vec::new());
            for id in store::active(root)? {
                match load(facts, root, &id) {
                    Ok((record, files)) => {
                        records.push(record);
                        restored.push(files);
                    }
                    Err(error) => why = format!("{id}: {error}"),
                }
            }
            match newest_resumable(&records, &facts.head, limit) {
                Ok(index) => {
                    let mut record = records.swap_remove(index);
                    reopen(&mut record, limit, clock);
                    Ok((record, restored.swap_remove(index)))
                }
                Err(last) => {
                    if let Some((index, reason)) = last
                        && let Some(record) = records.get(index)
                    {
                        why = format!("{}: {reason}", record.session_id);
                    }
                    Err(OpenError::Resume { session: "(newest)".into(), reason: why })
                }
            }
        }
        SessionChoice::New { name } => {
            for id in store::active(root)? {
                let Ok((record, _)) = load(facts, root, &id) else { continue };
                if !is_stopped_on(&record, &facts.head) {
                    continue;
                }
                // A running session on the same commit would do the same work twice.
                drop(SessionStore::open(root, &id)?);
                notices.push(format!("session {id} was stopped on this commit; `regreen fix --resume {id}` resumes it"));
                break;
            }
            Ok((begin(request, name.as_ref(), facts, root, clock), None))
        }
    }
}

fn reopen(record: &mut SessionRecord, limit: Option<u32>, clock: &HostClock) {
    record.status = SessionStatus::Active;
    record.resumed_at = Some(clock.now());
    record.completed_at = None;
    record.result = None;
    if let Some(limit) = limit {
        record.max_iterations = limit;
    }
}

/// Puts the state of the branch's tip in the place of one that is missing or cannot be read
/// (specification.md 8.13.4). Without such a commit the session begins again with its baseline.
pub async fn repair_state(
    store: &SessionStore,
    facts: &RepositoryFacts,
    record: &SessionRecord,
    notices: &mut Vec<String>,
) -> Result<(), OpenError> {
    let fault = match store.read_json(LOOP).await {
        Ok(Some(value)) if serde_json::from_value::<FixLoop>(value.clone()).is_ok() => {
            return Ok(());
        }
        Ok(Some(_)) | Err(StoreError::Corrupt { .. }) => "cannot be read",
        // The loop of a session that writes tests has not begun.
        Ok(None) if store.read_json(PIPELINE).await?.is_some() => return Ok(()),
        Ok(None) => "is missing",
        Err(error) => return Err(error.into()),
    };
    let path = store.folder().join(LOOP);
    let branch = &record.git.branch;
    let files = repo::read_session(facts, branch, STATE_FOLDER, &record.session_id)?;
    let committed = files.iter().flatten().find(|(name, bytes)| {
        let state = || serde_json::from_slice::<FixLoop>(bytes);
        name == LOOP && state().is_ok_and(|state| state.head == record.git.head_sha)
    });
    if let Some(file) = committed {
        store.restore(std::slice::from_ref(file))?;
        repo::recover_trees(facts, branch, &record.git.head_sha, STATE_FOLDER)?;
        notices.push(format!(
            "{} {fault}; the state of the last commit of {branch} takes its place",
            path.display()
        ));
    } else if fault == "is missing" {
        notices.push(format!("{} {fault}; starting from the baseline", path.display()));
    }
    Ok(())
}

/// Reads a session's record from disk, else from its branch.
fn load(
    facts: &RepositoryFacts,
    root: &Path,
    id: &SessionId,
) -> Result<(SessionRecord, Restored), OpenError> {
    if let Some(record) = store::read_record(&store::session_folder(root, id))? {
        return Ok((record, None));
    }
    if let Ok((_, true)) = store::find(root, id) {
        return Err(StoreError::Archived { session: id.to_string() }.into());
    }
    let branch = id.branch();
    if let Some(files) = repo::read_session(facts, &branch, STATE_FOLDER, id)?
        && let Some((_, bytes)) = files.iter().find(|(name, _)| name == RECORD)
    {
        let record = store::parse_record(Path::new(&branch), bytes)?;
        return Ok((record, Some(files)));
    }
    let known = store::active(root)?.iter().map(ToString::to_string).collect();
    Err(StoreError::Missing { session: id.to_string(), known }.into())
}

fn begin(
    request: &FixSettings,
    session: Option<&SessionId>,
    facts: &RepositoryFacts,
    root: &Path,
    clock: &HostClock,
) -> SessionRecord {
    let name = facts.branch.clone().unwrap_or_else(|| facts.head.short().to_owned());
    let base = match session {
        Some(session) => session.to_string(),
        None => format!("WFS-test-{}", slug(&name)),
    };
    let free = |id: &SessionId| {
        let unused = match load(facts, root, id) {
            Ok((record, _)) => record.result.as_deref() == Some(ABANDONED),
            // A folder without a record is what a kill left of a session that never began.
            Err(OpenError::Effect(EffectError::Store(StoreError::Missing { .. }))) => true,
            Err(_) => false,
        };
        unused && (request.branch.is_some() || !repo::has_branch(facts, &id.branch()))
    };
    let session_id = free_id(&base, free);
    // Nothing of value is in it, see above.
    drop(store::forget(root, &session_id));
    let mode = match request.mode {
        Mode::Apply => "apply",
        Mode::Suggest => "suggest",
        Mode::DryRun => "dry-run",
    };
    let mut record = new_record(&session_id, facts, clock.now());
    record.description = format!("Bring the tests of {name} back to green");
    record.max_iterations = request.max_iterations.unwrap_or(MAX_ITERATIONS);
    mode.clone_into(&mut record.mode);
    if let Some(branch) = &request.branch {
        record.git.branch.clone_from(branch);
    }
    record
}
