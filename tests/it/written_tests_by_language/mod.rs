//! `regreen test` with a model in Go, Rust and Java: one answer names something that does not
//! exist, one does not parse, one finds a defect, which the fix loop repairs.

#[cfg(feature = "slow-tests")]
mod go;
#[cfg(feature = "slow-tests")]
mod java;

use serde_json::Value;

use super::support::fake_model::{Reply, analysis_of, edit, survey, test_file, verdict};
use super::test_writing::{configured, nothing, questions, run, server, texts};

/// A repository of one language, and the answers of a model about it.
struct LanguageStory {
    /// The repository; it adds where its documentation says that it subtracts.
    files: &'static [(&'static str, &'static str)],
    /// The source file under test.
    subject: &'static str,
    /// The function that reads a price, the one with the defect, and the line of the defect.
    functions: (&'static str, &'static str, u32),
    /// Path of the new test file.
    place: &'static str,
    /// A test file for both functions; one of its tests shows the defect.
    good: &'static str,
    /// A line of these tests, and a replacement that uses a name that does not exist.
    made_up: (&'static str, &'static str),
    /// Why a file with that replacement is refused.
    refusal: &'static str,
    /// The test that shows the defect, by its id.
    finding: &'static str,
    /// The defect, and its fix.
    fix: (&'static str, &'static str),
    /// Answers questions of the fix loop.
    answer: fn(&str) -> Reply,
}

/// What a model answers after its tests: no more tests, and the fix.
fn fixing_reply(story: &LanguageStory, question: &str) -> Reply {
    if question.contains("-survivors") {
        nothing()
    } else if question.contains("Say what is wrong and where") {
        let (_, function, line) = story.functions;
        analysis_of(story.finding, &format!("{}:{function}:{line}-{line}", story.subject), 0.9)
    } else {
        edit(story.subject, story.fix.0, story.fix.1)
    }
}

fn run_story(story: &LanguageStory) -> (Value, String) {
    let (reads, takes_off, line) = story.functions;
    let made_up = story.good.replace(story.made_up.0, story.made_up.1);
    assert_ne!(made_up, story.good, "something is made up");
    let torn = story.good.replacen('{', "{{(", 1);
    let text = format!("half off 80 is 40, as `{takes_off}` says");
    let model = server(vec![
        survey(story.subject, &[("L1.1", takes_off, line, &text), ("L1.1", reads, 3, "a number")]),
        test_file(story.place, &made_up, &[]),
        test_file(story.place, &torn, &[]),
        test_file(story.place, story.good, &[]),
        verdict(story.finding, "code", takes_off, "its documentation says that it takes off"),
        Reply::By(story.answer),
    ]);
    let repo = configured(story.files, &model, "one");
    let before = repo.belongings();
    let ran = run(&repo, &["test", story.subject]);
    let document = ran.document();
    let asked = questions(&model.asked());
    assert_eq!(ran.code, Some(0), "{asked:?}\n{document:#}\n{}", ran.err);
    assert_eq!(document["result"], "generated", "{document:#}\n{}", ran.err);
    assert_eq!(
        asked[..5],
        ["analysis-1", "IMPL-001-1", "IMPL-001-1 again", "IMPL-001-1 again", "IMPL-001-1-verdict"]
    );
    assert_eq!(repo.belongings(), before, "nothing of the user's changed");
    let produced = &document["produced"];
    let given_up = texts(&produced["given-up"]).join("\n");
    assert!(given_up.contains(story.refusal), "{given_up}");
    assert!(given_up.contains("refused, by one: does-not-parse: line "), "{given_up}");
    assert_eq!(produced["authors"][story.place], "one", "{produced:#}");
    let finding = produced["findings"][0]["what"].as_str().unwrap_or_default();
    assert!(finding.starts_with(&format!("{} in {}", story.finding, story.subject)), "{finding}");
    let score: f64 = produced["mutation-score"].as_str().expect("a score").parse().unwrap();
    assert!(score >= 60.0, "{produced:#}");
    assert_eq!(produced["gates-met"], true, "{produced:#}");
    let id = document["session"].as_str().unwrap();
    let branch = format!("regreen/{id}");
    let fixed = repo.git(&["show", &format!("{branch}:{}", story.subject)]);
    assert!(fixed.contains(story.fix.1.trim()), "{fixed}");
    let written = repo.git(&["show", &format!("{branch}:{}", story.place)]);
    assert_eq!(written, story.good.trim_end());
    let changed = repo.git(&["diff", "--name-only", &format!("main..{branch}")]);
    super::test_sessions::complete(std::path::Path::new(document["folder"].as_str().unwrap()));
    (document, changed)
}

const RUST: LanguageStory = LanguageStory {
    files: &[
        ("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("Cargo.lock", "version = 4\n\n[[package]]\nname = \"shop\"\nversion = \"0.1.0\"\n"),
        (".gitignore", "target\n"),
        ("src/lib.rs", "//! A shop.\n\npub mod price;\npub mod tax;\n"),
        (
            "src/price.rs",
            r#"//! Prices.

/// Reads a price; an empty text is an error.
pub fn parse_price(text: &str) -> Result<i64, String> {
    if text.is_empty() {
        return Err("empty price".to_string());
    }
    text.parse().map_err(|_| "no number".to_string())
}

/// Takes so many percent off a price; more than 100 is an error.
pub fn discount(price: i64, percent: i64) -> Result<i64, String> {
    if percent > 100 {
        return Err("more than all".to_string());
    }
    Ok(price * (100 + percent) / 100)
}
"#,
        ),
        // Existing tests are inside of their source files; a new test file cannot be.
        (
            "src/tax.rs",
            r"//! Taxes.

/// A fifth.
pub fn tax(price: i64) -> i64 {
    price / 5
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fifth() {
        assert_eq!(tax(10), 2);
    }
}
",
        ),
    ],
    subject: "src/price.rs",
    functions: ("parse_price", "discount", 16),
    place: "tests/price.rs",
    good: r#"use shop::price::{discount, parse_price};

#[test]
fn a_number_is_a_price() {
    assert_eq!(parse_price("25"), Ok(25));
}

#[test]
fn an_empty_price_is_an_error() {
    assert_eq!(parse_price(""), Err("empty price".to_string()));
}

#[test]
fn a_word_is_an_error() {
    assert_eq!(parse_price("x"), Err("no number".to_string()));
}

#[test]
fn nothing_off_a_price_of_zero() {
    assert_eq!(discount(80, 0), Ok(80));
    assert_eq!(discount(0, 100), Ok(0));
}

#[test]
fn more_than_all_is_an_error() {
    assert_eq!(discount(80, 101), Err("more than all".to_string()));
}

#[test]
fn half_off() {
    assert_eq!(discount(80, 50), Ok(40));
}
"#,
    made_up: ("use shop::price", "use pricetest::any_price;\nuse shop::price"),
    refusal: "refused, by one: hallucinated-import: tests/price.rs:1:5: use of unresolved module or unlinked crate `pricetest`",
    finding: "tests/price.rs::half_off",
    fix: ("Ok(price * (100 + percent) / 100)", "Ok(price * (100 - percent) / 100)"),
    answer: |question| fixing_reply(&RUST, question),
};

#[cfg(feature = "slow-tests")]
#[test]
fn a_model_writes_tests_for_rust_in_a_file_of_their_own_and_finds_a_defect() {
    let (_, changed) = run_story(&RUST);
    assert_eq!(changed, "src/price.rs\ntests/price.rs");
}
