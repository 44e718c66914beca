//! Well-known tokens, recognised by their shape in plain and encoded text (specification.md 4.13).

use std::ops::Range;

/// How a kind of token is written: a prefix, then `least` characters, `infix` among them.
struct TokenShape {
    prefix: &'static str,
    least: usize,
    charset: Charset,
    infix: &'static str,
}

/// Characters that follow a prefix.
#[derive(Clone, Copy)]
enum Charset {
    Alphanumeric,
    /// Letters, digits, `_` and `-`.
    Url,
    /// Those and `.`, which does not end a token.
    Dotted,
    /// Capital letters and digits.
    Capital,
}

impl Charset {
    fn holds(self, byte: u8) -> bool {
        match self {
            Self::Alphanumeric => byte.is_ascii_alphanumeric(),
            Self::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Dotted => byte == b'.' || Self::Url.holds(byte),
            Self::Capital => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
        }
    }
}

impl TokenShape {
    /// Length of the token of this shape that `text` begins with.
    fn length(&self, text: &[u8]) -> Option<usize> {
        let rest = text.strip_prefix(self.prefix.as_bytes())?;
        let mut length = rest.iter().take_while(|byte| self.charset.holds(**byte)).count();
        while rest[..length].ends_with(b".") {
            length -= 1;
        }
        let rest = &rest[..length];
        let infix = self.infix.as_bytes();
        let has_infix = infix.is_empty() || rest.windows(infix.len()).any(|part| part == infix);
        // Words that are joined by `-` or `_` hold no digit, and hardly a token holds none.
        let has_digit = rest.iter().any(u8::is_ascii_digit);
        (length >= self.least && has_digit && has_infix).then_some(self.prefix.len() + length)
    }
}

const fn shape(prefix: &'static str, least: usize, charset: Charset) -> TokenShape {
    TokenShape { prefix, least, charset, infix: "" }
}

/// Prefixes as issuers document them; half of a real length is enough, as runners abbreviate.
const SHAPES: &[TokenShape] = &[
    shape("ghp_", 16, Charset::Url),
    shape("gho_", 16, Charset::Url),
    shape("ghu_", 16, Charset::Url),
    shape("ghs_", 16, Charset::Dotted),
    shape("ghr_", 16, Charset::Url),
    shape("github_pat_", 20, Charset::Url),
    shape("glpat-", 18, Charset::Url),
    shape("sk-ant-", 20, Charset::Url),
    shape("sk-proj-", 20, Charset::Url),
    shape("sk-svcacct-", 20, Charset::Url),
    // Without `-`, which would take long CSS class names for keys.
    shape("sk-", 24, Charset::Alphanumeric),
    shape("sk-or-v1-", 20, Charset::Url),
    shape("sk_live_", 16, Charset::Url),
    shape("sk_test_", 16, Charset::Url),
    shape("rk_live_", 16, Charset::Url),
    shape("whsec_", 20, Charset::Url),
    shape("xai-", 24, Charset::Alphanumeric),
    shape("GOCSPX-", 20, Charset::Url),
    shape("ya29.", 20, Charset::Url),
    shape("SG.", 20, Charset::Url),
    shape("dop_v1_", 20, Charset::Url),
    shape("hvs.", 20, Charset::Url),
    shape("shpat_", 20, Charset::Url),
    shape("dckr_pat_", 20, Charset::Url),
    shape("glsa_", 20, Charset::Url),
    shape("xapp-", 20, Charset::Url),
    shape("AIza", 20, Charset::Url),
    shape("AKIA", 16, Charset::Capital),
    shape("ASIA", 16, Charset::Capital),
    shape("xoxb-", 20, Charset::Url),
    shape("xoxp-", 20, Charset::Url),
    // Without `_`, which is in the names of npm's variables.
    shape("npm_", 20, Charset::Alphanumeric),
    shape("pypi-", 40, Charset::Url),
    shape("hf_", 20, Charset::Alphanumeric),
    shape("gsk_", 24, Charset::Alphanumeric),
    // A JSON Web Token: two JSON objects and a signature.
    TokenShape { prefix: "eyJ", least: 20, charset: Charset::Dotted, infix: ".eyJ" },
];

