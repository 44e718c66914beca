//! Renders cases as a JavaScript or TypeScript test file for `node --test`, Mocha, AVA, Jest or Vitest.

use std::collections::BTreeSet;

use crate::code::language::Language;
use crate::code::signature::{Class, Parameter};
use crate::domain::framework::Framework;
use crate::domain::text::has_word;
use crate::effect::{CallOutcome, ResultKind};

use super::super::parameter_fit::accepts_value;
use super::line_breaks::{BreakStyle, Layout, break_line};
use super::python::{calls_name, dictionary_items, expressions_of};
use super::{
    Case, Draft, ModuleKind, Naming, ObservedFunction, arguments, case_of, compared_message,
    is_awaited, setup_lines, with_quotes,
};

/// How the tests of a framework assert.
#[derive(Clone, Copy, PartialEq)]
enum Assertions {
    /// `assert.equal(…)` of Node.js, or `assert.strictEqual(…)`, by the names of two functions.
    Assert(&'static str, &'static str),
    /// `t.is(…)` of AVA, on the argument of the test.
    Ava,
    /// `expect(…).toBe(…)`.
    Expect,
    /// `expect(…).to.equal(…)` of Chai.
    Chai,
}

impl Assertions {
    fn of(naming: &Naming) -> Self {
        match naming.framework {
            Framework::NodeTest | Framework::Mocha if naming.style.uses_chai => Self::Chai,
            Framework::NodeTest | Framework::Mocha => match naming.style.assert_module {
                Some("assert" | "node:assert") => Self::Assert("strictEqual", "deepStrictEqual"),
                _ => Self::Assert("equal", "deepEqual"),
            },
            Framework::Ava => Self::Ava,
            _ => Self::Expect,
        }
    }

    fn equal(self, value: &str, literal: &str) -> String {
        let plain = !literal.starts_with(['[', '{', 'n', 'O', 'B', '/']) || literal == "null";
        match (self, plain) {
            (Self::Assert(equal, _), true) | (Self::Assert(_, equal), false) => {
                format!("assert.{equal}({value}, {literal});")
            }
            (Self::Chai, true) if literal != "NaN" => {
                format!("expect({value}).to.equal({literal});")
            }
            (Self::Chai, _) => format!("expect({value}).to.deep.equal({literal});"),
            (Self::Ava, true) => format!("t.is({value}, {literal});"),
            (Self::Ava, false) => format!("t.deepEqual({value}, {literal});"),
            (Self::Expect, true) => format!("expect({value}).toBe({literal});"),
            (Self::Expect, false) => format!("expect({value}).toStrictEqual({literal});"),
        }
    }

    /// An assertion that a call throws, or rejects, with a class and as far as known with a message.
    fn throws(self, call: &str, rejects: bool, (class, says): (&str, Option<&str>)) -> String {
        let detail = says.map_or_else(String::new, |says| format!(", message: {says}"));
        let expected = format!("{{ name: '{class}'{detail} }}");
        let says = says.unwrap_or_default();
        match (self, rejects) {
            (Self::Assert(..), false) => format!("assert.throws({call}, {expected});"),
            (Self::Assert(..), true) => format!("await assert.rejects({call}, {expected});"),
            (Self::Ava, false) => format!("t.throws({call}, {expected});"),
            (Self::Ava, true) => format!("await t.throwsAsync({call}, {expected});"),
            (Self::Expect, false) => format!("expect({call}).toThrow({says});"),
            (Self::Expect, true) => format!("await expect({call}).rejects.toThrow({says});"),
            (Self::Chai, false) => format!("expect({call}).to.throw({says});"),
            (Self::Chai, true) => {
                format!("expect(await {call}.catch((error) => error.name)).to.equal('{class}');")
            }
        }
    }
}

/// What a test file imports for its assertions and from its framework.
fn tools(naming: &Naming, describe: &str, function: &str) -> String {
    let assert_module = naming.style.assert_module.unwrap_or("node:assert/strict");
    let library = match Assertions::of(naming) {
        Assertions::Assert(..) => Some(("assert".to_owned(), assert_module)),
        Assertions::Chai => Some(("{ expect }".to_owned(), "chai")),
        Assertions::Ava | Assertions::Expect => None,
    };
    let runner = match naming.framework {
        Framework::NodeTest if describe.is_empty() && function == "test" => {
            Some(("test".to_owned(), "node:test"))
        }
        Framework::NodeTest => Some((format!("{{ {describe}{function} }}"), "node:test")),
        Framework::Ava => Some(("test".to_owned(), "ava")),
        Framework::Vitest => Some((format!("{{ {describe}expect, {function} }}"), "vitest")),
        _ => None,
    };
    let lines = library.iter().chain(&runner).map(|(names, from)| imported(naming, names, from));
    let text: String = lines.map(|line| line + "\n").collect();
    if text.is_empty() { text } else { text + "\n" }
}

