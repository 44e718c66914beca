//! GitHub's own `OpenAPI` description: which requests exist, whether a request is valid, and
//! answers that are built from its schemas.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, OnceLock};

use serde_json::{Map, Value, json};

/// Extract of `@octokit/openapi`, see tests/data/SOURCES.md.
const TEXT: &str = include_str!("../../../data/openapi/github-openapi-subset.json");

/// The description, parsed once.
pub struct Contract {
    document: Value,
    /// Its components as JSON Schema, without keywords that only `OpenAPI` knows.
    components: Value,
    validators: Mutex<HashMap<String, Arc<jsonschema::Validator>>>,
}

/// The operation that a request addresses.
pub struct Operation<'a> {
    /// Path template with names in braces.
    pub template: &'a str,
    /// The values of those names, decoded.
    pub values: BTreeMap<String, String>,
    node: &'a Value,
}

/// The description, shared by all tests.
pub fn contract() -> &'static Contract {
    static CONTRACT: OnceLock<Contract> = OnceLock::new();
    CONTRACT.get_or_init(|| {
        let document: Value = serde_json::from_str(TEXT).expect("the description is JSON");
        let components = plain(&document["components"]);
        Contract { document, components, validators: Mutex::default() }
    })
}

impl Contract {
    /// The operation for a method and a raw path; of several, the one with the most fixed segments.
    pub fn operation(&self, method: &str, path: &str) -> Option<Operation<'_>> {
        let segments: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        let paths = self.document["paths"].as_object()?;
        paths
            .iter()
            .filter_map(|(template, node)| {
                let node = node.get(method.to_lowercase())?;
                let (fixed, values) = fit(template, &segments)?;
                Some((fixed, Operation { template, values, node }))
            })
            .max_by_key(|(fixed, _)| *fixed)
            .map(|(_, operation)| operation)
    }

    /// Errors in a request.
    pub fn request_faults(
        &self,
        operation: &Operation<'_>,
        query: &[(String, String)],
        body: Option<&Value>,
    ) -> Vec<String> {
        let mut faults = Vec::new();
        let parameters: Vec<&Value> = operation.node["parameters"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|one| self.resolve(one))
            .collect();
        for (name, value) in query {
            let known = parameters.iter().find(|one| one["in"] == "query" && one["name"] == **name);
            match known {
                Some(known) => faults.extend(self.text_faults(name, value, &known["schema"])),
                None => faults.push(format!("the query has no `{name}`")),
            }
            if name == "per_page" && value.parse::<u32>().map_or(true, |size| size > 100) {
                faults.push(format!("a page of {value}"));
            }
        }
        for parameter in &parameters {
            let name = parameter["name"].as_str().unwrap_or_default();
            if parameter["in"] == "path"
                && let Some(value) = operation.values.get(name)
            {
                faults.extend(self.text_faults(name, value, &parameter["schema"]));
            }
            if parameter["in"] == "query"
                && parameter["required"] == true
                && !query.iter().any(|(given, _)| given == name)
            {
                faults.push(format!("the query lacks `{name}`"));
            }
        }
        let schema = &operation.node["requestBody"]["content"]["application/json"]["schema"];
        match (body, schema.is_null()) {
            (Some(_), true) => faults.push("it takes no body".into()),
            (Some(body), false) => {
                let name = format!("{} body", operation.node["operationId"]);
                faults.extend(self.faults(&name, schema, body));
                self.unknown(schema, body, "", &mut faults);
            }
            (None, false) if operation.node["requestBody"]["required"] == true => {
                faults.push("it has no body".into());
            }
            (None, _) => {}
        }
        faults
    }

    /// The schema of an answer; `None` where the description has none.
    fn answer_schema<'a>(&'a self, operation: &Operation<'a>, status: u16) -> Option<&'a Value> {
        let answer = operation.node["responses"].get(status.to_string())?;
        self.resolve(answer)["content"].get("application/json")?.get("schema")
    }

    /// An answer that is built from the schema, with the values of `known` in it.
    pub fn answer(&self, operation: &Operation<'_>, status: u16, known: &Value) -> Value {
        match self.answer_schema(operation, status) {
            Some(schema) => self.fill(schema, known, 0),
            None => known.clone(),
        }
    }

    /// Errors in an answer. The description does not allow `null` for the repository of a deleted
    /// fork, but GitHub sends it.
    pub fn answer_faults(
        &self,
        operation: &Operation<'_>,
        status: u16,
        body: &Value,
    ) -> Vec<String> {
        let Some(schema) = self.answer_schema(operation, status) else { return Vec::new() };
        let mut body = body.clone();
        let pulls: Vec<&mut Value> = match &mut body {
            Value::Array(list) => list.iter_mut().collect(),
            other => vec![other],
        };
        for pull in pulls {
            if pull["head"].is_object() && pull["head"]["repo"].is_null() {
                pull["head"]["repo"] = pull["base"]["repo"].clone();
            }
        }
        let name = format!("{} {status}", operation.node["operationId"]);
        self.faults(&name, schema, &body)
    }

    fn resolve<'a>(&'a self, node: &'a Value) -> &'a Value {
        match node["$ref"].as_str() {
            Some(reference) => self
                .document
                .pointer(reference.trim_start_matches('#'))
                .unwrap_or_else(|| panic!("the description has no {reference}")),
            None => node,
        }
    }

    fn faults(&self, name: &str, schema: &Value, value: &Value) -> Vec<String> {
        let known = self.validators.lock().expect("no panic").get(name).cloned();
        let validator = known.unwrap_or_else(|| {
            let whole = json!({ "components": self.components, "allOf": [plain(schema)] });
            let built = jsonschema::options()
                .with_draft(jsonschema::Draft::Draft7)
                .should_validate_formats(false)
                .build(&whole)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            let built = Arc::new(built);
            self.validators.lock().expect("no panic").insert(name.to_owned(), Arc::clone(&built));
            built
        });
        validator
            .iter_errors(value)
            .map(|error| {
                let text: String = error.to_string().chars().take(300).collect();
                format!("{name}: {} {text}", error.instance_path())
            })
            .collect()
    }

    /// Errors in a text of the URL, compared with its type.
    fn text_faults(&self, name: &str, text: &str, schema: &Value) -> Vec<String> {
        let schema = self.resolve(schema);
        let typed = match schema["type"].as_str() {
            Some("integer") => text.parse::<i64>().map(Value::from).ok(),
            Some("boolean") => text.parse::<bool>().map(Value::from).ok(),
            _ => Some(Value::from(text)),
        };
        let listed =
            |typed: &Value| schema["enum"].as_array().is_none_or(|allowed| allowed.contains(typed));
        if typed.as_ref().is_some_and(listed) {
            Vec::new()
        } else {
            vec![format!("`{name}` cannot be `{text}`")]
        }
    }

    /// Fields that the description does not know; GitHub ignores them, so they are mistakes.
    fn unknown(&self, schema: &Value, value: &Value, at: &str, faults: &mut Vec<String>) {
        let schema = self.resolve(schema);
        if let Some(list) = value.as_array() {
            for one in list {
                self.unknown(&schema["items"], one, at, faults);
            }
        }
        let (Some(fields), Some(properties)) =
            (value.as_object(), schema["properties"].as_object())
        else {
            return;
        };
        for (name, inner) in fields {
            let path = format!("{at}/{name}");
            match properties.get(name) {
                Some(schema) => self.unknown(schema, inner, &path, faults),
                None => faults.push(format!("the body has no `{path}`")),
            }
        }
    }

    /// `known`, completed with everything that the schema requires.
    fn fill(&self, schema: &Value, known: &Value, depth: usize) -> Value {
        let schema = self.object_of(self.resolve(schema));
        match known {
            Value::Object(fields) => {
                let mut whole = match self.sample(schema, depth, true) {
                    Value::Object(whole) => whole,
                    _ => Map::new(),
                };
                for (name, value) in fields {
                    let filled = self.fill(&schema["properties"][name], value, depth + 1);
                    whole.insert(name.clone(), filled);
                }
                Value::Object(whole)
            }
            Value::Array(list) => {
                list.iter().map(|one| self.fill(&schema["items"], one, depth + 1)).collect()
            }
            other => other.clone(),
        }
    }

    /// The first of several alternatives that is an object.
    fn object_of<'a>(&'a self, schema: &'a Value) -> &'a Value {
        ["oneOf", "anyOf"]
            .iter()
            .filter_map(|word| schema[word].as_array())
            .flatten()
            .map(|one| self.resolve(one))
            .find(|one| one["properties"].is_object() && schema["properties"].is_null())
            .unwrap_or(schema)
    }

    /// The smallest value that a schema allows; `null` wherever that is allowed.
    fn sample(&self, schema: &Value, depth: usize, present: bool) -> Value {
        let schema = self.resolve(schema);
        assert!(depth < 40, "the description turns in a circle");
        if schema["nullable"] == true && !present {
            return Value::Null;
        }
        if let Some(first) = schema["enum"].as_array().and_then(|list| list.first()) {
            return first.clone();
        }
        let alternative = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array());
        match schema["type"].as_str() {
            Some("integer" | "number") => schema["minimum"].as_i64().unwrap_or(1).into(),
            Some("boolean") => false.into(),
            Some("array") => json!([]),
            Some("string") => match schema["format"].as_str() {
                Some("date-time") => "2026-11-21T10:00:00Z".into(),
                Some("uri") => "https://example.invalid/x".into(),
                Some("email") => "nobody@example.invalid".into(),
                _ => "x".into(),
            },
            None if alternative.is_some() && schema["properties"].is_null() => alternative
                .and_then(|list| list.first())
                .map_or(Value::Null, |first| self.sample(first, depth + 1, false)),
            _ => schema["required"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .map(|name| {
                    (name.to_owned(), self.sample(&schema["properties"][name], depth + 1, false))
                })
                .collect::<Map<_, _>>()
                .into(),
        }
    }
}

