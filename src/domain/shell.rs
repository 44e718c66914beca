//! Quotes words for display as a shell command.

/// A word, in quotes if a shell would interpret a character in it.
pub fn word(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:@,+%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Several words as one command line.
pub fn line(words: &[String]) -> String {
    words.iter().map(|text| word(text)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_act_on_is_quoted() {
        let table = [
            ("feature/a-b_1.2", "feature/a-b_1.2"),
            ("", "''"),
            ("a b", "'a b'"),
            ("$(id)", "'$(id)'"),
            ("it's;rm", "'it'\\''s;rm'"),
        ];
        for (text, expected) in table {
            assert_eq!(word(text), expected);
        }
    }
}
