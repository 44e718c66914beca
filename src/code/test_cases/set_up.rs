//! Finds what runs before tests and fails whatever they test.

use tree_sitter::Node;

use crate::code::language::Language;
use crate::code::pattern::Pattern;
use crate::code::tree::{
    FUNCTIONS, around, end_line, field_of, line, named_nodes, statements, text_of,
};

/// The names of functions that run before tests.
static NAMES: Pattern =
    Pattern::new(r"(?i)^(?:async_?)?set_?up(?:_?(?:class|module|method|function|session))?$");

/// The marks that make a function run before tests.
static MARKS: Pattern =
    Pattern::new(r"@(?:pytest(?:_asyncio)?\.)?fixture\b|@Before(?:Each|All|Class)?\b");

/// Calls of a script that run their argument before tests.
const HOOKS: &[&str] = &["beforeEach", "beforeAll", "before"];

/// Statements that fail whatever they are given.
const RAISES: &[&str] = &["raise_statement", "throw_statement"];

/// The set-up around a line that raises without a condition, and that statement's first line.
pub fn raising_set_up(language: Language, text: &str, at: u32) -> Option<(String, String)> {
    let tree = language.parse(text)?;
    let nodes = named_nodes(tree.root_node());
    let covers = |node: &&Node<'_>| (line(**node)..=end_line(**node)).contains(&at);
    let function = nodes.iter().filter(covers).rfind(|node| FUNCTIONS.contains(&node.kind()))?;
    let name = set_up_name(*function, text)?;
    let body = statements(function.child_by_field_name("body")?);
    let statement = body.iter().find(covers).filter(|one| RAISES.contains(&one.kind()))?;
    let code = text_of(*statement, text).lines().next().unwrap_or_default();
    Some((name.to_owned(), code.to_owned()))
}

/// The name of a function that runs before tests.
fn set_up_name<'a>(function: Node<'_>, text: &'a str) -> Option<&'a str> {
    let name = field_of(function, "name", text);
    let marked = around(function, &["decorated_definition"]).unwrap_or(function);
    let head = text_of(marked, text).split(['{', ':']).next().unwrap_or_default();
    if NAMES.is_match(name) || MARKS.is_match(head) {
        return Some(name);
    }
    let hook = field_of(around(function, &["call_expression"])?, "function", text);
    HOOKS.contains(&hook).then_some(hook)
}
