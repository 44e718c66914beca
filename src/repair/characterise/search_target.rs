//! Inputs for lines where tests have missed something: numbers and strings on the line, values of
//! the constants that it names, their neighbours, and strings of a length that it compares.

use std::collections::{BTreeMap, BTreeSet};

use regex::Captures;

use crate::code::language::Language;
use crate::code::number_constants::{number_constants, write_number};
use crate::code::pattern::Pattern;

use super::Case;

/// The most literals for one file.
const LITERALS: usize = 200;

/// Maximum length of a string that is generated because a length is compared.
const LONGEST: f64 = 300.0;

static NUMBER: Pattern = Pattern::new(r"(?:^|[^\w.])(\d[\d_]*(?:\.\d+)?(?:e[-+]?\d+)?)\b");
static TEXT: Pattern = Pattern::new(r#""([^"\\\n]{1,24})"|'([^'\\\n]{1,24})'"#);
static NAME: Pattern = Pattern::new(r"[A-Za-z_$][\w$]*");
static LENGTH: Pattern = Pattern::new(r"\.length\s*[=!<>]|\blen\([^()]*\)\s*[=!<>]");

/// The first group that a match has; without one, the whole match.
fn group<'t>(found: &Captures<'t>) -> &'t str {
    let group = found.iter().skip(1).flatten().next().or_else(|| found.get(0));
    group.map_or("", |group| group.as_str())
}

/// The lines that calls aim at, and literals to try for them.
#[derive(Clone, Debug, Default)]
pub struct SearchTarget {
    pub lines: BTreeSet<u32>,
    /// Whether some of the lines are run by no call. They may run when the file is loaded, so that
    /// any function may show their effect.
    pub orphan: bool,
    pub literals: Vec<String>,
}

impl SearchTarget {
    /// The target, given the calls so far.
    #[must_use]
    pub fn at(language: Language, text: &str, missed: &BTreeSet<u32>, seen: &[Vec<Case>]) -> Self {
        let ran: BTreeSet<u32> =
            seen.iter().flatten().flat_map(|case| case.seen.lines.iter().copied()).collect();
        Self {
            lines: missed.clone(),
            orphan: missed.iter().any(|line| !ran.contains(line)),
            literals: literals(language, text, missed, &ran),
        }
    }

    /// Whether a call runs one of the target lines.
    pub fn runs(&self, case: &Case) -> bool {
        case.seen.lines.iter().any(|line| self.lines.contains(line))
    }

    /// Whether a function may reach the lines, judging by its calls.
    pub fn reaches(&self, known: &[Case]) -> bool {
        self.orphan || known.iter().any(|case| self.runs(case))
    }

    /// How far a call is from the target: 0 for one of the literals on one of the lines, 3 for
    /// neither.
    pub fn distance(&self, case: &Case) -> u8 {
        let literal = case.call.arguments.iter().any(|one| self.literals.contains(one));
        u8::from(!self.runs(case)) * 2 + u8::from(!literal)
    }
}

/// Lines, other than comments, that no call has run; none without line coverage.
fn never_run(text: &str, ran: &BTreeSet<u32>) -> Vec<u32> {
    let comment =
        |line: &str| ["#", "//", "*", "/*"].iter().any(|mark| line.trim().starts_with(mark));
    let imports = |line: &str| {
        let path = line.trim().trim_start_matches("import ").strip_prefix('"');
        path.and_then(|path| path.strip_suffix('"')).is_some_and(|path| !path.contains('"'))
    };
    (1..)
        .zip(text.lines())
        .filter(|(number, line)| {
            !ran.is_empty() && !ran.contains(number) && !comment(line) && !imports(line)
        })
        .map(|(number, _)| number)
        .collect()
}

/// Literals to try for these lines, then for those that no call has run: words, other strings,
/// numbers and constants with their neighbours, and strings of compared lengths.
fn literals(
    language: Language,
    text: &str,
    lines: &BTreeSet<u32>,
    ran: &BTreeSet<u32>,
) -> Vec<String> {
    if lines.is_empty() {
        return Vec::new();
    }
    let known = number_constants(language, text);
    let rows: Vec<&str> = text.lines().collect();
    let never = never_run(text, ran);
    let row = |line: &u32| {
        let at = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
        rows.get(at).copied().unwrap_or_default()
    };
    let (mut words, mut others) = (Vec::new(), Vec::new());
    for row in lines.iter().chain(&never).map(row) {
        put_texts(row, &mut words, &mut others);
        put_numbers(row, &known, &mut others);
        for name in NAME.captures(row) {
            others.extend(table(text, group(&name), language));
        }
    }
    let words = spellings(&words);
    // In turns, so that many of one kind leave room for the other.
    let mut found: Vec<String> = Vec::new();
    let longest = words.len().max(others.len());
    for index in 0..longest {
        for one in [words.get(index), others.get(index)].into_iter().flatten() {
            if found.len() < LITERALS && !found.contains(one) {
                found.push(one.clone());
            }
        }
    }
    found
}

