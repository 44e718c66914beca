//! Splits a text of the shell into the words of its commands.

use crate::domain::test_command::unquoted;

/// The words of each command in a text of the shell, without quotes; `<` is a word of its own, and
/// other redirections are left out with what they name.
pub fn commands(text: &str) -> Vec<Vec<String>> {
    let text = text.replace("\\\n", " ");
    let (mut all, mut words, mut word) = (Vec::new(), Vec::new(), String::new());
    let (mut quote, mut chars) = (None, text.chars().peekable());
    let end_word = |word: &mut String, words: &mut Vec<String>| {
        let done = std::mem::take(word);
        words.extend(Some(unquoted(&done)).filter(|word| !word.is_empty()));
    };
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if c == open => quote = None,
            (None | Some('"'), '\\') => {
                word.push(c);
                word.extend(chars.next());
                continue;
            }
            (None, '#') if word.is_empty() => {
                while chars.next_if(|c| *c != '\n').is_some() {}
                continue;
            }
            (None, '|' | '&' | ';' | '(' | ')' | '\n' | '`') => {
                end_word(&mut word, &mut words);
                all.push(std::mem::take(&mut words));
                continue;
            }
            (None, '<' | '>') => {
                let number = word.chars().all(|c| c.is_ascii_digit());
                if number {
                    word.clear();
                } else {
                    end_word(&mut word, &mut words);
                }
                if c == '<' {
                    words.push("<".to_owned());
                } else {
                    while chars.next_if(|c| ">& ".contains(*c)).is_some() {}
                    while chars.next_if(|c| !c.is_whitespace() && !"|&;()".contains(*c)).is_some() {
                    }
                }
                continue;
            }
            (None, _) if c.is_whitespace() => {
                end_word(&mut word, &mut words);
                continue;
            }
            _ => {}
        }
        word.push(c);
    }
    end_word(&mut word, &mut words);
    all.push(words);
    all.retain(|words| !words.is_empty());
    all
}
