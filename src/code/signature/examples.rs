//! Examples in documentation: calls of a function, with the results that are written beside them.

use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::Node;

use crate::code::language::Language;
use crate::code::tree::{field_of, first_field, named_children, named_nodes, text_of};

use super::compiled_examples::{go_examples, rust_examples};
use super::example_statements::{
    RESULT_MARKS, blocks_of_kind, code_blocks, commented_statements, prompt_statements,
    script_statements,
};
use super::example_variables::{inline_variables, is_calculation, is_given_value, own_maker};
use super::parameter_names::typical_value;
use super::parameter_types::type_of_literal;
use super::standard_modules::is_of_module;
use super::{Callable, Class, is_literal};

/// Maximum number of examples kept per function.
pub const EXAMPLES: usize = 60;

/// A call in documentation whose arguments are literals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Example {
    /// Name of the called function, without its module or object.
    pub name: String,
    /// What stands before the name: a module, a variable, or an object made on the spot such as
    /// `Basket(3)`.
    pub receiver: Option<String>,
    pub arguments: Vec<String>,
    /// Calls that come first on the same object, as they are written behind it.
    pub setup: Vec<String>,
    /// Whether it reads an attribute of the object rather than calling a method.
    pub is_read: bool,
    /// Absent if the documentation shows the call only, or what cannot be compared.
    pub result: Option<DocumentedResult>,
    /// What a prompt of Python shows, where that is no literal.
    pub printed: Option<String>,
}

/// What documentation says about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentedResult {
    /// It gives this literal.
    Value(String),
    /// Its result is shown as this text by a function that prints.
    Printed(String),
    /// It raises an exception of this class.
    Raised(String),
}

/// The examples in the documentation of one function, which may call others too.
///
/// Python: prompts of the interpreter. JavaScript and Go: expressions with the result in a comment behind
/// or below them, as in `add(1, 2) // => 3`. Rust: assertions in blocks of code.
pub fn read_examples(language: Language, documentation: &str) -> Vec<Example> {
    let statements = match language {
        Language::Python => {
            let is_result = |text: &str| shown_result(language, text, false).is_some();
            let mut statements = prompt_statements(documentation);
            for script in blocks_of_kind(documentation, "py") {
                statements.extend(script_statements(&script, &is_result));
            }
            statements
        }
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            let is_result = |text: &str| shown_result(language, text, false).is_some();
            commented_statements(language, documentation, &is_result)
        }
        Language::Rust => return rust_examples(&code_blocks(documentation)),
        Language::Go => return go_examples(documentation),
        Language::Java => Vec::new(),
    };
    let statements = inline_variables(language, statements).into_iter();
    let read = statements.filter_map(|one| {
        let example = read_example(language, &one.code, &one.shown)?;
        Some(Example { setup: one.setup, ..example })
    });
    read.collect()
}

/// Enters the examples of a file in the functions that they call, and adds the attributes that they read.
pub fn assign_examples(language: Language, callables: &mut Vec<Callable>, examples: &[Example]) {
    add_attributes(callables, examples);
    let methods: BTreeSet<String> = callables
        .iter()
        .filter(|one| one.class.is_some())
        .map(|one| one.short_name().to_owned())
        .collect();
    let completed = complete_examples(language, examples);
    let examples = completed.as_slice();
    let objects = documented_objects(language, callables, examples);
    let makers = documented_makers(language, callables, examples);
    let of_functions: Vec<&Example> =
        examples.iter().filter(|one| is_of_function(language, callables, one)).collect();
    let classes = callables.iter().filter_map(|one| one.class.clone());
    let classes: BTreeMap<String, Class> =
        classes.filter(|one| !one.is_static).map(|one| (one.name.clone(), one)).collect();
    for callable in callables {
        callable.learn_classes(&objects, &classes);
        callable.learn_objects(&objects);
        callable.learn_makers(&makers);
        let is_constructor = callable.called_name() != callable.short_name();
        let of_name = examples.iter().filter(|one| is_call_of(one, callable, &methods));
        let own: Vec<Example> = of_name
            .filter_map(|one| {
                let receiver = one.receiver.as_deref();
                let has_result = match (&callable.class, receiver) {
                    // What an object looks like in an example is not what a test compares.
                    _ if is_constructor => false,
                    (None, receiver) => receiver.is_none() || !methods.contains(&one.name),
                    (Some(_), None) => return None,
                    (Some(class), Some(receiver)) if class.is_static => {
                        receiver.rsplit('.').next() == Some(class.name.as_str())
                    }
                    (Some(class), Some(receiver)) => {
                        let is_own = makes_object(receiver, class) || of_functions.contains(&one);
                        // An operator may be that of any other class.
                        if !is_own && callable.is_operator() {
                            return None;
                        }
                        is_own
                    }
                };
                // What a variable stands for is not known, but its arguments are good ones.
                let result = one.result.clone().filter(|_| has_result);
                let class = callable.class.as_ref();
                let own = |one: &str| class.map_or(one.into(), |class| own_expression(one, class));
                let printed = one.printed.clone().filter(|_| has_result);
                Some(Example { result, printed, receiver: receiver.map(own), ..one.clone() })
            })
            .collect();
        for one in own {
            if !callable.examples.contains(&one) && callable.examples.len() < EXAMPLES {
                callable.examples.push(one);
            }
        }
    }
}

