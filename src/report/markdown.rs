//! Markdown that foreign text cannot break out of.

/// A code span whose fence is longer than any run of backticks in the text; control characters
/// become spaces, and at most 300 characters are shown.
#[must_use]
pub fn code(text: &str) -> String {
    let plain = line(text, 300);
    let longest = plain.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    let pad =
        if plain.starts_with('`') || plain.ends_with('`') || plain.is_empty() { " " } else { "" };
    format!("{fence}{pad}{plain}{pad}{fence}")
}

/// A sentence of ours with code spans in it. Where foreign text stands outside of them and could
/// mean something, or a span is not closed, the whole becomes one span.
#[must_use]
pub fn prose(text: &str) -> String {
    let plain = line(text, 600);
    let spans = plain.matches('`').count();
    let mut outside = plain.split('`').step_by(2);
    let harmless = |part: &str| {
        !part.contains(['@', '<', '>', '#', '[', ']', '|', '*', '~', '\\', '&', '!'])
            && !part.contains("://")
    };
    if spans.is_multiple_of(2) && !plain.contains("``") && outside.all(harmless) {
        plain
    } else {
        code(text)
    }
}

/// The same inside a table cell.
#[must_use]
pub fn cell(text: &str) -> String {
    code(text).replace('|', "\\|")
}

/// A fenced block whose fence is longer than any in the text.
#[must_use]
pub fn block(text: &str, language: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end())
}

/// One line without control characters, at most `limit` characters.
#[must_use]
pub fn line(text: &str, limit: usize) -> String {
    let mut plain = String::new();
    let mut escape = false;
    for character in text.chars() {
        if escape {
            escape = !character.is_ascii_alphabetic();
        } else if character == '\u{1b}' {
            escape = true;
        } else if character.is_control() || is_invisible(character) {
            plain.push(' ');
        } else {
            plain.push(character);
        }
    }
    let joined = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    if joined.chars().count() <= limit {
        return joined;
    }
    let mut short: String = joined.chars().take(limit).collect();
    short.push('…');
    short
}

/// Characters that reorder or hide text.
fn is_invisible(character: char) -> bool {
    matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// `1 test`, `2 tests`.
#[must_use]
pub fn count(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_stay_inside_their_span() {
        let table = [
            ("plain", "`plain`"),
            ("a`b``c", "```a`b``c```"),
            ("`", "`` ` ``"),
            ("x\n::set-env name=A", "`x ::set-env name=A`"),
            ("\u{1b}[31mred\u{1b}[0m \u{202e}evil", "`red evil`"),
        ];
        for (text, expected) in table {
            assert_eq!(code(text), expected);
        }
        let sentences = [
            ("`f` raises ValueError (\"empty\")", "`f` raises ValueError (\"empty\")"),
            ("`f` says \"ask @octocat\"", "`` `f` says \"ask @octocat\" ``"),
            ("an open ` span", "``an open ` span``"),
            ("`a < b` holds", "`a < b` holds"),
        ];
        for (text, expected) in sentences {
            assert_eq!(prose(text), expected);
        }
        assert_eq!(cell("a|b"), "`a\\|b`");
        assert!(block("```\ninner", "diff").starts_with("````diff"));
    }
}
