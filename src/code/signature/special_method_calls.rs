//! Expressions of Python that call a special method of an object, read as calls of that method and written for them.

use tree_sitter::Node;

use super::Callable;
use crate::code::tree::{field_of, named_children, text_of};

/// Methods that an operator between two values calls, and whether these are in reverse.
pub const OPERATORS: &[(&str, &str, bool)] = &[
    ("__add__", "+", false),
    ("__and__", "&", false),
    ("__contains__", "in", true),
    ("__eq__", "==", false),
    ("__floordiv__", "//", false),
    ("__ge__", ">=", false),
    ("__gt__", ">", false),
    ("__le__", "<=", false),
    ("__lt__", "<", false),
    ("__mod__", "%", false),
    ("__mul__", "*", false),
    ("__ne__", "!=", false),
    ("__or__", "|", false),
    ("__pow__", "**", false),
    ("__radd__", "+", true),
    ("__rmul__", "*", true),
    ("__rsub__", "-", true),
    ("__sub__", "-", false),
    ("__truediv__", "/", false),
    ("__xor__", "^", false),
];

/// Functions that every program has, with the method of their argument that they call.
const FUNCTIONS: &[(&str, &str)] = &[
    ("abs", "__abs__"),
    ("bool", "__bool__"),
    ("float", "__float__"),
    ("int", "__int__"),
    ("len", "__len__"),
    ("list", "__iter__"),
    ("print", "__str__"),
    ("repr", "__repr__"),
    ("str", "__str__"),
];

/// An expression or statement as a call of a special method.
#[derive(Debug, PartialEq, Eq)]
pub struct MethodCall {
    /// The call, inside of `list(…)` or `print(…)` where these stand around the object.
    pub code: String,
    /// What changes the object, as it is written behind it: `["a"] = 1`, `del ["a"]`, `__call__(1)`; `None`
    /// for what leaves it as it was.
    pub change: Option<String>,
}

/// The call of a special method that a statement makes; `None` where it calls none of an object.
pub fn as_method_call(
    statement: Node<'_>,
    code: &str,
    is_object: &dyn Fn(Node<'_>) -> bool,
) -> Option<MethodCall> {
    let text = |node: Node<'_>| text_of(node, code);
    let changing = |object: Node<'_>, member: &str, change: &str| {
        let change = Some(change.to_owned());
        Some(MethodCall { code: format!("{}.{member}", text(object)), change })
    };
    let inner = statement.named_child(0)?;
    if statement.kind() == "delete_statement" {
        let (object, key) = item_of(inner, code, is_object)?;
        return changing(object, &format!("__delitem__({key})"), &format!("del [{key}]"));
    }
    let field = |name: &str| inner.child_by_field_name(name);
    match inner.kind() {
        "assignment" => {
            let (object, key) = item_of(field("left")?, code, is_object)?;
            let value = text(field("right")?);
            let member = format!("__setitem__({key}, {value})");
            changing(object, &member, &format!("[{key}] = {value}"))
        }
        "call" if field("function").is_some_and(is_object) => {
            let given = field("arguments").map(named_children)?;
            let given = given.into_iter().map(text).collect::<Vec<_>>().join(", ");
            let member = format!("__call__({given})");
            changing(field("function")?, &member, &member)
        }
        _ => as_reading(inner, code, is_object).map(|code| MethodCall { code, change: None }),
    }
}

/// The call of a special method that an expression makes and that leaves the object as it was.
fn as_reading(
    expression: Node<'_>,
    code: &str,
    is_object: &dyn Fn(Node<'_>) -> bool,
) -> Option<String> {
    let text = |node: Node<'_>| text_of(node, code);
    let field = |name: &str| expression.child_by_field_name(name);
    let call = |object: Node<'_>, method: &str, given: &str| {
        is_object(object).then(|| format!("{}.{method}({given})", text(object)))
    };
    match expression.kind() {
        "call" => {
            let [object] = field("arguments").map(named_children)?.try_into().ok()?;
            let function = field_of(expression, "function", code);
            let (name, method) = FUNCTIONS.iter().find(|row| row.0 == function)?;
            let call = call(object, method, "")?;
            let is_around = ["list", "print"].contains(name);
            Some(if is_around { format!("{name}({call})") } else { call })
        }
        "subscript" => {
            let (object, key) = item_of(expression, code, is_object)?;
            call(object, "__getitem__", key)
        }
        "unary_operator" if field_of(expression, "operator", code) == "-" => {
            call(field("argument")?, "__neg__", "")
        }
        "binary_operator" | "comparison_operator" => {
            let [left, right] = named_children(expression).try_into().ok()?;
            let between = code.get(Node::end_byte(&left)..right.start_byte())?.trim();
            let method_of = |is_reversed: bool| {
                let mut rows = OPERATORS.iter();
                Some(rows.find(|row| row.1 == between && row.2 == is_reversed)?.0)
            };
            let forward = method_of(false).and_then(|method| call(left, method, text(right)));
            forward.or_else(|| call(right, method_of(true)?, text(left)))
        }
        _ => None,
    }
}

