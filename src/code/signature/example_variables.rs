//! Variables in the examples of one documentation: their values take their places.

use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::Node;

use crate::code::language::Language;
use crate::code::tree::{field_of, first_field, named_children, named_nodes, text_of};
use crate::domain::text::has_word;

use super::is_literal;
use super::special_method_calls::{MethodCall, as_method_call};
use super::standard_modules::{is_of_class, is_of_module, makes_unchanging, name_modules};

/// Functions that every program has and that examples pass to others, in Python and in JavaScript.
const PYTHON_FUNCTIONS: &[&str] = &[
    "abs", "bool", "bytes", "dict", "float", "int", "iter", "len", "list", "max", "min", "range",
    "repr", "reversed", "round", "set", "sorted", "str", "sum", "tuple", "zip",
];
const SCRIPT_FUNCTIONS: &[&str] = &["Boolean", "Number", "String", "Math"];

/// Whether every program has a function of this name.
fn is_built_in(name: &str) -> bool {
    PYTHON_FUNCTIONS.contains(&name) || SCRIPT_FUNCTIONS.contains(&name)
}

/// What makes objects in JavaScript without an import.
const MAKERS: &str = "Array BigInt Buffer.from Date Error Map Object.create Promise.resolve \
    RegExp Set Symbol TypeError URL Uint8Array WeakMap WeakSet";

/// A variable with what it was set to.
struct Variable {
    value: String,
    /// Whether a statement before may have changed what it holds.
    is_touched: bool,
    /// The calls on it so far, as they are written behind it; `None` where it is no object.
    calls: Option<Vec<String>>,
}

/// A statement in documentation.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Statement {
    pub code: String,
    /// What is shown for it.
    pub shown: String,
    /// The calls that came first on the object that it calls.
    pub setup: Vec<String>,
    /// Whether what is shown for it is left out, as a variable may have changed.
    pub is_uncertain: bool,
}

/// Statements with what is shown for each, with values in the place of variables that were set to
/// literals, functions or new objects. Where a variable may have changed since, nothing is shown any more.
pub fn inline_variables(language: Language, statements: Vec<(String, String)>) -> Vec<Statement> {
    let mut known: BTreeMap<String, Variable> = BTreeMap::new();
    let mut found = Vec::new();
    let statements = name_modules(language, statements);
    let changes = module_changes(language, &statements);
    for (at, (mut code, mut shown)) in statements.into_iter().enumerate() {
        if changes.iter().any(|(first, module)| *first < at && has_word(&code, module)) {
            shown.clear();
        }
        let (is_touched, mut result) = (false, None);
        match assignment(language, &code) {
            Some((name, value, kind)) if kind != Kind::Result => {
                let calls = (kind == Kind::Object).then(Vec::new);
                known.insert(name, Variable { value, is_touched, calls });
                continue;
            }
            Some((name, call, _)) => (code, result) = (call, Some(name)),
            None => drop(set_name(language, &code).map(|name| known.remove(&name))),
        }
        let special = special_method_call(language, &code, &known);
        let change = special.as_ref().and_then(|one| one.change.clone());
        let is_reading = special.is_some() && change.is_none();
        code = special.map_or(code, |one| one.code);
        let given = inline_arguments(language, &code, &known).unwrap_or_else(|| code.clone());
        let written = WrittenUse { language, code: &code, change, is_reading };
        let mut statement = Statement { code: given, shown, ..Statement::default() };
        for (name, variable) in known.iter_mut().filter(|(name, _)| has_word(&code, name)) {
            variable.enter_use(name, &written, &mut statement);
        }
        if let Some(name) = result.filter(|_| statement.setup.is_empty()) {
            let (value, calls) = (statement.code.clone(), Some(Vec::new()));
            known.insert(name, Variable { value, is_touched, calls });
        }
        found.push(statement);
    }
    found
}

/// How a statement uses variables.
struct WrittenUse<'a> {
    language: Language,
    /// With the methods that its operators call, and before values take the places of variables.
    code: &'a str,
    /// How it is written what changes its object, where that is no call of a method.
    change: Option<String>,
    /// Whether it leaves its object as it was.
    is_reading: bool,
}

