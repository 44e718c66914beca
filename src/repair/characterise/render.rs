//! Cases as test files in the project's own framework.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::framework::Framework;
use crate::effect::{CallOutcome, ResultKind};

use super::{Case, ObservedFunction};

/// Assertions of one test at most.
const TOGETHER: usize = 8;

/// Characters of an error message that a test compares.
const MESSAGE: usize = 200;

/// Names that a Python test file needs for itself.
const TAKEN: &[&str] =
    &["pytest", "unittest", "math", "asyncio", "list", "str", "float", "set", "frozenset", "int"];

/// Whether characterisation tests can be written for a framework.
#[must_use]
pub fn can_render(framework: Framework) -> bool {
    match framework {
        Framework::Pytest
        | Framework::Unittest
        | Framework::NodeTest
        | Framework::Jest
        | Framework::Vitest => true,
        Framework::CargoTest
        | Framework::Nextest
        | Framework::GoTest
        | Framework::Maven
        | Framework::Gradle
        | Framework::Command => false,
    }
}

/// How a JavaScript file takes from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModuleKind {
    /// `import`.
    Module,
    /// `require`.
    Common,
}

/// What a test file is called, and how it reaches its subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Naming {
    /// The framework.
    pub framework: Framework,
    /// Python: dotted name. JavaScript: path from the test file.
    pub subject: String,
    /// The file under test, for people.
    pub file: String,
    /// JavaScript: how the file under test is written.
    pub source: ModuleKind,
    /// JavaScript: how the test file is written.
    pub test: ModuleKind,
    /// Whether the test file is one of TypeScript.
    pub typed: bool,
}

/// How many cases go into a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// One, so that each can be judged.
    Single,
    /// Those of one function together.
    Grouped,
}

/// One test of a draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DraftTest {
    /// Its name inside the file.
    pub name: String,
    /// Index of the function.
    pub function: usize,
    /// Indices of its cases.
    pub cases: Vec<usize>,
}

/// A test file that is proposed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    /// Its text.
    pub text: String,
    /// Its tests, in the order of the text.
    pub tests: Vec<DraftTest>,
    /// Cases that cannot be written: function, case, why.
    pub left_out: Vec<(usize, usize, String)>,
}

/// Which of three kinds a case is, with the words that its test is named by.
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

/// Writes a test file. With `reversed` the tests stand in reverse order, to see whether one needs
/// another.
#[must_use]
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
        python(naming, functions, &draft)
    } else {
        script(naming, functions, &draft)
    };
    draft
}

/// Why a case cannot be written next to the others.
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
    let reserved = subjects().any(|subject| TAKEN.contains(&subject));
    (shadowed || reserved).then(|| "a name that its test needs is taken by a function".to_owned())
}

fn name(
    framework: Framework,
    functions: &ObservedFunction,
    kind: Group,
    number: Option<usize>,
) -> String {
    let own = &functions.callable.name;
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
    let own = if own == "default" { &functions.local } else { own };
    let words = match kind {
        Group::Returns => "returns the same as today",
        Group::Changes => "changes its arguments as today",
        Group::Rejects => "rejects the same as today",
    };
    let number = number.map_or_else(String::new, |number| format!(" ({number})"));
    format!("{own} {words}{number}")
}

/// The case of a test, by index.
fn cases<'a>(
    functions: &'a [ObservedFunction],
    test: &DraftTest,
) -> Vec<(&'a ObservedFunction, &'a Case)> {
    let Some(one) = functions.get(test.function) else { return Vec::new() };
    test.cases.iter().filter_map(|index| Some((one, one.cases.get(*index)?))).collect()
}

/// Whether a float has so many digits that the last may differ between machines.
fn is_long_float(literal: &str) -> bool {
    literal.parse::<f64>().is_ok()
        && literal.contains(['.', 'e'])
        && literal.chars().filter(char::is_ascii_digit).count() > 12
}

