//! Finds a secret in texts that escape its characters or break its lines: URLs, forms, JSON, HTML,
//! source code, MIME.

use std::ops::Range;

/// A secret with all spellings of its characters.
#[derive(Clone, Debug)]
pub(super) struct EscapedSecret {
    /// The longest run of letters and digits, else the spellings of the first character.
    anchors: Vec<String>,
    before: Vec<Vec<String>>,
    after: Vec<Vec<String>>,
}

impl EscapedSecret {
    /// `None` for a secret that is written in one way only.
    pub(super) fn new(key: &str) -> Option<Self> {
        let runs = key.split(|c: char| !c.is_ascii_alphanumeric());
        let run = runs.max_by_key(|run| run.len()).filter(|run| !run.is_empty());
        let spelled = |part: &str| part.chars().map(spellings).collect();
        let Some(run) = run else {
            let first = key.chars().next()?;
            let after = spelled(key.get(first.len_utf8()..)?);
            return Some(Self { anchors: spellings(first), before: Vec::new(), after });
        };
        let (before, after) = key.split_once(run)?;
        let is_plain = before.is_empty() && after.is_empty();
        (!is_plain).then(|| Self {
            anchors: vec![run.to_owned()],
            before: spelled(before),
            after: spelled(after),
        })
    }

    /// Texts of which every spelling of the secret holds one.
    pub(super) fn anchor_texts(&self) -> impl Iterator<Item = &str> {
        self.anchors.iter().map(String::as_str)
    }

    /// Where `text` holds the secret; places may overlap.
    pub(super) fn places(&self, text: &str) -> Vec<Range<usize>> {
        let place = |at: usize, anchor: &str| {
            let (head, tail) = (text.get(..at)?, text.get(at + anchor.len()..)?);
            let head = self.before.iter().rev().try_fold(head, |rest, spellings| {
                spellings.iter().find_map(|spelling| rest.strip_suffix(spelling.as_str()))
            })?;
            let tail = self.after.iter().try_fold(tail, |rest, spellings| {
                spellings.iter().find_map(|spelling| rest.strip_prefix(spelling.as_str()))
            })?;
            Some(head.len()..text.len() - tail.len())
        };
        let found = self.anchors.iter().flat_map(|anchor| text.match_indices(anchor));
        found.filter_map(|(at, anchor)| place(at, anchor)).collect()
    }
}

/// The ways to write a character, longest first.
fn spellings(c: char) -> Vec<String> {
    let mut ways = vec![c.to_string()];
    if c.is_ascii_alphanumeric() {
        return ways;
    }
    let code = u32::from(c);
    let percent: String = c.to_string().bytes().map(|byte| format!("%{byte:02X}")).collect();
    let units: Vec<u16> = c.encode_utf16(&mut [0; 2]).to_vec();
    ways.extend([
        percent.to_lowercase(),
        percent,
        units.iter().map(|unit| format!("\\u{unit:04x}")).collect(),
        units.iter().map(|unit| format!("\\u{unit:04X}")).collect(),
        format!("\\x{code:02x}"),
        format!("&#{code};"),
        format!("&#x{code:x};"),
        format!("&#x{code:X};"),
    ]);
    let named: &[&str] = match c {
        ' ' => &["+"],
        '"' => &["\\\"", "&quot;"],
        '\'' => &["\\'", "&apos;"],
        '&' => &["&amp;"],
        '<' => &["&lt;"],
        '>' => &["&gt;"],
        '/' => &["\\/"],
        '\\' => &["\\\\"],
        '\n' => &["\\n"],
        '\r' => &["\\r"],
        '\t' => &["\\t"],
        _ => &[],
    };
    ways.extend(named.iter().map(|way| (*way).to_owned()));
    ways.sort_by_key(|way| std::cmp::Reverse(way.len()));
    ways
}

/// The shortest line of encoded text that is wrapped, as `xxd -p` writes it.
const SHORTEST_LINE: usize = 60;

/// A text that wraps encoded text, without its white space.
pub(super) struct Unwrapped {
    joined: String,
    /// Where each piece between white space begins, in `joined` and in the text.
    pieces: Vec<(usize, usize)>,
}

impl Unwrapped {
    /// `None` for a text that wraps none.
    pub(super) fn new(text: &str) -> Option<Self> {
        let is_encoded =
            |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '-' | '_' | '=');
        let is_wrapped = |line: &str| line.len() >= SHORTEST_LINE && line.chars().all(is_encoded);
        text.lines().any(|line| is_wrapped(line.trim())).then(|| {
            let mut unwrapped = Self { joined: String::new(), pieces: Vec::new() };
            let mut at = 0;
            for part in text.split_inclusive(char::is_whitespace) {
                let piece = part.trim_end();
                if !piece.is_empty() {
                    unwrapped.pieces.push((unwrapped.joined.len(), at));
                    unwrapped.joined.push_str(piece);
                }
                at += part.len();
            }
            unwrapped
        })
    }

    /// Whether the joined lines hold `needle`.
    pub(super) fn contains(&self, needle: &str) -> bool {
        self.joined.contains(needle)
    }

    /// Where the byte `at` of the joined text is in the text.
    fn original(&self, at: usize) -> Option<usize> {
        let next = self.pieces.partition_point(|(joined, _)| *joined <= at);
        let (joined, text) = self.pieces.get(next.checked_sub(1)?)?;
        Some(text + (at - joined))
    }

    /// Where the text holds `needle`, which the joined text holds at `at`.
    fn place(&self, at: usize, needle: &str) -> Option<Range<usize>> {
        let last = at + needle.len().checked_sub(1)?;
        Some(self.original(at)?..self.original(last)? + 1)
    }
}

/// Where `text` holds one of these encoded texts across line breaks.
pub(super) fn wrapped_places(text: &str, needles: &[String]) -> Vec<Range<usize>> {
    let Some(unwrapped) = Unwrapped::new(text) else { return Vec::new() };
    let found = needles.iter().flat_map(|needle| unwrapped.joined.match_indices(needle));
    found.filter_map(|(at, needle)| unwrapped.place(at, needle)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_character_is_known() {
        let secret = EscapedSecret::new("a/b \"ä'&c9xyz\\n").unwrap();
        for text in [
            "a/b \"ä'&c9xyz\\n",
            "a%2Fb%20%22%C3%A4%27%26c9xyz%5Cn",
            "a%2fb+%22%c3%a4%27%26c9xyz%5cn",
            "a\\/b \\\"\\u00e4'&c9xyz\\\\n",
            "a/b &quot;&#228;&#39;&amp;c9xyz\\n",
            "a/b &#34;&#xe4;&#x27;&amp;c9xyz\\n",
            "a/b \"\\xe4\\'&c9xyz\\\\n",
        ] {
            let places = secret.places(&format!("<{text}>"));
            assert_eq!(places, std::slice::from_ref(&(1..1 + text.len())), "{text}");
        }
        assert!(secret.places("a/b \"ä'&c9xyz").is_empty());
        assert!(EscapedSecret::new("abcdefgh1").is_none() && EscapedSecret::new("").is_none());
    }

    #[test]
    fn a_line_break_hides_no_encoded_text() {
        let text = format!("é {}abc\nDEF{}\nend", "x".repeat(70), "y".repeat(66));
        let start = text.find("abc").unwrap();
        let places = wrapped_places(&text, &["abcDEF".to_owned()]);
        assert_eq!(places, std::slice::from_ref(&(start..start + 7)));
        assert!(wrapped_places("abc\nDEF", &["abcDEF".to_owned()]).is_empty());
    }
}