fn imported(naming: &Naming, names: &str, module: &str) -> String {
    let member = names.strip_prefix("{ ").and_then(|one| one.strip_suffix(" }"));
    match member {
        _ if naming.test == ModuleKind::Module => format!("import {names} from '{module}';"),
        Some(name) if naming.style.is_legacy => format!("var {name} = require('{module}').{name};"),
        _ if naming.style.is_legacy => format!("var {names} = require('{module}');"),
        _ => format!("const {names} = require('{module}');"),
    }
}

/// The complete text of a test file.
pub fn write_file(naming: &Naming, functions: &[ObservedFunction], draft: &Draft) -> String {
    let used: Vec<(&ObservedFunction, &Case)> =
        draft.tests.iter().filter_map(|test| case_of(functions, test)).collect();
    // What objects of an unknown type are made of may not be allowed.
    let mut made = used.iter().flat_map(|(one, _)| &one.callable.class);
    let is_unknown = |class: &Class| class.parameters.iter().any(|one| one.declared.is_none());
    let is_unchecked = naming.typed && made.any(is_unknown);
    let mut text = if is_unchecked { "// @ts-nocheck\n".to_owned() } else { String::new() };
    let naming = &fitting(naming, &used);
    let (is_grouped, indent) = (naming.style.grouped, naming.style.indent.unwrap_or("  "));
    let group = if naming.style.is_legacy { "function ()" } else { "() =>" };
    let (usual, opened) = match naming.framework {
        Framework::Mocha => ("it", group),
        Framework::Ava => ("test", "t =>"),
        _ => ("test", group),
    };
    let own = naming.style.declared_by.filter(|_| naming.framework != Framework::Ava);
    let function = own.unwrap_or(usual);
    let describe = if is_grouped { "describe, " } else { "" };
    if let (true, Framework::Mocha | Framework::Jest) =
        (naming.style.declares_globals, naming.framework)
    {
        let expect = if naming.framework == Framework::Jest { "expect, " } else { "" };
        text.push_str(&format!("/* global {describe}{expect}{function} */\n\n"));
    }
    text.push_str(&tools(naming, describe, function));
    text.push_str(&called_imports(naming, functions, &used));
    let (mut body, pad) = (String::new(), if is_grouped { indent } else { "" });
    let layout = Layout { width: 100, step: indent, style: BreakStyle::Prettier };
    for test in &draft.tests {
        let Some((one, case)) = case_of(functions, test) else { continue };
        let name = title(&test.name);
        let waits = if is_async(case) { "async " } else { "" };
        body.push_str(&format!("\n{pad}{function}({name}, {waits}{opened} {{\n"));
        for line in lines(one, case, naming) {
            body.push_str(&break_line(&line, 1 + usize::from(is_grouped), layout));
        }
        body.push_str(&format!("{pad}}});\n"));
    }
    if is_grouped {
        let path = naming.subject.rsplit('/').next().unwrap_or_default();
        let stem = title(path.split('.').next().unwrap_or(path));
        let body = body.trim_start_matches('\n');
        text.push_str(&format!("\ndescribe({stem}, {group} {{\n{body}}});\n"));
    } else {
        text.push_str(&body);
    }
    in_style(&text, naming)
}

/// Import statements for what is called, and for what the arguments are made by.
fn called_imports(
    naming: &Naming,
    functions: &[ObservedFunction],
    used: &[(&ObservedFunction, &Case)],
) -> String {
    let written: Vec<&String> = used.iter().flat_map(|(_, case)| expressions_of(case)).collect();
    let is_written = |name: &str| written.iter().any(|text| calls_name(text, name));
    let called = functions.iter().filter(|one| is_written(&one.local));
    let pairs: BTreeSet<(&str, &str)> = used
        .iter()
        .map(|(one, _)| *one)
        .chain(called)
        .filter_map(|one| Some((one.local.as_str(), one.callable.export.as_deref()?)))
        .collect();
    let mut text = imports(naming, &pairs);
    let is_asked = |text: &&&String| text.starts_with("request(");
    let is_used = |name: &str| written.iter().filter(is_asked).any(|text| has_word(text, name));
    for (name, from) in naming.defaults.iter().filter(|(name, _)| is_used(name)) {
        text.push_str(&format!("{}\n", imported(naming, name, from)));
    }
    for (name, from) in naming.imports.iter().filter(|(name, _)| is_written(name) || is_used(name))
    {
        if pairs.iter().all(|(local, _)| local != name) {
            text.push_str(&format!("{}\n", imported(naming, &format!("{{ {name} }}"), from)));
        }
    }
    text
}

