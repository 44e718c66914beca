//! What may stand in the file, as types; the schema is made of them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::guard::FixScope;

use super::providers::Provider;

/// The whole file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Settings {
    /// How tests are run.
    pub test: Option<Test>,
    /// When a session may end.
    pub gate: Option<Gate>,
    /// Who analyses and fixes, first to last.
    pub engine: Option<Vec<String>>,
    /// Who can be asked, by name; over the built-in ones.
    pub providers: Option<BTreeMap<String, Provider>>,
    /// What may be spent.
    pub budget: Option<Budget>,
    /// Paths no edit may touch, as globs.
    pub protect: Option<Vec<String>>,
    /// Where kept fixes go: `branch` pushes a fix branch with a pull request, `head` moves the
    /// head branch itself, `none` pushes nothing.
    pub push: Option<Push>,
    /// Whether fixes are committed, and whether commits leave this machine: `push` as `push` says,
    /// `local` commits without pushing, `none` writes patches only.
    pub commit: Option<Commit>,
    /// Whether the state of a session travels in its commits, so that another machine goes on.
    pub commit_state: Option<CommitState>,
    /// What stays visible of a regressing attempt: its commit and the revert, or a patch file.
    pub history: Option<History>,
    /// Who may command by comments.
    pub commands: Option<Commands>,
    /// Follow-up issues to open after completion.
    pub expand: Option<Vec<Topic>>,
    /// Label that starts a run when it is put on a pull request.
    pub label: Option<String>,
    /// Tests that fail on the base too do not count in the rate.
    pub ignore_preexisting: Option<bool>,
    /// What test code can reach.
    pub sandbox: Option<Sandbox>,
    /// Thresholds of the fix loop.
    #[serde(rename = "loop")]
    pub fix_loop: Option<Loop>,
    /// When the answer of a provider is good enough.
    pub analysis: Option<Analysis>,
    /// Coverage that tests are planned for, and how it is measured.
    pub coverage: Option<Coverage>,
    /// Commands instead of the detected tools.
    pub tools: Option<Tools>,
    /// How `regreen test` and `regreen plan` go from plan to work.
    pub plan: Option<Planning>,
    /// What `regreen validate` looks at, and how strictly.
    pub validate: Option<Validate>,
}

impl Settings {
    /// What a fix may change.
    #[must_use]
    pub fn scope(&self) -> FixScope {
        match self.fix_loop.as_ref().and_then(|told| told.fix_scope).unwrap_or_default() {
            Scope::Code => FixScope::Code,
            Scope::Both => FixScope::Both,
            Scope::Tests => FixScope::Tests,
        }
    }
}

/// Where kept fixes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Push {
    Branch,
    Head,
    None,
}

/// What stays visible of a regressing attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum History {
    Revert,
    #[serde(alias = "discard")]
    Clean,
}

/// Whether fixes are committed and pushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Commit {
    Push,
    Local,
    None,
}

/// Where the state of a session lives.
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

/// Thresholds of the fix loop (product.md 2.3).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Loop {
    /// A fall of the rate by more points than this is a regression, 0 to 100.
    #[schemars(range(min = 0, max = 100))]
    pub regression_threshold: Option<u32>,
    /// Results in a row after which a failing test is stuck, 2 to 50.
    #[schemars(range(min = 2, max = 50))]
    pub stuck_threshold: Option<u32>,
    /// Share of stuck failures above which the run ends after two reflective iterations.
    #[schemars(range(min = 0, max = 1))]
    pub stuck_abort_ratio: Option<f64>,
    /// Likeness of failures above which a batch is tried.
    #[schemars(range(min = 0, max = 1))]
    pub similarity_threshold: Option<f64>,
    /// Pass rate in percent above which a batch is tried.
    #[schemars(range(min = 0, max = 100))]
    pub aggressive_min_rate: Option<u32>,
    /// What a fix may change: `code`, `both` (tests in a reflective iteration only) or `tests`.
    pub fix_scope: Option<Scope>,
}

/// When the answer of a provider is good enough (product.md 7.11).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Analysis {
    /// Limit of one call, for providers without a `timeout` of their own: `30s`, `20m`, `2h`.
    pub provider_timeout: Option<String>,
    /// Less sure than this is weak, from 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    pub min_confidence: Option<f64>,
    /// Fewer words of a report are weak.
    #[schemars(range(min = 0, max = 10_000))]
    pub min_analysis_words: Option<u32>,
    /// The same root cause so many times in a row asks the next provider.
    #[schemars(range(min = 2, max = 50))]
    pub same_cause_limit: Option<u32>,
}

