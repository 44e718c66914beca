//! Renders cases as test files in the project's own framework.

mod behaviour_name;
mod call_setup;
mod go;
mod java;
mod line_breaks;
mod python;
mod rust;
mod script;
mod test_name;
mod test_style;

use std::collections::{BTreeMap, BTreeSet};

use crate::code::java_packages::JUnit;
use crate::code::language::Language;
use crate::code::signature::special_method_calls::write_step;
use crate::code::syntax;
use crate::code::tree::named_nodes;
use crate::domain::framework::Framework;
use crate::effect::{Call, CallOutcome, ResultKind};

use super::arguments::split_name;
use super::parameter_fit::SAME;
use super::{Case, ObservedFunction};
use test_name::Detail;

pub use test_style::{TestStyle, is_of_other_runner, most_used_quote};

/// Longest error message, in bytes, that a test compares.
const MESSAGE: usize = 200;

/// Texts up to this length are written out, and the longest unit that is looked for in others.
const LONG_TEXT: usize = 60;
const UNIT: usize = 12;

/// Names that a generated Python test file uses itself.
const RESERVED: &[&str] =
    &["pytest", "unittest", "math", "asyncio", "list", "str", "float", "set", "frozenset", "int"];

/// Whether characterisation tests can be written for a framework.
pub fn can_render(framework: Framework) -> bool {
    matches!(
        framework,
        Framework::Pytest
            | Framework::Unittest
            | Framework::NodeTest
            | Framework::Jest
            | Framework::Vitest
            | Framework::Mocha
            | Framework::Ava
            | Framework::CargoTest
            | Framework::Nextest
            | Framework::Maven
            | Framework::Gradle
            | Framework::GoTest
    )
}

/// Module system of a JavaScript file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModuleKind {
    /// ES modules, with `import`.
    Module,
    /// `CommonJS`, with `require`.
    Common,
}

/// Framework and module system of a test file, and how it imports the file under test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Naming {
    pub framework: Framework,
    /// The name to import: a dotted name in Python, a path from the test file in JavaScript.
    pub subject: String,
    /// JavaScript: module system of the file under test.
    pub source: ModuleKind,
    /// JavaScript: module system of the test file.
    pub test: ModuleKind,
    /// Whether the test file is written in TypeScript.
    pub typed: bool,
    /// The quotes around texts, as the file under test has most.
    pub quote: char,
    /// What the tests of the project look like.
    pub style: TestStyle,
    /// Whether tests are named by what should happen (specification.md 3.2, F-136).
    pub is_behaviour: bool,
    /// JavaScript: names that arguments may use, with the import path of the file that has them.
    pub imports: Vec<(String, String)>,
    /// JavaScript: names of default exports that requests use, with the import path.
    pub defaults: Vec<(String, String)>,
    /// Compiled languages: the package of the test file.
    pub package: TestPackage,
}

impl Naming {
    /// The naming in a language with one kind of module.
    pub fn of_module(framework: Framework, subject: String) -> Self {
        let (source, test) = (ModuleKind::Module, ModuleKind::Module);
        let package = TestPackage::default();
        let style = TestStyle::default();
        Self {
            framework,
            subject,
            source,
            test,
            typed: false,
            quote: '"',
            style,
            is_behaviour: false,
            imports: Vec::new(),
            defaults: Vec::new(),
            package,
        }
    }
}

