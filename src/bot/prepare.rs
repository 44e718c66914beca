//! Fetches the target into a scratch repository, and reads the configuration that applies.

use std::path::PathBuf;

use crate::adapter::host::http::Http;
use crate::adapter::repo::{self, Credential, GitRemote, RetryWaits, ScratchRepo, Transport};
use crate::adapter::work_home;
use crate::config::{self, Diagnostic, Settings};
use crate::domain::id::{CommitId, SessionId};
use crate::domain::secret::Redactor;
use crate::effect::{FetchTarget, GitError, RemoteError};

use super::environment::ActionEnv;
use super::target::Target;

/// Commits fetched first; the search for the merge base deepens this where needed.
pub(super) const DEPTH: u32 = 50;

/// Commits searched for a merge base.
pub(super) const MERGE_BASE_DEPTH: u32 = 10_000;

/// Why the repository could not be prepared.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// The server.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// The local repository failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The server keeps another state of the session.
    #[error("the state of {session} was not saved: {reason}")]
    NotSaved { session: SessionId, reason: String, hint: &'static str },
    /// What the server keeps of the session is not taken over.
    #[error("the snapshot of {session} cannot be used: {reason}")]
    Snapshot { session: SessionId, reason: String, reference: String },
    /// The input `config` names a file that does not exist.
    #[error("the base has no file {0}, which the input `config` names")]
    NoConfiguration(String),
    /// The configuration of the base branch is invalid.
    #[error("the configuration has {} problems", .0.len())]
    Configuration(Vec<Diagnostic>),
}

impl PrepareError {
    /// Whether the token may not push, which the log says already.
    pub fn is_push_denied(&self) -> bool {
        matches!(self, Self::Remote(error) if error.is_push_denied())
    }

    /// What to do, one imperative clause.
    pub fn hint(&self) -> String {
        match self {
            Self::Remote(error) => error.hint(),
            Self::Git(error) => error.hint(),
            Self::NotSaved { hint, .. } => (*hint).into(),
            Self::Snapshot { reference, .. } => {
                format!("delete it with `git push origin :{reference}`, then run again")
            }
            Self::NoConfiguration(_) => {
                "correct the input, or add the file to the base branch".into()
            }
            Self::Configuration(_) => "fix the file on the base branch".into(),
        }
    }
}

/// The prepared repository, and the configuration that applies.
pub struct Prepared {
    pub clone: ScratchRepo,
    /// The server.
    pub remote: GitRemote,
    pub base: Option<CommitId>,
    /// The configuration that applies.
    pub settings: Settings,
    /// The text of the configuration, for the worker.
    pub text: String,
    /// Messages for the user, in our own words.
    pub notices: Vec<String>,
    /// Finds the token of the job, which the worker does not know.
    pub redactor: Redactor,
}

/// The folder of the scratch repository, and of everything else that belongs to its run.
pub fn folder(target: &Target) -> PathBuf {
    let name = target.session(1).map_or_else(String::new, |session| session.to_string());
    work_home().join("runs").join(crate::domain::id::slug(&target.repository)).join(name)
}

/// Fetches the head and the base, and reads the configuration.
pub async fn prepare(
    env: &ActionEnv,
    http: &Http,
    waits: RetryWaits,
    target: &mut Target,
) -> Result<Prepared, PrepareError> {
    let source = repo::discover(&env.workspace()).ok();
    let complete = source.as_ref().is_some_and(|source| !source.shallow);
    let clone = ScratchRepo::make(source.as_ref(), &folder(target).join("repository"))?;
    let address = format!("{}/{}.git", env.server(), target.repository);
    let credential = env.token.clone().map(|token| Credential { host: host(env.server()), token });
    let remote = clone.remote(Transport::new(http.clone(), &address, credential, waits)?);
    let depth = (!complete).then_some(DEPTH);
    let mut notices = Vec::new();
    let reference = match target.number {
        // The head of a fork is available only under this reference.
        Some(number) if target.foreign => {
            FetchTarget::Reference(format!("refs/pull/{number}/head"))
        }
        _ => FetchTarget::Commit(target.head.clone()),
    };
    let head = remote.fetch(&reference, depth).await?;
    if head != target.head {
        notices.push(format!(
            "the pull request moved to {} after this run was started; the new head is tested",
            head.short()
        ));
        target.head = head;
    }
    clone.name_head(&target.head)?;
    let (mut base, mut settings_of) = (None, target.head.clone());
    if let Some(counts) = target.measured_against() {
        let commit = remote.fetch(&counts, depth).await?;
        base = remote.merge_base(&target.head, &commit, MERGE_BASE_DEPTH).await?;
        if base.is_none() {
            notices.push(
                "no merge base was found, so no failure is reported as introduced by this change"
                    .into(),
            );
        }
        settings_of = commit;
    }
    let named = env.text("config");
    let path = named.unwrap_or(config::PATH);
    let text = clone.file_of(&settings_of, path)?;
    if named.is_some() && text.is_none() {
        return Err(PrepareError::NoConfiguration(path.to_owned()));
    }
    let text = text.unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    let settings = config::parse_with(&text, path, &env.inputs.overrides)
        .map_err(PrepareError::Configuration)?;
    let redactor = Redactor::new(&env.token);
    Ok(Prepared { clone, remote, base, settings, text, notices, redactor })
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
