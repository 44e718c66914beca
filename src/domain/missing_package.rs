//! Recognises suites that fail because packages are not installed, which no edit of the sources
//! repairs.

use std::collections::BTreeSet;

use similar::TextDiff;

use super::id::RepoPath;
use super::test::TestCase;

/// How tools say that a package is missing: the words before its name and the mark behind it.
const MESSAGES: &[(&str, &str)] = &[
    ("No module named '", "'"),
    ("Cannot find module '", "'"),
    ("Cannot find package '", "'"),
    ("Failed to resolve import \"", "\""),
    ("no required module provides package ", ";"),
    ("package ", " is not in std"),
];

/// A module of the repository with a name this much alike is probably what was meant.
const ALIKE: f32 = 0.75;

/// The packages that all failing tests miss; empty if one fails for another reason.
pub fn missing_packages<'a>(failing: impl Iterator<Item = &'a TestCase>) -> BTreeSet<String> {
    failing.map(package_of).collect::<Option<_>>().unwrap_or_default()
}

/// Whether a repository may mean one of its own modules: one has this name or a similar one. Go
/// names its own packages by the path of the module, so that the last part counts like the first.
pub fn is_own(package: &str, files: &[RepoPath]) -> bool {
    let first = package.split('/').next().unwrap_or_default();
    let last = package.rsplit('/').next().unwrap_or_default();
    let alike = |name: &str| {
        [first, last].into_iter().any(|part| {
            name == part || (name.len() > 3 && TextDiff::from_chars(name, part).ratio() > ALIKE)
        })
    };
    files.iter().any(|file| {
        alike(file.stem()) || file.parent().split('/').any(|name| !name.is_empty() && alike(name))
    })
}

/// Why a session ends that misses packages.
pub fn reason(packages: &BTreeSet<String>) -> String {
    let names: Vec<String> = packages.iter().map(|name| format!("`{name}`")).collect();
    let (verb, object) = if names.len() == 1 { ("is", "it") } else { ("are", "them") };
    format!(
        "{} {verb} not installed; add {object} to `test.setup` (or install {object} in the job \
         before regreen)",
        names.join(", ")
    )
}

/// The package that a failing test misses.
pub fn package_of(case: &TestCase) -> Option<String> {
    let failure = case.failure.as_ref()?;
    // A loader wraps the error of an import, so that only the stack holds it.
    let is_import = ["ImportError", "ModuleNotFoundError"].contains(&failure.class.as_str())
        || failure.message.contains("import");
    let stack = if is_import { failure.stack.as_str() } else { "" };
    [failure.message.as_str(), stack].into_iter().find_map(package_in)
}

fn package_in(text: &str) -> Option<String> {
    let named = |(before, after): &(&str, &str)| {
        let name = text.split_once(before)?.1.lines().next()?.split_once(after)?.0;
        let plain = |c: char| c.is_alphanumeric() || "@/._-".contains(c);
        let is_package = name.starts_with(|c: char| c.is_alphanumeric() || c == '@' || c == '_')
            && !name.starts_with("@/")
            && name.chars().all(plain);
        is_package.then(|| package(name, before))
    };
    MESSAGES.iter().find_map(named)
}

/// The package of a module: its first part in Python, with its scope in npm, all of it in Go.
fn package(name: &str, before: &str) -> String {
    let first = |mark: char, parts: usize| {
        name.splitn(parts + 1, mark).take(parts).collect::<Vec<_>>().join(&mark.to_string())
    };
    match before {
        "No module named '" => first('.', 1),
        "package " | "no required module provides package " => name.to_owned(),
        _ => first('/', if name.starts_with('@') { 2 } else { 1 }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::test::{FailureText, Layer, Results, Scope, Status};

    fn results(messages: &[&str]) -> Results {
        let case = |message: &&str| TestCase {
            id: (*message).into(),
            status: if message.is_empty() { Status::Passed } else { Status::Failed },
            file: None,
            line: None,
            duration_ms: 0,
            layer: Layer::Unit,
            failure: Some(FailureText { message: (*message).to_owned(), ..FailureText::default() }),
        };
        Results {
            cases: messages.iter().map(case).collect(),
            scope: Scope::Full,
            command: String::new(),
            exit_code: None,
            started_at: String::new(),
            duration_ms: 0,
            log: String::new(),
            is_offline: false,
        }
    }

    #[test]
    fn packages_are_read_from_real_messages() {
        let table: [(&[&str], &[&str]); 12] = [
            (&["No module named 'freezegun'"], &["freezegun"]),
            (&["", "No module named 'yaml.loader'"], &["yaml"]),
            (&["No module named 'a'", "No module named 'b'"], &["a", "b"]),
            (&["No module named 'a'", "assert 1 == 2"], &[]),
            (&["Cannot find module 'lodash/fp'\nRequire stack:\n- /r/a.js"], &["lodash"]),
            (&["Cannot find module './none' from 'src/import.test.js'"], &[]),
            (&["Cannot find module '/repo/src/none.js' imported from /repo/a.js"], &[]),
            (&["Cannot find package '@org/kit' imported from /repo/a.mjs"], &["@org/kit"]),
            (&["Failed to resolve import \"@/cart\" from \"src/a.test.ts\""], &[]),
            (
                &["a.go:3:8: no required module provides package github.com/x/y; to add it:"],
                &["github.com/x/y"],
            ),
            (&["a.go:3:8: package foo/bar is not in std (/usr/lib/go/src/foo/bar)"], &["foo/bar"]),
            (&[""], &[]),
        ];
        for (messages, expected) in table {
            let found = missing_packages(results(messages).failed());
            assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{messages:?}");
        }
        let mut wrapped = results(&["Failed to import test module: test_b"]);
        wrapped.cases[0].failure.as_mut().unwrap().stack =
            "Traceback:\n  import yaml\nModuleNotFoundError: No module named 'yaml'\n".into();
        assert_eq!(missing_packages(wrapped.failed()).into_iter().next().as_deref(), Some("yaml"));
    }

    #[test]
    fn modules_of_the_repository_are_not_packages() {
        let files = ["src/shop/cart.py", "tests/test_cart.py", "utils.js"]
            .map(|path| RepoPath::parse(path).unwrap());
        for (name, expected) in [
            ("shop", true),
            ("cart", true),
            ("carts", true),
            ("utils", true),
            ("src/thing", true),
            ("example.com/app/cart", true),
            ("example.com/app/carts", true),
            ("github.com/stretchr/testify", false),
            ("freezegun", false),
            ("yaml", false),
            ("@org/kit", false),
        ] {
            assert_eq!(is_own(name, &files), expected, "{name}");
        }
    }

    #[test]
    fn the_reason_says_what_to_do() {
        assert_eq!(
            reason(&["freezegun".into()].into()),
            "`freezegun` is not installed; add it to `test.setup` (or install it in the job before \
             regreen)"
        );
        assert!(
            reason(&["a".into(), "b".into()].into())
                .starts_with("`a`, `b` are not installed; add them")
        );
    }
}