/// Arguments by name where the call changes them, and lines that give the names.
fn arguments(functions: &ObservedFunction, case: &Case) -> (Vec<String>, Vec<(String, String)>) {
    let mut named = Vec::new();
    let mut given = case.call.arguments.clone();
    for (index, _) in &case.seen.after {
        let parameter = functions.callable.parameters.get(*index).filter(|one| !one.rest);
        let plain = parameter.map(|one| one.name.as_str()).filter(|name| {
            name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && *name != functions.local
        });
        let name = plain.map_or_else(|| format!("argument_{index}"), str::to_owned);
        if let Some(place) = given.get_mut(*index) {
            named.push((name.clone(), std::mem::replace(place, name)));
        }
    }
    (given, named)
}

fn python(naming: &Naming, functions: &[ObservedFunction], draft: &Draft) -> String {
    let used: Vec<(&ObservedFunction, &Case)> =
        draft.tests.iter().flat_map(|test| cases(functions, test)).collect();
    let mut modules: BTreeSet<String> =
        used.iter().flat_map(|(_, case)| case.seen.needs.clone()).collect();
    let has = |accepts: &dyn Fn(&CallOutcome) -> bool| {
        used.iter().any(|(_, case)| accepts(&case.seen.outcome))
    };
    if has(&|outcome| match outcome {
        CallOutcome::Value { literal, way } => *way == ResultKind::Nan || is_long_float(literal),
        _ => false,
    }) {
        modules.insert("math".into());
    }
    if has(&|outcome| {
        matches!(
            outcome,
            CallOutcome::Value { way: ResultKind::Await, .. }
                | CallOutcome::Raised { way: ResultKind::Await, .. }
        )
    }) {
        modules.insert("asyncio".into());
    }
    let unittest = naming.framework == Framework::Unittest;
    if unittest {
        modules.insert("unittest".into());
    }
    let mut text = format!(
        "\"\"\"What {} does today, found by calling it. Nobody has said that this is right.\n\nWritten by `regreen pin`. When a test here fails, the behaviour has changed: if that was meant, write\nthe new result down, or delete the test.\n\"\"\"\n\n",
        naming.file
    );
    for module in &modules {
        text.push_str(&format!("import {module}\n"));
    }
    if !unittest && has(&|outcome| matches!(outcome, CallOutcome::Raised { .. })) {
        text.push_str(if modules.is_empty() { "import pytest\n" } else { "\nimport pytest\n" });
    }
    let subjects: BTreeSet<&str> = used.iter().map(|(one, _)| one.local.as_str()).collect();
    let subjects: Vec<&str> = subjects.into_iter().collect();
    if !text.ends_with("\"\"\"\n\n") {
        text.push('\n');
    }
    let line = format!("from {} import {}\n", naming.subject, subjects.join(", "));
    if line.len() > 100 {
        text.push_str(&format!(
            "from {} import (\n    {},\n)\n",
            naming.subject,
            subjects.join(",\n    ")
        ));
    } else {
        text.push_str(&line);
    }
    if unittest {
        text.push_str("\n\nclass WhatItDoesToday(unittest.TestCase):\n");
    }
    for (number, test) in draft.tests.iter().enumerate() {
        let (indent, own) = if unittest { ("    ", "self") } else { ("", "") };
        if unittest {
            text.push_str(if number == 0 { "" } else { "\n" });
        } else {
            text.push_str("\n\n");
        }
        text.push_str(&format!("{indent}def {}({own}):\n", test.name));
        for (one, case) in cases(functions, test) {
            for line in python_case(one, case, unittest) {
                text.push_str(&format!("{indent}    {line}\n"));
            }
        }
    }
    if unittest {
        text.push_str("\n\nif __name__ == \"__main__\":\n    unittest.main()\n");
    }
    text
}

