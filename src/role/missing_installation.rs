//! Finds what a failing test needs and what only an installation brings: a plugin of pytest with a fixture, or
//! the metadata of a package (specification.md 7.2).

use std::collections::BTreeMap;

use similar::TextDiff;

use crate::code::pattern::Pattern;
use crate::domain::id::RepoPath;
use crate::domain::test::TestCase;

/// A name this much alike is probably the one that was meant.
const ALIKE: f32 = 0.75;

/// How pytest says that nothing defines a fixture.
static NO_FIXTURE: Pattern = Pattern::new(r"(?m)\bfixture '(\w+)' not found$");

/// How Python says that a distribution is not installed.
static NO_METADATA: Pattern = Pattern::new(
    r"No package metadata was found for ([\w.-]+)|PackageNotFoundError: ([\w.-]+)$|The '([\w.-]+)' distribution was not found",
);

/// The fixtures that a source defines.
static FIXTURES: Pattern =
    Pattern::new(r"fixture\b[^\n]*\n(?:[ \t]*@[^\n]*\n)*[ \t]*(?:async )?def (\w+)");

/// Known fixtures of plugins, with what to install.
const PLUGINS: &[(&str, &str)] = &[
    ("aiohttp_client", "pytest-aiohttp"),
    ("benchmark", "pytest-benchmark"),
    ("datadir", "pytest-datadir"),
    ("freezer", "pytest-freezer"),
    ("fs", "pyfakefs"),
    ("httpserver", "pytest-httpserver"),
    ("httpx_mock", "pytest-httpx"),
    ("mocker", "pytest-mock"),
    ("page", "pytest-playwright"),
    ("qtbot", "pytest-qt"),
    ("requests_mock", "requests-mock"),
    ("respx_mock", "respx"),
    ("snapshot", "syrupy"),
    ("subtests", "pytest-subtests"),
    ("time_machine", "time-machine"),
];

/// Why a test needs an installation, as a clause; `None` where the code may be wrong.
pub fn missing_installation(
    case: &TestCase,
    sources: &BTreeMap<RepoPath, String>,
    files: &[RepoPath],
) -> Option<String> {
    let failure = case.failure.as_ref()?;
    let texts = [failure.message.as_str(), failure.stack.as_str()];
    let named = |pattern: &'static Pattern| {
        let found = texts.iter().flat_map(|text| pattern.captures(text));
        let groups = found.filter_map(|one| one.iter().skip(1).flatten().next());
        groups.map(|group| group.as_str()).next()
    };
    if let Some(fixture) = named(&NO_FIXTURE) {
        return lacks_plugin(fixture, sources);
    }
    let package = named(&NO_METADATA)?;
    let is_project = |text: &str| text.contains(package);
    let manifests = ["pyproject.toml", "setup.cfg", "setup.py"];
    let own = sources.iter().any(|(file, text)| {
        file.parent().is_empty() && manifests.contains(&file.file_name()) && is_project(text)
    });
    let plain = package.replace('-', "_").to_lowercase();
    let is_meant = files.iter().any(|file| {
        file.as_str().split(['/', '.']).any(|part| part != plain && is_alike(part, &plain))
    });
    match (own, is_meant) {
        (true, _) => Some(format!(
            "`{package}` is not installed, and an installation alone has its metadata: run `python3 -m pip install -e .`"
        )),
        // A wrong name is a bug.
        (false, true) => None,
        (false, false) => {
            Some(format!("`{package}` is not installed: run `python3 -m pip install {package}`"))
        }
    }
}

/// Why a fixture is missing that no file of the repository defines, under this name or a similar one.
fn lacks_plugin(fixture: &str, sources: &BTreeMap<RepoPath, String>) -> Option<String> {
    let mut defined = sources.values().flat_map(|text| FIXTURES.captures(text));
    let is_meant =
        defined.any(|one| one.get(1).is_some_and(|name| is_alike(name.as_str(), fixture)));
    let plugin = PLUGINS.iter().find(|(name, _)| *name == fixture);
    let install = plugin.map_or_else(
        || "install the plugin of pytest that has it".to_owned(),
        |(_, package)| {
            format!("run `python3 -m pip install {package}`, or install another plugin that has it")
        },
    );
    (!is_meant).then(|| format!("nothing installed has its fixture `{fixture}`: {install}"))
}

fn is_alike(one: &str, other: &str) -> bool {
    one == other || other.len() > 3 && TextDiff::from_chars(one, other).ratio() > ALIKE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::test::{CaseKind, FailureText, Layer, Status};

    fn found(message: &str, sources: &[(&str, &str)]) -> Option<String> {
        let path = |text: &str| RepoPath::parse(text).unwrap();
        let case = TestCase {
            kind: CaseKind::Test,
            id: "t".into(),
            status: Status::Failed,
            file: Some(path("tests/test_a.py")),
            line: None,
            duration_ms: 0,
            layer: Layer::Unit,
            failure: Some(FailureText { message: message.into(), ..FailureText::default() }),
        };
        let sources: BTreeMap<_, _> =
            sources.iter().map(|(file, text)| (path(file), (*text).to_owned())).collect();
        let files: Vec<RepoPath> = sources.keys().cloned().collect();
        missing_installation(&case, &sources, &files)
    }

    /// A message, the sources, and what the reason names; nothing for a bug.
    type Row<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a [&'a str]);

    #[test]
    fn what_only_an_installation_brings_is_named_and_a_wrong_name_is_a_bug() {
        let conftest = "@pytest.fixture(scope='module')\ndef client():\n    return 1\n";
        let project = ("pyproject.toml", "[project]\nname = \"toolz\"\n");
        let (fixture, metadata) =
            ("fixture 'benchmark' not found", "No package metadata was found for toolz");
        let table: &[Row<'_>] = &[
            (fixture, &[("conftest.py", conftest)], &["`benchmark`", "pytest-benchmark"]),
            ("fixture 'db' not found", &[("conftest.py", conftest)], &["install the plugin"]),
            ("fixture 'clients' not found", &[("conftest.py", conftest)], &[]),
            (metadata, &[project, ("toolz/a.py", "")], &["`python3 -m pip install -e .`"]),
            (metadata, &[("a.py", "")], &["`python3 -m pip install toolz`"]),
            ("No package metadata was found for tolz", &[project, ("toolz/a.py", "")], &[]),
            ("assert 1 == 2", &[project], &[]),
        ];
        for (message, sources, expected) in table {
            let reason = found(message, sources);
            assert_eq!(reason.is_some(), !expected.is_empty(), "{message}: {reason:?}");
            let text = reason.unwrap_or_default();
            assert!(expected.iter().all(|part| text.contains(part)), "{message}: {text}");
        }
    }
}
