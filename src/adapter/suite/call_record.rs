//! What the drivers that make calls say about each.

use serde::Deserialize;

use crate::effect::{CallEffects, CallFolder, CallOutcome, Observation, ResultKind};

/// What a driver says about one call.
#[derive(Deserialize)]
pub struct CallRecord {
    pub index: Option<usize>,
    refused: Option<String>,
    value: Option<String>,
    way: Option<ResultKind>,
    raised: Option<String>,
    #[serde(default)]
    message: String,
    #[serde(default)]
    explicit: bool,
    #[serde(default)]
    after: Vec<(usize, String)>,
    #[serde(default)]
    needs: Vec<String>,
    #[serde(default)]
    lines: Vec<u32>,
    reached: Option<Vec<String>>,
    #[serde(default)]
    marks: Vec<String>,
    printed: Option<String>,
    #[serde(default)]
    clock: bool,
    folder: Option<CallFolder>,
    #[serde(default)]
    asked: Vec<(String, Option<String>)>,
    output: Option<String>,
    #[serde(default)]
    database: bool,
}

impl CallRecord {
    /// Whether the call did not end in time, so that its process ended after it.
    pub fn is_late(&self) -> bool {
        self.refused.as_ref().is_some_and(|reason| reason.starts_with("takes longer"))
    }
}

impl From<CallRecord> for Observation {
    fn from(record: CallRecord) -> Self {
        let way = record.way.unwrap_or(ResultKind::Plain);
        let outcome = match (record.refused, record.value, record.raised) {
            (Some(reason), _, _) => CallOutcome::Refused(reason),
            (None, Some(literal), _) => CallOutcome::Value { literal, way },
            (None, None, Some(class)) => CallOutcome::Raised {
                class,
                message: record.message,
                explicit: record.explicit,
                way,
            },
            (None, None, None) => CallOutcome::Refused("its result was lost".into()),
        };
        Self {
            outcome,
            after: record.after,
            needs: record.needs,
            lines: record.lines,
            reached: record.reached,
            marks: record.marks,
            printed: record.printed,
            reads_clock: record.clock,
            effects: CallEffects {
                folder: record.folder,
                asked: record.asked,
                output: record.output,
                uses_database: record.database,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines as the two drivers write them, recorded with Python 3.11 and Node.js 20.
    #[test]
    fn recorded_answers_of_both_drivers_become_observations() {
        let value = |literal: &str, way| CallOutcome::Value { literal: literal.into(), way };
        let table = [
            (
                r#"{"value": "[0, 1, 2]", "way": "list", "after": [], "needs": [], "lines": [22], "marks": ["-21>22"], "index": 10}"#,
                value("[0, 1, 2]", ResultKind::List),
            ),
            (
                r#"{"raised": "ValueError", "message": "negative: -1", "explicit": true, "way": "plain", "after": [], "needs": [], "lines": [25], "marks": [], "index": 12}"#,
                CallOutcome::Raised {
                    class: "ValueError".into(),
                    message: "negative: -1".into(),
                    explicit: true,
                    way: ResultKind::Plain,
                },
            ),
            (
                r#"{"refused": "changes files", "index": 2}"#,
                CallOutcome::Refused("changes files".into()),
            ),
            (
                r#"{"index":10,"value":"undefined","way":"plain","after":[[0,"[1, 3]"]],"needs":[],"lines":[18],"marks":["r515-547"]}"#,
                value("undefined", ResultKind::Plain),
            ),
            (
                r#"{"index":16,"refused":"takes longer than 1 s"}"#,
                CallOutcome::Refused("takes longer than 1 s".into()),
            ),
            (r#"{"index":3}"#, CallOutcome::Refused("its result was lost".into())),
        ];
        for (line, outcome) in table {
            let record: CallRecord = serde_json::from_str(line).unwrap();
            assert!(record.index.is_some());
            assert_eq!(Observation::from(record).outcome, outcome, "{line}");
        }
        let end: CallRecord = serde_json::from_str(r#"{"end": true}"#).unwrap();
        assert!(end.index.is_none(), "the end is no observation");
    }
}