impl Variable {
    /// Enters the value in a statement that uses the variable, and what it does to the variable.
    fn enter_use(&mut self, name: &str, written: &WrittenUse<'_>, statement: &mut Statement) {
        let WrittenUse { language, code, .. } = *written;
        let (open, inner, close) = split_wrapper(&statement.code);
        let member = inner.strip_prefix(&format!("{name}."));
        let member = member.filter(|rest| is_name(rest) || is_call(language, rest));
        let is_new = self.calls.as_ref().is_some_and(Vec::is_empty);
        let (around, whole, end) = split_wrapper(code);
        let is_whole = whole == name;
        let is_changed = member.is_none() && !is_whole && self.calls.is_some() && !is_new;
        if self.is_touched || is_changed {
            statement.is_uncertain |= !statement.shown.is_empty();
            statement.shown.clear();
        }
        let shown = statement.shown.as_str();
        self.is_touched |= match (&mut self.calls, member.map(str::to_owned)) {
            _ if is_new && is_whole => {
                statement.code = format!("{around}{}{end}", self.value);
                false
            }
            (Some(calls), None)
                if is_whole && around.is_empty() && is_shown_object(language, shown) =>
            {
                statement.setup.clone_from(calls);
                statement.code = format!("print({}.__repr__())", self.value);
                false
            }
            (None, _) => self.value.starts_with(['[', '{']),
            (Some(calls), Some(member)) => {
                // A long story that shows nothing is no better than a new object.
                if !self.is_touched || calls.len() <= STORY {
                    statement.setup.clone_from(calls);
                }
                statement.code = format!("{open}{}.{member}{close}", self.value);
                // What raises may have changed a part.
                let raises =
                    ["Traceback", "throws", "Throws"].iter().any(|one| shown.starts_with(one));
                // An iterator is empty once its elements are listed.
                let is_listed = member == "__iter__()";
                let is_kept = raises || written.is_reading || is_name(&member);
                let change = written.change.clone().or(Some(member));
                calls.extend(change.filter(|_| !is_kept));
                raises && !written.is_reading || is_listed || calls.len() > STEPS
            }
            (Some(_), None) => {
                let read = if whole.starts_with("...") { whole } else { code };
                let is_read = read.chars().all(|c| c.is_alphanumeric() || "_.".contains(c));
                !is_read && !written.is_reading
            }
        };
    }
}

/// Whether what a prompt shows of an object is all of it, and the same in every run.
pub fn is_whole_repr(shown: &str) -> bool {
    !["...", "…", " at 0x"].iter().any(|part| shown.contains(part))
}

/// Whether a prompt shows an object.
fn is_shown_object(language: Language, shown: &str) -> bool {
    language == Language::Python && !shown.is_empty() && is_whole_repr(shown)
}

/// What is called to make the object that an expression begins with: `Price.parse` for `Price.parse("2").cents`.
pub fn own_maker(expression: &str) -> &str {
    expression.trim_start_matches("new ").split('(').next().unwrap_or_default()
}

/// What a statement of Python calls of an object by an operator, a function of every program or an item.
fn special_method_call(
    language: Language,
    code: &str,
    known: &BTreeMap<String, Variable>,
) -> Option<MethodCall> {
    let tree = language.parse(code).filter(|_| language == Language::Python)?;
    // What a function or a class method gives is compared as a whole.
    let (open, inner, _) = split_wrapper(code);
    let variable = known.get(inner);
    let is_changed = variable.and_then(|one| one.calls.as_ref()).is_some_and(|one| !one.is_empty());
    let made = variable.map_or(inner, |variable| variable.value.as_str());
    let is_made = made.starts_with(char::is_uppercase) && is_name(own_maker(made));
    if !open.is_empty() && !is_made && !is_changed {
        return None;
    }
    let [statement] = named_children(tree.root_node())
        .try_into()
        .ok()
        .filter(|_| !tree.root_node().has_error())?;
    let is_standard = |one: Node<'_>| {
        let value = known.get(text_of(one, code)).map(|variable| own_maker(&variable.value));
        makes_unchanging(one, code) || value.is_some_and(is_of_module)
    };
    let is_object = |one: Node<'_>| {
        let variable = known.get(text_of(one, code)).filter(|_| one.kind() == "identifier");
        variable.is_some_and(|one| one.calls.is_some())
            || is_construction(one, code)
            || is_call_of_function(one, code) && one.prev_named_sibling().is_some_and(is_standard)
    };
    as_method_call(statement, code, &is_object)
}

