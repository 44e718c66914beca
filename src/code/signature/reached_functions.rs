//! What a function suggests by the functions of its file that it calls: the regular expressions, the
//! literals and the keys of objects that these use.

use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::Node;

use super::matching_text::matching_texts;
use super::parameter_types::{item_names, list_of, prefer_type};
use super::{Callable, LITERALS_OF_SEVERAL, Parameter, Type, interleave_columns};
use crate::code::number_constants::write_number;
use crate::code::tree::{FUNCTIONS, end_line, field_of, line, named_nodes, text_of};
use crate::domain::text::has_word;

/// Maximum number of texts made of regular expressions for one function.
const MATCHING: usize = 48;

/// Maximum number of functions that are followed from one.
const FOLLOWED: usize = 32;

/// The regular expressions of a source, with their line and the name of a variable that holds it.
pub(super) fn list_patterns<'a>(root: Node<'_>, text: &'a str) -> Vec<(u32, &'a str, &'a str)> {
    let is_pattern = |node: &Node<'_>| {
        node.kind() == "regex" || field_of(*node, "function", text).starts_with("re.")
    };
    let all = named_nodes(root).into_iter().filter(is_pattern);
    let named = all.map(|node| {
        let holder =
            node.parent().filter(|one| matches!(one.kind(), "variable_declarator" | "assignment"));
        let field = if node.kind() == "regex" { "name" } else { "left" };
        let name = holder.map_or("", |one| field_of(one, field, text));
        (line(node), name, text_of(node, text))
    });
    named.collect()
}

/// The functions of a source that have a name, with their lines.
pub(super) fn named_functions<'a>(root: Node<'_>, text: &'a str) -> Vec<(&'a str, (u32, u32))> {
    let all = named_nodes(root).into_iter().filter(|node| FUNCTIONS.contains(&node.kind()));
    let named = all.map(|node| {
        let own = field_of(node, "name", text);
        let holder = node.parent().filter(|one| one.kind() == "variable_declarator");
        let name = holder.map_or(own, |one| field_of(one, "name", text));
        (name, (line(node), end_line(node)))
    });
    named.filter(|(name, _)| !name.is_empty()).collect()
}

/// The lines of a function and of the functions of its file that it calls.
pub(super) fn reached_lines<'a>(
    callable: &Callable,
    functions: &[(&str, (u32, u32))],
    text: &'a str,
) -> Vec<(u32, &'a str)> {
    let lines: Vec<(u32, &str)> = (1..).zip(text.lines()).collect();
    let mut ranges = vec![(callable.start, callable.end)];
    let mut found = Vec::new();
    let mut next = 0;
    while let Some(&(start, end)) = ranges.get(next) {
        let own = lines.iter().filter(|(number, _)| (start..=end).contains(number));
        for &(number, line) in own {
            found.push((number, line));
            let called = functions.iter().filter(|(name, range)| {
                !ranges.contains(range)
                    && has_word(line, name)
                    && line.contains(&format!("{name}("))
            });
            let called: Vec<(u32, u32)> = called.map(|(_, range)| *range).collect();
            ranges.extend(called.into_iter().take(FOLLOWED.saturating_sub(ranges.len())));
        }
        next += 1;
    }
    found
}

/// Texts that match the regular expressions on lines, and those that they name: the first text of each,
/// then the second of each.
pub(super) fn matching_texts_for(
    lines: &[(u32, &str)],
    patterns: &[(u32, &str, &str)],
) -> Vec<String> {
    let used = patterns.iter().filter(|(place, name, _)| {
        lines
            .iter()
            .any(|(number, line)| number == place || !name.is_empty() && line.contains(name))
    });
    let lists: Vec<Vec<String>> = used.map(|(.., literal)| matching_texts(literal)).collect();
    let mut found = interleave_columns(&lists);
    found.truncate(MATCHING);
    found
}

