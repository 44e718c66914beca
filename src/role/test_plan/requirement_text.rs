//! Phrases test requirements: the input, the expected result, and the line of code behind them.

use crate::code::behaviour::{
    Behaviour, Boundary, Condition, Guard, Handler, Raise, Return, condition,
};
use crate::code::language::Language;
use crate::domain::id::RepoPath;
use crate::domain::test_plan::analysis::Requirement;
use crate::domain::test_plan::layer::SubLayer;
use crate::domain::text::count;

/// A requirement before it gets a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequirementDraft {
    pub layer: SubLayer,
    pub function: String,
    pub line: u32,
    pub text: String,
    pub given: String,
    pub expect: String,
}

impl RequirementDraft {
    /// Adds the number of the requirement and the command that checks it.
    pub fn numbered(self, number: u32, check: String) -> Requirement {
        let Self { layer, function, line, text, given, expect } = self;
        let id = format!("R-{number:03}");
        let author = String::new();
        Requirement { id, layer, function, line, text, given, expect, check, author }
    }
}

/// Maximum number of conditions in a sentence, innermost first; the others are counted.
const CONDITIONS: usize = 3;

/// The file and language of the requirements.
#[derive(Clone, Copy)]
pub struct RequirementWriter<'a> {
    pub file: &'a RepoPath,
    pub language: Language,
}

