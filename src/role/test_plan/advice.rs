//! Cases that a provider adds to the requirements (product.md 3.1 phase 4.2, 8.8).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::id::RepoPath;
use crate::domain::test_plan::analysis::{Advice, Scenario, Suggestion, TestAnalysis};
use crate::domain::test_plan::layer::SubLayer;

use super::told::one_line;

/// Suggestions that are kept at most.
const KEPT: usize = 60;

/// Characters of one field.
const FIELD: usize = 240;

/// Layers that are enriched.
pub const ADVISED: fn(SubLayer) -> bool = |layer| {
    layer.layer() == 1
        || matches!(
            layer,
            SubLayer::Wiring | SubLayer::Contract | SubLayer::External | SubLayer::FailureMode
        )
};

/// One case, as it is told.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ToldSuggestion {
    /// Path from the repository root.
    pub file: String,
    /// Its layer.
    pub layer: String,
    /// The requirement it belongs to; empty for a case of its own.
    pub requirement: String,
    /// Type of test.
    pub kind: String,
    /// What is tried.
    pub case: String,
    /// What must be seen.
    pub expected: String,
    /// What needs a double.
    pub mocks: String,
    /// When it is done.
    pub criterion: String,
}

/// One thing that may go wrong.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ToldScenario {
    /// The error.
    pub error: String,
    /// When it happens.
    pub when: String,
    /// What must be seen then.
    pub expected: String,
}

/// The adviser's answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ToldAdvice {
    /// The question it answers.
    pub task_id: String,
    /// Cases.
    pub suggestions: Vec<ToldSuggestion>,
    /// Files in the order in which their tests are best written.
    pub order: Vec<String>,
    /// What may go wrong.
    pub errors: Vec<ToldScenario>,
    /// From 0 to 1.
    pub confidence_score: f64,
}

/// What of an answer belongs to the files, layers and requirements of an analysis.
#[must_use]
pub fn advice(told: &ToldAdvice, analysis: &TestAnalysis) -> Advice {
    let known = |name: &str| -> Option<RepoPath> {
        let name = name.trim().trim_start_matches("./");
        analysis.files.iter().map(|file| &file.file).find(|file| file.as_str() == name).cloned()
    };
    let ids = |id: &str| {
        let all = analysis.files.iter().flat_map(|file| &file.requirements);
        all.into_iter().any(|one| one.id == id)
    };
    let mut found = Advice::default();
    for one in told.suggestions.iter().take(KEPT) {
        let layer = SubLayer::ALL.iter().find(|layer| layer.code() == one.layer.trim());
        let said = field(&one.case);
        let reason = match (known(&one.file), layer) {
            (None, _) => "it is about a file that is not asked about",
            (_, None) => "it names no layer",
            (_, Some(layer)) if !ADVISED(*layer) => "its layer is not enriched",
            _ if said.is_empty() || field(&one.expected).is_empty() => {
                "it does not say what must be seen"
            }
            (Some(file), Some(layer)) => {
                let requirement = one.requirement.trim();
                found.suggestions.push(Suggestion {
                    file,
                    layer: *layer,
                    requirement: if ids(requirement) {
                        requirement.to_owned()
                    } else {
                        String::new()
                    },
                    kind: field(&one.kind),
                    case: said,
                    expected: field(&one.expected),
                    mocks: field(&one.mocks),
                    criterion: field(&one.criterion),
                });
                continue;
            }
        };
        found.dropped.push(format!("“{said}”: {reason}"));
    }
    for name in told.order.iter().filter_map(|name| known(name)) {
        if !found.order.contains(&name) {
            found.order.push(name);
        }
    }
    let scenarios = told.errors.iter().filter(|one| !one.error.trim().is_empty());
    found.errors = scenarios
        .take(KEPT)
        .map(|one| Scenario {
            error: field(&one.error),
            when: field(&one.when),
            expected: field(&one.expected),
        })
        .collect();
    found
}

fn field(text: &str) -> String {
    one_line(text, FIELD)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::test_plan::analysis::samples;

    #[test]
    fn a_case_of_another_file_or_layer_is_thrown_away() {
        let analysis = samples::analysis(1, 2);
        let file = analysis.files[0].file.to_string();
        let one = |file: &str, layer: &str, requirement: &str, expected: &str| ToldSuggestion {
            file: file.into(),
            layer: layer.into(),
            requirement: requirement.into(),
            case: "an empty text".into(),
            expected: expected.into(),
            ..ToldSuggestion::default()
        };
        let table = [
            (one(&file, "L1.3", "R-001", "ValueError"), Some("R-001")),
            (one(&file, "L2.5", "R-999", "a timeout"), Some("")),
            (one("b.py", "L1.3", "", "ValueError"), None),
            (one(&file, "L3.1", "", "ValueError"), None),
            (one(&file, "L7", "", "ValueError"), None),
            (one(&file, "L1.3", "", " "), None),
        ];
        for (told, expected) in table {
            let all = ToldAdvice { suggestions: vec![told.clone()], ..ToldAdvice::default() };
            let got = advice(&all, &analysis);
            let id = got.suggestions.first().map(|one| one.requirement.as_str());
            assert_eq!(id, expected, "{told:?}");
            assert_eq!(got.dropped.len(), usize::from(expected.is_none()), "{told:?}");
        }
    }
}
