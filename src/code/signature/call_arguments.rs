//! Arguments of existing calls, and calls on their results, with what their variables stand for:
//! assignments before the call, constants of the file, and fixtures of pytest.

use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::Node;

use crate::code::language::Language;
use crate::code::tree::{field_of, first_field, named_children, named_nodes, text_of};

use super::{examples, is_constant, is_literal};

/// Variables within the values of others that are followed.
const DEPTH: usize = 5;

/// Maximum length of an argument in bytes; a reader of the test has to see what it is.
const LENGTH: usize = 240;

/// The arguments of all calls whose callee ends in one of `names` and whose arguments are literals, or
/// made of them by calls, without those of methods that texts, lists and numbers have.
pub fn call_arguments(
    language: Language,
    text: &str,
    names: &BTreeSet<String>,
) -> BTreeMap<String, Vec<Vec<String>>> {
    let mut found: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
    let Some(tree) = language.parse(text) else { return found };
    let values = KnownValues::of_file(language, tree.root_node(), text);
    for node in named_nodes(tree.root_node()) {
        let field = match node.kind() {
            "call" | "call_expression" => "function",
            "new_expression" => "constructor",
            "method_invocation" => "name",
            "object_creation_expression" => "type",
            _ => continue,
        };
        let name = field_of(node, field, text).rsplit(['.', ':']).next().unwrap_or_default();
        let object = node.child_by_field_name(field).and_then(|o| o.child_by_field_name("object"));
        let is_own = names.contains(name) && !object.is_some_and(is_literal);
        if let Some(given) = is_own.then(|| values.write_list(node)).flatten() {
            found.entry(name.to_owned()).or_default().push(given);
        }
    }
    found
}

/// A call on what another call gives: `format(".2f")(3)`, `parse("a").select(doc)`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChainedCall {
    /// The arguments of the first call.
    pub first: Vec<String>,
    /// What is between these and the last arguments: nothing, `.select`, `.sorted().first`.
    pub path: String,
    pub arguments: Vec<String>,
}

/// The calls on results of the functions `names`, by function, which their variables are written out in.
pub fn chained_calls(
    language: Language,
    text: &str,
    names: &BTreeSet<String>,
) -> BTreeMap<String, BTreeSet<ChainedCall>> {
    let mut found: BTreeMap<String, BTreeSet<ChainedCall>> = BTreeMap::new();
    let is_read = language == Language::Python || language.is_script();
    let Some(tree) = is_read.then(|| language.parse(text)).flatten() else { return found };
    let values = KnownValues::of_file(language, tree.root_node(), text);
    for node in named_nodes(tree.root_node()).into_iter().filter(|one| is_call(*one)) {
        let Some(callee) = node.child_by_field_name("function") else { continue };
        let Some((name, first, path)) = values.find_first_call(callee, names, DEPTH) else {
            continue;
        };
        if let Some(arguments) = values.write_list(node) {
            let call = ChainedCall { first, path, arguments };
            found.entry(name.to_owned()).or_default().insert(call);
        }
    }
    found
}

/// Whether a node is a call of Python or of a script.
fn is_call(node: Node<'_>) -> bool {
    matches!(node.kind(), "call" | "call_expression")
}

/// The values that names of a file have.
struct KnownValues<'t> {
    language: Language,
    root: Node<'t>,
    text: &'t str,
    /// Names that the file imports.
    imported: BTreeSet<&'t str>,
    /// Values by name, each with the function or file that it is set in, in the order of the text.
    assigned: BTreeMap<&'t str, Vec<(usize, Node<'t>)>>,
    /// What the fixtures of pytest give.
    fixtures: BTreeMap<&'t str, Node<'t>>,
}

impl<'t> KnownValues<'t> {
    fn of_file(language: Language, root: Node<'t>, text: &'t str) -> Self {
        let is_import = |one: &Node<'_>| one.kind().starts_with("import");
        let statements = named_nodes(root).into_iter().filter(is_import);
        let names = statements.flat_map(named_nodes);
        let imported = names
            .filter(|one| matches!(one.kind(), "identifier" | "dotted_name"))
            .map(|one| text_of(one, text))
            .collect();
        let mut known = Self {
            language,
            root,
            text,
            imported,
            assigned: BTreeMap::new(),
            fixtures: BTreeMap::new(),
        };
        for node in named_nodes(root) {
            known.note_value(node);
        }
        known
    }

