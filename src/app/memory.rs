//! What sessions of a repository leave for later ones: read at the start of a run, written at its end,
//! shown and forgotten on request.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::adapter::host::{clock, files, redaction};
use crate::adapter::repo::{self, MEMORY_REFERENCE, MemoryFile, RepositoryFacts};
use crate::config::Settings;
use crate::domain::id::{RepoPath, TestId};
use crate::domain::memory::{Forget, LIMIT, Memory, MemoryError, Moment};
use crate::domain::request::MemorySource;
use crate::domain::session::files::BUNDLED_MEMORY;

use super::AppError;

/// Attempts to write a memory that other processes write too.
const ATTEMPTS: u32 = 5;

/// The memory of a run.
#[derive(Debug, Default)]
pub(super) struct RunMemory {
    pub memory: Memory,
    /// Whether what the run learns is kept in its bundle.
    is_wanted: bool,
    /// Whether the repository's own memory takes it otherwise.
    is_local: bool,
    /// Why there is less than expected, for people.
    pub notice: Option<String>,
}

fn now() -> Moment {
    clock::now().parse().unwrap_or_default()
}

/// Reads the memory of a run. One that cannot be read is none.
pub(super) fn recall(
    source: &MemorySource,
    settings: &Settings,
    facts: &RepositoryFacts,
) -> RunMemory {
    if settings.memory == Some(false) {
        return RunMemory::default();
    }
    let read = match source {
        MemorySource::None => return RunMemory::default(),
        MemorySource::File(path) => read_file(path),
        MemorySource::Local => local(facts).map(|found| found.1),
    };
    let is_local = *source == MemorySource::Local;
    match read {
        Ok(memory) => RunMemory { memory, is_wanted: true, is_local, notice: None },
        Err(reason) => {
            let notice = format!("the memory of earlier sessions is not used: {reason}");
            RunMemory { is_wanted: true, is_local, notice: Some(notice), ..RunMemory::default() }
        }
    }
}

fn read_file(path: &Path) -> Result<Memory, String> {
    let bytes = files::read(path, LIMIT as u64).map_err(|error| error.to_string())?;
    let parsed = bytes.map(|bytes| Memory::parse(&bytes, now())).transpose();
    Ok(parsed.map_err(|error| error.to_string())?.unwrap_or_default())
}

/// The repository's own memory and the file that it comes from.
fn local(facts: &RepositoryFacts) -> Result<(Option<MemoryFile>, Memory), String> {
    let Some(file) = repo::read_memory(facts).map_err(|error| error.to_string())? else {
        return Ok((None, Memory::default()));
    };
    let memory = match &file.text {
        Ok(text) => Memory::parse(text, now()).map_err(|error| error.to_string())?,
        Err(error) => return Err(error.to_string()),
    };
    Ok((Some(file), memory))
}

/// Keeps what a run has learned: in its bundle, for the publisher to judge, or else in the
/// repository. Never changes the result; the text says why nothing was kept.
pub(super) fn remember(
    learned: &Memory,
    run: &RunMemory,
    bundle: Option<&PathBuf>,
    facts: &RepositoryFacts,
) -> Option<String> {
    let kept = match bundle {
        Some(folder) if run.is_wanted => {
            let text = redaction::redact(&learned.to_json()).to_string();
            files::write(&folder.join(BUNDLED_MEMORY), text.as_bytes())
                .map_err(|error| error.to_string())
        }
        None if run.is_local => add(learned, facts),
        Some(_) | None => return None,
    };
    kept.err().map(|reason| format!("what this session learned is not kept: {reason}"))
}

fn add(learned: &Memory, facts: &RepositoryFacts) -> Result<(), String> {
    let text = redaction::redact(&learned.to_json()).to_string();
    let learned = Memory::parse(text.as_bytes(), now()).map_err(|error| error.to_string())?;
    replace(facts, |known| learned.is_news_to(known).then(|| known.merge(&learned)))
}

/// Replaces the memory by what `change` makes of it; `None` leaves it as it is.
fn replace(
    facts: &RepositoryFacts,
    change: impl Fn(&Memory) -> Option<Memory>,
) -> Result<(), String> {
    for _ in 0..ATTEMPTS {
        let (file, known) = local(facts)?;
        let Some(next) = change(&known) else { return Ok(()) };
        let before = file.as_ref().map(|file| &file.commit);
        let written = repo::write_memory(facts, before, &next.to_json(), now());
        if written.map_err(|error| error.to_string())? {
            return Ok(());
        }
    }
    Err("other processes write it all the time".to_owned())
}

/// Reads the memory of a repository for people; `None` if it has none.
pub fn show_memory(repository: &Path) -> Result<Option<Memory>, AppError> {
    let facts = repo::discover(repository)?;
    match local(&facts) {
        Ok((file, memory)) => Ok(file.map(|_| memory)),
        Err(reason) => Err(unreadable(&reason)),
    }
}

fn unreadable(reason: &str) -> AppError {
    AppError::usage(
        format!("{MEMORY_REFERENCE} cannot be read: {reason}"),
        "`regreen memory forget --all` deletes it",
    )
}

/// What to forget.
#[derive(Args, Clone, Debug)]
#[group(required = true, multiple = false)]
pub struct ForgetRequest {
    /// Forget what is about this test.
    #[arg(long, value_name = "ID", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub test: Option<String>,
    /// Forget what is about this file, and about the tests in it.
    #[arg(long, value_name = "FILE", value_parser = |text: &str| RepoPath::parse(text))]
    pub file: Option<RepoPath>,
    /// Delete the whole memory.
    #[arg(long)]
    pub all: bool,
}

/// Forgets entries of a repository's memory, and counts them; `None` for the whole memory.
pub fn forget_memory(
    repository: &Path,
    request: &ForgetRequest,
) -> Result<Option<usize>, AppError> {
    let facts = repo::discover(repository)?;
    let forget = match (&request.test, &request.file) {
        (Some(test), _) => Forget::Test(TestId(test.clone())),
        (None, Some(file)) => Forget::File(file.clone()),
        (None, None) => {
            repo::delete_memory(&facts)?;
            return Ok(None);
        }
    };
    let before = local(&facts).map_err(|reason| unreadable(&reason))?.1;
    replace(&facts, |known| {
        let next = known.clone().without(&forget);
        (next != *known).then_some(next)
    })
    .map_err(|reason| AppError::environment(reason, "run it again"))?;
    Ok(Some(before.len() - before.clone().without(&forget).len()))
}

/// Parses a memory that another process wrote, without secrets.
pub fn untrusted_memory(
    text: &[u8],
    redact: impl Fn(&str) -> String,
) -> Result<Memory, MemoryError> {
    if text.len() > LIMIT {
        return Err(MemoryError::TooLarge);
    }
    // Written anew, so that no escape hides a secret.
    let document = serde_json::from_slice::<serde_json::Value>(text).map(|value| value.to_string());
    let text = document.unwrap_or_else(|_| String::from_utf8_lossy(text).into_owned());
    Memory::parse(redact(&text).as_bytes(), now())
}
