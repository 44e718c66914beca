//! Gradle's test task and its JUnit XML.

use super::super::format::Told;
use super::command::read_reports;
use super::{Framework, Plan, words};
use crate::domain::test::Status;

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
    plan: |site, chosen, scratch| {
        let typed = site.command.clone().unwrap_or_else(|| format!("{} test", program(site)));
        let mut argv: Vec<String> = typed.split_whitespace().map(str::to_owned).collect();
        argv.push("--continue".into());
        let script = scratch.drivers.join("gradle_init.gradle");
        argv.extend(["--init-script".into(), script.display().to_string()]);
        let classes = chosen.map(|ids| super::heads(ids, "::")).unwrap_or_default();
        // A task that failed by itself is asked for by running everything.
        if !classes.iter().any(|class| class.starts_with(':')) {
            argv.extend(classes.iter().flat_map(|class| ["--tests".into(), (*class).to_owned()]));
        }
        Plan { argv, typed: Some(typed), stale: Some(REPORTS.into()), ..Plan::default() }
    },
    read: |left| super::with_broken(read_reports(left, REPORTS), broken(&left.log_text()?)),
};

/// Tasks that failed by themselves, such as a module that does not compile: Gradle goes on with the
/// other modules and leaves no report of this one. Ids are the names of the tasks.
fn broken(log: &str) -> Vec<Told> {
    let mut told: Vec<Told> = Vec::new();
    let mut lines = log.lines();
    while let Some(line) = lines.next() {
        let task = line.strip_prefix("Execution failed for task '");
        let Some(task) = task.and_then(|rest| rest.split('\'').next()) else { continue };
        let why = lines.next().unwrap_or_default().trim_start_matches("> ");
        let started = |line: &&str| line.trim_start_matches("> Task ").starts_with(task);
        let of_task: Vec<&str> = log.lines().skip_while(|line| !started(line)).take(20).collect();
        let error = of_task.iter().find_map(|line| line.split_once(": error: "));
        told.push(Told {
            id: task.to_owned(),
            status: Some(Status::Failed),
            message: error.map_or(why, |(_, message)| message).to_owned(),
            stack: of_task.join("\n"),
            ..Told::default()
        });
    }
    told
}

fn program(site: &super::Site) -> String {
    if site.has("gradlew") { "./gradlew".into() } else { words(&["gradle"]).concat() }
}
