//! PHPUnit, read from its JUnit XML report.

use std::collections::BTreeSet;

use crate::domain::framework::Framework;
use crate::domain::id::TestId;
use crate::domain::test::Status;
use crate::domain::test_command::{TestCommand, unquoted};

use super::super::format::{Report, ReportedTest, junit};
use super::adapter::{FrameworkAdapter, Site, read_document, read_text};

/// The table row for PHPUnit.
pub const ADAPTER: FrameworkAdapter = FrameworkAdapter {
    framework: Framework::Phpunit,
    format: "JUnit XML",
    signals: "phpunit.xml, phpunit.xml.dist, phpunit in composer.json",
    is_run_by,
    detect: |site| {
        // Pest has a program of its own, which starts PHPUnit.
        if site.file_contains("composer.json", "\"pestphp/pest\"") {
            return None;
        }
        let found = SETTINGS.iter().find(|file| site.has_path(file)).map(|file| (*file).to_owned());
        let listed = || {
            let is_listed = site.file_contains("composer.json", "\"phpunit/phpunit\"");
            (is_listed && site.has_path("tests")).then(|| "phpunit in composer.json".to_owned())
        };
        found.or_else(listed)
    },
    detect_by_tests: |_| None,
    version: |site| vec![program(site).to_owned(), "--version".into()],
    install: |site| {
        if site.file_contains("composer.json", "phpunit/phpunit") {
            "run `composer install`"
        } else {
            "run `composer require --dev phpunit/phpunit`"
        }
    },
    command: |site, selection, files| {
        let mut command = site.typed(program(site));
        // PHPUnit 7.3 and later keep a cache in the checkout otherwise.
        let report = files.results.display().to_string();
        let mut options =
            vec!["--log-junit".to_owned(), report, "--do-not-cache-result".to_owned()];
        let chosen = selection.and_then(|ids| filter(site, ids));
        options.extend(chosen.into_iter().flat_map(|filter| ["--filter".to_owned(), filter]));
        command.insert(command.options_end(), options);
        command.into_run()
    },
    read: |artifacts| {
        let text = read_text(artifacts.results)?;
        if text.is_empty() {
            return Ok(Report::default());
        }
        let mut report = read_document(artifacts.results, junit::parse)?;
        let are_risky_failed =
            SETTINGS.iter().any(|file| artifacts.site.file_contains(file, "failOnRisky=\"true\""));
        for test in &mut report.cases {
            tidy(test, are_risky_failed);
        }
        Ok(report)
    },
    coverage: |_| {
        Err("PHP measures coverage with an extension; configure `coverage.command`".into())
    },
    persistent: None,
};

const SETTINGS: &[&str] = &["phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"];

/// Bytes of a filter at most; the arguments of a program are limited.
const FILTER: usize = 60_000;

/// Files of one name that are read on average.
const SAME_NAME: usize = 5;

/// The file of a test case where the arguments of a data set begin.
const CLASS_END: &str = "::";

fn program(site: &Site) -> &'static str {
    ["vendor/bin/phpunit", "bin/phpunit"]
        .into_iter()
        .find(|program| site.has_path(program))
        .unwrap_or("phpunit")
}

fn is_run_by(command: &TestCommand) -> bool {
    let is_phpunit = |word: &String| unquoted(word).ends_with("/phpunit");
    let started = || {
        let words = command.words().get(command.after(&["php"])?..)?;
        words.iter().find(|word| !word.starts_with('-')).map(is_phpunit)
    };
    command.after(&["phpunit"]).is_some() || started() == Some(true)
}

/// A regular expression of exactly these tests; `None` where all of them have to run. A test that
/// depends on another one is skipped without it, so that its class runs as a whole.
fn filter(site: &Site, ids: &[TestId]) -> Option<String> {
    let file_of = |id: &TestId| {
        let (class, _) = id.as_str().split_once(CLASS_END)?;
        Some(format!("{}.php", class.rsplit('\\').next()?))
    };
    let named: BTreeSet<String> = ids.iter().map(file_of).collect::<Option<_>>()?;
    let dependent = dependent(site, &named);
    let one = |id: &TestId| {
        let (class, _) = id.as_str().split_once(CLASS_END)?;
        let pattern = if dependent.contains(&file_of(id)?) {
            format!("{}.*", regex::escape(&format!("{class}{CLASS_END}")))
        } else {
            regex::escape(id.as_str())
        };
        Some(pattern.replace('/', "\\/"))
    };
    let patterns: Vec<String> = ids.iter().map(one).collect::<Option<_>>()?;
    let filter = format!("/^(?:{})$/", patterns.join("|"));
    (filter.len() < FILTER).then_some(filter)
}

/// The names of those files whose tests depend on each other, found in one walk for all of them.
fn dependent(site: &Site, named: &BTreeSet<String>) -> BTreeSet<String> {
    let sources =
        site.find_files(named.len() * SAME_NAME, &|name| named.contains(name), &|_| false);
    let depends = sources.iter().filter(|source| {
        let path = source.strip_prefix(site.working_folder()).ok().and_then(|path| path.to_str());
        let text = path.and_then(|path| site.read_small_text(path)).unwrap_or_default();
        text.contains("@depends") || text.contains("#[Depends")
    });
    depends.filter_map(|source| Some(source.file_name()?.to_str()?.to_owned())).collect()
}

/// Makes the class a name of PHP, and takes the message out of the text of a failure. A risky test is
/// an error in the report alone, unless the settings say that it fails.
fn tidy(test: &mut ReportedTest, are_risky_failed: bool) {
    if let Some((class, name)) = test.id.split_once(CLASS_END)
        && !class.contains('/')
    {
        test.id = format!("{}{CLASS_END}{name}", class.replace('.', "\\"));
    }
    if test.status != Some(Status::Failed) {
        return;
    }
    if test.class.ends_with("RiskyTestError") && !are_risky_failed {
        *test = ReportedTest { status: Some(Status::Passed), ..test.clone() };
        return;
    }
    // The first line is the test itself; the places stand behind an empty line.
    let text = test.stack.split_once('\n').map_or(test.stack.as_str(), |(_, rest)| rest);
    let message = text.split("\n\n").next().unwrap_or_default();
    let repeated = format!("{}: ", test.class);
    let message = message.strip_prefix(repeated.as_str()).unwrap_or(message).trim().to_owned();
    test.message = message;
}
