//! The output of each layer's tests in one run: `.process/test-layer-<layer>-output.txt`
//! (specification.md 4.8, 8.1).

use crate::domain::test::{Layer, Results, Status, TestCase};

/// Tests of one layer that are listed.
const LISTED: usize = 5_000;

/// Characters of the message of one failing test.
const MESSAGE: usize = 20 << 10;

/// The layers, by their names in settings and file names.
const LAYERS: [(Layer, &str); 4] = [
    (Layer::Static, "static"),
    (Layer::Unit, "unit"),
    (Layer::Integration, "integration"),
    (Layer::EndToEnd, "e2e"),
];

/// The name of a layer in settings and file names.
pub fn name(layer: Layer) -> &'static str {
    LAYERS.iter().find(|(known, _)| *known == layer).map_or("unit", |(_, name)| *name)
}

/// The files of one run, as name and text. A layer without tests has no file.
pub fn layers(results: &Results) -> Vec<(String, String)> {
    let all = LAYERS.iter().filter_map(|(layer, name)| {
        let cases: Vec<&TestCase> =
            results.cases.iter().filter(|case| case.layer == *layer).collect();
        let file = format!(".process/test-layer-{name}-output.txt");
        (!cases.is_empty()).then(|| (file, text(&cases, results)))
    });
    all.collect()
}

fn text(cases: &[&TestCase], results: &Results) -> String {
    let count = |status: Status| cases.iter().filter(|case| case.status == status).count();
    let mut text = format!(
        "{}\n{} passed, {} failed, {} skipped\n\n",
        results.command,
        count(Status::Passed),
        count(Status::Failed),
        count(Status::Skipped)
    );
    for case in cases.iter().take(LISTED) {
        let word = match case.status {
            Status::Passed => "pass",
            Status::Failed => "FAIL",
            Status::Skipped => "skip",
        };
        text.push_str(&format!("{word} {} ({} ms)\n", case.id, case.duration_ms));
        if let Some(failure) = &case.failure {
            let message = format!("{} {}\n{}", failure.class, failure.message, failure.stack);
            let message: String = message.chars().take(MESSAGE).collect();
            for line in message.trim().lines() {
                text.push_str(&format!("     {line}\n"));
            }
        }
    }
    if cases.len() > LISTED {
        text.push_str(&format!("and {} more\n", cases.len() - LISTED));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::test::{FailureText, Scope};

    #[test]
    fn each_layer_that_ran_has_its_output_with_what_failed() {
        let case = |id: &str, layer: Layer, message: Option<&str>| TestCase {
            kind: crate::domain::test::CaseKind::Test,
            id: id.into(),
            status: if message.is_some() { Status::Failed } else { Status::Passed },
            file: None,
            line: None,
            duration_ms: 3,
            layer,
            failure: message.map(|message| FailureText {
                class: "AssertionError".into(),
                message: message.into(),
                stack: "at a.py:3".into(),
                frames: Vec::new(),
            }),
        };
        let results = Results {
            cases: vec![
                case("t.a", Layer::Unit, None),
                case("t.b", Layer::Unit, Some("1 != 2\nand more")),
                case("e.c", Layer::EndToEnd, None),
            ],
            scope: Scope::Full,
            command: "pytest".into(),
            exit_code: Some(1),
            started_at: String::new(),
            duration_ms: 9,
            log: String::new(),
            is_offline: false,
            objections: Vec::new(),
            flaky: Vec::new(),
            notices: Vec::new(),
            lacking: std::collections::BTreeMap::new(),
        };
        let files = layers(&results);
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            [".process/test-layer-unit-output.txt", ".process/test-layer-e2e-output.txt"]
        );
        insta::assert_snapshot!(files[0].1, @r"
        pytest
        1 passed, 1 failed, 0 skipped

        pass t.a (3 ms)
        FAIL t.b (3 ms)
             AssertionError 1 != 2
             and more
             at a.py:3
        ");
    }
}
