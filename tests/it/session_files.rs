//! Checks the files of a session: every JSON file matches its published schema, or else a stored
//! sample of its form.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::support::{CALC, REGRESSING, TestRepo};

/// The name of the schema or sample for a file of the session folder.
fn form_of(name: &str) -> Option<&'static str> {
    let file = name.rsplit('/').next().unwrap_or(name);
    Some(match file {
        "workflow-session.json" => "session",
        "iteration-state.json" => "iteration-state",
        "test-results.json" => "test-results",
        "fix-history.json" => "fix-history",
        "manifest.json" => "archive-manifest",
        "outcome.json" => "outcome",
        "options.json" => "options",
        "IMPL-002.json" => "suite-task",
        _ if file.starts_with("iteration-") && file.ends_with("-failures.json") => {
            "iteration-failures"
        }
        _ if file.starts_with("IMPL-fix-") => "fix-task",
        _ => return None,
    })
}

/// Mismatches between a file and its form; none for a file that is not JSON.
fn faults(name: &str, text: &str) -> Vec<String> {
    if !name.ends_with(".json") {
        return Vec::new();
    }
    let Some(form) = form_of(name) else { return vec![format!("{name} has no form")] };
    against(form, name, text)
}

/// Mismatches between a text and the published schema of its form, or else its stored sample.
/// `REGREEN_BLESS=1` writes a missing sample, and drops from a sample what is no longer written.
pub fn against(form: &str, name: &str, text: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let value: Value = serde_json::from_str(text).unwrap();
    let path = root.join(format!("docs/schemas/{form}.json"));
    if path.exists() {
        let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        return validator
            .iter_errors(&value)
            .map(|error| format!("{name} at {}: {error}", error.instance_path()))
            .collect();
    }
    let path = root.join(format!("tests/data/forms/{form}.json"));
    let bless = std::env::var("REGREEN_BLESS").is_ok();
    let mut sample: Value = match std::fs::read_to_string(&path) {
        Ok(text) => serde_json::from_str(&text).unwrap(),
        Err(_) if bless => value.clone(),
        Err(error) => panic!("{}: {error}; run the test with REGREEN_BLESS=1", path.display()),
    };
    let mut lacking = Vec::new();
    shrink(&mut sample, &value, name, &mut lacking);
    if bless {
        let text = serde_json::to_string_pretty(&sample).unwrap() + "\n";
        std::fs::write(&path, text).unwrap();
        return Vec::new();
    }
    // What readers of a released version know is still there.
    for version in std::fs::read_dir(root.join("tests/data/state")).unwrap() {
        let released = version.unwrap().path().join(format!("{form}.json"));
        if let Ok(text) = std::fs::read_to_string(released) {
            let mut sample = serde_json::from_str(&text).unwrap();
            shrink(&mut sample, &value, &format!("{name} of a released version"), &mut lacking);
        }
    }
    lacking
}

/// Removes from a sample, and reports, every field that a current value lacks or holds as another
/// type. Keys that are names of tests or files are not fields: one entry stands for all.
fn shrink(sample: &mut Value, now: &Value, at: &str, lacking: &mut Vec<String>) {
    let is_field =
        |name: &String| name.bytes().all(|b| b.is_ascii_lowercase() || b"_-".contains(&b));
    match (sample, now) {
        (Value::Object(sample), Value::Object(now)) => sample.retain(|name, old| {
            let new = now.get(name).or_else(|| now.values().next().filter(|_| !is_field(name)));
            let at = format!("{at}/{name}");
            match new {
                Some(new) if new.is_null() || old.is_null() => true,
                Some(new) if std::mem::discriminant(new) == std::mem::discriminant(old) => {
                    shrink(old, new, &at, lacking);
                    true
                }
                None if !is_field(name) => true,
                _ => {
                    lacking.push(format!("{at} is missing or of another type"));
                    false
                }
            }
        }),
        (Value::Array(sample), Value::Array(now)) => {
            sample.truncate(1);
            for new in now {
                for old in sample.iter_mut() {
                    shrink(old, new, &format!("{at}[]"), lacking);
                }
            }
        }
        _ => {}
    }
}

/// All files below a folder.
pub fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

