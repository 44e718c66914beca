//! The published JSON Schemas are those of the types. `REGREEN_BLESS=1` writes them anew.

use std::path::Path;

use schemars::{Schema, schema_for};
use serde_json::Value;

use crate::config;
use crate::domain::event::{Event, Outcome};
use crate::domain::fix_loop::FixLoop;
use crate::domain::session::SessionRecord;
use crate::report::document::Document;
use crate::report::forms::{FixHistory, FixTask, IterationFailures, SuiteTask, TestResults};
use crate::role::{Analysis, Edits};

/// Name and schema of every stored or printed form.
fn schemas() -> Vec<(&'static str, Schema)> {
    vec![
        ("session", schema_for!(SessionRecord)),
        ("iteration-state", schema_for!(FixLoop)),
        ("outcome", schema_for!(Outcome)),
        ("test-results", schema_for!(TestResults)),
        ("iteration-failures", schema_for!(IterationFailures)),
        ("fix-history", schema_for!(FixHistory)),
        ("fix-task", schema_for!(FixTask)),
        ("suite-task", schema_for!(SuiteTask)),
        ("event", schema_for!(Event)),
        ("document", schema_for!(Document)),
        ("config", config::schema()),
        ("analysis", schema_for!(Analysis)),
        ("edits", schema_for!(Edits)),
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
