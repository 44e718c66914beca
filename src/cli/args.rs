//! The command line: verbs, flags, and what they default to.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::config::Override;

use super::asking::AskingArguments;

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
    /// List, show, replay and archive sessions.
    Session(SessionArguments),
    /// Watch regreen fix a small built-in example.
    Demo(DemoArguments),
    /// Write characterisation tests: they describe what functions do today, found by calling them.
    /// No model is asked.
    #[command(
        after_help = "Examples:\n  regreen pin\n  regreen pin src/fees.py --function total\n  regreen pin --dry-run lib"
    )]
    Pin(PinArguments),
    /// Measure the mutation score: how many small changes of the code the tests notice.
    #[command(
        after_help = "Examples:\n  regreen score\n  regreen score src/fees.py --min-mutation-score 75\n  regreen score --markdown lib"
    )]
    Score(ScoreArguments),
    /// Show the sessions of a repository.
    Status(StatusArguments),
    /// Show what is detected in a repository, and what is missing.
    Doctor(DoctorArguments),
    /// Check code for the mistakes that generated code tends to have, and decide the gate on them.
    #[command(
        after_help = "Examples:\n  regreen validate\n  regreen validate --base main --strict\n  regreen validate --files 'src/**/*.py' --fix\n  regreen validate src/shop tests/test_shop.py --tests\n\nThe exit code is 0 for PASS, 1 for SOFT_FAIL and HARD_FAIL; the report says which. Under GitHub\nActions findings are annotations too."
    )]
    Validate(ValidateArguments),
    /// Print the report of a session, or draw it as a page.
    Report(ReportArguments),
    /// Same as `session replay`.
    #[command(hide = true)]
    Replay(ReplayArguments),
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
    /// Whether standard output belongs to one JSON document.
    pub fn wants_json(&self) -> bool {
        match self {
            Self::Fix(arguments) => arguments.json,
            Self::Plan(arguments) | Self::Test(arguments) => arguments.json,
            Self::Session(arguments) => arguments.json,
            Self::Demo(arguments) => arguments.json,
            Self::Pin(arguments) => arguments.what.json,
            Self::Score(arguments) => arguments.what.json,
            Self::Status(arguments) => arguments.json,
            Self::Doctor(arguments) => arguments.json,
            Self::Replay(arguments) => arguments.json,
            Self::Validate(arguments) => arguments.json,
            Self::Work => true,
            Self::Report(_)
            | Self::Config(_)
            | Self::Action
            | Self::Publish { .. }
            | Self::Completions { .. } => false,
        }
    }
}

/// Flags of `fix`.
#[derive(Clone, Debug, Default, Args)]
pub struct FixArguments {
    /// The repository, or a folder below it.
    #[arg(default_value = ".")]
    pub repository: PathBuf,
    /// Command that runs the tests, instead of the detected one.
    #[arg(long, value_name = "COMMAND")]
    pub test_command: Option<String>,
    /// Command that prepares every checkout before its first run, such as `npm ci`; repeat for more.
    #[arg(long, alias = "test-setup", value_name = "COMMAND")]
    pub setup: Vec<String>,
    /// Glob of the JUnit XML or TAP files that the command writes, below the folder it runs in.
    #[arg(long, alias = "test-report", value_name = "GLOB")]
    pub report: Option<String>,
    /// Time limit of one test run, such as 30s, 20m or 2h [default: 20m].
    #[arg(long, value_name = "TIME")]
    pub test_timeout: Option<String>,
    /// Pass rate that ends the session, in percent [default: 95].
    #[arg(long, alias = "gate-target", value_name = "PERCENT", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub target: Option<u32>,
    /// Maximum number of iterations [default: 10].
    #[arg(long, alias = "gate-max-iterations", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=50))]
    pub max_iterations: Option<u32>,
    /// Which models are asked, and what that may cost.
    #[command(flatten)]
    pub asking: AskingArguments,
    /// Configuration file, instead of .github/regreen.yml of the repository.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Set a key of the configuration file for this run, such as `loop.stuck-threshold=4`; repeat
    /// for more. `regreen config schema` prints all keys.
    #[arg(long, value_name = "KEY=VALUE", value_parser = Override::parse)]
    pub set: Vec<Override>,
    /// Name of the new session [default: WFS-test-BRANCH].
    #[arg(long, value_name = "SESSION", conflicts_with = "resume")]
    pub session: Option<String>,
    /// Write events, commits and digests to this folder while it runs, for `regreen publish`.
    #[arg(long, value_name = "FOLDER", conflicts_with = "suggest")]
    pub bundle: Option<PathBuf>,
    /// Draw the session as one page of HTML in this file at the end.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Name of the fix branch [default: regreen/SESSION].
    #[arg(long, value_name = "NAME")]
    pub branch: Option<String>,
    /// Branch, tag or commit the change is measured against: failures that it has too are marked,
    /// and what changed since is the first suspect.
    #[arg(long, value_name = "REF")]
    pub base: Option<String>,
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
    #[arg(long, alias = "image", value_name = "IMAGE")]
    pub sandbox_image: Option<String>,
    /// Candidates tried at the same time [default: number of cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub jobs: Option<u16>,
    /// Run the tests and explain where the failures may come from; change nothing.
    #[arg(long, conflicts_with_all = ["publish", "suggest"])]
    pub dry_run: bool,
    /// Where the result goes: `branch` commits it to a fix branch, `suggest` writes patches into
    /// the session's folder and makes no branch [default: branch].
    #[arg(long, value_name = "WHERE")]
    pub publish: Option<String>,
    /// Former `--publish suggest`.
    #[arg(long, hide = true, conflicts_with = "publish")]
    pub suggest: bool,
    /// Keep the whole change when the gate is met, including parts that the suite does not need.
    #[arg(long)]
    pub no_minimise: bool,
    /// Print one JSON document on standard output at the end; everything else goes to standard error.
    #[arg(long)]
    pub json: bool,
    /// Show only the result.
    #[arg(long, short)]
    pub quiet: bool,
}