#[cfg(feature = "slow-tests")]
#[test]
fn every_json_file_of_a_session_and_of_its_commits_fits_its_form() {
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
            seen.extend(form_of(&name));
            if name.ends_with("events.jsonl") {
                wrong.extend(text.lines().flat_map(|line| against("event", &name, line)));
            }
        }
        if folder.parent().unwrap().ends_with("archives") {
            let manifest = folder.parent().unwrap().join("manifest.json");
            let text = std::fs::read_to_string(manifest).unwrap();
            wrong.extend(faults("manifest.json", &text));
            seen.extend(form_of("manifest.json"));
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
        "archive-manifest",
        "fix-history",
        "fix-task",
        "iteration-failures",
        "iteration-state",
        "options",
        "outcome",
        "session",
        "suite-task",
        "test-results",
    ];
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), all, "every form was seen");
}

/// The manifest of the archive.
fn manifest(repo: &TestRepo) -> Value {
    let path = repo.root().join(".git/regreen/archives/manifest.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn the_manifest_tells_what_a_session_took_and_taught() {
    let repo = TestRepo::new(REGRESSING);
    assert_eq!(repo.regreen(&["fix", "--jobs", "1", "--quiet"]).code, Some(0));
    let entry = &manifest(&repo)[0];
    assert_eq!(entry["session_id"], "WFS-test-main");
    assert_eq!(entry["metrics"]["tasks_completed"], 2, "the suite and the kept fix: {entry}");
    let lesson = |kind: &str| entry["lessons"][kind][0].as_str().unwrap().to_owned();
    assert!(lesson("successes").starts_with("iteration 2, surgical, 83.3 to 100.0 %: store.py:7"));
    assert!(
        lesson("challenges").starts_with("iteration 1, conservative, regression: the rate fell")
    );
    assert!(lesson("watch_patterns").starts_with("edits of the kind `"));
}

#[cfg(feature = "slow-tests")]
#[test]
fn an_archiving_that_failed_keeps_the_result_and_is_resumed_by_the_next_start() {
    for verb in ["status", "fix"] {
        let repo = TestRepo::new(CALC);
        let root = repo.root().join(".git/regreen");
        let in_the_way = root.join("archives/WFS-test-main/x");
        let free = || std::fs::remove_dir_all(root.join("archives")).unwrap();
        // A folder of that name without a record is not a session, and archiving cannot replace it.
        let ran = repo.regreen(&["fix", "--max-iterations", "1"]);
        assert_eq!(ran.code, Some(1), "{}", ran.err);
        std::fs::create_dir_all(&in_the_way).unwrap();
        let ran = repo.regreen(&["fix", "--resume", "--max-iterations", "5"]);
        assert_eq!(ran.code, Some(0), "the result stands: {}", ran.err);
        assert!(ran.err.contains("cannot move"), "{}", ran.err);
        assert!(root.join("active/WFS-test-main/.archiving").is_file());
        free();
        let next = repo.regreen(&[verb]);
        assert_eq!(next.code, Some(0), "{}", next.err);
        assert!(next.err.contains("WFS-test-main was finished and is archived"), "{}", next.err);
        assert_eq!(manifest(&repo)[0]["session_id"], "WFS-test-main");
        assert!(!root.join("archives/WFS-test-main/.archiving").exists());
        assert!(!root.join("active/WFS-test-main").exists());
    }
}

#[test]
fn a_session_of_a_newer_build_is_refused_and_left_as_it_is() {
    let repo = TestRepo::new(CALC);
    assert_eq!(repo.regreen(&["fix", "--max-iterations", "1"]).code, Some(1));
    let record = repo.root().join(".git/regreen/active/WFS-test-main/workflow-session.json");
    let newer = std::fs::read_to_string(&record)
        .unwrap()
        .replace("\"schema_version\": 1", "\"schema_version\": 2");
    std::fs::write(&record, &newer).unwrap();
    for arguments in [&["fix", "--resume"][..], &["fix", "--resume", "WFS-test-main"]] {
        let ran = repo.regreen(arguments);
        assert_ne!(ran.code, Some(0));
        assert!(ran.err.contains("written with schema version 2"), "{}", ran.err);
    }
    assert_eq!(std::fs::read_to_string(&record).unwrap(), newer);
}
