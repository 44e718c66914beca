//! Words as a person would type them in a shell.

/// A word, in quotes when a shell would act on something in it.
pub fn word(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:@,+%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// A list of words as one line.
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
