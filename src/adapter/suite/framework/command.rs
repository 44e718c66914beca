//! Any command that leaves JUnit XML or TAP in files, or prints TAP.

use std::path::PathBuf;

use globset::GlobBuilder;
use ignore::WalkBuilder;

use super::super::format::{junit, tap};
use super::{Framework, Left, Plan, Read};
use crate::effect::RunError;

/// The row.
pub const FRAMEWORK: Framework = Framework {
    name: "command",
    format: "JUnit XML or TAP",
    signals: "--test-command",
    detect: |site| site.command.as_ref().map(|command| format!("the command `{command}`")),
    version: |_| Vec::new(),
    install: "name a command with `--test-command`",
    plan: |site, _, _| {
        let command = site.command.clone().unwrap_or_default();
        Plan {
            argv: vec!["sh".into(), "-c".into(), command.clone()],
            typed: Some(command),
            stale: site.report.clone(),
            ..Plan::default()
        }
    },
    read: |left| {
        if let Some(pattern) = &left.site.report {
            read_reports(left, pattern)
        } else {
            let told = tap::parse(&left.log_text()?);
            let complete = !told.is_empty();
            Ok(Read { told, complete })
        }
    },
};

/// Reads every report that a glob below the folder matches.
pub fn read_reports(left: &Left<'_>, pattern: &str) -> Result<Read, RunError> {
    let reports = matching(left.folder, pattern)?;
    if reports.is_empty() {
        let (command, pattern) = (left.typed.to_owned(), pattern.to_owned());
        return Err(RunError::NoReportFile { command, pattern });
    }
    let mut told = Vec::new();
    for report in reports {
        let text = super::text_of(&report)?;
        if text.trim_start().starts_with('<') {
            told.extend(junit::parse(&text).map_err(|error| RunError::BadReport {
                report: report.clone(),
                line: error.line,
                expected: error.expected,
            })?);
        } else {
            let tests = tap::parse(&text);
            if tests.is_empty() {
                let expected = "JUnit XML or TAP".to_owned();
                return Err(RunError::BadReport { report, line: 1, expected });
            }
            told.extend(tests);
        }
    }
    Ok(Read { told, complete: true })
}

/// Files below `folder` that a glob matches, sorted; ignored files are found as well.
pub fn matching(folder: &std::path::Path, pattern: &str) -> Result<Vec<PathBuf>, RunError> {
    let glob = GlobBuilder::new(pattern).literal_separator(true).build().map_err(|error| {
        RunError::Io { action: format!("read the pattern `{pattern}`"), reason: error.to_string() }
    })?;
    let glob = glob.compile_matcher();
    let mut found: Vec<PathBuf> = WalkBuilder::new(folder)
        .standard_filters(false)
        .filter_entry(|entry| entry.file_name() != ".git" && entry.file_name() != "node_modules")
        .build()
        .flatten()
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .map(ignore::DirEntry::into_path)
        .filter(|path| path.strip_prefix(folder).is_ok_and(|below| glob.is_match(below)))
        .collect();
    found.sort();
    Ok(found)
}
