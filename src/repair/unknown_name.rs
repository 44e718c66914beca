//! Names that a failure says nobody defines, and the similar names that may be meant.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use similar::TextDiff;

use crate::code::language::Language;
use crate::code::mutate::{self, Candidate, OperatorId};
use crate::domain::test::TestCase;
use crate::domain::text::has_word;

/// How interpreters and compilers say that a name is unknown. Some name the one that may be meant.
static UNKNOWN: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        r"name '(?P<name>\w+)' is not defined",
        r"(?:module '(?P<module>\w+)[\w.]*' )?has no attribute '(?P<name>\w+)'",
        r"cannot import name '(?P<name>\w+)'(?: from '(?P<module>\w+))?",
        r"unexpected keyword argument '(?P<name>\w+)'",
        r"(?m)\b(?P<name>[\w$]+) is not defined\b",
        r"(?m)\b(?P<name>[\w$]+) is not a function\b",
        r"Cannot find name '(?P<name>[\w$]+)'",
        r"Property '(?P<name>[\w$]+)' does not exist",
        r"undefined: (?:\w+\.)*(?P<name>\w+)",
        r"cannot find (?:\w+ )+`(?P<name>\w+)`",
        r"no (?:\w+ )+named `(?P<name>\w+)`",
        r"no field `(?P<name>\w+)`",
        r"symbol:\s+\w+ (?P<name>\w+)",
    ]
    .iter()
    .filter_map(|pattern| Regex::new(pattern).ok())
    .collect()
});

static MEANT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?:[Dd]id you mean:? |a similar name exists: |a \w+ with a similar name[^`]*)['`](?P<name>[\w.$]+)")
        .ok()
});

static WORD: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[A-Za-z_$][\w$]*").ok());

/// Names that Python defines, besides those that edits wrap values in.
#[rustfmt::skip]
const BUILTINS: &[&str] = &[
    "ArithmeticError", "AssertionError", "AttributeError", "BaseException", "EOFError", "Exception",
    "FileExistsError", "FileNotFoundError", "ImportError", "IndexError", "IOError", "KeyError",
    "KeyboardInterrupt", "LookupError", "MemoryError", "ModuleNotFoundError", "NameError",
    "NotImplementedError", "OSError", "OverflowError", "PermissionError", "RuntimeError",
    "StopIteration", "SyntaxError", "SystemExit", "TimeoutError", "TypeError", "UnicodeDecodeError",
    "UnicodeError", "ValueError", "Warning", "ZeroDivisionError", "__file__", "__name__", "all",
    "any", "bytes", "callable", "classmethod", "dict", "divmod", "enumerate", "filter", "frozenset",
    "getattr", "hasattr", "hash", "input", "isinstance", "issubclass", "iter", "map", "next",
    "object", "open", "ord", "print", "property", "range", "repr", "setattr", "slice",
    "staticmethod", "super", "type", "vars", "zip",
];

/// A name this much alike may be meant.
const ALIKE: f32 = 0.6;

/// Similar names that are tried for one place.
const TRIED: usize = 4;

/// Unknown names, and names that may be meant.
#[derive(Clone, Debug, Default)]
pub struct UnknownNames {
    names: BTreeSet<String>,
    /// Names from other places than the edited file.
    known: BTreeSet<String>,
    /// Those that a module of other people lacks according to a message.
    foreign: BTreeSet<String>,
}

