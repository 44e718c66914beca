//! The command line as clap types: verbs, flags and their default values.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::app::{
    CharacteriseRequest, FixRequest, ForgetRequest, IntegrationRequest, ReportRequest,
    ScoreRequest, SessionSelection, TestRequest, ValidateRequest,
};
use crate::config;
use crate::domain::provider::ClientProgram;

/// Fixes failing tests automatically: analyses each failure, fixes it, proves the fix by running
/// the tests again, and commits it to a branch of its own.
#[derive(Debug, Parser)]
#[command(name = "regreen", version, about, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 gate met, 1 gate not met, 2 wrong usage or configuration, 3 the environment failed."
)]
pub struct Arguments {
    /// The verb with its flags.
    #[command(subcommand)]
    pub verb: Verb,
    /// Log more on standard error; repeat for even more.
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub verbose: u8,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Fix the failing tests of a repository, on a branch.
    #[command(
        after_help = "Examples:\n  regreen fix\n  regreen fix --base main --max-iterations 20\n  regreen fix --test-command './run-tests' --report 'reports/**/*.xml'\n  regreen fix --resume"
    )]
    Fix(Box<FixArguments>),
    /// Plan tests for code that has none: context, requirements by layer, tasks. Writes no test.
    #[command(
        after_help = "WHAT is a description, a Markdown file, or a finished session:\n  regreen plan shop/price.py\n  regreen plan 'the discount in the cart'\n  regreen plan docs/feature.md\n  regreen plan WFS-add-login"
    )]
    Plan(Box<PlanArguments>),
    /// Plan tests and write them.
    #[command(
        after_help = "Examples:\n  regreen test shop/price.py\n  regreen test --resume\n  regreen test --resume WFS-test-price --yes"
    )]
    Test(Box<PlanArguments>),
    /// Write integration tests that cross the boundaries of a module, and reflect on what they show.
    #[command(
        after_help = "MODULE is a path or words:\n  regreen integration shop/checkout.py\n  regreen integration 'the checkout'\n  regreen integration --dry-run shop\n  regreen integration --continue"
    )]
    Integration(Box<IntegrationArguments>),
    /// List, show, replay and archive sessions.
    Session(SessionArguments),
    /// Watch regreen fix a small built-in example.
    Demo(DemoArguments),
    /// Show or forget what earlier sessions of a repository left for later ones.
    #[command(
        after_help = "Examples:\n  regreen memory show\n  regreen memory forget --test tests/test_fees.py::test_total\n  regreen memory forget --all"
    )]
    Memory(MemoryArguments),
    /// Write characterisation tests: they describe what functions do today, found by calling them.
    /// No model is asked.
    #[command(
        after_help = "Examples:\n  regreen pin\n  regreen pin src/fees.py --function total\n  regreen pin --dry-run lib"
    )]
    Pin(CodeArguments<CharacteriseRequest>),
    /// Measure the mutation score: how many small changes of the code the tests notice.
    #[command(
        after_help = "Examples:\n  regreen score\n  regreen score src/fees.py --min-mutation-score 75\n  regreen score --markdown lib"
    )]
    Score(CodeArguments<ScoreRequest>),
    /// List the sessions of a repository that are not archived.
    Status(RepositoryArguments),
    /// Show what is detected in a repository, and what is missing.
    Doctor(RepositoryArguments),
    /// Install the command-line clients of models.
    Clients(ClientsArguments),
    /// Check code for the mistakes that generated code tends to have, and decide the gate on them.
    #[command(
        after_help = "Examples:\n  regreen validate\n  regreen validate --base main --strict\n  regreen validate --files 'src/**/*.py' --fix\n  regreen validate src/shop tests/test_shop.py --tests\n\nThe exit code is 0 for PASS, 1 for SOFT_FAIL and HARD_FAIL; the report says which. Under GitHub\nActions findings are annotations too."
    )]
    Validate(ValidateArguments),
    /// Print the report of a session, or draw it as a page.
    Report(ReportRequest),
    /// Handle an event of GitHub Actions, as the action does: reads the environment of the runner.
    Action,
    /// Publish the bundle that `regreen fix --bundle` wrote, in a job that runs no tests.
    Publish {
        /// The folder of the bundle.
        bundle: PathBuf,
    },
    /// Run the job that another process writes to standard input.
    #[command(hide = true)]
    Work,
    /// Check the configuration file, or print its schema.
    Config(ConfigArguments),
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

