//! What the other side of a boundary tells about the values that its callers should be given: the
//! arguments of existing calls, and the literals that the called functions compare.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::pattern::Pattern;
use crate::code::signature::{Callable, Parameter, Type, type_of_literal};
use crate::domain::integration::exploration::BoundaryCall;
use crate::domain::text::has_word;
use crate::repair::{Case, ObservedFunction, gives_unmeant};

use super::Crossing;

/// Literals of called functions that are added to those of a caller.
const LITERALS: usize = 12;

/// Arguments of existing calls that are taken for one parameter.
const SHOWN: usize = 6;

/// Texts of a called function that objects are made with.
const TEXTS: usize = 3;

/// Arguments of calls, by the name of the function.
type CallExamples = BTreeMap<String, Vec<Vec<String>>>;

/// The names under which calls of the other side are found in the sources.
pub fn callee_names(crossing: &Crossing) -> BTreeSet<String> {
    crossing.calls.iter().map(|call| short_name(&call.callee).to_owned()).collect()
}

/// Teaches callers what the functions behind a boundary take: a parameter that is passed on is given
/// what existing calls give in its place, and literals of the called functions are tried too.
pub fn learn_across(
    callables: &mut [Callable],
    crossing: &Crossing,
    called: &[Callable],
    examples: &CallExamples,
) {
    for callable in callables {
        let name = callable.name.clone();
        let class = callable.class.as_ref().map(|class| format!("{}.", class.name));
        let is_kin = |call: &&BoundaryCall| {
            class.as_ref().is_some_and(|class| call.caller.starts_with(class.as_str()))
        };
        for call in crossing.calls.iter().filter(is_kin) {
            let behind = called.iter().find(|one| one.called_name() == short_name(&call.callee));
            for argument in &call.arguments {
                hold_deep(callable, argument, behind);
            }
        }
        for call in crossing.calls.iter().filter(|call| call.caller == name) {
            let known = examples.get(short_name(&call.callee)).into_iter().flatten();
            for (place, argument) in call.arguments.iter().enumerate() {
                let values = known.clone().filter_map(|given| given.get(place));
                pass_on(callable, argument, values);
                let behind =
                    called.iter().find(|one| one.called_name() == short_name(&call.callee));
                let known = behind.and_then(|one| one.parameters.get(place));
                if let (Some(known), Some(input)) = (known, find_input(callable, argument))
                    && input.types.is_empty()
                {
                    input.types.clone_from(&known.types);
                }
            }
            let behind = called.iter().filter(|one| {
                one.name == call.callee || one.called_name() == short_name(&call.callee)
            });
            let literals: Vec<String> =
                behind.flat_map(|one| one.literals.iter().cloned()).take(LITERALS).collect();
            for literal in literals {
                if !callable.literals.contains(&literal) {
                    callable.literals.push(literal);
                }
            }
        }
    }
}

/// Drops the calls that do not reach the other side of a boundary, and those that other tests make unless there
/// are no others.
pub fn drop_one_sided(functions: &mut [ObservedFunction], crossing: &Crossing) {
    for one in functions.iter_mut() {
        let before = one.cases.len();
        one.cases.retain(|case| {
            let reached = case.seen.reached.as_ref();
            let is_reached =
                reached.is_none_or(|all| all.iter().any(|one| one == crossing.to.as_str()));
            is_reached && crossing.runs_call(&case.seen.lines)
        });
        let dropped = u32::try_from(before - one.cases.len()).unwrap_or(u32::MAX);
        if dropped > 0 {
            one.dropped.push((format!("it does not reach {}", crossing.to), dropped));
        }
    }
    let is_new = |case: &Case| !crossing.taken.contains(&case.call);
    if functions.iter().flat_map(|one| &one.cases).any(is_new) {
        for one in functions {
            one.cases.retain(is_new);
        }
    }
}

/// Drops the calls that give what a function is not meant to be given: what two files then do is no
/// agreement between them.
pub fn drop_unmeant(functions: &mut [ObservedFunction], examples: &CallExamples, is_typed: bool) {
    for one in functions.iter_mut() {
        let before = one.cases.len();
        let callable = &one.callable;
        let shown = examples.get(callable.called_name()).map(Vec::as_slice).unwrap_or_default();
        one.cases.retain(|case| !gives_unmeant(callable, case, shown, is_typed));
        let dropped = u32::try_from(before - one.cases.len()).unwrap_or(u32::MAX);
        if dropped > 0 {
            let reason = "existing calls do not show what it is meant to be given";
            one.dropped.push((reason.to_owned(), dropped));
        }
    }
}