/// Gives a function the values of the constants that it and those that it calls name, behind its own literals.
pub(super) fn add_constants(
    callable: &mut Callable,
    lines: &[(u32, &str)],
    constants: &BTreeMap<String, f64>,
) {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let rows = lines.iter().flat_map(|(_, row)| row.split(|c| !is_part(c)));
    let words: BTreeSet<&str> = rows.collect();
    let named = constants.iter().filter(|(name, _)| words.contains(name.as_str()));
    let values: Vec<String> = named.filter_map(|(_, value)| write_number(*value)).collect();
    for value in values {
        if callable.literals.len() < LITERALS_OF_SEVERAL && !callable.literals.contains(&value) {
            callable.literals.push(value);
        }
    }
}

/// The arguments of the calls of a function, or of a method of the same object, in some text, as written.
fn given_to<'t>(text: &'t str, helper: &Callable) -> Vec<Vec<&'t str>> {
    let opening = format!("{}(", helper.short_name());
    let is_method = helper.class.is_some();
    let calls = text.match_indices(&opening).filter_map(|(at, found)| {
        let before = text.get(..at)?;
        let is_own = || ["self.", "this.", ")."].iter().any(|one| before.ends_with(one));
        let is_part = |c: char| c.is_alphanumeric() || "_$.".contains(c);
        let is_whole = if is_method { is_own() } else { !before.ends_with(is_part) };
        text.get(at + found.len()..)?.split_once(')').filter(|_| is_whole)
    });
    // What stands in for an argument that is missing does not count.
    let plain = |one: &'t str| one.split("||").next().unwrap_or(one).trim();
    calls.map(|(given, _)| given.split(',').map(plain).collect()).collect()
}

/// Gives parameters the keys that are read from what they are handed on to, and its type, or that of a list
/// whose items are, where nobody states theirs.
fn learn_from_helper(callable: &mut Callable, own: &str, helper: &Callable, given: &[Vec<&str>]) {
    for (place, taken) in helper.parameters.iter().enumerate() {
        let is_handed =
            |name: &String| given.iter().any(|list| list.get(place) == Some(&name.as_str()));
        let kind = taken.types.first().filter(|_| !is_unknown(taken)).copied();
        for parameter in &mut callable.parameters {
            let is_whole = is_handed(&parameter.name);
            let is_new = |key: &&String| is_whole && !parameter.keys.contains(key);
            let keys: Vec<String> = taken.keys.iter().filter(is_new).cloned().collect();
            parameter.keys.extend(keys);
            let of_items = || item_names(own, &parameter.name).iter().any(is_handed);
            let list = || kind.and_then(list_of).filter(|_| of_items());
            let learnt = if is_whole { kind } else { list() };
            if let Some(learnt) = learnt.filter(|_| parameter.is_guessed) {
                learn_type(parameter, learnt);
            }
        }
    }
}

/// Takes a list for one of texts beside another one of texts, where nothing tells of what it is.
fn learn_from_lists(callable: &mut Callable) {
    let texts = Type::List(&Type::Text);
    let is_known = callable.parameters.iter().any(|one| one.types.first() == Some(&texts));
    let open = |one: &&mut Parameter| is_known && one.is_guessed && one.types.contains(&texts);
    callable.parameters.iter_mut().filter(open).for_each(|one| learn_type(one, texts));
}

/// Whether nothing but the name of a parameter suggests what it takes.
fn is_unknown(parameter: &Parameter) -> bool {
    parameter.types.iter().all(|one| *one == Type::Nothing) || parameter.types.contains(&Type::Any)
}

/// Takes a type over where nothing but the name, or only what texts and lists have in common, tells one.
fn learn_type(parameter: &mut Parameter, kind: Type) {
    let is_list = matches!(parameter.types.first(), Some(Type::List(_)));
    if is_unknown(parameter) {
        parameter.types.retain(|one| *one == Type::Nothing);
        prefer_type(&mut parameter.types, Some(kind));
    } else if is_list && parameter.types.contains(&kind) {
        prefer_type(&mut parameter.types, Some(kind));
    }
}

/// How often keys and types are handed on, from a helper of a helper.
const HANDED_ON: usize = 3;