/// Beginnings of private keys, which are refused in edits; what follows is no single token.
const PRIVATE_KEYS: &[&str] = &[
    "-----BEGIN RSA PRIVATE KEY",
    "-----BEGIN OPENSSH PRIVATE KEY",
    "-----BEGIN PRIVATE KEY",
    "-----BEGIN EC PRIVATE KEY",
    "-----BEGIN DSA PRIVATE KEY",
    "-----BEGIN ENCRYPTED PRIVATE KEY",
    "-----BEGIN PGP PRIVATE KEY",
];

/// Number of tokens and private keys that stand in `text` in plain.
pub(super) fn count_plain(text: &str) -> usize {
    let private = PRIVATE_KEYS.iter().map(|begin| text.matches(begin).count()).sum::<usize>();
    plain_tokens(text.as_bytes()).len() + private
}

/// Shortest run of base64 or hexadecimal digits that is decoded: no shorter one holds a token.
const SHORTEST_ENCODED: usize = 24;

/// Places of `text` that look like a token, encoded ones included; ordered, not overlapping.
pub(super) fn find_tokens(text: &str) -> Vec<Range<usize>> {
    let mut found = plain_tokens(text.as_bytes());
    found.extend(private_keys(text));
    found.extend(credentials(text));
    found.extend(
        encoded_runs(text).filter(|run| holds_encoded_token(&text.as_bytes()[run.clone()])),
    );
    merge(found)
}

/// Orders places and joins those that overlap.
pub(super) fn merge(mut places: Vec<Range<usize>>) -> Vec<Range<usize>> {
    places.sort_by_key(|place| (place.start, place.end));
    let mut merged: Vec<Range<usize>> = Vec::new();
    for place in places {
        match merged.last_mut() {
            Some(last) if place.start <= last.end => last.end = last.end.max(place.end),
            _ => merged.push(place),
        }
    }
    merged
}

fn plain_tokens(text: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    while start < text.len() {
        // A prefix inside of a word, such as `task-`, begins no token.
        let inside = begins_inside_word(&text[..start]);
        let end = if inside { None } else { token_end(&text[start..]) };
        match end {
            Some(length) => {
                found.push(start..start + length);
                start += length;
            }
            None => start += 1,
        }
    }
    found
}

/// Whether a text behind `before` continues a word. The letter of an escape such as `\n` is none.
fn begins_inside_word(before: &[u8]) -> bool {
    let is_escape = matches!(before, [.., b'\\', b'n' | b't' | b'r']);
    !is_escape && before.last().is_some_and(u8::is_ascii_alphanumeric)
}

/// Blocks of private keys, to their end or that of the text.
fn private_keys(text: &str) -> impl Iterator<Item = Range<usize>> {
    const END: &str = "-----END ";
    const DASHES: &str = "-----";
    let begins = PRIVATE_KEYS.iter().flat_map(|begin| text.match_indices(begin));
    begins.map(|(start, begin)| {
        let body = start + begin.len();
        let end = text.get(body..).and_then(|rest| {
            let name = rest.find(END)? + END.len();
            Some(body + name + rest.get(name..)?.find(DASHES)? + DASHES.len())
        });
        start..end.unwrap_or(text.len())
    })
}

/// Least length of the credentials in a header, in bytes.
const SHORTEST_CREDENTIALS: usize = 16;

