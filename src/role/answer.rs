//! Parses the text of a model's answer into a typed value, or says why that is impossible
//! (specification.md 4.11). Missing optional and unknown fields are allowed, wrong types are not.

use schemars::JsonSchema;
use serde_json::Value;

use crate::domain::text::one_line;

/// The JSON Schema of an answer, in the subset that all provider protocols accept.
pub fn json_schema<T: JsonSchema>() -> Value {
    let mut settings = schemars::generate::SchemaSettings::draft07();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut value = serde_json::to_value(schema).unwrap_or_default();
    strict(&mut value);
    value
}

/// Requires all fields of every object and forbids others, as the strict modes of providers demand.
fn strict(value: &mut Value) {
    match value {
        Value::Object(object) => {
            object.remove("default");
            object.remove("format");
            object.remove("title");
            object.remove("minimum");
            if let Some(Value::Object(properties)) = object.get("properties") {
                let names: Vec<Value> = properties.keys().cloned().map(Value::String).collect();
                object.insert("required".into(), Value::Array(names));
                object.insert("additionalProperties".into(), Value::Bool(false));
            }
            object.values_mut().for_each(strict);
        }
        Value::Array(items) => items.iter_mut().for_each(strict),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Parses the answer to the question `task_id`. A text where a list is wanted is read as a list of
/// one. The error says why the text is not a valid answer (trigger T1).
pub fn parse<T: serde::de::DeserializeOwned + JsonSchema>(
    text: &str,
    task_id: &str,
) -> Result<T, String> {
    if text.trim().is_empty() {
        return Err("the answer is empty".into());
    }
    let schema = json_schema::<T>();
    let mut value = object_of(text, &schema).ok_or("the answer holds no JSON object")?;
    make_lists(&mut value, &schema);
    let named = value.get("task_id").and_then(Value::as_str).unwrap_or_default();
    if !named.is_empty() && named != task_id {
        return Err(format!("the answer is about another task (`{}`)", short(named)));
    }
    serde_json::from_value(value).map_err(|error| format!("the answer has a wrong field: {error}"))
}

/// The JSON object in a text that has the form of an answer, or at least one of its fields.
pub fn find_object<T: JsonSchema>(text: &str) -> Option<Value> {
    object_of(text, &json_schema::<T>())
}

fn object_of(text: &str, schema: &Value) -> Option<Value> {
    let fields = schema.get("properties").and_then(Value::as_object);
    find_json(text, &|field| fields.is_none_or(|fields| fields.contains_key(field)))
}

/// Parses an answer that states its confidence; the error is trigger T1.
pub fn parse_with_confidence<T: serde::de::DeserializeOwned + JsonSchema>(
    text: &str,
    task_id: &str,
    confidence_of: impl Fn(&T) -> f64,
) -> Result<(T, f64), String> {
    let response: T = parse(text, task_id)?;
    let confidence = confidence_of(&response);
    check_confidence(confidence)?;
    Ok((response, confidence))
}

/// Checks that a confidence lies between 0 and 1.
pub fn check_confidence(confidence: f64) -> Result<(), String> {
    if (0.0..=1.0).contains(&confidence) {
        return Ok(());
    }
    Err(format!("a confidence of {confidence} is not between 0 and 1"))
}

/// The first characters of an untrusted text, on one line.
pub fn short(text: &str) -> String {
    one_line(text, 80)
}

/// Turns texts into lists of one where a schema wants a list of texts.
fn make_lists(value: &mut Value, schema: &Value) {
    let items = schema.get("items").unwrap_or(&Value::Null);
    match value {
        Value::String(text) if is_of(schema, "array") && is_of(items, "string") => {
            let text = std::mem::take(text);
            *value =
                if text.trim().is_empty() { Value::from([""; 0]) } else { Value::from([text]) };
        }
        Value::Array(list) => list.iter_mut().for_each(|one| make_lists(one, items)),
        Value::Object(fields) => {
            for (name, value) in fields {
                if let Some(schema) = schema.pointer(&format!("/properties/{name}")) {
                    make_lists(value, schema);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn is_of(schema: &Value, kind: &str) -> bool {
    schema.get("type").and_then(Value::as_str) == Some(kind)
}

/// Finds a JSON object in a text: the whole text, else a fenced block or balanced braces with a
/// field that `is_known` knows. The objects inside one that was cut off are no answers.
fn find_json(text: &str, is_known: &dyn Fn(&str) -> bool) -> Option<Value> {
    let parse = |text: &str| serde_json::from_str::<Value>(text).ok().filter(Value::is_object);
    if let Some(value) = parse(text.trim()) {
        return Some(value);
    }
    let has_known = |value: &Value| {
        value.as_object().is_some_and(|fields| fields.keys().any(|field| is_known(field)))
    };
    let object = |text: &str| parse(text).filter(has_known);
    for fence in ["```json", "```"] {
        let mut rest = text;
        while let Some((_, after)) = rest.split_once(fence) {
            // The closing fence is at the start of a line.
            let inner = after.split_once("\n```").map_or(after, |(inner, _)| inner);
            if let Some(value) = object(inner.trim()) {
                return Some(value);
            }
            rest = after;
        }
    }
    // The number of attempts is limited: a text of many opening braces would take quadratic time.
    text.match_indices('{').take(50).find_map(|(at, _)| object(balanced(text.get(at..)?)?))
}

/// The text from an opening brace to the matching closing one.
fn balanced(text: &str) -> Option<&str> {
    let (mut depth, mut inside, mut escaped) = (0usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if inside => escaped = true,
            b'"' => inside = !inside,
            b'{' if !inside => depth += 1,
            b'}' if !inside => {
                depth -= 1;
                if depth == 0 {
                    return text.get(..=at);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::role::integration::DesignResponse;
    use crate::role::responses::{AnalysisResponse, EditsResponse};
    use crate::role::test_plan::SurveyResponse;
    use crate::role::test_writer::{GenerateResponse, JudgeResponse};
    use proptest::prelude::{prop_assert, proptest};

    #[test]
    fn json_is_found_wherever_a_model_puts_it() {
        let inner = r#"{"task_id": "t", "approach": "a } in \" text"}"#;
        for text in [
            inner.to_owned(),
            format!("Sure!\n```json\n{inner}\n```\nDone."),
            format!("```\n{inner}\n```"),
            format!("I think {{this}} is it: {inner} and so on"),
            format!("\n\n  {inner}  "),
        ] {
            let read: AnalysisResponse = parse(&text, "t").unwrap();
            assert_eq!(read.approach, "a } in \" text", "{text}");
        }
    }

    #[test]
    fn what_is_no_answer_has_a_reason() {
        let bomb = "{\"a\":".repeat(100_000);
        let table = [
            ("", "empty"),
            ("I cannot help with that.", "no JSON"),
            (bomb.as_str(), "no JSON"),
            ("[1, 2]", "no JSON"),
            (r#"{"task_id": "other"}"#, "another task"),
            (r#"{"modification_points": 5}"#, "wrong field"),
            (r#"Here: {"hello": 1}"#, "no JSON"),
            (r#"{"root_causes": [{"tests": [], "cause": "x", "file": "a.py"}, {"te"#, "no JSON"),
            (
                r#"{"edits": [{"file": "a.py", "search": "x", "replace": "y", "reason": "z"}, "#,
                "no JSON",
            ),
            (r#"{"confidence_score": "high"}"#, "wrong field"),
        ];
        for (text, expected) in table {
            let error = parse::<AnalysisResponse>(text, "t").unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn a_text_is_a_list_of_one_where_texts_are_listed() {
        let text = r#"{"modification_points": "a.py:f:1-2", "affected_tests": "", "root_causes": [{"tests": "t"}]}"#;
        let read: AnalysisResponse = parse(text, "t").unwrap();
        assert_eq!(read.modification_points, ["a.py:f:1-2"]);
        assert!(read.affected_tests.is_empty());
        assert_eq!(read.root_causes[0].tests, ["t"]);
    }

    #[test]
    fn the_form_is_strict_and_has_no_references() {
        let schemas = [
            json_schema::<AnalysisResponse>(),
            json_schema::<EditsResponse>(),
            json_schema::<SurveyResponse>(),
            json_schema::<DesignResponse>(),
            json_schema::<GenerateResponse>(),
            json_schema::<JudgeResponse>(),
        ];
        for text in schemas.map(|schema| schema.to_string()) {
            // Keywords that the strict mode of a provider refuses.
            for word in ["$ref", "oneOf", "allOf", "minimum", "maximum", "pattern", "default"] {
                assert!(!text.contains(&format!("\"{word}\":")), "{word}: {text}");
            }
            assert!(text.contains("\"additionalProperties\":false"), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_answer_makes_it_panic(text in r#"[\{\}"\\a:,\n` ]{0,200}"#) {
            let read: Result<EditsResponse, _> = parse(&text, "t");
            let braces = text.contains('{');
            prop_assert!(read.is_err() || braces);
        }
    }

    #[test]
    fn a_confidence_lies_between_0_and_1() {
        let table = [("0", true), ("0.5", true), ("1", true), ("-0.1", false), ("1.01", false)];
        for (number, expected) in table {
            let text = format!("{{\"confidence_score\": {number}}}");
            let confidence_of = |analysis: &AnalysisResponse| analysis.confidence_score;
            let parsed = parse_with_confidence(&text, "t", confidence_of);
            assert_eq!(parsed.is_ok(), expected, "{number}");
        }
    }

    /// Parses a text as a certain response type and drops the value.
    type Parser = fn(&str) -> Result<(), String>;

    const RESPONSES: &[(&str, Parser, &str)] = &[
        ("analysis", |text| parse::<AnalysisResponse>(text, "t").map(drop), "root_causes"),
        ("edits", |text| parse::<EditsResponse>(text, "t").map(drop), "new_files"),
        ("survey", |text| parse::<SurveyResponse>(text, "t").map(drop), "files"),
        ("design", |text| parse::<DesignResponse>(text, "t").map(drop), "scenarios"),
        ("tests", |text| parse::<GenerateResponse>(text, "t").map(drop), "covers"),
        ("verdicts", |text| parse::<JudgeResponse>(text, "t").map(drop), "verdicts"),
    ];

    #[test]
    fn every_response_may_lack_fields_and_have_unknown_ones() {
        for (name, parser, list) in RESPONSES {
            for text in ["{}", "{\"task_id\": \"t\"}", "{\"task_id\": \"\", \"unknown\": [1, {}]}"]
            {
                assert_eq!(parser(text), Ok(()), "{name}: {text}");
            }
            assert_eq!(parser(&format!("{{\"{list}\": []}}")), Ok(()), "{name}");
            assert_eq!(parser(&format!("{{\"{list}\": [{{}}]}}")), Ok(()), "{name}: empty entry");
        }
    }

    #[test]
    fn every_response_names_a_wrong_field() {
        for (name, parser, list) in RESPONSES {
            for wrong in ["5", "\"text\"", "[5]", "{}", "null"] {
                let error = parser(&format!("{{\"{list}\": {wrong}}}")).unwrap_err();
                assert!(error.starts_with("the answer has a wrong field"), "{name}: {error}");
            }
            let other = parser("{\"task_id\": \"another\\u0007 task\"}").unwrap_err();
            assert_eq!(other, "the answer is about another task (`another task`)", "{name}");
        }
    }

    #[test]
    fn schemas_allow_what_their_types_write() {
        let table = [
            (json_schema::<AnalysisResponse>(), serde_json::to_value(AnalysisResponse::default())),
            (json_schema::<EditsResponse>(), serde_json::to_value(EditsResponse::default())),
            (json_schema::<SurveyResponse>(), serde_json::to_value(SurveyResponse::default())),
            (json_schema::<DesignResponse>(), serde_json::to_value(DesignResponse::default())),
            (json_schema::<GenerateResponse>(), serde_json::to_value(GenerateResponse::default())),
            (json_schema::<JudgeResponse>(), serde_json::to_value(JudgeResponse::default())),
        ];
        for (schema, value) in table {
            let value = value.unwrap();
            let validator = jsonschema::validator_for(&schema).unwrap();
            assert!(validator.is_valid(&value), "{value}");
        }
    }

    proptest! {
        #[test]
        fn an_object_is_found_in_any_prose(
            before in "[a-z .`\n]{0,60}", after in "[a-z .`\n]{0,60}", value in "[a-z {}\"]{0,20}",
        ) {
            let object = serde_json::json!({ "task_id": "t", "approach": value });
            let text = format!("{before}{object}{after}");
            prop_assert!(find_json(&text, &|name| name == "approach") == Some(object), "{}", text);
        }
    }

    #[test]
    fn a_truncated_answer_is_refused_at_every_byte() {
        let whole = serde_json::json!({
            "task_id": "IMPL-fix-1",
            "edits": [{ "file": "a.py", "search": "{\"x\"}", "replace": "}", "reason": "é" }],
            "notes": "done",
        })
        .to_string();
        for end in (1..whole.len()).filter(|end| whole.is_char_boundary(*end)) {
            let parsed = parse::<crate::role::responses::EditsResponse>(
                whole.get(..end).unwrap(),
                "IMPL-fix-1",
            );
            assert!(parsed.is_err(), "{end}");
        }
    }

    #[test]
    fn an_answer_of_a_hostile_size_is_refused() {
        let table = [
            "{".repeat(200_000),
            "[".repeat(200_000),
            format!("{{\"a\": {}", "\"".repeat(200_001)),
        ];
        for text in table {
            assert!(parse::<serde_json::Value>(&text, "x").is_err());
        }
    }
}
