//! `.github/regreen.yml` (product.md 13.15): every key optional, unknown keys refused.

use std::time::Duration;

use serde_yaml::Value;

use super::diagnostic::Diagnostic;
use super::keys::{FILE, check};
use super::overrides::{self, Override};
use super::settings::Settings;
use super::yaml_position::position;

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
    let mut problems = overrides::apply(&mut mapping, overrides);
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
    if settings
        .coverage
        .as_ref()
        .is_some_and(|told| told.command.is_some() && told.report.is_none())
    {
        let (line, column) = position(text, &["coverage".into(), "command".into()]);
        let message = "`coverage.command` needs `coverage.report`, the glob of its report".into();
        problems.push(at(line, column, message));
    }
    if problems.is_empty() { Ok(settings) } else { Err(problems) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::keys::Form;
    use crate::config::settings::{History, Push, Topic};

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
            ("coverage: { command: make cov }", "needs `coverage.report`"),
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
