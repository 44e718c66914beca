//! The published JSON Schemas are those of the types. `REGREEN_BLESS=1` writes them anew.

use std::path::Path;

use schemars::{Schema, schema_for};
use serde_json::Value;

use crate::config;
use crate::domain::archive::ManifestEntry;
use crate::domain::characterisation::CharacterisationReport;
use crate::domain::event::{Event, Outcome};
use crate::domain::fix_loop::FixLoop;
use crate::domain::mutation::Score;
use crate::domain::session::SessionRecord;
use crate::domain::test_plan;
use crate::domain::test_plan::context::{ContextPackage, TestContextPackage};
use crate::domain::test_plan::exploration::Exploration;
use crate::domain::test_plan::pipeline::Pipeline;
use crate::domain::test_plan::task::TestTask;
use crate::report::document::Document;
use crate::report::planning::{PlanDocument, Progress};
use crate::report::schema::{FixHistory, FixTask, IterationFailures, SuiteTask, TestResults};
use crate::report::validation::ValidationReport;
use crate::role::test_plan::{AdviceResponse, ExecutedLines, SurveyResponse};
use crate::role::{
    AnalysisResponse, AnswerReceipt, EditsResponse, GenerateResponse, JudgeResponse,
    PendingQuestion,
};

/// Name and schema of every stored or printed form.
fn schemas() -> Vec<(&'static str, Schema)> {
    vec![
        ("session", schema_for!(SessionRecord)),
        ("iteration-state", schema_for!(FixLoop)),
        ("archive-manifest", schema_for!(Vec<ManifestEntry>)),
        ("outcome", schema_for!(Outcome)),
        ("test-results", schema_for!(TestResults)),
        ("iteration-failures", schema_for!(IterationFailures)),
        ("fix-history", schema_for!(FixHistory)),
        ("fix-task", schema_for!(FixTask)),
        ("suite-task", schema_for!(SuiteTask)),
        ("code-validation-report", schema_for!(ValidationReport)),
        ("event", schema_for!(Event)),
        ("document", schema_for!(Document)),
        ("config", config::schema()),
        ("test-context-package", schema_for!(TestContextPackage)),
        ("context-package", schema_for!(ContextPackage)),
        ("exploration", schema_for!(Exploration)),
        ("test-analysis", schema_for!(test_plan::analysis::TestAnalysis)),
        ("test-task", schema_for!(TestTask)),
        ("test-fix-state", schema_for!(Pipeline)),
        ("progress", schema_for!(Progress)),
        ("coverage-lines", schema_for!(ExecutedLines)),
        ("generation", schema_for!(test_plan::generation::Generation)),
        ("plan-document", schema_for!(PlanDocument)),
        ("analysis", schema_for!(AnalysisResponse)),
        ("edits", schema_for!(EditsResponse)),
        ("test-survey", schema_for!(SurveyResponse)),
        ("test-advice", schema_for!(AdviceResponse)),
        ("test-files", schema_for!(GenerateResponse)),
        ("verdicts", schema_for!(JudgeResponse)),
        ("provider-calls", schema_for!(test_plan::usage_log::UsageLog)),
        ("question-under-way", schema_for!(PendingQuestion)),
        ("answer", schema_for!(AnswerReceipt)),
        ("enriched-suggestions", schema_for!(test_plan::analysis::Advice)),
        ("mutation-score", schema_for!(Score)),
        ("pin-report", schema_for!(CharacterisationReport)),
    ]
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test reads and writes the docs of this project")]
fn published_schemas_are_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schemas");
    for (name, schema) in schemas() {
        let path = folder.join(format!("{name}.json"));
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if std::env::var("REGREEN_BLESS").is_ok() {
            std::fs::write(&path, &text).unwrap();
        }
        let published = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(published, text, "{name}: run the test with REGREEN_BLESS=1");
    }
}

#[test]
fn what_is_printed_on_an_error_fits_its_schema() {
    let problem =
        crate::report::document::Problem { message: "no".into(), hint: "do".into(), exit_code: 3 };
    let value = serde_json::to_value(Document::from(problem)).unwrap();
    let schema: Value = serde_json::to_value(schema_for!(Document)).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(&value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
}

/// Whether a value holds all that an older one held; fields that came later may be there too.
fn holds(now: &Value, then: &Value) -> bool {
    match (now, then) {
        (Value::Object(now), Value::Object(then)) => {
            then.iter().all(|(name, old)| now.get(name).is_some_and(|new| holds(new, old)))
        }
        (Value::Array(now), Value::Array(then)) => {
            now.len() == then.len() && now.iter().zip(then).all(|(new, old)| holds(new, old))
        }
        _ => now == then,
    }
}

/// Reads a sample that an earlier build stored, with and without what may be missing, and with
/// what a later build may add.
fn reads<T: serde::de::DeserializeOwned + serde::Serialize>(
    version: &Path,
    file: &str,
    schema: &Schema,
) {
    let text = std::fs::read_to_string(version.join(file)).unwrap();
    let stored: Value = serde_json::from_str(&text).unwrap();
    let read = |value: &Value, why: &str| -> Value {
        let read: T = serde_json::from_value(value.clone())
            .unwrap_or_else(|error| panic!("{}: {file} {why}: {error}", version.display()));
        serde_json::to_value(read).unwrap()
    };
    let schema = serde_json::to_value(schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let read_back = read(&stored, "as stored");
    assert!(validator.is_valid(&read_back), "{file}: what was read fits today's schema");
    let Value::Object(fields) = &stored else { return };
    for (name, value) in read_back.as_object().unwrap() {
        // A field that today's build adds is not in an old sample.
        if let Some(old) = fields.get(name) {
            assert!(holds(value, old), "{file}: {name} is read as it was stored: {value} {old}");
        }
    }
    let mut more = fields.clone();
    more.insert("of_a_later_build".into(), serde_json::json!({"x": 1}));
    assert_eq!(read(&more.into(), "with a field of a later build"), read_back);
    let required: Vec<&str> =
        schema["required"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let mut fewer = fields.clone();
    fewer.retain(|name, _| required.contains(&name.as_str()));
    assert!(fewer.len() < fields.len(), "{file}: something is optional");
    read(&fewer.into(), "without what is optional");
}

#[test]
fn files_of_every_released_schema_version_are_read() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/state");
    let mut versions = 0;
    for version in std::fs::read_dir(samples).unwrap() {
        let version = version.unwrap().path();
        reads::<SessionRecord>(&version, "workflow-session.json", &schema_for!(SessionRecord));
        reads::<FixLoop>(&version, "iteration-state.json", &schema_for!(FixLoop));
        reads::<TestResults>(&version, "test-results.json", &schema_for!(TestResults));
        reads::<FixHistory>(&version, "fix-history.json", &schema_for!(FixHistory));
        versions += 1;
    }
    assert!(versions > 0, "there are samples");
}

#[test]
fn files_of_a_plan_fit_their_schemas() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/planning/v1");
    for (file, name) in [
        ("context-package.json", "context-package"),
        ("exploration-patterns.json", "exploration"),
        ("TEST_ANALYSIS_RESULTS.json", "test-analysis"),
        ("IMPL-001.json", "test-task"),
        ("test-fix-state.json", "test-fix-state"),
    ] {
        let text = std::fs::read_to_string(samples.join(file)).unwrap();
        let stored: Value = serde_json::from_str(&text).unwrap();
        let (_, schema) = schemas().into_iter().find(|(known, _)| *known == name).unwrap();
        let schema = serde_json::to_value(schema).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let errors: Vec<String> =
            validator.iter_errors(&stored).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{file}: {errors:?}");
    }
}
