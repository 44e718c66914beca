//! Which session a request means: a new one, one of this machine, or one that only its branch knows.

use std::path::Path;

use crate::domain::fix_loop::FixLoop;
use crate::domain::id::{SessionId, slug};
use crate::domain::request::{FixSettings, Mode};
use crate::domain::session::{SessionChoice, SessionGit, SessionRecord, SessionStatus, refusal};
use crate::effect::{Clock, EffectError, Store, StoreError};

use super::host::clock::HostClock;
use super::repo::{self, RepositoryFacts};
use super::store::{self, STATE_FOLDER, SessionStore};
use super::{ABANDONED, MAX_ITERATIONS, OpenError, RECORD, planning};

/// The loop's state inside the session folder.
const STATE: &str = ".process/iteration-state.json";

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
            let mut why = String::from("none can go on");
            let mut chosen: Option<(SessionRecord, Restored)> = None;
            for id in store::active(root)? {
                let loaded = match load(facts, root, &id) {
                    Ok(loaded) => loaded,
                    Err(error) => {
                        why = format!("{id}: {error}");
                        continue;
                    }
                };
                let here = loaded.0.git.head_sha == facts.head;
                match refusal(&loaded.0, limit) {
                    Some(reason) => why = format!("{id}: {reason}"),
                    // The newest of this commit goes before a newer one of another.
                    None if here => {
                        chosen = Some(loaded);
                        break;
                    }
                    None => chosen = chosen.or(Some(loaded)),
                }
            }
            if let Some((mut record, restored)) = chosen {
                reopen(&mut record, limit, clock);
                return Ok((record, restored));
            }
            Err(OpenError::Resume { session: "(newest)".into(), reason: why })
        }
        SessionChoice::New { name } => {
            for id in store::active(root)? {
                let Ok((record, _)) = load(facts, root, &id) else { continue };
                if record.git.head_sha != facts.head
                    || record.status != SessionStatus::Active
                        && record.status != SessionStatus::Paused
                {
                    continue;
                }
                // A running session on the same commit would do the same work twice.
                drop(SessionStore::open(root, &id)?);
                notices.push(format!("session {id} was stopped on this commit; `regreen fix --resume {id}` goes on with it"));
                break;
            }
            Ok((new_record(request, name.as_ref(), facts, root, clock), None))
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
/// (product.md 8.13.4). Without such a commit the session begins again with its baseline.
pub async fn mend_state(
    store: &SessionStore,
    facts: &RepositoryFacts,
    record: &SessionRecord,
    notices: &mut Vec<String>,
) -> Result<(), OpenError> {
    let fault = match store.read_json(STATE).await {
        Ok(Some(value)) if serde_json::from_value::<FixLoop>(value.clone()).is_ok() => {
            return Ok(());
        }
        Ok(Some(_)) | Err(StoreError::Corrupt { .. }) => "cannot be read",
        // The loop of a session that writes tests has not begun.
        Ok(None) if store.read_json(planning::PIPELINE).await?.is_some() => return Ok(()),
        Ok(None) => "is missing",
        Err(error) => return Err(error.into()),
    };
    let path = store.folder().join(STATE);
    let branch = &record.git.branch;
    let files = repo::read_session(facts, branch, STATE_FOLDER, &record.session_id)?;
    let committed = files.iter().flatten().find(|(name, bytes)| {
        let state = || serde_json::from_slice::<FixLoop>(bytes);
        name == STATE && state().is_ok_and(|state| state.head == record.git.head_sha)
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
    let branch = format!("regreen/{id}");
    if let Some(files) = repo::read_session(facts, &branch, STATE_FOLDER, id)?
        && let Some((_, bytes)) = files.iter().find(|(name, _)| name == RECORD)
    {
        let record = store::parse_record(Path::new(&branch), bytes)?;
        return Ok((record, Some(files)));
    }
    let known = store::active(root)?.iter().map(ToString::to_string).collect();
    Err(StoreError::Missing { session: id.to_string(), known }.into())
}

fn new_record(
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
        unused && (request.branch.is_some() || !repo::has_branch(facts, &format!("regreen/{id}")))
    };
    let mut number = 1;
    let session_id = loop {
        let text = if number == 1 { base.clone() } else { format!("{base}-{number}") };
        // A slug holds only what an id may hold.
        if let Some(id) = SessionId::parse(text).ok().filter(free) {
            // Nothing of value is in it, see above.
            drop(store::forget(root, &id));
            break id;
        }
        number += 1;
    };
    let mode = match request.mode {
        Mode::Apply => "apply",
        Mode::Suggest => "suggest",
        Mode::DryRun => "dry-run",
    };
    SessionRecord {
        project: facts
            .root
            .file_name()
            .map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
        description: format!("Bring the tests of {name} back to green"),
        kind: "test".into(),
        workflow_type: "test_session".into(),
        status: SessionStatus::Active,
        created_at: clock.now(),
        resumed_at: None,
        completed_at: None,
        max_iterations: request.max_iterations.unwrap_or(MAX_ITERATIONS),
        review_flag: false,
        result: None,
        final_pass_rate: None,
        mode: mode.to_owned(),
        source_session_id: None,
        input: None,
        git: SessionGit {
            base_sha: None,
            head_sha: facts.head.clone(),
            branch: request.branch.clone().unwrap_or_else(|| format!("regreen/{session_id}")),
            onto: facts.branch.clone(),
        },
        session_id,
    }
}