/// The statements of a script that call a function of a module for its effect alone, by their places, each
/// with the name of the module: what is shown behind one may hold only because of it.
fn module_changes(language: Language, statements: &[(String, String)]) -> Vec<(usize, String)> {
    if !language.is_script() {
        return Vec::new();
    }
    let mut bare = Vec::new();
    let mut shown_functions = BTreeSet::new();
    for (at, (code, shown)) in statements.iter().enumerate() {
        let (_, inner, _) = split_wrapper(code);
        let Some(tree) = language.parse(inner) else { continue };
        let call = only_expression(tree.root_node()).filter(|one| one.kind() == "call_expression");
        let callee = call.and_then(|one| one.child_by_field_name("function"));
        let object = callee.and_then(|one| one.child_by_field_name("object"));
        let (Some(callee), Some(object)) = (callee, object) else { continue };
        let function = text_of(callee, inner).to_owned();
        if !shown.is_empty() || inner.len() < code.len() {
            shown_functions.insert(function);
        } else if object.kind() == "identifier" && text_of(object, inner) != "console" {
            bare.push((at, text_of(object, inner).to_owned(), function));
        }
    }
    let assigned = statements.iter().filter_map(|(code, _)| Some(assignment(language, code)?.0));
    let variables: BTreeSet<String> = assigned.collect();
    bare.retain(|(_, module, function)| {
        !variables.contains(module) && !shown_functions.contains(function)
    });
    bare.into_iter().map(|(at, module, _)| (at, module)).collect()
}

/// Maximum number of calls that are made on an object before others, and before those that show nothing.
const STEPS: usize = 6;
const STORY: usize = 3;

/// What is printed or listed, between what stands around it.
fn split_wrapper(code: &str) -> (&'static str, &str, &'static str) {
    let inside = ["console.log(", "print(", "pprint(", "list(", "str("]
        .into_iter()
        .find_map(|open| Some((open, code.strip_prefix(open)?.strip_suffix(')')?, ")")));
    inside.unwrap_or(("", code, ""))
}

