//! Detects how a project writes its tests by counting patterns in its existing test files.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::framework::Framework;
use crate::domain::id::RepoPath;
use crate::domain::test_plan::framework::Conventions;

use super::language::Language;
use super::{outline, test_cases, test_paths};

/// Maximum number of names listed of one kind.
const LISTED: usize = 12;

/// A way of writing, and the text that shows it.
type Sign = (&'static str, &'static str);

const ASSERTIONS: &[Sign] = &[
    ("assert statements", "\n    assert "),
    ("assert statements", "\n        assert "),
    ("self.assertEqual and kin", "self.assert"),
    ("pytest.raises", "pytest.raises("),
    ("expect(…).toBe and kin", "expect("),
    ("assert.equal and kin", "assert."),
    ("assert_eq! and kin", "assert_eq!("),
    ("assert! and kin", "assert!("),
    ("t.Errorf and t.Fatalf", "t.Error"),
    ("t.Errorf and t.Fatalf", "t.Fatal"),
    ("require.X of testify", "require."),
    ("assertEquals and kin", "assertEquals("),
    ("assertThrows", "assertThrows("),
    ("assertThat", "assertThat("),
    ("assert_equal and kin", "assert_equal"),
    ("$this->assertSame and kin", "$this->assert"),
];

const PARAMETRISED: &[Sign] = &[
    ("pytest.mark.parametrize", "pytest.mark.parametrize"),
    ("self.subTest", "self.subTest("),
    ("test.each", "test.each"),
    ("it.each", "it.each"),
    ("rstest", "#[rstest"),
    ("proptest", "proptest!"),
    ("table of cases with t.Run", "t.Run("),
    ("@ParameterizedTest", "@ParameterizedTest"),
    ("table of cases in a loop", "for (const "),
];

const SETUP: &[Sign] = &[
    ("pytest fixtures", "@pytest.fixture"),
    ("setUp and tearDown", "def setUp("),
    ("beforeEach and afterEach", "beforeEach("),
    ("beforeAll and afterAll", "beforeAll("),
    ("@BeforeEach", "@BeforeEach"),
    ("t.Cleanup", "t.Cleanup("),
    ("TestMain", "func TestMain("),
];

const MOCKS: &[Sign] = &[
    ("monkeypatch", "monkeypatch"),
    ("pytest-mock", "mocker."),
    ("unittest.mock", "mock"),
    ("vi.mock", "vi."),
    ("jest.mock", "jest."),
    ("node:test mock", "mock."),
    ("mockall", "mockall"),
    ("gomock", "gomock"),
    ("Mockito", "Mockito"),
];

/// Detects the conventions of `tests`; `framework` is the one the suite runs with.
pub fn read(framework: Framework, tests: &BTreeMap<RepoPath, String>) -> Conventions {
    let own: Vec<(&RepoPath, &String)> =
        tests.iter().filter(|(file, _)| is_case_file(file)).collect();
    let text_of =
        |signs: &'static [Sign]| counted(signs, own.iter().map(|(_, text)| text.as_str()));
    let sample = own.iter().max_by_key(|(file, text)| {
        let facts = Language::of(file).map(|language| test_cases::facts(language, text));
        let facts = facts.unwrap_or_default();
        // The sample should show many assertions, yet be short enough for a prompt.
        (text.len() < 20_000, facts.assertions.min(60), std::cmp::Reverse(file.as_str().len()))
    });
    let has = |language| own.iter().any(|(file, _)| Language::of(file) == Some(language));
    // These two patterns also occur inside the names of other libraries.
    let fits = |name: &String| match name.as_str() {
        "unittest.mock" => has(Language::Python),
        "node:test mock" => has(Language::JavaScript) || has(Language::TypeScript),
        _ => true,
    };
    // Helpers, data and tests of types lie where tests belong.
    let code: Vec<(&RepoPath, &String)> =
        tests.iter().filter(|(file, _)| Language::of(file).is_some()).collect();
    let directory = directory(framework, if own.is_empty() { &code } else { &own });
    Conventions {
        file_naming: naming(framework, &own),
        is_mirrored: own
            .iter()
            .any(|(file, _)| file.parent() != directory && file.below(&directory).is_some()),
        folder_prefix: folder_prefix(&directory, &own),
        directory,
        test_structure: structure(&own),
        setup_teardown: text_of(SETUP).join(", "),
        assertion_style: text_of(ASSERTIONS),
        parametrisation: text_of(PARAMETRISED),
        fixtures: fixtures(tests),
        mocking: text_of(MOCKS).into_iter().find(fits).unwrap_or_default(),
        sample: sample.map(|(file, _)| (*file).clone()),
    }
}

