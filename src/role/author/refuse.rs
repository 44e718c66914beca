//! Why a written test file is refused before anything of it runs. Each reason has a name that
//! reports and tests use; the rest is the catalogue's (product.md 6.3, 6.4, 13.4).

use std::collections::BTreeMap;

use crate::code::language::Language;
use crate::code::smell::{self, Project};
use crate::code::{cases, conduct, syntax, testing};
use crate::domain::id::RepoPath;
use crate::domain::quality::{Finding, Severity};
use crate::role::reviewer::{Review, review};

use super::told::TestFiles;

/// Bytes of a test file at most.
const LONGEST: usize = 200 << 10;

/// Reasons that are told at most.
const TOLD: usize = 12;

/// Rows of the catalogue that are refused besides the critical ones: nothing of the kind may be
/// new in a file that was just written.
const REFUSED: &[&str] = &[
    "setup-only",
    "skipped-test",
    "skipped-without-reason",
    "todo-test",
    "unresolved-import",
    "undefined-variable",
];

/// Rows that tell of something that was made up.
const MADE_UP: &[&str] =
    &["unknown-package", "wrong-sub-path", "misspelt-package", "unresolved-import"];

/// The text of the one file that was asked for.
///
/// # Errors
///
/// All reasons why it is refused, each with its name in front.
pub fn checked(
    told: &TestFiles,
    place: &RepoPath,
    texts: &BTreeMap<RepoPath, String>,
) -> Result<String, Vec<String>> {
    let mut problems = Vec::new();
    for edit in &told.edits {
        let file = short(&edit.file);
        problems
            .push(format!("changes-existing-file: `{file}`; files that exist stay as they are"));
    }
    let mut text = None;
    for file in &told.new_files {
        let name = file.file.trim().trim_start_matches("./");
        match RepoPath::parse(name) {
            Err(error) => problems.push(format!("wrong-place: `{}`: {error}", short(name))),
            Ok(path) if texts.contains_key(&path) => {
                problems.push(format!("file-exists: `{path}` is there already"));
            }
            Ok(path) if path != *place => {
                problems.push(format!("wrong-place: `{path}`; write `{place}` and nothing else"));
            }
            Ok(_) => text = Some(file.content.clone()),
        }
    }
    match text.filter(|text| !text.trim().is_empty()) {
        None if problems.is_empty() => {
            problems.push(format!("no-file: `{place}` was asked for and is not in the answer"));
        }
        None => {}
        Some(text) => {
            problems.extend(of_text(&text, place, texts));
            if problems.is_empty() {
                return Ok(text);
            }
        }
    }
    problems.truncate(TOLD);
    Err(problems)
}

/// What is wrong with the text of a test file.
fn of_text(text: &str, place: &RepoPath, texts: &BTreeMap<RepoPath, String>) -> Vec<String> {
    if text.len() > LONGEST {
        return vec![format!("too-long: {} bytes, {LONGEST} are enough", text.len())];
    }
    let Some(language) = Language::of(place) else {
        return vec![format!("wrong-place: `{place}` is of no language that can be read")];
    };
    if let Some(error) = syntax::first_error(language, text) {
        let (line, column) = (error.line, error.column);
        return vec![format!("does-not-parse: line {line}, column {column}")];
    }
    let mut problems: Vec<String> = conduct::acts(language, text)
        .into_iter()
        .map(|act| format!("{}: `{}` in line {}", act.conduct, act.call, act.line))
        .collect();
    let mut with = texts.clone();
    with.insert(place.clone(), text.to_owned());
    let project = Project::of(&with);
    for (line, name) in smell::absent_names(place, &with, &project) {
        problems.push(format!("hallucinated-import: line {line}: {name} is not there"));
    }
    let reviewed = review(&Review {
        files: &with,
        chosen: &[place],
        installed: &BTreeMap::new(),
        tests: true,
    });
    problems.extend(reviewed.findings.iter().filter(|one| is_refused(one)).map(told_as));
    if cases::cases(language, text).is_empty() {
        problems.push("no-test: nothing in it is run as a test".to_owned());
    } else if testing::facts(language, text).assertions == 0 {
        problems.push("no-assertion: it asserts nothing".to_owned());
    }
    problems.dedup();
    problems
}

