//! `SecretKey`, which does not print its value, and `Redactor`, which removes secrets from texts.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use secrecy::{ExposeSecret, SecretString};

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

/// Shorter texts are not redacted, because that would blank out ordinary words.
const SHORTEST: usize = 8;

/// Removes known secrets from texts, also in encoded form.
#[derive(Clone, Default)]
pub struct Redactor {
    needles: Vec<String>,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor({} forms)", self.needles.len())
    }
}

impl Redactor {
    /// Builds a redactor that finds `keys` in plain, base64 (any alignment, both alphabets),
    /// hexadecimal, URL and JSON form.
    pub fn new<'a>(keys: impl IntoIterator<Item = &'a SecretKey>) -> Self {
        let mut needles = Vec::new();
        for key in keys {
            let key = key.expose();
            if key.len() >= SHORTEST {
                needles.extend(forms(key));
            }
        }
        // Replace longer forms first, so that no remainder of one is left.
        needles.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        needles.dedup();
        Self { needles }
    }

    /// `text` with every secret replaced by a mark.
    pub fn redact(&self, text: &str) -> String {
        let mut clean = text.to_owned();
        for needle in &self.needles {
            if clean.contains(needle) {
                clean = clean.replace(needle, MARK);
            }
        }
        clean
    }

    /// Whether `text` holds a secret in a known form.
    pub fn finds(&self, text: &str) -> bool {
        self.needles.iter().any(|needle| text.contains(needle))
    }
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
    for upper in [true, false] {
        let encoded: String = key
            .bytes()
            .map(|byte| match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                    char::from(byte).to_string()
                }
                _ if upper => format!("%{byte:02X}"),
                _ => format!("%{byte:02x}"),
            })
            .collect();
        forms.push(encoded);
    }
    let json = serde_json::to_string(key).unwrap_or_default();
    forms.push(json.trim_matches('"').to_owned());
    forms
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::engine::general_purpose::STANDARD;
    use proptest::prelude::{prop_assert, proptest};

    const CANARY: &str = "sk-Canary/7+q=Zt\"9";

    #[test]
    fn a_key_does_not_print_itself() {
        assert_eq!(format!("{:?}", SecretKey::new(CANARY)), MARK);
    }

    #[test]
    fn short_words_are_no_keys() {
        assert_eq!(Redactor::new([&SecretKey::new("test")]).redact("a test"), "a test");
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
            ] {
                prop_assert!(redactor.finds(&form), "{form}");
                prop_assert!(!redactor.finds(&redactor.redact(&form)), "{form}");
            }
        }
    }
}
