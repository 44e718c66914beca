//! Vitest and its JSON report.

use super::super::format::jest::Writer;
use super::jest::{detect, files, read, start};
use super::{Framework, Plan, words};

/// The row.
pub const FRAMEWORK: Framework = Framework {
    name: "Vitest",
    format: "JSON report",
    signals: "vitest in package.json, vitest.config.*",
    detect: |site| detect(site, "vitest"),
    version: |_| vec!["npx".into(), "--no-install".into(), "vitest".into(), "--version".into()],
    install: "npm install --save-dev vitest",
    plan: |site, chosen, scratch| {
        let mut argv = start(site, "vitest");
        argv.extend(words(&["run", "--reporter=json", "--reporter=default"]));
        argv.push(format!("--outputFile.json={}", scratch.cases.display()));
        argv.extend(files(site, chosen));
        Plan { argv, typed: Some("npx vitest run".into()), ..Plan::default() }
    },
    read: |left| read(left, Writer::Vitest),
};
