//! `Settings`: the configuration of a repository. Doc comments in this file are published as
//! descriptions in the JSON Schema, `action.yml` and `docs/settings.md`.

use std::collections::BTreeMap;

use globset::{Glob, GlobSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::command::Dimension;
use crate::domain::guard::FixScope;
use crate::domain::test_scripts::{self, ReadFile};

use super::providers::Provider;

/// Settings of regreen for one repository.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Settings {
    /// How tests are run.
    pub test: Option<Test>,
    /// When a session may end.
    pub gate: Option<Gate>,
    /// Providers to ask, in order; by default those whose API key is set, then `embedded`.
    pub providers: Option<Vec<String>>,
    /// Definitions of providers by name; they change or extend the built-in ones.
    pub provider: Option<BTreeMap<String, Provider>>,
    /// Limits on time and money.
    pub budget: Option<Budget>,
    /// Globs of paths that no edit may touch.
    pub protect: Option<Vec<String>>,
    /// How a result is published: `branch` pushes a fix branch and opens a pull request, `head`
    /// pushes to the head branch itself, `suggest` stores a patch that `/regreen apply` publishes,
    /// `none` publishes nothing.
    pub publish: Option<Publish>,
    /// Where the session's state is kept: in the commits of the fix `branch`, so that another job
    /// can resume it, or on disk only (`none`).
    pub commit_state: Option<CommitState>,
    /// What a regressing attempt leaves behind: `revert` keeps its commit and the revert, `clean`
    /// keeps a patch file.
    pub history: Option<History>,
    /// Who may give commands in comments.
    pub commands: Option<Commands>,
    /// Follow-up issues to open after completion.
    pub expand: Option<Vec<Dimension>>,
    /// Label that starts a run when it is added to a pull request.
    pub label: Option<String>,
    /// Leave tests that also fail on the base branch out of the pass rate.
    pub ignore_preexisting: Option<bool>,
    /// Record what a session learned in a separate commit below `.workflow`.
    pub sync: Option<bool>,
    /// Keep what sessions learned under `refs/regreen/memory`, and let later sessions begin with it:
    /// fixes, flaky and slow tests, failures of providers. It decides about order, about how often a
    /// failing test runs again, and about time, never about a result. Needs `contents: write` in
    /// the Action.
    pub memory: Option<bool>,
    /// Offer the result as one commit that GitHub creates and signs; the fix branch keeps every
    /// step.
    pub signed: Option<bool>,
    /// Workflow to run on the fix branch, such as `ci.yml`. Pushes made with the job token do not
    /// trigger workflows. Needs `actions: write`.
    pub check_workflow: Option<String>,
    /// Conclusion of the check run after a partial success.
    pub partial_conclusion: Option<PartialConclusion>,
    /// Isolation of the tests: container image and network access.
    pub sandbox: Option<Sandbox>,
    /// Thresholds of the fix loop.
    #[serde(rename = "loop")]
    pub fix_loop: Option<Loop>,
    /// When a provider's answer is good enough.
    pub analysis: Option<Analysis>,
    /// How coverage is measured, and how much of it tests are planned for.
    pub coverage: Option<Coverage>,
    /// Commands that replace the detected tools.
    pub tools: Option<Tools>,
    /// Whether a plan needs approval before `regreen test` carries it out.
    pub plan: Option<Planning>,
    /// What `regreen validate` checks, and how strictly.
    pub validate: Option<Validate>,
}

impl Settings {
    /// What no fix may change: the globs of `protect`, and the files of [`Self::run_by`].
    pub fn protected(&self, command: Option<&str>, read: ReadFile<'_>) -> GlobSet {
        glob_set(self.protect.iter().flatten().chain(&self.scripts(command, read)))
    }

    /// The files that the test command, by default the configured one, runs by themselves, as tests;
    /// `read` reads a file of the repository.
    pub fn run_by(&self, command: Option<&str>, read: ReadFile<'_>) -> GlobSet {
        glob_set(self.scripts(command, read).iter())
    }