/// Gives functions the literals of those that they call, behind their own, and parameters the types of
/// what they are handed on to, and the keys that this reads.
pub(super) fn learn_from_helpers(callables: &mut [Callable], text: &str) {
    let lines: Vec<&str> = text.lines().collect();
    let body = |one: &Callable| {
        let start = usize::try_from(one.start.saturating_sub(1)).unwrap_or_default();
        let end = usize::try_from(one.end).unwrap_or_default().min(lines.len());
        lines.get(start..end).unwrap_or_default().join("\n")
    };
    let bodies: Vec<String> = callables.iter().map(body).collect();
    let mut calls = Vec::new();
    for (caller, (callable, own)) in callables.iter().zip(&bodies).enumerate() {
        let class = |one: &Callable| one.class.as_ref().map(|class| class.name.clone());
        let is_known =
            |helper: &Callable| helper.class.is_none() || class(helper) == class(callable);
        let is_helper = |one: &Callable| one.name != callable.name && is_known(one);
        for (at, helper) in callables.iter().enumerate().filter(|(_, one)| is_helper(one)) {
            let given = given_to(own, helper);
            calls.extend((!given.is_empty()).then_some((caller, at, own, given)));
        }
    }
    for pass in 0..HANDED_ON {
        let known = callables.to_vec();
        for (caller, helper, own, given) in &calls {
            let (Some(callable), Some(helper)) = (callables.get_mut(*caller), known.get(*helper))
            else {
                continue;
            };
            learn_from_helper(callable, own, helper, given);
            let is_first = pass == 0 && callable.unsupported.is_none() && helper.class.is_none();
            for literal in helper.literals.iter().filter(|_| is_first) {
                let has_room = callable.literals.len() < LITERALS_OF_SEVERAL;
                if has_room && !callable.literals.contains(literal) {
                    callable.literals.push(literal.clone());
                }
            }
        }
    }
    callables.iter_mut().for_each(learn_from_lists);
}

#[cfg(test)]
mod tests {
    use crate::code::language::Language;
    use crate::code::signature::{Type, callables};

    #[test]
    fn helpers_tell_what_a_function_takes() {
        let text = "const WORD = /^(a|b)?$/;\nfunction read(source, settings) {\n  if (!WORD.test(source) || source === 'x') return settings.strict;\n  return settings['limit'] + 1;\n}\nexport function parse(text, given) {\n  return read(text, given) && given.own;\n}\n";
        let all = callables(Language::JavaScript, text);
        let parse = all.iter().find(|one| one.name == "parse").unwrap();
        assert_eq!(parse.parameters[1].keys, ["own", "strict", "limit"]);
        assert_eq!(parse.literals, ["'x'", "'limit'", "1"]);
        assert_eq!(parse.matching, ["\"a\"", "\"b\""]);
        let read = all.iter().find(|one| one.name == "read").unwrap();
        assert_eq!(read.matching, parse.matching);
    }

    #[test]
    fn what_a_parameter_is_handed_on_to_tells_its_type() {
        let text = "function specify(encoding, spec) {\n  return spec.encoding.toLowerCase() === encoding.toLowerCase();\n}\nfunction rank(type, all) {\n  return all.filter((one) => specify(type, one)).length;\n}\nfunction read(accept) {\n  return accept.split(',');\n}\nexport function prefer(accept, provided, preferred) {\n  var all = read(accept || '');\n  return provided.map(function best(type, index) { return rank(type, all) + index; }, preferred.indexOf(all));\n}\nexport function hand(given) {\n  return prefer(given, []);\n}\n";
        let all = callables(Language::JavaScript, text);
        let first = |name: &str| -> Vec<Option<Type>> {
            let one = all.iter().find(|one| one.name == name).unwrap();
            one.parameters.iter().map(|one| one.types.first().copied()).collect()
        };
        let (words, text) = (Some(Type::List(&Type::Text)), Some(Type::Text));
        assert_eq!(first("prefer"), [text, words, words]);
        assert_eq!(first("hand"), [text]);
        assert_eq!(first("rank")[0], text);
    }
}