    /// Notes an assignment, or a fixture.
    fn note_value(&mut self, node: Node<'t>) {
        let (left, right) = match node.kind() {
            "assignment" => ("left", "right"),
            "variable_declarator" => ("name", "value"),
            "decorated_definition" if text_of(node, self.text).starts_with("@pytest.fixture") => {
                let function = node.child_by_field_name("definition");
                let name = function.map(|one| field_of(one, "name", self.text));
                let given = named_nodes(node).into_iter().rev();
                let mut given =
                    given.filter(|one| matches!(one.kind(), "return_statement" | "yield"));
                let value = given.next().and_then(|one| one.named_child(0));
                if let (Some(name), Some(value)) = (name, value) {
                    self.fixtures.entry(name).or_insert(value);
                }
                return;
            }
            _ => return,
        };
        let is_scope = |one: &Node<'_>| {
            let kind = one.kind();
            kind.contains("function") || kind == "method_definition" || *one == self.root
        };
        let scope = std::iter::successors(node.parent(), Node::parent).find(is_scope);
        if let (Some(scope), Some(value)) = (scope, node.child_by_field_name(right)) {
            let name = field_of(node, left, self.text);
            self.assigned.entry(name).or_default().push((scope.id(), value));
        }
    }

    /// The call of one of `names` whose result an expression begins with: its name, its arguments, and
    /// what follows.
    fn find_first_call(
        &self,
        node: Node<'t>,
        names: &BTreeSet<String>,
        depth: usize,
    ) -> Option<(&'t str, Vec<String>, String)> {
        let depth = depth.checked_sub(1)?;
        match node.kind() {
            "identifier" => {
                let name = text_of(node, self.text);
                self.find_first_call(self.find_value(node, name)?, names, depth)
            }
            "attribute" | "member_expression" => {
                let member = first_field(node, &["attribute", "property"])?;
                let object = node.child_by_field_name("object")?;
                let (name, first, path) = self.find_first_call(object, names, depth)?;
                Some((name, first, format!("{path}.{}", text_of(member, self.text))))
            }
            "call" | "call_expression" => {
                let callee = node.child_by_field_name("function")?;
                if let Some((name, first, path)) = self.find_first_call(callee, names, depth) {
                    let given = self.write_list(node)?;
                    return Some((name, first, format!("{path}({})", given.join(", "))));
                }
                let name = text_of(callee, self.text).rsplit('.').next().unwrap_or_default();
                let is_first = names.contains(name);
                is_first.then(|| Some((name, self.write_list(node)?, String::new())))?
            }
            _ => None,
        }
    }

    /// The arguments of a call as they could stand in another file.
    fn write_list(&self, call: Node<'t>) -> Option<Vec<String>> {
        let list = call.child_by_field_name("arguments")?;
        named_children(list).into_iter().map(|one| self.write_argument(one)).collect()
    }

    /// An argument as it could stand in another file; `None` where it needs more of this one.
    fn write_argument(&self, node: Node<'t>) -> Option<String> {
        if examples::is_argument(node) || is_constant(node) {
            return Some(text_of(node, self.text).to_owned());
        }
        let is_resolved = self.language == Language::Python || self.language.is_script();
        let written = self.write_value(node, DEPTH).filter(|_| is_resolved)?;
        (written.len() <= LENGTH).then_some(written)
    }

    /// An expression with values in the place of its variables.
    fn write_value(&self, node: Node<'t>, depth: usize) -> Option<String> {
        if is_literal(node) {
            return Some(text_of(node, self.text).to_owned());
        }
        match node.kind() {
            "identifier" => self.write_name(node, depth),
            "attribute" | "member_expression" => {
                let object = node.child_by_field_name("object")?;
                let name = first_field(node, &["attribute", "property"])?;
                let object = match text_of(object, self.text) {
                    known if self.imported.contains(known) => known.to_owned(),
                    _ => self.write_value(object, depth)?,
                };
                Some(format!("{object}.{}", text_of(name, self.text)))
            }
            "call"
            | "call_expression"
            | "new_expression"
            | "list"
            | "tuple"
            | "set"
            | "dictionary"
            | "pair"
            | "array"
            | "object"
            | "unary_operator"
            | "binary_operator"
            | "unary_expression"
            | "binary_expression"
            | "parenthesized_expression"
            | "keyword_argument"
            | "argument_list"
            | "arguments" => self.write_parts(node, depth),
            _ => None,
        }
    }

    /// An expression, part by part.
    fn write_parts(&self, node: Node<'t>, depth: usize) -> Option<String> {
        let mut written = String::new();
        let mut end = node.start_byte();
        let callee = first_field(node, &["function", "constructor"]);
        for part in named_children(node) {
            written.push_str(self.text.get(end..part.start_byte())?);
            end = part.end_byte();
            let is_name = part.kind() == "property_identifier"
                || node.kind() == "keyword_argument"
                    && node.child_by_field_name("name") == Some(part);
            let is_function = callee == Some(part) && part.kind() == "identifier";
            let own = text_of(part, self.text);
            match (is_name, is_function) {
                (true, _) => written.push_str(own),
                (_, true) if self.imported.contains(own) => written.push_str(own),
                (_, true) => return None,
                _ => written.push_str(&self.write_value(part, depth)?),
            }
        }
        written.push_str(self.text.get(end..node.end_byte())?);
        Some(written)
    }

    /// What a name stands for where it is used.
    fn write_name(&self, node: Node<'t>, depth: usize) -> Option<String> {
        let depth = depth.checked_sub(1)?;
        let name = text_of(node, self.text);
        self.write_value(self.find_value(node, name)?, depth)
    }

    /// The expression that a name stands for where it is used.
    fn find_value(&self, node: Node<'t>, name: &str) -> Option<Node<'t>> {
        let mut scope = node;
        while let Some(parent) = scope.parent() {
            scope = parent;
            let is_function = scope.kind().contains("function") || scope.kind().contains("method");
            if !is_function && scope != self.root {
                continue;
            }
            if let Some(value) = self.find_assigned(scope, name, node.start_byte()) {
                return Some(value);
            }
            let parameters = scope.child_by_field_name("parameters");
            let is_parameter = |one: &Node<'_>| text_of(*one, self.text) == name;
            if parameters.is_some_and(|list| named_children(list).iter().any(is_parameter)) {
                return self.fixtures.get(name).copied();
            }
        }
        None
    }

    /// What a name was set to last before a place, in a function or at the top of the file.
    fn find_assigned(&self, scope: Node<'t>, name: &str, before: usize) -> Option<Node<'t>> {
        let all = self.assigned.get(name)?.iter().rev();
        let mut own = all.filter(|(id, value)| *id == scope.id() && value.end_byte() <= before);
        own.next().map(|(_, value)| *value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(language: Language, text: &str, name: &str) -> Vec<String> {
        let found = call_arguments(language, text, &[name.to_owned()].into());
        found.into_values().flatten().map(|given| given.join(", ")).collect()
    }

    #[test]
    fn variables_of_a_call_are_written_as_what_they_stand_for() {
        let python = "\
import pytest
from shop import Token, sign, price_of
KEY = 'key'

@pytest.fixture
def token():
    return sign({'id': 1}, KEY)

def make():
    return 1

def test_check(token, other):
    key = KEY
    check(token, key, ways=[Token.SHORT])
    made = price_of(Token(2), unit=key)
    check(made + 1, 'a')
    check(other)
    check(make())
    later = 1
    for one in [1]:
        check(one)

def test_other():
    check(later)
";
        assert_eq!(
            given(Language::Python, python, "check"),
            [
                "sign({'id': 1}, 'key'), 'key', ways=[Token.SHORT]",
                "price_of(Token(2), unit='key') + 1, 'a'",
            ]
        );
        let script = "\
import { Token, sign } from '../shop';
const key = 'key';
it('checks', () => {
  const token = sign({ id: key }, new Token(2));
  check(token, { key: key, ways: [1] });
  check(unknown);
});
";
        assert_eq!(
            given(Language::JavaScript, script, "check"),
            ["sign({ id: 'key' }, new Token(2)), { key: 'key', ways: [1] }"]
        );
    }

    #[test]
    fn calls_on_results_are_found_with_what_leads_to_them() {
        let python = "\
from shop import parse, Price
DOC = {'a': 1}

def test_select():
    made = parse('a')
    assert made.select(DOC) == 1
    assert parse('b', strict=True).first().text.upper() == 'B'
    assert other('b').select(DOC)
    assert made.select(unknown)
";
        let script = "\
const f = d3.format('.2f');
it('formats', () => {
  assert.equal(f(3), '3.00');
  assert.equal(format('d')(3), '3');
});
";
        let table = [
            (
                Language::Python,
                python,
                "parse",
                [
                    "'a' .select {'a': 1}",
                    "'b', strict=True .first 0",
                    "'b', strict=True .first().text.upper 0",
                ]
                .as_slice(),
            ),
            (Language::JavaScript, script, "format", &["'.2f'  3", "'d'  3"]),
        ];
        for (language, text, name, expected) in table {
            let found = chained_calls(language, text, &[name.to_owned()].into());
            let shown: Vec<String> = found[name]
                .iter()
                .map(|one| {
                    let last = if one.arguments.is_empty() {
                        "0".into()
                    } else {
                        one.arguments.join(", ")
                    };
                    format!("{} {} {last}", one.first.join(", "), one.path)
                })
                .collect();
            assert_eq!(shown, expected);
        }
    }

    #[test]
    fn a_value_that_refers_to_itself_or_is_too_long_is_left_out() {
        let long = format!("x = '{}'\ncheck(x)\n", "a".repeat(LENGTH));
        for text in ["x = [x]\ncheck(x)\n", long.as_str()] {
            assert!(given(Language::Python, text, "check").is_empty(), "{text}");
        }
    }
}
