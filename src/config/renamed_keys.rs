//! Renamed and replaced settings. Their former names still work in configuration files and
//! workflows, but appear in no help text, schema or documentation.

use serde_yaml::{Mapping, Value};

use super::table::ValueType;

/// Former keys with the key that replaced them.
const RENAMED: &[(&str, &str)] = &[("engine", "providers"), ("validate.autofix", "validate.fix")];

/// Former keys that still have their own field in `Settings`, because no single value of the new
/// key is equivalent in every combination.
pub(super) const KEPT: &[(&str, ValueType)] = &[
    ("push", ValueType::OneOf(&["branch", "head", "none"])),
    ("commit", ValueType::OneOf(&["push", "local", "none"])),
    ("fix-mode", ValueType::OneOf(&["apply", "suggest"])),
    ("plan.auto", ValueType::Flag),
];

/// Former keys that `publish` replaced.
pub(super) const REPLACED_BY_PUBLISH: &[&str] = &["push", "commit", "fix-mode"];

/// Former keys that decide nothing any more; files, `--set` and workflows that have them still work.
const RETIRED: &[&str] = &["analysis.min-analysis-words"];

/// Whether a key, or an input of this name, decides nothing any more.
pub(super) fn is_retired(name: &str) -> bool {
    RETIRED.iter().any(|key| {
        *key == name || key.replace('.', "-") == name || key.ends_with(&format!(".{name}"))
    })
}

/// The current name of a key that may be given under its former name.
pub(super) fn current(key: &str) -> String {
    if let Some((_, new)) = RENAMED.iter().find(|(old, _)| *old == key) {
        return (*new).to_owned();
    }
    match key.strip_prefix("providers.") {
        Some(rest) => format!("provider.{rest}"),
        None => key.to_owned(),
    }
}

/// The type of a former key that has a field of its own.
pub(super) fn values_of(key: &str) -> Option<&'static ValueType> {
    KEPT.iter().find(|(name, _)| *name == key).map(|(_, values)| values)
}

/// Translates a former value of a key to its current name; returns other values unchanged.
pub(super) fn value(key: &str, value: Value) -> Value {
    match (key, value.as_str()) {
        ("history", Some("discard")) => "clean".into(),
        _ => value,
    }
}

/// A key that the file gives under its former name, with its current path.
pub(super) struct Renamed {
    pub old: Vec<String>,
    pub new: Vec<String>,
}

/// Renames former keys and values of a file to their current names, and reports every setting that
/// is given under both names, with its path.
pub(super) fn translate(
    mapping: &mut Mapping,
    report: &mut dyn FnMut(&[String], String),
) -> Vec<Renamed> {
    let path = |key: &str| -> Vec<String> { key.split('.').map(str::to_owned).collect() };
    let mut renamed = Vec::new();
    let mut rename = |mapping: &mut Mapping, old: &str, new: &str| {
        let (old_path, new_path) = (path(old), path(new));
        let (Some(old_name), Some(new_name)) = (old_path.last(), new_path.last()) else { return };
        let Some(group) = group(mapping, &old_path) else { return };
        if !group.contains_key(old_name.as_str()) {
            return;
        }
        if group.contains_key(new_name.as_str()) {
            report(&old_path, format!("`{old}` is a former name of `{new}`; keep `{new}` alone"));
            return;
        }
        if let Some(value) = group.remove(old_name.as_str()) {
            group.insert(new_name.as_str().into(), value);
        }
        renamed.push(Renamed { old: old_path, new: new_path });
    };
    if mapping.get("providers").is_some_and(Value::is_mapping) {
        rename(mapping, "providers", "provider");
    }
    for (old, new) in RENAMED {
        rename(mapping, old, new);
    }
    for old in RETIRED {
        let old = path(old);
        if let (Some(group), Some(name)) = (group(mapping, &old), old.last()) {
            group.remove(name.as_str());
        }
    }
    if let Some(history) = mapping.get_mut("history") {
        *history = value("history", history.clone());
    }
    if mapping.contains_key("publish") {
        for old in REPLACED_BY_PUBLISH.iter().filter(|old| mapping.contains_key(**old)) {
            report(&path(old), format!("`publish` replaced `{old}`; keep `publish` alone"));
        }
    }
    renamed
}

/// The mapping that contains the last key of a path; `None` if a parent is missing.
fn group<'a>(mapping: &'a mut Mapping, path: &[String]) -> Option<&'a mut Mapping> {
    let parents = path.get(..path.len().checked_sub(1)?)?;
    parents.iter().try_fold(mapping, |mapping, name| {
        mapping.get_mut(name.as_str()).and_then(Value::as_mapping_mut)
    })
}

