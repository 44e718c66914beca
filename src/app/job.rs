//! Jobs: requests to the use cases, filled from command-line flags or from JSON.
//!
//! A [`Job`] is passed as one JSON document on the standard input of `regreen work`. Command-line
//! flags fill the same types, so the command line and the bot call a use case the same way.

use std::path::PathBuf;

use clap::{Args, value_parser};
use serde::{Deserialize, Serialize};

use crate::config::Override;
use crate::domain::budget::parse_minutes;
use crate::domain::id::SessionId;
use crate::domain::integration::records::Adjustment;
use crate::domain::request::{MemorySource, Mode};
use crate::domain::session::SessionChoice;

/// A use case with its request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Job {
    /// Bring the suite back to green; with [`Mode::DryRun`], explain the failures only.
    Fix(Box<FixRequest>),
    /// Plan tests, write them, and fix what they break.
    Test(Box<TestRequest>),
    /// Plan tests; write none.
    Plan(Box<TestRequest>),
    /// Write integration tests of a module, and fix what they show.
    Integration(Box<IntegrationRequest>),
    /// Check the quality of code and tests.
    Validate(Box<ValidateRequest>),
}

impl Job {
    /// Parses the document that [`Job::to_json`] wrote.
    pub fn from_json(text: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(text)
    }

    /// The document for the standard input of `regreen work`.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Which models are asked, and what that may cost. Unset fields fall back to the configuration.
#[derive(Args, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct ModelOptions {
    /// Providers that analyse, write tests and fix, in this order: gemini, qwen, codex, claude, copilot,
    /// a provider of the configuration, embedded [default: gemini, qwen and codex as far as their
    /// keys are set, then embedded].
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',')]
    pub providers: Vec<String>,
    /// Stop at a checkpoint after this many minutes.
    #[arg(long, value_name = "MINUTES", value_parser = parse_minutes)]
    pub budget_minutes: Option<f64>,
    /// Spend at most this many dollars on providers, as far as their prices are known.
    #[arg(long, value_name = "USD")]
    pub budget_usd: Option<f64>,
    /// Use at most this many tokens of providers.
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    pub budget_tokens: Option<u64>,
    /// Make at most this many calls to providers.
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    pub budget_calls: Option<u64>,
    /// Record every exchange with a provider in this folder, without keys.
    #[arg(long, value_name = "FOLDER", conflicts_with = "replay")]
    pub record: Option<PathBuf>,
    /// Answer every call from a folder that `--record` wrote; no provider is called.
    #[arg(long, value_name = "FOLDER")]
    pub replay: Option<PathBuf>,
}

/// What requests to fix and to test share. Unset fields fall back to the configuration.
#[derive(Args, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct RunOptions {
    /// A new session, or the one to resume.
    #[arg(skip)]
    pub session: SessionChoice,
    /// Branch, tag or commit the change is measured against: failures that it has too are marked,
    /// and what changed since is the first suspect.
    #[arg(long, value_name = "REF")]
    pub base: Option<String>,
    /// Command that runs the tests, instead of the detected one.
    #[arg(long, value_name = "COMMAND")]
    pub test_command: Option<String>,
    /// Time limit of one test run, such as 30s, 20m or 2h [default: 20m].
    #[arg(long, value_name = "TIME")]
    pub test_timeout: Option<String>,
    /// Maximum number of iterations of the fix loop [default: 10].
    #[arg(long, alias = "gate-max-iterations", value_name = "N", value_parser = value_parser!(u32).range(1..=50))]
    pub max_iterations: Option<u32>,
    /// Configuration file, instead of .github/regreen.yml of the repository.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Set a key of the configuration file for this run, such as `loop.stuck-threshold=4`; repeat
    /// for more. `regreen config schema` prints all keys.
    #[arg(long, value_name = "KEY=VALUE", value_parser = Override::parse)]
    pub set: Vec<Override>,
    /// Write events, commits and digests to this folder while it runs, for `regreen publish`.
    #[arg(long, value_name = "FOLDER")]
    pub bundle: Option<PathBuf>,
    /// Where the memory of earlier sessions is.
    #[arg(skip)]
    pub memory: MemorySource,
}

