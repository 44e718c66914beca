//! Decides whether a generated test file is refused before it is run. Reasons start with a stable
//! name, be it defined here or a lint rule (specification.md 4.7, 6.3, 6.4).

use std::collections::BTreeMap;

use crate::code::language::Language;
use crate::code::lint;
use crate::code::{side_effects, syntax, test_cases};
use crate::domain::framework::Framework;
use crate::domain::id::RepoPath;
use crate::domain::quality::{Finding, Severity};
use crate::domain::text::one_line;
use crate::role::static_review::{ReviewRequest, review};

use super::responses::GenerateResponse;
use super::unknown_java_packages;

/// Maximum size of a test file in bytes.
const LONGEST: usize = 200 << 10;

/// Maximum number of reasons to report.
const REPORTED: usize = 12;

/// Lint rules for which a new file is refused although they are not critical.
const REFUSED: &[&str] =
    &["setup-only", "skipped-test", "skipped-without-reason", "todo-test", "unresolved-import"];

/// Lint rules that detect imports of modules that do not exist.
const MADE_UP: &[&str] =
    &["unknown-package", "wrong-sub-path", "misspelt-package", "unresolved-import"];

/// The text of the requested file alone, if acceptable, or all reasons by their names.
pub fn accepted_text(
    response: &GenerateResponse,
    path: &RepoPath,
    texts: &BTreeMap<RepoPath, String>,
    framework: Framework,
) -> Result<String, Vec<String>> {
    let mut problems = Vec::new();
    for edit in &response.edits {
        let file = short(&edit.file);
        problems
            .push(format!("changes-existing-file: `{file}`; files that exist stay as they are"));
    }
    let mut text = None;
    for file in &response.new_files {
        let name = file.file.trim().trim_start_matches("./");
        match RepoPath::parse(name) {
            Err(error) => problems.push(format!("wrong-place: `{}`: {error}", short(name))),
            Ok(named) if texts.contains_key(&named) => {
                problems.push(format!("file-exists: `{named}` is there already"));
            }
            Ok(named) if named != *path => {
                problems.push(format!("wrong-place: `{named}`; write `{path}` and nothing else"));
            }
            Ok(_) => text = Some(file.content.clone()),
        }
    }
    match text.filter(|text| !text.trim().is_empty()) {
        None if problems.is_empty() => {
            problems.push(format!("no-file: `{path}` was asked for and is not in the answer"));
        }
        None => {}
        Some(text) => {
            problems.extend(check_text(&text, path, texts, framework));
            if problems.is_empty() {
                return Ok(text);
            }
        }
    }
    problems.truncate(REPORTED);
    Err(problems)
}

/// The problems in the text of a test file.
fn check_text(
    text: &str,
    path: &RepoPath,
    texts: &BTreeMap<RepoPath, String>,
    framework: Framework,
) -> Vec<String> {
    if text.len() > LONGEST {
        return vec![format!("too-long: {} bytes, {LONGEST} are enough", text.len())];
    }
    let Some(language) = Language::of(path) else {
        return vec![format!("wrong-place: `{path}` is of no language that can be read")];
    };
    if let Some(error) = syntax::first_error(language, text) {
        let (line, column) = (error.line, error.column);
        return vec![format!("does-not-parse: line {line}, column {column}")];
    }
    let mut problems: Vec<String> = side_effects::side_effects(language, text)
        .into_iter()
        .map(|act| format!("{}: `{}` in line {}", act.effect, act.call, act.line))
        .collect();
    let mut with = texts.clone();
    with.insert(path.clone(), text.to_owned());
    for absent in lint::absent_names(path, &with) {
        let (line, name) = (absent.line, absent.description);
        problems.push(format!("hallucinated-import: line {line}: {name} is not there"));
    }
    if language == Language::Java {
        let invented = unknown_java_packages::packages(text, texts).into_iter();
        problems.extend(invented.map(|(line, name)| {
            format!("hallucinated-import: line {line}: nothing brings `{name}`")
        }));
    }
    let reviewed = review(&ReviewRequest {
        files: &with,
        chosen: &[path],
        installed: &BTreeMap::new(),
        framework: Some(framework),
        tests: true,
    });
    problems.extend(reviewed.findings.iter().filter(|one| is_refused(one)).map(refusal));
    if test_cases::source_tests(language, text).is_empty() {
        problems.push("no-test: nothing in it is run as a test".to_owned());
    } else if test_cases::facts(language, text).assertions == 0 {
        problems.push("no-assertion: it asserts nothing".to_owned());
    }
    problems.dedup();
    problems
}