/// Whether code is a name: of an attribute, behind its object.
fn is_name(code: &str) -> bool {
    code.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Whether code is one call of a plain name with literals, and in Python also with objects that are made of them.
fn is_call(language: Language, code: &str) -> bool {
    let Some(tree) = language.parse(code) else { return false };
    let Some(call) = only_expression(tree.root_node()) else { return false };
    let is_name =
        call.child_by_field_name("function").is_some_and(|one| one.kind() == "identifier");
    let list = call.child_by_field_name("arguments").map(named_children).unwrap_or_default();
    let is_python = language == Language::Python;
    let is_literal = |one: Node<'_>| is_literal(one.child_by_field_name("value").unwrap_or(one));
    is_name && list.iter().all(|one| is_literal(*one) || is_python && is_given_value(*one, code))
}

/// Whether an expression makes an object of a class from literals and such objects: by its constructor or a method
/// of the class.
fn is_construction(node: Node<'_>, code: &str) -> bool {
    let function = first_field(node, &["function", "constructor"]);
    let class = function.map(|one| one.child_by_field_name("object").unwrap_or(one));
    let class = class.filter(|one| one.kind() == "identifier");
    class.is_some_and(|one| text_of(one, code).starts_with(char::is_uppercase))
        && has_literals(node, code)
}

/// Whether an expression calls a function that not every program has, or a class with a name like one, with literals.
fn is_call_of_function(node: Node<'_>, code: &str) -> bool {
    let function = node.child_by_field_name("function").filter(|_| node.kind() == "call");
    let name = function.filter(|one| one.kind() == "identifier").map(|one| text_of(one, code));
    name.is_some_and(|name| !is_built_in(name)) && has_literals(node, code)
}

/// Whether an expression of Python calls a function of a module, as far as its names tell, with such arguments.
fn is_call_in_module(node: Node<'_>, code: &str) -> bool {
    let function = node.child_by_field_name("function").filter(|_| node.kind() == "call");
    let module = function.and_then(|one| one.child_by_field_name("object"));
    module.filter(|one| one.kind() == "identifier").is_some_and(|one| {
        text_of(one, code).starts_with(char::is_lowercase) && has_literals(node, code)
    })
}

/// Whether all arguments of a call are given as literals, as functions of their own, or as objects that are made of
/// these.
fn has_literals(call: Node<'_>, code: &str) -> bool {
    let list = call.child_by_field_name("arguments").map(named_children).unwrap_or_default();
    list.into_iter().all(|one| is_given_value(one, code))
}

/// Whether an argument, with or without its name before it, is a literal, a function of its own or an object.
pub fn is_given_value(node: Node<'_>, code: &str) -> bool {
    let named = node.child_by_field_name("value").filter(|_| node.kind() == "keyword_argument");
    let value = named.unwrap_or(node);
    if matches!(value.kind(), "dictionary" | "list" | "pair" | "set" | "tuple") {
        return named_children(value).into_iter().all(|one| is_given_value(one, code));
    }
    let is_made = makes_unchanging(value, code) && has_literals(value, code);
    is_made
        || is_literal(value)
        || is_closed_function(value, code)
        || is_construction(value, code)
        || is_call_in_module(value, code)
}

/// The expression that code consists of.
fn only_expression(root: Node<'_>) -> Option<Node<'_>> {
    let [statement] = named_children(root).try_into().ok().filter(|_| !root.has_error())?;
    let statement: Node<'_> = statement;
    statement.named_child(0)
}

/// What a variable is set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A literal or a function.
    Plain,
    Object,
    /// What a call returns.
    Result,
}

/// The name of the variable that a statement sets.
fn set_name(language: Language, code: &str) -> Option<String> {
    let tree = language.parse(code)?;
    let inner = only_expression(tree.root_node())
        .filter(|one| matches!(one.kind(), "assignment" | "variable_declarator"))?;
    let name = first_field(inner, &["left", "name"]).filter(|one| one.kind() == "identifier")?;
    Some(text_of(name, code).to_owned())
}

/// The name and the value, if a statement sets a variable to what is the same at every time.
fn assignment(language: Language, code: &str) -> Option<(String, String, Kind)> {
    let tree = language.parse(code)?;
    let inner = only_expression(tree.root_node())?;
    let (name, value) = match inner.kind() {
        "assignment" => (inner.child_by_field_name("left")?, inner.child_by_field_name("right")?),
        "variable_declarator" => {
            (inner.child_by_field_name("name")?, inner.child_by_field_name("value")?)
        }
        _ => return None,
    };
    let made = value.child_by_field_name("function").or(value.child_by_field_name("constructor"));
    let is_class = made.is_some_and(|one| {
        one.kind() == "identifier" && text_of(one, code).starts_with(char::is_uppercase)
    });
    let is_made = value.kind() == "call" && is_construction(value, code);
    let is_module = made.is_some_and(|one| text_of(one, code) == "require");
    let is_new_daily = is_of_class(field_of(value, "function", code));
    let kind = match value.kind() {
        _ if makes_unchanging(value, code) && has_literals(value, code) => Kind::Plain,
        _ if is_module || is_new_daily => return None,
        _ if is_made || is_class && has_literals(value, code) => Kind::Object,
        _ if is_literal(value) || is_closed_function(value, code) => Kind::Plain,
        "call" | "call_expression" => Kind::Result,
        _ => return None,
    };
    (name.kind() == "identifier")
        .then(|| (text_of(name, code).to_owned(), text_of(value, code).to_owned(), kind))
}

/// The code with values for the variables among the arguments of its call, where they still have these.
fn inline_arguments(
    language: Language,
    code: &str,
    known: &BTreeMap<String, Variable>,
) -> Option<String> {
    let tree = language.parse(code)?;
    // In a list it stands for itself too, and in an object as the value of its key.
    let is_argument = |node: &Node<'_>| {
        let mut part = *node;
        while let Some(around) = part.parent() {
            let is_value = around.child_by_field_name("value") == Some(part);
            match around.kind() {
                "argument_list" | "arguments" => return true,
                "list" | "tuple" | "set" | "array" | "dictionary" | "object" => part = around,
                "keyword_argument" | "pair" if is_value => part = around,
                _ => return false,
            }
        }
        false
    };
    let nodes = named_nodes(tree.root_node());
    let mut places: Vec<(usize, usize, &String)> = nodes
        .iter()
        .filter(|node| node.kind() == "identifier" && is_argument(node))
        .filter_map(|node| {
            let variable = known.get(text_of(*node, code))?;
            let is_unused = variable.calls.as_ref().is_none_or(Vec::is_empty);
            is_unused.then_some((node.start_byte(), node.end_byte(), &variable.value))
        })
        .collect();
    places.sort_unstable();
    let mut text = code.to_owned();
    for (start, end, value) in places.into_iter().rev() {
        text.replace_range(start..end, value);
    }
    Some(text)
}

