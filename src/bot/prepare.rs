//! From a target to a repository of our own that holds it, and to the configuration that counts.

use std::path::PathBuf;

use crate::adapter::host::http::Http;
use crate::adapter::repo::{self, Bench, Credential, GitRemote, Transport};
use crate::adapter::store;
use crate::adapter::work_home;
use crate::config::{self, CommitState, Diagnostic, Settings};
use crate::domain::id::{CommitId, SessionId};
use crate::domain::session::{SessionRecord, SessionStatus};
use crate::effect::{FetchTarget, GitError, Remote, RemoteError};

use super::surroundings::Surroundings;
use super::target::{Begin, Found, Target, begin};

/// Where the configuration lies in a repository.
const CONFIGURATION: &str = ".github/regreen.yml";

/// The record of a session in its folder.
pub(super) const RECORD: &str = "workflow-session.json";

/// Depth of what is fetched first; the merge base is looked for from there.
const DEPTH: u32 = 50;

/// How deep a merge base is looked for.
const MOST: u32 = 10_000;

/// Why the repository could not be prepared.
#[derive(Debug, thiserror::Error)]
pub enum Unprepared {
    /// The server.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// The local side.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The configuration of the base is wrong.
    #[error("the configuration has {} problems", .0.len())]
    Configuration(Vec<Diagnostic>),
}

impl Unprepared {
    /// What to do, one imperative clause.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Remote(error) => error.hint(),
            Self::Git(error) => error.hint(),
            Self::Configuration(_) => "mend the file on the base branch".into(),
        }
    }
}

/// The repository of our own, with the server behind it.
pub struct Prepared {
    /// The repository.
    pub bench: Bench,
    /// The server.
    pub remote: GitRemote,
    /// The merge base.
    pub base: Option<CommitId>,
    /// The configuration that counts.
    pub settings: Settings,
    /// Its text, for the working phase.
    pub text: String,
    /// What should be known, in our own words.
    pub notices: Vec<String>,
}

/// The folder of a repository of our own, and of all that belongs to its run.
#[must_use]
pub fn folder(target: &Target) -> PathBuf {
    let name = target.session(1).map_or_else(String::new, |session| session.to_string());
    work_home().join("runs").join(crate::domain::id::slug(&target.repository)).join(name)
}

/// Fetches the head and the base, and reads the configuration.
///
/// # Errors
///
/// [`Unprepared`].
pub async fn prepare(
    around: &Surroundings,
    http: &Http,
    target: &mut Target,
) -> Result<Prepared, Unprepared> {
    let source = repo::discover(&around.workspace()).ok();
    let complete = source.as_ref().is_some_and(|source| !source.shallow);
    let bench = Bench::make(source.as_ref(), &folder(target).join("repository"))?;
    let address = format!("{}/{}.git", around.server(), target.repository);
    let credential =
        around.token.clone().map(|token| Credential { host: host(around.server()), token });
    let remote = bench.remote(Transport::new(http.clone(), &address, credential)?);
    let depth = (!complete).then_some(DEPTH);
    let mut notices = Vec::new();
    let wanted = match target.number {
        // The head of a fork is only known under this name.
        Some(number) if target.foreign => {
            FetchTarget::Reference(format!("refs/pull/{number}/head"))
        }
        _ => FetchTarget::Commit(target.head.clone()),
    };
    let head = remote.fetch(&wanted, depth).await?;
    if head != target.head {
        notices.push(format!(
            "the pull request moved to {} since this run was started; that is tested",
            head.short()
        ));
        target.head = head;
    }
    let (mut base, mut settings_of) = (None, target.head.clone());
    if let Some(counts) = target.measured_against() {
        let commit = remote.fetch(&counts, depth).await?;
        base = remote.merge_base(&target.head, &commit, MOST).await?;
        if base.is_none() {
            notices.push("no merge base was found, so no failure is called introduced".into());
        }
        settings_of = commit;
    }
    let path = around.text("config").unwrap_or(CONFIGURATION);
    let text = bench.file_of(&settings_of, path)?.unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    let settings = config::parse_with(&text, path, &around.inputs.overrides)
        .map_err(Unprepared::Configuration)?;
    Ok(Prepared { bench, remote, base, settings, text, notices })
}