/// The arguments that examples give to functions, among them classes, by name; without those that call a function
/// which the file does not define, as `date(2024, 2, 29)`: its name may mean nothing there.
fn documented_objects(
    language: Language,
    callables: &[Callable],
    examples: &[Example],
) -> BTreeMap<String, Vec<Vec<String>>> {
    let is_known = |given: &String| {
        let maker = own_maker(given);
        let is_name = maker.starts_with(char::is_lowercase) && !maker.contains([' ', '=']);
        let is_call = language == Language::Python && is_name && maker.len() < given.len();
        !is_call || is_of_module(maker) || callables.iter().any(|one| one.name == maker)
    };
    let made = examples.iter().filter(|one| one.receiver.is_none());
    let made = made.map(|one| (one.name.clone(), one.arguments.clone()));
    let called = examples.iter().filter_map(|one| called_object(language, one));
    let mut objects: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
    for (class, given) in made.chain(called).filter(|(_, given)| given.iter().all(is_known)) {
        let known = objects.entry(class).or_default();
        if !known.contains(&given) {
            known.push(given);
        }
    }
    objects
}

/// Examples with values for the variables among their arguments: those of another example at this place, or what a
/// reader would expect of such a name. Others are left out.
fn complete_examples(language: Language, examples: &[Example]) -> Vec<Example> {
    let is_name = |one: &str| {
        let is_plain = one.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
        let is_variable = is_plain && one.starts_with(char::is_lowercase);
        is_variable && language.is_script() && type_of_literal(one).is_none()
    };
    let value_at = |name: &str, at: usize, variable: &str| {
        let same = examples.iter().filter(|one| one.name == name);
        let mut given = same.filter_map(|one| one.arguments.get(at));
        let given = given.find(|one| !is_name(one)).cloned();
        given.or_else(|| typical_value(variable).map(|(_, value)| value.to_owned()))
    };
    let complete = |one: &Example| {
        let arguments = one.arguments.iter().enumerate();
        let arguments: Option<Vec<String>> =
            arguments
                .map(|(at, given)| {
                    if is_name(given) {
                        value_at(&one.name, at, given)
                    } else {
                        Some(given.clone())
                    }
                })
                .collect();
        Some(Example { arguments: arguments?, ..one.clone() })
    };
    examples.iter().filter_map(complete).collect()
}

/// Whether an example calls or reads this function. Of methods with one name in a compiled language, the number of
/// arguments tells which is called.
fn is_call_of(example: &Example, callable: &Callable, methods: &BTreeSet<String>) -> bool {
    let class = callable.class.as_ref().filter(|class| class.construction.is_some());
    let takes_all = callable.parameters.last().is_some_and(|one| one.rest);
    let is_counted = class.is_some() && !takes_all && !callable.is_constructor();
    // Without a text of its own, an object is shown as a prompt shows it.
    let is_text = example.name == "__str__" && !methods.contains("__str__");
    let name = if is_text { "__repr__" } else { example.name.as_str() };
    name == callable.called_name()
        && example.is_read == callable.is_property
        && (!is_counted || callable.parameters.len() == example.arguments.len())
}

/// The class and the arguments of the object that an example makes to call it.
fn called_object(language: Language, example: &Example) -> Option<(String, Vec<String>)> {
    let code = example.receiver.as_deref()?;
    let tree = language.parse(code).filter(|tree| !tree.root_node().has_error())?;
    let object = tree.root_node().named_child(0)?.named_child(0)?;
    let made = first_field(object, &["function", "constructor"])?;
    let class = text_of(made, code).rsplit('.').next()?;
    let is_class = class.starts_with(char::is_uppercase) && is_construction(object, code);
    let given = object.child_by_field_name("arguments").filter(|_| is_class)?;
    let given = named_children(given).into_iter().map(|one| text_of(one, code).to_owned());
    Some((class.to_owned(), given.collect()))
}

