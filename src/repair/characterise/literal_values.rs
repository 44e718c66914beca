//! Values equal or close to a literal of the code.

use crate::code::signature::{Parameter, Type};

/// Content of a string literal; `None` if it contains a quote, a backslash or a line break, or is the name
/// of what is not there.
pub fn string_content(literal: &str) -> Option<&str> {
    let quote = literal.chars().next().filter(|c| *c == '"' || *c == '\'')?;
    let inner = literal.strip_prefix(quote)?.strip_suffix(quote)?;
    (!inner.contains(['\\', '"', '\'', '\n']) && inner != "undefined").then_some(inner)
}

/// Values equal or close to a literal of the function.
pub fn values_around(literal: &str) -> Vec<String> {
    if let Ok(number) = literal.parse::<i64>() {
        let near = [number.checked_add(1), number.checked_sub(1), number.checked_neg()];
        let near = near.into_iter().flatten().map(|near| near.to_string());
        return [literal.to_owned()].into_iter().chain(near).collect();
    }
    // A text that is filled in is none that anybody passes.
    if literal.len() > 4 && ["%s", "%d", "%r"].iter().any(|mark| literal.contains(mark)) {
        return Vec::new();
    }
    if let Some(inner) = string_content(literal).filter(|inner| !inner.is_empty()) {
        let near = match other_code(inner) {
            Some(code) => vec![format!("\"{code}\"")],
            None => vec![format!("\"a{inner}b\""), format!("\"{inner}{inner}\"")],
        };
        return [vec![literal.to_owned()], near].concat();
    }
    vec![literal.to_owned()]
}

/// Another code of a kind, such as a country or a currency, for one of two or three capitals.
fn other_code(code: &str) -> Option<&'static str> {
    let is_code = code.chars().all(|c| c.is_ascii_uppercase());
    match (code, code.len()) {
        (_, 2 | 3) if !is_code => None,
        ("FR", _) => Some("IT"),
        ("USD", _) => Some("GBP"),
        (_, 2) => Some("FR"),
        (_, 3) => Some("USD"),
        _ => None,
    }
}

/// The number that a hexadecimal literal stands for.
fn code_point(literal: &str) -> Option<u32> {
    let digits = literal.strip_prefix("0x").or(literal.strip_prefix("0X"))?;
    u32::from_str_radix(digits, 16).ok()
}

/// A character as it is written inside of a literal.
fn written_character(code: u32) -> Option<String> {
    let character = char::from_u32(code)?;
    Some(match code {
        _ if character.is_ascii_alphanumeric() => character.to_string(),
        0x1_0000.. => format!("\\U{code:08x}"),
        _ => format!("\\u{code:04x}"),
    })
}

/// Texts with the character that a hexadecimal literal beyond ASCII may stand for.
pub fn texts_around_code_point(literal: &str) -> Vec<String> {
    let code = code_point(literal).filter(|code| *code > 0x7f);
    let Some(written) = code.and_then(written_character) else { return Vec::new() };
    vec![format!("\"{written}\""), format!("\"a{written}a\"")]
}

/// The most texts with a character at an index, and the letters of words that stand around it.
const INDEXED: usize = 64;
const WORDS_AROUND: usize = 3;

