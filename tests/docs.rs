//! Checks that the documents name only what exists. `REGREEN_BLESS=1` writes generated parts.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the test reads the docs of this project and asks the binary for its help"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// README, CONTRIBUTING, and the pages in `docs`.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md"), root().join("CONTRIBUTING.md")];
    for entry in fs::read_dir(root().join("docs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "md") {
            pages.push(path);
        }
    }
    pages
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

fn yaml(text: &str) -> serde_yaml::Value {
    serde_yaml::from_str(text).unwrap()
}

/// Compares the generated part of a page, or writes it when `REGREEN_BLESS` is set.
fn generated(page: &str, name: &str, part: &str) {
    let text = read(page);
    let (start, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
    let (before, rest) = text.split_once(&start).expect("a place for the part");
    let (_, after) = rest.split_once(&end).expect("the end of the part");
    let current = format!("{before}{start}{part}{end}{after}");
    if std::env::var("REGREEN_BLESS").is_ok() {
        fs::write(root().join(page), current).unwrap();
    } else {
        assert_eq!(text, current, "run the test with REGREEN_BLESS=1");
    }
}

/// The rows of `inputs` or `outputs` of `action.yml`.
fn rows(what: &str) -> String {
    let action = yaml(&read("action.yml"));
    let rows = action[what].as_mapping().unwrap().iter().map(|(name, row)| {
        let about = row["description"].as_str().unwrap().replace('|', "\\|");
        format!("| `{}` | {about} |\n", name.as_str().unwrap())
    });
    rows.collect()
}

/// The values that a setting may have, from its property in the schema.
fn values(schema: &Value, property: &Value) -> String {
    let definition = definition(schema, property).unwrap_or(&Value::Null);
    let mut words = Vec::new();
    for place in [property, definition] {
        let choices = place["oneOf"].as_array().into_iter().flatten();
        for choice in choices.chain([place]) {
            let listed = choice["enum"].as_array().into_iter().flatten();
            let all = listed.chain(choice.get("const")).filter_map(Value::as_str);
            words.extend(all.map(|word| format!("`{word}`")));
        }
    }
    let kinds = property["type"].to_string();
    let list = kinds.contains("array");
    if !words.is_empty() {
        return format!("{}{}", if list { "list of " } else { "" }, words.join(", "));
    }
    let range = match (property["minimum"].as_f64(), property["maximum"].as_f64()) {
        (Some(low), Some(high)) => format!(", {low} to {high}"),
        (Some(low), None) if low > 0.0 => format!(", at least {low}"),
        _ => String::new(),
    };
    let kind = [
        ("array", "list"),
        ("object", "mapping"),
        ("boolean", "`true`, `false`"),
        ("integer", "whole number"),
        ("number", "number"),
        ("string", "text"),
    ];
    let kind = kind.iter().find(|(name, _)| kinds.contains(name));
    format!("{}{range}", kind.map_or("list", |(_, shown)| shown))
}

/// The definition that a property refers to.
fn definition<'a>(schema: &'a Value, property: &Value) -> Option<&'a Value> {
    let text = property.to_string();
    let name = text.split("$defs/").nth(1)?.split('"').next()?.to_owned();
    schema["$defs"].get(name)
}

/// The rows of all settings below an object of the schema.
fn settings(schema: &Value, object: &Value, group: &str, table: &mut String) {
    for (name, property) in object["properties"].as_object().unwrap() {
        let by_name = property.get("additionalProperties").is_some_and(Value::is_object);
        let inner = definition(schema, property).filter(|inner| inner.get("properties").is_some());
        let key = format!("{group}{name}{}", if by_name && inner.is_some() { ".NAME" } else { "" });
        if let Some(inner) = inner {
            settings(schema, inner, &format!("{key}."), table);
            continue;
        }
        let default = match &property["default"] {
            Value::Null => String::new(),
            Value::String(text) => format!("`{text}`"),
            value => format!("`{value}`"),
        };
        let about = property["description"].as_str().unwrap().replace('\n', " ");
        let values = values(schema, property);
        table.push_str(&format!("| `{key}` | {values} | {default} | {about} |\n"));
    }
}

