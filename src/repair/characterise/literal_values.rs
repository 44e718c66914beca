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