impl RequirementWriter<'_> {
    fn draft(
        self,
        layer: SubLayer,
        function: &Behaviour,
        line: u32,
        clause: &str,
        given: String,
        expect: String,
    ) -> RequirementDraft {
        let text = format!("`{}` {clause} ({}:{line})", function.name, self.file);
        RequirementDraft { layer, function: function.name.clone(), line, text, given, expect }
    }

    /// The conditions that lead to a place, or else ordinary arguments. Omitted conditions are
    /// always counted in the sentence, which would otherwise demand what the code does not do.
    fn given(function: &Behaviour, guard: &Guard) -> String {
        // A loop condition is implied by any condition inside the loop.
        let deepest = guard.iter().rposition(|one| !one.is_loop_entry());
        let needed = |(at, one): &(usize, &Condition)| {
            !one.is_loop_entry() || deepest.is_none_or(|last| *at > last)
        };
        let mut own: Vec<String> = Vec::new();
        for clause in guard.iter().enumerate().filter(needed).map(|(_, one)| condition(one)) {
            if !own.contains(&clause) {
                own.push(clause);
            }
        }
        let more = own.len().saturating_sub(CONDITIONS);
        let mut clause = own.split_off(more).join(" and ");
        if more > 0 {
            clause.push_str(&format!(", behind {}", count(more, "more condition")));
        }
        if !clause.is_empty() {
            return clause;
        }
        let names: Vec<String> = function
            .parameters
            .iter()
            .filter(|one| !one.optional)
            .map(|one| format!("`{}`", one.name))
            .collect();
        if names.is_empty() {
            "a plain call".into()
        } else {
            format!("ordinary {}", names.join(", "))
        }
    }

    /// L1.1: one requirement per result.
    pub fn happy(self, function: &Behaviour, result: &Return) -> RequirementDraft {
        let given = Self::given(function, &result.guard);
        let value = format!("`{}`", result.value);
        let clause = format!("returns {value} for {given}");
        self.draft(
            SubLayer::Happy,
            function,
            result.line,
            &clause,
            given,
            format!("returns {value}"),
        )
    }

    /// L1.1 for a function that returns nothing and is called for its effect.
    pub fn effect(self, function: &Behaviour) -> RequirementDraft {
        let given = Self::given(function, &Vec::new());
        let does = match (function.changes.first(), function.calls.first()) {
            (Some((_, field)), _) => format!("changes `{field}`"),
            (None, Some((_, callee))) => format!("calls `{callee}`"),
            (None, None) => "ends without an error".to_owned(),
        };
        let clause = format!("{does} for {given}");
        self.draft(SubLayer::Happy, function, function.start, &clause, given, does.clone())
    }

    /// L1.2: one requirement per error.
    pub fn error(self, function: &Behaviour, raise: &Raise) -> RequirementDraft {
        let given = Self::given(function, &raise.guard);
        let message =
            raise.message.as_ref().map(|text| format!(" (\"{text}\")")).unwrap_or_default();
        let does = match (self.language, raise.class.as_str()) {
            (_, "panic") => format!("panics{message}"),
            (Language::Python, class) => format!("raises {class}{message}"),
            (
                Language::JavaScript | Language::TypeScript | Language::Tsx | Language::Java,
                class,
            ) => {
                format!("throws {class}{message}")
            }
            (Language::Rust | Language::Go, class) => format!("returns {class}{message}"),
        };
        let clause = format!("{does} for {given}");
        self.draft(SubLayer::Negative, function, raise.line, &clause, given, does.clone())
    }

    /// L1.3: values on both sides of a comparison with a constant.
    pub fn boundary(self, function: &Behaviour, edge: &Boundary) -> RequirementDraft {
        let values = sides(&edge.operator, &edge.right);
        let given = format!("`{}` of {}", edge.left, values.join(" and "));
        let clause = format!(
            "keeps the edge `{} {} {}`: {given} differ",
            edge.left, edge.operator, edge.right
        );
        let expect = format!(
            "the side of `{} {} {}` that each value is on",
            edge.left, edge.operator, edge.right
        );
        self.draft(SubLayer::Edge, function, edge.line, &clause, given, expect)
    }

    /// L1.3: empty input for a collection or text.
    pub fn empty(self, function: &Behaviour, parameter: &str, line: u32) -> RequirementDraft {
        let given = format!("an empty `{parameter}`");
        let clause = format!("has a defined result for {given}");
        self.draft(
            SubLayer::Edge,
            function,
            line,
            &clause,
            given,
            "the result for nothing, without a crash".into(),
        )
    }

    /// L1.4: a change of state.
    pub fn change(self, function: &Behaviour, line: u32, field: &str) -> RequirementDraft {
        let given = format!("`{field}` read before and after");
        let clause = format!("changes `{field}` and nothing else of its object");
        self.draft(
            SubLayer::State,
            function,
            line,
            &clause,
            given,
            format!("`{field}` differs as the call says"),
        )
    }

    /// L1.5: an asynchronous function is awaited and cancelled.
    pub fn asynchronous(self, function: &Behaviour) -> RequirementDraft {
        let given = "a call that is awaited, and one that is cancelled".to_owned();
        let clause = "resolves when awaited and leaves nothing behind when cancelled";
        let expect = "the result when awaited; no open task when cancelled".to_owned();
        self.draft(SubLayer::Async, function, function.start, clause, given, expect)
    }

    /// L2.1: a call to a function in another file of the project.
    pub fn wiring(
        self,
        function: &Behaviour,
        line: u32,
        callee: &str,
        other: &RepoPath,
    ) -> RequirementDraft {
        let given = format!("the real `{callee}` of {other}, no double");
        let clause = format!("works with the real `{callee}` of {other}");
        let expect = format!("the result that follows from `{callee}`");
        self.draft(SubLayer::Wiring, function, line, &clause, given, expect)
    }

    /// L2.2: a request to a route.
    pub fn route(self, function: &Behaviour, mark: &str) -> RequirementDraft {
        let given = "a request that is right, one with a missing field and one that is not allowed";
        let clause = format!("answers the route `{mark}` with status, body and refusals");
        let expect = "2xx with the documented body, 4xx otherwise".to_owned();
        self.draft(SubLayer::Contract, function, function.start, &clause, given.into(), expect)
    }

    /// L2.3: a database access with a failure.
    pub fn database(self, function: &Behaviour, line: u32, call: &str) -> RequirementDraft {
        let given = "a database of the test's own, and a failure before the end".to_owned();
        let clause = format!("leaves what it wrote by `{call}`, and nothing after a failure");
        let expect = "the row is there; after a failure it is not".to_owned();
        self.draft(SubLayer::Database, function, line, &clause, given, expect)
    }

    /// L2.4: a call to an external service that succeeds, refuses or times out.
    pub fn service(self, function: &Behaviour, line: u32, call: &str) -> RequirementDraft {
        let given = format!("a double of `{call}` that answers, refuses and takes too long");
        let clause = format!("copes with what `{call}` answers: success, refusal, timeout");
        let expect = "a result for success, a named error for the others".to_owned();
        self.draft(SubLayer::External, function, line, &clause, given, expect)
    }

    /// L2.5: an error handler.
    pub fn failure(self, function: &Behaviour, handler: &Handler) -> RequirementDraft {
        let caught = if handler.catches.is_empty() {
            "any error".to_owned()
        } else {
            format!("`{}`", handler.catches)
        };
        let given = format!("a call inside that fails with {caught}");
        let clause = format!("does what its handler says when {caught} is caught");
        self.draft(
            SubLayer::FailureMode,
            function,
            handler.line,
            &clause,
            given,
            "the handler's result or error".into(),
        )
    }
}