    fn scripts(&self, command: Option<&str>, read: ReadFile<'_>) -> Vec<String> {
        let configured = self.test.as_ref().and_then(|test| test.command.as_deref());
        let command = command.or(configured).unwrap_or_default();
        let scripts = test_scripts::scripts(command, read);
        let glob = |file: &String| {
            let all = if file.ends_with('/') { "*" } else { "" };
            format!("**/{}{all}", globset::escape(file))
        };
        scripts.iter().map(glob).collect()
    }

    /// What a fix may change.
    pub fn scope(&self) -> FixScope {
        match self.fix_loop.as_ref().and_then(|fix_loop| fix_loop.fix_scope).unwrap_or_default() {
            Scope::Code => FixScope::Code,
            Scope::Both => FixScope::Both,
            Scope::Tests => FixScope::Tests,
        }
    }

    /// How a result is published.
    pub fn publish(&self) -> Publish {
        self.publish.unwrap_or(Publish::Branch)
    }

    /// How a result is published after a person has approved it.
    pub fn publish_approved(&self) -> Publish {
        match self.publish() {
            Publish::Suggest => Publish::Branch,
            publish => publish,
        }
    }
}

/// Globs of the configuration, which were checked when it was read.
pub fn glob_set<'a>(globs: impl Iterator<Item = &'a String>) -> GlobSet {
    GlobSet::new(globs.filter_map(|glob| Glob::new(glob).ok())).unwrap_or_default()
}

/// How a result is published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Publish {
    Branch,
    Head,
    Suggest,
    None,
}

/// Conclusion of the check run after a partial success.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PartialConclusion {
    Success,
    Neutral,
}

/// What a regressing attempt leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum History {
    Revert,
    Clean,
}

/// Where the state of a session is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CommitState {
    Branch,
    None,
}

/// What a fix may change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    #[default]
    Code,
    Both,
    Tests,
}

/// Thresholds of the fix loop (specification.md 2.3).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Loop {
    /// A drop of the pass rate by more percentage points than this is a regression and is undone.
    pub regression_threshold: Option<u32>,
    /// A test that fails this many times in a row is stuck.
    pub stuck_threshold: Option<u32>,
    /// Share of stuck failures above which the run ends after two reflective iterations.
    pub stuck_abort_ratio: Option<f64>,
    /// Similarity of failures above which several are fixed in one batch.
    pub similarity_threshold: Option<f64>,
    /// Pass rate in percent above which several failures are fixed in one batch.
    pub aggressive_min_rate: Option<u32>,
    /// What a fix may change: `code`, `both` (tests in a reflective iteration only) or `tests`.
    /// Changed tests need the approval of a person.
    pub fix_scope: Option<Scope>,
}

/// When an answer of a provider is good enough (specification.md 7.11).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Analysis {
    /// Time limit of one call, for providers without a `timeout` of their own.
    pub provider_timeout: Option<String>,
    /// If an analysis has a lower confidence, the next provider is asked.
    pub min_confidence: Option<f64>,
    /// If the same root cause is named this many times in a row, the next provider is asked.
    pub same_cause_limit: Option<u32>,
}

/// How coverage is measured, and how much of it tests are planned for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Coverage {
    /// Line coverage, in percent, below which tests are planned for a file.
    pub line: Option<u32>,
    /// Branch coverage, in percent, below which tests are planned for a file.
    pub branch: Option<u32>,
    /// Function coverage, in percent, below which tests are planned for a file.
    pub function: Option<u32>,
    /// Command that runs the suite with coverage, instead of the detected tool. Needs
    /// `coverage.report`.
    pub command: Option<String>,
    /// Glob of the report that the coverage command writes, below the folder it runs in.
    pub report: Option<String>,
}

/// Commands that replace the detected tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Tools {
    /// Command that lints the project, for `validate`.
    pub lint: Option<String>,
    /// Command that compiles or type-checks the project, for `validate` and before the tests of an
    /// edit run.
    pub build: Option<String>,
}

/// How `regreen test` gets from the plan to the work.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Planning {
    /// Whether to ask for approval before carrying out a plan; `/regreen run` approves it.
    pub confirm: Option<Confirm>,
}

