//! [`TestCommand`]: a test command that a person configured. It runs in a shell as it was written;
//! where it is one simple command, words can be added to it, such as the option for a report.

/// A configured test command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestCommand {
    text: String,
    /// Its words as written, quotes included; empty unless it is a simple command (POSIX, 2.9.1).
    words: Vec<String>,
}

/// Programs that start the tool named by their next word.
pub const LAUNCHERS: &[&[&str]] = &[
    &["npx"],
    &["npm", "exec"],
    &["bundle", "exec"],
    &["uv", "run"],
    &["poetry", "run"],
    &["pipenv", "run"],
    &["pdm", "run"],
    &["bunx"],
    &["nyc"],
    &["c8"],
    &["yarn", "run"],
    &["yarn", "exec"],
    &["yarn"],
    &["pnpm", "exec"],
    &["pnpm"],
];

impl TestCommand {
    /// Reads a command line.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self { text: text.to_owned(), words: simple_words(text).unwrap_or_default() }
    }

    /// The command as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The commands of a list, each run only if those before succeed; else the command itself.
    #[must_use]
    pub fn parts(&self) -> Vec<Self> {
        self.text.split(" && ").map(|part| Self::new(part.trim())).collect()
    }

    /// Its words as they were written; empty unless it is one simple command.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// The number of words up to the program and its leading words, such as `cargo test`, if the
    /// command runs just that. Assignments of variables, launchers such as `npx` and the folder of the
    /// program may precede it.
    pub fn after(&self, program: &[&str]) -> Option<usize> {
        let plain: Vec<String> = self.words.iter().map(|word| unquoted(word)).collect();
        let start = plain.iter().take_while(|word| is_assignment(word)).count();
        let (name, rest) = program.split_first()?;
        let at = |index: usize| -> Option<usize> {
            let word = plain.get(index)?;
            let found = word.rsplit('/').next() == Some(*name);
            // `cargo +nightly test` chooses a toolchain.
            let after = plain.get(index + 1..)?;
            let from = index + 1 + after.iter().take_while(|word| word.starts_with('+')).count();
            let next = plain.get(from..from + rest.len())?;
            (found && next.iter().eq(rest)).then_some(from + rest.len())
        };
        at(start).or_else(|| at(self.launcher()))
    }

    /// The number of words up to what a launcher such as `npx` starts, with its variables.
    pub fn launcher(&self) -> usize {
        let plain: Vec<String> = self.words.iter().map(|word| unquoted(word)).collect();
        let start = plain.iter().take_while(|word| is_assignment(word)).count();
        let launched = LAUNCHERS.iter().find_map(|launcher| {
            let from = start + launcher.len();
            let is_named = plain.get(start..from)?.iter().eq(launcher.iter());
            let is_flag = |word: &&String| word.starts_with('-') && *word != "--";
            let next = from + plain.get(from..)?.iter().take_while(is_flag).count();
            let is_end = plain.get(next).is_some_and(|word| word == "--");
            is_named.then_some(next + usize::from(is_end))
        });
        launched.unwrap_or(start)
    }
}

/// A word without the quotes that a shell removes.
pub fn unquoted(word: &str) -> String {
    let (mut text, mut quote, mut chars) = (String::new(), None, word.chars());
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if c == open => quote = None,
            (None, '\\') => text.extend(chars.next()),
            (Some('"'), '\\') => match chars.next() {
                Some(next @ ('"' | '\\' | '$' | '`')) => text.push(next),
                next => {
                    text.push('\\');
                    text.extend(next);
                }
            },
            _ => text.push(c),
        }
    }
    text
}

/// Whether a word sets a variable for the command.
pub fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// Words with which a shell begins something else than a simple command.
const RESERVED: &[&str] =
    &["!", "{", "case", "do", "exec", "eval", "for", "if", "then", "until", "while", "time"];

