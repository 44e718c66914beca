//! What the application can be asked to do in a process of its own.
//!
//! A [`Job`] travels as one JSON document on the standard input of `regreen work`. The command line
//! builds the same requests from its flags, so both faces reach a use case through one type.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::config::Override;
use crate::domain::request::Mode;
use crate::domain::session::SessionChoice;

/// One use case with everything it needs to know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Job {
    /// Bring the suite back to green; with [`Mode::DryRun`], explain the failures only.
    Fix(Box<FixRequest>),
    /// Plan tests, write them, and fix what they break.
    Test(Box<TestRequest>),
    /// Plan tests; write none.
    Plan(Box<TestRequest>),
    /// Check the quality of code and tests.
    Validate(Box<ValidateRequest>),
}

impl Job {
    /// Parses the document that [`Job::to_json`] wrote.
    ///
    /// # Errors
    ///
    /// When it is not JSON, lacks a field without a default, or has an unknown one.
    pub fn from_json(text: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(text)
    }

    /// The document for the standard input of `regreen work`.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Which models are asked, and what that may cost. Unset fields fall back to the configuration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct ModelOptions {
    /// Names of providers, in the order in which they are asked.
    pub providers: Vec<String>,
    /// Wall time of the run, in minutes.
    pub budget_minutes: Option<u64>,
    /// Dollars for providers whose prices are known.
    pub budget_usd: Option<f64>,
    /// Tokens for all providers together.
    pub budget_tokens: Option<u64>,
    /// Calls to all providers together.
    pub budget_calls: Option<u64>,
    /// Folder that receives every exchange with a provider.
    pub record: Option<PathBuf>,
    /// Folder of a recording that answers instead of the providers.
    pub replay: Option<PathBuf>,
}

/// A request to fix the tests of one repository. Unset fields fall back to the configuration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct FixRequest {
    /// The repository, or a folder below it.
    pub repository: PathBuf,
    /// A new session, or the one to resume.
    pub session: SessionChoice,
    /// What may change: commits on a branch, patch files, or nothing.
    pub mode: Mode,
    /// Name of the fix branch instead of `regreen/SESSION`.
    pub branch: Option<String>,
    /// Branch, tag or commit that the change is compared with.
    pub base: Option<String>,
    /// Command that runs the tests.
    pub test_command: Option<String>,
    /// Commands that prepare a checkout before its first run.
    pub setup: Vec<String>,
    /// Glob of the reports that the test command writes.
    pub report: Option<String>,
    /// Time limit of one test run, such as `20m`.
    pub test_timeout: Option<String>,
    /// Pass rate that ends the session, in percent.
    pub target: Option<u32>,
    /// Iteration limit.
    pub max_iterations: Option<u32>,
    /// Candidates that run at the same time.
    pub jobs: Option<u16>,
    /// Whether the final change keeps parts that the suite does not need.
    pub no_minimise: bool,
    /// Which models are asked.
    pub models: ModelOptions,
    /// Configuration file instead of that of the repository.
    pub config: Option<PathBuf>,
    /// Values that win over the configuration file.
    pub set: Vec<Override>,
    /// Folder that receives events and commits while the session runs.
    pub bundle: Option<PathBuf>,
    /// File that receives the session as an HTML page.
    pub html: Option<PathBuf>,
}