/// Whether an expression is calculated from literals, with operators, built-in functions and methods of
/// literals.
pub fn is_calculation(node: Node<'_>, code: &str) -> bool {
    let parts = || named_children(node).into_iter().all(|one| is_calculation(one, code));
    match node.kind() {
        "keyword_argument" => {
            node.child_by_field_name("value").is_some_and(|value| is_calculation(value, code))
        }
        "call" | "call_expression" | "new_expression" => {
            let function = first_field(node, &["function", "constructor"]);
            let object = function.and_then(|one| one.child_by_field_name("object"));
            let name = function.map_or("", |one| text_of(one, code));
            let list = node.child_by_field_name("arguments").map(named_children);
            let known = if node.kind() == "call" {
                PYTHON_FUNCTIONS.contains(&name)
            } else {
                SCRIPT_FUNCTIONS.contains(&name) || MAKERS.split(' ').any(|one| one == name)
            };
            let is_known = known || makes_unchanging(node, code);
            (is_known || object.is_some_and(|one| is_calculation(one, code)))
                && list.is_some_and(|list| list.iter().all(|one| is_calculation(*one, code)))
        }
        "binary_operator"
        | "binary_expression"
        | "unary_operator"
        | "unary_expression"
        | "parenthesized_expression"
        | "list"
        | "tuple"
        | "array" => parts(),
        _ => is_literal(node),
    }
}

