//! The command line: verbs, flags, and what they default to.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Brings a red test suite back to green: analyses what fails, fixes it, proves it, commit by
/// commit, on a branch of its own.
#[derive(Debug, Parser)]
#[command(name = "regreen", version, about, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 gate met, 1 gate not met, 2 wrong usage or configuration, 3 the environment failed."
)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
    /// Log more on standard error; repeat for even more.
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub verbose: u8,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Bring the tests of a repository back to green on a branch.
    #[command(
        after_help = "Examples:\n  regreen fix\n  regreen fix --base main --max-iterations 20\n  regreen fix --test-command './run-tests' --report 'reports/**/*.xml'\n  regreen fix --resume"
    )]
    Fix(Box<FixArguments>),
    /// Watch it work on a small example that the binary carries.
    Demo(DemoArguments),
    /// Show the sessions of a repository.
    Status(StatusArguments),
    /// Show what was detected in a repository, and what is missing.
    Doctor(DoctorArguments),
    /// Print the report of a session.
    Report(ReportArguments),
    /// Decide a session again from its files, and say what would differ now.
    Replay(ReplayArguments),
    /// Answer an event of GitHub Actions, as the action does: reads what the runner hands over.
    Action,
    /// Publish what a working job left with `regreen fix --bundle`, in a job that runs no tests.
    Publish {
        /// The folder of the bundle.
        bundle: PathBuf,
    },
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
            Self::Demo(arguments) => arguments.json,
            Self::Status(arguments) => arguments.json,
            Self::Doctor(arguments) => arguments.json,
            Self::Replay(arguments) => arguments.json,
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
    /// Command that prepares every checkout before its first run, such as `npm ci`; again for more.
    #[arg(long, value_name = "COMMAND")]
    pub setup: Vec<String>,
    /// Where the command leaves JUnit XML or TAP, as a glob below the folder it runs in.
    #[arg(long, value_name = "GLOB")]
    pub report: Option<String>,
    /// Time limit of one test run, such as 30s, 20m or 2h [default: 20m].
    #[arg(long, value_name = "TIME")]
    pub test_timeout: Option<String>,
    /// Pass rate that ends the session, in percent [default: 95].
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub target: Option<u32>,
    /// Iterations at most [default: 10].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=50))]
    pub max_iterations: Option<u32>,
    /// Who analyses and fixes, first to last: gemini, qwen, codex, claude, github, a provider of
    /// the configuration, embedded [default: gemini, qwen and codex as far as their keys are set,
    /// then embedded].
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',')]
    pub engine: Vec<String>,
    /// Configuration file, instead of .github/regreen.yml of the repository.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Name of the new session [default: WFS-test-BRANCH].
    #[arg(long, value_name = "SESSION", conflicts_with = "resume")]
    pub session: Option<String>,
    /// Leave events, commits and digests in this folder while it runs, for `regreen publish`.
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["suggest", "dry_run"])]
    pub bundle: Option<PathBuf>,
    /// Name of the fix branch [default: regreen/SESSION].
    #[arg(long, value_name = "NAME")]
    pub branch: Option<String>,
    /// Branch, tag or commit the change is measured against: failures that it has too are marked,
    /// and what changed since is the first suspect.
    #[arg(long, value_name = "REF")]
    pub base: Option<String>,
    /// Go on with a stopped session; the newest one when none is named.
    #[arg(long, value_name = "SESSION", num_args = 0..=1, default_missing_value = "")]
    pub resume: Option<String>,
    /// Stop at a checkpoint after so many minutes.
    #[arg(long, value_name = "MINUTES", value_parser = clap::value_parser!(u64).range(1..))]
    pub budget_minutes: Option<u64>,
    /// Spend at most so many dollars on providers, as far as their prices are known.
    #[arg(long, value_name = "USD")]
    pub budget_usd: Option<f64>,
    /// Spend at most so many tokens on providers.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub budget_tokens: Option<u64>,
    /// Ask providers at most so many questions.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub budget_calls: Option<u64>,
    /// Keep every exchange with a provider in this folder, without keys.
    #[arg(long, value_name = "FOLDER", conflicts_with = "replay")]
    pub record: Option<PathBuf>,
    /// Answer every question from a folder that `--record` wrote; nobody is asked.
    #[arg(long, value_name = "FOLDER")]
    pub replay: Option<PathBuf>,
    /// Candidates tried at the same time [default: number of cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub jobs: Option<u16>,
    /// Run the tests and say where the failures may come from; change nothing.
    #[arg(long, conflicts_with = "suggest")]
    pub dry_run: bool,
    /// Write patches into the session's folder; make no branch and no commit.
    #[arg(long)]
    pub suggest: bool,
    /// Keep the whole change when the gate is met, also what the suite does not need.
    #[arg(long)]
    pub no_minimise: bool,
    /// Print one JSON document on standard output at the end; all talk goes to standard error.
    #[arg(long)]
    pub json: bool,
    /// Show the end only.
    #[arg(long, short)]
    pub quiet: bool,
}

/// Flags of `demo`.
#[derive(Debug, Args)]
pub struct DemoArguments {
    /// Make the example here instead of in a temporary folder.
    #[arg(long, value_name = "FOLDER")]
    pub into: Option<PathBuf>,
    /// Print one JSON document on standard output at the end.
    #[arg(long)]
    pub json: bool,
    /// Show the end only.
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

/// Flags of `report`.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// The session; the newest one when none is named.
    pub session: Option<String>,
    /// The repository, or a folder below it.
    #[arg(long, default_value = ".", value_name = "REPO")]
    pub repository: PathBuf,
    /// Print where the report is instead.
    #[arg(long)]
    pub path: bool,
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
    /// What to do.
    pub what: ConfigVerb,
    /// The file to check.
    #[arg(default_value = ".github/regreen.yml")]
    pub file: PathBuf,
}

/// What to do with the configuration.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ConfigVerb {
    /// Say what is wrong with the file, with line and column.
    Check,
    /// Print the JSON Schema of the file.
    Schema,
}
