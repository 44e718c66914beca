//! Recognises suites that fail because packages are not installed, which no edit of the sources
//! repairs.

use std::collections::BTreeSet;

use similar::TextDiff;

use super::id::RepoPath;
use super::shell;
use super::test::TestCase;
use super::test_command::TestCommand;

/// How tools say that a package is missing: the words before its name and the mark behind it.
const MESSAGES: &[(&str, &str)] = &[
    (PYTHON, "'"),
    ("Cannot find module '", "'"),
    ("Cannot find package '", "'"),
    ("Failed to resolve import \"", "\""),
    ("no required module provides package ", ";"),
    ("package ", " is not in std"),
];

/// The words of Python.
const PYTHON: &str = "No module named '";

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
    // A test is named after the package that it is about.
    let is_about =
        |stem: &str| ["test_", "tests_"].iter().any(|head| stem.strip_prefix(head) == Some(last));
    files.iter().any(|file| {
        !is_about(file.stem()) && alike(file.stem())
            || file.parent().split('/').any(|name| !name.is_empty() && alike(name))
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
    texts(case).into_iter().find_map(package_in)
}

/// The package whose absence an example of a document tells in its failure, if that is none of the repository.
pub fn package_of_example(case: &TestCase, files: &[RepoPath]) -> Option<String> {
    let failure = case.failure.as_ref()?;
    let texts = [failure.message.as_str(), failure.stack.as_str()];
    texts.into_iter().find_map(package_in).filter(|package| !is_own(package, files))
}

/// The texts of a failure that may say what is missing.
fn texts(case: &TestCase) -> [&str; 2] {
    let Some(failure) = case.failure.as_ref() else { return [""; 2] };
    // A loader wraps the error of an import, so that only the stack holds it.
    let is_import = ["ImportError", "ModuleNotFoundError"].contains(&failure.class.as_str())
        || failure.message.contains("import");
    [failure.message.as_str(), if is_import { failure.stack.as_str() } else { "" }]
}

/// The module of Python that a failing test misses whole; a missing part has a dotted path.
fn unfound_module(case: &TestCase) -> Option<&str> {
    let (name, before) = texts(case).into_iter().find_map(named_in)?;
    (before == PYTHON && !name.contains('.')).then_some(name)
}

/// A module of the repository that is not on Python's path: the project is not installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UninstalledModule {
    name: String,
    /// The package or file, such as `src/shop`.
    place: String,
    /// The folder in which Python would have to search, relative to that of the suite.
    folder: String,
}

/// The modules that failing tests miss and that stand in a folder of sources; empty if one test fails
/// for another reason. `manifests` are the texts that say where the sources are, besides `src`, and
/// `directory` is the folder of the suite.
pub fn uninstalled_modules<'a>(
    failing: impl Iterator<Item = &'a TestCase>,
    files: &[RepoPath],
    manifests: &[String],
    directory: &str,
) -> Vec<UninstalledModule> {
    let names: Option<BTreeSet<&str>> = failing.map(unfound_module).collect();
    let mut folders = vec!["src".to_owned()];
    folders.extend(manifests.iter().flat_map(|text| source_folders(text)));
    let standing = |name: &str| {
        folders.iter().find_map(|folder| {
            let of_suite = |below: String| match directory {
                "" => below,
                _ => format!("{directory}/{below}"),
            };
            let package = of_suite(format!("{folder}/{name}"));
            let (file, inside) = (format!("{package}.py"), format!("{package}/"));
            let place = files.iter().find_map(|one| match one.as_str() {
                path if path == file => Some(file.clone()),
                path if path.starts_with(&inside) && path.ends_with(".py") => Some(package.clone()),
                _ => None,
            })?;
            Some(UninstalledModule { name: name.to_owned(), place, folder: folder.clone() })
        })
    };
    names.and_then(|names| names.into_iter().map(standing).collect()).unwrap_or_default()
}

/// Folders of sources that a Python manifest names: `package-dir`, `where`, Poetry's `from`.
fn source_folders(manifest: &str) -> Vec<String> {
    let is_part = |c: char| c.is_alphanumeric() || "_./-".contains(c);
    let named = |key: &str| {
        let after = manifest.split(key).skip(1);
        let value = after.filter_map(move |rest| {
            let start = rest.find(is_part)?;
            let value = rest.get(start..)?.split(|c: char| !is_part(c)).next()?;
            rest.get(..start)?.contains('=').then(|| value.trim_end_matches('/').to_owned())
        });
        value.collect::<Vec<_>>()
    };
    ["package-dir", "package_dir", "where", "from"].into_iter().flat_map(named).collect()
}

/// Why a session ends whose project is not installed; only one with a manifest `can_install`.
pub fn reason_of_uninstalled(
    modules: &[UninstalledModule],
    command: &str,
    can_install: bool,
) -> String {
    let named = |one: &UninstalledModule| format!("`{}` stands in `{}`", one.name, one.place);
    let named: Vec<String> = modules.iter().map(named).collect();
    let folders: BTreeSet<&str> = modules.iter().map(|one| one.folder.as_str()).collect();
    let folders = folders.into_iter().collect::<Vec<_>>().join(":");
    let is_simple = !TestCommand::new(command).words().is_empty();
    let run = if is_simple && !command.contains("PYTHONPATH") {
        format!(
            "run with `--test-command {}`",
            shell::word(&format!("PYTHONPATH={folders} {command}"))
        )
    } else {
        format!("put `{folders}` into the `PYTHONPATH` of the test command")
    };
    let install = if can_install {
        "the project is not installed; install it before the run with `pip install -e .`, or "
    } else {
        ""
    };
    format!("{}, where Python does not search: {install}{run}", named.join(", "))
}

