//! The example projects: each ends as the table beside them says.

use std::path::Path;

use super::support::TestRepo;

/// The rows of the table: folder, result, exit code, heading.
fn rows(page: &str) -> Vec<[String; 4]> {
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    rows.map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [folder, _, result, code, heading] = cells[..] else { panic!("five cells: {line}") };
        [folder, result, code, heading].map(|cell| cell.trim_matches('`').to_owned())
    })
    .collect()
}

/// The files of a folder, by their path in it.
fn files(folder: &Path, within: &str, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
        let name = format!("{within}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            if entry.file_name() != "__pycache__" {
                files(&entry.path(), &format!("{name}/"), found);
            }
        } else {
            found.push((name, std::fs::read_to_string(entry.path()).unwrap()));
        }
    }
}

#[cfg(feature = "slow-tests")]
#[test]
fn every_example_ends_with_the_verdict_that_its_table_names() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/verdicts");
    let rows = rows(&std::fs::read_to_string(root.join("README.md")).unwrap());
    let folders = std::fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path());
    assert_eq!(rows.len(), folders.filter(|path| path.is_dir()).count(), "every folder has a row");
    for [folder, result, code, heading] in rows {
        let mut found = Vec::new();
        files(&root.join(&folder), "", &mut found);
        let found: Vec<(&str, &str)> =
            found.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let repo = TestRepo::new(&found);
        let ran = repo.regreen(&["fix", "--json"]);
        let document = ran.document();
        assert_eq!(document["result"], result, "{folder}: {document:#}\n{}", ran.err);
        assert_eq!(ran.code.map(|code| code.to_string()), Some(code), "{folder}");
        let report = document["report"].as_str().expect("a report");
        let report = std::fs::read_to_string(report).unwrap();
        assert!(report.contains(&heading), "{folder}: {heading}\n{report}");
    }
}