impl Verb {
    /// Whether standard output must hold exactly one JSON document.
    pub fn wants_json(&self) -> bool {
        match self {
            Self::Fix(arguments) => arguments.output.json,
            Self::Plan(arguments) | Self::Test(arguments) => arguments.output.json,
            Self::Integration(arguments) => arguments.output.json,
            Self::Session(SessionArguments { of, .. }) => of.json,
            Self::Demo(arguments) => arguments.output.json,
            Self::Pin(arguments) => arguments.json,
            Self::Score(arguments) => arguments.json,
            Self::Status(arguments) | Self::Doctor(arguments) => arguments.json,
            Self::Validate(arguments) => arguments.json,
            Self::Clients(ClientsArguments { action: ClientsAction::Install { json, .. } }) => {
                *json
            }
            Self::Memory(MemoryArguments { action: MemoryAction::Show { json, .. } }) => *json,
            Self::Work => true,
            Self::Memory(_)
            | Self::Report(_)
            | Self::Config(_)
            | Self::Action
            | Self::Publish { .. }
            | Self::Completions { .. } => false,
        }
    }
}

fn client() -> impl TypedValueParser<Value = ClientProgram> {
    PossibleValuesParser::new(ClientProgram::ALL.map(ClientProgram::word)).try_map(|word| {
        let known = ClientProgram::ALL.into_iter().find(|client| client.word() == word);
        known.ok_or("no such client")
    })
}

/// Flags of `clients`.
#[derive(Clone, Debug, Args)]
pub struct ClientsArguments {
    #[command(subcommand)]
    pub action: ClientsAction,
}

/// What `clients` does.
#[derive(Clone, Debug, Subcommand)]
pub enum ClientsAction {
    /// Install clients with npm at the versions that regreen was tested with.
    #[command(
        after_help = "Sessions find them in the tool cache of the runner (RUNNER_TOOL_CACHE), or in ~/.cache/regreen.\nWith --folder, name the printed program as `program` of the provider.\n\nExamples:\n  regreen clients install codex\n  regreen clients install claude gemini --folder /opt/clients"
    )]
    Install {
        /// The clients.
        #[arg(required = true, value_name = "CLIENT", value_parser = client())]
        clients: Vec<ClientProgram>,
        /// Folder to install into.
        #[arg(long)]
        folder: Option<PathBuf>,
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
    },
}

/// Flags of `fix`.
#[derive(Clone, Debug, Default, Args)]
pub struct FixArguments {
    #[command(flatten)]
    pub request: FixRequest,
    /// Name of the new session [default: WFS-test-BRANCH].
    #[arg(long, value_name = "SESSION", conflicts_with = "resume")]
    pub session: Option<String>,
    /// Resume a stopped session; the newest one when none is named.
    #[arg(long, value_name = "SESSION", num_args = 0..=1, default_missing_value = "")]
    pub resume: Option<String>,
    /// How a regressing attempt is recorded: `revert` keeps its commit and a revert, `clean` keeps
    /// a patch file [default: revert].
    #[arg(long, value_name = "WORD")]
    pub history: Option<String>,
    /// Where the session's state is stored: in the commits of the fix `branch`, or on disk alone
    /// (`none`) [default: branch].
    #[arg(long, value_name = "WORD")]
    pub commit_state: Option<String>,
    /// Exclude tests that also fail on the base from the rate and the gate; needs `--base`.
    #[arg(long)]
    pub ignore_preexisting: bool,
    /// What a fix may change: `code`, `both` (tests in a reflective iteration only) or `tests`.
    /// Changed tests end as partial success at best [default: code].
    #[arg(long, alias = "loop-fix-scope", value_name = "WORD")]
    pub fix_scope: Option<String>,
    /// Run test code in this container image, with docker or podman.
    #[arg(long, value_name = "IMAGE")]
    pub sandbox_image: Option<String>,
    /// Run the tests and explain where the failures may come from; change nothing.
    #[arg(long, conflicts_with = "publish")]
    pub dry_run: bool,
    /// Where the result goes: `branch` commits it to a fix branch, `suggest` writes patches into
    /// the session's folder and makes no branch [default: branch].
    #[arg(long, value_name = "WHERE")]
    pub publish: Option<String>,
    #[command(flatten)]
    pub output: Output,
}