/// The text with the project's quotes where no string needs others, and repeats written once.
fn with_quotes(text: &str, language: Language, quote: char) -> String {
    let Some(tree) = language.parse(text) else { return text.to_owned() };
    let mut parts = Vec::new();
    let mut done = 0;
    for node in named_nodes(tree.root_node()).into_iter().filter(|node| node.kind() == "string") {
        let whole = text.get(node.byte_range()).unwrap_or_default();
        // Bytes of Python keep their mark.
        let start = node.start_byte() + usize::from(whole.starts_with('b'));
        let whole = whole.strip_prefix('b').unwrap_or(whole);
        let inner = text.get(start + 1..node.end_byte() - 1).unwrap_or_default();
        let is_triple = [r#"""""#, "'''"].iter().any(|mark| whole.starts_with(mark));
        let is_plain = !is_triple
            && !inner.contains(quote)
            && !inner.contains(r#"\""#)
            && !inner.contains(r"\'");
        let starts = whole.starts_with(['"', '\'']);
        if is_plain && starts && start >= done {
            parts.push(text.get(done..start).unwrap_or_default().to_owned());
            let rest = text.get(node.end_byte()..).unwrap_or_default();
            let is_whole = rest.is_empty() || rest.starts_with([',', ')', ']', '}', ';', '\n']);
            parts.push(match repeated_unit(inner).filter(|_| is_whole) {
                None => format!("{quote}{inner}{quote}"),
                Some((unit, count)) if language == Language::Python => {
                    format!("{quote}{unit}{quote} * {count}")
                }
                Some((unit, count)) => format!("{quote}{unit}{quote}.repeat({count})"),
            });
            done = node.end_byte();
        }
    }
    parts.concat() + text.get(done..).unwrap_or_default()
}

/// What a long text consists of again and again, and how often.
fn repeated_unit(inner: &str) -> Option<(&str, usize)> {
    (1..=UNIT).filter(|_| inner.len() > LONG_TEXT).find_map(|length| {
        let (unit, count) = (inner.get(..length)?, inner.len() / length);
        (!unit.ends_with('\\') && unit.repeat(count) == inner).then_some((unit, count))
    })
}

/// The package that a test of a compiled language is in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestPackage {
    /// What the file under test imports: names and paths.
    pub imports: BTreeMap<String, String>,
    /// Top-level names of the tests that are there already.
    pub taken: BTreeSet<String>,
    /// Whether a test declares the crate that it uses, as in the first edition of Rust.
    pub is_declared: bool,
    /// Java: the name of the package.
    pub name: String,
    /// Java: the comment with the licence that its files begin with.
    pub header: String,
    /// Java: one level of indentation.
    pub indent: String,
    pub junit: JUnit,
}

/// A test of a draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DraftTest {
    pub name: String,
    /// Index of the function, and of its case.
    pub function: usize,
    pub case: usize,
}

/// A rendered test file that is not part of the project yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    pub text: String,
    /// The tests, in the order of the text.
    pub tests: Vec<DraftTest>,
    /// Cases that cannot be rendered: index of the function, index of the case, reason.
    pub left_out: Vec<(usize, usize, String)>,
}

/// Renders a file with one test for each case; `reversed` shows tests that need an order.
pub fn render(naming: &Naming, functions: &[ObservedFunction], reversed: bool) -> Draft {
    let mut draft = Draft::default();
    let mut calls = BTreeSet::new();
    let mut found: Vec<(usize, usize, &Case)> = Vec::new();
    for (function, one) in functions.iter().enumerate() {
        let mut cases: Vec<(usize, &Case)> = one.cases.iter().enumerate().collect();
        cases
            .sort_by_key(|(_, case)| matches!(case.expected_outcome(), CallOutcome::Raised { .. }));
        for (index, case) in cases {
            if let Some(reason) = refusal(naming, functions, case) {
                draft.left_out.push((function, index, reason));
            } else if calls.insert(shown_call(case)) {
                found.push((function, index, case));
            } else {
                // Documentation of one method may show a call of another with its name.
                draft.left_out.push((function, index, "another test makes the same call".into()));
            }
        }
    }
    let names = distinct_names(naming, functions, &found);
    let tests = found.into_iter().zip(names);
    draft.tests =
        tests.map(|((function, case, _), name)| DraftTest { name, function, case }).collect();
    if reversed {
        draft.tests.reverse();
    }
    if draft.tests.is_empty() {
        return draft;
    }
    let file = match naming.framework.language() {
        Some(Language::Python) => python::write_file,
        Some(Language::Go) => go::render_file,
        Some(Language::Rust) => rust::render_rust_file,
        Some(Language::Java) => java::render_java_file,
        _ => script::write_file,
    };
    draft.text = file(naming, functions, &draft);
    draft
}

/// The call of a case with those before it; one that gives the text of an object as that of the object whose text
/// is compared.
fn shown_call(case: &Case) -> String {
    let Call { callee, arguments, setup, .. } = &case.call;
    let is_text =
        matches!(case.expected_outcome(), CallOutcome::Value { way: ResultKind::Text, .. });
    let mut names = [".__str__", ".toString"].iter().filter(|_| arguments.is_empty());
    let call = match names.find_map(|name| callee.strip_suffix(name)) {
        Some(object) => format!("str({object})"),
        None if is_text => format!("str({callee}({}))", arguments.join(", ")),
        None => format!("{callee}({})", arguments.join(", ")),
    };
    format!("{}; {call}", setup.join("; "))
}