/// How examples make objects by something else than a constructor, to call methods on them: by the name of
/// the class.
fn documented_makers(
    language: Language,
    callables: &[Callable],
    examples: &[Example],
) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for one in examples {
        let named = callables.iter().filter(|callable| callable.short_name() == one.name);
        let classes = named.filter_map(|callable| callable.class.as_ref());
        for class in classes.filter(|class| !class.is_static && class.construction.is_none()) {
            let receiver = one.receiver.as_deref().unwrap_or_default();
            let own = own_expression(receiver, class);
            let function = Some(receiver).filter(|_| is_of_function(language, callables, one));
            let maker = own.strip_prefix(&class.name).filter(|maker| maker.starts_with('.'));
            let maker = maker.or(function).filter(|maker| {
                is_constant_name(maker) || maker.ends_with(')') && maker.matches('(').count() == 1
            });
            let known = found.entry(class.name.clone()).or_default();
            let is_new = maker.filter(|maker| known.iter().all(|one| one != maker));
            known.extend(is_new.map(str::to_owned));
        }
    }
    found
}

/// Whether a name is that of a constant: `NONE`, `EMPTY_CART`.
pub fn is_constant_name(name: &str) -> bool {
    name.len() > 1
        && name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// Whether an example of Python calls a method of the only class that has it, on a constant or on what a function
/// returns that a test may call.
fn is_of_function(language: Language, callables: &[Callable], example: &Example) -> bool {
    let maker = own_maker(example.receiver.as_deref().unwrap_or_default());
    let named = callables.iter().filter(|one| one.short_name() == example.name);
    let classes: BTreeSet<&str> =
        named.filter_map(|one| Some(one.class.as_ref()?.name.as_str())).collect();
    let is_constant = is_constant_name(maker) && !classes.contains(maker);
    let is_function = callables
        .iter()
        .any(|one| one.class.is_none() && one.name == maker && one.unsupported.is_none());
    language == Language::Python && classes.len() == 1 && (is_constant || is_function)
}

/// Adds the attributes of objects that examples read, as functions without code of their own.
fn add_attributes(callables: &mut Vec<Callable>, examples: &[Example]) {
    for one in examples.iter().filter(|one| one.is_read && one.result.is_some()) {
        let receiver = one.receiver.as_deref().unwrap_or_default();
        let is_own = |class: &Class| !class.is_static && makes_object(receiver, class);
        let is_member = |callable: &&Callable| callable.class.as_ref().is_some_and(is_own);
        let Some(member) = callables.iter().find(is_member) else { continue };
        let made = own_maker(receiver);
        let makes =
            |one: &&Callable| one.name == made || one.is_constructor() && one.subject() == made;
        let start = callables.iter().find(makes).map_or(member.start, |one| one.start);
        let name = format!("{}.{}", member.subject(), one.name);
        if callables.iter().all(|callable| callable.name != name) {
            let Callable { class, export, .. } = member.clone();
            let own = Callable { name, start, end: start, class, export, ..Callable::default() };
            callables.push(Callable { is_property: true, ..own });
        }
    }
}

/// Whether a source seems to define a function or constant of this name.
pub fn is_defined(text: &str, name: &str) -> bool {
    ["def ", "function ", "func ", "fn ", "const ", "let ", "exports."].iter().any(|word| {
        text.match_indices(&format!("{word}{name}")).any(|(at, found)| {
            let rest = text.get(at + found.len()..).unwrap_or_default();
            let value = rest.trim_start().trim_start_matches('=').trim_start();
            let is_import = ["require(", "await import("].iter().any(|one| value.starts_with(one));
            !is_import && !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')
        })
    })
}

/// An expression without the module before the class that it begins with.
fn own_expression(expression: &str, class: &Class) -> String {
    let (new, rest) = match expression.strip_prefix("new ") {
        Some(rest) => ("new ", rest),
        None => ("", expression),
    };
    let is_module = |name: &str| name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let is_own = |own: &str| own.strip_prefix(class.name.as_str()).is_some_and(makes);
    match rest.split_once('.').filter(|(module, own)| is_module(module) && is_own(own)) {
        Some((_, own)) => format!("{new}{own}"),
        None => expression.to_owned(),
    }
}

/// Whether what stands behind the name of a class makes an object of it.
fn makes(rest: &str) -> bool {
    rest.starts_with('(') || rest.starts_with([':', '.']) && rest.contains('(')
}

/// Whether an expression makes an object of a class, as `Cart(2)`, `new Cart(2)` and `Cart::new(2)` do.
fn makes_object(expression: &str, class: &Class) -> bool {
    let own = own_expression(expression, class);
    let made = own.trim_start_matches("new ").trim();
    let is_value = class.construction.is_some() && expression.starts_with('"');
    is_value || made.strip_prefix(class.name.as_str()).is_some_and(makes)
}

/// A statement as an example, if it is a call with literals.
pub(super) fn read_example(language: Language, code: &str, shown: &str) -> Option<Example> {
    let tree = language.parse(code)?;
    let root = tree.root_node();
    if root.has_error() {
        return None;
    }
    let mut statements = named_children(root);
    statements.retain(|one| one.kind() != "comment");
    let [statement] = statements.as_slice() else { return None };
    let expression =
        statement.named_child(0).filter(|_| statement.kind() == "expression_statement")?;
    let (call, printed) = unwrapped(expression, code)?;
    let is_read = is_attribute(call);
    let callee = if is_read { call } else { call.child_by_field_name("function")? };
    let text = text_of(callee, code);
    let receiver = callee.child_by_field_name("object");
    let name = if receiver.is_some() { text.rsplit('.').next()? } else { text };
    let is_plain = receiver.is_none_or(|one| {
        let is_constant = language == Language::Python
            && one.kind() == "identifier"
            && is_constant_name(text_of(one, code));
        !is_read && (one.kind() == "identifier" || is_attribute(one))
            || is_constant
            || is_construction(one, code)
    });
    if !is_plain {
        return None;
    }
    let list = call.child_by_field_name("arguments");
    let arguments = list.map(named_children).unwrap_or_default();
    // What a variable holds that nothing sets is not known; what stands beside it is.
    let has_options = language.is_script() && arguments.iter().any(|one| one.kind() == "object");
    let is_known = |one: &Node<'_>| {
        let value = one.child_by_field_name("value").unwrap_or(*one);
        is_given_value(*one, code)
            || is_calculation(*one, code)
            || language == Language::Python && is_construction(value, code)
    };
    let is_open = |one: &Node<'_>| has_options && one.kind() == "identifier";
    if !arguments.iter().all(|one| is_known(one) || is_open(one)) {
        return None;
    }
    let is_whole = arguments.iter().all(is_known);
    let result = shown_result(language, shown, printed).filter(|_| is_whole);
    Some(Example {
        name: name.to_owned(),
        receiver: receiver.map(|one| text_of(one, code).to_owned()),
        arguments: arguments.iter().map(|one| text_of(*one, code).to_owned()).collect(),
        setup: Vec::new(),
        is_read,
        printed: (language == Language::Python && !shown.trim().is_empty() && result.is_none())
            .then(|| shown.trim().to_owned()),
        result,
    })
}