fn python_case(functions: &ObservedFunction, case: &Case, unittest: bool) -> Vec<String> {
    let (given, named) = arguments(functions, case);
    let mut lines: Vec<String> =
        named.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let call = format!("{}({})", case.call.callee, given.join(", "));
    let returned = |way: ResultKind| match way {
        ResultKind::Await => format!("asyncio.run({call})"),
        ResultKind::List => format!("list({call})"),
        ResultKind::Plain | ResultKind::Nan | ResultKind::None => call.clone(),
    };
    match &case.seen.outcome {
        CallOutcome::Value { way: ResultKind::Nan, .. } if unittest => {
            lines.push(format!("self.assertTrue(math.isnan({call}))"));
        }
        CallOutcome::Value { way: ResultKind::Nan, .. } => {
            lines.push(format!("assert math.isnan({call})"));
        }
        CallOutcome::Value { literal, way } => {
            let value = returned(*way);
            let single = matches!(literal.as_str(), "None" | "True" | "False");
            lines.push(match (unittest, single, is_long_float(literal)) {
                (true, true, _) => format!("self.assertIs({value}, {literal})"),
                (true, _, true) => {
                    format!("self.assertTrue(math.isclose({value}, {literal}, rel_tol=1e-12))")
                }
                (true, _, _) => format!("self.assertEqual({value}, {literal})"),
                (false, true, _) => format!("assert {value} is {literal}"),
                (false, _, true) => {
                    format!("assert math.isclose({value}, {literal}, rel_tol=1e-12)")
                }
                (false, _, _) => format!("assert {value} == {literal}"),
            });
        }
        CallOutcome::Raised { class, message, explicit, way } => {
            let says = (*explicit
                && !message.is_empty()
                && message.len() <= MESSAGE
                && !message.contains('\n'))
            .then(|| serde_json::Value::from(message.as_str()).to_string());
            let name = if says.is_some() { " as caught" } else { "" };
            let opener = if unittest { "self.assertRaises" } else { "pytest.raises" };
            lines.push(format!("with {opener}({class}){name}:"));
            lines.push(format!("    {}", returned(*way)));
            if let Some(says) = says {
                lines.push(if unittest {
                    format!("self.assertEqual(str(caught.exception), {says})")
                } else {
                    format!("assert str(caught.value) == {says}")
                });
            }
        }
        CallOutcome::Refused(_) => {}
    }
    for ((name, _), (_, after)) in named.iter().zip(&case.seen.after) {
        lines.push(if unittest {
            format!("self.assertEqual({name}, {after})")
        } else {
            format!("assert {name} == {after}")
        });
    }
    lines
}

fn script(naming: &Naming, functions: &[ObservedFunction], draft: &Draft) -> String {
    let used: Vec<(&ObservedFunction, &Case)> =
        draft.tests.iter().flat_map(|test| cases(functions, test)).collect();
    // Calls are made with what types would not allow, too.
    let head = if naming.typed { "// @ts-nocheck\n" } else { "" };
    let mut text = format!(
        "{head}// What {} does today, found by calling it. Nobody has said that this is right.\n//\n// Written by `regreen pin`. When a test here fails, the behaviour has changed: if that was meant,\n// write the new result down, or delete the test.\n",
        naming.file
    );
    let module = naming.test == ModuleKind::Module;
    text.push_str(match (naming.framework, module) {
        (Framework::NodeTest, true) => {
            "import assert from 'node:assert/strict';\nimport test from 'node:test';\n\n"
        }
        (Framework::NodeTest, false) => {
            "const assert = require('node:assert/strict');\nconst test = require('node:test');\n\n"
        }
        (Framework::Vitest, _) => "import { expect, test } from 'vitest';\n\n",
        _ => "\n",
    });
    let pairs: BTreeSet<(&str, &str)> = used
        .iter()
        .filter_map(|(one, _)| Some((one.local.as_str(), one.callable.export.as_deref()?)))
        .collect();
    text.push_str(&imports(naming, &pairs));
    for test in &draft.tests {
        let list = cases(functions, test);
        let waits = list.iter().any(|(_, case)| {
            matches!(
                case.seen.outcome,
                CallOutcome::Value { way: ResultKind::Await, .. }
                    | CallOutcome::Raised { way: ResultKind::Await, .. }
            )
        });
        let name = test.name.replace('\\', "\\\\").replace('\'', "\\'");
        text.push_str(&format!("\ntest('{name}', {}() => {{\n", if waits { "async " } else { "" }));
        let several = list.len() > 1;
        for (one, case) in list {
            let lines = script_case(one, case, naming.framework);
            let braces = several && lines.len() > 1;
            text.push_str(if braces { "  {\n" } else { "" });
            for line in lines {
                text.push_str(&format!("{}{line}\n", if braces { "    " } else { "  " }));
            }
            text.push_str(if braces { "  }\n" } else { "" });
        }
        text.push_str("});\n");
    }
    text
}

