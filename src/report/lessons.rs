//! Lessons of a finished session, as lines of files that people and later sessions read
//! (specification.md 9.5).

use serde_json::{Map, Value, json};

use crate::domain::event::Outcome;
use crate::domain::id::RepoPath;
use crate::domain::memory::{LessonMemory, Moment};
use crate::domain::provider::EMBEDDED;

use super::markdown::line;

/// The kind of an insight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A bug that was found.
    Bug,
    /// A change that did not work as a fix.
    Pattern,
    /// A rule to follow.
    Rule,
}

impl Kind {
    /// The word for this kind, and the file that collects it.
    #[must_use]
    pub fn place(self) -> (&'static str, &'static str) {
        match self {
            Self::Bug => ("bug", "specs/learnings.md"),
            Self::Pattern => ("pattern", "specs/coding-conventions.md"),
            Self::Rule => ("rule", "specs/quality-rules.md"),
        }
    }
}

/// One lesson of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Insight {
    pub kind: Kind,
    /// The area in one word.
    pub tag: String,
    /// The lesson on one line.
    pub text: String,
}

/// Name of the index, which has an entry for each session.
pub const INDEX: &str = "project-tech.json";

/// A session's lessons: each fix not found at once, each reverted attempt, each flaky test.
pub fn insights(outcome: &Outcome) -> Vec<Insight> {
    let mut found = Vec::new();
    let mut was_hard = false;
    for row in &outcome.iterations {
        let is_trivial = row.provider == EMBEDDED && row.files.len() < 2 && !was_hard;
        was_hard |= row.outcome != "improved";
        let Some(file) = row.files.first() else { continue };
        let (summary, tag) = (line(&row.summary, 200), area(file));
        if summary.is_empty() {
            continue;
        }
        match row.outcome.as_str() {
            "improved" if !is_trivial => {
                let text = format!("{} was wrong; {summary}", line(file, 200));
                found.push(Insight { kind: Kind::Bug, tag, text });
            }
            "regression" => {
                let text = format!("not a repair, other tests broke: {summary}");
                found.push(Insight { kind: Kind::Pattern, tag, text });
            }
            _ => {}
        }
    }
    for test in &outcome.flaky {
        let text = format!(
            "{} fails and passes on the same sources; make it independent of time, order and network",
            line(test.as_str(), 200)
        );
        found.push(Insight { kind: Kind::Rule, tag: "test".into(), text });
    }
    found.dedup();
    found
}

/// The lessons of a session for the memory.
pub fn remembered(outcome: &Outcome, now: Moment) -> Vec<LessonMemory> {
    let lessons = insights(outcome);
    let lessons = lessons.iter();
    lessons
        .filter_map(|one| LessonMemory::new(now, one.kind.place().0, &one.tag, &one.text))
        .collect()
}

/// The top folder of a file, or its name without the extension.
fn area(file: &str) -> String {
    let first = file.split('/').next().unwrap_or_default();
    let word: String = first
        .split('.')
        .next()
        .unwrap_or_default()
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
        .take(40)
        .collect();
    if word.is_empty() { "project".into() } else { word }
}

/// All files that change, with new content; `read` gives a file by its name below the root.
pub fn files(
    outcome: &Outcome,
    date: &str,
    read: impl Fn(&str) -> Option<String>,
) -> Vec<(&'static str, String)> {
    let all = insights(outcome);
    let mut files = Vec::new();
    for kind in [Kind::Bug, Kind::Pattern, Kind::Rule] {
        let (_, name) = kind.place();
        files.extend(merged(read(name).as_deref(), kind, &all, date).map(|text| (name, text)));
    }
    let before = read(INDEX).and_then(|text| serde_json::from_str(&text).ok());
    let after = indexed(before.clone(), outcome, date);
    if before.as_ref() != Some(&after) {
        files.push((INDEX, serde_json::to_string_pretty(&after).unwrap_or_default() + "\n"));
    }
    files
}

/// A kind's file with new insights, dated as `2026-11-21`; `None` when there are none.
pub fn merged(existing: Option<&str>, kind: Kind, all: &[Insight], date: &str) -> Option<String> {
    let (word, _) = kind.place();
    let mut text = match existing {
        Some(text) if !text.trim().is_empty() && text.trim_end() != scaffold(kind).trim_end() => {
            text.trim_end().to_owned() + "\n"
        }
        _ => scaffold(kind),
    };
    let before = text.len();
    for insight in all.iter().filter(|insight| insight.kind == kind) {
        if text.contains(&insight.text) {
            continue;
        }
        let dated = if kind == Kind::Rule { String::new() } else { format!(" ({date})") };
        text.push_str(&format!("- [{word}:{}] {}{dated}\n", insight.tag, insight.text));
    }
    (text.len() > before).then_some(text)
}

fn scaffold(kind: Kind) -> String {
    let (title, dimension) = match kind {
        Kind::Bug => ("Learnings", "bugs"),
        Kind::Pattern => ("Coding conventions", "patterns"),
        Kind::Rule => ("Quality rules", "tests"),
    };
    format!(
        "---\ntitle: {title}\nreadMode: optional\npriority: medium\nscope: project\ndimension: {dimension}\nkeywords: [{dimension}]\n---\n\n# {title}\n\n"
    )
}