/// Matches a path with a template: the number of fixed segments, and the values of the names. A
/// name at the end may cover several segments, as branches do.
fn fit(template: &str, segments: &[&str]) -> Option<(usize, BTreeMap<String, String>)> {
    let parts: Vec<&str> = template.trim_start_matches('/').split('/').collect();
    let name = |part: &str| -> Option<String> {
        Some(part.strip_prefix('{')?.strip_suffix('}')?.to_owned())
    };
    let long = parts.last().is_some_and(|last| matches!(*last, "{ref}" | "{path}" | "{branch}"));
    if segments.len() < parts.len() || (segments.len() > parts.len() && !long) {
        return None;
    }
    let (mut fixed, mut values) = (0, BTreeMap::new());
    for (index, part) in parts.iter().enumerate() {
        match name(part) {
            Some(name) => {
                let end = if index + 1 == parts.len() { segments.len() } else { index + 1 };
                values.insert(name, decoded(&segments[index..end].join("/")));
            }
            None if *part == segments[index] => fixed += 1,
            None => return None,
        }
    }
    Some((fixed, values))
}

/// Text of a URL with its `%XX` decoded.
pub fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let pair = (byte == b'%').then(|| [rest.next(), rest.next()]);
        match pair {
            Some([Some(high), Some(low)]) => {
                let digits = [high, low];
                let digits = std::str::from_utf8(&digits).expect("two digits");
                bytes.push(u8::from_str_radix(digits, 16).expect("two hexadecimal digits"));
            }
            _ => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).expect("an address is UTF-8")
}

/// Converts a schema of the description to JSON Schema: `nullable` becomes a type.
fn plain(schema: &Value) -> Value {
    match schema {
        Value::Array(list) => list.iter().map(plain).collect(),
        Value::Object(fields) => {
            let mut result: Map<String, Value> = fields
                .iter()
                .filter(|(name, value)| !(*name == "nullable" && value.is_boolean()))
                .map(|(name, value)| (name.clone(), plain(value)))
                .collect();
            if fields.get("nullable") == Some(&Value::Bool(true)) {
                if let Some(Value::String(kind)) = result.get("type").cloned() {
                    result.insert("type".into(), json!([kind, "null"]));
                }
                if let Some(Value::Array(list)) = result.get_mut("enum") {
                    list.push(Value::Null);
                }
                for word in ["oneOf", "anyOf"] {
                    if let Some(Value::Array(list)) = result.get_mut(word) {
                        list.push(json!({ "type": "null" }));
                    }
                }
            }
            Value::Object(result)
        }
        other => other.clone(),
    }
}
