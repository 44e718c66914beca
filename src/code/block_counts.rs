//! Rust sources that count how often each block of their functions runs.

use super::language::Language;
use super::tree::{around, end_line, line, named_nodes, text_of};

/// A text whose functions count how often each of their blocks runs, and the lines of each block.
pub fn with_counts(text: &str) -> (String, Vec<Vec<u32>>) {
    let Some(tree) = Language::Rust.parse(text) else { return (text.to_owned(), Vec::new()) };
    let is_counted = |node: &tree_sitter::Node<'_>| {
        let function = around(*node, &["function_item"]);
        let head = function.and_then(|one| text_of(one, text).split('{').next());
        node.kind() == "block"
            && function.is_some_and(|one| one.child_by_field_name("body").is_some())
            && !head.is_some_and(|head| head.contains("const "))
            && around(*node, &["const_item", "static_item", "macro_definition"]).is_none()
    };
    let blocks: Vec<_> = named_nodes(tree.root_node()).into_iter().filter(is_counted).collect();
    let (mut counted, mut end) = (String::new(), 0);
    let mut lines = Vec::new();
    for (number, block) in blocks.iter().enumerate() {
        let start = block.start_byte() + 1;
        counted.push_str(text.get(end..start).unwrap_or_default());
        counted.push_str(&format!(" crate::zz_regreen::hit({number});"));
        end = start;
        let is_inner = |row: u32| {
            let inner = blocks.get(number + 1..).unwrap_or_default().iter();
            let mut inner = inner.take_while(|one| one.start_byte() < block.end_byte());
            inner.any(|one| (line(*one) + 1..end_line(*one)).contains(&row))
        };
        lines.push((line(*block)..=end_line(*block)).filter(|row| !is_inner(*row)).collect());
    }
    counted.push_str(text.get(end..).unwrap_or_default());
    (counted, lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_functions_are_counted_on_their_own_lines() {
        let text = "pub fn f(a: u8) -> u8 {\n    if a > 1 {\n        return 2;\n    }\n    a\n}\n\nconst fn g() -> u8 { 1 }\n";
        let (counted, lines) = with_counts(text);
        let expected = text.replacen("u8 {", "u8 { crate::zz_regreen::hit(0);", 1).replacen(
            "1 {",
            "1 { crate::zz_regreen::hit(1);",
            1,
        );
        assert_eq!(counted, expected);
        assert_eq!(lines, [vec![1, 2, 4, 5, 6], vec![2, 3, 4]]);
    }
}
