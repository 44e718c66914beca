//! Finds the tests of a file in its syntax tree, with their names, bodies and skip marks.

use std::ops::Range;

use tree_sitter::Node;

use crate::code::language::Language;
use crate::code::pattern::Pattern;
use crate::code::tree::{
    FUNCTIONS, around, field_of, marks_before, named_children, statements, text_of,
};

/// How a test is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skip {
    /// The test is skipped, and a text beside the mark says why.
    WithReason,
    /// The test is skipped without a reason.
    Silent,
}

/// A test in the syntax tree of its file.
#[derive(Clone, Debug)]
pub struct TestNode<'t> {
    /// The function or call that defines the test.
    pub node: Node<'t>,
    /// The body; `None` where the test has none of its own.
    pub body: Option<Node<'t>>,
    /// The name, or the title without quotes.
    pub name: String,
    /// Its decorators, attributes or annotations.
    pub marks: String,
    /// How it is skipped; `None` if it is run.
    pub skip: Option<Skip>,
    /// The byte range of the test, including its marks.
    pub range: Range<usize>,
    /// Identifies the block of statements around it.
    pub block: usize,
}

impl<'t> TestNode<'t> {
    /// The name of the class that contains it; empty if there is none.
    pub fn class<'a>(&self, text: &'a str) -> &'a str {
        around(self.node, &["class_definition", "class_declaration"])
            .map_or("", |class| field_of(class, "name", text))
    }

    /// Whether it is run but its body is a block without effective statements.
    pub fn is_empty(&self, text: &str) -> bool {
        self.skip.is_none()
            && self.body.is_some_and(|body| body.kind().ends_with("block"))
            && self.statements(text).is_empty()
    }

    /// The statements of its body, without comments, docstrings, `pass` and `...`.
    pub fn statements(&self, text: &str) -> Vec<Node<'t>> {
        let Some(body) = self.body else { return Vec::new() };
        // The body of an arrow function may be a single expression.
        if !body.kind().ends_with("block") {
            return vec![body];
        }
        let mut list = statements(body);
        if let [only] = list.as_slice()
            && only.kind() == "statement_list"
        {
            list = statements(*only);
        }
        list.retain(|node| {
            let docstring = node.kind() == "expression_statement"
                && node.named_child(0).is_some_and(|one| one.kind() == "string");
            node.kind() != "pass_statement" && text_of(*node, text) != "..." && !docstring
        });
        list
    }
}

/// Finds the tests among a tree's nodes, in order; a nested test is part of the outer one.
pub fn find_tests<'t>(language: Language, nodes: &[Node<'t>], text: &str) -> Vec<TestNode<'t>> {
    let read = match language {
        Language::Python => python,
        Language::JavaScript | Language::TypeScript | Language::Tsx => script,
        Language::Rust => rust,
        Language::Go => go,
        Language::Java => java,
    };
    let mut found: Vec<TestNode<'t>> = Vec::new();
    for node in nodes {
        // Check the kind first, because few nodes can be tests and reading their fields is slow.
        let may_be_test = matches!(
            node.kind(),
            "function_definition"
                | "function_declaration"
                | "function_item"
                | "method_declaration"
                | "call_expression"
        );
        let inside = found.last().is_some_and(|last| node.start_byte() < last.range.end);
        if may_be_test && !inside {
            found.extend(read(*node, text));
        }
    }
    found
}

/// The id of the parent node.
fn block_of(node: Node<'_>) -> usize {
    node.parent().map_or(0, |parent| parent.id())
}

/// Describes a function that is a test.
fn function<'t>(node: Node<'t>, marks: String, skip: Option<Skip>, text: &str) -> TestNode<'t> {
    TestNode {
        node,
        body: node.child_by_field_name("body"),
        name: field_of(node, "name", text).to_owned(),
        marks,
        skip,
        range: node.byte_range(),
        block: block_of(node),
    }
}