impl UnknownNames {
    /// Reads the unknown names of failures; `functions` are the functions of the sources, and
    /// `is_own` says whether a module is one of them.
    pub fn of<'a>(
        cases: impl Iterator<Item = &'a TestCase>,
        functions: impl Iterator<Item = &'a str>,
        is_own: impl Fn(&str) -> bool,
    ) -> Self {
        let mut found = Self::default();
        for failure in cases.filter_map(|case| case.failure.as_ref()) {
            let text = format!("{}\n{}", failure.message, failure.stack);
            for pattern in UNKNOWN.iter() {
                for captures in pattern.captures_iter(&text) {
                    let name = captures["name"].to_owned();
                    // The stack also has errors that the code caught.
                    let module = captures.name("module");
                    let module = module.filter(|one| one.end() <= failure.message.len());
                    if module.is_some_and(|one| !is_own(one.as_str())) {
                        found.foreign.insert(name.clone());
                    }
                    found.names.insert(name);
                }
            }
            let meant = MEANT.iter().flat_map(|pattern| pattern.captures_iter(&text));
            found.known.extend(meant.map(|captures| captures["name"].to_owned()));
        }
        if !found.names.is_empty() {
            let names = functions.map(|name| name.rsplit(['.', ':']).next().unwrap_or(name));
            found.known.extend(names.map(str::to_owned));
        }
        found
    }

    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The lines that name what a module of other people lacks: only another name can be right there.
    pub fn foreign_lines(&self, source: &str) -> BTreeSet<u32> {
        let is_foreign = |text: &str| self.foreign.iter().any(|name| has_word(text, name));
        let lines = (1..).zip(source.lines());
        lines.filter(|(_, text)| is_foreign(text)).map(|(line, _)| line).collect()
    }

    /// Edits that write a similar known name in place of an unknown one on accepted lines.
    pub fn candidates(
        &self,
        language: Language,
        source: &str,
        accepts_line: &dyn Fn(u32) -> bool,
    ) -> Vec<Candidate> {
        let Some(word) = WORD.as_ref().filter(|_| !self.is_empty()) else { return Vec::new() };
        let mut known: BTreeSet<&str> = word.find_iter(source).map(|one| one.as_str()).collect();
        known.extend(self.known.iter().map(String::as_str));
        if language == Language::Python {
            known.extend(BUILTINS);
        }
        known.extend(mutate::spelling(language).wrappers);
        let mut candidates = Vec::new();
        let mut start = 0;
        for (index, text) in source.split_inclusive('\n').enumerate() {
            let line = u32::try_from(index + 1).unwrap_or(u32::MAX);
            let words = word.find_iter(text).filter(|_| accepts_line(line));
            for one in words.filter(|one| self.names.contains(one.as_str())) {
                for (text, ratio) in self.similar(one.as_str(), &known) {
                    let range = start + one.start()..start + one.end();
                    let operator = OperatorId::Variable;
                    let weight = 10.0 * operator.base_yield() * f64::from(ratio);
                    let text = text.to_owned();
                    candidates.push(Candidate { range, text, operator, line, weight });
                }
            }
            start += text.len();
        }
        candidates
    }

    /// Edits that write a variable of the function in place of an unknown name, however unlike they are.
    pub fn variables_instead(
        &self,
        language: Language,
        source: &str,
        accepts_line: &dyn Fn(u32) -> bool,
    ) -> Vec<Candidate> {
        let mut edits = mutate::candidates(language, source, accepts_line, &[]);
        edits.retain(|edit| {
            let old = source.get(edit.range.clone()).unwrap_or_default();
            let is_own = self.names.contains(old) && !self.foreign.contains(old);
            edit.operator == OperatorId::Variable && is_own && !self.names.contains(&edit.text)
        });
        edits
    }

    /// The known names that are most like an unknown one, with their likeness.
    fn similar<'a>(&self, unknown: &str, known: &BTreeSet<&'a str>) -> Vec<(&'a str, f32)> {
        // A name with one letter wrong is misspelt; what is merely similar does something else.
        let is_guess =
            |name: &str| self.foreign.contains(unknown) && strsim::osa_distance(unknown, name) != 1;
        let is_tried = |name: &&&str| !self.names.contains(**name) && !is_guess(name);
        let known = known.iter().filter(is_tried);
        let likeness = |name: &&'a str| (*name, TextDiff::from_chars(unknown, *name).ratio());
        let mut similar: Vec<(&str, f32)> =
            known.map(likeness).filter(|(_, ratio)| *ratio >= ALIKE).collect();
        similar.sort_by(|a, b| b.1.total_cmp(&a.1));
        similar.truncate(TRIED);
        similar
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::test::{CaseKind, FailureText, Layer, Status};

    fn failing(message: &str) -> TestCase {
        TestCase {
            id: "a".into(),
            kind: CaseKind::Unloaded,
            status: Status::Failed,
            file: None,
            line: None,
            duration_ms: 0,
            layer: Layer::Unit,
            failure: Some(FailureText { message: message.into(), ..FailureText::default() }),
        }
    }

    #[test]
    fn an_unknown_name_becomes_a_variable_that_is_not_like_it() {
        let source = "package a\n\nfunc Up(s string, n int) string {\n\treturn upper(t)\n}\n";
        let unknown = |name: &str| {
            let case = failing(&format!("undefined: {name}"));
            UnknownNames::of(std::iter::once(&case), std::iter::empty(), |_| true)
        };
        let texts = |name: &str| {
            let edits = unknown(name).variables_instead(Language::Go, source, &|line| line == 4);
            edits.iter().map(|edit| edit.apply(source)).collect::<Vec<_>>()
        };
        assert!(texts("t").contains(&source.replace("(t)", "(s)")));
        assert_eq!(texts("x"), Vec::<String>::new());
    }

    #[test]
    fn a_misspelt_name_becomes_the_similar_one() {
        let python = "def price(x):\n    return x\n\nBASE = pric(1)\n";
        let script = "const total = 1;\nexport const b = totl + 1;\n";
        let table = [
            ("name 'pric' is not defined", Language::Python, python, "BASE = price(1)"),
            ("name 'lenn' is not defined", Language::Python, "x = lenn([1])\n", "x = len([1])"),
            ("totl is not defined", Language::JavaScript, script, "const b = total + 1"),
            (
                "module 'shop' has no attribute 'compute'. Did you mean: 'computed'?",
                Language::Python,
                "import shop\nX = shop.compute()\n",
                "shop.computed()",
            ),
            (
                "error[E0425]: cannot find value `cuont` in this scope",
                Language::Rust,
                "fn f(count: i32) -> i32 { cuont }\n",
                "{ count }",
            ),
            (
                "./b.go:3:23: undefined: totl",
                Language::Go,
                "package b\n\nvar total = 1\n\nfunc F() int { return totl }\n",
                "return total }",
            ),
        ];
        for (message, language, source, expected) in table {
            let cases = [failing(message)];
            let unknown = UnknownNames::of(cases.iter(), std::iter::empty(), |name| name == "shop");
            let found = unknown.candidates(language, source, &|_| true);
            let first = found.first().map(|edit| edit.apply(source)).unwrap_or_default();
            assert!(first.contains(expected), "{message}: {first}");
        }
    }

    #[test]
    fn a_name_that_a_library_dropped_becomes_no_similar_one() {
        let lacks = |module: &str, name: &str| {
            format!("module '{module}' has no attribute '{name}'. Did you mean: 'iscoroutine'?")
        };
        let file = "import asyncio, math, shop\nasyncio.iscoroutine(1)\nmath.sqrt(2)\nA = asyncio.coroutine\nB = math.sqrrt\nC = shop.coroutine\n";
        let table = [
            (lacks("asyncio", "coroutine"), "A = asyncio.iscoroutine", false),
            (
                "cannot import name 'coroutine' from 'asyncio' (/usr/lib/a.py)".to_owned(),
                "A = asyncio.iscoroutine",
                false,
            ),
            (lacks("math", "sqrrt"), "B = math.sqrt\n", true),
            (lacks("shop", "coroutine"), "C = shop.iscoroutine", true),
        ];
        for (message, edited, expected) in table {
            let cases = [failing(&message)];
            let unknown = UnknownNames::of(cases.iter(), std::iter::empty(), |name| name == "shop");
            let found = unknown.candidates(Language::Python, file, &|_| true);
            let is_tried = found.iter().any(|one| one.apply(file).contains(edited));
            assert_eq!(is_tried, expected, "{message}");
        }
    }

    #[test]
    fn without_an_unknown_name_there_is_nothing_to_try() {
        let cases = [failing("assert 1 == 2")];
        let unknown = UnknownNames::of(cases.iter(), ["price"].into_iter(), |_| true);
        assert!(unknown.is_empty());
        assert!(unknown.candidates(Language::Python, "x = pric\n", &|_| true).is_empty());
    }
}
