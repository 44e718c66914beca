//! Tries candidates by the suite's own command, in a scratch copy of the checkout.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::Mutex;

use crate::adapter::host::files;
use crate::adapter::host::process::{self, Ending, Invocation};
use crate::adapter::host::sandbox::Access;
use crate::domain::id::TestId;
use crate::domain::proposal::EditSet;
use crate::domain::shell;
use crate::domain::test::{Status, TestCase};
use crate::effect::{CandidateRunner, CandidateRunnerRequest, CaseResult, RunError, Speed, Trace};

use super::ProjectSuite;
use super::built;
use super::format::{Place, settle_all};
use super::framework::{Framework, Left, Scratch, Site};
use super::run::write_chosen;

/// Bytes of a run's output in which a compiler's word is looked for.
const SAID: u64 = 256 << 10;

/// Folders that are linked into the copy instead of copied.
const LINKED: &[&str] = &["node_modules", ".venv", "venv", "vendor"];

/// The suite's own command in one copy of the checkout.
pub struct Cold {
    framework: &'static Framework,
    site: Site,
    environment: BTreeMap<String, String>,
    access: Access,
    /// Where its own files begin: results, chosen tests, output.
    scratch: PathBuf,
    drivers: PathBuf,
    place: Place,
    timeout: Duration,
    /// One candidate at a time: the copy is shared.
    turn: Mutex<()>,
}

/// Opens a cold trial on a fresh copy.
pub fn open(
    suite: &ProjectSuite<'_>,
    request: &CandidateRunnerRequest<'_>,
) -> Result<Box<dyn CandidateRunner>, RunError> {
    let copy = suite.settings.scratch.join("cold");
    let failed = |error: std::io::Error| RunError::Io {
        action: "copy the checkout".into(),
        reason: error.to_string(),
    };
    if copy.exists() {
        fs::remove_dir_all(&copy).map_err(failed)?;
    }
    copy_tree(request.root, &copy).map_err(failed)?;
    Ok(Box::new(Cold::on(suite, &copy)))
}