/// The naming with old JavaScript only where no call needs a newer one.
fn fitting(naming: &Naming, used: &[(&ObservedFunction, &Case)]) -> Naming {
    let is_modern = |(_, case): &(&ObservedFunction, &Case)| {
        let is_spread = matches!(
            case.expected_outcome(),
            CallOutcome::Value { way: ResultKind::List | ResultKind::Lists, .. }
                | CallOutcome::Raised { way: ResultKind::List, .. }
        );
        is_spread || is_async(case) || case.call.arguments.iter().any(|given| given.contains("=>"))
    };
    let mut naming = naming.clone();
    // Tests of Mocha are in a group, unless neighbours show that they are not.
    naming.style.grouped |=
        naming.framework == Framework::Mocha && naming.style.declared_by.is_none();
    naming.style.grouped &= naming.framework != Framework::Ava;
    let is_common = naming.test == ModuleKind::Common;
    naming.style.is_legacy &= is_common && !used.iter().any(is_modern);
    naming
}

/// The text with the quotes and the ends of statements of the project.
fn in_style(text: &str, naming: &Naming) -> String {
    let language = if naming.typed { Language::TypeScript } else { Language::JavaScript };
    let text = with_quotes(text, language, naming.style.quote.unwrap_or(naming.quote));
    if !naming.style.omits_semicolons {
        return text;
    }
    let lines = text.lines().map(|line| line.strip_suffix(';').unwrap_or(line));
    lines.map(|line| format!("{line}\n")).collect()
}

/// Whether a test waits: for a promise, or for the answer to a request, whose members are compared.
fn is_async(case: &Case) -> bool {
    let outcome = case.expected_outcome();
    is_awaited(case) || matches!(outcome, CallOutcome::Value { way: ResultKind::Members, .. })
}

fn title(words: &str) -> String {
    let quote = if words.contains('\'') && !words.contains('"') { '"' } else { '\'' };
    format!(
        "{quote}{}{quote}",
        words.replace('\\', "\\\\").replace('\'', if quote == '"' { "'" } else { "\\'" })
    )
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
    if naming.style.is_legacy {
        let line = |(local, export): &(&str, &str)| match *export {
            "default" => format!("var {local} = require('{from}');\n"),
            _ => format!("var {local} = require('{from}').{export};\n"),
        };
        return pairs.iter().map(line).collect();
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
        let is_known = |one: &Parameter| one.declared.is_some() && accepts_value(one, value);
        if !naming.typed || parameter.is_none_or(is_known) {
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
    let is_legacy = naming.style.is_legacy;
    let declared = if is_legacy { "var" } else { "const" };
    let mut lines: Vec<String> =
        named.iter().map(|(name, value)| format!("{declared} {name} = {value};")).collect();
    let (setup, callee) = setup_lines(naming, one, case);
    lines.extend(setup);
    let call = written_call((naming, one), case, callee, given);
    let assertions = Assertions::of(naming);
    let equal = |value: &str, literal: &str| assertions.equal(value, literal);
    match case.expected_outcome() {
        CallOutcome::Value { literal, way: ResultKind::Members } => {
            lines.push(format!("{declared} response = await {call};"));
            let compared = dictionary_items(Language::JavaScript, literal).into_iter();
            lines.extend(compared.map(|(name, value)| equal(&format!("response.{name}"), &value)));
        }
        CallOutcome::Value { literal, way } => lines.push(match way {
            ResultKind::Await => equal(&format!("await {call}"), literal),

            ResultKind::List | ResultKind::FirstItems | ResultKind::Lists => {
                equal(&format!("[...{call}]"), literal)
            }
            ResultKind::Text => equal(&format!("String({call})"), literal),
            ResultKind::Attributes if is_legacy => {
                equal(&format!("Object.assign({{}}, {call})"), literal)
            }
            ResultKind::Attributes => equal(&format!("{{ ...{call} }}"), literal),
            // JavaScript has no context managers, and a test of it compares whole objects.
            ResultKind::Entered
            | ResultKind::Texts
            | ResultKind::Members
            | ResultKind::Printed
            | ResultKind::EnteredAttributes
            | ResultKind::Plain
            | ResultKind::Nan
            | ResultKind::None => equal(&call, literal),
        }),
        CallOutcome::Raised { class, message, explicit, way } => {
            let says = compared_message(message, *explicit);
            let made = if *way == ResultKind::List { format!("[...{call}]") } else { call };
            let rejects = *way == ResultKind::Await;
            let made = match rejects {
                true => made,
                false if is_legacy => format!("function () {{ {made} }}"),
                false => format!("() => {made}"),
            };
            lines.push(assertions.throws(&made, rejects, (class, says.as_deref())));
        }
        CallOutcome::Refused(_) => {}
    }
    let changed = named.iter().zip(&case.seen.after);
    lines.extend(changed.map(|((name, _), (_, after))| equal(name, after)));
    lines
}
