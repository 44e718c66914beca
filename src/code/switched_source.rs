//! Sources in which several edits of a file stand side by side, and one is in effect when it is chosen at the
//! start of the program: one build for many candidates ("mutant schemata", Untch, Offutt and Harrold, 1993).

use std::collections::BTreeMap;
use std::ops::Range;

use tree_sitter::Node;

use super::language::Language;
use super::mutate::is_function;
use super::tree::{first_field, text_of, visit};

/// The environment variable whose value chooses an edit by its number.
pub const CHOSEN: &str = "REGREEN_CHOSEN";

/// A source with edits, each of which is a branch of its function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchedSource {
    pub text: String,
    /// The lines of each edit, from 1, with its number.
    branches: Vec<(Range<u32>, usize)>,
}

/// How a language chooses a branch.
struct SwitchForm {
    /// Stands once at the start of each function with branches.
    opening: &'static str,
    /// What stands before and after the body of an edit; `NUMBER` is that of the edit.
    around: fn(result: Option<&str>, header: &str) -> (String, &'static str),
    /// Whether a function cannot have two bodies.
    is_unfit: fn(function: Node<'_>, header: &str) -> bool,
}

const GO: SwitchForm = SwitchForm {
    opening: "\n",
    around: |result, _| {
        let after = match result {
            Some(_) => "\npanic(\"no result\")\n}\n",
            None => "\nreturn\n}\n",
        };
        ("if zzRegreenChosen == \"NUMBER\" {\n".into(), after)
    },
    // A label belongs to the whole function.
    is_unfit: |function, _| {
        let mut has_label = false;
        visit(function, |node| {
            has_label |= node.kind() == "labeled_statement";
            !has_label
        });
        has_label
    },
};

const RUST: SwitchForm = SwitchForm {
    opening: concat!(
        "#![allow(warnings)]\n",
        "static ZZ_CHOSEN: ::std::sync::OnceLock<Option<String>> = ::std::sync::OnceLock::new();\n",
        "let zz_chosen = ZZ_CHOSEN.get_or_init(|| ::std::env::var(\"REGREEN_CHOSEN\").ok()).as_deref();\n",
    ),
    around: |result, header| {
        let start = "if zz_chosen == Some(\"NUMBER\") {\nreturn ";
        // The compiler names one wrong `return` of a function, so each body is a function of its own. A
        // reference may come from what a closure owns.
        let result = result.unwrap_or("()");
        if header.contains("async ") || result.contains(['&', '\'']) {
            return (start.into(), "\n;}\n");
        }
        (format!("{start}(move || -> {result} "), "\n)();}\n")
    },
    is_unfit: |_, header| header.contains("const fn ") || header.contains("-> impl "),
};

impl SwitchForm {
    fn of(language: Language) -> Option<&'static Self> {
        match language {
            Language::Go => Some(&GO),
            Language::Rust => Some(&RUST),
            _ => None,
        }
    }
}

/// A function, its body, and the text of the body behind an edit.
type ChangedBody<'t, 'a> = (Node<'t>, Node<'t>, &'a str);

/// A function, its text up to the body, and the bodies that edits make of it, with their numbers.
type Bodies<'t> = (Node<'t>, &'t str, Vec<(usize, &'t str)>);

impl SwitchedSource {
    /// Joins edits of one file, given as the whole text that each makes of it, with their numbers. Left out is
    /// what is not within the bodies of functions. `None` where nothing is left, or in other languages.
    #[must_use]
    pub fn join_edits(language: Language, source: &str, edits: &[(usize, &str)]) -> Option<Self> {
        let form = SwitchForm::of(language)?;
        let tree = language.parse(source)?;
        let mut bodies: BTreeMap<usize, Bodies<'_>> = BTreeMap::new();
        for (number, after) in edits {
            let changed = changed_bodies(language, tree.root_node(), source, after);
            let header = |(function, body, _): &ChangedBody<'_, '_>| {
                source.get(function.start_byte()..body.start_byte()).unwrap_or_default()
            };
            if changed.iter().any(|one| (form.is_unfit)(one.0, header(one))) {
                continue;
            }
            for one in changed {
                let (header, (function, body, text)) = (header(&one), one);
                let found = bodies.entry(body.start_byte());
                found.or_insert((function, header, Vec::new())).2.push((*number, text));
            }
        }
        let mut joined = Self { text: String::new(), branches: Vec::new() };
        let mut copied = 0;
        for (start, (function, header, texts)) in &bodies {
            joined.text.push_str(source.get(copied..=*start)?);
            joined.text.push_str(form.opening);
            let result = first_field(*function, &["result", "return_type"]);
            let (before, after) = (form.around)(result.map(|one| text_of(one, source)), header);
            for (number, text) in texts {
                joined.text.push_str(&before.replace("NUMBER", &number.to_string()));
                let first = joined.next_line();
                joined.text.push_str(text);
                joined.branches.push((first..joined.next_line() + 1, *number));
                joined.text.push_str(after);
            }
            copied = start + 1;
        }
        joined.text.push_str(source.get(copied..)?);
        (!joined.branches.is_empty()).then_some(joined)
    }