/// The category of a session in the index, by the files of its kept changes; `None` when it changed
/// nothing, which is no development. Only a change of code that made a failing test pass is a repair.
fn category(outcome: &Outcome) -> Option<&'static str> {
    let kept = outcome.iterations.iter().filter(|row| row.outcome == "improved");
    let files: Vec<RepoPath> = kept
        .flat_map(|row| &row.files)
        .filter_map(|file| RepoPath::parse(file.as_str()).ok())
        .collect();
    let is_document = |file: &RepoPath| matches!(file.extension(), "md" | "rst" | "adoc" | "txt");
    match () {
        () if files.is_empty() => None,
        () if files.iter().all(is_document) => Some("docs"),
        () if outcome.special_cases.is_empty() => Some("bugfix"),
        // A change that looks made for the tests is claimed to repair nothing.
        () => Some("enhancement"),
    }
}

/// The first files of a project that it lacks (specification.md 3.1), with its suite's facts.
pub fn first_files(
    facts: &[(&str, Value)],
    has: impl Fn(&str) -> bool,
) -> Vec<(&'static str, String)> {
    let mut files = Vec::new();
    for kind in [Kind::Bug, Kind::Pattern, Kind::Rule] {
        files.push((kind.place().1, scaffold(kind)));
    }
    let stack: Map<String, Value> =
        facts.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let index = json!({ "schema_version": 1, "tech_stack": stack, "development_index": {} });
    files.push((INDEX, serde_json::to_string_pretty(&index).unwrap_or_default() + "\n"));
    files.retain(|(name, _)| !has(name));
    files
}

/// The index with an entry for this session, which replaces an older entry of the same session.
/// Callers pass `None` for an index that they cannot read.
pub fn indexed(existing: Option<Value>, outcome: &Outcome, date: &str) -> Value {
    let mut index = existing.filter(Value::is_object).unwrap_or_else(|| json!({}));
    let folder = outcome
        .iterations
        .iter()
        .flat_map(|row| &row.files)
        .map(|file| file.rsplit_once('/').map_or(".", |(folder, _)| folder).to_owned())
        .next();
    let entry = json!({
        "title": line(&format!("Bring the tests of {} back to green", outcome.onto.as_deref().unwrap_or("HEAD")), 60),
        "sub_feature": folder.unwrap_or_else(|| ".".into()),
        "date": date,
        "description": line(&outcome.reason, 100),
        "status": "completed",
        "session_id": outcome.session,
    });
    let Some(category) = category(outcome) else { return index };
    // An entry of the same session may be in another category.
    for known in index["development_index"].as_object_mut().into_iter().flat_map(Map::values_mut) {
        if let Some(entries) = known.as_array_mut() {
            entries.retain(|known| known["session_id"] != entry["session_id"]);
        }
    }
    let list = &mut index["development_index"][category];
    let mut entries: Vec<Value> = list.as_array().cloned().unwrap_or_default();
    entries.push(entry);
    *list = Value::Array(entries);
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    fn insight(kind: Kind, text: &str) -> Insight {
        Insight { kind, tag: "shop".into(), text: text.into() }
    }

    #[test]
    fn what_is_known_is_not_written_again() {
        let all = [insight(Kind::Bug, "a was wrong"), insight(Kind::Rule, "keep b")];
        let first = merged(None, Kind::Bug, &all, "2026-11-21").unwrap();
        assert!(first.starts_with("---\ntitle: Learnings\n"), "{first}");
        assert!(first.ends_with("- [bug:shop] a was wrong (2026-11-21)\n"), "{first}");
        assert_eq!(merged(Some(&first), Kind::Bug, &all, "2026-11-22"), None);
        let rules = merged(Some("# Ours\n"), Kind::Rule, &all, "2026-11-21").unwrap();
        assert_eq!(rules, "# Ours\n- [rule:shop] keep b\n");
        assert_eq!(merged(None, Kind::Pattern, &all, "2026-11-21"), None);
    }

    #[test]
    fn a_project_gets_only_the_files_that_it_lacks() {
        let facts = [("framework", json!("pytest"))];
        let names = |has: &[&str]| {
            let files = first_files(&facts, |name| has.contains(&name));
            files.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
        };
        let all = names(&[]);
        assert_eq!(all.len(), 4);
        assert_eq!(names(&all), [""; 0]);
        assert_eq!(names(&all[1..]), all[..1]);
        let first = first_files(&facts, |_| false);
        let index: Value = serde_json::from_str(&first[3].1).unwrap();
        assert_eq!(index["tech_stack"]["framework"], "pytest");
        let all = [insight(Kind::Bug, "a was wrong")];
        let fresh = merged(None, Kind::Bug, &all, "2026-11-21");
        assert_eq!(merged(Some(&first[0].1), Kind::Bug, &all, "2026-11-21"), fresh);
    }

    #[test]
    fn an_area_is_a_word() {
        for (file, expected) in [("shop/price.py", "shop"), ("calc.py", "calc"), ("", "project")] {
            assert_eq!(area(file), expected);
        }
    }
}
