//! The rows: every input and output with its form, its key and its meaning.

/// What an input may hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    /// Any text.
    Text,
    /// A secret; never shown.
    Secret,
    /// `true` or `false`.
    Flag,
    /// A whole number in this range.
    Whole(u64, u64),
    /// A number in this range.
    Amount(f64, f64),
    /// `30s`, `20m`, `2h`.
    Time,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Some of these words, separated by commas.
    Words(&'static [&'static str]),
    /// Names separated by commas.
    Names,
    /// Commands, one per line.
    Lines,
}

/// One input.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    /// Its name in `with:`.
    pub name: &'static str,
    /// What `action.yml` gives when nobody sets it. Empty: the configuration file or the
    /// built-in value decides.
    pub default: &'static str,
    /// Its type.
    pub form: Form,
    /// The key of `.github/regreen.yml` it wins over; empty when there is none.
    pub key: &'static str,
    /// What it sets, in one sentence.
    pub about: &'static str,
}

const fn input(
    name: &'static str,
    default: &'static str,
    form: Form,
    key: &'static str,
    about: &'static str,
) -> Input {
    Input { name, default, form, key, about }
}

use Form::{Amount, Flag, Lines, Names, Secret, Text, Time, Whole, Word, Words};

/// All inputs (product.md 2.3 and what the Action itself needs).
pub const INPUTS: &[Input] = &[
    input(
        "token",
        "${{ github.token }}",
        Secret,
        "",
        "Token that reads, pushes, comments and writes checks.",
    ),
    input(
        "config",
        "",
        Text,
        "",
        "Path of the configuration file, read from the base branch [.github/regreen.yml].",
    ),
    input(
        "mode",
        "",
        Word(&["fix", "test-fix", "plan", "validate", "resume", "status", "work", "publish"]),
        "",
        "What to do when the event is no command; `test-fix`, `plan` and `validate` are `/regreen test`, `plan` and `validate`; `work` only works and `publish` only publishes, in two jobs [fix].",
    ),
    input(
        "input",
        "",
        Text,
        "",
        "What `mode: test-fix` or `mode: plan` is about: words, a Markdown file, or a session; needed there.",
    ),
    input(
        "session",
        "",
        Text,
        "",
        "Session that `mode: resume` goes on with; the newest of the branch when empty.",
    ),
    input(
        "max-iterations",
        "",
        Whole(1, 50),
        "gate.max-iterations",
        "Iterations at most, 1 to 50 [10].",
    ),
    input(
        "pass-threshold",
        "",
        Whole(1, 100),
        "gate.target",
        "Pass rate in percent that ends the session [95].",
    ),
    input(
        "providers",
        "",
        Names,
        "engine",
        "Who analyses and fixes, first to last, separated by commas [those with a key, then embedded].",
    ),
    input(
        "regression-threshold",
        "",
        Whole(0, 100),
        "loop.regression-threshold",
        "A fall of the pass rate by more points than this is a regression and is taken back [10].",
    ),
    input(
        "stuck-threshold",
        "",
        Whole(2, 50),
        "loop.stuck-threshold",
        "Results in a row after which a failing test is stuck, 2 to 50 [3].",
    ),
    input(
        "stuck-abort-ratio",
        "",
        Amount(0.0, 1.0),
        "loop.stuck-abort-ratio",
        "Share of stuck failures above which the run ends after two reflective iterations [0.5].",
    ),
    input(
        "similarity-threshold",
        "",
        Amount(0.0, 1.0),
        "loop.similarity-threshold",
        "Likeness of failures above which a batch is tried [0.7].",
    ),
    input(
        "aggressive-min-rate",
        "",
        Whole(0, 100),
        "loop.aggressive-min-rate",
        "Pass rate in percent above which a batch is tried [80].",
    ),
    input(
        "provider-timeout",
        "",
        Time,
        "analysis.provider-timeout",
        "Limit of one call to a provider without a `timeout` of its own [40m].",
    ),
    input(
        "min-confidence",
        "",
        Amount(0.0, 1.0),
        "analysis.min-confidence",
        "An analysis less sure than this asks the next provider [0.4].",
    ),
    input(
        "min-analysis-words",
        "",
        Whole(0, 10_000),
        "analysis.min-analysis-words",
        "An analysis of fewer words asks the next provider [100].",
    ),
    input(
        "same-cause-limit",
        "",
        Whole(2, 50),
        "analysis.same-cause-limit",
        "The same root cause so many times in a row asks the next provider [3].",
    ),
    input("test-command", "", Text, "test.command", "Command that runs the tests [detected]."),
    input(
        "lint-command",
        "",
        Text,
        "tools.lint",
        "Command that checks the project's own rules, for `validate` [detected].",
    ),
    input(
        "build-command",
        "",
        Text,
        "tools.build",
        "Command that compiles or checks types, for `validate` and before an edit is tested [detected].",
    ),
    input(
        "coverage-command",
        "",
        Text,
        "coverage.command",
        "Command that runs the suite with coverage; needs `coverage-report` [detected].",
    ),
    input(
        "coverage-report",
        "",
        Text,
        "coverage.report",
        "Where that command leaves its report, as a glob.",
    ),
    input(
        "coverage-line",
        "",
        Whole(0, 100),
        "coverage.line",
        "Percent of lines below which a file needs tests [80].",
    ),
    input(
        "coverage-branch",
        "",
        Whole(0, 100),
        "coverage.branch",
        "Percent of branches below which a file needs tests [70].",
    ),
    input(
        "coverage-function",
        "",
        Whole(0, 100),
        "coverage.function",
        "Percent of functions below which a file needs tests [90].",
    ),
    input(
        "min-mutation-score",
        "",
        Whole(1, 100),
        "gate.min-mutation-score",
        "Percent of small breaks of the code that written tests must notice [60].",
    ),
    input(
        "auto",
        "",
        Flag,
        "plan.auto",
        "Decide by itself what a person could be asked; `false` is `confirm-plan: always` [true].",
    ),
    input(
        "confirm-plan",
        "",
        Word(&["never", "always"]),
        "plan.confirm",
        "Wait for `/regreen run` between plan and work of `mode: test-fix` [never].",
    ),
    input(
        "files",
        "",
        Lines,
        "validate.files",
        "What `mode: validate` looks at: globs, one per line [all].",
    ),
    input("strict", "", Flag, "validate.strict", "Let `mode: validate` tolerate no error [false]."),
    input(
        "autofix",
        "",
        Flag,
        "validate.autofix",
        "Let `mode: validate` repair what is safe to repair [false].",
    ),
    input(
        "skip-types",
        "",
        Flag,
        "validate.skip-types",
        "Leave type checkers out of `mode: validate` [false].",
    ),
    input(
        "report",
        "",
        Text,
        "test.report",
        "Where the command leaves JUnit XML or TAP, as a glob.",
    ),
    input(
        "test-timeout",
        "",
        Time,
        "test.timeout",
        "Limit of one test run, such as 30s, 20m or 2h [20m].",
    ),
    input("setup", "", Lines, "test.setup", "Commands before the first run, one per line."),
    input(
        "fix-mode",
        "",
        Word(&["apply", "suggest"]),
        "",
        "Commit fixes, or write patches only [apply].",
    ),
    input(
        "fix-scope",
        "",
        Word(&["code", "both", "tests"]),
        "loop.fix-scope",
        "What a fix may change: product code; tests too, in a reflective iteration; or tests only. Changed tests need a person's word [code].",
    ),
    input(
        "commit",
        "",
        Word(&["push", "local", "none"]),
        "commit",
        "Push commits as `push` says, keep them on the runner, or write patches only [push].",
    ),
    input(
        "push",
        "",
        Word(&["branch", "head", "none"]),
        "push",
        "Push a fix branch with a pull request, the head branch itself, or nothing [branch].",
    ),
    input(
        "sync",
        "",
        Flag,
        "",
        "Write down what a session taught, in a commit of its own below .workflow [false].",
    ),
    input(
        "signed",
        "",
        Flag,
        "",
        "Offer the result as one commit that GitHub makes and signs; the fix branch shows every step [false].",
    ),
    input(
        "check-workflow",
        "",
        Text,
        "",
        "Workflow file to start on the fix branch, such as ci.yml: a push with the job's token starts none; needs `actions: write` [none].",
    ),
    input(
        "rollback-mode",
        "",
        Word(&["revert", "discard", "clean"]),
        "history",
        "Show a regressing attempt as commit and revert, or `discard` it and keep a patch file; `clean` is the same [revert].",
    ),
    input(
        "commit-state",
        "",
        Word(&["branch", "none"]),
        "commit-state",
        "Let the session's state travel on the fix branch, or stay on disk, where no later job finds it [branch].",
    ),
    input(
        "sandbox",
        "",
        Text,
        "sandbox.image",
        "Image in which tests run, by `docker` or `podman` of the runner; without network unless `sandbox.network` is true.",
    ),
    input(
        "bundle",
        "",
        Text,
        "",
        "Folder below the checkout for the bundle of events, commits and report, to be uploaded; what `mode: publish` publishes [none].",
    ),
    input(
        "run-deadline",
        "",
        Whole(1, 360),
        "budget.minutes",
        "Minutes after which the run stops at a checkpoint.",
    ),
    input(
        "budget-usd",
        "",
        Amount(0.0, 1_000_000.0),
        "budget.usd",
        "Dollars one session may spend, as far as prices are known.",
    ),
    input(
        "label",
        "",
        Text,
        "label",
        "Label that starts a run when it is put on a pull request [regreen].",
    ),
    input(
        "ignore-preexisting",
        "",
        Flag,
        "ignore-preexisting",
        "Leave tests that fail on the base too out of the rate [false].",
    ),
    input(
        "partial-conclusion",
        "",
        Word(&["success", "neutral"]),
        "",
        "Conclusion of the check after a partial success [success].",
    ),
    input(
        "issue-dimensions",
        "",
        Words(&["test", "enhance", "refactor", "doc"]),
        "expand",
        "Follow-up issues to open after completion [none].",
    ),
];

/// One output: name and meaning (product.md 2.3).
pub const OUTPUTS: &[(&str, &str)] = &[
    ("session-id", "Id of the session."),
    ("result", "`success`, `partial_success`, `failure`, `blocked` or `planned`."),
    ("pass-rate", "Pass rate at the end, in percent."),
    ("iterations", "Iterations that were run."),
    ("report-path", "Path of the report."),
    ("commit-sha", "Tip of the fix branch."),
    ("degraded", "`true` when no provider gave an analysis and the run went on without one."),
    ("stuck-tests", "Tests that failed in their last three results, one per line."),
];
