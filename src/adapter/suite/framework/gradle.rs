//! Gradle's test task and its JUnit XML.

use super::command::read_reports;
use super::{Framework, Plan, words};

/// Where Gradle writes, in subprojects as well.
const REPORTS: &str = "**/build/test-results/**/*.xml";

/// The row.
pub const FRAMEWORK: Framework = Framework {
    name: "Gradle",
    format: "JUnit XML",
    signals: "build.gradle, build.gradle.kts",
    detect: |site| {
        if let Some(command) = &site.command {
            return command.contains("gradle").then(|| format!("the command `{command}`"));
        }
        let found = ["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"];
        found.iter().find(|file| site.has(file)).map(|file| (*file).to_owned())
    },
    version: |site| vec![program(site), "--version".into()],
    install: "add the Gradle wrapper, or install Gradle",
    plan: |site, chosen, _| {
        let typed = site.command.clone().unwrap_or_else(|| format!("{} test", program(site)));
        let mut argv: Vec<String> = typed.split_whitespace().map(str::to_owned).collect();
        argv.push("--continue".into());
        for class in chosen.map(|ids| super::heads(ids, "::")).unwrap_or_default() {
            argv.extend(["--tests".into(), class.to_owned()]);
        }
        Plan { argv, typed: Some(typed), stale: Some(REPORTS.into()), ..Plan::default() }
    },
    read: |left| read_reports(left, REPORTS),
};

fn program(site: &super::Site) -> String {
    if site.has("gradlew") { "./gradlew".into() } else { words(&["gradle"]).concat() }
}