static SKIP: Pattern = Pattern::new(
    r"^@(?:unittest\.)?skip\b|^@pytest\.mark\.(?:skip|xfail)\b|^#\[ignore|^@Disabled|^@Ignore|^\s*t\.Skip",
);

/// How a mark or statement skips a test; `None` if it does not.
fn skip_of(mark: &str) -> Option<Skip> {
    SKIP.is_match(mark).then_some(if mark.contains(['"', '\'']) {
        Skip::WithReason
    } else {
        Skip::Silent
    })
}

fn python<'t>(node: Node<'t>, text: &str) -> Option<TestNode<'t>> {
    let is_test = node.kind() == "function_definition"
        && field_of(node, "name", text).starts_with("test")
        // A function inside another function is not collected as a test.
        && around(node, FUNCTIONS).is_none();
    let marks = is_test.then(|| marks_before(node, text))?;
    let skip = marks.split('@').skip(1).find_map(|mark| skip_of(&format!("@{mark}")));
    let whole = node.parent().filter(|up| up.kind() == "decorated_definition");
    let whole = whole.unwrap_or(node);
    (!marks.contains("fixture")).then(|| TestNode {
        range: whole.byte_range(),
        block: block_of(whole),
        ..function(node, marks, skip, text)
    })
}

fn go<'t>(node: Node<'t>, text: &str) -> Option<TestNode<'t>> {
    let is_test = node.kind() == "function_declaration"
        && field_of(node, "name", text).starts_with("Test")
        && field_of(node, "parameters", text).contains("testing.T");
    let mut test = is_test.then(|| function(node, String::new(), None, text))?;
    test.skip = test.statements(text).first().and_then(|first| skip_of(text_of(*first, text)));
    Some(test)
}

fn java<'t>(node: Node<'t>, text: &str) -> Option<TestNode<'t>> {
    const MARKS: &[&str] = &["@Test", "@ParameterizedTest", "@RepeatedTest"];
    if node.kind() != "method_declaration" {
        return None;
    }
    let modifiers = named_children(node).into_iter().find(|child| child.kind() == "modifiers")?;
    let marks: Vec<&str> =
        named_children(modifiers).into_iter().map(|mark| text_of(mark, text)).collect();
    let is_test = marks.iter().any(|mark| MARKS.iter().any(|known| mark.starts_with(known)));
    let skip = marks.iter().find_map(|mark| skip_of(mark));
    is_test.then(|| function(node, text_of(modifiers, text).to_owned(), skip, text))
}

fn rust<'t>(node: Node<'t>, text: &str) -> Option<TestNode<'t>> {
    if node.kind() != "function_item" {
        return None;
    }
    let marks = marks_before(node, text);
    let is_test = |mark: &str| mark.ends_with("test]") || mark.contains("test(");
    let mut list = marks.split_inclusive(']').map(str::trim);
    let skip = list.clone().find_map(skip_of);
    let first = std::iter::successors(Some(node), |node| {
        node.prev_sibling().filter(|mark| matches!(mark.kind(), "attribute_item" | "line_comment"))
    });
    let start = first.filter(|node| node.kind() != "line_comment").last()?.start_byte();
    list.any(is_test).then(|| TestNode {
        range: start..node.end_byte(),
        ..function(node, marks.clone(), skip, text)
    })
}

/// Modifiers that may follow `it` and `test` in the declaration of a test.
const MODIFIERS: &[&str] = &[
    "only",
    "skip",
    "concurrent",
    "sequential",
    "serial",
    "each",
    "for",
    "todo",
    "fails",
    "failing",
    "fixme",
    "skipIf",
    "runIf",
];

