//! Checks that the published JSON Schemas match the types (`REGREEN_BLESS=1` regenerates them), and
//! that files stored by earlier releases can still be read.

use std::collections::BTreeSet;
use std::path::Path;

use schemars::{Schema, schema_for};
use serde_json::Value;

use crate::config;
use crate::domain::characterisation_report::CharacterisationReport;
use crate::domain::event::{Event, Outcome};
use crate::domain::fix_loop::FixLoop;
use crate::domain::mutation::Score;
use crate::domain::session::SessionRecord;
use crate::domain::test::{CaseKind, Layer, Results, Scope, Status, TestCase};
use crate::domain::test_plan::pipeline::Pipeline;
use crate::domain::test_plan::task::TestTask;
use crate::report::document::Document;
use crate::report::planning::PlanDocument;
use crate::report::state_files;
use crate::report::validation::ValidationReport;
use crate::role::integration::DesignResponse;
use crate::role::test_plan::SurveyResponse;
use crate::role::{AnalysisResponse, EditsResponse, GenerateResponse, JudgeResponse};

/// Name and schema of every format that users, other programs or models read or write.
fn schemas() -> Vec<(&'static str, Schema)> {
    vec![
        ("config", config::schema()),
        ("event", schema_for!(Event)),
        ("outcome", schema_for!(Outcome)),
        ("document", schema_for!(Document)),
        ("plan-document", schema_for!(PlanDocument)),
        ("code-validation-report", schema_for!(ValidationReport)),
        ("test-task", schema_for!(TestTask)),
        ("mutation-score", schema_for!(Score)),
        ("pin-report", schema_for!(CharacterisationReport)),
        ("analysis", schema_for!(AnalysisResponse)),
        ("edits", schema_for!(EditsResponse)),
        ("test-survey", schema_for!(SurveyResponse)),
        ("test-design", schema_for!(DesignResponse)),
        ("test-files", schema_for!(GenerateResponse)),
        ("verdicts", schema_for!(JudgeResponse)),
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
    assert_eq!(
        std::fs::read_dir(folder).unwrap().count(),
        schemas().len(),
        "no other is published"
    );
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

/// Paths of what an older value held and a value that was read back does not; fields that came later
/// may be there too.
fn lost(now: &Value, then: &Value, path: &str) -> Vec<String> {
    match (now, then) {
        (Value::Object(now), Value::Object(then)) => then
            .iter()
            .flat_map(|(name, old)| {
                lost(now.get(name).unwrap_or(&Value::Null), old, &format!("{path}.{name}"))
            })
            .collect(),
        (Value::Array(now), Value::Array(then)) if now.len() == then.len() => {
            now.iter().zip(then).flat_map(|(new, old)| lost(new, old, path)).collect()
        }
        _ if now == then => Vec::new(),
        _ => vec![path.to_owned()],
    }
}

/// Reads a sample that an earlier release stored: as it is, without its optional fields, and with
/// unknown fields that a later release may add.
fn reads<T: serde::de::DeserializeOwned + serde::Serialize>(sample: &Path) {
    let file = sample.display();
    let text = std::fs::read_to_string(sample).unwrap();
    let stored: Value = serde_json::from_str(&text).unwrap();
    let read = |value: &Value, why: &str| -> Value {
        let read: T = serde_json::from_value(value.clone())
            .unwrap_or_else(|error| panic!("{file} {why}: {error}"));
        serde_json::to_value(read).unwrap()
    };
    let read_back = read(&stored, "as stored");
    let fields = stored.as_object().unwrap();
    for (name, value) in read_back.as_object().unwrap() {
        // A field that today's build adds is not in an old sample.
        if let Some(old) = fields.get(name) {
            assert_eq!(lost(value, old, name), [""; 0], "{file} is read as it was stored");
        }
    }
    let mut more = fields.clone();
    more.insert("of_a_later_build".into(), serde_json::json!({"x": 1}));
    assert_eq!(read(&more.into(), "with a field of a later build"), read_back);
    let mut fewer = fields.clone();
    fewer.retain(|name, _| {
        let mut without = fields.clone();
        without.remove(name);
        serde_json::from_value::<T>(without.into()).is_err()
    });
    assert!(fewer.len() < fields.len(), "{file}: something is optional");
    read(&fewer.into(), "without what is optional");
}

#[test]
fn files_of_every_released_version_are_read() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/state");
    let mut versions = 0;
    for version in std::fs::read_dir(samples).unwrap() {
        let version = version.unwrap().path();
        reads::<SessionRecord>(&version.join("workflow-session.json"));
        let state = version.join("iteration-state.json");
        reads::<FixLoop>(&state);
        // The history is derived from the state: the same state gives what was stored.
        let value = |path: &Path| std::fs::read_to_string(path).unwrap();
        let state: FixLoop = serde_json::from_str(&value(&state)).unwrap();
        let then = serde_json::from_str(&value(&version.join("fix-history.json"))).unwrap();
        assert_eq!(
            lost(&state_files::history(&state, None, "2026-01-01T00:00:00Z"), &then, "fix-history"),
            [""; 0]
        );
        versions += 1;
    }
    assert!(versions > 0, "there are samples");
}

/// A sample as JSON.
fn sample(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn history_and_results_are_written_as_released_versions_wrote_them() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/state/v1");
    let state: FixLoop =
        serde_json::from_value(sample(&samples.join("iteration-state.json"))).unwrap();
    let history = sample(&samples.join("fix-history.json"));
    assert_eq!(
        lost(&state_files::history(&state, None, "2026-01-01T00:00:00Z"), &history, "history"),
        [""; 0]
    );
    let stored = sample(&samples.join("test-results.json"));
    let failing = TestCase {
        kind: CaseKind::Test,
        id: "a".into(),
        status: Status::Failed,
        file: None,
        line: None,
        duration_ms: 1,
        layer: Layer::Unit,
        failure: None,
    };
    let results = Results {
        cases: vec![failing],
        scope: Scope::Full,
        command: String::new(),
        exit_code: None,
        started_at: String::new(),
        duration_ms: 1,
        log: String::new(),
        is_offline: false,
        objections: Vec::new(),
        flaky: Vec::new(),
        notices: Vec::new(),
        lacking: std::collections::BTreeMap::new(),
    };
    let written = state_files::test_results(&results, &state);
    let names = |value: &Value| -> BTreeSet<String> {
        value.as_object().unwrap().keys().cloned().collect()
    };
    // The number of the format went before the first release; everything else is still written.
    let missing = &names(&stored) - &names(&written);
    assert_eq!(missing, BTreeSet::from(["schema_version".to_owned()]));
    assert_eq!(names(&written["layer_distribution"]), names(&stored["layer_distribution"]));
    for failure in stored["failures"].as_array().unwrap() {
        assert_eq!(names(&written["failures"][0]), names(failure));
    }
}

/// The steps of a session of an earlier version go on; its plan is made anew where it has another form.
#[test]
fn the_pipeline_of_an_earlier_version_is_read() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/planning/v1");
    reads::<Pipeline>(&samples.join("test-fix-state.json"));
}
