//! The memory of a repository on the server: what a run begins with, and what it leaves.
//!
//! The worker gets a copy and puts what it has learned into its bundle, which is untrusted: it is
//! bounded, checked entry by entry and freed of secrets before it is merged. A run on the code of
//! another repository may begin with the memory and leaves nothing.

use std::path::{Path, PathBuf};

use crate::adapter::host::console::println;
use crate::adapter::host::{clock, files};
use crate::adapter::repo::{MEMORY_REFERENCE, RemoteMemory};
use crate::app::untrusted_memory;
use crate::domain::check::Level;
use crate::domain::id::CommitId;
use crate::domain::memory::{LIMIT, Memory};
use crate::domain::request::MemorySource;
use crate::domain::session::files::BUNDLED_MEMORY;
use crate::effect::{PushOutcome, RemoteError};
use crate::report::runner_commands;

use super::context::Context;
use super::limits::Destination;
use super::prepare;

/// Attempts to merge into a memory that other jobs write too.
const ATTEMPTS: u32 = 5;

/// Whether the configuration of the base branch wants a memory.
fn is_wanted(context: &Context<'_>) -> bool {
    context.prepared.settings.memory != Some(false)
}

/// The memory on the server, opened in a folder of this run.
fn open(context: &Context<'_>) -> Result<RemoteMemory, RemoteError> {
    let folder = prepare::folder(context.target).join("memory");
    Ok(RemoteMemory::open(&context.prepared.remote, &folder)?)
}

/// What the worker begins with. Without a memory that can be read, it begins with none.
pub async fn source(context: &Context<'_>) -> MemorySource {
    if !is_wanted(context) {
        return MemorySource::None;
    }
    let memory = match read(context).await {
        Ok(memory) => memory,
        Err(error) => {
            tracing::warn!(%error, "{MEMORY_REFERENCE} is not used");
            Memory::default()
        }
    };
    let file = file(context);
    match files::write(&file, memory.to_json().as_bytes()) {
        Ok(()) => MemorySource::File(file),
        Err(error) => {
            tracing::warn!(%error, "the memory could not be passed to the worker");
            MemorySource::None
        }
    }
}

fn file(context: &Context<'_>) -> PathBuf {
    prepare::folder(context.target).join("memory.json")
}

/// Why the memory on the server cannot be used or changed.
#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error(transparent)]
    Remote(#[from] RemoteError),
    #[error("{0}; `git push origin :{MEMORY_REFERENCE}` deletes it")]
    Unreadable(String),
    #[error("{0}")]
    NotWritten(String),
}

async fn read(context: &Context<'_>) -> Result<Memory, Problem> {
    Ok(read_from(&open(context)?).await?.1)
}

async fn read_from(remote: &RemoteMemory) -> Result<(Option<CommitId>, Memory), Problem> {
    let Some(file) = remote.read().await? else { return Ok((None, Memory::default())) };
    let text = file.text.map_err(|error| Problem::Unreadable(error.to_string()))?;
    let now = clock::now().parse().unwrap_or_default();
    let memory =
        Memory::parse(&text, now).map_err(|error| Problem::Unreadable(error.to_string()))?;
    Ok((Some(file.commit), memory))
}

/// Merges what a run learned into the server's memory; a failure is told once.
pub async fn save(context: &Context<'_>, bundle: &Path, destination: Destination) {
    if !is_wanted(context) {
        return;
    }
    if context.target.foreign || destination == Destination::Nowhere {
        tracing::debug!("this run leaves nothing for later ones: it may not write");
        return;
    }
    let bytes = match files::read(&bundle.join(BUNDLED_MEMORY), LIMIT as u64) {
        Ok(Some(bytes)) => bytes,
        // A run that was stopped early has learned nothing.
        Ok(None) => return,
        Err(error) => {
            tracing::warn!(%error, "what the run has learned cannot be read");
            return;
        }
    };
    let redactor = &context.prepared.redactor;
    let learned = match untrusted_memory(&bytes, |text| redactor.redact(text).to_string()) {
        Ok(learned) => learned,
        Err(error) => {
            tracing::warn!(%error, "what the run has learned is not kept");
            return;
        }
    };
    match merge(context, &learned).await {
        Ok(()) => {}
        Err(Problem::Remote(error)) if error.is_push_denied() => {}
        Err(problem) => {
            let text = format!("what this run learned is not kept for later ones: {problem}");
            println!("{}", runner_commands::remark(Level::Notice, None, "regreen", &text));
        }
    }
}

async fn merge(context: &Context<'_>, learned: &Memory) -> Result<(), Problem> {
    let remote = open(context)?;
    for _ in 0..ATTEMPTS {
        let (before, known) = read_from(&remote).await?;
        if !learned.is_news_to(&known) {
            return Ok(());
        }
        match remote.write(before, &known.merge(learned).to_json()).await? {
            PushOutcome::Done | PushOutcome::AlreadyThere => return Ok(()),
            PushOutcome::Moved { .. } => {}
            PushOutcome::Rejected { by, text } => {
                return Err(Problem::NotWritten(format!("{text}; {}", by.hint())));
            }
        }
    }
    Err(Problem::NotWritten("other jobs write it all the time".into()))
}