/// Coverage that tests are planned for, in percent, and how it is measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Coverage {
    /// Of lines.
    #[schemars(range(min = 0, max = 100))]
    pub line: Option<u32>,
    /// Of branches.
    #[schemars(range(min = 0, max = 100))]
    pub branch: Option<u32>,
    /// Of functions.
    #[schemars(range(min = 0, max = 100))]
    pub function: Option<u32>,
    /// Runs the suite with coverage, instead of the detected tool.
    pub command: Option<String>,
    /// Where that command leaves its report, as a glob below the folder it runs in.
    pub report: Option<String>,
}

/// Commands instead of the detected tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Tools {
    /// Checks the project's own rules.
    pub lint: Option<String>,
    /// Compiles or checks types; also checks an edit before tests are run.
    pub build: Option<String>,
}

/// From plan to work.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Planning {
    /// Whether a run decides by itself what a person could be asked.
    pub auto: Option<bool>,
    /// Whether the work waits for a word behind the plan; goes before `auto`.
    pub confirm: Option<Confirm>,
}

impl Planning {
    /// Whether the work waits for a word: `confirm`, else the contrary of `auto`.
    #[must_use]
    pub fn waits(&self) -> bool {
        match self.confirm {
            Some(confirm) => confirm == Confirm::Always,
            None => self.auto == Some(false),
        }
    }
}

/// Whether the work waits for a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Confirm {
    Never,
    Always,
}

/// What `regreen validate` looks at, and how strictly.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Validate {
    /// Globs; everything without them.
    pub files: Option<Vec<String>>,
    /// Tolerate no error.
    pub strict: Option<bool>,
    /// Repair what is safe to repair.
    pub autofix: Option<bool>,
    /// Leave type checkers out.
    pub skip_types: Option<bool>,
}

/// What a follow-up issue is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Topic {
    Test,
    Enhance,
    Refactor,
    Doc,
}

/// Who may command by comments. Without write access nobody may.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Commands {
    /// Levels (`write`, `maintain`, `admin`), logins, or numeric ids of bots.
    pub allow: Option<Vec<Name>>,
    /// Teams as `organisation/team`; asking for them needs the token of an App.
    pub teams: Option<Vec<String>>,
}

impl Commands {
    /// The words of `allow`, ids as digits.
    #[must_use]
    pub fn allowed(&self) -> Vec<String> {
        let words = self.allow.iter().flatten().map(|name| match name {
            Name::Id(id) => id.to_string(),
            Name::Word(word) => word.clone(),
        });
        words.collect()
    }
}

/// A level, a login, or a numeric id.
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
    /// Image in which tests run, where a Docker socket is there.
    pub image: Option<String>,
    /// Whether tests may open outgoing connections.
    pub network: Option<bool>,
}

/// How tests are run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Test {
    /// Instead of the detected command.
    pub command: Option<String>,
    /// Where the command leaves JUnit XML or TAP.
    pub report: Option<String>,
    /// Commands before the first run.
    pub setup: Option<Vec<String>>,
    /// Limit of one run: `30s`, `20m`, `2h`.
    pub timeout: Option<String>,
    /// Globs of test files by layer: `static`, `unit`, `integration`, `e2e`.
    pub layers: Option<BTreeMap<String, String>>,
}

/// When a session may end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Gate {
    /// Percent, 1 to 100.
    #[schemars(range(min = 1, max = 100))]
    pub target: Option<u32>,
    /// Iterations, 1 to 50.
    #[schemars(range(min = 1, max = 50))]
    pub max_iterations: Option<u32>,
    /// Percent of small breaks of the code that tests must notice, 1 to 100.
    #[schemars(range(min = 1, max = 100))]
    pub min_mutation_score: Option<u32>,
}

/// What may be spent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Budget {
    /// Wall time of one run.
    #[schemars(range(min = 1))]
    pub minutes: Option<u64>,
    /// Wall time of the embedded engine in one session that writes tests: calls, choice, broken
    /// versions of the code.
    #[schemars(range(min = 1))]
    pub engine_minutes: Option<u64>,
    /// Dollars of one session, as far as prices are known.
    pub usd: Option<f64>,
    /// Tokens of one session.
    #[schemars(range(min = 1))]
    pub tokens: Option<u64>,
    /// Questions to providers in one session.
    #[schemars(range(min = 1))]
    pub calls: Option<u64>,
    /// The same for one iteration.
    pub iteration: Option<IterationBudget>,
}

/// What one iteration may spend; beyond, it goes on without providers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct IterationBudget {
    /// Dollars, as far as prices are known.
    pub usd: Option<f64>,
    /// Tokens.
    #[schemars(range(min = 1))]
    pub tokens: Option<u64>,
    /// Questions to providers.
    #[schemars(range(min = 1))]
    pub calls: Option<u64>,
}
