//! Java sources that count how often each run of statements is entered.

use tree_sitter::Node;

use super::language::Language;
use super::tree::{end_line, line, named_nodes, statements};

/// Statements with others inside, behind which it is open whether the next one runs.
const BRANCHING: &[&str] = &[
    "if_statement",
    "for_statement",
    "enhanced_for_statement",
    "while_statement",
    "do_statement",
    "try_statement",
    "try_with_resources_statement",
    "switch_expression",
    "labeled_statement",
    "synchronized_statement",
];

/// Statements that follow each other: all of them run if the first one does, unless one throws.
struct Run {
    start: usize,
    end: usize,
    lines: (u32, u32),
    /// Whether it is a single statement that has no braces around it.
    is_bare: bool,
}

/// A text that calls `count` where each run of statements begins; and the lines of each run.
pub fn with_statement_counts(text: &str, count: &str) -> (String, Vec<Vec<u32>>) {
    let Some(tree) = Language::Java.parse(text) else { return (text.to_owned(), Vec::new()) };
    let mut runs: Vec<Run> = named_nodes(tree.root_node()).into_iter().flat_map(runs_of).collect();
    runs.sort_by_key(|run| (run.start, std::cmp::Reverse(run.end)));
    let mut inserted: Vec<(usize, String)> = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        let open = if run.is_bare { "{ " } else { "" };
        inserted.push((run.start, format!("{open}{count}({number}); ")));
        inserted.extend(Some((run.end, " }".to_owned())).filter(|_| run.is_bare));
    }
    // Of two at one place, what ends comes before what begins.
    inserted.sort_by_key(|(at, added)| (*at, added != " }"));
    let (mut counted, mut end) = (String::new(), 0);
    for (at, added) in inserted {
        counted.push_str(text.get(end..at).unwrap_or_default());
        counted.push_str(&added);
        end = at;
    }
    counted.push_str(text.get(end..).unwrap_or_default());
    let starts: Vec<usize> = text
        .split_inclusive('\n')
        .scan(0, |at, row| {
            let start = *at + row.len() - row.trim_start().len();
            *at += row.len();
            Some(start)
        })
        .collect();
    let lines = |number: usize, run: &Run| -> Vec<u32> {
        let inner = runs.get(number + 1..).unwrap_or_default();
        let inner = || inner.iter().take_while(|one| one.start < run.end);
        let is_own = |row: &u32| {
            let first = usize::try_from(row - 1).ok().and_then(|row| starts.get(row));
            let first = first.copied().unwrap_or_default();
            !inner().any(|one| (one.start..one.end).contains(&first))
        };
        (run.lines.0..=run.lines.1).filter(is_own).collect()
    };
    let lines = runs.iter().enumerate().map(|(number, run)| lines(number, run)).collect();
    (counted, lines)
}

/// The runs of statements directly inside of a node.
fn runs_of(node: Node<'_>) -> Vec<Run> {
    let run = |list: &[Node<'_>], is_bare: bool| {
        let (first, last) = (list.first()?, list.last()?);
        let lines = (line(*first), end_line(*last));
        Some(Run { start: first.start_byte(), end: last.end_byte(), lines, is_bare })
    };
    match node.kind() {
        "block" | "constructor_body" | "switch_block_statement_group" => {
            let mut list = statements(node);
            list.retain(|one| {
                !matches!(one.kind(), "explicit_constructor_invocation" | "switch_label")
            });
            let is_end = |one: &Node<'_>| {
                let kind = one.named_child(0).filter(|_| one.kind() == "expression_statement");
                BRANCHING.contains(&kind.unwrap_or(*one).kind())
            };
            list.split_inclusive(is_end).filter_map(|part| run(part, false)).collect()
        }
        kind if BRANCHING.contains(&kind) && kind != "labeled_statement" => {
            let parts = ["consequence", "alternative", "body"];
            let parts = parts.iter().filter_map(|name| node.child_by_field_name(name));
            let bare = parts.filter(|one| {
                one.kind().ends_with("_statement") && one.kind() != "if_statement"
                    || one.kind() == "if_statement" && node.kind() != "if_statement"
            });
            bare.filter_map(|one| run(&[one], true)).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_statements_are_counted_on_their_own_lines() {
        let text = "class A {\n  A() {\n    super();\n    b = 1;\n  }\n  int f(int a) {\n    if (a > 1)\n      return 2;\n    else {\n      a++;\n    }\n    for (;;) if (a > 3) break;\n    switch (a) {\n      case 1: a = 2; break;\n      default:\n    }\n    return a;\n  }\n}\n";
        let (counted, lines) = with_statement_counts(text, "Z.hit");
        let expected = "class A {\n  A() {\n    super();\n    Z.hit(0); b = 1;\n  }\n  int f(int a) {\n    Z.hit(1); if (a > 1)\n      { Z.hit(2); return 2; }\n    else {\n      Z.hit(3); a++;\n    }\n    Z.hit(4); for (;;) { Z.hit(5); if (a > 3) { Z.hit(6); break; } }\n    Z.hit(7); switch (a) {\n      case 1: Z.hit(8); a = 2; break;\n      default:\n    }\n    Z.hit(9); return a;\n  }\n}\n";
        assert_eq!(counted, expected);
        let own = [
            vec![4],
            vec![7, 9, 11],
            vec![8],
            vec![10],
            vec![12],
            vec![12],
            vec![12],
            vec![13, 14, 15, 16],
            vec![14],
            vec![17],
        ];
        assert_eq!(lines, own);
    }
}