/// The object and the key of an item that is read, set or deleted.
fn item_of<'t, 'a>(
    item: Node<'t>,
    code: &'a str,
    is_object: &dyn Fn(Node<'_>) -> bool,
) -> Option<(Node<'t>, &'a str)> {
    let [object, key] = named_children(item).try_into().ok()?;
    let is_item = item.kind() == "subscript" && Node::kind(&key) != "slice";
    (is_item && is_object(object)).then(|| (object, text_of(key, code)))
}

/// An expression that a test compares.
pub struct Expression {
    pub text: String,
    /// Whether it asks about two values, such as `a < b`, so that it is asserted as it stands.
    pub is_condition: bool,
}

/// How a test writes what comes before a call: `del cart["a"]` for `del ["a"]`.
pub fn write_step(object: &str, step: &str) -> String {
    match step.strip_prefix("del ") {
        Some(item) => format!("del {object}{item}"),
        None if step.starts_with('[') => format!("{object}{step}"),
        None => format!("{object}.{step}"),
    }
}

/// How a test writes a call: `len(cart)` for `cart.__len__()`, `a + b` for `a.__add__(b)`.
pub fn write_call(callable: &Callable, callee: &str, given: &[String]) -> Expression {
    let plain = |text: String| Expression { text, is_condition: false };
    let [first, last] = [given.first(), given.last()].map(|one| one.map_or("", String::as_str));
    let given = given.join(", ");
    let Some((object, method)) = callee.rsplit_once('.').filter(|_| callable.is_operator()) else {
        let is_read = callable.is_property;
        return plain(if is_read { callee.to_owned() } else { format!("{callee}({given})") });
    };
    if let Some((_, operator, is_reversed)) = OPERATORS.iter().find(|row| row.0 == method) {
        let (left, right) =
            if *is_reversed { (given.as_str(), object) } else { (object, given.as_str()) };
        let text = format!("{left} {operator} {right}");
        return Expression { text, is_condition: operator.starts_with(['<', '>', '=', '!', 'i']) };
    }
    let name = method.trim_matches('_');
    plain(match name {
        "neg" => format!("-{object}"),
        "pos" => format!("+{object}"),
        "iter" | "enter" => object.to_owned(),
        "getitem" => format!("{object}[{given}]"),
        "setitem" => format!("{object}[{first}] = {last}"),
        "delitem" => format!("del {object}[{given}]"),
        "call" => format!("{object}({given})"),
        "format" => format!("format({object}, {given})"),
        _ => format!("{name}({object})"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::language::Language;
    use crate::code::signature::callables;

    #[test]
    fn expressions_and_statements_on_an_object_are_calls_of_its_methods() {
        let table = [
            ("len(c)", Some("c.__len__()"), None),
            ("list(c)", Some("list(c.__iter__())"), None),
            ("print(c)", Some("print(c.__str__())"), None),
            ("str(c)", Some("c.__str__()"), None),
            ("c['a']", Some("c.__getitem__('a')"), None),
            ("c[1:2]", None, None),
            ("c[1, 2]", None, None),
            ("c(2, n=3)", Some("c.__call__(2, n=3)"), Some("__call__(2, n=3)")),
            ("c == d", Some("c.__eq__(d)"), None),
            ("2 in c", Some("c.__contains__(2)"), None),
            ("2 not in c", None, None),
            ("c in d", None, None),
            ("c - 2", Some("c.__sub__(2)"), None),
            ("2 - c", Some("c.__rsub__(2)"), None),
            ("1 < c < 3", None, None),
            ("-c", Some("c.__neg__()"), None),
            ("c['a'] = 1", Some("c.__setitem__('a', 1)"), Some("['a'] = 1")),
            ("del c['a']", Some("c.__delitem__('a')"), Some("del ['a']")),
            ("len(d)", None, None),
            ("d['a']", None, None),
            ("sum(c)", None, None),
        ];
        for (code, expected, change) in table {
            let tree = Language::Python.parse(code).unwrap();
            let statement = tree.root_node().named_child(0).unwrap();
            let is_object = |one: Node<'_>| text_of(one, code) == "c";
            let found = as_method_call(statement, code, &is_object);
            let found = found.as_ref().map(|one| (one.code.as_str(), one.change.as_deref()));
            assert_eq!(found, expected.map(|code| (code, change)), "{code}");
        }
    }

    #[test]
    fn special_methods_are_called_by_their_expressions() {
        let table = [
            ("__len__", "", "len(A())", false),
            ("__add__", "2", "A() + 2", false),
            ("__radd__", "2", "2 + A()", false),
            ("__contains__", "2", "2 in A()", true),
            ("__eq__", "A()", "A() == A()", true),
            ("__getitem__", "'x'", "A()['x']", false),
            ("__delitem__", "'x'", "del A()['x']", false),
            ("__call__", "1", "A()(1)", false),
            ("__neg__", "", "-A()", false),
            ("__iter__", "", "A()", false),
            ("__enter__", "", "A()", false),
            ("__format__", "'x'", "format(A(), 'x')", false),
            ("size", "", "A().size", false),
            ("grow", "1", "A().grow(1)", false),
        ];
        for (method, given, expected, is_condition) in table {
            let mark = if method == "size" { "    @property\n" } else { "" };
            let text = format!("class A:\n{mark}    def {method}(self, x):\n        return x\n");
            let callable = callables(Language::Python, &text).remove(0);
            let given: Vec<String> =
                Some(given.to_owned()).filter(|one| !one.is_empty()).into_iter().collect();
            let written = write_call(&callable, &format!("A().{method}"), &given);
            assert_eq!((written.text.as_str(), written.is_condition), (expected, is_condition));
        }
    }

    #[test]
    fn items_are_set_and_taken_by_statements() {
        let text = "class A:\n    def __setitem__(self, key, value):\n        self.x = value\n";
        let put = callables(Language::Python, text).remove(0);
        let written = write_call(&put, "A().__setitem__", &["\"a\"".into(), "[1, 2]".into()]);
        assert_eq!(written.text, "A()[\"a\"] = [1, 2]");
        let table = [
            ("[\"a\"] = 1", "cart[\"a\"] = 1"),
            ("[\"a\"]", "cart[\"a\"]"),
            ("del [\"a\"]", "del cart[\"a\"]"),
            ("add(1)", "cart.add(1)"),
        ];
        for (step, expected) in table {
            assert_eq!(write_step("cart", step), expected);
        }
    }
}
