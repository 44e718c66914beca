//! What is detected in a repository, and what is missing.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::adapter::repo::RepositoryFacts;
use crate::adapter::suite::Package;
use crate::adapter::{protection, repo, suite, work_root};
use crate::config::Settings;
use crate::effect::SuiteFacts;

use super::AppError;
use super::providers::{ProviderState, examine};
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
    /// What a person has to do first; empty when the suite can start.
    pub missing: Vec<String>,
    /// What limits a session that can start.
    pub notices: Vec<String>,
    pub work_folder: PathBuf,
    pub test_code: TestCodeWalls,
    pub providers: Vec<ProviderState>,
}

/// What holds test code back on this machine.
#[derive(Debug, Serialize)]
pub struct TestCodeWalls {
    pub holds: Vec<String>,
    pub open: Vec<String>,
}

/// Looks at a repository, its suite and its providers; runs nothing besides `--version` of clients.
pub async fn doctor(repository: &Path) -> Result<Diagnosis, AppError> {
    let facts = repo::discover(repository)?;
    let configured = configured(&facts.root, None, &[])
        .and_then(|settings| contain(&settings).map(|()| settings));
    let protection = protection()?;
    let (settings, mut missing) = match configured {
        Ok(settings) => (settings, Vec::new()),
        Err(failure) => {
            (Settings::default(), vec![format!("{}; {}", failure.message, failure.hint)])
        }
    };
    let test = settings.test.clone().unwrap_or_default();
    let (root, below) = (&facts.root, &facts.subdirectory);
    let (command, report) = (test.command.as_deref(), test.report.as_deref());
    let work_folder = work_root(&facts);
    let mut notices = Vec::new();
    let (suite, others) = match suite::detect(root, below, command, report) {
        Ok(found) => {
            // The set-up commands may install what is missing.
            let list = if test.setup.is_some() { &mut notices } else { &mut missing };
            list.extend(found.missing);
            let packages = found.packages.iter().map(|package| {
                let Package { folder, framework, evidence } = package;
                format!("{framework} in {folder} ({evidence})")
            });
            (Some(found.facts), found.others.into_iter().chain(packages).collect())
        }
        Err(error) => {
            missing.push(format!("{error}: {}", error.hint()));
            (None, Vec::new())
        }
    };
    if facts.shallow {
        notices.push("history is cut (shallow clone), so `--base` may find no merge base: fetch more, for example with `git fetch --unshallow`".into());
    }
    let providers = examine(&settings, &work_folder.join("doctor")).await;
    Ok(Diagnosis {
        providers,
        repository: facts,
        suite,
        others,
        missing,
        notices,
        work_folder,
        test_code: TestCodeWalls {
            holds: protection.in_force.clone(),
            open: [&protection.missing[..], &protection.by_choice].concat(),
        },
    })
}