/// A name for each case, longer or numbered only where needed to tell it apart.
fn distinct_names(
    naming: &Naming,
    functions: &[ObservedFunction],
    cases: &[(usize, usize, &Case)],
) -> Vec<String> {
    let name = |(function, _, case): &(usize, usize, &Case), detail| {
        functions.get(*function).map_or_else(String::new, |one| match naming.framework {
            framework if naming.is_behaviour => {
                behaviour_name::behaviour_name(framework, one, case, detail)
            }
            Framework::GoTest => go::test_name(naming, one, case, detail),
            Framework::Maven | Framework::Gradle => java::test_name(naming, one, case, detail),
            framework => test_name::test_name(framework, one, case, detail),
        })
    };
    let mut names = vec![String::new(); cases.len()];
    for detail in [Detail::Words, Detail::Result] {
        let known = names.clone();
        for (place, case) in names.iter_mut().zip(cases) {
            if known.iter().filter(|other| *other == place).count() > 1 || place.is_empty() {
                *place = name(case, detail);
            }
        }
    }
    let mut taken = BTreeSet::new();
    for place in &mut names {
        let first = place.clone();
        let mut further =
            (2..).map(|number| test_name::number_name(naming.framework, &first, number));
        while !taken.insert(place.clone()) {
            *place = further.next().unwrap_or_default();
        }
    }
    names
}

/// Why a case cannot be rendered in one file with the others.
fn refusal(naming: &Naming, functions: &[ObservedFunction], case: &Case) -> Option<String> {
    if !naming.framework.is_python() {
        return None;
    }
    let subjects = || functions.iter().map(|one| one.local.as_str());
    let shadowed = case
        .seen
        .needs
        .iter()
        .filter_map(|need| need.split('.').next())
        .any(|root| subjects().any(|subject| subject == root));
    let reserved = subjects().any(|subject| RESERVED.contains(&subject));
    (shadowed || reserved).then(|| "a name that its test needs is taken by a function".to_owned())
}

fn case_of<'a>(
    functions: &'a [ObservedFunction],
    test: &DraftTest,
) -> Option<(&'a ObservedFunction, &'a Case)> {
    let one = functions.get(test.function)?;
    Some((one, one.cases.get(test.case)?))
}

/// Whether the result of a call is awaited.
fn is_awaited(case: &Case) -> bool {
    matches!(
        case.expected_outcome(),
        CallOutcome::Value { way: ResultKind::Await, .. }
            | CallOutcome::Raised { way: ResultKind::Await, .. }
    )
}

/// The error message as a literal, if a test compares it.
fn compared_message(message: &str, is_stable: bool) -> Option<String> {
    let compares = is_stable && !message.is_empty() && message.len() <= MESSAGE;
    compares.then(|| serde_json::Value::from(message).to_string())
}

/// Whether a float has so many digits that the last may differ between machines.
fn is_long_float(literal: &str) -> bool {
    literal.parse::<f64>().is_ok()
        && literal.contains(['.', 'e'])
        && literal.chars().filter(char::is_ascii_digit).count() > 12
}

fn upper_first(name: &str) -> String {
    let (first, rest) = name.split_at_checked(1).unwrap_or((name, ""));
    format!("{}{rest}", first.to_uppercase())
}

fn lower_first(name: &str) -> String {
    let (first, rest) = name.split_at_checked(1).unwrap_or((name, ""));
    format!("{}{rest}", first.to_lowercase())
}

/// Names that a test file uses itself, beside those of [`RESERVED`].
const OWN_NAMES: &[&str] = &["assert", "expect", "self", "test"];

/// Built-in names of Python that classes have too, in small letters.
const BUILT_IN: &[&str] = &[
    "bool", "bytes", "complex", "dict", "filter", "format", "hash", "input", "iter", "map",
    "object", "print", "property", "range", "slice", "tuple", "type", "zip",
];

