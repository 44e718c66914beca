//! The statements in the examples of one documentation, with what is shown for each.

use tree_sitter::Node;

use super::is_literal;
use crate::code::language::Language;
use crate::code::pattern::Pattern;
use crate::code::tree::{field_of, named_children, named_nodes, text_of};

/// Maximum number of lines of one call, and of one result, in a comment.
const LINES: usize = 8;

/// What stands before a result in a comment.
pub const RESULT_MARKS: &[&str] =
    &["=>", "->", "→", "⇒", "returns", "Returns", "===", "==", "throws", "Throws", ">"];

/// How a comment begins that states a condition.
const CONDITIONS: &[&str] = &["On ", "If ", "When ", "With ", "Where ", "Assuming ", "Given "];

/// A short name of a module in running text: `` `import portion as P` ``.
static NAMED_IMPORT: Pattern = Pattern::new(r"`(import \w+ as \w+)`");

/// Statements behind `>>>` with the text that the interpreter shows for each, behind the imports that running text
/// names.
pub fn prompt_statements(documentation: &str) -> Vec<(String, String)> {
    let imports = NAMED_IMPORT.captures(documentation);
    let imports = imports.filter_map(|one| Some((one.get(1)?.as_str().to_owned(), String::new())));
    let mut found: Vec<(String, String)> = imports.collect();
    let mut is_open = false;
    for line in documentation.lines().map(str::trim) {
        let code = line.strip_prefix(">>>").map(str::trim);
        if let Some(code) = code {
            found.push((code.to_owned(), String::new()));
            is_open = true;
        } else if line.is_empty() || FENCES.iter().any(|fence| line.starts_with(fence)) {
            is_open = false;
        } else if let Some((code, shown)) = found.last_mut().filter(|_| is_open) {
            match line.strip_prefix("...").filter(|_| shown.is_empty()) {
                Some(more) => code.push_str(&format!("\n{more}")),
                None => shown.push_str(&format!("{line}\n")),
            }
        }
    }
    for (code, shown) in &mut found {
        let Some((statement, options)) = code.split_once("# doctest:") else { continue };
        // What is not run, or compared in part only, shows no result.
        if options.contains("+SKIP") || options.contains("+ELLIPSIS") && shown.contains("...") {
            shown.clear();
        }
        *code = statement.trim().to_owned();
    }
    found
        .into_iter()
        .map(|(code, shown)| split_comparison(&code, &shown).unwrap_or((code, shown)))
        .collect()
}

/// What a prompt asserts to be equal to something, or shows to be equal to a literal, with that as its result.
fn split_comparison(code: &str, shown: &str) -> Option<(String, String)> {
    let is_assertion = code.starts_with("assert ") && shown.is_empty();
    if !is_assertion && (shown.trim() != "True" || !code.contains("==")) {
        return None;
    }
    let tree = Language::Python.parse(code).filter(|tree| !tree.root_node().has_error())?;
    let compared = tree.root_node().named_child(0)?.named_child(0)?;
    let [left, right] = named_children(compared).try_into().ok()?;
    let is_value = is_assertion || is_literal(right) && Node::kind(&left) == "call";
    let is_equal = is_value && field_of(compared, "operators", code) == "==";
    is_equal.then(|| (text_of(left, code).to_owned(), text_of(right, code).to_owned()))
}

/// Words behind the fence of a block of Rust that fails.
const FAILING: &[&str] = &["should_panic", "compile_fail"];

/// What opens and closes a block of code in Markdown.
const FENCES: [&str; 2] = ["```", "~~~"];

/// The directives of reStructuredText that hold code.
const DIRECTIVES: [&str; 3] = [".. code-block::", ".. code::", ".. sourcecode::"];

