//! Texts that match the regular expressions of a source, as inputs for the functions that use them.

use std::collections::VecDeque;

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

use crate::code::language::Language;
use crate::code::pattern::Pattern;
use crate::code::tree::{named_children, text_of};

use super::date_texts::date_texts;

/// Longest text.
const LONGEST: usize = 60;

/// The most signs of a list.
const SIGNS: usize = 8;

/// The most texts that differ in one choice.
const VARIANTS: usize = 40;

/// The most texts that are tried for them, and the most choices of one text.
const TRIED: usize = 160;
const CHOICES: usize = 400;

/// What an expression asks of the text around a match.
static LOOKAROUND: Pattern = Pattern::new(r"\(\?<?[=!][^()]*\)");

/// Texts in the notations that code may read, by what stands in such code: characters beyond ASCII and
/// bytes that are none, and escaped bytes.
static NOTATIONS: [(Pattern, &str); 2] = [
    (
        Pattern::new(
            r#"\butf8\.|\[\]rune\b|\.encode\(\s*(?:\)|["'])|\bTextEncoder\b|\b(?:ord\(|charCodeAt|codePointAt|fromCharCode|unicodedata)"#,
        ),
        r"piña a\xffb 日本 a😀b \xff\xfeb",
    ),
    (
        Pattern::new(r"%\(?\[(?:0-9|\\d|[aA]-[fF])|\bdecodeURI|\bunquote\("),
        "a%20b%C3%A9 %E2%82%AC %F0%9F%98%80 %C3%28 %C0%80 %E2%28%A1 %E0%80%80 %F0%80%80%80 %3b+%41 100%",
    ),
];

/// Texts in the notations that some lines of code read.
pub fn notation_texts(lines: &[(u32, &str)]) -> Vec<String> {
    let read =
        NOTATIONS.iter().filter(|(mark, _)| lines.iter().any(|(_, line)| mark.is_match(line)));
    let texts = read.flat_map(|(_, texts)| texts.split(' ')).map(|text| format!("\"{text}\""));
    texts.chain(date_texts(lines)).collect()
}

/// Which text of all that match is made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Choice {
    /// What may be left out is left out; the first of several alternatives.
    Shortest,
    /// Everything is there; the last of several alternatives.
    Fullest,
}

/// Texts that match a regular expression, as literals; none where it uses what only its language has.
/// The expression is written as in JavaScript, `/^a+$/i`, or as a call in Python, `re.compile(r"^a+$")`.
pub fn matching_texts(expression: &str) -> Vec<String> {
    if let Some(pattern) = python_pattern(expression) {
        let is_verbose = ["re.VERBOSE", "re.X"].iter().any(|flag| expression.contains(flag));
        return texts_of_pattern(&pattern, is_verbose);
    }
    let Some((pattern, flags)) =
        expression.strip_prefix('/').and_then(|rest| rest.rsplit_once('/'))
    else {
        return Vec::new();
    };
    if flags.contains('x') {
        return Vec::new();
    }
    // A group with a name, an escaped slash and a code point are written in another way there.
    let pattern = LOOKAROUND.replace_all(pattern, "").replace("[^[", "[^\\[").replace("\\/", "/");
    let pattern = pattern.replace("(?<", "(?P<").replace("\\d", "[0-9]");
    texts_of_pattern(&rewrite_code_points(&pattern), false)
}

/// The first argument of a call of `re`, if it is one string or several behind each other.
fn python_pattern(call: &str) -> Option<String> {
    let tree = Language::Python.parse(call).filter(|_| call.starts_with("re."))?;
    let call_node = tree.root_node().named_child(0)?.named_child(0)?;
    let first = call_node.child_by_field_name("arguments")?.named_child(0)?;
    let strings = match first.kind() {
        "string" => vec![first],
        "concatenated_string" => named_children(first),
        _ => return None,
    };
    let mut pattern = String::new();
    for string in strings {
        let text = text_of(string, call);
        let is_raw = text.starts_with(['r', 'R']);
        let text = text.trim_start_matches(['r', 'R']);
        let quote =
            ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| text.starts_with(quote))?;
        let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
        if !is_raw && inner.contains('\\') {
            return None;
        }
        pattern.push_str(inner);
    }
    let pattern = LOOKAROUND.replace_all(&pattern, "").replace("[^[", "[^\\[");
    Some(pattern.replace("\\d", "[0-9]").replace("\\Z", "$"))
}

fn texts_of_pattern(pattern: &str, is_verbose: bool) -> Vec<String> {
    let mut parser = ParserBuilder::new().ignore_whitespace(is_verbose).build();
    let Ok(expression) = parser.parse(pattern) else { return Vec::new() };
    let mut found: Vec<String> = Vec::new();
    let whole = [Choice::Fullest, Choice::Shortest]
        .map(|choice| Walk::over(&expression, choice, &[]).0)
        .into_iter()
        .flatten();
    for text in whole.chain(listed_signs(&expression)).chain(texts_of_choices(&expression)) {
        if !found.contains(&text) {
            found.push(text);
        }
    }
    found
}