/// What lies on the fix branch of a session.
///
/// # Errors
///
/// [`Unprepared`].
pub async fn look(
    prepared: &Prepared,
    target: &Target,
    session: &SessionId,
) -> Result<Option<Found>, Unprepared> {
    let Some(tip) = prepared.remote.head_of(&branch(session)).await? else { return Ok(None) };
    prepared.remote.fetch(&FetchTarget::Commit(tip.clone()), Some(DEPTH)).await?;
    let mut record = record(prepared, &tip, session)?;
    let state = format!("{}/active/{session}/{RECORD}", store::STATE_FOLDER);
    let is_off = prepared.bench.file_of(&tip, &state)?.is_none();
    if let Some(record) = record.as_mut().filter(|_| is_off) {
        // Its state was committed before the end, which took it off the tip.
        record.status = SessionStatus::Completed;
    }
    let ours = record.as_ref().is_some_and(|record| {
        // The head under test may be a newer one that the fix was set on top of.
        prepared.bench.all_of_session(&tip, &[&record.git.head_sha, &target.head], session)
            || record.git.head_sha == target.head && tip == target.head
    });
    // Where no state travels there is no record, and commits alone tell whose it is.
    let alone = record.is_none() && prepared.settings.commit_state == Some(CommitState::None);
    let ours = ours
        || alone
            && match prepared.remote.merge_base(&target.head, &tip, MOST).await? {
                Some(base) => base != tip && prepared.bench.all_of_session(&tip, &[&base], session),
                None => false,
            };
    Ok(Some(Found { tip, record, ours }))
}

/// Whether a session has a fix branch on the server.
///
/// # Errors
///
/// [`Unprepared`].
pub async fn is_on_branch(prepared: &Prepared, session: &str) -> Result<bool, Unprepared> {
    let Ok(session) = SessionId::parse(session) else { return Ok(false) };
    Ok(prepared.remote.head_of(&branch(&session)).await?.is_some())
}

/// The commit that a new beginning of a session replaces: the tip of its fix branch, when all of
/// it is the session's own.
///
/// # Errors
///
/// [`Unprepared`].
pub async fn replaced(
    prepared: &Prepared,
    target: &Target,
    session: &SessionId,
) -> Result<Option<CommitId>, Unprepared> {
    let found = look(prepared, target, session).await?;
    Ok(match begin(found.as_ref(), &target.head, false, None) {
        Ok(Begin::New { replaces }) => replaces,
        Ok(Begin::Resume { tip }) => Some(tip),
        Ok(Begin::Elsewhere) | Err(_) => None,
    })
}

fn record(
    prepared: &Prepared,
    tip: &CommitId,
    session: &SessionId,
) -> Result<Option<SessionRecord>, Unprepared> {
    let files = prepared.bench.session_at(tip, store::STATE_FOLDER, session)?;
    let found = files.iter().flatten().find(|(name, _)| name == RECORD);
    // A record that cannot be read is nobody's session.
    Ok(found.and_then(|(_, bytes)| serde_json::from_slice(bytes).ok()))
}

/// The fix branch of a session.
#[must_use]
pub fn branch(session: &SessionId) -> String {
    format!("regreen/{session}")
}

/// The host of an address, without a port.
fn host(server: &str) -> String {
    let rest = server.split_once("://").map_or(server, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or_default();
    match authority.rsplit_once(':') {
        Some((host, port)) if port.chars().all(|c| c.is_ascii_digit()) => host.to_owned(),
        _ => authority.to_owned(),
    }
}