/// Flags of `plan` and `test`.
#[derive(Clone, Debug, Default, Args)]
pub struct PlanArguments {
    /// What to test: a description, a Markdown file, or a session such as WFS-add-login.
    #[arg(required_unless_present = "resume", conflicts_with = "resume")]
    pub what: Vec<String>,
    #[command(flatten)]
    pub request: TestRequest,
    /// Resume a session; the newest one when none is named.
    #[arg(long, value_name = "SESSION", num_args = 0..=1, default_missing_value = "")]
    pub resume: Option<String>,
    /// Name of the new session [default: WFS-test-DESCRIPTION].
    #[arg(long, value_name = "SESSION", conflicts_with = "resume")]
    pub session: Option<String>,
    /// Whether to ask for approval before carrying out the plan [default: never].
    #[arg(long, alias = "plan-confirm", value_name = "WHEN", value_parser = ["never", "always"])]
    pub confirm_plan: Option<String>,
    /// Share of mutants that written tests must kill, in percent [default: 60].
    #[arg(long, alias = "gate-min-mutation-score", value_name = "PERCENT", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub min_mutation_score: Option<u32>,
    /// Minutes for writing and checking tests without a model; what is not done by then is left out
    /// and reported [default: 6, or the key `budget.engine-minutes`].
    #[arg(long, alias = "budget-engine-minutes", value_name = "MINUTES", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub engine_minutes: Option<u64>,
    /// Run the suite with coverage by this command, instead of the detected tool; needs the key
    /// `coverage.report`, the glob of its report.
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["coverage_report", "no_coverage"])]
    pub coverage_command: Option<String>,
    #[command(flatten)]
    pub output: Output,
}

/// Flags of `integration`.
#[derive(Clone, Debug, Default, Args)]
pub struct IntegrationArguments {
    /// The module: a file, a folder, or words that name it.
    #[arg(required_unless_present = "continue", conflicts_with = "continue")]
    pub module: Vec<String>,
    #[command(flatten)]
    pub request: IntegrationRequest,
    /// Continue a session; the newest one when none is named.
    #[arg(long = "continue", short = 'c', id = "continue", value_name = "SESSION", num_args = 0..=1, default_missing_value = "")]
    pub resume: Option<String>,
    /// Explore and design only; print the design and change nothing.
    #[arg(long, conflicts_with = "continue")]
    pub dry_run: bool,
    /// Minutes for writing tests without a model; what is not done by then is left out and reported
    /// [default: 6, or the key `budget.engine-minutes`].
    #[arg(long, value_name = "MINUTES", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub engine_minutes: Option<u64>,
    #[command(flatten)]
    pub output: Output,
}

/// What a run prints.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct Output {
    /// Print one JSON document on standard output at the end; everything else goes to standard error.
    #[arg(long)]
    pub json: bool,
    /// Show only the result.
    #[arg(long, short)]
    pub quiet: bool,
}