#[test]
fn the_tables_of_inputs_outputs_and_settings_are_those_of_the_code() {
    let page = "docs/settings.md";
    generated(page, "inputs", &format!("| Input | Meaning |\n|---|---|\n{}", rows("inputs")));
    generated(page, "outputs", &format!("| Output | Meaning |\n|---|---|\n{}", rows("outputs")));
    let out =
        Command::new(env!("CARGO_BIN_EXE_regreen")).args(["config", "schema"]).output().unwrap();
    let schema: Value = serde_json::from_slice(&out.stdout).unwrap();
    let mut table = String::from("| Key | Value | Default | Meaning |\n|---|---|---|---|\n");
    settings(&schema, &schema, "", &mut table);
    assert!(table.lines().count() > 60, "{table}");
    generated(page, "settings", &table);
}

#[test]
fn the_readme_and_the_inputs_are_few_enough_to_read() {
    let lines = read("README.md").lines().count();
    assert!(lines < 120, "the README has {lines} lines");
    let action = yaml(&read("action.yml"));
    let inputs = action["inputs"].as_mapping().unwrap().len();
    assert!(inputs <= 15, "{inputs} inputs");
}

/// The help of a verb, or of the program when none is named; `None` for an unknown verb.
fn help(verb: Option<&str>) -> Option<String> {
    let out =
        Command::new(env!("CARGO_BIN_EXE_regreen")).args(verb).arg("--help").output().unwrap();
    out.status.success().then(|| String::from_utf8(out.stdout).unwrap())
}

/// Calls of `regreen` in a text: the verb, and the flags after it.
fn calls(text: &str) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    // In a block of several lines, only lines after a prompt are calls.
    let code = text.split('`').skip(1).step_by(2).filter(|span| !span.contains('\n'));
    let console = text.lines().filter_map(|line| line.strip_prefix("$ "));
    for call in code.chain(console) {
        let call = call.trim_start_matches("$ ").split('#').next().unwrap();
        let Some(rest) = call.strip_prefix("regreen ") else { continue };
        let mut words = rest.split_whitespace();
        let Some(verb) = words.next().filter(|word| word.chars().all(char::is_alphabetic)) else {
            continue;
        };
        let flags = words
            .filter(|word| word.starts_with("--"))
            .map(|word| word.split('=').next().unwrap().trim_end_matches([',', '.']).to_owned());
        found.push((verb.to_owned(), flags.collect()));
    }
    found
}

