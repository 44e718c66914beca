//! Escapes foreign text for Markdown, so that it stays inside its span, cell, block or fold.

/// Longest name or message where space is limited, in characters.
pub const SHORT: usize = 100;

/// A code span whose fence is longer than any run of backticks in the text; control characters
/// become spaces, and at most 300 characters are shown.
pub fn code(text: &str) -> String {
    let plain = line(text, 300);
    let longest = plain.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    let pad =
        if plain.starts_with('`') || plain.ends_with('`') || plain.is_empty() { " " } else { "" };
    format!("{fence}{pad}{plain}{pad}{fence}")
}

/// A code span of at most [`SHORT`] characters.
pub fn brief(text: &str) -> String {
    code(&line(text, SHORT))
}

/// A code span, as by [`code`], inside a table cell.
pub fn cell(text: &str) -> String {
    in_cell(&code(text))
}

/// Finished Markdown inside a table cell, with its pipes escaped so that none ends the cell.
pub fn in_cell(markdown: &str) -> String {
    // Renderers differ on a pipe after two backslashes, so the output never contains two.
    markdown.replace("\\|", "\\ |").replace('|', "\\|")
}

/// A fenced block whose fence is longer than any in the text. Characters that reorder or hide text
/// are shown by their code point, other control characters are dropped.
pub fn block(text: &str, language: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for character in text.trim_end().chars() {
        if is_invisible(character) {
            plain.push_str(&format!("⟨U+{:04X}⟩", u32::from(character)));
        } else if !character.is_control() || matches!(character, '\n' | '\t') {
            plain.push(character);
        }
    }
    let longest = plain.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{plain}\n{fence}\n")
}

/// A sentence of our own, on one line, that may quote foreign words. Text in backticks, and every
/// word to which Markdown or GitHub gives a meaning (emphasis, HTML, a mention, an issue, a commit,
/// an address, an emoji), becomes a code span, so that nobody is notified, no issue is closed and
/// nothing foreign becomes a link. At most `limit` characters.
pub fn prose(text: &str, limit: usize) -> String {
    let plain = line(text, limit);
    let parts: Vec<&str> = plain.split('`').collect();
    // With an odd number of backticks it is unclear which ones quote.
    let quoted = parts.len() % 2 == 1;
    let parts = if quoted { parts } else { vec![plain.as_str()] };
    let mut out = String::new();
    for (index, part) in parts.iter().enumerate() {
        if index % 2 == 1 {
            push_code(&mut out, part);
            continue;
        }
        push_words(&mut out, part);
    }
    out.trim().to_owned()
}

/// Appends words, those that are more than plain text in code spans. Punctuation around a span stays
/// outside, neighbours share a span, and an object or a list of JSON is one.
fn push_words(out: &mut String, part: &str) {
    let mut words = part.split(' ').peekable();
    while let Some(word) = words.next() {
        if is_plain(word) && !(out.is_empty() && begins_a_block(word)) {
            out.push_str(word);
        } else {
            let mut span = word.to_owned();
            while let Some(next) =
                words.next_if(|next| is_unclosed(&span) || are_neighbours(&span, next))
            {
                span.push(' ');
                span.push_str(next);
            }
            let (before, core, after) = unmarked_ends(&span);
            out.push_str(before);
            push_code(out, core);
            out.push_str(after);
        }
        if words.peek().is_some() {
            out.push(' ');
        }
    }
}

fn is_plain(word: &str) -> bool {
    word.is_empty() || is_word(word)
}

/// Whether two texts that need code spans share one: no punctuation stands between them.
fn are_neighbours(first: &str, second: &str) -> bool {
    !is_plain(second) && unmarked_ends(first).2.is_empty() && unmarked_ends(second).0.is_empty()
}

/// Whether a text begins an object or a list of JSON and does not end it.
fn is_unclosed(text: &str) -> bool {
    let count = |marks: [char; 2]| text.matches(marks).count();
    unmarked_ends(text).1.starts_with(['{', '[']) && count(['{', '[']) > count(['}', ']'])
}

/// A text without the punctuation of the sentence around it: what is before, the text, what is after.
fn unmarked_ends(text: &str) -> (&str, &str, &str) {
    let core = text.trim_start_matches(['(', '"', '\'']);
    let (before, rest) = text.split_at(text.len() - core.len());
    let mut core = rest;
    while let Some(last) = core.chars().next_back() {
        let count = |mark: char| core.matches(mark).count();
        let is_outside = match last {
            '.' | ',' | ';' | ':' | '!' | '?' | '…' => true,
            ')' => count(')') > count('('),
            '"' | '\'' => count(last) % 2 == 1,
            _ => false,
        };
        if !is_outside {
            break;
        }
        core = core.strip_suffix(last).unwrap_or_default();
    }
    let after = rest.strip_prefix(core).unwrap_or_default();
    // Two colons may stand around the name of an emoji.
    if core.is_empty() || after.matches(':').count() > 1 {
        return ("", text, "");
    }
    (before, core, after)
}

/// Appends a code span, after a space if it follows another one, with which it would merge.
fn push_code(out: &mut String, text: &str) {
    if text.is_empty() {
        return;
    }
    if out.ends_with('`') {
        out.push(' ');
    }
    out.push_str(&code(text));
}

