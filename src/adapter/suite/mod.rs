//! The test suite of a repository: detects the framework, runs it, reads its reports and
//! tries candidate edits.
//!
//! It does not know why tests are run, nor what an edit is for.

mod call_record;
mod call_recorder;
mod candidate;
mod compiled_calls;
mod coverage_run;
mod detect;
mod format;
mod formatters;
mod framework;
mod io_error;
mod java_modules;
mod line_server;
mod lint_output;
mod project_suite;
mod python_environment;
mod run;
mod set_up;
mod suite_command;
mod syntax_check;
#[cfg(test)]
mod tests;
mod tools;
mod version_managers;

pub use detect::{Detection, Package, detect, detect_or_begin, languages};
#[cfg(any(test, feature = "internals"))]
pub use format::ReportedTest;
pub use formatters::format_files;
pub use project_suite::{ProjectSuite, SuiteSettings, open};
pub use tools::{files_that_parse, run_tools};

/// Parses a JUnit report, for the benchmarks.
#[cfg(feature = "internals")]
#[must_use]
pub fn parse_junit(text: &str) -> Option<Vec<ReportedTest>> {
    format::junit::parse(text).ok().map(|report| report.cases)
}

/// The parsers of all report formats, for the fuzzer.
#[cfg(any(test, feature = "internals"))]
pub const READERS: &[crate::domain::Reader] = &[
    ("coverage", |text| {
        if let Ok(report) = crate::code::coverage::read(text, &|_| Some(text.to_owned())) {
            drop(report.placed("/checkout", "", &std::collections::BTreeSet::new()));
        }
    }),
    ("junit", |text| drop(format::junit::parse(text))),
    ("trx", |text| drop(format::trx::parse(text))),
    ("ctest", |text| drop(format::ctest::parse(text))),
    ("tap", |text| drop(format::tap::parse(text))),
    ("libtest", |text| {
        drop((format::libtest::parse(text), format::libtest::cut_binaries(text)));
        format::libtest::explain(&mut ReportedTest::default(), text.to_owned());
    }),
    ("rustc", |text| drop(format::rustc::compilation_failure(text, |_| true))),
    ("gotest", |text| drop(format::gotest::parse(text, "example.com/shop"))),
    ("jest", |text| {
        drop(format::jest::parse(text, format::jest::Writer::Jest));
        drop(format::jest::parse(text, format::jest::Writer::Vitest));
    }),
    ("test-lines", |text| drop(format::driver_lines::parse(text))),
    ("stack", |text| {
        let paths = format::PathMapper {
            root: "/checkout".into(),
            directory: String::new(),
            layers: Vec::new(),
        };
        drop(format::stack::frames(text, &paths));
    }),
];