/// The lines that make a call's object with earlier calls, and what is called then.
fn setup_lines(naming: &Naming, function: &ObservedFunction, case: &Case) -> (Vec<String>, String) {
    let call = &case.call;
    let Some((object, method)) = call.callee.rsplit_once('.').filter(|_| !call.setup.is_empty())
    else {
        return (Vec::new(), call.callee.clone());
    };
    let name = object_name(naming, function, case);
    let declared = if naming.style.is_legacy { "var " } else { "const " };
    let (declared, end) = if naming.framework.is_python() { ("", "") } else { (declared, ";") };
    let mut lines = vec![format!("{declared}{name} = {object}{end}")];
    let is_request = function.callable.entry.is_some() && !naming.framework.is_python();
    let wait = if is_request { "await " } else { "" };
    lines.extend(
        call.setup.iter().map(|before| format!("{wait}{}{end}", write_step(&name, before))),
    );
    (lines, format!("{name}.{method}"))
}

/// The name of a variable for the object: that of its class in the language's manner, where it is free.
fn object_name(naming: &Naming, function: &ObservedFunction, case: &Case) -> String {
    let is_python = naming.framework.is_python();
    let name = if function.callable.entry.is_some() {
        "client".to_owned()
    } else if is_python {
        test_name::snake_case(&function.local).to_ascii_lowercase()
    } else {
        lower_first(&function.local)
    };
    let word = name.as_str();
    let is_taken = case.seen.needs.iter().any(|need| need.split('.').next() == Some(word))
        || function.callable.parameters.iter().any(|one| one.name == word)
        || python::expressions_of(case).any(|text| python::calls_name(text, word))
        || naming.subject.split('.').next() == Some(word)
        || [OWN_NAMES, RESERVED, BUILT_IN].iter().any(|words| words.contains(&word));
    let (language, declared) = if is_python {
        (Language::Python, format!("{name} = 1\n"))
    } else {
        (Language::JavaScript, format!("const {name} = 1;\n"))
    };
    let is_taken = is_taken || syntax::first_error(language, &declared).is_some();
    if is_taken || name == function.local || name.contains("__") { "subject".into() } else { name }
}

/// Arguments of a call, with names for those that it modifies, and the values of these names.
fn arguments(function: &ObservedFunction, case: &Case) -> (Vec<String>, Vec<(String, String)>) {
    let mut named = Vec::new();
    let mut given = case.call.arguments.clone();
    let place_of = |text: &String| text.strip_prefix(SAME)?.strip_suffix(']')?.parse().ok();
    let changed: Vec<usize> = case.seen.after.iter().map(|(index, _)| *index).collect();
    let same = given.iter().filter_map(place_of).filter(|one| !changed.contains(one));
    let same: BTreeSet<usize> = same.collect();
    for index in changed.iter().chain(&same) {
        let Some(place) = given.get_mut(*index) else { continue };
        let (keyword, value) = split_name(place);
        let parameter = function.callable.parameters.get(*index).filter(|one| !one.rest);
        let plain = keyword.or(parameter.map(|one| one.name.as_str())).filter(|name| {
            name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && *name != function.local
        });
        let name = plain.map_or_else(|| format!("argument_{index}"), str::to_owned);
        let given = keyword.map_or_else(|| name.clone(), |keyword| format!("{keyword}={name}"));
        named.push((name, value.to_owned()));
        *place = given;
    }
    let names = given.clone();
    for text in given.iter_mut().chain(named.iter_mut().map(|(_, value)| value)) {
        if let Some(name) = place_of(text).and_then(|place: usize| names.get(place)) {
            text.clone_from(name);
        }
    }
    (given, named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_repetitions_are_written_as_products() {
        let (many, pairs) = ("x".repeat(1000), "ab".repeat(40));
        let table = [
            (Language::Python, format!("assert f(3) == \"{many}\""), "assert f(3) == 'x' * 1000"),
            (Language::JavaScript, format!("f([\"{pairs}\"]);"), "f(['ab'.repeat(40)]);"),
            (Language::Python, format!("assert f(b\"{many}\")"), "assert f(b'x' * 1000)"),
            (Language::Python, "f(\"xxxx\", b\"a\")".to_owned(), "f('xxxx', b'a')"),
            (Language::Python, "f(\"\"\"one\ntwo\"\"\")".to_owned(), "f(\"\"\"one\ntwo\"\"\")"),
        ];
        for (language, text, expected) in table {
            assert_eq!(with_quotes(&text, language, '\''), expected);
        }
        let called = format!("\"{many}\".upper()");
        assert_eq!(with_quotes(&called, Language::Python, '"'), called);
    }
}
