//! Asks models to analyse failing tests and to plan a fix (specification.md 4.9). Changes nothing.

use std::collections::BTreeSet;

use async_trait::async_trait;
use serde_json::Value;

use crate::code::edit_blocks::{self, CodeBlocks};
use crate::domain::chain::{self, AnalysisFacts, FallbackTrigger, Rules};
use crate::domain::fix_loop::FixLoop;
use crate::domain::fix_plan::{self, FixPlan, ModificationPoint, RootCause};
use crate::domain::id::{RepoPath, TestId};
use crate::domain::proposal::SearchReplace;
use crate::domain::text::{bounded, one_line};
use crate::effect::{Answer, EffectError, Model};

use super::answer;
use super::ask::{Reader, Reading};
use super::prompt::{self, Prompt, Role};
use super::prompt_context::{self, Context};
use super::responses::{self, AnalysisResponse, NamedPlaces, ReportedCause};

/// A fix plan, and whether the chain takes it.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportedPlan {
    pub plan: FixPlan,
    /// Why the chain asks for a better one; `None` if it is good.
    pub fault: Option<FallbackTrigger>,
}

/// Asks a model for the analysis of one iteration and parses the answer.
pub struct Analyst<'a> {
    pub state: &'a FixLoop,
    pub context: &'a Context,
    pub rules: &'a Rules,
    pub fence: &'a str,
}

/// Maximum number of code locations in a plan.
const POINTS: usize = 20;

#[async_trait]
impl Reader<ReportedPlan> for Analyst<'_> {
    fn form(&self) -> Option<(&'static str, Value)> {
        // A protocol that enforces a schema has no room for the change after the object.
        let is_object = !prompt_context::subject(self.state).may_have_edits();
        is_object.then(|| ("analysis", answer::json_schema::<AnalysisResponse>()))
    }

    fn prompt(&self, model: &dyn Model) -> Prompt {
        let room = prompt::room(model, Role::Analyst, self.state.selected_strategy);
        let parts = self.context.for_analyst(self.state, room);
        prompt::build(Role::Analyst, &prompt_context::subject(self.state), &parts, room, self.fence)
    }

    async fn read(
        &self,
        model: &dyn Model,
        answer: &Answer,
    ) -> Result<Reading<ReportedPlan>, EffectError> {
        let task = prompt_context::subject(self.state).task;
        let confidence_of = |analysis: &AnalysisResponse| analysis.confidence_score;
        let (text, edits) = split(&answer.text);
        let analysis = match answer::parse_with_confidence(&text, &task, confidence_of) {
            Ok((analysis, _)) => analysis,
            Err(why) => return Ok(Reading::Useless(FallbackTrigger::Unparseable, why)),
        };
        let read = |file: &RepoPath| self.context.text(file);
        let NamedPlaces { points, missing, vague } = responses::parse_points(&analysis, &read);
        let mut plan = plan(model.name(), &analysis, &points, self.state, &read);
        let cause = plan.cause_key();
        let known = self.state.recent_iterations().iter().rev();
        let same = known.take_while(|one| one.cause_key == cause).count() + 1;
        let facts = AnalysisFacts {
            points: points.len(),
            missing_places: !missing.is_empty(),
            tests: plan.affected_tests.len()
                + plan.root_causes.iter().map(|cause| cause.tests.len()).sum::<usize>(),
            confidence: analysis.confidence_score,
            evidence: analysis.evidence.iter().filter(|one| one.is_complete()).count(),
            same_cause: same,
        };
        let fault = chain::find_fault(&facts, self.rules);
        // The suite shows which tests a change affects, so their names need not be right.
        let is_sound =
            fault.as_ref().is_none_or(|(trigger, _)| *trigger == FallbackTrigger::NoTests);
        let is_sure = is_sound && facts.confidence >= self.rules.careful_confidence;
        let is_carried = is_sure && edits.len() <= fix_plan::MAX_EDITS;
        if is_carried && prompt_context::subject(self.state).may_have_edits() {
            plan.edits = edits;
        }
        let value = ReportedPlan { plan, fault: fault.as_ref().map(|(trigger, _)| *trigger) };
        Ok(match fault {
            None => Reading::Good(value, Some(facts.confidence)),
            Some((trigger, why)) if trigger.keeps() => {
                Reading::Weak(value, facts.confidence, trigger, why)
            }
            Some((trigger, why)) => {
                let first = missing.iter().chain(&vague).next();
                let more = first.map_or_else(String::new, |first| format!(" ({first})"));
                Reading::Useless(trigger, format!("{why}{more}"))
            }
        })
    }
}

