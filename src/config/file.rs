//! Parses and validates `.github/regreen.yml` (specification.md 2.6), and builds its JSON Schema.

use serde_yaml::Value;

use super::diagnostic::Diagnostic;
use super::keys::check;
use super::overrides::{self, Override};
use super::settings::Settings;
use super::table::{SETTINGS, ValueType};
use super::yaml_position::position;

/// The JSON Schema of the configuration file, with the defaults and ranges from `SETTINGS`.
pub fn schema() -> schemars::Schema {
    let mut value = schemars::schema_for!(Settings).to_value();
    for row in SETTINGS {
        let property = pointer(&value, row.key).and_then(|path| value.pointer_mut(&path));
        let Some(property) = property.and_then(serde_json::Value::as_object_mut) else { continue };
        let (low, high) = match row.values {
            ValueType::Whole(low, u64::MAX) => (Some(low), None),
            ValueType::Whole(low, high) => (Some(low), Some(high)),
            ValueType::Share => (Some(0), Some(1)),
            _ => (None, None),
        };
        property.extend(low.map(|low| ("minimum".into(), low.into())));
        property.extend(high.map(|high| ("maximum".into(), high.into())));
        if !row.default.is_empty() {
            let default = serde_json::to_value(row.values.parse_input(row.default));
            property.insert("default".into(), default.unwrap_or_default());
        }
    }
    schemars::Schema::try_from(value).unwrap_or_default()
}

/// JSON pointer to the schema property that describes `key`.
fn pointer(schema: &serde_json::Value, key: &str) -> Option<String> {
    let mut object = String::new();
    let mut property = None;
    for name in key.split('.') {
        if let Some(parent) = property.replace(format!("{object}/properties/{name}")) {
            let group = schema.pointer(&parent)?.to_string();
            let definition = group.split("$defs/").nth(1)?.split('"').next()?.to_owned();
            object = format!("/$defs/{definition}");
            property = Some(format!("{object}/properties/{name}"));
        }
    }
    property
}

/// Parses the configuration file without overrides; `Err` lists all problems in file order.
pub fn parse(text: &str, file: &str) -> Result<Settings, Vec<Diagnostic>> {
    parse_with(text, file, &[])
}

