//! Renders cases as test files in the project's own framework.

mod python;
mod script;

use std::collections::BTreeMap;

use crate::domain::framework::Framework;
use crate::effect::{CallOutcome, ResultKind};

use super::{Case, ObservedFunction};

/// Maximum number of cases in one test.
const TOGETHER: usize = 8;

/// Longest error message, in bytes, that a test compares.
const MESSAGE: usize = 200;

/// Names that a generated Python test file uses itself.
const RESERVED: &[&str] =
    &["pytest", "unittest", "math", "asyncio", "list", "str", "float", "set", "frozenset", "int"];

/// Whether characterisation tests can be written for a framework.
pub fn can_render(framework: Framework) -> bool {
    match framework {
        Framework::Pytest
        | Framework::Unittest
        | Framework::NodeTest
        | Framework::Jest
        | Framework::Vitest => true,
        Framework::Mocha
        | Framework::Ava
        | Framework::NodeTap
        | Framework::Tape
        | Framework::CargoTest
        | Framework::Nextest
        | Framework::GoTest
        | Framework::Maven
        | Framework::Gradle
        | Framework::Rspec
        | Framework::Minitest
        | Framework::Phpunit
        | Framework::Ctest
        | Framework::Jasmine
        | Framework::Dotnet
        | Framework::Bazel
        | Framework::Command => false,
    }
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
    /// Path of the file under test, for the comment at the top.
    pub file: String,
    /// JavaScript: module system of the file under test.
    pub source: ModuleKind,
    /// JavaScript: module system of the test file.
    pub test: ModuleKind,
    /// Whether the test file is written in TypeScript.
    pub typed: bool,
}

/// How many cases go into one test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// One case, so that each can be judged.
    Single,
    /// Several cases of one function.
    Grouped,
}

/// A test of a draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DraftTest {
    pub name: String,
    pub function: usize,
    pub cases: Vec<usize>,
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

/// Kind of a case, which determines the name of its test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    Returns,
    Changes,
    Rejects,
}

fn group(case: &Case) -> Group {
    match case.seen.outcome {
        CallOutcome::Raised { .. } => Group::Rejects,
        _ if !case.seen.after.is_empty() => Group::Changes,
        _ => Group::Returns,
    }
}

/// Renders a test file. With `reversed` the tests are in reverse order, to detect tests that depend
/// on one another.
pub fn render(
    naming: &Naming,
    functions: &[ObservedFunction],
    split: Split,
    reversed: bool,
) -> Draft {
    let mut draft = Draft::default();
    for (function, one) in functions.iter().enumerate() {
        let mut groups: BTreeMap<Group, Vec<usize>> = BTreeMap::new();
        for (index, case) in one.cases.iter().enumerate() {
            match refusal(naming, functions, case) {
                Some(reason) => draft.left_out.push((function, index, reason)),
                None => groups.entry(group(case)).or_default().push(index),
            }
        }
        for (kind, cases) in groups {
            let size = if split == Split::Single { 1 } else { TOGETHER };
            let several = cases.len() > size || split == Split::Single;
            for (part, chunk) in cases.chunks(size).enumerate() {
                let number = match split {
                    Split::Single => chunk.first().copied().unwrap_or_default() + 1,
                    Split::Grouped => part + 1,
                };
                let name = name(naming.framework, one, kind, several.then_some(number));
                draft.tests.push(DraftTest { name, function, cases: chunk.to_vec() });
            }
        }
    }
    if reversed {
        draft.tests.reverse();
    }
    if draft.tests.is_empty() {
        return draft;
    }
    draft.text = if naming.framework.is_python() {
        python::file(naming, functions, &draft)
    } else {
        script::file(naming, functions, &draft)
    };
    draft
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

fn name(
    framework: Framework,
    function: &ObservedFunction,
    kind: Group,
    number: Option<usize>,
) -> String {
    let own = &function.callable.name;
    if framework.is_python() {
        let slug: String = own
            .chars()
            .map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '_' })
            .collect();
        let words = match kind {
            Group::Returns => "returns_the_same_as_today",
            Group::Changes => "changes_its_arguments_as_today",
            Group::Rejects => "rejects_the_same_as_today",
        };
        let number = number.map_or_else(String::new, |number| format!("_{number}"));
        return format!("test_{slug}_{words}{number}");
    }
    let own = if own == "default" { &function.local } else { own };
    let words = match kind {
        Group::Returns => "returns the same as today",
        Group::Changes => "changes its arguments as today",
        Group::Rejects => "rejects the same as today",
    };
    let number = number.map_or_else(String::new, |number| format!(" ({number})"));
    format!("{own} {words}{number}")
}

/// The cases of a test, each with its function.
fn cases<'a>(
    functions: &'a [ObservedFunction],
    test: &DraftTest,
) -> Vec<(&'a ObservedFunction, &'a Case)> {
    let Some(one) = functions.get(test.function) else { return Vec::new() };
    test.cases.iter().filter_map(|index| Some((one, one.cases.get(*index)?))).collect()
}

/// Whether the result of a call is awaited.
fn is_awaited(case: &Case) -> bool {
    matches!(
        case.seen.outcome,
        CallOutcome::Value { way: ResultKind::Await, .. }
            | CallOutcome::Raised { way: ResultKind::Await, .. }
    )
}

/// The error message as a literal, if a test compares it.
fn compared_message(message: &str, is_stable: bool) -> Option<String> {
    let compares = is_stable && !message.is_empty() && message.len() <= MESSAGE;
    compares.then(|| serde_json::Value::from(message).to_string())
}

/// Arguments of a call, with names for those that it modifies, and the values of these names.
fn arguments(function: &ObservedFunction, case: &Case) -> (Vec<String>, Vec<(String, String)>) {
    let mut named = Vec::new();
    let mut given = case.call.arguments.clone();
    for (index, _) in &case.seen.after {
        let parameter = function.callable.parameters.get(*index).filter(|one| !one.rest);
        let plain = parameter.map(|one| one.name.as_str()).filter(|name| {
            name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && *name != function.local
        });
        let name = plain.map_or_else(|| format!("argument_{index}"), str::to_owned);
        if let Some(place) = given.get_mut(*index) {
            named.push((name.clone(), std::mem::replace(place, name)));
        }
    }
    (given, named)
}