/// Whether a test file contains tests rather than fixtures or helpers.
fn is_case_file(file: &RepoPath) -> bool {
    test_paths::has_test_name(file)
        || match Language::of(file) {
            Some(Language::JavaScript | Language::TypeScript | Language::Tsx) => {
                file.as_str().contains("__tests__/")
            }
            Some(Language::Java) => file.file_name().starts_with("Test"),
            _ => false,
        }
}

/// The names whose patterns occur, most frequent first.
fn counted<'a>(signs: &[Sign], texts: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for text in texts {
        for (name, sign) in signs {
            *counts.entry(name).or_default() += text.matches(sign).count();
        }
    }
    let mut counts: Vec<_> = counts.into_iter().filter(|(_, count)| *count > 0).collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts.into_iter().map(|(name, _)| name.to_owned()).collect()
}

/// The naming pattern of most test files; the framework's default if there are none.
fn naming(framework: Framework, own: &[(&RepoPath, &String)]) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (file, _) in own {
        let name = file.file_name();
        let ending = name.split_once('.').map_or("", |(_, ending)| ending);
        let stem = name.split('.').next().unwrap_or(name);
        // It holds the tests of many sources.
        if ["test", "tests"].contains(&stem) {
            continue;
        }
        let ends = ["_test", "_spec", "-test", "-spec", "Test", "Tests"];
        let end = ends.into_iter().find(|end| stem.ends_with(end));
        let form = match end {
            _ if stem.starts_with("test_") => format!("test_*.{ending}"),
            end => format!("*{}.{ending}", end.unwrap_or_default()),
        };
        *counts.entry(form).or_default() += 1;
    }
    let most = counts.into_iter().max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(&a.0)));
    most.map_or_else(|| framework.test_naming().to_owned(), |(form, _)| form)
}