/// Whether an expression makes an object from literals and functions.
fn is_construction(node: Node<'_>, code: &str) -> bool {
    let arguments = node.child_by_field_name("arguments").map(named_children);
    // What imports is no value, whoever wrote the page.
    matches!(node.kind(), "call" | "new_expression")
        && !text_of(node, code).contains("__import__")
        && arguments.is_some_and(|list| list.iter().all(|one| is_given_value(*one, code)))
}

/// Whether an argument is a literal, with or without its name before it.
pub fn is_argument(node: Node<'_>) -> bool {
    match node.kind() {
        "keyword_argument" => node.child_by_field_name("value").is_some_and(is_literal),
        _ => is_literal(node),
    }
}

/// Whether an expression reads an attribute.
fn is_attribute(node: Node<'_>) -> bool {
    matches!(node.kind(), "attribute" | "member_expression")
}

/// The call, or the attribute that is read, inside of `list(…)`, `print(…)` and `console.log(…)`, and
/// whether its result is printed.
fn unwrapped<'tree>(node: Node<'tree>, code: &str) -> Option<(Node<'tree>, bool)> {
    let is_observed =
        |one: &Node<'_>| matches!(one.kind(), "call" | "call_expression") || is_attribute(*one);
    if !is_observed(&node) {
        return None;
    }
    let is_printed = match field_of(node, "function", code) {
        "print" | "console.log" | "str" => true,
        "list" | "pprint" | "pprint.pprint" => false,
        _ => return Some((node, false)),
    };
    match named_children(node.child_by_field_name("arguments")?).as_slice() {
        [inner] if is_observed(inner) => Some((*inner, is_printed)),
        _ => None,
    }
}