/// Parses the configuration file, with `overrides` taking precedence (specification.md 2.6).
/// `Err` lists the invalid overrides if there are any, otherwise the problems of the file in file
/// order. Values that an override replaces are not checked.
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
        vec![at(line, column, format!("it is no YAML: {error}"))]
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
    let mut problems = Vec::new();
    let wrong = overrides::apply(&mut mapping, overrides);
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let position = |path: &[String]| position(text, path);
    check(&mapping, "", &mut Vec::new(), &mut |path, message| {
        let (line, column) = position(path);
        problems.push(at(line, column, message));
    });
    problems.sort_by_key(|problem| (problem.line, problem.column));
    if !problems.is_empty() {
        return Err(problems);
    }
    let settings: Settings = serde_yaml::from_value(Value::Mapping(mapping))
        .map_err(|error| vec![at(1, 1, error.to_string())])?;
    for (name, file) in
        settings.provider.iter().flat_map(|file| file.keys().map(move |name| (name, file)))
    {
        if let Some(message) = super::providers::problem(name, file) {
            let (line, column) = position(&["provider".into(), name.clone()]);
            problems.push(at(line, column, message));
        }
    }
    if settings
        .coverage
        .as_ref()
        .is_some_and(|coverage| coverage.command.is_some() && coverage.report.is_none())
    {
        let (line, column) = position(&["coverage".into(), "command".into()]);
        let message = "`coverage.command` needs `coverage.report`, the glob of its report".into();
        problems.push(at(line, column, message));
    }
    if problems.is_empty() { Ok(settings) } else { Err(problems) }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::config::duration;
    use crate::config::keys::children;
    use crate::config::settings::{History, Publish};
    use crate::domain::command::Dimension;

    #[test]
    fn a_full_file_is_read() {
        let text = "test:\n  command: pytest -q\n  timeout: 20m\n  layers: { e2e: 'tests/e2e/**' }\ngate: { target: 97, max-iterations: 5 }\nproviders: [embedded]\nbudget:\n  minutes: 30\nprotect: ['migrations/**']\n";
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
        let text = "publish: head\nhistory: clean\ncommands: { allow: [maintain, octo, 7], teams: [a/b] }\nexpand: [test, doc]\nlabel: fix-me\nignore-preexisting: true\nsandbox: { image: 'x:1', network: false }\ntest: { setup: [make] }\n";
        let settings = parse(text, "f").unwrap();
        assert_eq!(
            (settings.publish, settings.history),
            (Some(Publish::Head), Some(History::Clean))
        );
        assert_eq!(settings.commands.unwrap().allowed(), ["maintain", "octo", "7"]);
        assert_eq!(settings.expand.unwrap(), [Dimension::Test, Dimension::Doc]);
        assert_eq!(settings.sandbox.unwrap().network, Some(false));
        assert_eq!(settings.ignore_preexisting, Some(true));
        let table = [
            ("publish: force", "`publish` is one of branch, head, suggest, none"),
            ("history: gone", "`history` is one of revert, clean"),
            ("signed: 1", "`signed` is true or false"),
            ("partial-conclusion: bad", "`partial-conclusion` is one of success, neutral"),
            ("provider: { mine: 1 }", "a provider holds keys and values"),
            ("test: { layers: { e3e: x } }", "did you mean `e2e`?"),
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
            ("commands: { allow: write }", "`allow` is a list of permission levels"),
            ("commands: { allow: [[a]] }", "`allow` is a list of permission levels"),
            ("commands: { team: [] }", "did you mean `teams`?"),
            ("expand: [docs]", "`expand` is a list of test, enhance, refactor, doc"),
            ("label: 7", "`label` is a text"),
            ("ignore-preexisting: 'yes'", "`ignore-preexisting` is true or false"),
            ("sandbox: { network: all }", "`network` is true or false"),
            ("test: { setup: make }", "`setup` is a list of texts"),
            ("budget: { minutes: 10001 }", "a whole number from 1 to 10000"),
            ("protect: ['[']", "`[` is not a valid glob: "),
            ("protect: 'a/**'", "`protect` is a list of globs"),
            ("validate: { files: ['a/**', '{b'] }", "`{b` is not a valid glob: "),
            ("test: { layers: { e2e: 'a[' } }", "`a[` is not a valid glob: "),
            ("test: { report: '{' }", "`{` is not a valid glob: "),
            ("coverage: { report: '[' }", "`[` is not a valid glob: "),
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
    fn a_plan_waits_only_where_it_is_to_be_confirmed() {
        let table =
            [("", false), ("plan: { confirm: always }", true), ("plan: { confirm: never }", false)];
        for (text, expected) in table {
            let plan = parse(text, "f").unwrap().plan.unwrap_or_default();
            assert_eq!(plan.waits(), expected, "{text}");
        }
    }

    #[test]
    fn the_table_of_keys_is_that_of_the_schema() {
        fn compare(schema: &serde_json::Value, object: &serde_json::Value, group: &str) -> usize {
            let properties = object["properties"].as_object().unwrap();
            let (mut known, mut described) =
                (children(group), properties.keys().collect::<Vec<_>>());
            known.sort_unstable();
            described.sort_unstable();
            assert_eq!(described, known, "{group}");
            let mut count = known.len();
            for (name, property) in properties {
                let key = if group.is_empty() { name.clone() } else { format!("{group}.{name}") };
                let key = if key == "provider" { "provider.*".into() } else { key };
                assert!(property["description"].is_string(), "{key} has no description");
                if !children(&key).is_empty() {
                    let text = property.to_string();
                    let name = text.split("$defs/").nth(1).unwrap().split('"').next().unwrap();
                    count += compare(schema, &schema["$defs"][name], &key);
                }
            }
            count
        }

        let schema = serde_json::to_value(schema()).unwrap();
        assert!(compare(&schema, &schema, "") > SETTINGS.len());
    }

    #[test]
    fn the_words_of_the_table_are_those_of_the_schema() {
        fn words(value: &serde_json::Value, found: &mut Vec<String>) {
            match value {
                serde_json::Value::Object(object) => {
                    let listed = object.get("enum").and_then(serde_json::Value::as_array);
                    let named = listed.into_iter().flatten().chain(object.get("const"));
                    found.extend(named.filter_map(|word| word.as_str().map(str::to_owned)));
                    object.values().for_each(|value| words(value, found));
                }
                serde_json::Value::Array(items) => items.iter().for_each(|item| words(item, found)),
                _ => {}
            }
        }
        let schema = serde_json::to_value(schema()).unwrap();
        let mut count = 0;
        for row in SETTINGS.iter().filter(|row| !row.values.words().is_empty()) {
            if row.values == crate::config::table::ValueType::Flag {
                continue;
            }
            let key = row.key.replace(".*", "");
            let property = schema.pointer(&pointer(&schema, &key).unwrap()).unwrap().to_string();
            let name = property.split("$defs/").nth(1).unwrap().split('"').next().unwrap();
            let mut found = Vec::new();
            words(&schema["$defs"][name], &mut found);
            assert_eq!(found, row.values.words(), "{}", row.key);
            count += 1;
        }
        assert!(count > 8, "{count}");
    }

    #[test]
    fn the_schema_has_the_defaults_of_the_table() {
        let schema = serde_json::to_value(schema()).unwrap();
        for row in SETTINGS.iter().filter(|row| !row.default.is_empty()) {
            let property = schema.pointer(&pointer(&schema, row.key).unwrap()).unwrap();
            let default = serde_yaml::to_value(&property["default"]).unwrap();
            assert!(row.values.accepts(&default), "{}: {property}", row.key);
        }
    }

    #[test]
    fn the_defaults_are_those_of_the_rules() {
        use crate::domain::chain::Rules;
        use crate::domain::coverage::CoverageTarget;
        use crate::domain::gate::TARGET;
        use crate::domain::session::MAX_ITERATIONS;
        use crate::domain::threshold::Thresholds;
        let (at, rules, cover) =
            (Thresholds::default(), Rules::default(), CoverageTarget::default());
        let table = [
            ("loop.regression-threshold", at.regression_points.to_string()),
            ("loop.stuck-threshold", at.stuck_results.to_string()),
            ("loop.stuck-abort-ratio", at.stuck_abort.to_string()),
            ("loop.similarity-threshold", at.similarity.to_string()),
            ("loop.aggressive-min-rate", at.aggressive_rate.to_string()),
            ("analysis.min-confidence", rules.min_confidence.to_string()),
            ("analysis.same-cause-limit", rules.same_cause_limit.to_string()),
            ("gate.target", TARGET.to_string()),
            ("gate.max-iterations", MAX_ITERATIONS.to_string()),
            ("coverage.line", cover.line.to_string()),
            ("coverage.branch", cover.branch.to_string()),
            ("coverage.function", cover.function.to_string()),
        ];
        for (key, expected) in table {
            assert_eq!(crate::config::table::setting(key).unwrap().default, expected, "{key}");
        }
    }
}