/// Flags of `plan` and `test`.
#[derive(Clone, Debug, Default, Args)]
pub struct PlanArguments {
    /// What to test: a description, a Markdown file, or a session such as WFS-add-login.
    #[arg(required_unless_present = "resume", conflicts_with = "resume")]
    pub what: Vec<String>,
    /// The repository, or a folder below it.
    #[arg(long, default_value = ".", value_name = "REPO")]
    pub repository: PathBuf,
    /// Resume a session; the newest one when none is named.
    #[arg(long, value_name = "SESSION", num_args = 0..=1, default_missing_value = "")]
    pub resume: Option<String>,
    /// Name of the new session [default: WFS-test-DESCRIPTION].
    #[arg(long, value_name = "SESSION", conflicts_with = "resume")]
    pub session: Option<String>,
    /// Start a new session even if one for the same input and the same commit exists.
    #[arg(long, conflicts_with = "resume")]
    pub fresh: bool,
    /// Command that runs the tests, instead of the detected one.
    #[arg(long, value_name = "COMMAND")]
    pub test_command: Option<String>,
    /// Time limit of one test run, such as 30s, 20m or 2h [default: 20m].
    #[arg(long, value_name = "TIME")]
    pub test_timeout: Option<String>,
    /// Read this coverage report instead of running the tests: lcov, XML of Cobertura or
    /// `JaCoCo`, JSON of coverage.py, c8 or V8, or a Go cover profile.
    #[arg(long, value_name = "FILE")]
    pub coverage_report: Option<PathBuf>,
    /// Run no test; decide by names and imports what has tests.
    #[arg(long, conflicts_with = "coverage_report")]
    pub no_coverage: bool,
    /// Maximum number of iterations of the fix loop that follows [default: 10].
    #[arg(long, alias = "gate-max-iterations", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=50))]
    pub max_iterations: Option<u32>,
    /// Whether to ask for approval before carrying out the plan [default: never].
    #[arg(long, alias = "plan-confirm", value_enum, value_name = "WHEN")]
    pub confirm_plan: Option<ConfirmPlanArgument>,
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
    /// Approve the plan and continue without asking.
    #[arg(long, short)]
    pub yes: bool,
    /// Branch, tag or commit the change is measured against: failures that it has too are marked.
    #[arg(long, value_name = "REF")]
    pub base: Option<String>,
    /// Write events, commits and digests to this folder, for `regreen publish`.
    #[arg(long, value_name = "FOLDER")]
    pub bundle: Option<PathBuf>,
    /// Configuration file, instead of .github/regreen.yml of the repository.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Set a key of the configuration file for this run, such as `loop.stuck-threshold=4`; repeat
    /// for more. `regreen config schema` prints all keys.
    #[arg(long, value_name = "KEY=VALUE", value_parser = Override::parse)]
    pub set: Vec<Override>,
    /// Which models are asked, and what that may cost.
    #[command(flatten)]
    pub asking: AskingArguments,
    /// Print one JSON document on standard output at the end; everything else goes to standard error.
    #[arg(long)]
    pub json: bool,
    /// Show only the result.
    #[arg(long, short)]
    pub quiet: bool,
}

/// When a person must approve the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ConfirmPlanArgument {
    /// The plan is carried out at once.
    Never,
    /// The session stops until the plan is approved.
    Always,
}