/// What is shown for a call, if it can be compared with its result.
fn shown_result(language: Language, shown: &str, is_printed: bool) -> Option<DocumentedResult> {
    let shown = shown.trim();
    if language == Language::Python {
        if shown.starts_with("Traceback (most recent call last)") {
            let last = shown.lines().rfind(|line| !line.trim_start().starts_with("File "))?;
            return Some(DocumentedResult::Raised(class_name(last)?));
        }
        if let Some(class) = shown.strip_prefix("raises ").and_then(class_name) {
            return Some(DocumentedResult::Raised(class));
        }
        return match (is_printed, shown) {
            (_, "") => None,
            (true, text) => (!text.contains('\n')).then(|| DocumentedResult::Printed(text.into())),
            (false, text) => literal(language, text).map(DocumentedResult::Value),
        };
    }
    let mark = RESULT_MARKS.iter().find(|mark| shown.starts_with(*mark));
    let value = mark.map_or(shown, |mark| shown.trim_start_matches(mark).trim_start_matches(':'));
    // Backticks set off code.
    let value = value.trim().trim_matches('`');
    match mark {
        Some(&"throws" | &"Throws") => class_name(value).map(DocumentedResult::Raised),
        _ if is_printed => {
            let is_plain = literal(language, value).is_some() || mark.is_some();
            (is_plain && !value.is_empty()).then(|| DocumentedResult::Printed(value.into()))
        }
        _ => literal(language, value).map(DocumentedResult::Value),
    }
}

/// A text that is one literal, on one line.
fn literal(language: Language, text: &str) -> Option<String> {
    // In parentheses, so that braces are no block.
    let code = format!("({text})");
    let tree = language.parse(&code)?;
    let root = tree.root_node();
    let statement =
        root.named_child(0).filter(|_| !root.has_error() && root.named_child_count() == 1)?;
    let inner = statement.named_child(0)?;
    let has_value = named_nodes(inner).iter().any(|one| one.kind() != "parenthesized_expression");
    let one_line = text.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    (has_value && !text.is_empty() && is_literal(inner)).then_some(one_line)
}