/// Removes keys that set the same as `key` under another name, so that an override of `key` wins.
pub(super) fn remove_replaced(mapping: &mut Mapping, key: &str) {
    if key == "publish" {
        for old in REPLACED_BY_PUBLISH {
            mapping.remove(*old);
        }
    } else if REPLACED_BY_PUBLISH.contains(&key) {
        mapping.remove("publish");
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{Override, Publish, Settings, parse, parse_with};

    fn read(file: &str, sets: &[&str]) -> Settings {
        let sets: Vec<Override> = sets.iter().map(|text| Override::parse(text).unwrap()).collect();
        parse_with(file, "f", &sets).unwrap()
    }

    #[test]
    fn former_names_are_read_as_those_of_today() {
        let table = [
            ("engine: [a, embedded]", "providers: [a, embedded]"),
            ("providers: { gemini: { timeout: 3m } }", "provider: { gemini: { timeout: 3m } }"),
            (
                "engine: [mine]\nproviders: { mine: { client: codex } }",
                "providers: [mine]\nprovider: { mine: { client: codex } }",
            ),
            ("validate: { autofix: true }", "validate: { fix: true }"),
            ("history: discard", "history: clean"),
            ("analysis: { min-analysis-words: 100 }", "analysis: {}"),
        ];
        for (old, new) in table {
            assert_eq!(read(old, &[]), read(new, &[]), "{old}");
        }
        let table = [
            ("engine=[a]", "providers=[a]"),
            ("providers.gemini.timeout=3m", "provider.gemini.timeout=3m"),
            ("validate.autofix=true", "validate.fix=true"),
            ("history=discard", "history=clean"),
        ];
        for (old, new) in table {
            assert_eq!(read("", &[old]), read("", &[new]), "{old}");
        }
        assert_eq!(read("engine: [a]", &["providers=[b]"]), read("providers: [b]", &[]));
        assert_eq!(read("", &["analysis.min-analysis-words=5"]), read("", &[]));
    }

    #[test]
    fn problems_of_former_keys_are_shown_where_they_are() {
        let table = [
            ("label: x\nengine: 7", "f:2:1: `providers` is a list of texts"),
            ("providers:\n  mine: { protokol: chat }", "f:2:11: unknown key `protokol`"),
            ("engine: [a]\nproviders: [b]", "f:1:1: `engine` is a former name of `providers`"),
            ("publish: none\npush: head", "f:2:1: `publish` replaced `push`"),
            ("push: force", "f:1:1: `push` is one of branch, head, none"),
        ];
        for (text, expected) in table {
            let shown = parse(text, "f").unwrap_err()[0].to_string();
            assert!(shown.starts_with(expected), "{shown}");
        }
    }

    #[test]
    fn every_combination_of_former_keys_amounts_to_one_way_to_publish() {
        for commit in ["push", "local", "none"] {
            for push in ["branch", "head", "none"] {
                for fix_mode in ["apply", "suggest"] {
                    let text = format!("commit: {commit}\npush: {push}\nfix-mode: {fix_mode}\n");
                    let expected = match (commit, fix_mode, push) {
                        ("local" | "none", _, _) => Publish::None,
                        (_, "suggest", _) => Publish::Suggest,
                        (_, _, "branch") => Publish::Branch,
                        (_, _, "head") => Publish::Head,
                        _ => Publish::ForksOnly,
                    };
                    let approved = match (commit, push) {
                        ("local" | "none", _) => Publish::None,
                        (_, "branch") => Publish::Branch,
                        (_, "head") => Publish::Head,
                        _ => Publish::ForksOnly,
                    };
                    let settings = read(&text, &[]);
                    assert_eq!(settings.publish(), expected, "{text}");
                    assert_eq!(settings.publish_approved(), approved, "{text}");
                }
            }
        }
        assert_eq!(read("", &[]).publish(), Publish::Branch);
        for (text, expected, approved) in [
            ("publish: branch", Publish::Branch, Publish::Branch),
            ("publish: head", Publish::Head, Publish::Head),
            ("publish: suggest", Publish::Suggest, Publish::Branch),
            ("publish: none", Publish::None, Publish::None),
        ] {
            let settings = read(text, &[]);
            assert_eq!((settings.publish(), settings.publish_approved()), (expected, approved));
        }
    }

    #[test]
    fn an_override_replaces_the_same_setting_under_its_other_names() {
        let table = [
            ("push: head\ncommit: none", "publish=suggest", Publish::Suggest),
            ("publish: suggest", "push=head", Publish::Head),
            ("publish: head", "commit=local", Publish::None),
            ("push: head", "commit=local", Publish::None),
        ];
        for (file, set, expected) in table {
            assert_eq!(read(file, &[set]).publish(), expected, "{file} and {set}");
        }
    }
}