/// The shortest texts with one alternative, or one part that may be left out, each.
fn texts_of_choices(expression: &Hir) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: VecDeque<Vec<usize>> = VecDeque::from([Vec::new()]);
    for _ in 0..TRIED {
        let Some(picked) = open.pop_front().filter(|_| found.len() < VARIANTS) else { break };
        let (text, choices) = Walk::over(expression, Choice::Shortest, &picked);
        found.extend(text.filter(|_| !picked.is_empty()));
        let last = picked.len().checked_sub(1);
        let inner = choices.iter().enumerate().skip(picked.len());
        for (at, (options, _)) in inner.filter(|(at, _)| is_inside(&choices, *at, last)) {
            for option in 1..*options {
                let mut further = picked.clone();
                further.resize(at, 0);
                further.push(option);
                open.push_back(further);
            }
        }
    }
    found
}

/// The signs that an expression lists, such as those that `["&<>]` looks for, one a text.
fn listed_signs(expression: &Hir) -> Vec<String> {
    let inner = match expression.kind() {
        HirKind::Capture(group) => &group.sub,
        HirKind::Repetition(repeated) => &repeated.sub,
        _ => expression,
    };
    let HirKind::Class(Class::Unicode(class)) = inner.kind() else { return Vec::new() };
    let signs = class.ranges().iter().flat_map(|range| range.start()..=range.end());
    let signs: Vec<char> = signs.take(SIGNS + 1).collect();
    let is_list = signs.len() <= SIGNS && signs.iter().all(char::is_ascii_punctuation);
    let signs = signs.into_iter().filter(|_| is_list);
    signs.map(|sign| serde_json::Value::from(sign.to_string()).to_string()).collect()
}

/// `\u{…}` for `\uXXXX`.
fn rewrite_code_points(pattern: &str) -> String {
    let mut parts = pattern.split("\\u");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_at_checked(4) {
            Some((digits, rest)) if digits.chars().all(|c| c.is_ascii_hexdigit()) => {
                text.push_str(&format!("\\u{{{digits}}}{rest}"));
            }
            _ => text.push_str(&format!("\\u{part}")),
        }
    }
    text
}

/// Whether a choice depends on the last that was picked alone, so that nothing else differs.
fn is_inside(choices: &[(usize, Option<usize>)], at: usize, last: Option<usize>) -> bool {
    let outer = choices.get(at).and_then(|one| one.1);
    outer == last || outer > last && outer.is_some_and(|outer| is_inside(choices, outer, last))
}

/// Makes one text that an expression matches.
struct Walk<'a> {
    choice: Choice,
    /// The option at each choice in turn, where it is not the first.
    picked: &'a [usize],
    /// The options of each choice that was met, and the choice that it is inside of.
    met: Vec<(usize, Option<usize>)>,
    inside: Option<usize>,
    text: String,
}

impl<'a> Walk<'a> {
    /// The text as a literal, if there is one, and the choices that it took.
    fn over(
        expression: &Hir,
        choice: Choice,
        picked: &'a [usize],
    ) -> (Option<String>, Vec<(usize, Option<usize>)>) {
        let mut walk = Walk { choice, picked, met: Vec::new(), inside: None, text: String::new() };
        let is_whole = walk.append(expression, 0) && (1..=LONGEST).contains(&walk.text.len());
        (is_whole.then(|| serde_json::Value::from(walk.text).to_string()), walk.met)
    }

    /// Takes one of several options, by what is picked, and appends what it stands for.
    fn choose(&mut self, options: usize, put: impl FnOnce(&mut Self, usize) -> bool) -> bool {
        let at = self.met.len();
        self.met.push((options, self.inside));
        let outer = self.inside.replace(at);
        let done = put(self, self.picked.get(at).copied().unwrap_or_default());
        self.inside = outer;
        done
    }

    /// Appends a text that an expression matches; whether there is one. `index` counts repetitions.
    fn append(&mut self, expression: &Hir, index: usize) -> bool {
        if self.text.len() > LONGEST || self.met.len() > CHOICES {
            return false;
        }
        match expression.kind() {
            HirKind::Empty | HirKind::Look(_) => true,
            HirKind::Literal(literal) => {
                self.text.push_str(&String::from_utf8_lossy(&literal.0));
                true
            }
            HirKind::Class(class) => {
                let count = members(class).take(SIGNS + 1).count();
                let put = |walk: &mut Self, option: usize| {
                    let character = match option {
                        0 => member(class, index),
                        _ => members(class).nth(option),
                    };
                    walk.text.extend(character);
                    character.is_some()
                };
                self.choose(if count <= SIGNS { count } else { 1 }, put)
            }
            HirKind::Repetition(repeated) => {
                let least = repeated.min;
                let full = least.max(if least == 0 { 1 } else { 2 });
                let wanted = if self.choice == Choice::Fullest { full } else { least };
                let most = repeated.max.unwrap_or(u32::MAX);
                let options = if least == 0 && most > 0 { 2 } else { 1 };
                self.choose(options, |walk, option| {
                    let count = if option == 0 { wanted.min(most) } else { 1 };
                    (0..usize::try_from(count).unwrap_or(usize::MAX))
                        .all(|index| walk.append(&repeated.sub, index))
                })
            }
            HirKind::Capture(group) => self.append(&group.sub, index),
            HirKind::Concat(parts) => parts.iter().all(|part| self.append(part, index)),
            HirKind::Alternation(parts) => {
                let last = parts.len().saturating_sub(1);
                let first = if self.choice == Choice::Fullest { last } else { 0 };
                self.choose(parts.len(), |walk, option| {
                    let one = parts.get(if option == 0 { first } else { option });
                    one.is_some_and(|one| walk.append(one, index))
                })
            }
        }
    }
}

