//! Expressions of Python that call a special method, or read a property.

use crate::code::signature::Callable;

/// Methods that an operator between two values calls, and whether these are in reverse.
const BINARY: &[(&str, &str, bool)] = &[
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
    if let Some((_, operator, is_reversed)) = BINARY.iter().find(|row| row.0 == method) {
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
