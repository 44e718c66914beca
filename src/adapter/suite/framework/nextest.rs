//! cargo-nextest, read from the JUnit report that our nextest configuration requests.

use crate::domain::framework::Framework;
use crate::domain::id::TestId;
use crate::domain::test_command::TestCommand;
use crate::effect::RunError;

use super::super::format::{Report, junit, libtest, rustc};
use super::adapter::{
    CoverageCommand, FrameworkAdapter, RunArtifacts, RunCommand, read_text, words,
};
use super::command::matching_files;

/// The table row for nextest.
pub const ADAPTER: FrameworkAdapter = FrameworkAdapter {
    framework: Framework::Nextest,
    format: "JUnit XML",
    signals: ".config/nextest.toml",
    is_run_by: |command| command.after(&["cargo", "nextest", "run"]).is_some(),
    detect: |site| site.has_path(".config/nextest.toml").then(|| ".config/nextest.toml".into()),
    detect_by_tests: |_| None,
    version: |_| words(&["cargo", "nextest", "--version"]),
    install: |_| "cargo install cargo-nextest --locked",
    command: |site, selection, files| {
        let mut command = site.typed("cargo nextest run");
        let config = files.drivers.join("nextest.toml").display().to_string();
        let mut options = words(&["--no-fail-fast", "--tool-config-file"]);
        options.push(format!("regreen:{config}"));
        options.retain(|word| word != "--no-fail-fast" || !command.has_word(word));
        if profile_of(command.words()).is_none() {
            options.extend(words(&["--profile", PROFILE]));
        }
        if let Some(ids) = selection {
            // A failed compilation is named like no test.
            if ids.iter().all(|id| id.as_str().contains("::")) {
                options.extend(["-E".into(), filter(ids)]);
            }
        }
        command.insert(command.options_end(), options);
        let stale_reports = Some(REPORTS.into());
        RunCommand { stale_reports, ..command.into_run() }
    },
    read,
    coverage: |request| {
        let mut argv = words(&["cargo", "llvm-cov", "nextest", "--lcov", "--output-path"]);
        argv.push(request.output_path("report"));
        let report = request.output.join("report");
        Ok(CoverageCommand::new("cargo llvm-cov nextest --lcov", argv, report))
    },
    persistent: None,
};

/// The profile of a command that names none.
const PROFILE: &str = "regreen";

/// The reports of all profiles, of which a run has one.
const REPORTS: &str = "target/nextest/**/*.xml";

/// The profile that a command names.
fn profile_of(words: &[String]) -> Option<&str> {
    let mut words = words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        match word {
            "--profile" | "-P" => return words.next(),
            "--" => return None,
            _ => {}
        }
        let value = word.strip_prefix("--profile=").or_else(|| word.strip_prefix("-P"));
        if value.is_some() {
            return value;
        }
    }
    None
}

/// Settings that have a run of this command leave a report; those of the project go before them.
pub fn profile_settings(command: Option<&TestCommand>) -> String {
    let profile = command.and_then(|command| profile_of(command.words())).unwrap_or(PROFILE);
    format!("[profile.{profile}.junit]\npath = \"junit.xml\"\nstore-failure-output = true\n")
}

/// An id is `package::test` or `package::binary::test`, and nothing shows which; nextest refuses a
/// filter that names a missing binary, so the package and both names are given.
fn filter(ids: &[TestId]) -> String {
    let exact = |id: &TestId| {
        let (package, name) = id.as_str().split_once("::").unwrap_or(("", id.as_str()));
        let inner = name.split_once("::").map(|(_, inner)| format!(" | test(={inner})"));
        let names = format!("test(={name}){}", inner.unwrap_or_default());
        if package.is_empty() { names } else { format!("(package(={package}) & ({names}))") }
    };
    ids.iter().map(exact).collect::<Vec<_>>().join(" | ")
}

fn read(artifacts: &RunArtifacts<'_>) -> Result<Report, RunError> {
    let reports = matching_files(&artifacts.site.working_folder(), REPORTS)?;
    let Some(report) = reports.first() else {
        let output = read_text(artifacts.log)?;
        let failure = rustc::compilation_failure(&output, |path| artifacts.site.has_path(path));
        let complete = failure.is_some();
        return Ok(Report { complete, ..Report::of(failure.into_iter().collect()) });
    };
    let mut parsed = junit::parse(&read_text(report)?).map_err(|error| error.in_report(report))?;
    // nextest's messages contain a thread number, which differs in every run.
    for test in parsed.cases.iter_mut().filter(|test| !test.stack.is_empty()) {
        let stack = std::mem::take(&mut test.stack);
        libtest::explain(test, stack);
    }
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_of_other_binaries_than_the_library_are_chosen() {
        let ids = ["x::api::sums".to_owned(), "x::sums".to_owned()].map(TestId);
        assert_eq!(
            filter(&ids),
            "(package(=x) & (test(=api::sums) | test(=sums))) | (package(=x) & (test(=sums)))"
        );
    }
}