/// Takes the code behind an analysis from its answer, unless unreadable or a new file.
fn split(text: &str) -> (String, Vec<SearchReplace>) {
    match edit_blocks::parse(text) {
        Ok(CodeBlocks { edits, files, rest }) if files.is_empty() => (rest, edits),
        Ok(CodeBlocks { rest, .. }) => (rest, Vec::new()),
        Err(_) => {
            // The object comes first, so it ends before the first marker.
            let object = text.split_once("<<<<<<<").map_or(text, |(object, _)| object);
            (object.to_owned(), Vec::new())
        }
    }
}

/// The reasoning for people and for the fixer: the report if there is one, and the evidence.
fn report(analysis: &AnalysisResponse) -> String {
    let mut text = analysis.report.clone().unwrap_or_default();
    for one in &analysis.evidence {
        let lines = [
            ("test", &one.test),
            ("expected", &one.expected),
            ("actual", &one.actual),
            ("the line that makes the difference", &one.line),
        ];
        let known = lines.iter().filter(|(_, value)| !value.trim().is_empty());
        let known: String =
            known.map(|(name, value)| format!("- {name}: {}\n", one_line(value, 500))).collect();
        text.push_str(&format!("\n{known}"));
    }
    if !analysis.rejected.trim().is_empty() {
        text.push_str(&format!("\nRejected: {}\n", one_line(&analysis.rejected, 500)));
    }
    text.trim().to_owned()
}

/// The files that an analysis names, whatever else it says of them.
fn files(analysis: &AnalysisResponse) -> Vec<RepoPath> {
    let causes = analysis.root_causes.iter().map(|cause| cause.file.as_str());
    let points = analysis.modification_points.iter().filter_map(|point| point.split(':').next());
    let named = points.chain(causes).take(2 * POINTS);
    let named = named.filter_map(|file| RepoPath::parse(file.trim().trim_start_matches("./")).ok());
    named.collect::<BTreeSet<_>>().into_iter().collect()
}

/// A cause's own place, or the first that the analysis names in its file, or of all.
fn place_of<'t>(
    cause: &ReportedCause,
    points: &[ModificationPoint],
    read: &dyn Fn(&RepoPath) -> Option<&'t str>,
) -> Option<ModificationPoint> {
    let file = cause.file.trim().trim_start_matches("./");
    let mut inside = points.iter().filter(|point| file.is_empty() || point.file.as_str() == file);
    let own = cause.place().and_then(|place| responses::parse_point(&place, read).ok());
    own.or_else(|| inside.next().cloned())
}

