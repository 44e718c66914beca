//! `SecretKey`, which does not print its value, and `Redactor`, which removes secrets from texts.

use std::fmt;
use std::ops::{Deref, Range};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use regex::Regex;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use serde_json::Value;

use super::escaped_secret::{EscapedSecret, Unwrapped, wrapped_places};
use super::token_shape::{find_tokens, merge};

/// A key or token. Its debug output is a mark; only [`SecretKey::expose`] returns the text.
#[derive(Clone)]
pub struct SecretKey(SecretString);

impl SecretKey {
    /// Wraps a key, without white space at its ends, which is easily copied along.
    pub fn new(text: &str) -> Self {
        Self(SecretString::from(text.trim().to_owned()))
    }

    /// The plain text, for an authentication header.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MARK)
    }
}

/// The text that replaces a secret.
pub const MARK: &str = "[redacted]";

/// The text that replaces a canary, by which a redacted text still shows that it held one.
pub const CANARY_MARK: &str = "[redacted canary]";

/// Shorter texts are not redacted, because that would blank out ordinary words.
const SHORTEST: usize = 8;

/// A text without secrets, which only a [`Redactor`] makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redacted(String);

impl Deref for Redacted {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Redacted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<Redacted> for String {
    fn from(text: Redacted) -> Self {
        text.0
    }
}

/// A JSON document without secrets in its strings and keys; only a [`Redactor`] makes one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct RedactedJson(Value);

impl Deref for RedactedJson {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0
    }
}

/// A false token that nothing has a reason to read: whoever repeats it looked for tokens.
#[derive(Clone, Debug)]
pub struct Canary {
    mark: SecretKey,
    redactor: Redactor,
}

impl Canary {
    /// The variable that holds the canary of test code. Whoever hunts for tokens reads it, and unlike
    /// `GITHUB_TOKEN` or `NPM_TOKEN` no tool changes its behaviour where it is set.
    pub const VARIABLE: &str = "GH_DEPLOY_TOKEN";

    /// A canary from at least 30 random characters. It ends like no token of GitHub: the checksum in
    /// its last six characters never begins with a letter.
    pub fn new(word: &str) -> Self {
        let random: String = word.chars().take(30).collect();
        let mark = SecretKey::new(&format!("{random}zQ7xT4"));
        let token = SecretKey::new(&format!("ghp_{}", mark.expose()));
        Self { redactor: Redactor::new([&mark, &token]), mark }
    }

    /// The false token, in the form of a personal access token of GitHub.
    pub fn token(&self) -> String {
        format!("ghp_{}", self.mark())
    }

    /// The token without its prefix, for prompts, which gateways may block for a token.
    pub fn mark(&self) -> &str {
        self.mark.expose()
    }

    /// Whether `text` holds the canary, in any form or abbreviated, or held it before it was redacted.
    pub fn is_in(&self, text: &str) -> bool {
        text.contains(CANARY_MARK) || self.redactor.finds(text)
    }
}

/// Removes known secrets, plain or encoded, and token shapes (specification.md 4.13).
#[derive(Clone, Default)]
pub struct Redactor {
    needles: Vec<String>,
    escaped: Vec<EscapedSecret>,
    canary: Vec<String>,
    /// Finds what every text with a secret holds, in one pass; most texts hold none.
    anchors: Option<Regex>,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor({} forms)", self.needles.len())
    }
}

