//! What a provider says must be tested, and what of it the code bears out (product.md 3.1 phase 3,
//! 8.8).

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::code::language::Language;
use crate::code::outline::{self, Function};
use crate::domain::id::RepoPath;
use crate::domain::test_plan::analysis::{FileRequirements, Requirement};
use crate::domain::test_plan::context::TestFramework;
use crate::domain::test_plan::layer::SubLayer;

use super::framework;
use super::survey::Survey;

/// Requirements of one file that are looked at.
const LOOKED_AT: usize = 60;

/// Characters of one sentence.
const SENTENCE: usize = 300;

/// One thing a test must show, as it is told.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ToldRequirement {
    /// `L1.1` to `L3.4`.
    pub layer: String,
    /// The function, as the source names it.
    pub function: String,
    /// The line that decides it, from 1.
    pub line: u32,
    /// One sentence.
    pub text: String,
    /// Concrete input.
    pub given: String,
    /// The concrete result.
    pub expect: String,
}

/// One source with what must be tested of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ToldNeeds {
    /// Path from the repository root.
    pub file: String,
    /// What needs a double, and why.
    pub mocks: Vec<String>,
    /// What tests must show.
    pub requirements: Vec<ToldRequirement>,
}

/// The surveyor's answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ToldSurvey {
    /// The question it answers.
    pub task_id: String,
    /// Such as `Library (Python)`.
    pub project_type: String,
    /// By file.
    pub files: Vec<ToldNeeds>,
    /// How the work should proceed.
    pub strategy: Vec<String>,
    /// From 0 to 1.
    pub confidence_score: f64,
    /// The analysis in Markdown, seven parts.
    pub report: String,
}

/// What of an answer is borne out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Accepted {
    /// Requirements without an id, by file.
    pub requirements: Vec<(RepoPath, Requirement)>,
    /// Doubles, by file.
    pub mocks: Vec<(RepoPath, String)>,
    /// How the work should proceed.
    pub strategy: Vec<String>,
    /// What was thrown away, with the reason.
    pub dropped: Vec<String>,
    /// The provider's own words.
    pub report: String,
}

/// What an answer is held against.
#[derive(Clone, Copy)]
pub struct Evidence<'a> {
    /// Files that are asked about.
    pub files: &'a [&'a FileRequirements],
    /// The repository.
    pub survey: &'a Survey,
    /// How tests are run.
    pub framework: &'a TestFramework,
}

/// Holds an answer against the code. Each requirement that names what is not there, or says
/// nothing that can be seen, is thrown away with the reason.
#[must_use]
pub fn borne_out(told: &ToldSurvey, ground: Evidence<'_>) -> Accepted {
    let mut borne = Accepted { report: told.report.clone(), ..Accepted::default() };
    borne.strategy = told.strategy.iter().map(|one| sentence(one)).take(10).collect();
    borne.strategy.retain(|one| !one.is_empty());
    for needs in &told.files {
        let name = needs.file.trim().trim_start_matches("./");
        let Some(file) = ground.files.iter().find(|file| file.file.as_str() == name) else {
            let reason = "is none of the files that are asked about";
            borne.dropped.push(format!("`{}` {reason}", sentence(name)));
            continue;
        };
        let mocks = needs.mocks.iter().map(|one| sentence(one)).filter(|one| !one.is_empty());
        borne.mocks.extend(mocks.take(10).map(|one| (file.file.clone(), one)));
        for one in needs.requirements.iter().take(LOOKED_AT) {
            match requirement(one, file, ground) {
                Ok(good) => borne.requirements.push((file.file.clone(), good)),
                Err(why) => {
                    borne.dropped.push(format!("{}: “{}”: {why}", file.file, sentence(&one.text)));
                }
            }
        }
        let more = needs.requirements.len().saturating_sub(LOOKED_AT);
        if more > 0 {
            borne.dropped.push(format!("{}: {more} more than are looked at", file.file));
        }
    }
    borne
}

fn requirement(
    told: &ToldRequirement,
    file: &FileRequirements,
    ground: Evidence<'_>,
) -> Result<Requirement, String> {
    let code = told.layer.split_whitespace().next().unwrap_or_default();
    let layer = SubLayer::ALL
        .iter()
        .find(|layer| layer.code() == code)
        .ok_or_else(|| format!("`{}` is no layer", sentence(code)))?;
    if layer.layer() == 0 {
        return Err("static checks are made by the gates".into());
    }
    let (text, given, expect) =
        (sentence(&told.text), sentence(&told.given), sentence(&told.expect));
    if text.is_empty() || expect.is_empty() {
        return Err("it does not say what must be seen".into());
    }
    let functions = functions(&file.file, ground.survey);
    let short = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
    let wanted = told.function.trim().trim_end_matches("()");
    let known = functions.iter().find(|one| one.name == wanted).or_else(|| {
        functions.iter().find(|one| !wanted.is_empty() && short(&one.name) == short(wanted))
    });
    if known.is_none() && (!wanted.is_empty() || layer.layer() == 1) {
        return Err(format!("there is no function `{}` in it", sentence(wanted)));
    }
    let (first, last) = known.map_or((1, file.lines.max(1)), |one| (one.start, one.end));
    let line = if (first..=last).contains(&told.line) { told.line } else { first };
    let near = near(&file.file, ground.survey);
    let said = [&text, &given, &expect];
    if let Some(name) = said.iter().find_map(|one| unknown_call(one, &near)) {
        return Err(format!("there is no `{name}` in it or in what it imports"));
    }
    let function = known.map_or_else(String::new, |one| one.name.clone());
    let check = framework::check(ground.framework, &file.test_file, &function);
    Ok(Requirement { id: String::new(), layer: *layer, function, line, text, given, expect, check })
}