/// Gives these values to the parameter, or the one of the constructor, that is this argument.
fn pass_on<'a>(callable: &mut Callable, argument: &str, values: impl Iterator<Item = &'a String>) {
    let name = argument.rsplit('=').next().unwrap_or(argument).trim();
    let own = name.strip_prefix("self.").or(name.strip_prefix("this."));
    let constructor = callable.class.iter_mut().flat_map(|class| &mut class.parameters);
    let found = match own {
        Some(field) => {
            constructor.into_iter().find(|one| one.name == field.trim_start_matches('_'))
        }
        None if callable.entry.is_some() => find_input(callable, argument),
        None => callable.parameters.iter_mut().find(|one| one.name == name),
    };
    let Some(parameter) = found else { return };
    for value in values.filter(|value| is_literal(value)) {
        if parameter.shown.len() < SHOWN && !parameter.shown.contains(value) {
            parameter.shown.push(value.clone());
        }
    }
}

/// Gives the constructor objects of which a call across the boundary reads a part:
/// `{ headers: { "accept": "*" } }` for `this.request.headers['accept']`.
fn hold_deep(callable: &mut Callable, argument: &str, behind: Option<&Callable>) {
    let Some(read) = DEEP_PART.captures(argument).next() else { return };
    let part = |at: usize| read.get(at).map_or("", |one| one.as_str());
    let constructor = callable.class.iter_mut().flat_map(|class| &mut class.parameters);
    let Some(held) = constructor.into_iter().find(|one| one.name == part(1)) else { return };
    let keys: Vec<&str> =
        part(2).split(['.', '[', ']', '\'', '"']).filter(|one| !one.is_empty()).collect();
    let texts = behind.map(|one| one.literals.as_slice()).unwrap_or_default().iter();
    let texts = texts.filter(|one| type_of_literal(one) == Some(Type::Text)).take(TEXTS).cloned();
    let values: Vec<String> = ["\"a\"".to_owned()].into_iter().chain(texts).collect();
    let wrap = |inner: String, key: &&str| {
        let is_name = key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let key = if is_name { (*key).to_owned() } else { format!("{key:?}") };
        format!("{{ {key}: {inner} }}")
    };
    let objects = values.into_iter().map(|value| keys.iter().rev().fold(value, wrap));
    let outer = keys.split_last().map(|(_, outer)| outer).unwrap_or_default();
    let without = outer.iter().rev().fold("{}".to_owned(), wrap);
    for object in objects.chain([without]) {
        if held.shown.len() < SHOWN && !held.shown.contains(&object) {
            held.shown.push(object);
        }
    }
}

/// A part of a field of JavaScript: the field, and the keys behind it.
static DEEP_PART: Pattern = Pattern::new(r#"^this\.([\w$]+)((?:\.[\w$]+|\[['"][\w-]+['"]\])+)$"#);

/// What a request gives in the place of an argument: `sku` for `given["sku"]` and `req.params.sku`.
fn find_input<'a>(callable: &'a mut Callable, argument: &str) -> Option<&'a mut Parameter> {
    let inputs = callable.entry.iter_mut().flat_map(|entry| &mut entry.inputs);
    let mut given = inputs.map(|one| &mut one.parameter);
    // What is put together of several is none of them.
    let is_whole = !argument.starts_with(['[', '{']);
    given.find(|one| is_whole && has_word(argument, &one.name))
}

/// Whether a value means the same outside of the file where it stands.
fn is_literal(value: &str) -> bool {
    type_of_literal(value).is_some()
}

fn short_name(name: &str) -> &str {
    name.rsplit(['.', ':']).next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::language::Language;
    use crate::code::signature::callables;
    use crate::domain::id::RepoPath;

    #[test]
    fn what_is_read_of_a_field_tells_what_objects_are_made_with() {
        let text = "class Chooser {\n  constructor(request) { this.request = request; }\n  pick() { return choose(this.request.headers['accept']); }\n}\nmodule.exports = Chooser;\n";
        let other = "function choose(accept) { return accept === '*' ? 1 : accept; }\nmodule.exports = choose;\n";
        let mut own = callables(Language::JavaScript, text);
        let called = callables(Language::JavaScript, other);
        let call = |argument: &str| BoundaryCall {
            caller: "Chooser.pick".into(),
            callee: "choose".into(),
            line: 3,
            arguments: vec![argument.to_owned()],
        };
        let crossing = |argument| Crossing {
            calls: vec![call(argument)],
            to: RepoPath::parse("choose.js").unwrap(),
            taken: Vec::new(),
            documented: None,
            avoided: Vec::new(),
        };
        let shown = |own: &[Callable]| -> Vec<String> {
            let pick = own.iter().find(|one| one.name == "Chooser.pick").unwrap();
            pick.class.as_ref().unwrap().parameters[0].shown.clone()
        };
        learn_across(&mut own, &crossing("this.other.a"), &called, &CallExamples::new());
        assert!(shown(&own).is_empty());
        let argument = "this.request.headers['accept']";
        learn_across(&mut own, &crossing(argument), &called, &CallExamples::new());
        assert_eq!(
            shown(&own),
            [r#"{ headers: { accept: "a" } }"#, "{ headers: { accept: '*' } }", "{ headers: {} }",]
        );
    }
}
