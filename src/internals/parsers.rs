//! All parsers of untrusted text by name, for the fuzz targets and their unit-test counterpart.

use std::collections::BTreeMap;

use crate::adapter::{model, suite};
use crate::code::imports::Graph;
use crate::code::language::LANGUAGES;
use crate::code::search_replace::{self, Block};
use crate::code::{outline, syntax, test_cases};
use crate::config;
use crate::domain::fix_loop::FixLoop;
use crate::domain::id::RepoPath;
use crate::domain::secret::{Redactor, SecretKey};
use crate::domain::session::SessionRecord;
use crate::domain::{failure, id};
use crate::role;

/// Parsers of modules without a `READERS` table of their own.
const OTHERS: &[crate::domain::Reader] = &[
    ("configuration", |text| drop(config::parse(text, ".github/regreen.yml"))),
    ("state", |text| {
        drop(serde_json::from_str::<FixLoop>(text));
        drop(serde_json::from_str::<SessionRecord>(text));
    }),
    ("ids", |text| {
        if let Ok(path) = RepoPath::parse(text) {
            let parts = path.as_str().split('/');
            assert!(parts.into_iter().all(|part| !part.is_empty() && part != ".." && part != "."));
            assert!(!path.as_str().starts_with('/') && !path.as_str().contains('\0'));
        }
        drop(id::SessionId::parse(text));
        drop(id::CommitId::parse(text));
    }),
    ("blocks", |text| {
        let mut parts = text.splitn(3, '\u{1e}');
        let mut next = || parts.next().unwrap_or_default();
        let (before, search, replace) = (next(), next(), next());
        drop(search_replace::apply(before, &[Block { search, replace }]));
    }),
    ("secrets", |text| {
        let Some((key, rest)) = text.split_at_checked(12) else { return };
        let redactor = Redactor::new([&SecretKey::new(key)]);
        let shown = redactor.redact(rest);
        assert!(!redactor.finds(&shown), "what was redacted holds no key");
    }),
    ("messages", |text| drop(failure::normalise(text))),
    ("sources", |text| {
        for (language, _, endings) in LANGUAGES {
            let _ = syntax::first_error(*language, text);
            drop(outline::functions(*language, text));
            drop(test_cases::facts(*language, text));
            let name = format!("a.{}", endings.first().unwrap_or(&"py"));
            if let Ok(path) = RepoPath::parse(name) {
                drop(Graph::build(&BTreeMap::from([(path, text.to_owned())])));
            }
        }
    }),
];

/// The names of all parsers, in the order of the tables.
#[must_use]
pub fn names() -> Vec<&'static str> {
    all().map(|(name, _)| *name).collect()
}

/// Passes a text to the parser with this name. Invalid UTF-8 is replaced first, as it is wherever
/// untrusted text enters.
///
/// # Panics
///
/// If a parser violates one of its guarantees, or no parser has this name.
pub fn read(name: &str, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (_, reader) = all().find(|(known, _)| *known == name).expect("a reader has this name");
    reader(&text);
}

fn all() -> impl Iterator<Item = &'static (&'static str, fn(&str))> {
    [suite::READERS, model::READERS, role::READERS, OTHERS].into_iter().flatten()
}
