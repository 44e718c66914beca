//! Renders cases as a JavaScript or TypeScript test file for `node --test`, Mocha, AVA, Jest or Vitest.

use std::collections::BTreeSet;

use crate::code::language::Language;
use crate::domain::framework::Framework;
use crate::effect::{CallOutcome, ResultKind};

use super::super::parameter_fit::accepts_value;
use super::line_breaks::{BreakStyle, Layout, break_line};
use super::{
    Case, Draft, ModuleKind, Naming, ObservedFunction, arguments, case_of, compared_message,
    is_awaited, setup_lines, with_quotes,
};

/// How the tests of a framework assert.
#[derive(Clone, Copy, PartialEq)]
enum Assertions {
    /// `assert.equal(…)` of Node.js.
    Assert,
    /// `t.is(…)` of AVA, on the argument of the test.
    Ava,
    /// `expect(…).toBe(…)`.
    Expect,
}

impl Assertions {
    fn of(framework: Framework) -> Self {
        match framework {
            Framework::NodeTest | Framework::Mocha => Self::Assert,
            Framework::Ava => Self::Ava,
            _ => Self::Expect,
        }
    }

    /// An assertion that a value equals a literal.
    fn equal(self, value: &str, literal: &str) -> String {
        let plain = !literal.starts_with(['[', '{', 'n', 'O', 'B', '/']) || literal == "null";
        match (self, plain) {
            (Self::Assert, true) => format!("assert.equal({value}, {literal});"),
            (Self::Assert, false) => format!("assert.deepEqual({value}, {literal});"),
            (Self::Ava, true) => format!("t.is({value}, {literal});"),
            (Self::Ava, false) => format!("t.deepEqual({value}, {literal});"),
            (Self::Expect, true) => format!("expect({value}).toBe({literal});"),
            (Self::Expect, false) => format!("expect({value}).toStrictEqual({literal});"),
        }
    }

    /// An assertion that a call throws, or rejects, with a class and as far as known with a message.
    fn throws(self, call: &str, rejects: bool, class: &str, says: Option<&str>) -> String {
        let detail = says.map_or_else(String::new, |says| format!(", message: {says}"));
        let expected = format!("{{ name: '{class}'{detail} }}");
        let says = says.unwrap_or_default();
        match (self, rejects) {
            (Self::Assert, false) => format!("assert.throws(() => {call}, {expected});"),
            (Self::Assert, true) => format!("await assert.rejects({call}, {expected});"),
            (Self::Ava, false) => format!("t.throws(() => {call}, {expected});"),
            (Self::Ava, true) => format!("await t.throwsAsync({call}, {expected});"),
            (Self::Expect, false) => format!("expect(() => {call}).toThrow({says});"),
            (Self::Expect, true) => format!("await expect({call}).rejects.toThrow({says});"),
        }
    }
}

/// What a test file imports from its framework and for its assertions.
fn tools(framework: Framework, module: bool) -> &'static str {
    match (framework, module) {
        (Framework::NodeTest, true) => {
            "import assert from 'node:assert/strict';\nimport test from 'node:test';\n\n"
        }
        (Framework::NodeTest, false) => {
            "const assert = require('node:assert/strict');\nconst test = require('node:test');\n\n"
        }
        (Framework::Mocha, true) => "import assert from 'node:assert/strict';\n\n",
        (Framework::Mocha, false) => "const assert = require('node:assert/strict');\n\n",
        (Framework::Ava, true) => "import test from 'ava';\n\n",
        (Framework::Ava, false) => "const test = require('ava');\n\n",
        (Framework::Vitest, _) => "import { expect, test } from 'vitest';\n\n",
        _ => "",
    }
}