/// A request to fix the tests of one repository. Unset fields fall back to the configuration.
#[derive(Args, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct FixRequest {
    /// The repository, or a folder below it.
    #[arg(default_value = ".")]
    pub repository: PathBuf,
    /// What may change: commits on a branch, patch files, or nothing.
    #[arg(skip)]
    pub mode: Mode,
    /// Name of the fix branch [default: regreen/SESSION].
    #[arg(long, value_name = "NAME")]
    pub branch: Option<String>,
    /// Command that prepares every checkout before its first run, such as `npm ci`; repeat for more.
    #[arg(long, alias = "test-setup", value_name = "COMMAND")]
    pub setup: Vec<String>,
    /// Glob of the JUnit XML or TAP files that the command writes, below the folder it runs in.
    #[arg(long, alias = "test-report", value_name = "GLOB")]
    pub report: Option<String>,
    /// Pass rate in percent from which failures of low criticality may remain [default: 95].
    #[arg(long, alias = "gate-target", value_name = "PERCENT", value_parser = value_parser!(u32).range(1..=100))]
    pub target: Option<u32>,
    /// Candidates tried at the same time [default: number of cores].
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=64))]
    pub jobs: Option<u16>,
    /// Keep the whole change when the gate is met, including parts that the suite does not need.
    #[arg(long)]
    pub no_minimise: bool,
    #[command(flatten)]
    #[serde(flatten)]
    pub run: RunOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub models: ModelOptions,
    /// Draw the session as one page of HTML in this file at the end.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// A request to plan tests or to write them. Unset fields fall back to the configuration.
#[derive(Args, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct TestRequest {
    /// The repository, or a folder below it.
    #[arg(long, default_value = ".", value_name = "REPO")]
    pub repository: PathBuf,
    /// What to test: a description, a Markdown file or the id of a finished session. Ignored when
    /// a session is resumed.
    #[arg(skip)]
    pub input: String,
    /// Start a new session even if one for the same input and the same commit exists.
    #[arg(long, conflicts_with = "resume")]
    pub fresh: bool,
    /// Approve the plan and continue without asking.
    #[arg(long = "yes", short = 'y')]
    pub approve: bool,
    /// Read this coverage report instead of running the tests: lcov, XML of Cobertura or
    /// `JaCoCo`, JSON of coverage.py, c8 or V8, or a Go cover profile.
    #[arg(long, value_name = "FILE")]
    pub coverage_report: Option<PathBuf>,
    /// Run no test; decide by names and imports what has tests.
    #[arg(long, conflicts_with = "coverage_report")]
    pub no_coverage: bool,
    /// Where no test is missing, end without running the suite and repairing what fails.
    #[arg(long)]
    pub only_missing: bool,
    #[command(flatten)]
    #[serde(flatten)]
    pub run: RunOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub models: ModelOptions,
}

/// A request for integration tests. Unset fields fall back to the configuration.
#[derive(Args, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct IntegrationRequest {
    /// The repository, or a folder below it.
    #[arg(long, default_value = ".", value_name = "REPO")]
    pub repository: PathBuf,
    /// The module: a path or words. Ignored when a session is continued.
    #[arg(skip)]
    pub module: String,
    /// What may change: commits on a branch, or nothing.
    #[arg(skip)]
    pub mode: Mode,
    /// Confirm the design, and go on without asking.
    #[arg(long = "yes", short = 'y')]
    pub approve: bool,
    /// What a person changes in the design of the session that is continued.
    #[arg(skip)]
    pub adjustment: Option<Adjustment>,
    /// Processes at the same time [default: number of cores].
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=64))]
    pub jobs: Option<u16>,
    #[command(flatten)]
    #[serde(flatten)]
    pub run: RunOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub models: ModelOptions,
}