/// The words of a simple command as they were written; `None` for a list, a pipeline, a redirection,
/// a substitution, and for quotes that are not closed.
fn simple_words(text: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some('\''), _) => {}
            (_, '`') | (None, '|' | '&' | ';' | '<' | '>' | '(' | ')' | '\n') => return None,
            (_, '$') if chars.peek() == Some(&'(') => return None,
            (_, '\\') => {
                word.push(c);
                word.push(chars.next().filter(|next| *next != '\n')?);
                continue;
            }
            (None, '#') if word.is_empty() => return None,
            (None, _) if c.is_whitespace() => {
                words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty()));
                continue;
            }
            _ => {}
        }
        match quote {
            None if matches!(c, '\'' | '"') => quote = Some(c),
            Some(open) if c == open => quote = None,
            _ => {}
        }
        word.push(c);
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    let is_reserved = words.first().is_some_and(|first| RESERVED.contains(&first.as_str()));
    (quote.is_none() && !is_reserved).then_some(words)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the shell itself is asked")]

    use super::*;
    use crate::domain::shell;

    #[test]
    fn a_simple_command_has_words_and_others_have_none() {
        let table: &[(&str, &[&str])] = &[
            ("cargo test", &["cargo", "test"]),
            ("  a\t b ", &["a", "b"]),
            ("a 'b c' \"d e\"", &["a", "'b c'", "\"d e\""]),
            ("a b\\ c \"x\\\"y\"", &["a", "b\\ c", "\"x\\\"y\""]),
            ("CI=1 a $HOME ~ *.js '$(x);'", &["CI=1", "a", "$HOME", "~", "*.js", "'$(x);'"]),
            ("a#b", &["a#b"]),
            ("", &[]),
            ("a && b", &[]),
            ("a | tee log", &[]),
            ("a; b", &[]),
            ("a > log", &[]),
            ("a $(b)", &[]),
            ("a \"`b`\"", &[]),
            ("(a)", &[]),
            ("a\nb", &[]),
            ("a 'b", &[]),
            ("a \\", &[]),
            ("a # b", &[]),
            ("if a", &[]),
            ("! a", &[]),
        ];
        for (text, expected) in table {
            assert_eq!(TestCommand::new(text).words(), *expected, "{text}");
        }
    }

    #[test]
    fn a_program_is_known_by_its_first_words_alone() {
        let table: &[(&str, &[&str], Option<usize>)] = &[
            ("cargo test -p x", &["cargo", "test"], Some(2)),
            ("CI=1 RUST_LOG=\"a b\" cargo test", &["cargo", "test"], Some(4)),
            ("cargo +nightly test", &["cargo", "test"], Some(3)),
            ("cargo", &["cargo", "test"], None),
            ("cargo bench test", &["cargo", "test"], None),
            ("make cargo test", &["cargo", "test"], None),
            ("./gradlew check", &["gradlew"], Some(1)),
            ("npx jest", &["jest"], Some(2)),
            ("npx --no-install jest x", &["jest"], Some(3)),
            ("yarn run jest", &["jest"], Some(3)),
            ("yarn jest", &["jest"], Some(2)),
            ("pnpm exec vitest run", &["vitest"], Some(3)),
            ("node_modules/.bin/jest", &["jest"], Some(1)),
            ("uv run --frozen python -m x", &["python"], Some(4)),
            ("npm exec -- jest --ci", &["jest"], Some(4)),
            ("npm exec --no jest", &["jest"], Some(4)),
            ("echo jest", &["jest"], None),
            ("npx jester", &["jest"], None),
            ("cargo test && ./more.sh", &["cargo", "test"], None),
            ("", &["jest"], None),
        ];
        for (text, program, expected) in table {
            assert_eq!(TestCommand::new(text).after(program), *expected, "{text}");
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config::with_cases(60))]

        #[test]
        fn words_are_those_of_the_shell(words in proptest::collection::vec(r#"[a-z'" $\\;|&*#()=-]{0,8}"#, 1..5)) {
            let text = shell::line(&words);
            let found = TestCommand::new(&format!("x {text}"));
            let plain: Vec<String> = found.words().iter().skip(1).map(|word| unquoted(word)).collect();
            proptest::prop_assert_eq!(plain, words);
        }

        #[test]
        fn a_shell_sees_the_same_words(text in r#"[a-z'" \\-]{0,20}"#) {
            let found = TestCommand::new(&format!("x {text}"));
            if !found.words().is_empty() {
                let script = format!("printf '%s\\n' {text}");
                let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
                let mut words: Vec<String> = found.words().iter().map(|word| unquoted(word)).collect();
                words.remove(0);
                let expected: String = words.iter().map(|word| format!("{word}\n")).collect();
                let expected = if words.is_empty() { "\n".to_owned() } else { expected };
                proptest::prop_assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
            }
        }
    }
}
