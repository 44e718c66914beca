//! Which line decides whether others run: that of a condition, and that of a loop.

use super::language::Language;
use super::tree::{first_field, line, named_children, named_nodes};

/// The line of each condition and of what each loop goes through, with the first line that depends on it.
pub fn deciding_lines(language: Language, text: &str) -> Vec<(u32, u32)> {
    let Some(tree) = language.parse(text) else { return Vec::new() };
    let decides = |node| {
        let condition = first_field(node, &["condition", "right", "value"])?;
        let body = first_field(node, &["consequence", "body"])?;
        let first = named_children(body).into_iter().next().unwrap_or(body);
        Some((line(condition), line(first)))
    };
    named_nodes(tree.root_node()).into_iter().filter_map(decides).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_decides_over_the_first_line_behind_it() {
        let table = [
            (
                Language::Go,
                "package a\n\nfunc f(a int) int {\n\tif a < 3 {\n\t\treturn a\n\t}\n\treturn 0\n}\n",
                (4, 5),
            ),
            (
                Language::Python,
                "def f(a):\n    if a < 3:\n        return a\n    return 0\n",
                (2, 3),
            ),
            (
                Language::Rust,
                "fn f(a: i32) -> i32 {\n    if a < 3 {\n        return a;\n    }\n    0\n}\n",
                (2, 3),
            ),
            (
                Language::Java,
                "class A {\n  int f(int a) {\n    while (a < 3) {\n      a++;\n    }\n    return a;\n  }\n}\n",
                (3, 4),
            ),
            (Language::JavaScript, "function f(a) {\n  if (a < 3)\n    return a;\n}\n", (2, 3)),
            (Language::Python, "def f(a):\n    for i in range(a):\n        g(i)\n", (2, 3)),
            (
                Language::Rust,
                "fn f(a: i32) {\n    for i in 0..a {\n        g(i);\n    }\n}\n",
                (2, 3),
            ),
        ];
        for (language, text, expected) in table {
            assert_eq!(deciding_lines(language, text), [expected], "{language:?}");
        }
    }
}