/// What ends a block of code on a page.
#[derive(Clone, Copy)]
enum BlockEnd {
    /// In Markdown, a line with this fence.
    Fence(&'static str),
    /// In reStructuredText, a line that is indented no more than this.
    Indentation(usize),
}

/// The end of the block of code that a line of a page opens, and the words that say what it is.
fn opened_block(line: &str) -> Option<(BlockEnd, &str)> {
    let words = line.trim();
    let mut fences = FENCES.iter();
    if let Some((fence, kind)) = fences.find_map(|one| Some((*one, words.strip_prefix(*one)?))) {
        return Some((BlockEnd::Fence(fence), kind.trim()));
    }
    let kind = DIRECTIVES.iter().find_map(|one| words.strip_prefix(one));
    let is_literal = words.ends_with("::") && !words.starts_with("..");
    let kind = kind.or(is_literal.then_some(""))?;
    Some((BlockEnd::Indentation(indentation(line)), kind.trim()))
}

/// The blocks of code on a page of Markdown or reStructuredText, each with the words that say what it is.
fn blocks_of_code(page: &str) -> Vec<(&str, String)> {
    let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut open: Option<BlockEnd> = None;
    for line in page.lines() {
        let (is_end, is_fence) = match open {
            Some(BlockEnd::Fence(fence)) => (line.trim_start().starts_with(fence), true),
            Some(BlockEnd::Indentation(outer)) => {
                (!line.trim().is_empty() && indentation(line) <= outer, false)
            }
            None => (true, false),
        };
        if !is_end {
            let lines = found.last_mut().map(|(_, lines)| lines);
            let is_option = |lines: &Vec<&str>| lines.is_empty() && line.trim().starts_with(':');
            if let Some(lines) = lines.filter(|lines| is_fence || !is_option(lines)) {
                lines.push(line);
            }
            continue;
        }
        let opened = Some(line).filter(|_| !is_fence).and_then(opened_block);
        open = opened.map(|(end, _)| end);
        found.extend(opened.map(|(_, kind)| (kind, Vec::new())));
    }
    found.into_iter().map(|(kind, lines)| (kind, without_indentation(&lines))).collect()
}

/// The width of the blanks that a line begins with.
fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Lines without the indentation that all of them have.
fn without_indentation(lines: &[&str]) -> String {
    let filled = lines.iter().filter(|line| !line.trim().is_empty());
    let common = filled.map(|line| indentation(line)).min().unwrap_or_default();
    lines.iter().map(|line| format!("{}\n", line.get(common..).unwrap_or_default())).collect()
}

/// The lines inside the blocks of code on a page.
pub fn code_blocks(page: &str) -> String {
    let blocks = blocks_of_code(page).into_iter();
    let shown = blocks.filter(|(kind, _)| !FAILING.iter().any(|word| kind.contains(word)));
    shown.map(|(_, text)| text).collect()
}

/// The blocks on a page whose words begin so, and those of which nothing says what they are.
pub fn blocks_of_kind(page: &str, start: &str) -> Vec<String> {
    let blocks = blocks_of_code(page).into_iter();
    let own =
        blocks.filter(|(kind, _)| kind.is_empty() || kind.to_ascii_lowercase().starts_with(start));
    own.map(|(_, text)| text).collect()
}

/// The statements of a script in Python: what is asserted to be equal to a result, and what has one in the
/// comment behind it.
pub fn script_statements(script: &str, is_result: &dyn Fn(&str) -> bool) -> Vec<(String, String)> {
    let is_prompt = |line: &str| line.starts_with(">>>") || line.starts_with("...");
    let lines = script.lines().map(|line| if is_prompt(line) { "" } else { line });
    let script = lines.collect::<Vec<_>>().join("\n");
    let Some(tree) = Language::Python.parse(&script) else { return Vec::new() };
    let nodes = named_children(tree.root_node());
    let mut found = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        let next = nodes.get(at + 1).filter(|one| one.kind() == "comment");
        let beside = next.filter(|one| one.start_position().row == node.end_position().row);
        let compared = node.named_child(0).filter(|one| {
            node.kind() == "assert_statement" && field_of(*one, "operators", &script) == "=="
        });
        let asserted = compared.map(named_children);
        match (asserted.as_deref(), node.kind()) {
            (_, "comment" | "ERROR") => {}
            (Some([left, right]), _) => {
                found.push((text_of(*left, &script).into(), text_of(*right, &script).into()));
            }
            _ => {
                let code = text_of(*node, &script);
                let said = beside.map_or("", |one| text_of(*one, &script));
                found.push((code.into(), result_beside(code, said, is_result).into()));
            }
        }
    }
    found
}

