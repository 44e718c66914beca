//! Checks requirements from providers against the code (specification.md 3.1 phase 3, 8.8).

use std::collections::BTreeSet;

use crate::code::language::Language;
use crate::code::outline::{self, Function};
use crate::domain::id::RepoPath;
use crate::domain::test_plan::analysis::{FileRequirements, Requirement};
use crate::domain::test_plan::context::TestFramework;
use crate::domain::test_plan::layer::SubLayer;

use super::framework;
use super::responses::{ReportedRequirement, SurveyResponse};
use super::survey::Survey;

/// Maximum number of requirements per file that are checked.
const VALIDATED: usize = 60;

/// Maximum length of a sentence, in characters.
const SENTENCE: usize = 300;

/// The part of an answer that is consistent with the code.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Accepted {
    /// Requirements with their files, not numbered yet.
    pub requirements: Vec<(RepoPath, Requirement)>,
    pub mocks: Vec<(RepoPath, String)>,
    pub strategy: Vec<String>,
    pub dropped: Vec<String>,
    pub report: String,
}

/// The code against which an answer is checked.
#[derive(Clone, Copy)]
pub struct Evidence<'a> {
    pub files: &'a [&'a FileRequirements],
    pub survey: &'a Survey,
    pub framework: &'a TestFramework,
}

/// Checks an answer against the code. Drops requirements that refer to code that does not exist, or
/// that no test can observe.
pub fn validate_survey(response: &SurveyResponse, evidence: Evidence<'_>) -> Accepted {
    let mut accepted = Accepted { report: response.report.clone(), ..Accepted::default() };
    accepted.strategy = response.strategy.iter().map(|one| sentence(one)).take(10).collect();
    accepted.strategy.retain(|one| !one.is_empty());
    for needs in &response.files {
        let name = needs.file.trim().trim_start_matches("./");
        let Some(file) = evidence.files.iter().find(|file| file.file.as_str() == name) else {
            let reason = "is none of the files that are asked about";
            accepted.dropped.push(format!("`{}` {reason}", sentence(name)));
            continue;
        };
        let mocks = needs.mocks.iter().map(|one| sentence(one)).filter(|one| !one.is_empty());
        accepted.mocks.extend(mocks.take(10).map(|one| (file.file.clone(), one)));
        for one in needs.requirements.iter().take(VALIDATED) {
            match validate_requirement(one, file, evidence) {
                Ok(valid) => accepted.requirements.push((file.file.clone(), valid)),
                Err(why) => {
                    accepted.dropped.push(format!(
                        "{}: “{}”: {why}",
                        file.file,
                        sentence(&one.text)
                    ));
                }
            }
        }
        let more = needs.requirements.len().saturating_sub(VALIDATED);
        if more > 0 {
            accepted.dropped.push(format!("{}: {more} more than are looked at", file.file));
        }
    }
    accepted
}

fn validate_requirement(
    reported: &ReportedRequirement,
    file: &FileRequirements,
    evidence: Evidence<'_>,
) -> Result<Requirement, String> {
    let code = reported.layer.split_whitespace().next().unwrap_or_default();
    let layer = SubLayer::ALL
        .iter()
        .find(|layer| layer.code() == code)
        .ok_or_else(|| format!("`{}` is not a layer", sentence(code)))?;
    if layer.layer() == 0 {
        return Err("static checks are made by the gates".into());
    }
    let (text, given, expect) =
        (sentence(&reported.text), sentence(&reported.given), sentence(&reported.expect));
    if text.is_empty() || expect.is_empty() {
        return Err("it does not say what must be seen".into());
    }
    let functions = functions(&file.file, evidence.survey);
    let short = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
    let name = reported.function.trim().trim_end_matches("()");
    let known = functions.iter().find(|one| one.name == name).or_else(|| {
        functions.iter().find(|one| !name.is_empty() && short(&one.name) == short(name))
    });
    if known.is_none() && (!name.is_empty() || layer.layer() == 1) {
        return Err(format!("there is no function `{}` in it", sentence(name)));
    }
    let (first, last) = known.map_or((1, file.lines.max(1)), |one| (one.start, one.end));
    let line = if (first..=last).contains(&reported.line) { reported.line } else { first };
    let words = words_near(&file.file, evidence.survey);
    let sentences = [&text, &given, &expect];
    if let Some(name) = sentences.iter().find_map(|one| unknown_call(one, &words)) {
        return Err(format!("there is no `{name}` in it or in what it imports"));
    }
    let function = known.map_or_else(String::new, |one| one.name.clone());
    let check = framework::check(evidence.framework, &file.test_file, &function);
    let [id, author] = [String::new(), String::new()];
    Ok(Requirement { id, layer: *layer, function, line, text, given, expect, check, author })
}