/// The credentials of `Authorization` headers: after `Bearer` some token, after `Basic` a login.
fn credentials(text: &str) -> impl Iterator<Item = Range<usize>> {
    ["earer ", "asic "].into_iter().flat_map(move |rest| {
        text.match_indices(rest).filter_map(move |(at, _)| {
            let before = text.as_bytes().get(at.checked_sub(1)?)?;
            let start = at + rest.len();
            let is_value = |byte: &&u8| {
                byte.is_ascii_alphanumeric()
                    || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'.' | b'_' | b'~')
            };
            let value = text.as_bytes().get(start..)?;
            let value = &value[..value.iter().take_while(is_value).count()];
            let is_credential = match rest {
                "asic " => decode_base64(value).contains(&b':'),
                _ => value.iter().any(u8::is_ascii_digit),
            };
            (matches!(before, b'B' | b'b') && value.len() >= SHORTEST_CREDENTIALS && is_credential)
                .then(|| start..start + value.len())
        })
    })
}

/// Whether a prefix begins with this byte, so that most places cost one look-up.
const BEGINS: [bool; 256] = {
    let mut begins = [false; 256];
    let mut index = 0;
    while index < SHAPES.len() {
        begins[SHAPES[index].prefix.as_bytes()[0] as usize] = true;
        index += 1;
    }
    begins
};

/// Length of the token that `text` begins with.
fn token_end(text: &[u8]) -> Option<usize> {
    if !text.first().is_some_and(|byte| BEGINS[usize::from(*byte)]) {
        return None;
    }
    SHAPES.iter().find_map(|shape| shape.length(text))
}

/// Runs of characters that base64 (both alphabets) or hexadecimal text is made of.
fn encoded_runs(text: &str) -> impl Iterator<Item = Range<usize>> {
    let encodes = |byte: &u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=')
    };
    let bytes = text.as_bytes();
    let mut start = 0;
    std::iter::from_fn(move || {
        while start < bytes.len() {
            let length = bytes[start..].iter().take_while(|byte| encodes(byte)).count();
            let run = start..start + length;
            start = run.end + 1;
            if length >= SHORTEST_ENCODED {
                return Some(run);
            }
        }
        None
    })
}

/// Whether a token stands in what `run` decodes to. What surrounds the encoded text may belong to
/// the run, so base64 is read from each of the four positions it may begin at.
fn holds_encoded_token(run: &[u8]) -> bool {
    let hex = [0, 1].map(|skip| decode_hex(&run[skip..]));
    let base64 = [0, 1, 2, 3].map(|skip| decode_base64(&run[skip..]));
    hex.iter().chain(&base64).any(|decoded| contains_token(decoded))
}

/// Unlike in plain text, what surrounds a token in a decoded text may be noise.
fn contains_token(text: &[u8]) -> bool {
    (0..text.len()).any(|start| token_end(&text[start..]).is_some())
}

fn decode_hex(digits: &[u8]) -> Vec<u8> {
    let value = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    digits
        .chunks_exact(2)
        .map(|pair| match (value(pair[0]), value(pair[1])) {
            (Some(high), Some(low)) => high << 4 | low,
            _ => 0,
        })
        .collect()
}

