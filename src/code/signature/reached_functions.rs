//! What a function suggests by the functions of its file that it calls: the regular expressions, the
//! literals and the keys of objects that these use.

use std::collections::BTreeMap;

use tree_sitter::Node;

use super::matching_text::matching_texts;
use super::{Callable, LITERALS_OF_SEVERAL, interleave_columns};
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
    let named =
        constants.iter().filter(|(name, _)| lines.iter().any(|(_, row)| has_word(row, name)));
    let values: Vec<String> = named.filter_map(|(_, value)| write_number(*value)).collect();
    for value in values {
        if callable.literals.len() < LITERALS_OF_SEVERAL && !callable.literals.contains(&value) {
            callable.literals.push(value);
        }
    }
}

/// Gives functions the literals of those that they call, behind their own, and parameters the keys that
/// these read when they are handed on.
pub(super) fn learn_from_helpers(callables: &mut [Callable], text: &str) {
    let known = callables.to_vec();
    let lines: Vec<&str> = text.lines().collect();
    for callable in callables.iter_mut().filter(|one| one.unsupported.is_none()) {
        let start = usize::try_from(callable.start.saturating_sub(1)).unwrap_or_default();
        let end = usize::try_from(callable.end).unwrap_or_default().min(lines.len());
        let own = lines.get(start..end).unwrap_or_default().join("\n");
        for helper in known.iter().filter(|one| one.class.is_none() && one.name != callable.name) {
            let opening = format!("{}(", helper.name);
            let calls = own.match_indices(&opening).filter_map(|(at, found)| {
                let before = own.get(..at)?.chars().next_back();
                let is_whole = before.is_none_or(|c| !c.is_alphanumeric() && !"_$.".contains(c));
                own.get(at + found.len()..)?.split_once(')').filter(|_| is_whole)
            });
            let given: Vec<&str> = calls.map(|(given, _)| given).collect();
            if given.is_empty() {
                continue;
            }
            for (place, taken) in helper.parameters.iter().enumerate() {
                let is_handed = |one: &str| {
                    given.iter().any(|list| list.split(',').nth(place).map(str::trim) == Some(one))
                };
                for parameter in callable.parameters.iter_mut().filter(|one| is_handed(&one.name)) {
                    let is_new = |key: &&String| !parameter.keys.contains(key);
                    let further: Vec<String> = taken.keys.iter().filter(is_new).cloned().collect();
                    parameter.keys.extend(further);
                }
            }
            for literal in &helper.literals {
                let has_room = callable.literals.len() < LITERALS_OF_SEVERAL;
                if has_room && !callable.literals.contains(literal) {
                    callable.literals.push(literal.clone());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::code::language::Language;
    use crate::code::signature::callables;

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
}