/// Copies a checkout; dependency folders are linked.
pub fn copy_tree(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (name, kind) = (entry.file_name(), entry.file_type()?);
        let target = to.join(&name);
        let linked = LINKED.iter().any(|known| name == *known);
        if name == ".git" {
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(entry.path())?, target)?;
        } else if kind.is_dir() && linked {
            std::os::unix::fs::symlink(entry.path(), target)?;
        } else if kind.is_dir() {
            copy_tree(&entry.path(), &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

impl Cold {
    /// The command in a copy that is there; its own files lie beside the copy.
    pub fn on(suite: &ProjectSuite<'_>, copy: &Path) -> Self {
        let name = copy.file_name().unwrap_or_default();
        Self {
            framework: suite.detection.framework,
            site: suite.site(copy),
            environment: suite.environment(copy),
            access: suite.access(copy),
            scratch: suite.settings.scratch.join(name),
            drivers: suite.settings.scratch.join("drivers"),
            place: suite.place(copy),
            timeout: suite.settings.timeout,
            turn: Mutex::new(()),
        }
    }

    fn log(&self) -> PathBuf {
        self.scratch.with_extension("cold.log")
    }

    /// What the command says of `tests` and of others in their files; nothing when it hung.
    pub async fn run(&self, tests: &[TestId], limit: Duration) -> Result<Vec<TestCase>, RunError> {
        let scratch = Scratch {
            drivers: self.drivers.clone(),
            cases: self.scratch.with_extension("cold-cases"),
            chosen: self.scratch.with_extension("cold-chosen"),
        };
        if scratch.cases.exists() {
            fs::remove_file(&scratch.cases).map_err(|error| RunError::Io {
                action: "remove old results".into(),
                reason: error.to_string(),
            })?;
        }
        write_chosen(&scratch.chosen, tests)?;
        let plan = (self.framework.plan)(&self.site, Some(tests), &scratch);
        let mut environment = self.environment.clone();
        environment.extend(plan.environment);
        let directory = self.site.folder();
        let typed = shell::line(&plan.argv);
        let access = Some(self.access.clone());
        let invocation =
            Invocation { argv: plan.argv, directory: directory.clone(), environment, access };
        let log = self.log();
        let ending = process::run(&invocation, limit, &log).await.map_err(|error| {
            RunError::NotStarted { command: typed.clone(), reason: error.to_string() }
        })?;
        if ending == Ending::TimedOut {
            // Half a build says nothing.
            fs::remove_file(&log).unwrap_or_default();
            return Ok(Vec::new());
        }
        let left = Left {
            folder: &directory,
            typed: &typed,
            cases: &scratch.cases,
            log: &log,
            site: &self.site,
        };
        let read = (self.framework.read)(&left)?;
        Ok(settle_all(&read.told, &self.place))
    }
}

/// Writes a side of the edits into a copy.
pub fn write_edits(root: &Path, edits: &EditSet, after: bool) -> Result<(), RunError> {
    for edit in &edits.files {
        let path = root.join(edit.file.as_str());
        let text = if after { &edit.after } else { &edit.before };
        let written = match text {
            Some(text) => files::write_below(root, Path::new(edit.file.as_str()), text.as_bytes()),
            None if path.exists() => fs::remove_file(&path),
            None => Ok(()),
        };
        written.map_err(|error| RunError::Io {
            action: format!("write {} in the copy", edit.file),
            reason: error.to_string(),
        })?;
    }
    Ok(())
}

#[async_trait]
impl CandidateRunner for Cold {
    fn speed(&self) -> Speed {
        Speed::Cold
    }

    async fn trace(&self, tests: &[TestId]) -> Result<Vec<Trace>, RunError> {
        let _turn = self.turn.lock().await;
        let cases = self.run(tests, self.timeout).await?;
        let traced = tests.iter().filter_map(|id| cases.iter().find(|case| case.id == *id));
        Ok(traced
            .map(|case| Trace {
                test: case.id.clone(),
                status: case.status,
                duration: Duration::from_millis(case.duration_ms),
                lines: BTreeMap::new(),
                failure: case.failure.clone(),
            })
            .collect())
    }

    async fn judge(
        &self,
        edits: &EditSet,
        tests: &[TestId],
        limit: Duration,
        stop_at_failure: bool,
    ) -> Result<Vec<CaseResult>, RunError> {
        let _turn = self.turn.lock().await;
        write_edits(&self.site.root, edits, true)?;
        // A cold start alone may take longer than a warm candidate.
        let limit = limit.max(Duration::from_secs(30)).min(self.timeout);
        let cases = self.broken(tests, limit).await;
        write_edits(&self.site.root, edits, false)?;
        let cases = cases?;
        if let Some(said) = self.refused(&cases, tests) {
            return Ok(tests.iter().map(|id| CaseResult::not_built(id.clone(), &said)).collect());
        }
        Ok(results(&cases, tests, stop_at_failure))
    }
}

impl Cold {
    /// The same on edited sources: an edit after which nothing can be read breaks every test.
    pub async fn broken(
        &self,
        tests: &[TestId],
        limit: Duration,
    ) -> Result<Vec<TestCase>, RunError> {
        match self.run(tests, limit).await {
            Ok(cases) => Ok(cases),
            Err(error @ (RunError::NotStarted { .. } | RunError::Io { .. })) => Err(error),
            Err(_) => Ok(Vec::new()),
        }
    }

    /// What a compiler said against the sources. What it refuses runs no test; where one failed
    /// with a word, the sources ran.
    fn refused(&self, cases: &[TestCase], tests: &[TestId]) -> Option<String> {
        let told = |id: &&TestId| cases.iter().find(|case| case.id == **id);
        let spoke = |case: &TestCase| case.status == Status::Failed && case.failure.is_some();
        let silent = tests.iter().any(|id| told(&id).is_none())
            && !tests.iter().filter_map(|id| told(&id)).any(spoke);
        silent.then(|| built::refusal(&process::tail_of(&self.log(), SAID)))?
    }
}

/// What `tests` came to. One that was not told has failed, with what its file says; so has one that a hook of its file kept
/// from running, which some frameworks tell as skipped in a file that failed.
pub fn results(cases: &[TestCase], tests: &[TestId], stop_at_failure: bool) -> Vec<CaseResult> {
    let by_id: BTreeMap<&TestId, &TestCase> = cases.iter().map(|case| (&case.id, case)).collect();
    let of_file = |id: &TestId| {
        let file = id.as_str().split("::").next().unwrap_or_default();
        by_id.get(&TestId(file.to_owned())).filter(|case| case.status == Status::Failed)
    };
    let mut results = Vec::new();
    for id in tests {
        let mut case = by_id.get(id);
        if case.is_none_or(|case| case.status == Status::Skipped) {
            case = of_file(id).or(case);
        }
        let status = case.map_or(Status::Failed, |case| case.status);
        let failure = case.and_then(|case| case.failure.as_ref()).map(|failure| {
            let first = failure.message.lines().next().unwrap_or_default().to_owned();
            (failure.class.clone(), first)
        });
        results.push(CaseResult { test: id.clone(), status, failure });
        if stop_at_failure && status == Status::Failed {
            break;
        }
    }
    results
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::test::{FailureText, Layer};

    #[test]
    fn a_test_passes_only_when_it_is_told_to_have_run() {
        let case = |id: &str, status| TestCase {
            id: id.into(),
            status,
            file: None,
            line: None,
            layer: Layer::Unit,
            duration_ms: 1,
            failure: (status == Status::Failed).then(|| FailureText {
                class: "Error".into(),
                message: "no\nmore".into(),
                stack: String::new(),
                frames: Vec::new(),
            }),
        };
        let cases = [
            case("a.ts::runs", Status::Passed),
            case("a.ts::is left out", Status::Skipped),
            case("b.ts", Status::Failed),
            case("b.ts::waits for a hook", Status::Skipped),
            case("c.ts::fails", Status::Failed),
        ];
        let table = [
            ("a.ts::runs", Status::Passed, None),
            ("a.ts::is left out", Status::Skipped, None),
            ("a.ts::is not told", Status::Failed, None),
            ("b.ts::waits for a hook", Status::Failed, Some("no")),
            ("b.ts::is not loaded", Status::Failed, Some("no")),
            ("c.ts::fails", Status::Failed, Some("no")),
        ];
        let tests: Vec<TestId> = table.iter().map(|row| row.0.into()).collect();
        for (told, (id, status, says)) in results(&cases, &tests, false).iter().zip(table) {
            let said = told.failure.as_ref().map(|(_, message)| message.as_str());
            assert_eq!((told.test.as_str(), told.status, said), (id, status, says));
        }
        assert_eq!(results(&cases, &tests, true).len(), 3, "it ends behind the first failure");
    }
}