    /// The line, from 1, on which the next text begins.
    fn next_line(&self) -> u32 {
        u32::try_from(self.text.matches('\n').count()).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// The edit whose text a line belongs to.
    #[must_use]
    pub fn number_at(&self, line: u32) -> Option<usize> {
        self.branches.iter().find(|(lines, _)| lines.contains(&line)).map(|(_, number)| *number)
    }

    /// The numbers of the edits that it holds.
    pub fn branch_numbers(&self) -> impl Iterator<Item = usize> {
        self.branches.iter().map(|(_, number)| *number)
    }
}

/// A file that a package needs beside its switched sources: its name and text.
#[must_use]
pub fn switch_file(language: Language, source: &str) -> Option<(&'static str, String)> {
    let package = super::go_packages::package_name(source).filter(|_| language == Language::Go)?;
    // A recursion without end would fill a gigabyte first.
    let text = format!(
        "package {package}\n\nimport (\n\t\"os\"\n\t\"runtime/debug\"\n)\n\n\
         var zzRegreenChosen = os.Getenv(\"{CHOSEN}\")\n\n\
         func init() {{ debug.SetMaxStack(1 << 26) }}\n"
    );
    Some(("zz_regreen_chosen.go", text))
}

/// The bytes of a text that differ from another, without its equal start and end.
fn changed_range(before: &str, after: &str) -> Range<usize> {
    let same = |one: &[u8], other: &[u8]| one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (one, other) = (before.as_bytes(), after.as_bytes());
    let start = same(one, other);
    let most = one.len().min(other.len()) - start;
    let reversed = one.iter().rev().zip(other.iter().rev()).take(most);
    let end = reversed.take_while(|(a, b)| a == b).count();
    start..one.len() - end
}

/// The bodies of functions that an edit changes, if it changes nothing else.
fn changed_bodies<'t, 'a>(
    language: Language,
    root: Node<'t>,
    source: &str,
    after: &'a str,
) -> Vec<ChangedBody<'t, 'a>> {
    if let Some((function, body)) = enclosing_body(root, &changed_range(source, after)) {
        let end = after.len().checked_sub(source.len() - body.end_byte());
        let text = end.and_then(|end| after.get(body.start_byte()..end));
        return text.map(|text| (function, body, text)).into_iter().collect();
    }
    let Some(edited) = language.parse(after) else { return Vec::new() };
    let (old, new) = (outer_bodies(root), outer_bodies(edited.root_node()));
    if without_bodies(source, &old) != without_bodies(after, &new) {
        return Vec::new();
    }
    let pairs = old.into_iter().zip(new);
    let texts = pairs.filter_map(|((function, body), (_, edited))| {
        let text = after.get(edited.byte_range())?;
        (source.get(body.byte_range())? != text).then_some((function, body, text))
    });
    texts.collect()
}

/// The outermost functions that have a body, with it.
fn outer_bodies(root: Node<'_>) -> Vec<(Node<'_>, Node<'_>)> {
    let mut found = Vec::new();
    visit(root, |node| {
        let body = node.child_by_field_name("body").filter(|_| is_function(node));
        found.extend(body.map(|body| (node, body)));
        body.is_none()
    });
    found
}

/// A text with a mark for each body.
fn without_bodies(text: &str, bodies: &[(Node<'_>, Node<'_>)]) -> String {
    let (mut rest, mut copied) = (String::new(), 0);
    for (_, body) in bodies {
        rest.push_str(text.get(copied..body.start_byte()).unwrap_or_default());
        rest.push('\0');
        copied = body.end_byte();
    }
    rest + text.get(copied..).unwrap_or_default()
}

/// The outermost function with a body that has a range inside of its braces.
fn enclosing_body<'t>(root: Node<'t>, range: &Range<usize>) -> Option<(Node<'t>, Node<'t>)> {
    let mut found = None;
    visit(root, |node| {
        let holds = node.start_byte() <= range.start && range.end <= node.end_byte();
        if found.is_none() && holds && is_function(node) {
            let body = node.child_by_field_name("body");
            let body =
                body.filter(|body| body.start_byte() < range.start && range.end < body.end_byte());
            found = body.map(|body| (node, body));
        }
        found.is_none() && holds
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRICES: &str = "package prices\n\nfunc Rate(n int) float64 {\n\tif n > 50 {\n\t\treturn 0.1\n\t}\n\treturn 0\n}\n\nfunc Log(n int) { println(n) }\n";

    #[test]
    fn edits_are_branches_of_their_functions() {
        let texts = [PRICES.replace("> 50", ">= 50"), PRICES.replace("(n) }", "(-n) }")];
        let edits = [(7, texts[0].as_str()), (8, texts[1].as_str())];
        let joined = SwitchedSource::join_edits(Language::Go, PRICES, &edits).unwrap();
        insta::assert_snapshot!(joined.text, @r#"
        package prices

        func Rate(n int) float64 {
        if zzRegreenChosen == "7" {
        {
        	if n >= 50 {
        		return 0.1
        	}
        	return 0
        }
        panic("no result")
        }

        	if n > 50 {
        		return 0.1
        	}
        	return 0
        }

        func Log(n int) {
        if zzRegreenChosen == "8" {
        { println(-n) }
        return
        }
         println(n) }
        "#);
        assert_eq!(crate::code::syntax::first_error(Language::Go, &joined.text), None);
        let lines = [4, 5, 6, 10, 11, 22].map(|line| joined.number_at(line));
        assert_eq!(lines, [None, Some(7), Some(7), Some(7), None, Some(8)]);
        assert_eq!(joined.branch_numbers().collect::<Vec<_>>(), [7, 8]);
    }

    #[test]
    fn what_is_not_within_one_function_is_left_out() {
        let rust = "const N: u32 = 1;\nfn a() -> u32 {\n    N\n}\nconst fn b() -> u32 { 2 }\nfn c() -> impl Iterator { 3 }\n";
        let go = "package p\n\nvar n = 1\n\nfunc f() {\nout:\n\tfor {\n\t\tbreak out\n\t}\n}\n";
        let pair = "package p\n\nfunc a() int { return 1 }\nfunc b() int { return 1 }\n";
        let python = "def f():\n    return 1\n";
        let table = [
            ("in a function", Language::Rust, rust, "    N\n", "    N + 1\n", true),
            ("outside", Language::Rust, rust, "= 1", "= 2", false),
            (
                "two functions",
                Language::Go,
                pair,
                "1 }\nfunc b() int { return 1",
                "2 }\nfunc b() int { return 2",
                true,
            ),
            ("more than they", Language::Go, pair, "1 }\nfunc b", "2 }\nfunc c", false),
            (
                "one is constant",
                Language::Rust,
                rust,
                "N\n}\nconst fn b() -> u32 { 2",
                "1\n}\nconst fn b() -> u32 { 1",
                false,
            ),
            ("a constant function", Language::Rust, rust, "{ 2 }", "{ 3 }", false),
            ("of an unnamed type", Language::Rust, rust, "{ 3 }", "{ 4 }", false),
            ("a name of the function", Language::Rust, rust, "fn a", "fn d", false),
            ("a label", Language::Go, go, "break out", "return", false),
            ("not compiled", Language::Python, python, "1", "2", false),
        ];
        for (why, language, source, from, to, expected) in table {
            let after = source.replacen(from, to, 1);
            let joined = SwitchedSource::join_edits(language, source, &[(1, &after)]);
            assert_eq!(joined.is_some(), expected, "{why}");
        }
    }

    #[test]
    fn each_body_of_rust_returns_for_itself() {
        let table = [
            ("fn a(n: u8) -> u8 {\n    n\n}\n", "return (move || -> u8 {\n    m\n}\n)();}"),
            ("fn a(n: u8) {\n    n;\n}\n", "return (move || -> () {\n    m;\n}\n)();}"),
            ("fn a(n: &u8) -> &u8 {\n    n\n}\n", "return {\n    m\n}\n;}"),
            ("async fn a(n: u8) -> u8 {\n    n\n}\n", "return {\n    m\n}\n;}"),
        ];
        for (source, expected) in table {
            let after = source.replace("    n", "    m");
            let joined =
                SwitchedSource::join_edits(Language::Rust, source, &[(1, &after)]).unwrap();
            assert!(joined.text.contains(expected), "{}", joined.text);
            assert_eq!(crate::code::syntax::first_error(Language::Rust, &joined.text), None);
        }
    }

    #[test]
    fn a_package_of_go_reads_the_variable_once() {
        let (name, text) = switch_file(Language::Go, PRICES).unwrap();
        assert!(name.ends_with(".go") && text.starts_with("package prices\n"), "{name} {text}");
        assert_eq!(switch_file(Language::Rust, "fn a() {}"), None);
    }
}