fn script<'t>(node: Node<'t>, text: &str) -> Option<TestNode<'t>> {
    let callee = node.child_by_field_name("function")?;
    // In `it.each(table)('title', …)`, the outer call declares the test.
    let is_callee = node.parent().is_some_and(|up| {
        up.kind() == "call_expression"
            && up.child_by_field_name("function").is_some_and(|one| one.id() == node.id())
    });
    let called = text_of(callee, text).split(['(', '`']).next().unwrap_or_default().trim();
    let mut words = called.split('.').map(str::trim);
    let declares = matches!(words.next()?, "it" | "test" | "specify" | "fit" | "xit" | "xtest");
    if node.kind() != "call_expression"
        || is_callee
        || !declares
        || !words.all(|word| MODIFIERS.contains(&word))
    {
        return None;
    }
    let arguments = statements(node.child_by_field_name("arguments")?);
    let title = text_of(*arguments.first()?, text).trim_matches(['"', '\'', '`']);
    let body = arguments.iter().rev().find(|one| FUNCTIONS.contains(&one.kind()));
    let skipped = called.starts_with('x')
        || called.split('.').any(|word| matches!(word, "skip" | "todo" | "fixme"));
    let statement = std::iter::successors(node.parent(), Node::parent)
        .take_while(|up| matches!(up.kind(), "await_expression" | "expression_statement"))
        .last()
        .unwrap_or(node);
    Some(TestNode {
        node,
        body: body.and_then(|body| body.child_by_field_name("body")),
        name: title.to_owned(),
        marks: String::new(),
        skip: skipped.then_some(Skip::Silent),
        range: statement.byte_range(),
        block: block_of(statement),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::tree::named_nodes;

    /// The tests of a text, one line each: class, name, lines, number of statements, skip.
    fn tests(language: Language, text: &str) -> Vec<String> {
        let tree = language.parse(text).unwrap();
        let line = |at: usize| text.get(..at).unwrap().matches('\n').count() + 1;
        find_tests(language, &named_nodes(tree.root_node()), text)
            .iter()
            .map(|test| {
                let skip = match test.skip {
                    Some(Skip::WithReason) => " skipped with reason",
                    Some(Skip::Silent) => " skipped",
                    None => "",
                };
                let (from, to) = (line(test.range.start), line(test.range.end));
                let count = test.statements(text).len();
                format!("{}.{} {from}-{to} {count}{skip}", test.class(text), test.name)
            })
            .collect()
    }

    fn check(language: Language, table: &[(&str, &[&str])]) {
        for (text, expected) in table {
            assert_eq!(tests(language, text), *expected, "{text}");
        }
    }

    #[test]
    fn tests_of_python() {
        check(
            Language::Python,
            &[
                ("def test_a():\n    assert 1\n", &[".test_a 1-2 1"]),
                ("async def test_a():\n    \"\"\"Doc.\"\"\"\n    assert 1\n", &[".test_a 1-3 1"]),
                ("class TestA:\n    def test_b(self):\n        pass\n", &["TestA.test_b 2-3 0"]),
                (
                    "@pytest.mark.skip(reason='x')\n@other\ndef test_a():\n    ...\n",
                    &[".test_a 1-4 0 skipped with reason"],
                ),
                ("@unittest.skip\ndef test_a():\n    f()\n", &[".test_a 1-3 1 skipped"]),
                ("@pytest.mark.xfail\ndef test_a():\n    f()\n", &[".test_a 1-3 1 skipped"]),
                ("@pytest.fixture\ndef test_data():\n    return 1\n", &[]),
                ("def test_a():\n    # the fixture\n    f('fixture')\n", &[".test_a 1-3 1"]),
                (
                    "def test_a():\n    def test_b():\n        f()\n    test_b()\n",
                    &[".test_a 1-4 2"],
                ),
                ("def make():\n    def test_a():\n        f()\n", &[]),
                ("def check_a():\n    f()\n", &[]),
                ("", &[]),
            ],
        );
    }

    #[test]
    fn tests_of_scripts() {
        let table: &[(&str, &[&str])] = &[
            ("test('a', () => { f(); });", &[".a 1-1 1"]),
            ("it(\"a\", async function () {\n  f();\n});", &[".a 1-3 1"]),
            (
                "describe('d', () => {\n  it('a', () => {});\n  it('b', () => f());\n});",
                &[".a 2-2 0", ".b 3-3 1"],
            ),
            ("describe('d', () => it('a', () => { f(); }));", &[".a 1-1 1"]),
            ("await test('a', () => { f(); });", &[".a 1-1 1"]),
            ("it.each([1, 2])('a %s', (n) => { f(n); });", &[".a %s 1-1 1"]),
            ("it.each`x`('a', () => { f(); });", &[".a 1-1 1"]),
            ("test.only('a', () => { f(); });", &[".a 1-1 1"]),
            ("test.concurrent.each([1])('a', () => { f(); });", &[".a 1-1 1"]),
            ("it.skip('a', () => { f(); });", &[".a 1-1 1 skipped"]),
            ("xit('a', () => { f(); });", &[".a 1-1 1 skipped"]),
            ("test.todo('a');", &[".a 1-1 0 skipped"]),
            ("test.describe('d', () => {});", &[]),
            ("test.beforeEach(() => {});", &[]),
            ("test.use({ a: 1 });", &[]),
            ("items.it('a', () => {}); unit('b', () => {});", &[]),
        ];
        check(Language::JavaScript, table);
        check(Language::TypeScript, table);
        check(Language::Tsx, table);
    }

    #[test]
    fn tests_of_rust() {
        check(
            Language::Rust,
            &[
                ("#[test]\nfn a() { f(); }\n", &[".a 1-2 1"]),
                ("#[tokio::test]\nasync fn a() {}\n", &[".a 1-2 0"]),
                ("#[tokio::test(flavor = \"x\")]\nasync fn a() {}\n", &[".a 1-2 0"]),
                ("#[rstest]\n#[case(1)]\nfn a(n: u8) { f(n); }\n", &[".a 1-3 1"]),
                ("#[test]\n#[ignore]\nfn a() {}\n", &[".a 1-3 0 skipped"]),
                ("#[test]\n#[ignore = \"slow\"]\nfn a() {}\n", &[".a 1-3 0 skipped with reason"]),
                ("#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {}\n}\n", &[".a 3-4 0"]),
                ("#[cfg(test)]\nfn helper() {}\n", &[]),
                ("#[inline]\nfn c() {}\nfn test() {}\n", &[]),
            ],
        );
    }

    #[test]
    fn tests_of_go() {
        check(
            Language::Go,
            &[
                ("package a\nfunc TestA(t *testing.T) { f() }\n", &[".TestA 2-2 1"]),
                (
                    "package a\nfunc TestA(t *testing.T) {\n\tt.Skip()\n}\n",
                    &[".TestA 2-4 1 skipped"],
                ),
                (
                    "package a\nfunc TestA(t *testing.T) {\n\tt.Skip(\"x\")\n\tf()\n}\n",
                    &[".TestA 2-5 2 skipped with reason"],
                ),
                ("package a\nfunc TestMain(m *testing.M) {}\nfunc helper(t *testing.T) {}\n", &[]),
            ],
        );
    }

    #[test]
    fn tests_of_java() {
        check(
            Language::Java,
            &[
                ("class A {\n  @Test\n  void a() { f(); }\n}\n", &["A.a 2-3 1"]),
                ("class A { @ParameterizedTest void a(int n) {} }\n", &["A.a 1-1 0"]),
                ("class A { @RepeatedTest(3) void a() {} }\n", &["A.a 1-1 0"]),
                (
                    "class A { @Test @Disabled(\"x\") void a() {} }\n",
                    &["A.a 1-1 0 skipped with reason"],
                ),
                ("class A { @Test @Disabled void a() {} }\n", &["A.a 1-1 0 skipped"]),
                ("class A { @BeforeEach void a() {} void b() {} }\n", &[]),
            ],
        );
    }
}