/// Builds a plan from an analysis. Tests that the suite does not contain are dropped.
fn plan<'t>(
    author: &str,
    analysis: &AnalysisResponse,
    points: &[ModificationPoint],
    state: &FixLoop,
    read: &dyn Fn(&RepoPath) -> Option<&'t str>,
) -> FixPlan {
    let known = |names: &[String]| -> Vec<TestId> {
        names
            .iter()
            .map(|name| TestId(name.clone()))
            .filter(|id| state.ledger.case(id).is_some())
            .collect()
    };
    let root_causes = analysis
        .root_causes
        .iter()
        .filter_map(|reported| {
            Some(RootCause {
                tests: known(&reported.tests),
                cause: bounded(&reported.cause, 500),
                point: place_of(reported, points, read)?,
            })
        })
        .collect();
    FixPlan {
        author: author.to_owned(),
        approach: bounded(&analysis.approach, 1_000),
        root_causes,
        modification_points: points.iter().take(POINTS).cloned().collect(),
        files: files(analysis),
        affected_tests: known(&analysis.affected_tests),
        confidence: analysis.confidence_score,
        expected_outcome: bounded(&analysis.expected_outcome, 1_000),
        verification_steps: analysis
            .verification_steps
            .iter()
            .flatten()
            .take(20)
            .map(|step| bounded(step, 300))
            .collect(),
        impact: bounded(analysis.impact.as_deref().unwrap_or_default(), 1_000),
        report: bounded(&report(analysis), 20_000),
        edits: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::strategy::Strategy;
    use crate::role::ask::tests::ScriptedModel;

    #[test]
    fn foreign_text_is_bounded_by_characters_and_keeps_its_lines() {
        let table = [("abc", 2, "ab"), ("a\nb", 9, "a\nb"), ("é\u{1b}é", 9, "éé"), ("x", 0, "")];
        for (text, characters, expected) in table {
            assert_eq!(bounded(text, characters), expected);
        }
    }

    #[test]
    fn files_without_a_place_that_exists_are_named_too() {
        let named = analysis(&["calc.py:total:9-13", "./rates.py:RATE", ":x", "calc.py"], &[]);
        let files: Vec<String> = files(&named).iter().map(ToString::to_string).collect();
        assert_eq!(files, ["calc.py", "rates.py"]);
    }

    /// A source of forty lines.
    const LONG: &str =
        "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n";

    fn analysis(points: &[&str], tests: &[&str]) -> AnalysisResponse {
        let own = |list: &[&str]| list.iter().map(|one| (*one).to_owned()).collect();
        AnalysisResponse {
            approach: "x".repeat(5_000),
            modification_points: own(points),
            affected_tests: own(tests),
            confidence_score: 0.9,
            verification_steps: Some(vec!["run it".into(); 90]),
            ..AnalysisResponse::default()
        }
    }

    #[test]
    fn a_plan_is_bounded_and_knows_no_test_that_the_suite_does_not_know() {
        let state = crate::domain::fix_loop::tests::new(95, 10);
        let places: Vec<String> = (1..=40).map(|line| format!("a.py:f:{line}-{line}")).collect();
        let places: Vec<&str> = places.iter().map(String::as_str).collect();
        let analysis = analysis(&places, &["invented::test"]);
        let points = responses::parse_points(&analysis, &|_| Some(LONG)).points;
        assert_eq!(points.len(), 40);
        let plan = plan("one", &analysis, &points, &state, &|_| Some(LONG));
        assert_eq!(plan.modification_points.len(), POINTS);
        assert_eq!(plan.affected_tests, Vec::<TestId>::new());
        assert_eq!((plan.approach.len(), plan.verification_steps.len()), (1_000, 20));
    }

    #[test]
    fn a_cause_is_at_its_own_place_and_else_at_the_first_of_its_file() {
        let state = crate::domain::fix_loop::tests::new(95, 10);
        let text = "class Cart:\n    def total(self):\n        return 1\n\ndef f():\n    pass\n";
        let read = |file: &RepoPath| ["a.py", "b.py"].contains(&file.as_str()).then_some(text);
        let named = analysis(&["a.py:f:5-6", "b.py:Cart.total"], &[]);
        let cause = |file: &str, function: &str, lines: &str| ReportedCause {
            file: file.into(),
            function: function.into(),
            lines: lines.into(),
            ..ReportedCause::default()
        };
        let table = [
            (cause("./b.py", "Cart::total", ""), Some("b.py:Cart.total:2-3")),
            (cause("b.py", "total()", "3"), Some("b.py:Cart.total:3-3")),
            (cause("b.py", "f", ""), Some("b.py:f:5-6")),
            (cause("b.py", "", ""), Some("b.py:Cart.total:2-3")),
            (cause("b.py", "gone", ""), Some("b.py:Cart.total:2-3")),
            (cause("", "", ""), Some("a.py:f:5-6")),
            // Nothing is known of this file, and its cause is at no place of another one.
            (cause("c.py", "h", "1"), None),
        ];
        for (cause, expected) in table {
            let analysis = AnalysisResponse { root_causes: vec![cause.clone()], ..named.clone() };
            let points = responses::parse_points(&analysis, &read).points;
            let plan = plan("one", &analysis, &points, &state, &read);
            let place = plan.root_causes.first().map(|cause| cause.point.to_string());
            assert_eq!(place.as_deref(), expected, "{cause:?}");
        }
        let none = AnalysisResponse { root_causes: vec![cause("", "", "")], ..analysis(&[], &[]) };
        assert!(plan("one", &none, &[], &state, &read).root_causes.is_empty());
    }

    const ANALYSIS: &str = r#"{"approach": "add", "modification_points": ["a.py:f:1-2"], "affected_tests": ["x"], "confidence_score": 0.9, "evidence": [{"expected": "2", "actual": "1", "line": "return 1"}]}"#;

    const CHANGE: &str = "\n\na.py\n```\n<<<<<<< SEARCH\n    return 1\n=======\n    return 2\n>>>>>>> REPLACE\n```\n";

    fn edits_of(answer: &str, strategy: Strategy) -> (&'static str, usize) {
        let mut state = crate::domain::fix_loop::tests::new(95, 10);
        state.selected_strategy = Some(strategy);
        state.current_iteration = 1;
        let context = Context::sample(&state, &[("a.py", "def f():\n    return 1\n")], "/work");
        let rules = Rules::default();
        let analyst = Analyst { state: &state, context: &context, rules: &rules, fence: "FENCE" };
        let model = ScriptedModel::new("a", []);
        let answer = Answer {
            text: answer.to_owned(),
            finish: crate::effect::Finish::Done,
            usage: crate::domain::budget::Usage::default(),
            model: String::new(),
            raw: String::new(),
        };
        assert_eq!(analyst.form().is_some(), strategy == Strategy::Reflective);
        match futures::executor::block_on(analyst.read(&model, &answer)).unwrap() {
            Reading::Good(value, _) => ("good", value.plan.edits.len()),
            Reading::Weak(value, _, trigger, _) => match trigger {
                FallbackTrigger::NoEvidence => ("T9", value.plan.edits.len()),
                _ => ("weak", value.plan.edits.len()),
            },
            Reading::Useless(..) | Reading::SendBack(_) => ("useless", 0),
        }
    }

    #[test]
    fn a_change_comes_with_an_analysis_that_is_sure_and_has_evidence() {
        use Strategy::{Conservative, Reflective, Surgical};
        let unsure = ANALYSIS.replace("0.9", "0.69");
        let unproven = ANALYSIS.replace("return 1\"}", "\"}");
        let fenced = format!("```json\n{ANALYSIS}\n```{CHANGE}");
        let table = [
            ("sure", format!("{ANALYSIS}{CHANGE}"), Surgical, 1),
            ("in a fence", fenced, Conservative, 1),
            ("no change", ANALYSIS.to_owned(), Conservative, 0),
            ("not sure", format!("{unsure}{CHANGE}"), Conservative, 0),
            ("too much", format!("{ANALYSIS}{}", CHANGE.repeat(21)), Conservative, 0),
            ("a reflection", format!("{ANALYSIS}{CHANGE}"), Reflective, 0),
            ("cut off", format!("{ANALYSIS}{}", CHANGE.split_at(50).0), Conservative, 0),
            ("a new file", format!("{ANALYSIS}\n\nb.py\n```\nx = 1\n```\n"), Conservative, 0),
        ];
        for (why, answer, strategy, expected) in table {
            let (reading, edits) = edits_of(&answer, strategy);
            assert_ne!(reading, "useless", "{why}");
            assert_eq!(edits, expected, "{why}");
        }
        assert_eq!(edits_of(&format!("{unproven}{CHANGE}"), Conservative), ("T9", 0));
    }

    #[test]
    fn a_report_is_made_of_the_evidence() {
        let evidence = responses::ReportedEvidence {
            expected: "90".into(),
            actual: "110".into(),
            line: "return a\n + b".into(),
            ..responses::ReportedEvidence::default()
        };
        let analysis = AnalysisResponse {
            evidence: vec![evidence],
            rejected: "Rounding; nothing rounds.".into(),
            ..AnalysisResponse::default()
        };
        let expected = "- expected: 90\n- actual: 110\n- the line that makes the difference: return a + b\n\nRejected: Rounding; nothing rounds.";
        assert_eq!(report(&analysis), expected);
    }
}