/// The result in the comment behind a statement of Python. Without a mark it may be a remark: only a literal
/// counts that is neither the number of a note nor a value of the statement.
fn result_beside<'a>(code: &str, comment: &'a str, is_result: &dyn Fn(&str) -> bool) -> &'a str {
    let shown = comment.strip_prefix('#').unwrap_or_default().trim();
    if shown.starts_with("raises ") && is_result(shown) {
        return shown;
    }
    if let Some(mark) = RESULT_MARKS.iter().find(|mark| shown.starts_with(*mark)) {
        return shown.trim_start_matches(*mark).trim();
    }
    let number = shown.trim_start_matches('(').trim_end_matches(')');
    let is_note = number != shown && number.chars().all(|c| c.is_ascii_digit());
    let is_repeated = code.contains(shown);
    if is_note || is_repeated || !is_result(shown) { "" } else { shown }
}

/// Statements with the comment behind the last of a line, or on the lines below if that is a result. Stars
/// of a comment that stand in front are left out.
pub fn commented_statements(
    language: Language,
    documentation: &str,
    is_result: &dyn Fn(&str) -> bool,
) -> Vec<(String, String)> {
    let is_mark = |c: char| c.is_whitespace() || c == '*' || c == '/';
    let lines: Vec<(bool, &str)> = documentation
        .lines()
        .map(|line| {
            let is_comment = line.trim_start_matches([' ', '\t', '*']).starts_with("//");
            let line = line.trim_start_matches(is_mark).trim_end().trim_end_matches("*/");
            (is_comment, line.trim_start_matches("@example").trim())
        })
        .collect();
    let mut found = Vec::new();
    let mut next = 0;
    // Whether a comment states a condition for the calls below it.
    let mut is_conditional = false;
    while next < lines.len() {
        if let Some((is_comment, line)) = lines.get(next) {
            let is_kept = line.is_empty() || !is_comment;
            is_conditional = is_kept && is_conditional && !line.starts_with("```")
                || *is_comment && CONDITIONS.iter().any(|word| line.starts_with(word));
        }
        let (mut code, mut shown, count) = statements_at(language, &lines, next);
        next += count;
        if shown.is_empty() {
            shown = result_at(&lines, next, is_result);
        }
        if is_conditional {
            shown.clear();
        }
        let last = code.pop();
        found.extend(code.into_iter().map(|one| (one, String::new())));
        found.extend(last.map(|last| (last, shown)));
    }
    found
}

/// The statements of a line, or of the lines over which one goes on, with the comment behind them, and
/// the number of lines.
fn statements_at(
    language: Language,
    lines: &[(bool, &str)],
    at: usize,
) -> (Vec<String>, String, usize) {
    let joined = |count: usize| {
        let part = lines.iter().skip(at).take(count).map(|(_, line)| *line);
        part.collect::<Vec<_>>().join(" ")
    };
    let is_open = |text: &str| text.contains('(') && text.ends_with(['(', '[', '{', ',']);
    for count in 1..=if is_open(&joined(1)) { LINES } else { 1 } {
        let text = joined(count);
        let tree = language.parse(&text).filter(|tree| !tree.root_node().has_error());
        let Some(tree) = tree else { continue };
        // Behind a call without a semicolon a comment is a part of the statement.
        let nodes = named_nodes(tree.root_node());
        let is_last = |one: &&Node<'_>| one.kind() == "comment" && one.end_byte() == text.len();
        let end = nodes.iter().find(is_last).map_or(text.len(), Node::start_byte);
        let parts = named_children(tree.root_node()).into_iter();
        let code = parts.filter_map(|one| text.get(one.start_byte()..one.end_byte().min(end)));
        let code = code.map(|one| one.trim().trim_end_matches(';').to_owned());
        let comment = text.get(end..).unwrap_or_default().trim_start_matches('/').trim();
        return (code.filter(|one| !one.is_empty()).collect(), comment.to_owned(), count);
    }
    (vec![joined(1)], String::new(), 1)
}

