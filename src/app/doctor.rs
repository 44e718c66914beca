//! What is detected in a repository, and what is missing.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::adapter::repo::RepositoryFacts;
use crate::adapter::{protection, repo, suite, work_root};
use crate::effect::SuiteFacts;

use super::AppError;
use super::settings::{configured, contain};

/// What regreen finds before a session begins.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Diagnosis {
    #[serde(flatten)]
    pub repository: RepositoryFacts,
    pub suite: Option<SuiteFacts>,
    /// Other frameworks that have tests here.
    pub others: Vec<String>,
    /// What a person has to do first.
    pub missing: Vec<String>,
    pub work_folder: PathBuf,
    pub test_code: TestCodeWalls,
    /// Whether the suite can start.
    #[serde(skip)]
    pub can_start: bool,
}

/// What holds test code back on this machine.
#[derive(Debug, Serialize)]
pub struct TestCodeWalls {
    pub holds: Vec<String>,
    pub open: Vec<String>,
}

/// Looks at a repository and its suite; runs nothing.
pub fn doctor(repository: &Path) -> Result<Diagnosis, AppError> {
    let facts = repo::discover(repository)?;
    let settings = configured(&facts.root, None, &[]).and_then(|settings| contain(&settings));
    let protection = protection()?;
    let detection = suite::detect(&facts.root, &facts.subdirectory, None, None);
    let can_start = detection.as_ref().is_ok_and(|found| found.missing.is_empty());
    let work_folder = work_root(&facts);
    let (suite, others, mut missing) = match detection {
        Ok(found) => (Some(found.facts), found.others, found.missing),
        Err(error) => (None, Vec::new(), vec![format!("{error}: {}", error.hint())]),
    };
    if let Err(failure) = settings {
        missing.push(format!("{}; {}", failure.message, failure.hint));
    }
    if facts.shallow {
        missing.push("history is cut (shallow clone), so `--base` may find no merge base: fetch more, for example with `git fetch --unshallow`".into());
    }
    Ok(Diagnosis {
        repository: facts,
        suite,
        others,
        missing,
        work_folder,
        test_code: TestCodeWalls {
            holds: protection.in_force.clone(),
            open: protection.missing.clone(),
        },
        can_start,
    })
}