/// Whether an expression is a function that uses nothing but its parameters and what every program
/// has.
pub fn is_closed_function(node: Node<'_>, code: &str) -> bool {
    if node.kind() == "identifier" {
        return is_built_in(text_of(node, code));
    }
    if !matches!(node.kind(), "lambda" | "arrow_function" | "function_expression") {
        return false;
    }
    let parameters =
        node.child_by_field_name("parameters").or_else(|| node.child_by_field_name("parameter"));
    let names: Vec<&str> = parameters
        .iter()
        .flat_map(|one| named_nodes(*one))
        .filter(|one| one.kind() == "identifier")
        .map(|one| text_of(one, code))
        .collect();
    let is_attribute = |one: &Node<'_>| {
        one.parent().is_some_and(|around| around.child_by_field_name("attribute") == Some(*one))
    };
    let mut used = named_nodes(node).into_iter().filter(|one| one.kind() == "identifier");
    used.all(|one| {
        let name = text_of(one, code);
        names.contains(&name) || is_built_in(name) || is_attribute(&one)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Statements, each with what is shown for it.
    type Shown = &'static [(&'static str, &'static str)];

    #[test]
    fn values_take_the_places_of_variables_until_they_may_have_changed() {
        let table: [(Language, Shown, Shown); 16] = [
            (
                Language::Python,
                &[
                    ("p = Price.of('2 EUR')", ""),
                    ("p", "Price(2)"),
                    ("p.amount", "2"),
                    ("p.up(1)", "3"),
                    ("p", "Price(3)"),
                ],
                &[
                    ("Price.of('2 EUR')", "Price(2)"),
                    ("Price.of('2 EUR').amount", "2"),
                    ("Price.of('2 EUR').up(1)", "3"),
                    ("print(Price.of('2 EUR').__repr__())", "Price(3)"),
                ],
            ),
            (
                Language::Python,
                &[("m = Money(2)", ""), ("m / 2", "1"), ("m + Money(3)", "5"), ("m.pay(m)", "0")],
                &[
                    ("Money(2).__truediv__(2)", "1"),
                    ("Money(2).__add__(Money(3))", "5"),
                    ("Money(2).pay(Money(2))", "0"),
                ],
            ),
            (
                Language::Python,
                &[
                    ("bills = {'a': [1, 2]}", ""),
                    ("total(sum, bills)", "3"),
                    ("total(len, bills)", "2"),
                ],
                &[("total(sum, {'a': [1, 2]})", "3"), ("total(len, {'a': [1, 2]})", "")],
            ),
            (
                Language::Python,
                &[("inc = lambda x: x + 1", ""), ("apply(1, f=inc)", "2"), ("apply(2, inc)", "3")],
                &[("apply(1, f=lambda x: x + 1)", "2"), ("apply(2, lambda x: x + 1)", "3")],
            ),
            (
                Language::Python,
                &[("rows = [1]", ""), ("rows.append(2)", ""), ("count(rows)", "2")],
                &[("rows.append(2)", ""), ("count([1])", "")],
            ),
            (
                Language::Python,
                &[("shop = make()", ""), ("f = lambda x: shop", ""), ("count(shop, f)", "2")],
                &[("make()", ""), ("f = lambda x: shop", ""), ("count(make(), f)", "")],
            ),
            (
                Language::Python,
                &[("text = 'a=1'", ""), ("found = ini.read(text)", ""), ("found", "{'a': 1}")],
                &[("ini.read('a=1')", ""), ("ini.read('a=1')", "{'a': 1}")],
            ),
            (
                Language::Python,
                &[("found = read(1)", ""), ("found.pop()", "2"), ("found", "[1]")],
                &[("read(1)", ""), ("read(1).pop()", "2"), ("print(read(1).__repr__())", "[1]")],
            ),
            (
                Language::Python,
                &[
                    ("box = Box([1, 2])", ""),
                    ("len(box)", "2"),
                    ("2 in box", "True"),
                    ("str(box)", "'1, 2'"),
                    ("box == Box([1])", "False"),
                    ("box[0] = 7", ""),
                    ("box[0]", "7"),
                    ("list(box)", "[7, 2]"),
                    ("list(box)", "[]"),
                    ("del box[0]", ""),
                    ("box", "Box(2)"),
                ],
                &[
                    ("Box([1, 2]).__len__()", "2"),
                    ("Box([1, 2]).__contains__(2)", "True"),
                    ("Box([1, 2]).__str__()", "'1, 2'"),
                    ("Box([1, 2]).__eq__(Box([1]))", "False"),
                    ("Box([1, 2]).__setitem__(0, 7)", ""),
                    ("Box([1, 2]).__getitem__(0)", "7"),
                    ("list(Box([1, 2]).__iter__())", "[7, 2]"),
                    ("list(Box([1, 2]).__iter__())", ""),
                    ("Box([1, 2]).__delitem__(0)", ""),
                    ("box", ""),
                ],
            ),
            (
                Language::Python,
                &[
                    ("shop = open_shop(2)", ""),
                    ("print(shop)", "2"),
                    ("shop['a'] = 1", ""),
                    ("shop['a']", "1"),
                ],
                &[
                    ("open_shop(2)", ""),
                    ("print(open_shop(2))", "2"),
                    ("open_shop(2).__setitem__('a', 1)", ""),
                    ("open_shop(2).__getitem__('a')", "1"),
                ],
            ),
            (
                Language::Python,
                &[
                    ("b = Box(limit=Kilo(5))", ""),
                    ("b.put('a', Kilo(2))", ""),
                    ("b.total()", "Kilo(2)"),
                    ("b.pay(to=Till({'a': Kilo(0)}), n=2)", "2"),
                    ("b[box.key(1)] = 2", ""),
                    ("b['b']", "2"),
                    ("k = Kilo(1)", ""),
                    ("Box([k, Kilo(2)], {'a': k}).total()", "3"),
                ],
                &[
                    ("Box(limit=Kilo(5)).put('a', Kilo(2))", ""),
                    ("Box(limit=Kilo(5)).total()", "Kilo(2)"),
                    ("Box(limit=Kilo(5)).pay(to=Till({'a': Kilo(0)}), n=2)", "2"),
                    ("Box(limit=Kilo(5)).__setitem__(box.key(1), 2)", ""),
                    ("Box(limit=Kilo(5)).__getitem__('b')", "2"),
                    ("Box([Kilo(1), Kilo(2)], {'a': Kilo(1)}).total()", "3"),
                ],
            ),
            (
                Language::Python,
                &[
                    ("from datetime import date", ""),
                    ("day = date(2024, 1, 1)", ""),
                    ("fee(day)", "1"),
                    ("day = date.today()", ""),
                    ("fee(day)", "2"),
                ],
                &[
                    ("from datetime import date", ""),
                    ("fee(datetime.date(2024, 1, 1))", "1"),
                    ("day = datetime.date.today()", ""),
                    ("fee(day)", "2"),
                ],
            ),
            (
                Language::JavaScript,
                &[("const list = [1, 2]", ""), ("count(list, (x) => x > 1)", "1")],
                &[("count([1, 2], (x) => x > 1)", "1")],
            ),
            (
                Language::JavaScript,
                &[
                    ("const q = new Queue()", ""),
                    ("q.put('a')", ""),
                    ("console.log(...q)", "'a'"),
                    ("console.log(q.take())", "'a'"),
                ],
                &[
                    ("new Queue().put('a')", ""),
                    ("console.log(...q)", ""),
                    ("console.log(new Queue().take())", "'a'"),
                ],
            ),
            (
                Language::JavaScript,
                &[("var fee = require('fee')", ""), ("fee(1)", "2"), ("fee.half(4)", "2")],
                &[("var fee = require('fee')", ""), ("fee(1)", "2"), ("fee.half(4)", "2")],
            ),
            (
                Language::JavaScript,
                &[("fee.of(1)", "2"), ("fee.of(3)", ""), ("fee.add(1)", ""), ("fee.of(1)", "9")],
                &[("fee.of(1)", "2"), ("fee.of(3)", ""), ("fee.add(1)", ""), ("fee.of(1)", "")],
            ),
        ];
        for (language, statements, expected) in table {
            let owned = |list: &[(&str, &str)]| -> Vec<(String, String)> {
                list.iter().map(|(code, shown)| ((*code).into(), (*shown).into())).collect()
            };
            let found = inline_variables(language, owned(statements)).into_iter();
            let found: Vec<(String, String)> = found.map(|one| (one.code, one.shown)).collect();
            assert_eq!(found, owned(expected));
        }
    }

    #[test]
    fn calls_on_one_object_come_after_those_before_them() {
        let table: [(Language, Shown, &[&str]); 3] = [
            (
                Language::Python,
                &[
                    ("till = Till(5)", ""),
                    ("till.pay(2)", "3"),
                    ("till.log", "[2]"),
                    ("till.pay(by=1)", "2"),
                ],
                &[
                    "Till(5).pay(2) -> 3",
                    "pay(2); Till(5).log -> [2]",
                    "pay(2); Till(5).pay(by=1) -> 2",
                ],
            ),
            (
                Language::Python,
                &[("till = Till(5)", ""), ("empty(till)", ""), ("till.pay(2)", "3")],
                &["empty(Till(5)) -> ", "Till(5).pay(2) -> "],
            ),
            (
                Language::JavaScript,
                &[
                    ("const cart = new Cart()", ""),
                    ("cart.add('a')", ""),
                    ("cart.add(0)", "throws Low"),
                    ("console.log(cart.size())", "1"),
                ],
                &[
                    "new Cart().add('a') -> ",
                    "add('a'); new Cart().add(0) -> throws Low",
                    "add('a'); console.log(new Cart().size()) -> ",
                ],
            ),
        ];
        for (language, statements, expected) in table {
            let owned = statements.iter().map(|(code, shown)| ((*code).into(), (*shown).into()));
            let found = inline_variables(language, owned.collect()).into_iter();
            let listed = found.map(|one| {
                let setup: String = one.setup.iter().map(|call| format!("{call}; ")).collect();
                format!("{setup}{} -> {}", one.code, one.shown)
            });
            assert_eq!(listed.collect::<Vec<_>>(), expected);
        }
    }
}