impl Redactor {
    /// Builds a redactor that finds `keys` in plain, base64 (any alignment, both alphabets), and
    /// hexadecimal form, also across line breaks, and as URLs, forms, JSON, HTML and source code
    /// escape them.
    pub fn new<'a>(keys: impl IntoIterator<Item = &'a SecretKey>) -> Self {
        let mut redactor = Self::default();
        redactor.add(keys);
        redactor
    }

    /// Adds keys to those that are found.
    pub fn add<'a>(&mut self, keys: impl IntoIterator<Item = &'a SecretKey>) {
        for key in keys {
            let key = key.expose();
            if key.len() >= SHORTEST {
                self.needles.extend(forms(key));
                self.escaped.extend(EscapedSecret::new(key));
            }
        }
        self.needles.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        self.needles.dedup();
        self.find_anchors();
    }

    /// Adds the canary, which has a mark of its own.
    pub fn add_canary(&mut self, canary: &Canary) {
        self.canary.clone_from(&canary.redactor.needles);
        self.find_anchors();
    }

    fn find_anchors(&mut self) {
        let whole = self.canary.iter().chain(&self.needles).flat_map(|needle| {
            ends_of(needle).map_or_else(|| vec![needle.as_str()], |ends| ends.to_vec())
        });
        let escaped = self.escaped.iter().flat_map(EscapedSecret::anchor_texts);
        let texts: Vec<String> = whole.chain(escaped).map(regex::escape).collect();
        self.anchors = Regex::new(&texts.join("|")).ok().filter(|_| !texts.is_empty());
    }

    /// Whether no known secret stands in `text`, unless lines break it.
    fn is_clean(&self, text: &str) -> bool {
        self.anchors.as_ref().is_some_and(|anchors| !anchors.is_match(text))
    }

    /// `text` with every secret replaced by a mark.
    pub fn redact(&self, text: &str) -> Redacted {
        let mut clean = self.redact_source(text).0;
        let tokens = find_tokens(&clean);
        replace(&mut clean, tokens, MARK);
        Redacted(clean)
    }

    /// Source text with every known secret replaced. Token shapes stay: examples of tokens belong
    /// to the sources of a project, a patch must still apply, and an edit that adds one is refused
    /// before it gets here.
    pub fn redact_source(&self, text: &str) -> Redacted {
        let mut clean = text.to_owned();
        if self.is_clean(text) {
            replace(&mut clean, wrapped_places(text, &self.needles), MARK);
            return Redacted(clean);
        }
        replace(&mut clean, whole(text, &self.canary).collect(), CANARY_MARK);
        // One look at all forms: a form that is replaced first would hide a longer one.
        let mut places: Vec<_> = whole(&clean, &self.needles).collect();
        places.extend(self.escaped.iter().flat_map(|secret| secret.places(&clean)));
        places.extend(wrapped_places(&clean, &self.needles));
        replace(&mut clean, places, MARK);
        // Ends go last, because what is left of a whole secret without them is not found.
        for (needles, mark) in [(&self.canary, CANARY_MARK), (&self.needles, MARK)] {
            for needle in needles {
                let ends = fragments(&clean, needle);
                replace(&mut clean, ends, mark);
            }
        }
        Redacted(clean)
    }

    /// A document with every secret in its strings and keys replaced by a mark. The texts of
    /// edits and of files to commit are redacted as source, since they become files.
    pub fn redact_json(&self, document: Value) -> RedactedJson {
        RedactedJson(self.walk(document))
    }

    fn walk(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.redact(&text).0),
            Value::Array(items) => items.into_iter().map(|item| self.walk(item)).collect(),
            Value::Object(fields) => {
                let has = |all: &&[&str]| all.iter().all(|field| fields.contains_key(*field));
                let is_source = SOURCES.iter().any(has);
                let field = |(name, value): (String, Value)| {
                    let value = match value {
                        Value::String(text) if is_source => {
                            Value::String(self.redact_source(&text).0)
                        }
                        value => self.walk(value),
                    };
                    (self.redact(&name).0, value)
                };
                Value::Object(fields.into_iter().map(field).collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value,
        }
    }

    /// Whether `after` holds a known secret in any form that `before` does not hold, or the beginning
    /// or end of a long one, as where a line break splits it.
    pub fn is_added(&self, before: &str, after: &str) -> bool {
        let holds = |text: &str, lines: Option<&Unwrapped>, needle: &str| {
            text.contains(needle)
                || lines.is_some_and(|lines| lines.contains(needle))
                || !fragments(text, needle).is_empty()
        };
        let (old, new) = (Unwrapped::new(before), Unwrapped::new(after));
        let is_added = |needle: &String| {
            holds(after, new.as_ref(), needle) && !holds(before, old.as_ref(), needle)
        };
        self.canary.iter().chain(&self.needles).any(is_added)
            || self
                .escaped
                .iter()
                .any(|secret| !secret.places(after).is_empty() && secret.places(before).is_empty())
    }

    /// Whether `text` holds a known secret in any form, or the beginning or end of a long one.
    pub fn finds(&self, text: &str) -> bool {
        let is_found =
            |needle: &String| text.contains(needle) || !fragments(text, needle).is_empty();
        let is_inside = !self.is_clean(text)
            && (self.canary.iter().chain(&self.needles).any(is_found)
                || self.escaped.iter().any(|secret| !secret.places(text).is_empty()));
        is_inside || !wrapped_places(text, &self.needles).is_empty()
    }
}