/// The result that the comments from one line on show: as many lines as make a literal, or the first
/// where it begins as a result does.
fn result_at(lines: &[(bool, &str)], at: usize, is_result: &dyn Fn(&str) -> bool) -> String {
    let is_marked = |line: &str| RESULT_MARKS.iter().any(|mark| line.starts_with(mark));
    let below =
        lines.iter().skip(at).take_while(|(is_comment, line)| *is_comment || is_marked(line));
    let below: Vec<&str> = below.map(|(_, line)| *line).take(LINES).collect();
    let mut parts = (1..=below.len()).filter_map(|count| Some(below.get(..count)?.join(" ")));
    let whole = parts.find(|text| is_result(text));
    let first = || below.first().filter(|line| is_marked(line)).map(|line| (*line).to_owned());
    whole.or_else(first).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_asserts_results_or_names_them_behind_its_statements() {
        let script = "import ini\n>>> old(1)\ntext = \"\"\"\na=1\n\"\"\"\nassert ini.read(text) == {\n  'a': 1,\n}\nini.size(text)  # => 5\nini.count()  # 3\nassert ini.ok\nini.show(7)  # 7\nini.note()  # (1)\nprint(ini.name())  # shows it\n";
        let expected = [
            ("import ini", ""),
            ("text = \"\"\"\na=1\n\"\"\"", ""),
            ("ini.read(text)", "{\n  'a': 1,\n}"),
            ("ini.size(text)", "5"),
            ("ini.count()", "3"),
            ("assert ini.ok", ""),
            ("ini.show(7)", ""),
            ("ini.note()", ""),
            ("print(ini.name())", ""),
        ];
        let found = script_statements(script, &|text| text.parse::<u32>().is_ok());
        let found: Vec<(&str, &str)> =
            found.iter().map(|(code, shown)| (code.as_str(), shown.as_str())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn prompts_assert_and_compare_results() {
        let table = [
            (">>> assert fee(2) == 3\n", ("fee(2)", "3")),
            (">>> fee(2) == 3\nTrue\n", ("fee(2)", "3")),
            (">>> fee(2) == 3\nFalse\n", ("fee(2) == 3", "False\n")),
            (">>> fee(2) == fee(3)\nTrue\n", ("fee(2) == fee(3)", "True\n")),
            ("```\n>>> fee(2)\n3\n```\n", ("fee(2)", "3\n")),
            (">>> assert fee(2)\n", ("assert fee(2)", "")),
            (">>> assert fee(2) != 3\n", ("assert fee(2) != 3", "")),
        ];
        for (text, (code, shown)) in table {
            assert_eq!(prompt_statements(text), [(code.to_owned(), shown.to_owned())], "{text}");
        }
    }

    #[test]
    fn running_text_names_modules() {
        let page = "With `import portion as P`:\n\n>>> P.closed(0, 3)\n[0,3]\n";
        let found = prompt_statements(page);
        let codes: Vec<&str> = found.iter().map(|(code, _)| code.as_str()).collect();
        assert_eq!(codes, ["import portion as P", "P.closed(0, 3)"]);
    }

    #[test]
    fn blocks_of_other_languages_are_no_scripts() {
        let page = "- Use:\n\n  ```python\n  a = 1\n  if a:\n    b()\n  ```\n\n```toml\na = 2\n```\n```\nc()\n```\n";
        assert_eq!(blocks_of_kind("```Python\na = 1\n```\n", "py"), ["a = 1\n"]);
        assert_eq!(blocks_of_kind(page, "py"), ["a = 1\nif a:\n  b()\n", "c()\n"]);
        assert_eq!(code_blocks(page), "a = 1\nif a:\n  b()\na = 2\nc()\n");
        assert_eq!(code_blocks("```should_panic\nx\n```\n"), "");
        let page = "Usage\n=====\n\n.. code:: python\n\n  a = 1\n\n  if a:\n    b()\n\nThen::\n\n    c()\n\n.. code-block:: bash\n   :linenos:\n\n   pip install x\n\n.. image:: https://x.org/a.png\n    :alt: a\n";
        assert_eq!(blocks_of_kind(page, "py"), ["\na = 1\n\nif a:\n  b()\n\n", "\nc()\n\n"]);
        assert_eq!(code_blocks("~~~ java\na();\n~~~\nb\n"), "a();\n");
    }
}