/// Arguments of a function that asks which character stands at an index of a text: the characters of
/// its hexadecimal literals, alone and between their neighbours, each other, and letters of words.
pub fn indexed_characters(
    parameters: &[Parameter],
    literals: &[String],
    words: &[String],
) -> Vec<Vec<String>> {
    let [text, index, others @ ..] = parameters else { return Vec::new() };
    let is_indexed =
        text.types.first() == Some(&Type::Text) && index.types.first() == Some(&Type::Int);
    if !is_indexed || others.iter().any(|one| !one.optional) {
        return Vec::new();
    }
    let codes: Vec<u32> = literals.iter().filter_map(|literal| code_point(literal)).collect();
    let letters = words.iter().filter_map(|word| {
        let mut letters = string_content(word)?.chars();
        let pair = (letters.next()?, letters.next()?);
        (!pair.0.is_ascii()).then_some((u32::from(pair.0), u32::from(pair.1)))
    });
    let letters: Vec<(u32, u32)> = letters.take(WORDS_AROUND).collect();
    let mut found = Vec::new();
    for code in codes.iter().copied().filter(|code| *code > 0x7f) {
        let near = [(u32::from('a'), u32::from('b')), (code - 1, code + 1)];
        let others = codes.iter().filter(|other| **other != code).map(|other| (*other, *other));
        for (before, after) in near.into_iter().chain(letters.iter().copied()).chain(others) {
            let parts = [before, code, after].map(written_character);
            if let [Some(before), Some(at), Some(after)] = parts {
                found.push(vec![format!("\"{before}{at}{after}\""), "1".to_owned()]);
            }
        }
        let alone = written_character(code);
        found.extend(alone.map(|alone| vec![format!("\"{alone}\""), "0".to_owned()]));
    }
    found.truncate(INDEXED);
    found
}

/// The most texts around numbers.
const AROUND_NUMBERS: usize = 24;

/// Texts with numbers around literal limits: `23:12` and `24:12` for `12:12` and 23.
pub fn texts_around_numbers(texts: &[String], literals: &[String]) -> Vec<String> {
    let limits = literals.iter().filter_map(|one| one.parse::<u32>().ok()).filter(|one| *one > 9);
    let limits: Vec<u32> = limits.collect();
    let mut found = Vec::new();
    for text in texts {
        for (start, end) in digit_groups(text) {
            let parts = (text.get(..start), text.get(start..end), text.get(end..));
            let (Some(before), Some(digits), Some(after)) = parts else { continue };
            for number in limits.iter().flat_map(|limit| [*limit, limit + 1]) {
                let other = format!("{before}{number}{after}");
                let fits = number.to_string().len() == digits.len() && other != *text;
                if fits && found.len() < AROUND_NUMBERS && !found.contains(&other) {
                    found.push(other);
                }
            }
        }
    }
    found
}

/// Where the numbers in a text stand.
pub fn digit_groups(text: &str) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (at, _) in text.char_indices().filter(|(_, letter)| letter.is_ascii_digit()) {
        match found.last_mut() {
            Some((_, end)) if *end == at => *end = at + 1,
            _ => found.push((at, at + 1)),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_texts_are_put_on_both_sides_of_a_limit() {
        let texts = ["\"12:10\"".to_owned(), "\"a\"".to_owned()];
        let literals = ["23".to_owned(), "7".into(), "500".into(), "'x'".into()];
        assert_eq!(
            texts_around_numbers(&texts, &literals),
            ["\"23:10\"", "\"24:10\"", "\"12:23\"", "\"12:24\""]
        );
    }

    #[test]
    fn characters_are_asked_for_at_their_index() {
        let parameter = |name: &str, kind| Parameter {
            name: name.to_owned(),
            types: vec![kind],
            ..Parameter::default()
        };
        let both = [parameter("label", Type::Text), parameter("pos", Type::Int)];
        let literals = ["0x00B7".to_owned(), "1".to_owned(), "0x6C".to_owned()];
        let found = indexed_characters(&both, &literals, &["\"שלום\"".to_owned()]);
        let texts: Vec<String> = found.iter().map(|one| one.join(", ")).collect();
        let expected = [
            r#""a\u00b7b", 1"#,
            r#""\u00b6\u00b7\u00b8", 1"#,
            r#""\u05e9\u00b7\u05dc", 1"#,
            r#""l\u00b7l", 1"#,
            r#""\u00b7", 0"#,
        ];
        assert_eq!(texts, expected);
        let others = [parameter("a", Type::Int), parameter("b", Type::Int)];
        assert!(indexed_characters(&others, &literals, &[]).is_empty());
    }
}
