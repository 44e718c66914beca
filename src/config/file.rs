//! `.github/regreen.yml` (product.md 13.15): every key optional, unknown keys refused.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_yaml::Value;

use crate::domain::guard::FixScope;

use super::diagnostic::Diagnostic;
use super::form::{FILE, check};
use super::overlay::{self, Override};
use super::place::position;
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

/// A time such as `30s`, `20m`, `2h`; `None` for anything else, and for zero.
#[must_use]
pub fn duration(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return None,
    };
    let number: u64 = number.parse().ok()?;
    (number > 0).then(|| Duration::from_secs(number.saturating_mul(seconds)))
}

/// The JSON Schema of the file.
#[must_use]
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(Settings)
}

/// Reads the file.
///
/// # Errors
///
/// All problems that can be found in one pass, in the order of the file.
pub fn parse(text: &str, file: &str) -> Result<Settings, Vec<Diagnostic>> {
    parse_with(text, file, &[])
}

/// Reads the file with values that go before its own (product.md 13.15).
///
/// # Errors
///
/// All problems that can be found in one pass: those of the values first, then those of the file in
/// its order. What a value replaces is not looked at.
pub fn parse_with(
    text: &str,
    file: &str,
    overrides: &[Override],
) -> Result<Settings, Vec<Diagnostic>> {
    let at = |line: usize, column: usize, message: String| Diagnostic {
        file: file.to_owned(),
        line,
        column,
        message,
        source: text.lines().nth(line.saturating_sub(1)).unwrap_or_default().to_owned(),
    };
    let value: Value = serde_yaml::from_str(text).map_err(|error| {
        let place = error.location();
        let (line, column) = place.map_or((1, 1), |place| (place.line(), place.column()));
        vec![at(line, column, format!("expected YAML ({error})"))]
    })?;
    let mut mapping = match value {
        Value::Null => serde_yaml::Mapping::new(),
        Value::Mapping(mapping) => mapping,
        _ => {
            return Err(vec![at(
                1,
                1,
                "expected keys and values, such as `gate: { target: 95 }`".into(),
            )]);
        }
    };
    let mut problems = overlay::apply(&mut mapping, overrides);
    if !problems.is_empty() {
        return Err(problems);
    }
    check(&mapping, FILE, &mut Vec::new(), &mut |path, message| {
        let (line, column) = position(text, path);
        problems.push(at(line, column, message));
    });
    problems.sort_by_key(|problem| (problem.line, problem.column));
    if !problems.is_empty() {
        return Err(problems);
    }
    let settings: Settings = serde_yaml::from_value(Value::Mapping(mapping))
        .map_err(|error| vec![at(1, 1, error.to_string())])?;
    for (name, provider) in settings.providers.iter().flatten() {
        // A row that only changes a built-in one may leave the rest to it.
        let complete = !super::providers::names().contains(&name.as_str());
        if let Some(message) = super::providers::wrong(name, provider)
            .filter(|_| complete || provider.base_url.is_some())
        {
            let (line, column) = position(text, &["providers".into(), name.clone()]);
            problems.push(at(line, column, message));
        }
    }
    if problems.is_empty() { Ok(settings) } else { Err(problems) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::form::Form;

    #[test]
    fn a_full_file_is_read() {
        let text = "test:\n  command: pytest -q\n  timeout: 20m\n  layers: { e2e: 'tests/e2e/**' }\ngate: { target: 97, max-iterations: 5 }\nengine: [embedded]\nbudget:\n  minutes: 30\nprotect: ['migrations/**']\n";
        let settings = parse(text, "f").unwrap();
        assert_eq!(settings.gate.unwrap().target, Some(97));
        assert_eq!(settings.test.unwrap().command.as_deref(), Some("pytest -q"));
        assert_eq!(parse("", "f").unwrap(), Settings::default());
    }

    #[test]
    fn every_problem_is_shown_with_its_place() {
        let text =
            "gate:\n  target: 150\n  max-iteration: 5\ntest: { timeout: soon }\nprotekt: []\n";
        let shown: Vec<String> =
            parse(text, "regreen.yml").unwrap_err().iter().map(ToString::to_string).collect();
        insta::assert_snapshot!(shown.join("\n"), @r"
        regreen.yml:2:3: `target` is a whole number from 1 to 100
          |   target: 150
          |   ^
        regreen.yml:3:3: unknown key `max-iteration`, did you mean `max-iterations`?
          |   max-iteration: 5
          |   ^
        regreen.yml:4:9: `timeout` is a time such as 30s, 20m or 2h
          | test: { timeout: soon }
          |         ^
        regreen.yml:5:1: unknown key `protekt`, did you mean `protect`?
          | protekt: []
          | ^
        ");
    }

    #[test]
    fn keys_of_the_bot_are_read_and_checked() {
        let text = "push: head\nhistory: clean\ncommands: { allow: [maintain, octo, 7], teams: [a/b] }\nexpand: [test, doc]\nlabel: fix-me\nignore-preexisting: true\nsandbox: { image: 'x:1', network: false }\ntest: { setup: [make] }\n";
        let settings = parse(text, "f").unwrap();
        assert_eq!((settings.push, settings.history), (Some(Push::Head), Some(History::Clean)));
        assert_eq!(settings.commands.unwrap().allowed(), ["maintain", "octo", "7"]);
        assert_eq!(settings.expand.unwrap(), [Topic::Test, Topic::Doc]);
        assert_eq!(settings.sandbox.unwrap().network, Some(false));
        assert_eq!(settings.ignore_preexisting, Some(true));
        let table = [
            ("push: force", "`push` is one of branch, head, none"),
            ("history: gone", "`history` is one of revert, clean, discard"),
            ("commit: yes", "`commit` is one of push, local, none"),
            ("commit-state: disk", "`commit-state` is one of branch, none"),
            ("loop: { regression-threshold: 101 }", "a whole number from 0 to 100"),
            ("loop: { stuck-threshold: 1 }", "a whole number from 2 to 50"),
            ("loop: { stuck-abort-ratio: 1.5 }", "a number from 0 to 1"),
            ("loop: { similarity-threshold: high }", "a number from 0 to 1"),
            ("loop: { aggressive-min-rate: -1 }", "a whole number from 0 to 100"),
            ("loop: { fix-scope: all }", "`fix-scope` is one of code, both, tests"),
            ("analysis: { provider-timeout: 5 }", "a time such as 30s"),
            ("analysis: { min-confidence: 2 }", "a number from 0 to 1"),
            ("analysis: { same-cause-limit: 1 }", "a whole number from 2 to 50"),
            ("coverage: { lines: 80 }", "did you mean `line`?"),
            ("coverage: { line: 101 }", "a whole number from 0 to 100"),
            ("tools: { lint: [ruff] }", "`lint` is a text"),
            ("plan: { confirm: sometimes }", "`confirm` is one of never, always"),
            ("validate: { strict: 1 }", "`strict` is true or false"),
            ("commands: { allow: [read] }", "`read` never suffices"),
            ("commands: { allow: write }", "`allow` is a list of levels"),
            ("commands: { allow: [[a]] }", "`allow` is a list of levels"),
            ("commands: { team: [] }", "did you mean `teams`?"),
            ("expand: [docs]", "`expand` is a list of test, enhance, refactor, doc"),
            ("label: 7", "`label` is a text"),
            ("ignore-preexisting: 'yes'", "`ignore-preexisting` is true or false"),
            ("sandbox: { network: all }", "`network` is true or false"),
            ("test: { setup: make }", "`setup` is a list of texts"),
        ];
        for (text, part) in table {
            let problems = parse(text, "f").unwrap_err();
            assert!(problems[0].message.contains(part), "{text}: {}", problems[0].message);
        }
    }

    #[test]
    fn broken_yaml_names_line_and_column() {
        let problems = parse("gate:\n  target: [1\n", "f").unwrap_err();
        assert!(problems[0].line >= 2, "{problems:?}");
        assert!(parse("- a\n", "f").is_err());
    }

    #[test]
    fn times_have_units() {
        assert_eq!(duration("2h"), Some(Duration::from_hours(2)));
        for wrong in ["", "5", "0s", "-1m", "1d", "s", "1é"] {
            assert_eq!(duration(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn confirm_goes_before_auto() {
        let table = [
            ("", false),
            ("plan: { auto: true }", false),
            ("plan: { auto: false }", true),
            ("plan: { confirm: always }", true),
            ("plan: { auto: false, confirm: never }", false),
        ];
        for (text, expected) in table {
            let plan = parse(text, "f").unwrap().plan.unwrap_or_default();
            assert_eq!(plan.waits(), expected, "{text}");
        }
    }

    #[test]
    fn the_table_of_keys_is_that_of_the_schema() {
        let schema = serde_json::to_value(schema()).unwrap();
        let sorted = |list: &mut Vec<String>| list.sort();
        let keys = |value: &serde_json::Value| -> Vec<String> {
            let mut keys: Vec<String> =
                value["properties"].as_object().unwrap().keys().cloned().collect();
            sorted(&mut keys);
            keys
        };
        let names = |table: &[(&str, Form)]| -> Vec<String> {
            let mut names: Vec<String> = table.iter().map(|(key, _)| (*key).to_owned()).collect();
            sorted(&mut names);
            names
        };
        assert_eq!(keys(&schema), names(FILE));
        for (key, form) in FILE {
            let Form::Group(inner) = form else { continue };
            let place = schema["properties"][key].to_string();
            let name = place.split("$defs/").nth(1).unwrap().split('"').next().unwrap();
            assert_eq!(keys(&schema["$defs"][name]), names(inner), "{key}");
        }
    }
}
