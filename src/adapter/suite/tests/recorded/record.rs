//! Replaces recordings by the output of the tools on this machine.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::adapter::host::clock::HostClock;
use crate::domain::test::Scope;
use crate::effect::{RunRequest, Suite};

use super::super::super::framework::{RunFiles, matching_files};
use super::super::super::{SuiteSettings, detect, open};
use super::{RECORDED, data};

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// The text without what identifies the machine.
fn anonymous(path: &Path, folder: &Path) -> String {
    let text = String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
    let text = text.replace(folder.join("repo").to_str().unwrap(), "/repo");
    let text = text.replace(folder.to_str().unwrap(), "/scratch");
    let hidden = [
        (r#" hostname="[^"]*""#, ""),
        (r"(?s)<properties>.*?</properties>", "<properties/>"),
        (r#"/(?:root|home/\w+)/[^\s:()"'<]*/"#, "/tools/"),
    ];
    hidden.iter().fold(text, |text, (pattern, instead)| {
        regex::Regex::new(pattern).unwrap().replace_all(&text, *instead).into_owned()
    })
}

/// Runs the sample projects that `REGREEN_RECORD` names, separated by commas, with the tools of
/// this machine, and replaces their recordings.
#[tokio::test]
async fn record_again() {
    let projects = std::env::var("REGREEN_RECORD").unwrap_or_default();
    for (kind, _, project, case) in RECORDED {
        if project.is_empty() || !projects.split(',').any(|name| name == *project) {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let root = base.join("repo");
        copy(&data().join("projects").join(project), &root);
        if fs::read_to_string(root.join("package.json")).is_ok_and(|text| text.contains("devDep")) {
            let install = ["install", "--no-audit", "--no-fund", "--silent"];
            let npm = std::process::Command::new("npm").args(install).current_dir(&root).status();
            assert!(npm.unwrap().success());
        }
        let detection = detect(&root, "", None, None).unwrap();
        println!("{project}: {}", detection.facts.version);
        let settings = SuiteSettings {
            timeout: Duration::from_mins(10),
            setup: Vec::new(),
            tools: crate::domain::request::ToolCommands::default(),
            session: base.join("session"),
            scratch: base.join("scratch"),
            layers: std::collections::BTreeMap::new(),
        };
        let clock = HostClock::start();
        let adapter = detection.adapter;
        let site = detection.site.clone();
        let suite = open(detection, settings, &clock).unwrap();
        let request = RunRequest::new(&root, &Scope::Full, "output.txt");
        let ran = suite.run(&request).await.map(|results| results.cases.len());
        println!("{project}: {ran:?}");
        let target = data().join("reports").join(kind).join(case);
        fs::create_dir_all(&target).unwrap();
        for (from, to) in [("session/output.txt", "output.txt"), ("scratch/cases", "results.txt")] {
            if base.join(from).exists() {
                fs::write(target.join(to), anonymous(&base.join(from), &base)).unwrap();
            }
        }
        let scratch = RunFiles {
            drivers: base.join("scratch/drivers"),
            results: base.join("scratch/cases"),
            selection: base.join("scratch/chosen"),
        };
        let pattern = (adapter.command)(&site, None, &scratch).stale_reports.unwrap_or_default();
        for report in matching_files(&root, &pattern).unwrap() {
            let to = target.join("folder").join(report.strip_prefix(&root).unwrap());
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::write(to, anonymous(&report, &base)).unwrap();
        }
    }
}