/// Whether Markdown and GitHub read a word as plain text.
fn is_word(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let known = |c: char| c.is_alphanumeric() || ".,;:%()'\"/-–—→↩…?!=+".contains(c);
    let names_issue = lower
        .split("gh-")
        .skip(1)
        .any(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
    let names_commit = lower
        .split(|c: char| !c.is_alphanumeric())
        .any(|run| run.len() >= 7 && run.bytes().all(|byte| byte.is_ascii_hexdigit()));
    word.chars().all(known)
        && !word.starts_with('/')
        && !lower.contains("//")
        && !lower.contains("www.")
        && word.trim_end_matches(':').split_once(':').is_none_or(|(hours, rest)| {
            hours.bytes().chain(rest.bytes()).all(|byte| byte.is_ascii_digit())
        })
        && !names_issue
        && !names_commit
}

/// Whether a first word would begin a list or a horizontal rule.
fn begins_a_block(word: &str) -> bool {
    let number = word.trim_end_matches(['.', ')']);
    word.chars().all(|c| "-+=".contains(c))
        || (number.len() < word.len() && number.chars().all(|c| c.is_ascii_digit()))
}

/// A link around finished Markdown; only the words when our URL is not a plain web address.
pub fn link(words: &str, address: &str) -> String {
    if is_address(address) { format!("[{words}]({address})") } else { words.to_owned() }
}

/// Whether a URL can be used in a link as it is.
pub fn is_address(address: &str) -> bool {
    let rest = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://"));
    rest.is_some_and(|rest| {
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        address.len() <= 1000
            && !host.is_empty()
            && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:".contains(&byte))
            && rest
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-._~:/?#@$&+,;=%".contains(&byte))
    })
}

/// A text folded under a title. The title is ours; the result ends with a line break.
pub fn fold(title: &str, text: &str) -> String {
    format!("<details>\n<summary>{title}</summary>\n\n{}\n\n</details>\n", text.trim_end())
}

/// One line without control characters, at most `limit` characters.
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
pub fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}'..='\u{ffff}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// A number with its thousands separated, because GitHub reads seven digits as a commit.
pub fn grouped(number: u64) -> String {
    digits(number, ',')
}

/// The digits of a number, with a separator between thousands.
pub fn digits(number: u64, between: char) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(between);
        }
        out.push(digit);
    }
    out
}

/// At most `limit` bytes of a text, without splitting a character.
pub fn cut(text: &str, limit: usize) -> String {
    const MARK: char = '…';
    if text.len() <= limit {
        return text.to_owned();
    }
    let room = limit.saturating_sub(MARK.len_utf8());
    let end = text
        .char_indices()
        .map(|(at, character)| at + character.len_utf8())
        .take_while(|end| *end <= room)
        .last()
        .unwrap_or_default();
    format!("{}{MARK}", text.get(..end).unwrap_or_default())
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
        assert_eq!(cell("a|b"), "`a\\|b`");
        assert_eq!(cell("a\\|b"), "`a\\ \\|b`");
        assert!(block("```\ninner", "diff").starts_with("````diff"));
        assert_eq!(block("a\u{202e}b\r\u{1b}[0m", ""), "```\na⟨U+202E⟩b[0m\n```\n");
    }

    #[test]
    fn our_sentences_quote_what_is_more_than_a_word() {
        let table = [
            ("every test passes", "every test passes"),
            ("95.0 % pass, the gate is 95 %", "95.0 % pass, the gate is 95 %"),
            ("its name speaks of `auth`, really", "its name speaks of `auth`, really"),
            ("a `b``c` d", "a `b` `c` d"),
            ("a ` b", "a `` ` `` b"),
            ("thanks @octocat, fixes #12 now", "thanks `@octocat`, fixes `#12` now"),
            ("to `bot` @a; (see #1) @b, @c @d", "to `bot` `@a`; (see `#1`) `@b`, `@c @d`"),
            ("denied to github-actions[bot].; give", "denied to `github-actions[bot]`.; give"),
            ("cannot write /tmp/x: set it", "cannot write `/tmp/x`: set it"),
            ("\"a@b\" and x=\"@\" or f(@x)!", "\"`a@b`\" and `x=\"@\"` or `f(@x)`!"),
            ("no #7…", "no `#7`…"),
            ("a ~::…: b", "a `~::…:` b"),
            (
                r#"it says {"message": "You are, at: last", "of": [1, 2]}; give"#,
                r#"it says `{"message": "You are, at: last", "of": [1, 2]}`; give"#,
            ),
            (r#"{"cut": "You are"#, r#"`{"cut": "You are`"#),
            ("closes GH-12 and octo/repo#3", "closes `GH-12` and `octo/repo#3`"),
            (
                "see https://evil.example/x or (www.evil.example)",
                "see `https://evil.example/x` or (`www.evil.example`)",
            ),
            ("**bold** <img src=x> [a](b)", "`**bold** <img src=x> [a](b)`"),
            (
                "commit 0123abc and 0123456789abcdef0123456789abcdef01234567",
                "commit `0123abc` and `0123456789abcdef0123456789abcdef01234567`",
            ),
            (":tada: a:b c:", "`:tada`: `a:b` c:"),
            ("at 14:02 UTC, 1:2:3", "at 14:02 UTC, `1:2:3`"),
            ("1. first", "`1`. first"),
            ("- first", "`-` first"),
            ("/regreen fix", "`/regreen` fix"),
            ("a\n\n# b\u{202e}", "a `#` b"),
            ("", ""),
        ];
        for (text, expected) in table {
            assert_eq!(prose(text, 500), expected, "{text}");
        }
    }

    #[test]
    fn only_plain_addresses_become_links() {
        let table = [
            ("https://github.com/o/r/pull/7#x", true),
            ("http://localhost:8080/a/b@c", true),
            ("javascript:alert(1)", false),
            ("https://github.com@evil.example/", false),
            ("https://a.example/x y", false),
            ("https://a.example/x)[y](https://evil.example", false),
            ("https://", false),
        ];
        for (address, expected) in table {
            assert_eq!(link("here", address) != "here", expected, "{address}");
        }
    }
}