/// A request to plan tests or to write them. Unset fields fall back to the configuration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct TestRequest {
    /// The repository, or a folder below it.
    pub repository: PathBuf,
    /// What to test: a description, a Markdown file or the id of a finished session. Ignored when
    /// a session is resumed.
    pub input: String,
    /// A new session, or the one to resume.
    pub session: SessionChoice,
    /// Whether a new session starts even if an unfinished one for the same input exists.
    pub fresh: bool,
    /// Whether the plan is approved, so that writing starts without asking.
    pub approve: bool,
    /// Branch, tag or commit that the change is compared with.
    pub base: Option<String>,
    /// Command that runs the tests.
    pub test_command: Option<String>,
    /// Time limit of one test run, such as `20m`.
    pub test_timeout: Option<String>,
    /// Coverage report to read instead of running the tests.
    pub coverage_report: Option<PathBuf>,
    /// Whether coverage is not measured, so that names and imports decide what has tests.
    pub no_coverage: bool,
    /// Iteration limit of the fix loop behind the plan.
    pub max_iterations: Option<u32>,
    /// Which models are asked.
    pub models: ModelOptions,
    /// Configuration file instead of that of the repository.
    pub config: Option<PathBuf>,
    /// Values that win over the configuration file.
    pub set: Vec<Override>,
    /// Folder that receives events and commits while the session runs.
    pub bundle: Option<PathBuf>,
}

/// A request to check code and tests. What is checked how strictly is configuration: see the keys
/// below `validate` and `tools`, which [`ValidateRequest::set`] can change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct ValidateRequest {
    /// A repository, or files and folders of one; the current folder when empty.
    pub paths: Vec<PathBuf>,
    /// Branch, tag or commit; only files that differ from the merge base with it are checked.
    pub base: Option<String>,
    /// Whether no tool of the project runs, type checkers included.
    pub skip_tools: bool,
    /// Whether the quality of tests is checked too.
    pub tests: bool,
    /// Session whose folder receives the reports.
    pub session: Option<crate::domain::id::SessionId>,
    /// Folder that receives the reports.
    pub report: Option<PathBuf>,
    /// Configuration file instead of that of the repository.
    pub config: Option<PathBuf>,
    /// Values that win over the configuration file.
    pub set: Vec<Override>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::SessionId;

    fn id() -> SessionId {
        SessionId::parse("WFS-test-main").unwrap()
    }

    fn models() -> ModelOptions {
        ModelOptions {
            providers: vec!["gemini".into(), "embedded".into()],
            budget_minutes: Some(30),
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

    fn fix_request() -> FixRequest {
        FixRequest {
            repository: "a b".into(),
            session: SessionChoice::Resume { session: id() },
            mode: Mode::DryRun,
            branch: Some("fix".into()),
            base: Some("main".into()),
            test_command: Some("pytest -q".into()),
            setup: vec!["npm ci".into()],
            report: Some("out/*.xml".into()),
            test_timeout: Some("5m".into()),
            target: Some(97),
            max_iterations: Some(3),
            jobs: Some(2),
            no_minimise: true,
            models: models(),
            config: Some("c.yml".into()),
            set: set(),
            bundle: Some("bundle".into()),
            html: Some("page.html".into()),
        }
    }

    fn test_request() -> TestRequest {
        TestRequest {
            repository: "r".into(),
            input: "--words that look like a flag".into(),
            session: SessionChoice::New { name: Some(id()) },
            fresh: true,
            approve: true,
            base: Some("main".into()),
            test_command: Some("pytest".into()),
            test_timeout: Some("5m".into()),
            coverage_report: Some("lcov.info".into()),
            no_coverage: true,
            max_iterations: Some(4),
            models: models(),
            config: Some("c.yml".into()),
            set: set(),
            bundle: Some("bundle".into()),
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
            set: set(),
        };
        let newest = FixRequest { session: SessionChoice::Newest, ..fix_request() };
        let jobs = [
            Job::Fix(Box::new(fix_request())),
            Job::Fix(Box::new(newest)),
            Job::Fix(Box::default()),
            Job::Test(Box::new(test_request())),
            Job::Plan(Box::new(test_request())),
            Job::Plan(Box::default()),
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
            session: SessionChoice::Newest,
            mode: Mode::DryRun,
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
            r#"{"plan": {"session": {"resume": {"session": "../x"}}}}"#,
            r#"{"validate": {"set": [{"key": "a"}]}}"#,
            r#"{"fix": {}, "plan": {}}"#,
        ] {
            assert!(Job::from_json(text.as_bytes()).is_err(), "{text}");
        }
    }
}