/// Flags of `session`.
#[derive(Debug, Args)]
pub struct SessionArguments {
    /// The action.
    pub what: SessionVerb,
    #[command(flatten)]
    pub of: ReplayArguments,
}

/// Actions on sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SessionVerb {
    /// All sessions, archived ones included, and sources that could be tested.
    List,
    /// The phases and tasks of one session.
    Status,
    /// Decide a session again from its files, and show what would differ now.
    Replay,
    /// Mark a session as completed and archive it; its tasks keep their status.
    Complete,
    /// Archive a session as it is.
    Archive,
}

/// Flags of `memory`.
#[derive(Debug, Args)]
pub struct MemoryArguments {
    #[command(subcommand)]
    pub action: MemoryAction,
}

/// What `memory` does.
#[derive(Debug, Subcommand)]
pub enum MemoryAction {
    /// Show the memory of this clone.
    Show {
        /// The repository, or a folder below it.
        #[arg(default_value = ".")]
        repository: PathBuf,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Forget entries of the memory of this clone, or all of it.
    Forget {
        /// The repository, or a folder below it.
        #[arg(default_value = ".")]
        repository: PathBuf,
        #[command(flatten)]
        request: ForgetRequest,
    },
}

/// Flags of `pin` or `score`: a request and its output.
#[derive(Clone, Debug, Args)]
pub struct CodeArguments<R: Args> {
    #[command(flatten)]
    pub request: R,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Print Markdown.
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,
    /// Show only the result.
    #[arg(long, short)]
    pub quiet: bool,
}

/// Flags of `demo`.
#[derive(Debug, Args)]
pub struct DemoArguments {
    /// Create the example in this folder instead of a temporary one.
    #[arg(long, value_name = "FOLDER")]
    pub into: Option<PathBuf>,
    /// Draw the session as one page of HTML in this file at the end.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub output: Output,
}

/// Flags of `status` and `doctor`.
#[derive(Debug, Args)]
pub struct RepositoryArguments {
    /// The repository, or a folder below it.
    #[arg(default_value = ".")]
    pub repository: PathBuf,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Flags of `validate`.
#[derive(Clone, Debug, Args)]
pub struct ValidateArguments {
    #[command(flatten)]
    pub request: ValidateRequest,
    /// Check only files that match this glob; repeat for more.
    #[arg(long, value_name = "GLOB")]
    pub files: Vec<String>,
    /// Tolerate no error.
    #[arg(long, alias = "validate-strict")]
    pub strict: bool,
    /// Repair what can be repaired safely in the files that are checked: unused imports, unused
    /// variables that hold a literal, formatting by the project's own formatter. Needs a PATH,
    /// `--files` or `--base`.
    #[arg(long, alias = "validate-fix")]
    pub fix: bool,
    /// Check the project's own rules by this command, instead of the detected linter.
    #[arg(long, alias = "tools-lint", value_name = "COMMAND")]
    pub lint_command: Option<String>,
    /// Compile or check types by this command, instead of the detected tool.
    #[arg(long, alias = "tools-build", value_name = "COMMAND")]
    pub build_command: Option<String>,
    /// Skip the project's own type checkers.
    #[arg(long, alias = "validate-skip-types")]
    pub skip_types: bool,
    /// Print one JSON document on standard output.
    #[arg(long)]
    pub json: bool,
}

/// Flags of the actions of `session`.
#[derive(Debug, Args)]
pub struct ReplayArguments {
    #[command(flatten)]
    pub of: SessionSelection,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Flags of `config`.
#[derive(Debug, Args)]
pub struct ConfigArguments {
    /// The action.
    pub what: ConfigVerb,
    /// The file to check.
    #[arg(default_value = config::PATH)]
    pub file: PathBuf,
}

/// Actions on the configuration.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ConfigVerb {
    /// Report problems in the file, with line and column.
    Check,
    /// Print the JSON Schema of the file.
    Schema,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn no_verb_has_a_flag_twice() {
        Arguments::command().debug_assert();
    }
}