fn decode_base64(symbols: &[u8]) -> Vec<u8> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => u32::from(byte - b'A'),
        b'a'..=b'z' => u32::from(byte - b'a') + 26,
        b'0'..=b'9' => u32::from(byte - b'0') + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => 0,
    };
    let bytes_of = |group: &[u8]| {
        let bits = (0..4)
            .fold(0, |bits, index| bits << 6 | group.get(index).map_or(0, |byte| value(*byte)));
        let [_, first, second, third] = bits.to_be_bytes();
        [first, second, third]
    };
    symbols.chunks(4).flat_map(bytes_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    const TOKENS: &[&str] = &[
        "ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "ghs_0123456789abcdefghijABCDEFGHIJ012345",
        "github_pat_11ABCDEFG0aBcDeFgHiJkL_mNoPqRsTuVwXyZ0123456789abcdefghijklmnopqrstuvwxyzABCD",
        "glpat-abcdefGHIJKL01234567",
        "sk-proj-abcdefGHIJKL0123456789abcdefGHIJKL",
        "sk-or-v1-0123456789abcdef0123456789abcdef0123456789abcdef",
        "AIzaSyA0123456789abcdefghijABCDEFGHIJ01",
        "AKIAIOSFODNN7EXAMPLE",
        "npm_0123456789abcdefghijABCDEFGHIJ012345",
        "ghs_123456_abcdefghij.ABCDEFGHIJ.012345",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
    ];

    #[test]
    fn words_and_names_are_no_tokens() {
        for text in [
            "task-scheduler-of-the-very-long-name-of-a-module",
            "the sk- prefix, ghp_ and AIza alone",
            "/usr/lib/python3.13/site-packages/very_long_package_name/__init__.py",
            "d4218ffc0de0123456789abcdef0123456789abc",
            "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
            "assert total(['npm_install']) == 12",
            "test_sk_live_mode_toggle_is_visible_when_feature_enabled",
            "pypi-publish-github-action-workflow-release-tag",
            "eyJhbGciOiJIUzI1NiJ9 and eyJzdWIiOiIxMjM0NTY3ODkwIn0",
            "Basic tests/of/some2/long/path and a bearer of very-long-names",
        ] {
            assert!(find_tokens(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_private_key_is_found_to_its_end_and_a_token_behind_an_escape_too() {
        let key =
            ["-----BEGIN RSA", " PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----"].concat();
        let only = |text: &str, place: Range<usize>| {
            assert!(find_tokens(text).into_iter().eq([place]), "{text}");
        };
        only(&format!("a {key} b"), 2..2 + key.len());
        only(&format!("a {}", key.get(..40).unwrap()), 2..42);
        for kind in ["PGP PRIVATE KEY BLOCK", "ENCRYPTED PRIVATE KEY"] {
            let key = format!("-----BEGIN {kind}-----\nMIIE\n-----END {kind}-----");
            only(&format!("a {key} b"), 2..2 + key.len());
        }
        let escaped = format!("'x\\n{}'", TOKENS[0]);
        only(&escaped, 4..4 + TOKENS[0].len());
    }

    #[test]
    fn credentials_of_a_header_are_found_without_their_scheme() {
        for (header, value) in [
            ("Authorization: Bearer ", "abcd1234-efgh_5678.ijkl"),
            ("'authorization': 'bearer ", "abcd1234efgh5678"),
            ("Authorization: Basic ", "YWxhZGRpbjpvcGVuc2VzYW1l"),
        ] {
            let text = format!("{header}{value}'");
            let place = header.len()..header.len() + value.len();
            assert!(find_tokens(&text).into_iter().eq([place]), "{text}");
        }
    }

    #[test]
    fn a_token_is_found_where_it_stands() {
        for token in TOKENS {
            let text = format!("AssertionError: '{token}' is no price");
            let start = text.find(token).unwrap();
            let place = start..start + token.len();
            assert!(find_tokens(&text).into_iter().eq([place]), "{token}");
        }
    }

    proptest! {
        #[test]
        fn a_token_is_found_in_every_encoding(index in 0..TOKENS.len(), before in "[ -~]{0,9}", after in "[ -~]{0,9}") {
            let text = format!("{before} {} {after}", TOKENS[index]);
            let hex: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
            for form in [text.clone(), STANDARD.encode(&text), URL_SAFE_NO_PAD.encode(&text), hex] {
                prop_assert!(!find_tokens(&form).is_empty(), "{form}");
            }
        }

        #[test]
        fn places_are_ordered_and_lie_on_characters(text in "\\PC{0,80}") {
            let places = find_tokens(&text);
            for pair in places.windows(2) {
                prop_assert!(pair[0].end < pair[1].start);
            }
            for place in places {
                prop_assert_eq!(text.get(place.clone()).map(str::len), Some(place.len()));
            }
        }
    }
}