/// How the test file takes what it calls.
fn imports(naming: &Naming, pairs: &BTreeSet<(&str, &str)>) -> String {
    let from = &naming.subject;
    let mut named: Vec<String> = Vec::new();
    let mut single = None;
    let import = naming.test == ModuleKind::Module && naming.source == ModuleKind::Module;
    for (local, export) in pairs {
        if *export == "default" {
            single = Some(*local);
        } else if local == export {
            named.push((*local).to_owned());
        } else if import {
            named.push(format!("{export} as {local}"));
        } else {
            named.push(format!("{export}: {local}"));
        }
    }
    let list = named.join(", ");
    if import {
        return match (single, named.is_empty()) {
            (Some(single), true) => format!("import {single} from '{from}';\n"),
            (Some(single), false) => format!("import {single}, {{ {list} }} from '{from}';\n"),
            (None, _) => format!("import {{ {list} }} from '{from}';\n"),
        };
    }
    let mut text = String::new();
    let source = if naming.test == ModuleKind::Module {
        let local = single.unwrap_or("subjects");
        text.push_str(&format!("import {local} from '{from}';\n"));
        local.to_owned()
    } else if let Some(single) = single {
        text.push_str(&format!("const {single} = require('{from}');\n"));
        single.to_owned()
    } else {
        format!("require('{from}')")
    };
    if !named.is_empty() {
        text.push_str(&format!("const {{ {list} }} = {source};\n"));
    }
    text
}

fn script_case(functions: &ObservedFunction, case: &Case, framework: Framework) -> Vec<String> {
    let (given, named) = arguments(functions, case);
    let mut lines: Vec<String> =
        named.iter().map(|(name, value)| format!("const {name} = {value};")).collect();
    let call = format!("{}({})", case.call.callee, given.join(", "));
    let node = framework == Framework::NodeTest;
    let equal = |value: &str, literal: &str| {
        let plain = !literal.starts_with(['[', '{', 'n', 'O', 'B', '/']) || literal == "null";
        match (node, plain) {
            (true, true) => format!("assert.equal({value}, {literal});"),
            (true, false) => format!("assert.deepEqual({value}, {literal});"),
            (false, true) => format!("expect({value}).toBe({literal});"),
            (false, false) => format!("expect({value}).toStrictEqual({literal});"),
        }
    };
    match &case.seen.outcome {
        CallOutcome::Value { literal, way } => lines.push(match way {
            ResultKind::Await => equal(&format!("await {call}"), literal),
            ResultKind::List => equal(&format!("[...{call}]"), literal),
            ResultKind::Plain | ResultKind::Nan | ResultKind::None => equal(&call, literal),
        }),
        CallOutcome::Raised { class, message, explicit, way } => {
            let says = (*explicit && !message.is_empty() && message.len() <= MESSAGE)
                .then(|| serde_json::Value::from(message.as_str()).to_string());
            let made = if *way == ResultKind::List { format!("[...{call}]") } else { call };
            let waits = *way == ResultKind::Await;
            let detail =
                says.as_ref().map_or_else(String::new, |says| format!(", message: {says}"));
            lines.push(match (node, waits) {
                (true, false) => {
                    format!("assert.throws(() => {made}, {{ name: '{class}'{detail} }});")
                }
                (true, true) => {
                    format!("await assert.rejects({made}, {{ name: '{class}'{detail} }});")
                }
                (false, false) => {
                    format!("expect(() => {made}).toThrow({});", says.unwrap_or_default())
                }
                (false, true) => {
                    format!("await expect({made}).rejects.toThrow({});", says.unwrap_or_default())
                }
            });
        }
        CallOutcome::Refused(_) => {}
    }
    for ((name, _), (_, after)) in named.iter().zip(&case.seen.after) {
        lines.push(equal(name, after));
    }
    lines
}
