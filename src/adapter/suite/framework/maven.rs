//! Maven Surefire and its JUnit XML.

use super::command::read_reports;
use super::{Framework, Plan, words};

/// Where Surefire writes, in modules as well.
const REPORTS: &str = "**/target/surefire-reports/TEST-*.xml";

/// The row.
pub const FRAMEWORK: Framework = Framework {
    name: "Maven Surefire",
    format: "JUnit XML",
    signals: "pom.xml",
    detect: |site| {
        if let Some(command) = &site.command {
            return command.starts_with("mvn").then(|| format!("the command `{command}`"));
        }
        site.has("pom.xml").then(|| "pom.xml".into())
    },
    version: |_| words(&["mvn", "--version"]),
    install: "install Maven, for example with `apt-get install maven`",
    plan: |site, chosen, _| {
        let typed = site.command.clone().unwrap_or_else(|| "mvn -B test".into());
        let mut argv: Vec<String> = typed.split_whitespace().map(str::to_owned).collect();
        argv.extend(words(&["-Dmaven.test.failure.ignore=true", "-DtrimStackTrace=false"]));
        if let Some(ids) = chosen {
            let classes = super::heads(ids, "::");
            argv.push(format!("-Dtest={}", classes.join(",")));
            argv.push("-Dsurefire.failIfNoSpecifiedTests=false".into());
        }
        Plan { argv, typed: Some(typed), stale: Some(REPORTS.into()), ..Plan::default() }
    },
    read: |left| read_reports(left, REPORTS),
};