/// Functions of a file, that without a name included: the question calls it `default`.
fn functions(file: &RepoPath, survey: &Survey) -> Vec<Function> {
    let language = Language::of(file);
    language.map(|language| outline::named_or_not(language, survey.text(file))).unwrap_or_default()
}

/// Words of a file and of what it imports.
fn near<'a>(file: &'a RepoPath, survey: &'a Survey) -> BTreeSet<&'a str> {
    let others = survey.graph.imports_of(file);
    std::iter::once(file)
        .chain(others)
        .flat_map(|file| {
            survey.text(file).split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$')
        })
        .collect()
}

/// Names that every program of a language may call.
const COMMON: &[&str] = &[
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
    "Exception",
    "ValueError",
    "TypeError",
    "KeyError",
    "IndexError",
    "RuntimeError",
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
    "vec",
    "Some",
    "Ok",
    "Err",
    "Vec",
    "panic",
    "errors",
    "New",
];

/// A call in backticks of something that is nowhere near.
fn unknown_call(text: &str, near: &BTreeSet<&str>) -> Option<String> {
    text.split('`').skip(1).step_by(2).find_map(|quoted| {
        let (callee, _) = quoted.split_once('(')?;
        let name = callee.trim().trim_start_matches("new ").trim_end_matches('!');
        let last = name.rsplit(['.', ':']).next().unwrap_or_default();
        let is_name =
            !last.is_empty() && last.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
        (is_name && !near.contains(last) && !COMMON.contains(&last)).then(|| sentence(name))
    })
}

/// A foreign sentence.
fn sentence(text: &str) -> String {
    one_line(text, SENTENCE)
}

/// Foreign text in one line, bounded. Blanks between backticks stay as many as they are: they are
/// part of a value, and a value with fewer of them is another one.
pub(super) fn one_line(text: &str, most: usize) -> String {
    let (mut said, mut is_code) = (String::new(), false);
    for c in text.trim().chars() {
        is_code ^= c == '`';
        let blank = c.is_whitespace() || c.is_control();
        if !blank {
            said.push(c);
        } else if is_code || !said.ends_with(' ') {
            said.push(' ');
        }
    }
    said.chars().take(most).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::test_plan::analysis::samples;

    fn told(layer: &str, function: &str, text: &str, expect: &str) -> ToldRequirement {
        ToldRequirement {
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
        let ground = Evidence { files: &[&file], survey: &survey, framework: &base.framework };
        let table = [
            (told("L1.1", "price", "`price('2')` is 2.0", "2.0"), None),
            (told("L1.4", "Cart.add", "adds", "one item"), None),
            (told("L1.4 state changes", "add()", "adds", "one item"), None),
            (told("L2.1", "", "`rate(…)` is asked", "2"), None),
            (told("L2.1", "Cart.remove", "takes", "none"), Some("no function `Cart.remove`")),
            (told("L1.1", "", "works", "2"), Some("no function")),
            (told("L1.1", "parse_price", "works", "2"), Some("no function `parse_price`")),
            (told("L9", "price", "works", "2"), Some("is no layer")),
            (told("L0.1", "price", "compiles", "yes"), Some("made by the gates")),
            (told("L1.1", "price", "works", " "), Some("what must be seen")),
            (told("L1.1", "price", "`convert('2')` is 2", "2"), Some("no `convert`")),
        ];
        for (one, expected) in table {
            let needs = ToldNeeds {
                file: "./shop/price.py".into(),
                mocks: Vec::new(),
                requirements: vec![one.clone()],
            };
            let survey = ToldSurvey { files: vec![needs], ..ToldSurvey::default() };
            let borne = borne_out(&survey, ground);
            match expected {
                None => assert_eq!(borne.dropped, Vec::<String>::new(), "{one:?}"),
                Some(why) => assert!(borne.dropped[0].contains(why), "{one:?}: {borne:?}"),
            }
        }
        let given = ToldRequirement {
            given: "two\tlines  of `'\\n    a\\n  b'`\n".into(),
            ..told("L1.1", "price", "works", "2.0")
        };
        let needs = ToldNeeds {
            file: "shop/price.py".into(),
            mocks: Vec::new(),
            requirements: vec![given],
        };
        let borne = borne_out(&ToldSurvey { files: vec![needs], ..ToldSurvey::default() }, ground);
        assert_eq!(borne.requirements[0].1.given, "two lines of `'\\n    a\\n  b'`");
        let elsewhere = ToldNeeds { file: "shop/tax.py".into(), ..ToldNeeds::default() };
        let survey = ToldSurvey { files: vec![elsewhere], ..ToldSurvey::default() };
        assert!(borne_out(&survey, ground).dropped[0].contains("none of the files"));
    }

    #[test]
    fn a_function_without_a_name_is_known_as_the_question_calls_it() {
        let file = RepoPath::parse("index.js").unwrap();
        let text = "module.exports = function (val) {\n  return parse(val);\n};\n\nfunction parse(val) {\n  return Number(val);\n}\n";
        let texts = [(file.clone(), text.to_owned())].into();
        let survey = Survey::of(vec![file.clone()], texts);
        let base = samples::analysis(1, 1);
        let file = FileRequirements { file, lines: 7, ..base.files[0].clone() };
        let ground = Evidence { files: &[&file], survey: &survey, framework: &base.framework };
        for (function, line) in [("default", 2), ("parse", 5)] {
            let one = told("L1.1", function, "`parse('2')` is 2", "2");
            let borne = requirement(&one, &file, ground);
            assert_eq!(borne.map(|one| (one.function, one.line)), Ok((function.to_owned(), line)));
        }
    }
}