impl Planning {
    /// Whether a plan needs approval before it is carried out.
    pub fn waits(&self) -> bool {
        self.confirm == Some(Confirm::Always)
    }
}

/// When a plan needs approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Confirm {
    Never,
    Always,
}

/// What `regreen validate` checks, and how strictly.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Validate {
    /// Globs of the files to check; all files without them.
    pub files: Option<Vec<String>>,
    /// Fail on the first error instead of tolerating a few.
    pub strict: Option<bool>,
    /// Fix what can be fixed safely.
    pub fix: Option<bool>,
    /// Skip the project's type checkers.
    pub skip_types: Option<bool>,
}

/// Who may give commands in comments. Write access is always required.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Commands {
    /// Permission levels (`write`, `maintain`, `admin`), logins, or numeric ids of bots.
    pub allow: Option<Vec<Name>>,
    /// Teams as `organisation/team`. Looking them up needs the token of a GitHub App.
    pub teams: Option<Vec<String>>,
}

impl Commands {
    /// The entries of `allow` as strings, numeric ids as digits.
    pub fn allowed(&self) -> Vec<String> {
        let words = self.allow.iter().flatten().map(|name| match name {
            Name::Id(id) => id.to_string(),
            Name::Word(word) => word.clone(),
        });
        words.collect()
    }
}

/// An entry of `commands.allow`: a permission level, a login, or a numeric id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Name {
    Id(u64),
    Word(String),
}

/// What test code can reach.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Sandbox {
    /// Container image in which tests run, with `docker` or `podman` of the runner and without
    /// network unless `sandbox.network` is true.
    pub image: Option<String>,
    /// Let tests open outgoing connections.
    pub network: Option<bool>,
}

/// How tests are run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Test {
    /// Command that runs the tests, instead of the detected one.
    pub command: Option<String>,
    /// Glob of the JUnit XML or TAP report that the test command writes.
    pub report: Option<String>,
    /// Commands that prepare a checkout before its first test run.
    pub setup: Option<Vec<String>>,
    /// Time limit of one test run, such as `30s`, `20m` or `2h`.
    pub timeout: Option<String>,
    /// Globs of test files by layer: `static`, `unit`, `integration`, `e2e`.
    pub layers: Option<BTreeMap<String, String>>,
}

/// When a session may end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Gate {
    /// Pass rate in percent from which failures of low criticality may remain.
    pub target: Option<u32>,
    /// Maximum number of iterations.
    pub max_iterations: Option<u32>,
    /// Percent of mutants that written tests must detect.
    pub min_mutation_score: Option<u32>,
    /// Failing tests that are known, each with the last day on which it is excused and the reason,
    /// such as `2027-01-31, why it fails`. They count in the pass rate, are of low criticality, and
    /// no repair is tried. A `*` at the end of a test's id stands for any rest.
    pub known_failures: Option<BTreeMap<String, String>>,
}

/// Limits on time and money.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Budget {
    /// Minutes after which a run stops at a checkpoint.
    pub minutes: Option<u64>,
    /// Minutes the embedded engine may spend on writing tests in one session.
    pub engine_minutes: Option<u64>,
    /// Dollars that one session may spend, as far as prices are known.
    pub usd: Option<f64>,
    /// Dollars that all jobs of the Action may spend on one day (UTC), as far as prices are known.
    pub day_usd: Option<f64>,
    /// Tokens that one session may use.
    pub tokens: Option<u64>,
    /// Calls to providers that one session may make.
    pub calls: Option<u64>,
    /// Limits of one iteration; beyond them it continues without providers.
    pub iteration: Option<IterationBudget>,
}

/// Limits of one iteration; beyond them it continues without providers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct IterationBudget {
    /// Dollars that one iteration may spend, as far as prices are known.
    pub usd: Option<f64>,
    /// Tokens that one iteration may use.
    pub tokens: Option<u64>,
    /// Calls to providers that one iteration may make.
    pub calls: Option<u64>,
}
