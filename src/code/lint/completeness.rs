//! Measures how completely a repository is tested, per test layer, by comparing names.
//!
//! A function counts as tested if a test, or a helper it calls in the same file, mentions its name.
//! Common names may match by accident, and dynamic calls are missed.
//! Source: specification.md 6.1, 6.2.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::behaviour::{self, Behaviour};
use crate::code::language::Language;
use crate::code::{parallel, test_paths};
use crate::domain::id::RepoPath;
use crate::domain::quality::{Completeness, TestAspect, TestMetrics};

use super::generated;
use super::project::Project;
use super::source::Source;
use super::test_rules::missing_cases::{ExercisedCode, tried};

/// A function that others may call.
struct Unit {
    name: String,
    place: String,
    /// The file of an unnamed default export, which tests may import under any name.
    nameless: Option<String>,
    rejects: bool,
    changes: bool,
    waits: bool,
}

/// The functions and tests of one file.
#[derive(Default)]
struct Part {
    units: Vec<Unit>,
    tried: Vec<ExercisedCode>,
    code_lines: u32,
    test_lines: u32,
}

/// Measures how far the tests of a repository exercise the functions in the `about` files.
pub fn measure(
    about: &[&RepoPath],
    files: &BTreeMap<RepoPath, String>,
    project: &Project,
) -> TestMetrics {
    let about: BTreeSet<&RepoPath> = about.iter().copied().collect();
    let chosen: Vec<&RepoPath> = files
        .iter()
        .filter(|(file, text)| Language::of(file).is_some() && !generated::is_generated(file, text))
        .map(|(file, _)| file)
        .collect();
    let parts = parallel::map(&chosen, |file| {
        let mut part =
            files.get(file).and_then(|text| part(file, text, project)).unwrap_or_default();
        part.units.retain(|_| about.contains(file));
        part
    });
    let mut units: Vec<&Unit> = parts.iter().flat_map(|part| &part.units).collect();
    units.sort_by(|one, other| one.place.cmp(&other.place));
    let tried: Vec<&ExercisedCode> = parts.iter().flat_map(|part| &part.tried).collect();
    let layers = vec![
        layer(TestAspect::Happy, &units, &tried, |_| true, |_| true),
        layer(TestAspect::Negative, &units, &tried, |unit| unit.rejects, |one| one.negative),
        layer(TestAspect::Edge, &units, &tried, |_| true, |one| one.edge),
        layer(TestAspect::State, &units, &tried, |unit| unit.changes, |one| one.assertions >= 2),
        layer(TestAspect::Async, &units, &tried, |unit| unit.waits, |one| one.waits),
        wiring(&about, files, project),
    ];
    TestMetrics {
        layers,
        tests: count(tried.len()),
        assertions: tried.iter().map(|one| one.assertions).sum(),
        code_lines: parts.iter().map(|part| part.code_lines).sum(),
        test_lines: parts.iter().map(|part| part.test_lines).sum(),
        coverage: None,
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Counts one layer: the functions that `about` selects, and the tests that `counts` selects. A
/// test without an assertion does not count.
fn layer(
    layer: TestAspect,
    units: &[&Unit],
    tried: &[&ExercisedCode],
    about: impl Fn(&Unit) -> bool,
    counts: impl Fn(&ExercisedCode) -> bool,
) -> Completeness {
    let telling = || tried.iter().filter(|one| one.assertions > 0 && counts(one));
    let named: BTreeSet<&str> =
        telling().flat_map(|one| one.words.iter().map(String::as_str)).collect();
    let loaded: BTreeSet<&str> =
        telling().flat_map(|one| one.loads.iter().map(String::as_str)).collect();
    let is_tried = |unit: &Unit| match &unit.nameless {
        Some(file) => loaded.contains(file.as_str()),
        None => named.contains(unit.name.as_str()),
    };
    let of: Vec<&&Unit> = units.iter().filter(|unit| about(unit)).collect();
    let missing: Vec<String> =
        of.iter().filter(|unit| !is_tried(unit)).map(|unit| unit.place.clone()).collect();
    Completeness { layer, covered: count(of.len() - missing.len()), of: count(of.len()), missing }
}

/// Counts module boundaries: one module imports the other, and a test loads the importing one.
fn wiring(
    about: &BTreeSet<&RepoPath>,
    files: &BTreeMap<RepoPath, String>,
    project: &Project,
) -> Completeness {
    let about: BTreeSet<&str> = about.iter().map(|file| file.as_str()).collect();
    let is_test: BTreeMap<&str, bool> =
        files.keys().map(|file| (file.as_str(), test_paths::is_test(file))).collect();
    let test = |file: &str| is_test.get(file).copied().unwrap_or_default();
    let loaded: BTreeSet<&str> = project
        .edges
        .iter()
        .filter(|(file, _)| test(file))
        .flat_map(|(_, targets)| targets.iter().map(String::as_str))
        .collect();
    let (mut of, mut missing) = (0, Vec::new());
    for (file, targets) in
        project.edges.iter().filter(|(file, _)| about.contains(file.as_str()) && !test(file))
    {
        for target in targets.iter().filter(|target| !test(target)) {
            of += 1;
            if !loaded.contains(file.as_str()) {
                missing.push(format!("{file} -> {target}"));
            }
        }
    }
    Completeness { layer: TestAspect::Wiring, covered: of - count(missing.len()), of, missing }
}

fn part(file: &RepoPath, text: &str, project: &Project) -> Option<Part> {
    let language = Language::of(file)?;
    let tree = language.parse(text)?;
    let source = Source::new(file, text, language, &tree, project);
    let mut part = Part { tried: tried(&source), ..Part::default() };
    for (number, line) in text.lines().enumerate() {
        let test = source.is_test_line(count(number + 1));
        if !line.trim().is_empty() {
            *(if test { &mut part.test_lines } else { &mut part.code_lines }) += 1;
        }
    }
    if !source.is_support() && !source.is_bench() {
        let functions = behaviour::read(language, text).into_iter();
        let functions = functions.filter(|one| !source.is_test_line(one.start));
        part.units = functions.filter_map(|one| unit(&source, &one)).collect();
    }
    Some(part)
}

/// A function that others may call.
fn unit(source: &Source<'_>, function: &Behaviour) -> Option<Unit> {
    let name = function.short_name();
    let has_mark = |word: &str| function.marks.iter().any(|mark| mark.contains(word));
    let head = source.text.lines().nth(usize::try_from(function.start).ok()?.checked_sub(1)?)?;
    let is_constructor =
        name == "constructor" || function.name.split('.').rev().nth(1) == Some(name);
    let is_declared = ["overload", "abstractmethod", "@Override"].iter().any(|one| has_mark(one));
    if !function.is_public
        || is_declared
        || is_constructor
        || name == "main"
        || name.starts_with(['_', '#'])
        || head.trim_start().starts_with("private ")
    {
        return None;
    }
    Some(Unit {
        name: name.to_owned(),
        place: format!("{}:{} {name}", source.path, function.start),
        nameless: (source.is_script() && name == "default").then(|| source.path.to_string()),
        rejects: function.raises.iter().any(|raise| raise.class != "panic"),
        changes: !function.changes.is_empty(),
        waits: function.is_async,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The functions that no test exercises, by layer: `L1.1` to `L1.5`, `L2`.
    fn missing(files: &[(&str, &str)]) -> Vec<(u32, u32, Vec<String>)> {
        let parsed =
            |(name, text): &(&str, &str)| (RepoPath::parse(*name).unwrap(), (*text).to_owned());
        let files: BTreeMap<RepoPath, String> = files.iter().map(parsed).collect();
        let about: Vec<&RepoPath> = files.keys().collect();
        let metrics = measure(&about, &files, &Project::of(&files));
        metrics.layers.into_iter().map(|one| (one.covered, one.of, one.missing)).collect()
    }

    #[test]
    fn public_functions_of_every_language_want_a_test() {
        let table: &[(&str, &str, &[&str])] = &[
            (
                "a.py",
                "def f(): pass\ndef _g(): pass\nclass A:\n    def h(self): pass\n    def __init__(self): pass\nclass _B:\n    def i(self): pass\n",
                &["f", "h"],
            ),
            (
                "a.py",
                "@overload\ndef f(a): ...\nclass A:\n    @abstractmethod\n    def g(self): pass\ndef main(): pass\n",
                &[],
            ),
            (
                "a.js",
                "export function f() {}\nfunction g() {}\nexport class A {\n  constructor() {}\n  h() {}\n  #i() {}\n}\n",
                &["f", "h"],
            ),
            ("a.js", "module.exports.f = function () {};\n", &["f"]),
            ("a.ts", "export class A {\n  private f() {}\n  g() {}\n}\n", &["g"]),
            ("a.js", "export default () => 1;\n", &["default"]),
            (
                "src/a.rs",
                "pub fn f() {}\nfn g() {}\nimpl A { pub fn h(&self) {} }\n#[cfg(test)]\nmod tests { pub fn i() {} }\n",
                &["f", "h"],
            ),
            (
                "a.go",
                "package a\nfunc F() {}\nfunc g() {}\nfunc (a *A) H() {}\nfunc main() {}\n",
                &["F", "H"],
            ),
            (
                "A.java",
                "class A {\n  public A() {}\n  public void f() {}\n  void g() {}\n  @Override public String toString() { return null; }\n}\n",
                &["f"],
            ),
            ("bench/a.py", "def f(): pass\n", &[]),
        ];
        for (name, text, expected) in table {
            let places = missing(&[(name, text)])[0].2.clone();
            let names: Vec<&str> = places.iter().filter_map(|one| one.rsplit(' ').next()).collect();
            assert_eq!(names, *expected, "{name}: {text}");
        }
    }

    #[test]
    fn a_layer_asks_for_what_its_functions_do() {
        let source = "def f(x):\n    if x < 0:\n        raise ValueError(x)\n    return x\n\n\nasync def g():\n    return 1\n\n\nclass A:\n    def h(self):\n        self.n = 1\n";
        let layers = missing(&[("shop.py", source)]);
        let of: Vec<u32> = layers.iter().map(|(_, of, _)| *of).collect();
        assert_eq!(of, [3, 1, 3, 1, 1, 0]);
        let test = "from shop import f, g, A\n\n\ndef test_f_rejects():\n    with raises(ValueError):\n        f(-1)\n\n\nasync def test_g():\n    assert await g() == 1\n\n\ndef test_h():\n    a = A()\n    a.h()\n    assert a.n == 1\n    assert a\n";
        let layers = missing(&[("shop.py", source), ("test_shop.py", test)]);
        let left: Vec<(u32, u32)> = layers.iter().map(|(covered, of, _)| (*covered, *of)).collect();
        assert_eq!((left[0], left[1], left[3], left[4]), ((3, 3), (1, 1), (1, 1), (1, 1)));
    }

    #[test]
    fn a_test_without_an_assertion_tries_nothing_and_a_helper_lends_its_calls() {
        let source = ("shop.py", "def f():\n    return 1\n");
        let silent = ("test_shop.py", "from shop import f\n\ndef test_f():\n    f()\n");
        assert_eq!(missing(&[source, silent])[0].0, 0);
        let lent = (
            "test_shop.py",
            "from shop import f\n\ndef check():\n    assert f() == 1\n\ndef test_f():\n    check()\n",
        );
        assert_eq!(missing(&[source, lent])[0].0, 1);
    }

    #[test]
    fn a_boundary_is_tried_when_a_test_loads_its_importer() {
        let files = [
            ("shop/__init__.py", ""),
            ("shop/cart.py", "from .tax import rate\n"),
            ("shop/tax.py", "def rate():\n    return 1\n"),
        ];
        let found = missing(&files);
        assert_eq!(found[5], (0, 1, vec!["shop/cart.py -> shop/tax.py".to_owned()]));
        let mut with = files.to_vec();
        with.push((
            "tests/test_cart.py",
            "from shop.cart import rate\n\ndef test_a():\n    assert rate() == 1\n",
        ));
        assert_eq!(missing(&with)[5], (1, 1, vec![]));
    }
}