/// The complete text of a test file.
pub fn write_file(naming: &Naming, functions: &[ObservedFunction], draft: &Draft) -> String {
    let used: Vec<(&ObservedFunction, &Case)> =
        draft.tests.iter().filter_map(|test| case_of(functions, test)).collect();
    // Arguments of unknown types may not be allowed.
    let is_unchecked = naming.typed && used.iter().any(|(one, case)| !has_known_types(one, case));
    let mut text = if is_unchecked { "// @ts-nocheck\n".to_owned() } else { String::new() };
    let module = naming.test == ModuleKind::Module;
    if naming.style.declares_globals {
        let describe = if is_grouped(naming) { "describe, " } else { "" };
        match naming.framework {
            Framework::Mocha => text.push_str(&format!("/* global {describe}it */\n\n")),
            Framework::Jest => text.push_str(&format!("/* global {describe}expect, test */\n\n")),
            _ => {}
        }
    }
    text.push_str(tools(naming.framework, module));
    let (function, context) = match naming.framework {
        Framework::Mocha => ("it", "()"),
        Framework::Ava => ("test", "t"),
        _ => ("test", "()"),
    };
    let pairs: BTreeSet<(&str, &str)> = used
        .iter()
        .filter_map(|(one, _)| Some((one.local.as_str(), one.callable.export.as_deref()?)))
        .collect();
    text.push_str(&imports(naming, &pairs));
    let (mut body, indent) = (String::new(), if is_grouped(naming) { "  " } else { "" });
    let layout = Layout { width: 100, step: "  ", style: BreakStyle::Prettier };
    for test in &draft.tests {
        let Some((one, case)) = case_of(functions, test) else { continue };
        let name = title(&test.name);
        let waits = if is_awaited(case) { "async " } else { "" };
        body.push_str(&format!("\n{indent}{function}({name}, {waits}{context} => {{\n"));
        for line in lines(one, case, naming) {
            body.push_str(&break_line(&line, indent.len() / 2 + 1, layout));
        }
        body.push_str(&format!("{indent}}});\n"));
    }
    if is_grouped(naming) {
        let path = naming.subject.rsplit('/').next().unwrap_or_default();
        let stem = title(path.split('.').next().unwrap_or(path));
        text.push_str(&format!(
            "\ndescribe({stem}, () => {{\n{}}});\n",
            body.trim_start_matches('\n')
        ));
    } else {
        text.push_str(&body);
    }
    let language = if naming.typed { Language::TypeScript } else { Language::JavaScript };
    let text = with_quotes(&text, language, naming.quote);
    if naming.style.semicolons {
        return text;
    }
    let lines = text.lines().map(|line| line.strip_suffix(';').unwrap_or(line));
    lines.map(|line| format!("{line}\n")).collect()
}

/// Whether the tests are grouped by `describe`, which some frameworks have without an import.
fn is_grouped(naming: &Naming) -> bool {
    naming.style.grouped && matches!(naming.framework, Framework::Mocha | Framework::Jest)
}

/// A title as a literal.
fn title(words: &str) -> String {
    let quote = if words.contains('\'') && !words.contains('"') { '"' } else { '\'' };
    format!(
        "{quote}{}{quote}",
        words.replace('\\', "\\\\").replace('\'', if quote == '"' { "'" } else { "\\'" })
    )
}

/// Whether the types of all that a call gives are known.
fn has_known_types(one: &ObservedFunction, case: &Case) -> bool {
    let parameters = &one.callable.parameters;
    let made = one.callable.class.iter().flat_map(|class| &class.parameters);
    let given = parameters.iter().take(case.call.arguments.len());
    given.chain(made).all(|one| one.declared.is_some())
}

/// Import statements for the functions under test.
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

/// A call, or the property that is read.
fn written_call(
    (naming, one): (&Naming, &ObservedFunction),
    case: &Case,
    callee: String,
    given: Vec<String>,
) -> String {
    if one.callable.is_property {
        return callee;
    }
    let parameters = &one.callable.parameters;
    let given = given.into_iter().enumerate().map(|(index, argument)| {
        let parameter = parameters.get(index).or(parameters.last());
        let value = case.call.arguments.get(index).map_or("", String::as_str);
        // Whatever the type, the compiler of TypeScript lets this pass.
        if !naming.typed || parameter.is_none_or(|one| accepts_value(one, value)) {
            argument
        } else {
            format!("{argument} as never")
        }
    });
    format!("{callee}({})", given.collect::<Vec<_>>().join(", "))
}

/// The lines of code of one case.
fn lines(one: &ObservedFunction, case: &Case, naming: &Naming) -> Vec<String> {
    let (given, named) = arguments(one, case);
    let mut lines: Vec<String> =
        named.iter().map(|(name, value)| format!("const {name} = {value};")).collect();
    let (setup, callee) = setup_lines(naming, one, case);
    lines.extend(setup);
    let call = written_call((naming, one), case, callee, given);
    let assertions = Assertions::of(naming.framework);
    let equal = |value: &str, literal: &str| assertions.equal(value, literal);
    match case.expected_outcome() {
        CallOutcome::Value { literal, way } => lines.push(match way {
            ResultKind::Await => equal(&format!("await {call}"), literal),
            ResultKind::List | ResultKind::FirstItems | ResultKind::Lists => {
                equal(&format!("[...{call}]"), literal)
            }
            ResultKind::Text => equal(&format!("String({call})"), literal),
            ResultKind::Attributes => equal(&format!("{{ ...{call} }}"), literal),
            // JavaScript has no context managers.
            ResultKind::Entered
            | ResultKind::EnteredAttributes
            | ResultKind::Plain
            | ResultKind::Nan
            | ResultKind::None => equal(&call, literal),
        }),
        CallOutcome::Raised { class, message, explicit, way } => {
            let says = compared_message(message, *explicit);
            let made = if *way == ResultKind::List { format!("[...{call}]") } else { call };
            let rejects = *way == ResultKind::Await;
            lines.push(assertions.throws(&made, rejects, class, says.as_deref()));
        }
        CallOutcome::Refused(_) => {}
    }
    let changed = named.iter().zip(&case.seen.after);
    lines.extend(changed.map(|((name, _), (_, after))| equal(name, after)));
    lines
}
