//! cargo-nextest, read from the JUnit report that a configuration of ours asks for.

use super::super::format::junit;
use super::{Framework, Left, Plan, Read, words};
use crate::domain::id::TestId;
use crate::effect::RunError;

/// The row.
pub const FRAMEWORK: Framework = Framework {
    name: "cargo-nextest",
    format: "JUnit XML",
    signals: ".config/nextest.toml",
    detect: |site| {
        if let Some(command) = &site.command {
            return command.contains("nextest").then(|| format!("the command `{command}`"));
        }
        site.has(".config/nextest.toml").then(|| ".config/nextest.toml".into())
    },
    version: |_| words(&["cargo", "nextest", "--version"]),
    install: "cargo install cargo-nextest --locked",
    plan: |_, chosen, scratch| {
        let mut argv = words(&["cargo", "nextest", "run", "--no-fail-fast"]);
        let config = scratch.drivers.join("nextest.toml").display().to_string();
        argv.extend(["--tool-config-file".into(), format!("regreen:{config}")]);
        argv.extend(words(&["--profile", "regreen"]));
        if let Some(ids) = chosen {
            argv.push("-E".into());
            argv.push(filter(ids));
        }
        Plan {
            argv,
            typed: Some("cargo nextest run".into()),
            stale: Some("target/nextest/regreen/*.xml".into()),
            ..Plan::default()
        }
    },
    read,
};

fn filter(ids: &[TestId]) -> String {
    let exact = |id: &TestId| {
        let (binary, name) = id.as_str().split_once("::").unwrap_or(("", id.as_str()));
        if binary.is_empty() {
            format!("test(={name})")
        } else {
            format!("(binary_id(={binary}) & test(={name}))")
        }
    };
    ids.iter().map(exact).collect::<Vec<_>>().join(" | ")
}

fn read(left: &Left<'_>) -> Result<Read, RunError> {
    let report = left.folder.join("target/nextest/regreen/junit.xml");
    let text = super::text_of(&report)?;
    if text.is_empty() {
        return Ok(Read::default());
    }
    let told = junit::parse(&text).map_err(|error| RunError::BadReport {
        report,
        line: error.line,
        expected: error.expected,
    })?;
    Ok(Read { told, complete: true })
}