fn is_refused(finding: &Finding) -> bool {
    finding.severity == Severity::Critical || REFUSED.contains(&finding.id.as_str())
}

fn told_as(finding: &Finding) -> String {
    let name =
        if MADE_UP.contains(&finding.id.as_str()) { "hallucinated-import" } else { &finding.id };
    format!("{name}: line {}: {}; {}", finding.line, finding.message, finding.suggestion)
}

fn short(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(120).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::role::answer::{ToldEdit, ToldFile};

    fn path(text: &str) -> RepoPath {
        RepoPath::parse(text).unwrap()
    }

    fn repository() -> BTreeMap<RepoPath, String> {
        [
            ("pyproject.toml", "[project]\nname = \"shop\"\ndependencies = [\"attrs\"]\n"),
            ("shop/__init__.py", ""),
            ("shop/price.py", "def price(text):\n    return float(text)\n"),
            ("tests/test_old.py", "def test_old():\n    assert 1 + 1 == 2\n"),
        ]
        .into_iter()
        .map(|(name, text)| (path(name), text.to_owned()))
        .collect()
    }

    fn answer(file: &str, content: &str) -> TestFiles {
        let file = ToldFile { file: file.into(), content: content.into(), reason: String::new() };
        TestFiles { new_files: vec![file], ..TestFiles::default() }
    }

    const GOOD: &str =
        "from shop.price import price\n\n\ndef test_price():\n    assert price('2') == 2.0\n";

    #[test]
    fn every_refusal_has_its_name() {
        let import = |line: &str| format!("{line}\n{GOOD}");
        let body = |line: &str| {
            format!(
                "import os\nimport time\nfrom shop.price import price\n\n\ndef test_price():\n    {line}\n    assert price('2') == 2.0\n"
            )
        };
        let at = "tests/test_price.py";
        let table: Vec<(TestFiles, Option<&str>)> = vec![
            (answer(at, GOOD), None),
            (answer("./tests/test_price.py", GOOD), None),
            (answer("tests/test_old.py", GOOD), Some("file-exists")),
            (answer("shop/other.py", GOOD), Some("wrong-place")),
            (answer("../test_price.py", GOOD), Some("wrong-place")),
            (answer(at, ""), Some("no-file")),
            (TestFiles::default(), Some("no-file")),
            (answer(at, "def test_price(:\n"), Some("does-not-parse")),
            (answer(at, &import("import pricelib")), Some("hallucinated-import")),
            (answer(at, &import("from shop.price import parse")), Some("hallucinated-import")),
            (answer(at, &import("from shop.nothing import x")), Some("hallucinated-import")),
            (answer(at, &body("os.remove('x')")), Some("deletes-files")),
            (answer(at, &body("time.sleep(99999)")), Some("sleeps")),
            (answer(at, &body("urllib.request.urlopen('http://x')")), Some("uses-network")),
            (answer(at, &body("while True: price('2')")), Some("endless-loop")),
            (
                answer(at, "from shop.price import price\n\n\ndef test_price():\n    price('2')\n"),
                Some("setup-only"),
            ),
            (answer(at, "from shop.price import price\n\nprice('2')\n"), Some("no-test")),
            (
                answer(
                    at,
                    "import pytest\nfrom shop.price import price\n\n\n@pytest.mark.skip\ndef test_price():\n    assert price('2') == 2.0\n",
                ),
                Some("skipped"),
            ),
        ];
        for (told, expected) in table {
            let got = checked(&told, &path(at), &repository());
            let text = &told.new_files.first().map_or("", |file| &file.content);
            match expected {
                None => assert!(got.is_ok(), "{got:?}: {text}"),
                Some(name) => {
                    let problems = got.unwrap_err();
                    let named = problems.iter().any(|one| one.starts_with(name));
                    assert!(named, "{name}: {problems:?}: {text}");
                }
            }
        }
        let edit = ToldEdit { file: "shop/price.py".into(), ..ToldEdit::default() };
        let edited = TestFiles { edits: vec![edit], ..answer(at, GOOD) };
        let problems = checked(&edited, &path(at), &repository()).unwrap_err();
        assert!(problems[0].starts_with("changes-existing-file"), "{problems:?}");
    }
}