/// Fields of objects that hold source text: a stored edit, as a file or as lines of it, and a file of
/// a commit for GitHub's `createCommitOnBranch`.
const SOURCES: &[&[&str]] =
    &[&["file", "before", "after"], &["file", "search", "replace"], &["path", "contents"]];

/// The part of a secret that gives it away where a test runner abbreviates it, in bytes.
const FRAGMENT: usize = 12;

/// Replaces places of `text`, joined where they touch, by `mark`.
fn replace(text: &mut String, places: Vec<Range<usize>>, mark: &str) {
    for place in merge(places).into_iter().rev() {
        text.replace_range(place, mark);
    }
}

/// Places where `text` holds a whole needle.
fn whole(text: &str, needles: &[String]) -> impl Iterator<Item = Range<usize>> {
    let found = needles.iter().flat_map(|needle| text.match_indices(needle));
    found.map(|(at, needle)| at..at + needle.len())
}

/// The beginning and the end of a long needle, by which it is found where it is abbreviated.
fn ends_of(needle: &str) -> Option<[&str; 2]> {
    let cut = needle.len().saturating_sub(FRAGMENT);
    let ends = [needle.get(..FRAGMENT)?, needle.get(cut..)?];
    // Addresses begin like many others.
    (needle.len() >= 2 * FRAGMENT && !needle.starts_with("http")).then_some(ends)
}

/// Ordered places where `text` holds the beginning or the end of a long `needle`.
fn fragments(text: &str, needle: &str) -> Vec<Range<usize>> {
    let Some([begin, end]) = ends_of(needle) else { return Vec::new() };
    let agree = |a: char, b: char| if a == b { Some(a.len_utf8()) } else { None };
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, _) in text.match_indices(begin) {
        let rest = text.get(at..).unwrap_or_default();
        let pairs = rest.chars().zip(needle.chars());
        found.push(at..at + pairs.map_while(|(a, b)| agree(a, b)).sum::<usize>());
    }
    for (at, _) in text.match_indices(end) {
        let until = at + end.len();
        let rest = text.get(..until).unwrap_or_default();
        let pairs = rest.chars().rev().zip(needle.chars().rev());
        found.push(until - pairs.map_while(|(a, b)| agree(a, b)).sum::<usize>()..until);
    }
    merge(found)
}

