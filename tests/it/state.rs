//! The session's files: every JSON in them has a published schema and fits it.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::support::{CALC, REGRESSING, TestRepo};

/// The published schema of a file of the session folder.
fn schema_of(name: &str) -> Option<&'static str> {
    let file = name.rsplit('/').next().unwrap_or(name);
    Some(match file {
        "workflow-session.json" => "session",
        "iteration-state.json" => "iteration-state",
        "test-results.json" => "test-results",
        "fix-history.json" => "fix-history",
        "outcome.json" => "outcome",
        "IMPL-002.json" => "suite-task",
        _ if file.starts_with("iteration-") && file.ends_with("-failures.json") => {
            "iteration-failures"
        }
        _ if file.starts_with("IMPL-fix-") => "fix-task",
        _ => return None,
    })
}

/// What is wrong with a file of this name; nothing when it is no JSON.
fn faults(name: &str, text: &str) -> Vec<String> {
    if !name.ends_with(".json") {
        return Vec::new();
    }
    let Some(schema) = schema_of(name) else { return vec![format!("{name} has no schema")] };
    against(schema, name, text)
}

fn against(schema: &str, name: &str, text: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("docs/schemas/{schema}.json"));
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let value: Value = serde_json::from_str(text).unwrap();
    validator
        .iter_errors(&value)
        .map(|error| format!("{name} at {}: {error}", error.instance_path()))
        .collect()
}

/// All files below a folder.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

#[test]
fn every_json_file_of_a_session_and_of_its_commits_fits_its_published_schema() {
    let mut wrong = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for (sources, limit, taken_back) in
        [(CALC, "10", false), (CALC, "1", false), (REGRESSING, "10", true)]
    {
        let repo = TestRepo::new(sources);
        let ran = repo.regreen(&["fix", "--json", "--jobs", "1", "--max-iterations", limit]);
        let folder = PathBuf::from(ran.document()["folder"].as_str().unwrap());
        let mut paths = Vec::new();
        files(&folder, &mut paths);
        for path in paths {
            let name = path.strip_prefix(&folder).unwrap().display().to_string();
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            wrong.extend(faults(&name, &text));
            seen.extend(schema_of(&name));
            if name.ends_with("events.jsonl") {
                wrong.extend(text.lines().flat_map(|line| against("event", &name, line)));
            }
        }
        let prefix = ".workflow/active/WFS-test-main/";
        for commit in repo.git(&["rev-list", "main..regreen/WFS-test-main"]).lines() {
            for path in repo.git(&["ls-tree", "-r", "--name-only", commit, prefix]).lines() {
                let text = repo.git(&["show", &format!("{commit}:{path}")]);
                wrong.extend(faults(path, &text));
            }
        }
        let rolled_back = folder.join(".task/rolled-back/IMPL-fix-1.json");
        assert_eq!(rolled_back.is_file(), taken_back, "{}", ran.err);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let all = [
        "fix-history",
        "fix-task",
        "iteration-failures",
        "iteration-state",
        "outcome",
        "session",
        "suite-task",
        "test-results",
    ];
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), all, "every form was seen");
}