/// The ranges of characters of a class.
fn ranges(class: &Class) -> Vec<(char, char)> {
    match class {
        Class::Unicode(class) => {
            class.ranges().iter().map(|one| (one.start(), one.end())).collect()
        }
        Class::Bytes(class) => class
            .ranges()
            .iter()
            .map(|one| (char::from(one.start()), char::from(one.end())))
            .collect(),
    }
}

/// The characters of a class.
fn members(class: &Class) -> impl Iterator<Item = char> {
    ranges(class).into_iter().flat_map(|(start, end)| start..=end)
}

/// A readable character of a class: letters and digits in their order, before all else.
fn member(class: &Class, index: usize) -> Option<char> {
    let ranges = ranges(class);
    let holds = |wanted: char| ranges.iter().any(|(start, end)| *start <= wanted && wanted <= *end);
    let readable = ["abc", "ABC", "123", " ", "-"];
    let list = readable.iter().find(|list| list.chars().all(holds));
    match list {
        Some(list) => list.chars().nth(index % list.len()),
        None => ranges.first().map(|range| range.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_match_the_expression_they_are_made_of() {
        let table: [(&str, &[&str]); 16] = [
            (r#"/["&<]/"#, &["\"\\\"\"", "\"&\"", "\"<\""]),
            (r"/^a+$/", &["\"aa\"", "\"a\""]),
            (r"/^(\d{1,3})(?:\.(\d+))?$/", &["\"12.12\"", "\"1\""]),
            (r"/^(-?\d+) *(ms|s)?$/i", &["\"-12 s\"", "\"1\""]),
            (r"/^[\u0021-\u003A]+\/x$/", &["\"12/x\"", "\"1/x\""]),
            (r"/; *([!#$%&'*+.^_`|~0-9A-Za-z-]+) *= *(.+) */g", &["\"; ab = ab \"", "\";a=a\""]),
            (r"/(?<year>\d{4})-x/", &["\"1231-x\""]),
            (r"/^a(?!b)c/", &["\"ac\""]),
            (r"/(\[[^[\]]*])/", &["\"[a]\"", "\"[]\""]),
            ("re.compile(r'(?<!x)a[^[]')", &["\"aa\""]),
            (r"/(a)\1/", &[]),
            (r#"re.compile(r"^(?P<year>\d{4})-x$")"#, &["\"1231-x\""]),
            ("re.match('a+' r'b', text)", &["\"aab\"", "\"ab\""]),
            ("re.compile(r'a b  # c', re.VERBOSE)", &["\"ab\""]),
            ("re.compile(pattern)", &[]),
            ("not one", &[]),
        ];
        for (literal, expected) in table {
            let made = matching_texts(literal);
            assert_eq!(made.get(..expected.len()).unwrap_or(&made), expected, "{literal}");
            assert_eq!(made.is_empty(), expected.is_empty(), "{literal}");
        }
    }

    #[test]
    fn code_that_reads_a_notation_has_texts_in_it() {
        let table = [
            ("\tr, size := utf8.DecodeRuneInString(s)", Some("\"a\\xffb\"")),
            ("    return re.sub(r'(%[a-f0-9]{2})+', f, s)", Some("\"a%20b%C3%A9\"")),
            ("  return c.charCodeAt(0);", Some("\"a😀b\"")),
            ("    return '%d' % n", None),
        ];
        for (line, expected) in table {
            let found = notation_texts(&[(1, line)]);
            assert_eq!(found.is_empty(), expected.is_none(), "{line}: {found:?}");
            assert!(
                expected.is_none_or(|one| found.contains(&one.to_owned())),
                "{line}: {found:?}"
            );
        }
    }

    #[test]
    fn each_alternative_and_each_optional_part_is_tried_alone() {
        let expression = r"/^(-?[0-9]+) *(hours?|h|days?)?$/";
        let texts = matching_texts(expression);
        assert_eq!(texts[..2], ["\"-12 days\"", "\"1\""]);
        for one in ["-1", "1 ", "1hour", "1h", "1hours", "1day", "1days"] {
            assert!(texts.contains(&format!("\"{one}\"")), "{one} among {texts:?}");
        }
        assert!(matching_texts(&format!("/{}/", "(a|b)?".repeat(30))).len() <= VARIANTS + 2);
        assert!(matching_texts("/((a?){1000}){1000}/").is_empty());
    }
}