/// The class at the start of `ValueError: below 0`.
pub(super) fn class_name(text: &str) -> Option<String> {
    let name: String =
        text.trim().chars().take_while(|c| c.is_alphanumeric() || "_.".contains(*c)).collect();
    let name = name.rsplit('.').next().unwrap_or_default();
    name.starts_with(char::is_uppercase).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Name, arguments and result of each example, in short.
    fn shown(language: Language, text: &str) -> Vec<(String, String, String)> {
        let found = read_examples(language, text).into_iter();
        found
            .map(|one| {
                let receiver = one.receiver.map_or_else(String::new, |one| format!("{one}."));
                let result = one.result.map_or_else(String::new, |one| format!("{one:?}"));
                (format!("{receiver}{}", one.name), one.arguments.join(", "), result)
            })
            .collect()
    }

    fn value(text: &str) -> String {
        format!("Value({text:?})")
    }

    fn printed(text: &str) -> String {
        format!("Printed({text:?})")
    }

    fn raised(text: &str) -> String {
        format!("Raised({text:?})")
    }

    #[test]
    fn variables_that_nothing_sets_get_the_values_of_other_examples_or_of_their_names() {
        let table = [
            (
                "wrap('a b c');\nwrap(str, {width: 60});",
                "wrap",
                &["'a b c'", "'a b c', {width: 60}"][..],
            ),
            ("wrap(text, {width: 60}); // => 'x'", "wrap", &["\"hello world\", {width: 60}"]),
            ("wrap(zzz, {width: 60});", "wrap", &[]),
            ("wrap(text, 60);", "wrap", &[]),
        ];
        for (text, name, expected) in table {
            let language = Language::JavaScript;
            let found = complete_examples(language, &read_examples(language, text));
            assert!(found.iter().all(|one| one.name == name && one.result.is_none()), "{text}");
            let given: Vec<String> = found.iter().map(|one| one.arguments.join(", ")).collect();
            assert_eq!(given, expected, "{text}");
        }
    }

    #[test]
    fn objects_are_made_with_what_the_file_can_name() {
        let mut callables =
            super::super::callables(Language::Python, "def under(text):\n    return text\n");
        let documentation = ">>> Span(date(2024, 2, 29)).days()\n3\n>>> Span(under('a')).days()\n1\n>>> Span(2).days()\n2\n>>> Span(date.today()).days()\n2\n";
        let examples = read_examples(Language::Python, documentation);
        let objects = documented_objects(Language::Python, &callables, &examples);
        assert!(objects.get("Span").is_some_and(|known| known.contains(&vec!["2".to_owned()])));
        assert!(!format!("{objects:?}").contains("date"), "{objects:?}");
        callables.clear();
        assert!(
            !format!("{:?}", documented_objects(Language::Python, &callables, &examples))
                .contains("under")
        );
    }

    #[test]
    fn operators_of_other_objects_are_no_examples() {
        let text = "class Span:\n    def __add__(self, other):\n        return self\n";
        let mut callables = super::super::callables(Language::Python, text);
        let documentation = ">>> now = clock.now()\n>>> now + 2\n3\n>>> Span() + 2\n4\n";
        let examples = read_examples(Language::Python, documentation);
        assign_examples(Language::Python, &mut callables, &examples);
        let receivers: Vec<_> =
            callables[0].examples.iter().map(|one| one.receiver.as_deref()).collect();
        assert_eq!(receivers, [Some("Span()")]);
    }

    #[test]
    fn objects_of_scripts_are_made_with_functions_as_documentation_makes_them() {
        let text = "var queue = new Queue(function (a, b) {\n  return a.size - b.size;\n});\nqueue.add({ size: 2 });\nqueue.peek(); // { size: 2 }\n";
        let found = read_examples(Language::JavaScript, text);
        let peek = found.last().unwrap();
        assert_eq!((peek.name.as_str(), peek.setup.len()), ("peek", 1));
        let made = called_object(Language::JavaScript, peek).unwrap();
        assert_eq!(made.0, "Queue");
        assert_eq!(made.1, ["function (a, b) { return a.size - b.size; }"]);
    }

    #[test]
    fn a_constant_is_named_in_upper_case_and_begins_with_a_letter() {
        let table =
            [("NONE", true), ("UTF8_BOM", true), ("250", false), ("_", false), ("None", false)];
        for (name, expected) in table {
            assert_eq!(is_constant_name(name), expected, "{name}");
        }
    }

    #[test]
    fn prompts_of_python_give_calls_with_their_results() {
        let table = [
            (">>> fee('gift', 3)\n0\n", ("fee", "'gift', 3", value("0"))),
            (">>> fee(3)  # dear\n[1,\n 2]\n\nMore.", ("fee", "3", value("[1, 2]"))),
            (">>> fee(3)  # doctest: +SKIP\n4\n", ("fee", "3", String::new())),
            (">>> fee(3)  # doctest: +ELLIPSIS\n'a...'\n", ("fee", "3", String::new())),
            (">>> shop.fee(3, kind='a')\n'x'", ("shop.fee", "3, kind='a'", value("'x'"))),
            (">>> list(fee(3))\n[1]", ("fee", "3", value("[1]"))),
            (">>> print(fee(3))\na b\n", ("fee", "3", printed("a b"))),
            (">>> pprint(fee(3))\n{'a': 1,\n 'b': 2}\n", ("fee", "3", value("{'a': 1, 'b': 2}"))),
            (">>> fee(\n...     3,\n... )\n(1, 2)\n", ("fee", "3", value("(1, 2)"))),
            (">>> Cart(2).total()\n4\n", ("Cart(2).total", "", value("4"))),
            (
                ">>> fee(-1)\nTraceback (most recent call last):\n  File \"a\"\n    ...\nshop.errors.Low: no\n",
                ("fee", "-1", raised("Low")),
            ),
            (">>> Till(2).log\n[2]\n", ("Till(2).log", "", value("[2]"))),
            (">>> print(Till(2).log)\na\n", ("Till(2).log", "", printed("a"))),
            (">>> fee(10**28)\n1\n", ("fee", "10**28", value("1"))),
            (">>> fee(10**3 * 3)\n1\n", ("fee", "10**3 * 3", value("1"))),
            (">>> fee(range(3), -2**3)\n1\n", ("fee", "range(3), -2**3", value("1"))),
            (">>> fee('a' * 3, n=len('b'))\n1\n", ("fee", "'a' * 3, n=len('b')", value("1"))),
            (">>> fee('a b'.split())\n1\n", ("fee", "'a b'.split()", value("1"))),
            (">>> fee(under('a'))\n1\n", ("fee", "under('a')", value("1"))),
            (">>> str(fee(3))\n'x'\n", ("fee", "3", printed("'x'"))),
            (">>> str(a.Of.f('a').g(1))\n'c'\n", ("a.Of.f('a').g", "1", printed("'c'"))),
            (">>> fee(3)\n<Fee 3>\n", ("fee", "3", String::new())),
            (">>> fee(3)\n[1, ...]\n", ("fee", "3", String::new())),
            (">>> fee(3)\n\n4\n", ("fee", "3", String::new())),
            (
                ">>> from datetime import *\n>>> a = date(2024, 1, 1)\n>>> a + span(d=1)\n2\n",
                ("span(d=1).__radd__", "datetime.date(2024, 1, 1)", value("2")),
            ),
        ];
        for (text, (name, arguments, result)) in table {
            let expected = (name.to_owned(), arguments.to_owned(), result);
            assert_eq!(shown(Language::Python, text), [expected], "{text}");
        }
        for text in [
            ">>> fee(__import__('os').system('a'))\n0\n",
            ">>> fee(x)\n1\n",
            ">>> fee(x * 2)\n1\n",
            ">>> fee(3) + 1\n4\n",
            "fee(3)\n4\n",
        ] {
            assert_eq!(shown(Language::Python, text), [], "{text}");
        }
    }

    #[test]
    fn comments_of_javascript_give_calls_with_their_results() {
        let table = [
            (" * @example\n * add(1, 2) // => 3\n", ("add", "1, 2", value("3"))),
            (" * @example add(1, 2); // 3", ("add", "1, 2", value("3"))),
            (" * add(1)\n * // => { a: [1] }", ("add", "1", value("{ a: [1] }"))),
            (" * add(1) // returns 'x'", ("add", "1", value("'x'"))),
            (" * add(1) //=> [1, 2]", ("add", "1", value("[1, 2]"))),
            (" * new Cart(2).total() // → 4", ("new Cart(2).total", "", value("4"))),
            (" * add(null) // throws TypeError: no", ("add", "null", raised("TypeError"))),
            (" * console.log(add('a')) // => b c", ("add", "'a'", printed("b c"))),
            (" * add('http://a') // 'x'", ("add", "'http://a'", value("'x'"))),
            (" * add(1);\n * // { a: \"b\" }", ("add", "1", value("{ a: \"b\" }"))),
            (" * add(1)\n * // {\n * //   a: 1,\n * // }", ("add", "1", value("{ a: 1, }"))),
            (" * add(1)\n * //> [1]", ("add", "1", value("[1]"))),
            (" * add(1) // Returns: `true`", ("add", "1", value("true"))),
            (" * add(\n *   1,\n *   { a: 2 }\n * ) // 'x'", ("add", "1, { a: 2 }", value("'x'"))),
            (" * add(1)\n * // adds one to all", ("add", "1", String::new())),
            (" * new Till(2).log // => [2]", ("new Till(2).log", "", value("[2]"))),
            (" * console.log(new Till(2).log) // => a", ("new Till(2).log", "", printed("a"))),
            (" * add(1) // the sum of all", ("add", "1", String::new())),
            (" * add(1)\n * add(2)", ("add", "1", String::new())),
            (" * // On a Turkish platform\n *\n * add(1) // => 3", ("add", "1", String::new())),
        ];
        for (text, (name, arguments, result)) in table {
            let expected = (name.to_owned(), arguments.to_owned(), result);
            assert_eq!(shown(Language::JavaScript, text).first(), Some(&expected), "{text}");
        }
        for text in ["add(x) // 2", "Adds the two. // 2", "Till.log // => [2]"] {
            assert_eq!(shown(Language::JavaScript, text), [], "{text}");
        }
    }

    /// Name, calls before and result of each example that was entered in a function, and of an attribute.
    fn entered(language: Language, text: &str) -> Vec<String> {
        let all = crate::code::signature::callables(language, text).into_iter();
        let shown = all.flat_map(|one| {
            let name = one.name.clone();
            one.examples.into_iter().map(move |example| {
                let result = match example.result {
                    Some(DocumentedResult::Value(value)) => value,
                    other => format!("{other:?}"),
                };
                format!("{}; {name} = {result}", example.setup.join("; "))
            })
        });
        shown.collect()
    }

    #[test]
    fn functions_and_constants_of_python_stand_for_objects_of_the_only_class_with_the_method() {
        let python = |body: &str| {
            format!(
                "class Cup:\n    def fill(self, n):\n        \"\"\"Fills.\n\n        >>> made(1).fill(2)\n        3\n        >>> EMPTY.fill(2)\n        2\n        >>> CUP.fill(4)\n        5\n        >>> wiped('a').fill(6)\n        7\n        \"\"\"\n\n\ndef made(n):\n    return Cup()\n\n\ndef wiped(path):\n    {body}\n    return Cup()\n"
            )
        };
        let results = |language, text: &str, name: &str| {
            let all = crate::code::signature::callables(language, text);
            let one = all.into_iter().find(|one| one.name == name).unwrap();
            let examples = one.examples.into_iter();
            examples.map(|one| (one.receiver.unwrap(), one.result.is_some())).collect::<Vec<_>>()
        };
        let expected = |wiped| {
            [("made(1)", true), ("EMPTY", true), ("CUP", true), ("wiped('a')", wiped)]
                .map(|(receiver, has_result)| (receiver.to_owned(), has_result))
        };
        assert_eq!(results(Language::Python, &python("pass"), "Cup.fill"), expected(true));
        let effect = python("os.chdir(path)");
        assert_eq!(results(Language::Python, &effect, "Cup.fill"), expected(false));
        let script = "export class Cup {\n  /**\n   * JSON.parse('2') // => 2\n   */\n  parse(text) { return 3; }\n}\n";
        let found = results(Language::JavaScript, script, "Cup.parse");
        assert_eq!(found, [("JSON".to_owned(), false)]);
    }

    #[test]
    fn what_a_class_makes_is_an_object_of_it() {
        let text = "class Version:\n    \"\"\"A version.\n\n    >>> str(shop.Version.parse(\"1.0\").next(\"minor\"))\n    '1.1'\n    \"\"\"\n\n    def __init__(self, major):\n        self.major = major\n\n    @classmethod\n    def parse(cls, text):\n        return cls(text)\n\n    def next(self, part):\n        return self\n";
        let all = crate::code::signature::callables(Language::Python, text);
        let next = all.iter().find(|one| one.name == "Version.next").unwrap();
        assert_eq!(next.examples[0].receiver.as_deref(), Some("Version.parse(\"1.0\")"));
        let expected = Some(DocumentedResult::Printed("'1.1'".into()));
        assert_eq!(next.examples[0].result, expected);
        assert_eq!(next.class.as_ref().unwrap().makers, [".parse(\"1.0\")"]);
    }

    #[test]
    fn objects_in_examples_with_operators_are_made_like_that() {
        let text = "class Money:\n    \"\"\"Money.\n\n    >>> m = Money('2.22', 'EUR')\n    >>> m / 2\n    EUR 1.11\n    >>> m + shop.Money('7.77', 'EUR')\n    EUR 9.99\n    \"\"\"\n\n    def __init__(self, amount='0', currency=None):\n        self.amount = amount\n\n    def __truediv__(self, other):\n        return self\n";
        let all = crate::code::signature::callables(Language::Python, text);
        let divide = all.iter().find(|one| one.name == "Money.__truediv__").unwrap();
        assert_eq!(divide.examples[0].receiver.as_deref(), Some("Money('2.22', 'EUR')"));
        assert_eq!(divide.examples[0].arguments, ["2"]);
        assert_eq!(divide.class.as_ref().unwrap().examples, [["'2.22'", "'EUR'"]]);
    }

    #[test]
    fn examples_in_several_statements_are_stories_that_read_attributes_too() {
        let python = "class Till:\n    \"\"\"A till.\n\n    >>> till = Till(5)\n    >>> till.pay(2)\n    7\n    >>> till.log\n    [2]\n    >>> till.pay(-1)\n    Traceback (most recent call last):\n    ValueError: no\n    >>> till.log\n    [9]\n    \"\"\"\n\n    def __init__(self, cents):\n        self.cents = cents\n        self.log = []\n\n    def pay(self, amount):\n        return self.cents + amount\n";
        let expected = [
            "; Till.pay = 7",
            "pay(2); Till.pay = Some(Raised(\"ValueError\"))",
            "pay(2); Till.log = [2]",
            "pay(2); Till.log = None",
        ];
        assert_eq!(entered(Language::Python, python), expected);
        let class = "export class Cart {\n  add(name, price, count = 1) {\n    return this;\n  }\n  total() {\n    return 1;\n  }\n}\n";
        let lines = "/**\n * @example\n * const cart = new Cart();\n * cart.add('tea', 3);\n * cart.add('cake', 4, 2);\n * cart.items.length // 2\n * cart.total() // => 11\n */\n";
        let line = "/**\n * @example const cart = new Cart(); cart.add('tea', 3); cart.add('cake', 4, 2); console.log(cart.total()) // 11\n */\n";
        for (language, comment, result) in [
            (Language::JavaScript, lines, "11"),
            (Language::TypeScript, lines, "11"),
            (Language::TypeScript, line, "Some(Printed(\"11\"))"),
        ] {
            let found = entered(language, &format!("{comment}{class}"));
            let last = format!("add('tea', 3); add('cake', 4, 2); Cart.total = {result}");
            assert_eq!(found.last(), Some(&last), "{comment}");
        }
    }

    #[test]
    fn an_operator_in_documentation_is_a_call_of_its_method() {
        let text = "class Text(str):\n    \"\"\"A text.\n\n    >>> Text('<%s>') % ('a',)\n    '<a>'\n    >>> 2 % 1\n    0\n    \"\"\"\n\n    def __init__(self, text=''):\n        self.text = text\n\n    def __mod__(self, value):\n        return self.text % value\n";
        let all = crate::code::signature::callables(Language::Python, text);
        let modulo = all.iter().find(|one| one.name == "Text.__mod__").unwrap();
        let shown: Vec<_> = modulo
            .examples
            .iter()
            .map(|one| (one.receiver.clone(), one.arguments.join(", ")))
            .collect();
        assert_eq!(shown, [(Some("Text('<%s>')".to_owned()), "('a',)".to_owned())]);
        assert!(modulo.examples[0].result.is_some());
    }
}