fn is_refused(finding: &Finding) -> bool {
    finding.severity == Severity::Critical || REFUSED.contains(&finding.id.as_str())
}

fn refusal(finding: &Finding) -> String {
    let name =
        if MADE_UP.contains(&finding.id.as_str()) { "hallucinated-import" } else { &finding.id };
    format!("{name}: line {}: {}; {}", finding.line, finding.message, finding.suggestion)
}

fn short(text: &str) -> String {
    one_line(text, 120)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::role::responses::{ReportedEdit, ReportedFile};

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

    fn answer(file: &str, content: &str) -> GenerateResponse {
        let file =
            ReportedFile { file: file.into(), content: content.into(), reason: String::new() };
        GenerateResponse { new_files: vec![file], ..GenerateResponse::default() }
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
        let table: Vec<(GenerateResponse, Option<&str>)> = vec![
            (answer(at, GOOD), None),
            (answer("./tests/test_price.py", GOOD), None),
            (answer("tests/test_old.py", GOOD), Some("file-exists")),
            (answer("shop/other.py", GOOD), Some("wrong-place")),
            (answer("../test_price.py", GOOD), Some("wrong-place")),
            (answer(at, ""), Some("no-file")),
            (GenerateResponse::default(), Some("no-file")),
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
                Some("nothing-asserted"),
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
        for (response, expected) in table {
            let got = accepted_text(&response, &path(at), &repository(), Framework::Command);
            let text = &response.new_files.first().map_or("", |file| &file.content);
            match expected {
                None => assert!(got.is_ok(), "{got:?}: {text}"),
                Some(name) => {
                    let problems = got.unwrap_err();
                    let named = problems.iter().any(|one| one.starts_with(name));
                    assert!(named, "{name}: {problems:?}: {text}");
                }
            }
        }
        let edit = ReportedEdit { file: "shop/price.py".into(), ..ReportedEdit::default() };
        let edited = GenerateResponse { edits: vec![edit], ..answer(at, GOOD) };
        let problems =
            accepted_text(&edited, &path(at), &repository(), Framework::Command).unwrap_err();
        assert!(problems[0].starts_with("changes-existing-file"), "{problems:?}");
    }

    #[test]
    fn the_framework_that_runs_the_suite_may_be_imported() {
        let (at, text) = (path("tests/test_price.py"), format!("import pytest\n{GOOD}"));
        let accept =
            |framework| accepted_text(&answer(at.as_str(), &text), &at, &repository(), framework);
        assert_eq!(accept(Framework::Pytest).as_deref(), Ok(text.as_str()));
        assert!(accept(Framework::Unittest).unwrap_err()[0].starts_with("hallucinated-import"));
    }

    /// A sample in one language: a repository, and a valid test file with replaceable lines.
    struct LanguageSample {
        files: &'static [(&'static str, &'static str)],
        place: &'static str,
        right: &'static str,
        /// The replaceable line inside a test.
        line: &'static str,
        /// The replaceable line at the top of the file.
        head: &'static str,
        rows: &'static [(&'static str, &'static str)],
        heads: &'static [(&'static str, &'static str)],
    }

    const SCRIPT: LanguageSample = LanguageSample {
        files: &[
            ("package.json", "{\"name\": \"x\", \"scripts\": {\"test\": \"node --test\"}}"),
            ("lib/text.js", "export function cut(text) {\n  return text.slice(0, 5);\n}\n"),
        ],
        place: "test/text.test.js",
        right: "import test from 'node:test';\nimport assert from 'node:assert';\nimport { cut } from '../lib/text.js';\n\ntest('a long text is cut', async () => {\n  const long = 'abcdef';\n  assert.equal(cut(long), 'abcde');\n});\n",
        line: "const long = 'abcdef';",
        head: "import { cut } from",
        rows: &[
            ("const long = (;", "does-not-parse"),
            ("const long = 'abcdef'; fs.rmSync('lib', { recursive: true });", "deletes-files"),
            ("const long = 'abcdef'; await new Promise((go) => setTimeout(go, 99999));", "sleeps"),
            ("const long = 'abcdef'; await fetch('http://x.invalid');", "uses-network"),
            ("const long = 'abcdef'; while (true) {}", "endless-loop"),
            ("const long = 'abcdef'; process.exit(0);", "ends-run"),
            ("const long = 'abcdef'; execSync('rm -rf lib');", "starts-programs"),
        ],
        heads: &[
            ("import pad from 'left-padder-x';\nimport { cut } from", "hallucinated-import"),
            ("import { crop } from '../lib/text.js';\nimport { cut } from", "hallucinated-import"),
            ("import { x } from './nothing.js';\nimport { cut } from", "hallucinated-import"),
        ],
    };

    const GO: LanguageSample = LanguageSample {
        files: &[
            ("go.mod", "module example.com/shop\n\ngo 1.19\n"),
            ("price/price.go", "package price\n\nfunc Double(n int) int {\n\treturn n * 2\n}\n"),
        ],
        place: "price/price_test.go",
        right: "package price\n\nimport (\n\t\"testing\"\n)\n\nfunc TestDouble(t *testing.T) {\n\tgot := Double(2)\n\tif got != 4 {\n\t\tt.Errorf(\"got %d\", got)\n\t}\n}\n",
        line: "got := Double(2)",
        head: "import (",
        rows: &[
            ("got := Double(2", "does-not-parse"),
            ("got := Double(2)\n\tos.RemoveAll(\"price\")", "deletes-files"),
            ("got := Double(2)\n\ttime.Sleep(9 * time.Hour)", "sleeps"),
            ("got := Double(2)\n\thttp.Get(\"http://x.invalid\")", "uses-network"),
            ("got := Double(2)\n\tfor {\n\t}", "endless-loop"),
            ("got := Double(2)\n\tos.Exit(0)", "ends-run"),
        ],
        heads: &[],
    };

    const RUST: LanguageSample = LanguageSample {
        files: &[
            ("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\n"),
            ("src/lib.rs", "pub fn double(n: i32) -> i32 {\n    n * 2\n}\n"),
        ],
        place: "tests/lib.rs",
        right: "use shop::double;\n\n#[test]\nfn twice() {\n    let got = double(2);\n    assert_eq!(got, 4);\n}\n",
        line: "let got = double(2);",
        head: "use shop::double;",
        rows: &[
            ("let got = double(2;", "does-not-parse"),
            ("let got = double(2); std::fs::remove_dir_all(\"src\").unwrap();", "deletes-files"),
            (
                "let got = double(2); std::thread::sleep(std::time::Duration::from_secs(9999));",
                "sleeps",
            ),
            (
                "let got = double(2); std::net::TcpStream::connect(\"x.invalid:80\").unwrap();",
                "uses-network",
            ),
            ("let got = double(2); loop {}", "endless-loop"),
            ("let got = double(2); std::process::exit(0);", "ends-run"),
        ],
        heads: &[],
    };

    const JAVA: LanguageSample = LanguageSample {
        files: &[
            ("pom.xml", "<dependency><groupId>junit</groupId></dependency>"),
            (
                "src/main/java/shop/Price.java",
                "package shop;\n\npublic class Price {\n  public static int twice(int n) {\n    return n * 2;\n  }\n}\n",
            ),
        ],
        place: "src/test/java/shop/PriceTest.java",
        right: "package shop;\n\nimport static org.junit.Assert.assertEquals;\nimport org.junit.Test;\n\npublic class PriceTest {\n  @Test\n  public void twice() throws Exception {\n    int got = Price.twice(2);\n    assertEquals(4, got);\n  }\n}\n",
        line: "int got = Price.twice(2);",
        head: "import org.junit.Test;",
        rows: &[
            ("int got = Price.twice(2;", "does-not-parse"),
            (
                "int got = Price.twice(2); java.nio.file.Files.delete(java.nio.file.Path.of(\"x\"));",
                "deletes-files",
            ),
            ("int got = Price.twice(2); Thread.sleep(9999999);", "sleeps"),
            (
                "int got = Price.twice(2); new java.net.URL(\"http://x.invalid\").openStream();",
                "uses-network",
            ),
            ("int got = Price.twice(2); while (true) {}", "endless-loop"),
            ("int got = Price.twice(2); System.exit(0);", "ends-run"),
        ],
        heads: &[(
            "import com.nobody.prices.Matchers;\nimport org.junit.Test;",
            "hallucinated-import",
        )],
    };

    #[test]
    fn what_no_test_may_do_is_refused_by_name_in_every_language() {
        for sample in [SCRIPT, GO, RUST, JAVA] {
            let texts: BTreeMap<RepoPath, String> =
                sample.files.iter().map(|(name, text)| (path(name), (*text).to_owned())).collect();
            let check = |text: &str| {
                accepted_text(
                    &answer(sample.place, text),
                    &path(sample.place),
                    &texts,
                    Framework::Command,
                )
            };
            assert_eq!(check(sample.right).as_deref(), Ok(sample.right));
            let rows = sample.rows.iter().map(|row| (sample.line, row));
            for (from, (to, name)) in rows.chain(sample.heads.iter().map(|row| (sample.head, row)))
            {
                let text = sample.right.replace(from, to);
                assert_ne!(text, sample.right, "{to}");
                let problems = check(&text).expect_err(to);
                let named = problems.iter().any(|one| one.starts_with(name));
                assert!(named, "{name}: {problems:?}: {text}");
            }
        }
    }

    #[test]
    fn a_file_must_be_readable_and_of_a_bounded_size() {
        let long = format!("{GOOD}# {}\n", "x".repeat(LONGEST));
        let python = path("tests/test_price.py");
        let problems = accepted_text(
            &answer(python.as_str(), &long),
            &python,
            &repository(),
            Framework::Command,
        );
        assert!(problems.unwrap_err()[0].starts_with("too-long"));
        let text = path("tests/test_price.txt");
        let problems =
            accepted_text(&answer(text.as_str(), GOOD), &text, &repository(), Framework::Command);
        assert!(problems.unwrap_err()[0].starts_with("wrong-place"));
    }

    #[test]
    fn at_most_twelve_reasons_are_reported_without_control_characters() {
        let edit = ReportedEdit { file: "a\u{7}.py".into(), ..ReportedEdit::default() };
        let response = GenerateResponse { edits: vec![edit; 40], ..GenerateResponse::default() };
        let problems = accepted_text(
            &response,
            &path("tests/test_a.py"),
            &BTreeMap::new(),
            Framework::Command,
        )
        .unwrap_err();
        assert_eq!(problems.len(), REPORTED);
        assert!(problems.iter().all(|one| !one.contains('\u{7}')), "{problems:?}");
    }

    proptest::proptest! {
        #[test]
        fn any_answer_is_the_file_or_has_named_reasons(
            name in "(\\./)?(tests/test_a\\.py|a\\.py|/etc/x|\\.\\./b\\.py|)", content in "(def |test_|assert |import |[a-z ():\\n]){0,20}",
        ) {
            let path = RepoPath::parse("tests/test_a.py").unwrap();
            let file = crate::role::responses::ReportedFile { file: name, content, ..Default::default() };
            let response = GenerateResponse { new_files: vec![file], ..GenerateResponse::default() };
            match accepted_text(&response, &path, &BTreeMap::new(), Framework::Command) {
                Ok(text) => proptest::prop_assert_eq!(&text, &response.new_files[0].content),
                Err(reasons) => {
                    proptest::prop_assert!((1..=REPORTED).contains(&reasons.len()));
                    for reason in reasons {
                        let (word, _) = reason.split_once(':').unwrap_or_default();
                        let is_name = |c: char| c.is_ascii_lowercase() || c == '-';
                        proptest::prop_assert!(!word.is_empty() && word.chars().all(is_name), "{}", reason);
                    }
                }
            }
        }
    }
}