/// The folder of most tests; empty beside sources, `./tests` if in such a folder beside.
fn directory(framework: Framework, own: &[(&RepoPath, &String)]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (file, _) in own {
        let folders = ["tests", "test", "spec", "src/test/java"];
        let top = folders.into_iter().find(|folder| file.below(folder).is_some());
        let beside = ["./tests", "./test"].into_iter().find(|folder| {
            file.extension() == "py" && file.parent().ends_with(folder.trim_start_matches('.'))
        });
        *counts.entry(top.or(beside).unwrap_or_default()).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.map_or(framework.test_folder(), |(folder, _)| folder).to_owned()
}

/// What stands before the names of the folders of a test folder, if it is the same for all.
fn folder_prefix(directory: &str, own: &[(&RepoPath, &String)]) -> String {
    let folder = |file: &RepoPath| {
        let (folder, _) = file.below(directory)?.split_once('/')?;
        Some(folder.starts_with("test_"))
    };
    let mut named = own.iter().filter_map(|(file, _)| folder(file)).peekable();
    let is_prefixed = named.peek().is_some() && named.all(|one| one);
    if is_prefixed { "test_".to_owned() } else { String::new() }
}

fn structure(own: &[(&RepoPath, &String)]) -> String {
    let (mut functions, mut classes, mut groups) = (0_usize, 0, 0);
    for (file, text) in own {
        match Language::of(file) {
            Some(Language::Python) => {
                classes += text.matches("\nclass Test").count() + text.matches("TestCase)").count();
                functions += text.matches("\ndef test_").count();
            }
            Some(Language::JavaScript | Language::TypeScript | Language::Tsx) => {
                groups += text.matches("describe(").count();
                functions += text.matches("\ntest(").count() + text.matches("\nit(").count();
            }
            Some(Language::Java) => classes += 1,
            Some(Language::Go | Language::Rust) => functions += 1,
            None => {}
        }
    }
    if groups > 0 && groups * 4 >= functions {
        "describe blocks".into()
    } else if classes > functions / 3 && classes > 0 {
        "classes".into()
    } else if functions > 0 {
        "functions".into()
    } else {
        String::new()
    }
}

/// Shared Python fixtures and helpers in test folders, with their paths.
fn fixtures(tests: &BTreeMap<RepoPath, String>) -> Vec<String> {
    let mut found = Vec::new();
    for (file, text) in tests {
        let Some(language) = Language::of(file) else {
            let data =
                file.parent().split('/').any(|part| part == "fixtures" || part == "testdata");
            if data {
                found.push(file.to_string());
            }
            continue;
        };
        let lines: Vec<&str> = text.lines().collect();
        for function in outline::functions(language, text) {
            let before = usize::try_from(function.start).unwrap_or(1).saturating_sub(2);
            let marked = lines.get(before).is_some_and(|line| line.contains("fixture"));
            let shared = !is_case_file(file) && language != Language::Python;
            if marked || shared {
                found.push(format!("{} ({file}:{})", function.name, function.start));
            }
        }
    }
    found.truncate(LISTED);
    found
}

/// Paths for a source's tests: the project's, then the candidates of specification.md 6.8.
pub fn candidates(source: &RepoPath, habits: &Conventions) -> Vec<RepoPath> {
    let name = source.file_name();
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let (stem, parent) = named_place(source);
    let join = |folder: &str, file: &str| RepoPath::inside(folder, file).ok();
    // `src/a` is mirrored as `a` in a test folder; a Python package folder keeps its name.
    let below = ["src/main/java/", "src/", "lib/"]
        .iter()
        .find_map(|top| format!("{parent}/").strip_prefix(top).map(str::to_owned))
        .unwrap_or_else(|| format!("{parent}/"));
    let below = below.trim_matches('/');
    let own = name_test_file(stem, ending, habits);
    let directory = habits.directory.as_str();
    let mut list = Vec::new();
    // Plain `pytest` finds a module at the root only from a test beside it. Tests of a package that has
    // none yet are found in a folder of their own.
    let is_first = ending == "py" && habits.sample.is_none();
    list.extend((is_first && source.parent().is_empty()).then(|| join("", &own)));
    let directory = if is_first && directory.is_empty() { "tests" } else { directory };
    if let Some(beside) = directory.strip_prefix("./") {
        list.push(join(format!("{parent}/{beside}").trim_start_matches('/'), &own));
    } else if ending == "go" || directory.is_empty() {
        list.push(join(parent, &own));
    } else if ending == "java" {
        let module = parent.split_once("src/main/java").map_or("", |(module, _)| module);
        let folder = format!(
            "{module}src/test/java/{}",
            parent.split_once("src/main/java/").map_or("", |(_, rest)| rest)
        );
        list.push(join(folder.trim_end_matches('/'), &own));
    } else {
        let prefix = &habits.folder_prefix;
        let nested =
            if below.is_empty() { directory } else { &format!("{directory}/{prefix}{below}") };
        let flat = join(directory, &own);
        // Most Python projects keep all tests in one folder.
        let is_flat = ending == "py" && !habits.is_mirrored;
        list.extend(if is_flat { [flat, join(nested, &own)] } else { [join(nested, &own), flat] });
    }
    let [test, spec, before, after] = [
        format!("{stem}.test.{ending}"),
        format!("{stem}.spec.{ending}"),
        format!("test_{stem}.{ending}"),
        format!("{stem}_test.{ending}"),
    ];
    for folder in ["tests", "test"] {
        let deep = if below.is_empty() { folder.to_owned() } else { format!("{folder}/{below}") };
        for file in [&test, &spec, &before, &after] {
            list.extend([join(&deep, file), join(folder, file)]);
        }
    }
    let folder = |file: &str| format!("__tests__/{file}");
    for file in [&folder(&test), &folder(name), &spec, &test, &before, &after] {
        list.push(join(parent, file));
    }
    let mut seen = BTreeSet::from([source.clone()]);
    list.into_iter().flatten().filter(|path| seen.insert(path.clone())).collect()
}

/// The name of the test file of a source, as the project forms it.
fn name_test_file(stem: &str, ending: &str, habits: &Conventions) -> String {
    habits.file_naming.split_once('*').map_or_else(
        || format!("test_{stem}.{ending}"),
        |(before, after)| {
            let after = after.rsplit_once('.').map_or(after, |(form, _)| form);
            format!("{before}{stem}{after}.{ending}")
        },
    )
}

/// What a source's tests are named after, and its folder; for a Python package, itself.
fn named_place(source: &RepoPath) -> (&str, &str) {
    let name = source.file_name();
    let (stem, parent) = (name.rsplit_once('.').map_or(name, |(stem, _)| stem), source.parent());
    match parent.rsplit_once('/').unwrap_or(("", parent)) {
        (above, package) if stem == "__init__" && !package.is_empty() => (package, above),
        _ => (stem, parent),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(list: &[(&str, &str)]) -> BTreeMap<RepoPath, String> {
        list.iter()
            .map(|(path, text)| (RepoPath::parse(*path).unwrap(), (*text).to_owned()))
            .collect()
    }

    #[test]
    fn habits_are_counted_in_the_tests_that_are_there() {
        let python = files(&[
            (
                "tests/test_price.py",
                "import pytest\n\n\n@pytest.mark.parametrize('a', [1])\ndef test_a(a, shop):\n    assert a\n    with pytest.raises(ValueError):\n        f()\n",
            ),
            (
                "tests/conftest.py",
                "import pytest\n\n\n@pytest.fixture\ndef shop():\n    return 1\n",
            ),
        ]);
        let habits = read(Framework::Pytest, &python);
        assert_eq!(habits.file_naming, "test_*.py");
        assert_eq!(habits.directory, "tests");
        assert_eq!(habits.test_structure, "functions");
        assert_eq!(habits.assertion_style, ["assert statements", "pytest.raises"]);
        assert_eq!(habits.parametrisation, ["pytest.mark.parametrize"]);
        assert_eq!(habits.fixtures, ["shop (tests/conftest.py:5)"]);
        assert_eq!(habits.sample.unwrap().as_str(), "tests/test_price.py");
        let script = files(&[(
            "src/a.spec.ts",
            "import { vi } from 'vitest';\ndescribe('a', () => {\n  beforeEach(() => {});\n  it('b', () => { vi.fn(); expect(1).toBe(1); });\n});\n",
        )]);
        let habits = read(Framework::Vitest, &script);
        assert_eq!(habits.file_naming, "*.spec.ts");
        assert_eq!((habits.directory.as_str(), habits.mocking.as_str()), ("", "vi.mock"));
        assert_eq!(habits.test_structure, "describe blocks");
    }

    #[test]
    fn without_tests_the_framework_decides() {
        let table = [
            (Framework::Pytest, "tests", "test_*.py"),
            (Framework::GoTest, "", "*_test.go"),
            (Framework::Maven, "src/test/java", "*Test.java"),
        ];
        for (framework, directory, naming) in table {
            let habits = read(framework, &BTreeMap::new());
            assert_eq!(habits.directory, directory, "{framework}");
            assert_eq!(habits.file_naming, naming, "{framework}");
        }
    }

    #[test]
    fn tests_are_suggested_where_the_project_keeps_them() {
        let table = [
            (Framework::Pytest, "shop/price.py", "tests/test_price.py"),
            (Framework::Pytest, "src/shop/price.py", "tests/test_price.py"),
            (Framework::Pytest, "src/shop/__init__.py", "tests/test_shop.py"),
            (Framework::Pytest, "price.py", "test_price.py"),
            (Framework::Unittest, "price.py", "test_price.py"),
            (Framework::Unittest, "src/shop/__init__.py", "tests/test_shop.py"),
            (Framework::GoTest, "money/money.go", "money/money_test.go"),
            (Framework::Jest, "src/a/b.js", "src/a/b.test.js"),
            (Framework::NodeTest, "src/a.mjs", "test/a.test.mjs"),
            (
                Framework::Maven,
                "core/src/main/java/com/x/Calc.java",
                "core/src/test/java/com/x/CalcTest.java",
            ),
        ];
        for (framework, source, expected) in table {
            let habits = read(framework, &BTreeMap::new());
            let found = candidates(&RepoPath::parse(source).unwrap(), &habits);
            assert_eq!(found[0].as_str(), expected, "{framework}");
        }
        let habits = read(Framework::Pytest, &BTreeMap::new());
        let found = candidates(&RepoPath::parse("src/a/x.js").unwrap(), &habits);
        for listed in ["tests/a/x.test.js", "src/a/__tests__/x.test.js", "src/a/x.spec.js"] {
            assert!(found.iter().any(|path| path.as_str() == listed), "{listed} of 6.8");
        }
    }

    #[test]
    fn a_folder_with_tests_of_types_or_helpers_only_is_that_of_the_tests() {
        let table = [
            (Framework::Vitest, "test/types.test-d.ts", "test/index.test.ts"),
            (Framework::Jest, "tests/setup.ts", "tests/index.test.ts"),
            (Framework::Vitest, "src/a.test.ts", "src/index.test.ts"),
        ];
        for (framework, test, expected) in table {
            let habits = read(framework, &files(&[(test, "export {};\n")]));
            let source = RepoPath::parse("src/index.ts").unwrap();
            assert_eq!(candidates(&source, &habits)[0].as_str(), expected, "{test}");
        }
    }

    #[test]
    fn folders_of_tests_are_named_as_those_that_are_there() {
        let table = [
            (vec!["tests/test_shop/test_a.py"], "tests/test_shop/test_price.py"),
            (vec!["tests/shop/test_a.py"], "tests/shop/test_price.py"),
            (vec!["tests/test_a.py"], "tests/test_price.py"),
            (
                vec!["tests/test_shop/test_a.py", "tests/other/test_b.py"],
                "tests/shop/test_price.py",
            ),
        ];
        for (tests, expected) in table {
            let list: Vec<(&str, &str)> =
                tests.iter().map(|one| (*one, "def test_a(): ...\n")).collect();
            let habits = read(Framework::Pytest, &files(&list));
            let source = RepoPath::parse("src/shop/price.py").unwrap();
            assert_eq!(candidates(&source, &habits)[0].as_str(), expected);
        }
    }

    #[test]
    fn most_names_decide_how_a_test_file_is_called() {
        let table: &[(Framework, &[&str], &str, &str)] = &[
            (
                Framework::Pytest,
                &["tests/test_a.py", "tests/test_b.py", "tests/c_test.py"],
                "test_*.py",
                "tests",
            ),
            (Framework::Pytest, &["shop/a_test.py", "shop/b_test.py"], "*_test.py", ""),
            (
                Framework::Jest,
                &["test/a.spec.js", "test/b.spec.js", "src/c.test.js"],
                "*.spec.js",
                "test",
            ),
            (Framework::Vitest, &["src/a.test.ts"], "*.test.ts", ""),
            (Framework::GoTest, &["a/a_test.go"], "*_test.go", ""),
            (
                Framework::Maven,
                &[
                    "src/test/java/ATest.java",
                    "src/test/java/BTests.java",
                    "src/test/java/CTests.java",
                ],
                "*Tests.java",
                "src/test/java",
            ),
            (Framework::CargoTest, &["tests/api.rs"], "*.rs", "tests"),
        ];
        for (framework, names, naming, directory) in table {
            let tests: Vec<(&str, &str)> = names.iter().map(|name| (*name, "")).collect();
            let habits = read(*framework, &files(&tests));
            assert_eq!(habits.file_naming, *naming, "{names:?}");
            assert_eq!(habits.directory, *directory, "{names:?}");
        }
    }

    #[test]
    fn tests_are_functions_classes_or_groups() {
        let table = [
            ("tests/test_a.py", "\ndef test_a(): pass\n\ndef test_b(): pass\n", "functions"),
            ("tests/test_a.py", "\nclass TestA:\n    pass\n", "classes"),
            ("tests/test_a.py", "\nclass A(unittest.TestCase):\n    pass\n", "classes"),
            ("a.test.js", "describe('a', () => {});\n", "describe blocks"),
            ("a.test.js", "\ntest('a', () => {});\n", "functions"),
            ("a_test.go", "package a\n", "functions"),
            ("src/test/java/ATest.java", "class ATest {}\n", "classes"),
            ("tests/test_a.py", "", ""),
        ];
        for (name, text, expected) in table {
            let habits = read(Framework::Command, &files(&[(name, text)]));
            assert_eq!(habits.test_structure, expected, "{text}");
        }
    }

    #[test]
    fn doubles_set_up_and_parameters_are_named_by_their_libraries() {
        let table = [
            (
                "tests/test_a.py",
                "\ndef test_a(monkeypatch):\n    monkeypatch.setattr(1)\n",
                "monkeypatch",
                "",
                "",
            ),
            (
                "tests/test_a.py",
                "def setUp(self): pass\nself.subTest(1)\n",
                "",
                "setUp and tearDown",
                "self.subTest",
            ),
            (
                "a.test.ts",
                "vi.fn();\nbeforeEach(() => {});\nit.each([1])('a', f);\n",
                "vi.mock",
                "beforeEach and afterEach",
                "it.each",
            ),
            (
                "a_test.go",
                "gomock.NewController(t)\nt.Cleanup(f)\nt.Run(\"a\", f)\n",
                "gomock",
                "t.Cleanup",
                "table of cases with t.Run",
            ),
            (
                "src/test/java/ATest.java",
                "Mockito.when(a);\n@BeforeEach\n@ParameterizedTest\n",
                "Mockito",
                "@BeforeEach",
                "@ParameterizedTest",
            ),
            ("tests/a.rs", "mockall::mock!{}\nproptest! {}\n", "mockall", "", "proptest"),
        ];
        for (name, text, mocking, setup, parameters) in table {
            let habits = read(Framework::Command, &files(&[(name, text)]));
            assert!(habits.mocking.starts_with(mocking), "{text}: {}", habits.mocking);
            assert_eq!(habits.setup_teardown, setup, "{text}");
            let found = habits.parametrisation.first().map_or("", String::as_str);
            assert_eq!(found, parameters, "{text}");
        }
    }

    #[test]
    fn the_sample_is_the_richest_file_that_can_be_read() {
        let long = "\n    assert 1".repeat(3_000);
        let tests = files(&[
            ("tests/test_few.py", "def test_a():\n    assert 1\n"),
            ("tests/test_many.py", "def test_a():\n    assert 1\n    assert 2\n"),
            ("tests/test_long.py", &format!("def test_a():{long}\n")),
            ("tests/conftest.py", "assert 1\nassert 1\nassert 1\n"),
        ]);
        let sample = read(Framework::Pytest, &tests).sample;
        assert_eq!(sample.unwrap().as_str(), "tests/test_many.py");
    }

    #[test]
    fn places_for_tests_are_distinct_and_never_the_source() {
        for framework in [Framework::Pytest, Framework::Jest, Framework::GoTest, Framework::Gradle]
        {
            let habits = read(framework, &BTreeMap::new());
            for source in [
                "a.py",
                "src/a/b.ts",
                "lib/x.js",
                "pkg/y.go",
                "app/src/main/java/m/Z.java",
                "noending",
            ] {
                let source = RepoPath::parse(source).unwrap();
                let found = candidates(&source, &habits);
                let distinct: std::collections::BTreeSet<_> = found.iter().collect();
                assert_eq!(distinct.len(), found.len(), "{source}");
                assert!(!found.contains(&source) && !found.is_empty(), "{source}");
                let stem = source.stem();
                assert!(
                    found.iter().all(|path| path.as_str().contains(stem)),
                    "{source}: {found:?}"
                );
            }
        }
    }
}