/// Words as written, then capitalised, then in upper case.
fn spellings(words: &[String]) -> Vec<String> {
    let capital = |word: &String| -> String {
        let mut letters = word.chars();
        let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
        format!("{first}{}", letters.as_str())
    };
    let plain = words.iter().cloned();
    let all =
        plain.chain(words.iter().map(capital)).chain(words.iter().map(|one| one.to_uppercase()));
    all.map(|word| format!("\"{word}\"")).collect()
}

fn put_texts(row: &str, words: &mut Vec<String>, others: &mut Vec<String>) {
    for found in TEXT.captures(row).filter(|_| !row.contains("typeof")) {
        let text = group(&found);
        if text.chars().all(char::is_alphanumeric) {
            words.push(text.to_owned());
        } else {
            others.push(format!("\"{text}\""));
        }
        others.push(format!("\"a{text}b\""));
    }
}

fn put_numbers(row: &str, known: &BTreeMap<String, f64>, found: &mut Vec<String>) {
    let plain = NUMBER.captures(row);
    let mut numbers: Vec<f64> =
        plain.filter_map(|one| group(&one).replace('_', "").parse::<f64>().ok()).collect();
    numbers.extend(NAME.captures(row).filter_map(|one| known.get(group(&one))));
    let compares_length = LENGTH.is_match(row);
    for number in numbers {
        let near = [number, number + 1.0, number - 1.0, -number, number / 2.0, number * 1.5];
        found.extend(near.into_iter().filter_map(write_number));
        if compares_length && number.fract() == 0.0 {
            let near = [number, number + 1.0, number - 1.0];
            found.extend(near.into_iter().filter_map(long_text));
        }
    }
}

/// Words of the table that a name in capitals refers to; few of them reveal a mutant in its use.
fn table(text: &str, name: &str, language: Language) -> Vec<String> {
    let capitals = name.len() > 2 && !name.contains(|c: char| c.is_lowercase());
    if !capitals {
        return Vec::new();
    }
    let declared = match language {
        Language::Python => text.find(&format!("\n{name} = ")),
        _ => text.find(&format!("{name} = ")),
    };
    let Some(rest) = declared.and_then(|at| text.get(at..)) else { return Vec::new() };
    let end = rest.match_indices('\n').nth(20).map_or(rest.len(), |(at, _)| at);
    let words = TEXT.captures(rest.get(..end).unwrap_or_default()).take(12);
    words.map(|found| format!("\"{}\"", group(&found))).collect()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the caller checked that it is small and whole"
)]
fn long_text(length: f64) -> Option<String> {
    (0.0..=LONGEST).contains(&length).then(|| {
        let length = usize::try_from(length as i64).unwrap_or_default();
        format!("\"{}\"", "1a".repeat(length / 2 + 1).chars().take(length).collect::<String>())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_on_a_line_is_tried_with_its_neighbours() {
        let text = "var d = 24 * 10;\nfunction f(a) {\n  if (a >= d) return 'long';\n  if (a.length > 3) return 0;\n  return KINDS[a];\n}\nKINDS = ['x', 'y']\n";
        let table = [
            (3, vec!["240", "241", "239", "-240", "120", "360", "\"long\""]),
            (4, vec!["3", "4", "2", "\"1a1\"", "\"1a1a\"", "\"1a\"", "0", "1", "-1"]),
            (5, vec!["\"x\"", "\"y\""]),
            (6, vec![]),
        ];
        for (line, expected) in table {
            let found =
                literals(Language::JavaScript, text, &BTreeSet::from([line]), &BTreeSet::new());
            for one in &expected {
                assert!(found.iter().any(|literal| literal == one), "{line}: {one} in {found:?}");
            }
            assert_eq!(found.is_empty(), expected.is_empty(), "{line}: {found:?}");
        }
        assert!(
            literals(Language::JavaScript, text, &BTreeSet::new(), &BTreeSet::new()).is_empty()
        );
    }

    #[test]
    fn foreign_text_does_not_make_it_work_for_ever() {
        let many = "x = \"a\" + 'b' + 1\n".repeat(500);
        let found = literals(Language::Python, &many, &(1..=500).collect(), &BTreeSet::new());
        assert!(found.len() <= LITERALS, "{}", found.len());
    }
}