/// A request to check code and tests. What is checked how strictly is configuration: see the keys
/// below `validate` and `tools`, which [`ValidateRequest::set`] can change.
#[derive(Args, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct ValidateRequest {
    /// A repository, or files and folders of one; the current folder when none is named.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Check only files that differ from the merge base with this branch, tag or commit.
    #[arg(long, value_name = "REF")]
    pub base: Option<String>,
    /// Skip all tools of the project, type checkers included: nothing of the project runs.
    #[arg(long)]
    pub skip_tools: bool,
    /// Check the quality of tests too, and count it.
    #[arg(long)]
    pub tests: bool,
    /// Write the reports into the folder of this session.
    #[arg(long, value_name = "SESSION", conflicts_with = "report", value_parser = |text: &str| SessionId::parse(text))]
    pub session: Option<SessionId>,
    /// Write the reports into this folder.
    #[arg(long, value_name = "FOLDER")]
    pub report: Option<PathBuf>,
    /// Configuration file, instead of .github/regreen.yml of the repository.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Set a key of the configuration file for this run, such as `loop.stuck-threshold=4`; repeat
    /// for more. `regreen config schema` prints all keys.
    #[arg(long, value_name = "KEY=VALUE", value_parser = Override::parse)]
    pub set: Vec<Override>,
    /// Whether the reader has the files as they were before any repair, so that findings name the
    /// lines of those.
    #[arg(skip)]
    #[serde(default)]
    pub original_lines: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::SessionId;
    use crate::domain::integration::records::DesignPart;

    fn id() -> SessionId {
        SessionId::parse("WFS-test-main").unwrap()
    }

    fn models() -> ModelOptions {
        ModelOptions {
            providers: vec!["gemini".into(), "embedded".into()],
            budget_minutes: Some(30.0),
            budget_usd: Some(1.5),
            budget_tokens: Some(1_000),
            budget_calls: Some(9),
            record: Some("tapes".into()),
            replay: None,
        }
    }

    fn set() -> Vec<Override> {
        vec![Override {
            key: "gate.target".into(),
            value: "a 'b' \"c\"\n=d".into(),
            by: "target".into(),
        }]
    }

    fn run_options() -> RunOptions {
        RunOptions {
            session: SessionChoice::Resume { session: id() },
            base: Some("main".into()),
            test_command: Some("pytest -q".into()),
            test_timeout: Some("5m".into()),
            max_iterations: Some(3),
            config: Some("c.yml".into()),
            set: set(),
            bundle: Some("bundle".into()),
            memory: MemorySource::File("memory.json".into()),
        }
    }

    fn fix_request() -> FixRequest {
        FixRequest {
            repository: "a b".into(),
            mode: Mode::DryRun,
            branch: Some("fix".into()),
            setup: vec!["npm ci".into()],
            report: Some("out/*.xml".into()),
            target: Some(97),
            jobs: Some(2),
            no_minimise: true,
            run: run_options(),
            models: models(),
            html: Some("page.html".into()),
        }
    }

    fn test_request() -> TestRequest {
        TestRequest {
            repository: "r".into(),
            input: "--words that look like a flag".into(),
            fresh: true,
            approve: true,
            coverage_report: Some("lcov.info".into()),
            no_coverage: true,
            only_missing: true,
            run: RunOptions {
                session: SessionChoice::New { name: Some(id()) },
                memory: MemorySource::None,
                ..run_options()
            },
            models: models(),
        }
    }

    #[test]
    fn every_job_survives_the_way_through_json() {
        let validate = ValidateRequest {
            paths: vec!["src".into()],
            base: Some("main".into()),
            skip_tools: true,
            tests: true,
            session: Some(id()),
            report: Some("out".into()),
            config: Some("c.yml".into()),
            original_lines: true,
            set: set(),
        };
        let newest = RunOptions { session: SessionChoice::Newest, ..run_options() };
        let newest = FixRequest { run: newest, ..fix_request() };
        let adjustment = Adjustment { part: DesignPart::Mocks, text: "no network".into() };
        let integration = IntegrationRequest {
            repository: "r".into(),
            module: "--the cart".into(),
            mode: Mode::DryRun,
            approve: true,
            adjustment: Some(adjustment),
            jobs: Some(2),
            run: run_options(),
            models: models(),
        };
        let jobs = [
            Job::Fix(Box::new(fix_request())),
            Job::Fix(Box::new(newest)),
            Job::Fix(Box::default()),
            Job::Test(Box::new(test_request())),
            Job::Plan(Box::new(test_request())),
            Job::Plan(Box::default()),
            Job::Integration(Box::new(integration)),
            Job::Integration(Box::default()),
            Job::Validate(Box::new(validate)),
            Job::Validate(Box::default()),
        ];
        for job in jobs {
            assert_eq!(Job::from_json(job.to_json().as_bytes()).unwrap(), job);
        }
    }

    #[test]
    fn a_document_is_named_after_its_use_case_and_needs_only_what_differs() {
        let text = r#"{"fix": {"repository": "r", "session": "newest", "mode": "dry-run"}}"#;
        let expected = FixRequest {
            repository: "r".into(),
            mode: Mode::DryRun,
            run: RunOptions { session: SessionChoice::Newest, ..RunOptions::default() },
            ..FixRequest::default()
        };
        assert_eq!(Job::from_json(text.as_bytes()).unwrap(), Job::Fix(Box::new(expected)));
    }

    #[test]
    fn unknown_fields_and_use_cases_are_refused() {
        for text in [
            "",
            "{}",
            "[]",
            r#"{"guess": {}}"#,
            r#"{"fix": {"repositroy": "r"}}"#,
            r#"{"test": {"models": {"budget": 1}}}"#,
            r#"{"test": {"budget": 1}}"#,
            r#"{"plan": {"session": {"resume": {"session": "../x"}}}}"#,
            r#"{"validate": {"set": [{"key": "a"}]}}"#,
            r#"{"fix": {}, "plan": {}}"#,
        ] {
            assert!(Job::from_json(text.as_bytes()).is_err(), "{text}");
        }
    }
}