/// Flags of `session`.
#[derive(Debug, Args)]
pub struct SessionArguments {
    /// The action.
    pub what: SessionVerb,
    /// The session; the newest one when none is named.
    pub session: Option<String>,
    /// The repository, or a folder below it.
    #[arg(long, default_value = ".", value_name = "REPO")]
    pub repository: PathBuf,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
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

/// What `pin` and `score` share.
#[derive(Clone, Debug, Default, Args)]
pub struct SubjectArguments {
    /// Files or folders of the code, from the root of the repository [default: all code that is
    /// no test, example or build output].
    pub paths: Vec<String>,
    /// The repository, or a folder below it.
    #[arg(long, default_value = ".", value_name = "REPO")]
    pub repository: PathBuf,
    /// Command that runs the tests, instead of the detected one.
    #[arg(long, value_name = "COMMAND")]
    pub test_command: Option<String>,
    /// Time limit of one test run, such as 30s, 20m or 2h [default: 20m].
    #[arg(long, value_name = "TIME")]
    pub test_timeout: Option<String>,
    /// Share of mutants that tests must kill, in percent [default: 60].
    #[arg(long, alias = "gate-min-mutation-score", value_name = "PERCENT", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub min_mutation_score: Option<u32>,
    /// Stop after so many minutes, and report what was left out [default: 6, or the key
    /// `budget.engine-minutes`].
    #[arg(long, value_name = "MINUTES", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub budget_minutes: Option<u64>,
    /// Configuration file, instead of .github/regreen.yml of the repository.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Set a key of the configuration file for this run, such as `loop.stuck-threshold=4`; repeat
    /// for more. `regreen config schema` prints all keys.
    #[arg(long, value_name = "KEY=VALUE", value_parser = Override::parse)]
    pub set: Vec<Override>,
    /// Processes at the same time [default: number of cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub jobs: Option<u16>,
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

/// Flags of `pin`.
#[derive(Clone, Debug, Default, Args)]
pub struct PinArguments {
    /// The code.
    #[command(flatten)]
    pub what: SubjectArguments,
    /// Only this function, as `name` or `Class.name`; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub function: Vec<String>,
    /// Print the tests as a diff; make no branch and no commit.
    #[arg(long)]
    pub dry_run: bool,
}

/// Flags of `score`.
#[derive(Clone, Debug, Default, Args)]
pub struct ScoreArguments {
    /// The code.
    #[command(flatten)]
    pub what: SubjectArguments,
    /// Maximum number of mutants, spread evenly [default: 3000, or 200 where each needs a new
    /// process].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub mutants: Option<u32>,
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
    /// Print one JSON document on standard output at the end.
    #[arg(long)]
    pub json: bool,
    /// Show only the result.
    #[arg(long, short)]
    pub quiet: bool,
}

/// Flags of `status`.
#[derive(Debug, Args)]
pub struct StatusArguments {
    /// The repository, or a folder below it.
    #[arg(default_value = ".")]
    pub repository: PathBuf,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Flags of `doctor`.
#[derive(Debug, Args)]
pub struct DoctorArguments {
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
    /// A repository, or files and folders of one; the current folder when none is named.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Check only files that match this glob; repeat for more.
    #[arg(long, value_name = "GLOB")]
    pub files: Vec<String>,
    /// Check only files that differ from the merge base with this branch, tag or commit.
    #[arg(long, value_name = "REF")]
    pub base: Option<String>,
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
    /// Configuration file, instead of .github/regreen.yml of the repository.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Set a key of the configuration file for this run, such as `loop.stuck-threshold=4`; repeat
    /// for more. `regreen config schema` prints all keys.
    #[arg(long, value_name = "KEY=VALUE", value_parser = Override::parse)]
    pub set: Vec<Override>,
    /// Skip the project's own type checkers.
    #[arg(long, alias = "validate-skip-types")]
    pub skip_types: bool,
    /// Skip all tools of the project, type checkers included: nothing of the project runs.
    #[arg(long)]
    pub skip_tools: bool,
    /// Check the quality of tests too, and count it.
    #[arg(long)]
    pub tests: bool,
    /// Write the reports into the folder of this session.
    #[arg(long, value_name = "SESSION", conflicts_with = "report")]
    pub session: Option<String>,
    /// Write the reports into this folder.
    #[arg(long, value_name = "FOLDER")]
    pub report: Option<PathBuf>,
    /// Print one JSON document on standard output.
    #[arg(long)]
    pub json: bool,
}

/// Flags of `report`.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// The session; the newest one when none is named.
    pub session: Option<String>,
    /// The repository, or a folder below it.
    #[arg(long, default_value = ".", value_name = "REPO")]
    pub repository: PathBuf,
    /// Print the path of the report instead.
    #[arg(long)]
    pub path: bool,
    /// Draw the session as one page of HTML in this file instead.
    #[arg(long, value_name = "FILE", conflicts_with = "path")]
    pub html: Option<PathBuf>,
}

/// Flags of `replay`.
#[derive(Debug, Args)]
pub struct ReplayArguments {
    /// The session; the newest one when none is named.
    pub session: Option<String>,
    /// The repository, or a folder below it.
    #[arg(long, default_value = ".", value_name = "REPO")]
    pub repository: PathBuf,
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
    #[arg(default_value = ".github/regreen.yml")]
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
