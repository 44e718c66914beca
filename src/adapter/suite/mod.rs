//! The tests of the repository: detect the framework, run it, read what it says, try candidates.
//!
//! It does not know why tests are run, nor what an edit is for.

mod built;
mod check;
mod cold;
mod coverage;
mod detect;
mod fixers;
mod format;
mod framework;
mod observe;
#[cfg(test)]
mod recorded;
mod remarks;
mod run;
mod set_up;
mod shims;
mod tools;
mod warm;

pub use detect::{Detection, detect, detect_or_begin, languages};
pub use fixers::mended;
pub use format::Told;
pub use run::{ProjectSuite, SuiteSettings, open};
pub use tools::{accepted, formatted, tools};

/// Reads a JUnit report; for the benches.
#[must_use]
pub fn parse_junit(text: &str) -> Option<Vec<Told>> {
    format::junit::parse(text).ok()
}

/// Every report format, as a reader of foreign text.
pub const READERS: &[crate::domain::Reader] = &[
    ("coverage", |text| {
        if let Ok(report) = crate::code::coverage::read(text, &|_| Some(text.to_owned())) {
            drop(report.placed("/checkout", &std::collections::BTreeSet::new()));
        }
    }),
    ("junit", |text| drop(format::junit::parse(text))),
    ("tap", |text| drop(format::tap::parse(text))),
    ("libtest", |text| {
        drop((format::libtest::parse(text), format::libtest::ended_early(text)));
        format::libtest::explain(&mut Told::default(), text.to_owned());
    }),
    ("gotest", |text| drop(format::gotest::parse(text, "example.com/shop"))),
    ("jest", |text| {
        drop(format::jest::parse(text, format::jest::Writer::Jest));
        drop(format::jest::parse(text, format::jest::Writer::Vitest));
    }),
    ("test-lines", |text| drop(format::lines::parse(text))),
    ("stack", |text| {
        let place = format::Place {
            root: "/checkout".into(),
            directory: String::new(),
            layers: Vec::new(),
        };
        drop(format::stack::frames(text, &place));
    }),
];