fn package_in(text: &str) -> Option<String> {
    named_in(text).map(|(name, before)| package(name, before))
}

/// The module or package that a message names, and the words before its name.
fn named_in(text: &str) -> Option<(&str, &'static str)> {
    let named = |(before, after): &(&'static str, &str)| {
        let name = text.split_once(before)?.1.lines().next()?.split_once(after)?.0;
        let plain = |c: char| c.is_alphanumeric() || "@/._-".contains(c);
        let is_package = name.starts_with(|c: char| c.is_alphanumeric() || c == '@' || c == '_')
            && !name.starts_with("@/")
            && name.chars().all(plain);
        is_package.then_some((name, *before))
    };
    MESSAGES.iter().find_map(named)
}

/// The package of a module: its first part in Python, with its scope in npm, all of it in Go.
fn package(name: &str, before: &str) -> String {
    let first = |mark: char, parts: usize| {
        name.splitn(parts + 1, mark).take(parts).collect::<Vec<_>>().join(&mark.to_string())
    };
    match before {
        PYTHON => first('.', 1),
        "package " | "no required module provides package " => name.to_owned(),
        _ => first('/', if name.starts_with('@') { 2 } else { 1 }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::test::{CaseKind, FailureText, Layer, Results, Scope, Status};

    fn results(messages: &[&str]) -> Results {
        let case = |message: &&str| TestCase {
            kind: CaseKind::Test,
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
            objections: Vec::new(),
            flaky: Vec::new(),
            notices: Vec::new(),
            lacking: std::collections::BTreeMap::new(),
        }
    }

    #[test]
    fn an_example_of_a_document_tells_of_a_package_in_its_traceback() {
        let files = [RepoPath::parse("tree/interval.py").unwrap()];
        let table = [
            ("ModuleNotFoundError: No module named 'sortedcontainers'", Some("sortedcontainers")),
            ("ModuleNotFoundError: No module named 'tree'", None),
            ("Expected: 1\nGot: 2", None),
        ];
        for (stack, expected) in table {
            let mut case = results(&["the example fails"]).cases.remove(0);
            let stack = format!("UNEXPECTED EXCEPTION\n{stack}\n");
            case.failure = Some(FailureText { stack, ..FailureText::default() });
            assert_eq!(package_of_example(&case, &files).as_deref(), expected, "{case:?}");
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

    #[test]
    fn a_module_in_a_folder_of_sources_is_not_installed() {
        let file = |path: &str| RepoPath::parse(path).unwrap();
        let files = ["src/shop/__init__.py", "src/till.py", "lib/app/a.py", "api/src/web/a.py"];
        let files = files.map(file);
        let places = |messages: &[&str], manifest: &str, directory: &str| {
            let results = results(messages);
            let manifests = [manifest.to_owned()];
            uninstalled_modules(results.failed(), &files, &manifests, directory)
                .into_iter()
                .map(|one| one.place)
                .collect::<Vec<_>>()
        };
        let (shop, app) = ("No module named 'shop'", "No module named 'app'");
        let table: [(&[&str], &str, &str, &[&str]); 12] = [
            (&[shop], "", "", &["src/shop"]),
            (&["", shop, "No module named 'till'"], "", "", &["src/shop", "src/till.py"]),
            (&["No module named 'web'"], "", "api", &["api/src/web"]),
            (&[app], "", "", &[]),
            (&[app], "[tool.setuptools]\npackage-dir = {\"\" = \"lib\"}\n", "", &["lib/app"]),
            (&[app], "[options]\npackage_dir =\n    = lib\n", "", &["lib/app"]),
            (&[app], "setup(package_dir={'': 'lib/'})", "", &["lib/app"]),
            (&[app], "packages = [{ include = \"app\", from = \"lib\" }]", "", &["lib/app"]),
            (&[app], "from lib import version", "", &[]),
            (&["No module named 'shop.cart'"], "", "", &[]),
            (&[shop, "assert 1 == 2"], "", "", &[]),
            (&[shop, "No module named 'yaml'"], "", "", &[]),
        ];
        for (messages, manifest, directory, expected) in table {
            assert_eq!(places(messages, manifest, directory), expected, "{messages:?} {manifest}");
        }
    }

    #[test]
    fn the_reason_names_a_command_that_finds_the_module() {
        let files = [RepoPath::parse("src/shop/__init__.py").unwrap()];
        let results = results(&["No module named 'shop'"]);
        let modules = uninstalled_modules(results.failed(), &files, &[], "");
        let start = "`shop` stands in `src/shop`, where Python does not search: the project is not \
                     installed; install it before the run with `pip install -e .`, or ";
        for (command, end) in [
            ("python3 -m pytest", "run with `--test-command 'PYTHONPATH=src python3 -m pytest'`"),
            ("make lint && pytest", "put `src` into the `PYTHONPATH` of the test command"),
            ("PYTHONPATH=docs pytest", "put `src` into the `PYTHONPATH` of the test command"),
        ] {
            assert_eq!(reason_of_uninstalled(&modules, command, true), format!("{start}{end}"));
        }
        assert_eq!(
            reason_of_uninstalled(&modules, "pytest", false),
            "`shop` stands in `src/shop`, where Python does not search: run with `--test-command \
             'PYTHONPATH=src pytest'`"
        );
    }
}
