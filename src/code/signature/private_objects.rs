//! Parameters of a script that are objects of a class of its file that no test can make, for it is not exported.

use regex::Regex;

use super::Callable;
use super::declared_values::DeclaredValues;
use super::script::is_left_out;

/// Gives such parameters nothing at all where their function asks whether there is an object, and else keeps the
/// function out of the tests.
pub fn hold_private_objects(found: &mut [Callable], text: &str) {
    for (class, name, private) in list_private_objects(found, text) {
        let is_own = |one: &&mut Callable| one.class.is_some() && one.subject() == class;
        for callable in found.iter_mut().filter(is_own) {
            let source = source_of(callable, text);
            let mut given = callable.parameters.iter_mut();
            let is_open = given.find(|one| one.name == name && one.declared.is_none());
            let Some(parameter) = is_open else { continue };
            parameter.types.clear();
            parameter.keys.clear();
            let values = vec!["undefined".to_owned()];
            parameter.declared = Some(DeclaredValues { values, ..DeclaredValues::default() });
            if !is_left_out(&source, &name) && callable.unsupported.is_none() {
                callable.unsupported =
                    Some(format!("it takes an object of `{private}`, which no test can make"));
            }
        }
    }
}

/// Exported classes with the names of parameters on which their methods call a method and set an attribute of a
/// private class, and that class.
fn list_private_objects(found: &[Callable], text: &str) -> Vec<(String, String, String)> {
    let mut objects = Vec::new();
    for private in found.iter().filter(|one| one.export.is_none() && is_method(one)) {
        let class = private.subject();
        let own: Vec<&Callable> = found.iter().filter(|one| one.subject() == class).collect();
        let own_text: String = own.iter().map(|one| source_of(one, text)).collect();
        let users = found.iter().filter(|one| one.export.is_some() && one.class.is_some());
        for user in users {
            let source = source_of(user, text);
            for parameter in &user.parameters {
                let key = (user.subject().to_owned(), parameter.name.clone(), class.to_owned());
                let calls = format!("{}.{}(", parameter.name, private.short_name());
                let sets = set_attributes(&source, &parameter.name);
                let is_set = |name: &String| own_text.contains(&format!("this.{name} = "));
                if source.contains(&calls) && sets.iter().any(is_set) && !objects.contains(&key) {
                    objects.push(key);
                }
            }
        }
    }
    objects
}

/// Whether a function is called on objects of a class.
fn is_method(callable: &Callable) -> bool {
    callable.class.as_ref().is_some_and(|class| !class.is_static) && !callable.is_constructor()
}

/// The attributes that code sets on what a name means.
fn set_attributes(source: &str, name: &str) -> Vec<String> {
    let set = Regex::new(&format!(r"\b{}\.(\w+) = ", regex::escape(name)));
    let all = set.iter().flat_map(|set| set.captures_iter(source));
    all.filter_map(|one| Some(one.get(1)?.as_str().to_owned())).collect()
}

fn source_of(callable: &Callable, text: &str) -> String {
    let first = usize::try_from(callable.start.saturating_sub(1)).unwrap_or(usize::MAX);
    let count = usize::try_from(callable.end + 1 - callable.start).unwrap_or_default();
    text.lines().skip(first).take(count).flat_map(|line| [line, "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use crate::code::language::Language;
    use crate::code::signature::callables;

    const LIST: &str = "class Node {\n  constructor(list) { this.list = list }\n  link(next) { this.next = next }\n}\nclass List {\n  get(node) {\n    if (!node || node.list !== this) return null\n    return node.value\n  }\n  add(node) {\n    node.list = this\n    node.link(this.first)\n    return node\n  }\n  push(value) { return this.add(new Node(value)) }\n}\n";

    #[test]
    fn what_takes_an_object_that_no_test_can_make_gets_no_plain_value() {
        let reason = "it takes an object of `Node`, which no test can make";
        let nothing = vec!["undefined".to_owned()];
        let table = [
            ("module.exports = List\n", "List.add", Some(reason), Some(&nothing)),
            ("module.exports = List\n", "List.get", None, Some(&nothing)),
            ("module.exports = List\n", "List.push", None, None),
            ("module.exports = { List, Node }\n", "List.add", None, None),
        ];
        for (end, name, unsupported, values) in table {
            let found = callables(Language::JavaScript, &format!("{LIST}{end}"));
            let one = found.iter().find(|one| one.name == name).unwrap();
            assert_eq!(one.unsupported.as_deref(), unsupported, "{end} {name}");
            let declared = one.parameters[0].declared.as_ref().map(|one| &one.values);
            assert_eq!(declared, values, "{end} {name}");
        }
    }
}
