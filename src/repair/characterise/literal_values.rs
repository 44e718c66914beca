//! Values equal or close to a literal of the code.

/// Content of a string literal; `None` if it contains a quote, a backslash or a line break.
pub fn string_content(literal: &str) -> Option<&str> {
    let quote = literal.chars().next().filter(|c| *c == '"' || *c == '\'')?;
    let inner = literal.strip_prefix(quote)?.strip_suffix(quote)?;
    (!inner.contains(['\\', '"', '\'', '\n'])).then_some(inner)
}

/// Values equal or close to a literal of the function.
pub fn values_around(literal: &str) -> Vec<String> {
    if let Ok(number) = literal.parse::<i64>() {
        let near = [number.checked_add(1), number.checked_sub(1), number.checked_neg()];
        let near = near.into_iter().flatten().map(|near| near.to_string());
        return [literal.to_owned()].into_iter().chain(near).collect();
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

/// Texts with the character that a hexadecimal literal beyond ASCII may stand for.
pub fn texts_around_code_point(literal: &str) -> Vec<String> {
    let digits = literal.strip_prefix("0x").or(literal.strip_prefix("0X"));
    let number = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let character = number.filter(|number| *number > 0x7f).and_then(char::from_u32);
    let Some(character) = character else { return Vec::new() };
    let code = u32::from(character);
    let written = if code > 0xffff { format!("\\U{code:08x}") } else { format!("\\u{code:04x}") };
    vec![format!("\"{written}\""), format!("\"a{written}a\"")]
}

/// The most texts around numbers.
const AROUND_NUMBERS: usize = 24;

/// Texts with numbers on both sides of the limits among the literals of a function: `23:12` and
/// `24:12` for `12:12` and 23.
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
}