/// The functions of a file, including an unnamed default export under the name `default`.
fn functions(file: &RepoPath, survey: &Survey) -> Vec<Function> {
    let language = Language::of(file);
    language
        .map(|language| outline::functions_and_default_export(language, survey.text(file)))
        .unwrap_or_default()
}

/// All words in a file and in the files that it imports.
fn words_near<'a>(file: &'a RepoPath, survey: &'a Survey) -> BTreeSet<&'a str> {
    let others = survey.graph.imports_of(file);
    std::iter::once(file)
        .chain(others)
        .flat_map(|file| {
            survey.text(file).split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$')
        })
        .collect()
}

/// Built-in names that are callable without an import.
const COMMON: &[&[&str]] = &[PYTHON, ERRORS, SCRIPT, RUST, GO];
const PYTHON: &[&str] = &[
    "int",
    "float",
    "str",
    "bytes",
    "bool",
    "list",
    "dict",
    "set",
    "tuple",
    "frozenset",
    "len",
    "range",
    "sorted",
    "sum",
    "min",
    "max",
    "abs",
    "round",
    "Decimal",
    "datetime",
    "date",
];
const ERRORS: &[&str] =
    &["Exception", "ValueError", "TypeError", "KeyError", "IndexError", "RuntimeError"];
const SCRIPT: &[&str] = &[
    "Error",
    "RangeError",
    "Promise",
    "Map",
    "Set",
    "Date",
    "Number",
    "String",
    "Array",
    "Object",
];
const RUST: &[&str] = &["vec", "Some", "Ok", "Err", "Vec", "panic"];
const GO: &[&str] = &["errors", "New"];

/// A call in backticks whose name is not one of `words`.
fn unknown_call(text: &str, words: &BTreeSet<&str>) -> Option<String> {
    text.split('`').skip(1).step_by(2).find_map(|quoted| {
        let (callee, _) = quoted.split_once('(')?;
        let name = callee.trim().trim_start_matches("new ").trim_end_matches('!');
        let last = name.rsplit(['.', ':']).next().unwrap_or_default();
        let is_name =
            !last.is_empty() && last.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
        (is_name && !words.contains(last) && !COMMON.concat().contains(&last))
            .then(|| sentence(name))
    })
}

/// An untrusted sentence on one line, truncated.
fn sentence(text: &str) -> String {
    one_line(text, SENTENCE)
}