/// Values on both sides of a comparison, closest first.
fn sides(operator: &str, value: &str) -> Vec<String> {
    let plain = value.replace('_', "");
    let Ok(number) = plain.parse::<i64>() else {
        return vec![
            value.to_owned(),
            format!("just below {value}"),
            format!("just above {value}"),
        ];
    };
    let (less, more) = (number.saturating_sub(1), number.saturating_add(1));
    let list = match operator {
        "<" | ">=" => vec![less, number],
        ">" | "<=" => vec![number, more],
        _ => vec![less, number, more],
    };
    list.into_iter().map(|value| value.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_of_a_comparison_are_named() {
        let table = [
            (">", "100", "100 101"),
            (">=", "50", "49 50"),
            ("<", "0", "-1 0"),
            ("==", "1_000", "999 1000 1001"),
        ];
        for (operator, value, expected) in table {
            assert_eq!(sides(operator, value).join(" "), expected, "{operator} {value}");
        }
        assert_eq!(sides("<", "0.5").len(), 3);
    }

    fn function(text: &str) -> Behaviour {
        crate::code::behaviour::read(Language::Python, text).remove(0)
    }

    #[test]
    fn every_sentence_names_its_function_file_and_line() {
        let file = RepoPath::parse("a.py").unwrap();
        let other = RepoPath::parse("b.py").unwrap();
        let writer = RequirementWriter { file: &file, language: Language::Python };
        let own = function(
            "def price(x):\n    if x < 3:\n        raise ValueError('low')\n    return x\n",
        );
        let drafts = [
            (writer.happy(&own, &own.returns[0]), "L1.1", 4),
            (writer.effect(&own), "L1.1", 1),
            (writer.error(&own, &own.raises[0]), "L1.2", 3),
            (writer.boundary(&own, &own.boundaries[0]), "L1.3", 2),
            (writer.empty(&own, "x", 1), "L1.3", 1),
            (writer.change(&own, 4, "self.total"), "L1.4", 4),
            (writer.asynchronous(&own), "L1.5", 1),
            (writer.wiring(&own, 4, "rate", &other), "L2.1", 4),
            (writer.route(&own, "@app.get(\"/\")"), "L2.2", 1),
            (writer.database(&own, 4, "db.execute"), "L2.3", 4),
            (writer.service(&own, 4, "requests.get"), "L2.4", 4),
        ];
        for (draft, layer, line) in drafts {
            assert_eq!((draft.layer.code(), draft.line), (layer, line), "{draft:?}");
            assert!(draft.text.starts_with("`price` "), "{draft:?}");
            assert!(draft.text.ends_with(&format!("(a.py:{line})")), "{draft:?}");
            assert!(!draft.given.is_empty() && !draft.expect.is_empty(), "{draft:?}");
            let numbered = draft.numbered(7, "pytest".into());
            assert_eq!((numbered.id.as_str(), numbered.check.as_str()), ("R-007", "pytest"));
        }
    }

    #[test]
    fn conditions_that_are_left_out_are_counted() {
        let depth = 5;
        let mut text = "def price(a, b, c, d, e):\n".to_owned();
        for (at, name) in ["a", "b", "c", "d", "e"].iter().enumerate() {
            text.push_str(&format!("{}if {name} > {at}:\n", "    ".repeat(at + 1)));
        }
        text.push_str(&format!("{}return 1\n", "    ".repeat(depth + 1)));
        let own = function(&text);
        let given = RequirementWriter::given(&own, &own.returns[0].guard);
        assert!(given.ends_with(", behind 2 more conditions"), "{given}");
        let plain = function("def price(a, b=1):\n    return a\n");
        assert_eq!(RequirementWriter::given(&plain, &plain.returns[0].guard), "ordinary `a`");
        let bare = function("def price():\n    return 1\n");
        assert_eq!(RequirementWriter::given(&bare, &bare.returns[0].guard), "a plain call");
    }
}