#[test]
fn verbs_and_flags_in_the_docs_exist() {
    let mut wrong = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for page in pages() {
        for (verb, flags) in calls(&fs::read_to_string(&page).unwrap()) {
            let Some(help) = help(Some(&verb)) else {
                wrong.insert(format!("{}: regreen {verb}", page.display()));
                continue;
            };
            for flag in flags {
                if !help.split([' ', ',', '\n', '=', '[']).any(|word| word == flag) {
                    wrong.insert(format!("{}: regreen {verb} {flag}", page.display()));
                }
            }
            seen.insert(verb);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(seen.contains("fix") && seen.contains("doctor"), "{seen:?}");
    assert_eq!(help(Some("no-such-verb")), None);
}

#[test]
fn links_in_the_docs_lead_somewhere() {
    let (mut wrong, mut count) = (BTreeSet::new(), 0);
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for rest in text.split("](").skip(1) {
            let target = rest.split([')', '#', ' ']).next().unwrap();
            if target.is_empty() || target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            count += 1;
            if !page.parent().unwrap().join(target).exists() {
                wrong.insert(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count > 10, "{count} links");
}

#[test]
fn paths_in_backticks_exist() {
    let mut wrong = BTreeSet::new();
    let mut count = 0;
    // The specification is left out: it names paths of the repositories that regreen works on.
    for page in pages().iter().filter(|page| !page.ends_with("specification.md")) {
        let text = fs::read_to_string(page).unwrap();
        for span in text.split('`').skip(1).step_by(2) {
            let first = span.split('/').next().unwrap_or_default();
            let ours = ["src", "docs", "tests", "benches"].contains(&first);
            // The page about the architecture names files of a room without `src/`.
            let of_room =
                page.ends_with("architecture.md") && root().join("src").join(first).is_dir();
            let plain =
                !span.contains(['<', '*', ' ', '…', '\n', '{', ':']) && !span.contains("NAME");
            if span.contains('/') && (ours || of_room) && plain {
                count += 1;
                let folder = if ours { root().to_owned() } else { root().join("src") };
                if !folder.join(span).exists() {
                    wrong.insert(format!("{}: {span}", page.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count > 20, "{count} paths");
}

/// Names of all tests in the sources.
fn tests() -> BTreeSet<String> {
    let mut folders = vec![root().join("src"), root().join("tests")];
    let mut found = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = fs::read_to_string(path).unwrap();
                let mut marked = false;
                for line in text.lines().map(str::trim) {
                    if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
                        marked = true;
                    } else if let Some((_, rest)) = line.split_once("fn ").filter(|_| marked) {
                        found.insert(rest.split('(').next().unwrap().to_owned());
                        marked = false;
                    }
                }
            }
        }
    }
    found
}

#[test]
fn every_test_that_a_page_relies_on_exists() {
    let known = tests();
    assert!(known.len() > 300, "{} tests", known.len());
    let (mut wrong, mut count) = (BTreeSet::new(), 0);
    for page in ["SECURITY.md", "docs/peers.md", "docs/validation.md"] {
        let text = fs::read_to_string(root().join(page)).unwrap();
        let mut column = None;
        for line in text.lines() {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            if let Some(found) = cells.iter().position(|cell| *cell == "Test") {
                column = Some(found);
                continue;
            }
            let Some(index) = column.filter(|_| line.starts_with('|')) else {
                column = None;
                continue;
            };
            let cell = cells.get(index).copied().unwrap_or_default();
            if cell.starts_with("---") || matches!(cell, "the same two" | "the same four") {
                continue;
            }
            let names: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
            if names.is_empty() {
                wrong.insert(format!("{page}: no test in `{line}`"));
            }
            count += names.len();
            let unknown = names.iter().filter(|name| !known.contains(**name));
            wrong.extend(unknown.map(|name| format!("{page}: {name}")));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count > 70, "{count} tests named");
    let demands = fs::read_to_string(root().join("docs/peers.md")).unwrap();
    assert!(
        (1..=26).all(|number| demands.contains(&format!("\n| {number} | "))),
        "a demand is missing"
    );
}

#[test]
fn the_workflow_of_the_docs_is_the_example() {
    let example = read("examples/workflows/regreen.yml");
    generated("docs/github.md", "workflow", &format!("```yaml\n{example}```\n"));
}

/// The steps of a workflow.
fn steps(workflow: &serde_yaml::Value) -> Vec<serde_yaml::Value> {
    let jobs = workflow["jobs"].as_mapping().unwrap();
    jobs.values().flat_map(|job| job["steps"].as_sequence().unwrap().clone()).collect()
}

/// Checks that the inputs that workflows and documents name exist.
#[test]
fn inputs_in_workflows_exist() {
    let action = yaml(&read("action.yml"));
    let known = action["inputs"].as_mapping().unwrap();
    let readme = read("README.md");
    let short = readme.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap().to_owned();
    assert!(short.lines().count() <= 25, "the workflow of the README is too long");
    let parsed = yaml(&short);
    for event in ["pull_request", "issue_comment", "workflow_dispatch"] {
        assert!(parsed["on"].as_mapping().unwrap().contains_key(event), "{event} starts nothing");
    }
    assert!(parsed["permissions"].as_mapping().unwrap().is_empty());
    let job = &parsed["jobs"]["repair"];
    for permission in ["contents", "pull-requests", "checks", "issues"] {
        assert_eq!(job["permissions"][permission].as_str(), Some("write"), "{permission}");
    }
    let mut count = 0;
    let examples = ["regreen.yml", "regreen-forks.yml"]
        .map(|name| yaml(&read(&format!("examples/workflows/{name}"))));
    for step in [parsed].iter().chain(&examples).flat_map(steps) {
        if step["uses"].as_str().unwrap().starts_with("regreen/regreen@") {
            let given = step.get("with").and_then(|with| with.as_mapping());
            for name in given.into_iter().flat_map(|with| with.keys()) {
                assert!(known.contains_key(name), "there is no input {name:?}");
                count += 1;
            }
        }
    }
    assert!(count > 4, "{count} inputs");
}

/// Phrases that read like a translation.
const FORBIDDEN: &[&str] = &[
    "give that word",
    "is told",
    "are told",
    "waits for a word",
    "wait for a word",
    "not for sale",
    "goes on",
    "go on with",
    "anew",
    "whoever",
    "mend",
    "came of",
    "comes of",
    "turned round",
    "broken version",
    "broken versions",
    "nobody can say",
    "when nothing is said",
];

#[test]
fn documents_and_help_use_plain_english() {
    let mut texts: Vec<(String, String)> = pages()
        .iter()
        .filter(|page| !page.ends_with("specification.md"))
        .map(|page| (page.display().to_string(), fs::read_to_string(page).unwrap()))
        .collect();
    texts.push(("action.yml".into(), read("action.yml")));
    let all = help(None).unwrap();
    let verbs = all.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
    let verbs = verbs.take_while(|line| !line.is_empty());
    for verb in verbs.filter_map(|line| line.split_whitespace().next()) {
        if let Some(text) = help(Some(verb)) {
            texts.push((format!("regreen {verb} --help"), text));
        }
    }
    assert!(texts.len() > 20, "{} texts", texts.len());
    texts.push(("regreen --help".into(), all));
    let mut wrong = Vec::new();
    for (name, text) in texts {
        let words: String = text
            .to_lowercase()
            .chars()
            .map(|c| if c.is_alphanumeric() || c == '-' || c == '_' { c } else { ' ' })
            .collect();
        let words = format!(" {} ", words.split_whitespace().collect::<Vec<_>>().join(" "));
        for phrase in FORBIDDEN {
            if words.contains(&format!(" {phrase} ")) {
                wrong.push(format!("{name}: {phrase}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_example_workflows_give_nothing_away() {
    let mut count = 0;
    for entry in fs::read_dir(root().join("examples/workflows")).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        let workflow: serde_yaml::Value = serde_yaml::from_str(&text).unwrap();
        assert!(workflow["permissions"].as_mapping().unwrap().is_empty(), "{text}");
        // Some versions of YAML read `on` as a boolean, so this check reads the text.
        assert!(!text.contains("pull_request_target"), "{text}");
        for (_, job) in workflow["jobs"].as_mapping().unwrap() {
            for step in job["steps"].as_sequence().unwrap() {
                count += 1;
                assert!(step.get("run").is_none(), "a script could be fed: {step:?}");
                let uses = step["uses"].as_str().unwrap();
                let (name, version) = uses.split_once('@').unwrap();
                assert!(!name.contains("cache"), "{uses}");
                let pinned = version.len() == 40 || name == "regreen/regreen";
                assert!(pinned, "{uses}");
                if name == "actions/checkout" {
                    assert_eq!(step["with"]["persist-credentials"].as_bool(), Some(false));
                }
                // Nor may a setup action enable a cache of dependencies.
                assert!(step.get("with").is_none_or(|with| with.get("cache").is_none()));
            }
        }
    }
    assert!(count > 5, "{count} steps");
}

/// Numbers of sections, and rows such as `F-087`, that the specification defines.
fn defined(specification: &str) -> BTreeSet<String> {
    let mut known = BTreeSet::new();
    for line in specification.lines() {
        if let Some(title) = line.strip_prefix("## ").or_else(|| line.strip_prefix("### ")) {
            let number = title.split_whitespace().next().unwrap().trim_end_matches('.');
            known.insert(number.to_owned());
        }
        if let Some(row) = line.strip_prefix("| ").and_then(|row| row.split_whitespace().next()) {
            known.insert(row.to_owned());
        }
    }
    known
}

/// Sections and rows of the specification that a text cites.
fn citations(text: &str) -> BTreeSet<String> {
    let sections =
        regex::Regex::new(r"specification\.md,? ((?:[0-9]+\.[0-9]+(?:, | and | to )?)+)").unwrap();
    let number = regex::Regex::new(r"[0-9]+\.[0-9]+").unwrap();
    let rows = regex::Regex::new(r"\b(F-[0-9]{3}|C-[0-9]{2}|X[0-9]{1,2})\b").unwrap();
    let mut cited: BTreeSet<String> =
        rows.find_iter(text).map(|found| found.as_str().into()).collect();
    for behind in sections.captures_iter(text) {
        cited.extend(number.find_iter(&behind[1]).map(|found| found.as_str().to_owned()));
    }
    cited
}

#[test]
fn what_the_code_cites_of_the_specification_exists() {
    let specification = fs::read_to_string(root().join("docs/specification.md")).unwrap();
    let known = defined(&specification);
    let mut missing = BTreeSet::new();
    let mut cited = BTreeSet::new();
    let mut folders =
        vec![root().join("src"), root().join("docs/schemas"), root().join("tests/it")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let Ok(text) = fs::read_to_string(&path) else { continue };
            assert!(
                !text.contains(concat!("product", ".md")),
                "{} cites a page that is not here",
                path.display()
            );
            for citation in citations(&text) {
                if !known.contains(&citation) {
                    missing.insert(format!("{}: {citation}", path.display()));
                }
                cited.insert(citation);
            }
        }
    }
    assert!(missing.is_empty(), "docs/specification.md does not define {missing:#?}");
    assert!(cited.len() > 60, "the reader of citations finds {}", cited.len());
}