/// Puts an untrusted text on one line and truncates it. White space inside backticks is kept,
/// because it is part of a value.
fn one_line(text: &str, most: usize) -> String {
    let (mut line, mut is_code) = (String::new(), false);
    for c in text.trim().chars() {
        is_code ^= c == '`';
        let blank = c.is_whitespace() || c.is_control();
        if !blank {
            line.push(c);
        } else if is_code || !line.ends_with(' ') {
            line.push(' ');
        }
    }
    line.chars().take(most).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::test_plan::analysis::samples;
    use crate::role::test_plan::responses::ReportedNeeds;

    fn reported(layer: &str, function: &str, text: &str, expect: &str) -> ReportedRequirement {
        ReportedRequirement {
            layer: layer.into(),
            function: function.into(),
            line: 2,
            text: text.into(),
            given: String::new(),
            expect: expect.into(),
        }
    }

    #[test]
    fn what_the_code_does_not_bear_out_is_thrown_away_with_the_reason() {
        let path = |text: &str| RepoPath::parse(text).unwrap();
        let texts = [
            (
                "shop/price.py",
                "from shop.tax import rate\n\n\nclass Cart:\n    def add(self, item):\n        self.items = rate(item)\n\n\ndef price(text):\n    return float(text)\n",
            ),
            ("shop/tax.py", "def rate(item):\n    return 2\n"),
        ];
        let texts: std::collections::BTreeMap<RepoPath, String> =
            texts.into_iter().map(|(name, text)| (path(name), text.to_owned())).collect();
        let survey = Survey::of(texts.keys().cloned().collect(), texts);
        let base = samples::analysis(1, 1);
        let file =
            FileRequirements { file: path("shop/price.py"), lines: 10, ..base.files[0].clone() };
        let evidence = Evidence { files: &[&file], survey: &survey, framework: &base.framework };
        let table = [
            (reported("L1.1", "price", "`price('2')` is 2.0", "2.0"), None),
            (reported("L1.4", "Cart.add", "adds", "one item"), None),
            (reported("L1.4 state changes", "add()", "adds", "one item"), None),
            (reported("L2.1", "", "`rate(…)` is asked", "2"), None),
            (reported("L2.1", "Cart.remove", "takes", "none"), Some("no function `Cart.remove`")),
            (reported("L1.1", "", "works", "2"), Some("no function")),
            (reported("L1.1", "parse_price", "works", "2"), Some("no function `parse_price`")),
            (reported("L9", "price", "works", "2"), Some("is not a layer")),
            (reported("L0.1", "price", "compiles", "yes"), Some("made by the gates")),
            (reported("L1.1", "price", "works", " "), Some("what must be seen")),
            (reported("L1.1", "price", "`convert('2')` is 2", "2"), Some("no `convert`")),
        ];
        for (one, expected) in table {
            let needs = ReportedNeeds {
                file: "./shop/price.py".into(),
                mocks: Vec::new(),
                requirements: vec![one.clone()],
            };
            let survey = SurveyResponse { files: vec![needs], ..SurveyResponse::default() };
            let accepted = validate_survey(&survey, evidence);
            match expected {
                None => assert_eq!(accepted.dropped, Vec::<String>::new(), "{one:?}"),
                Some(why) => assert!(accepted.dropped[0].contains(why), "{one:?}: {accepted:?}"),
            }
        }
        let given = ReportedRequirement {
            given: "two\tlines  of `'\\n    a\\n  b'`\n".into(),
            ..reported("L1.1", "price", "works", "2.0")
        };
        let needs = ReportedNeeds {
            file: "shop/price.py".into(),
            mocks: Vec::new(),
            requirements: vec![given],
        };
        let accepted = validate_survey(
            &SurveyResponse { files: vec![needs], ..SurveyResponse::default() },
            evidence,
        );
        assert_eq!(accepted.requirements[0].1.given, "two lines of `'\\n    a\\n  b'`");
        let elsewhere = ReportedNeeds { file: "shop/tax.py".into(), ..ReportedNeeds::default() };
        let survey = SurveyResponse { files: vec![elsewhere], ..SurveyResponse::default() };
        assert!(validate_survey(&survey, evidence).dropped[0].contains("none of the files"));
    }

    #[test]
    fn a_function_without_a_name_is_known_as_the_question_calls_it() {
        let file = RepoPath::parse("index.js").unwrap();
        let text = "module.exports = function (val) {\n  return parse(val);\n};\n\nfunction parse(val) {\n  return Number(val);\n}\n";
        let texts = [(file.clone(), text.to_owned())].into();
        let survey = Survey::of(vec![file.clone()], texts);
        let base = samples::analysis(1, 1);
        let file = FileRequirements { file, lines: 7, ..base.files[0].clone() };
        let evidence = Evidence { files: &[&file], survey: &survey, framework: &base.framework };
        for (function, line) in [("default", 2), ("parse", 5)] {
            let one = reported("L1.1", function, "`parse('2')` is 2", "2");
            let requirement = validate_requirement(&one, &file, evidence);
            assert_eq!(
                requirement.map(|one| (one.function, one.line)),
                Ok((function.to_owned(), line))
            );
        }
    }

    #[test]
    fn a_call_in_backticks_must_be_near_or_common() {
        let words = BTreeSet::from(["price", "Cart"]);
        let table = [
            ("`price('2')` is 2", None),
            ("`Cart.price(2)`", None),
            ("`new Map()` is empty", None),
            ("`len(x)` is 2", None),
            ("`vec![1]`", None),
            ("price(2) without backticks, convert(2) too", None),
            ("`convert('2')`", Some("convert")),
            ("`shop.convert('2')`", Some("shop.convert")),
        ];
        for (text, expected) in table {
            assert_eq!(unknown_call(text, &words).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn an_answer_is_bounded() {
        let base = samples::analysis(1, 1);
        let file = base.files[0].clone();
        let survey = Survey::default();
        let evidence = Evidence { files: &[&file], survey: &survey, framework: &base.framework };
        let needs = ReportedNeeds {
            file: file.file.to_string(),
            mocks: vec!["a double".into(); 40],
            requirements: vec![ReportedRequirement::default(); VALIDATED + 1],
        };
        let response = SurveyResponse {
            files: vec![needs],
            strategy: vec!["step".into(); 40],
            ..SurveyResponse::default()
        };
        let accepted = validate_survey(&response, evidence);
        assert_eq!((accepted.mocks.len(), accepted.strategy.len()), (10, 10));
        assert_eq!(accepted.dropped.len(), VALIDATED + 1);
        assert!(accepted.dropped.last().unwrap().contains("1 more than"), "{accepted:?}");
    }

    proptest::proptest! {
        #[test]
        fn a_foreign_line_is_one_bounded_line(text in "[a `\t\n\u{7}é]{0,80}", most in 0usize..60) {
            let line = one_line(&text, most);
            proptest::prop_assert!(line.chars().count() <= most);
            proptest::prop_assert!(!line.contains(char::is_control));
            if !text.contains('`') {
                proptest::prop_assert!(!line.contains("  "));
            }
        }
    }
}