fn forms(key: &str) -> Vec<String> {
    let mut forms = vec![key.to_owned()];
    for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
        for shift in 0..3 {
            // Bytes before the key shift its base64 form by one or two bytes. Keep only the
            // characters that depend on the key alone.
            let mut bytes = vec![0; shift];
            bytes.extend_from_slice(key.as_bytes());
            let encoded = engine.encode(&bytes);
            let from = (shift * 8).div_ceil(6);
            let until = bytes.len() * 8 / 6;
            if let Some(stable) = encoded.get(from..until).filter(|text| text.len() >= SHORTEST) {
                forms.push(stable.to_owned());
            }
        }
    }
    let hex: String = key.bytes().map(|byte| format!("{byte:02x}")).collect();
    forms.push(hex.to_uppercase());
    forms.push(hex);
    forms
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::engine::general_purpose::STANDARD;
    use proptest::prelude::{prop_assert, proptest};

    /// A secret that is longer than both ends by which an abbreviated one is found.
    const CANARY: &str = "sk-Canary/7+q=Zt\"9bW4/MiddleRun42+\"mX8kP3vR5==";

    #[test]
    fn a_key_does_not_print_itself() {
        assert_eq!(format!("{:?}", SecretKey::new(CANARY)), MARK);
    }

    #[test]
    fn short_words_are_no_keys() {
        assert_eq!(&*Redactor::new([&SecretKey::new("test")]).redact("a test"), "a test");
    }

    proptest! {
        #[test]
        fn a_key_is_found_in_every_encoding(before in "[ -~]{0,9}", after in "[ -~]{0,9}") {
            let redactor = Redactor::new([&SecretKey::new(CANARY)]);
            let text = format!("{before}{CANARY}{after}");
            let hex: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
            for form in [
                text.clone(),
                STANDARD.encode(&text),
                URL_SAFE_NO_PAD.encode(&text),
                hex,
                serde_json::to_string(&text).unwrap(),
                text.replace('"', "&quot;").replace('/', "\\/"),
            ] {
                prop_assert!(redactor.finds(&form), "{form}");
                let clean = redactor.redact(&form);
                prop_assert!(!redactor.finds(&clean), "{form}");
                prop_assert!(!clean.contains("MiddleRun42"), "{form}");
            }
        }
    }

    #[test]
    fn nothing_is_left_between_the_ends_of_a_long_secret() {
        let key = "aB3/dE5+fG7hI9jK1lM3nO5pQ7rS9tU1vW3/xY5+zA7bC9dE1fG3hI5jK7lM9==";
        let quoted = "aB3dE5fG7hI9jK\"1lM3nO5pQ7rS9tU1vW3xY5\"zA7bC9dE1fG3hI5jK7lM9n";
        let percent = key.replace('/', "%2F").replace('+', "%2B").replace('=', "%3D");
        let encoded = STANDARD.encode(format!("{}{key}", "x".repeat(30)));
        let (first, second) = encoded.split_at(76);
        // Another secret, which is a part of the long one.
        let part = "fG7hI9jK1lM3nO5pQ7rS9tU1vW3";
        let redactor = Redactor::new([key, quoted, part].map(SecretKey::new).iter());
        for (text, expected) in [
            (format!("k={percent}&b=1"), "k=[redacted]&b=1".to_owned()),
            (serde_json::to_string(quoted).unwrap(), "\"[redacted]\"".to_owned()),
            (format!("{first}\n{second}\n"), format!("{}[redacted]\n", "eHh4".repeat(10))),
        ] {
            assert_eq!(&*redactor.redact(&text), expected);
        }
    }

    #[test]
    fn a_secret_of_signs_alone_is_found_however_it_is_escaped() {
        let redactor = Redactor::new([&SecretKey::new("\"%&/ä(){}=?\r\n~#\"")]);
        for text in [
            "%22%25%26%2F%C3%A4%28%29%7B%7D%3D%3F%0D%0A%7E%23%22",
            "\\\"%&/\\u00e4(){}=?\\r\\n~#\\\"",
            "&quot;%&amp;/&#228;(){}=?\r\n~#&quot;",
        ] {
            assert_eq!(&*redactor.redact(&format!("<{text}>")), "<[redacted]>", "{text}");
        }
    }

    #[test]
    fn a_secret_that_a_test_runner_abbreviates_is_found_by_its_ends() {
        let redactor = Redactor::new([&SecretKey::new("kV7vW2kP9xR4tB6nM1sD8fG3hJ5yQ")]);
        for (text, expected) in [
            (
                "assert 'kV7vW2kP9xR4...M1sD8fG3hJ5yQ' == 'x'",
                "assert '[redacted]...[redacted]' == 'x'",
            ),
            ("id[iiikV7vW2kP9xR4tB6nM1sD8fG3", "id[iii[redacted]"),
            ("kV7vW2 is too little", "kV7vW2 is too little"),
        ] {
            assert_eq!(&*redactor.redact(text), expected);
        }
    }

    #[test]
    fn a_canary_is_seen_in_every_form_and_passes_no_check_of_a_token() {
        let canary = Canary::new("0123456789abcdef0123456789abcdef");
        let token = canary.token();
        assert_eq!(
            (token.len(), find_tokens(&token).as_slice()),
            (40, std::slice::from_ref(&(0..40)))
        );
        // The checksum is a number of 32 bits in base 62, which begins with a digit up to 4.
        assert!(token.as_bytes()[34].is_ascii_alphabetic());
        for (text, expected) in [
            (format!("{{'GH_DEPLOY_TOKEN': '{token}'}}"), true),
            (STANDARD.encode(format!("A=1\nGH_DEPLOY_TOKEN={token}\n")), true),
            (canary.mark().to_owned(), true),
            (format!("assert '{}...", token.get(..20).unwrap()), true),
            ("GH_DEPLOY_TOKEN=ghp_".to_owned(), false),
        ] {
            assert_eq!(canary.is_in(&text), expected, "{text}");
        }
        let mut redactor = Redactor::default();
        redactor.add_canary(&canary);
        let clean = redactor.redact(&token);
        assert!(&*clean == CANARY_MARK && canary.is_in(&clean), "{clean}");
    }

    #[test]
    fn only_a_secret_that_an_edit_adds_counts() {
        let redactor = Redactor::new([&SecretKey::new("postgres-1")]);
        let table =
            [("a", "a b", false), ("postgres-1", "postgres-1 b", false), ("a", "postgres-1", true)];
        for (before, after, expected) in table {
            assert_eq!(redactor.is_added(before, after), expected, "{after}");
        }
        let redactor = Redactor::new([&SecretKey::new(CANARY)]);
        let token = ["ghs", "_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"].concat();
        let of_token = Redactor::new([&SecretKey::new(&token)]);
        for form in [token.clone(), STANDARD.encode(&token)] {
            for at in [4, 14, 20, 30] {
                let (begin, end) = form.split_at(at);
                assert!(of_token.is_added("", &format!("{begin}\n  {end}")), "{begin} {end}");
            }
        }
        let encoded = STANDARD.encode(format!("{}{CANARY}", "x".repeat(30)));
        let (first, second) = encoded.split_at(76);
        let wrapped = format!("{first}\n{second}\n");
        let long = format!("{CANARY}\n{}\n", "y".repeat(76));
        for (before, after, expected) in [
            ("a", &wrapped, true),
            (&wrapped, &format!("b\n{wrapped}"), false),
            (CANARY, &long, false),
        ] {
            assert_eq!(redactor.is_added(before, after), expected, "{after}");
        }
    }

    #[test]
    fn a_token_that_nobody_knows_is_found_by_its_shape() {
        let token = ["ghs", "_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"].concat();
        for form in [token.clone(), STANDARD.encode(&token), URL_SAFE_NO_PAD.encode(&token)] {
            let shown = Redactor::default().redact(&format!("AssertionError: {form}"));
            assert_eq!(&*shown, format!("AssertionError: {MARK}"));
        }
    }

    #[test]
    fn a_document_is_redacted_in_its_strings_and_keys_but_source_keeps_its_examples() {
        let token = ["npm", "_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"].concat();
        let redactor = Redactor::new([&SecretKey::new(CANARY)]);
        let document = serde_json::json!({
            "message": format!("{token}\n{CANARY}"),
            (token.clone()): [1, null, token],
            "edit": {"file": "a.py", "before": token, "after": format!("{token} {CANARY}")},
            "planned": {"file": "a.py", "search": token, "replace": format!("{token} {CANARY}")},
        });
        assert_eq!(
            *redactor.redact_json(document),
            serde_json::json!({
                "message": format!("{MARK}\n{MARK}"),
                MARK: [1, null, MARK],
                "edit": {"file": "a.py", "before": token, "after": format!("{token} {MARK}")},
                "planned": {"file": "a.py", "search": token, "replace": format!("{token} {MARK}")},
            })
        );
    }
}
