//! Classifies a project by type and language and describes its conventions (specification.md 6.5).

use std::collections::BTreeMap;

use serde_json::Value;

use crate::code::language::Language;
use crate::code::test_paths;
use crate::domain::id::RepoPath;
use crate::domain::test_plan::context::{ExternalDependency, ProjectPatterns};

use super::survey::Survey;

/// The type of a project, with the evidence for it.
#[derive(Clone, Debug, PartialEq)]
pub struct ProjectType {
    pub name: String,
    pub confidence: f64,
    pub evidence: Vec<String>,
}

/// A file name, a word in that file, and the project type that the word implies.
type Sign = (&'static str, &'static str, &'static str);

/// Project types by evidence; the first match wins. A word is quoted or starts a requirement.
const SIGNS: &[Sign] = &[
    ("package.json", "\"workspaces\"", "Monorepo"),
    ("package.json", "\"next\"", "Full-Stack"),
    ("package.json", "\"react\"", "React"),
    ("package.json", "\"vue\"", "Vue"),
    ("package.json", "\"@angular/core\"", "Angular"),
    ("package.json", "\"express\"", "Node API"),
    ("package.json", "\"fastify\"", "Node API"),
    ("package.json", "\"koa\"", "Node API"),
    ("package.json", "\"@hapi/hapi\"", "Node API"),
    ("package.json", "\"bin\"", "CLI"),
    ("pyproject.toml", "fastapi", "API"),
    ("pyproject.toml", "flask", "API"),
    ("pyproject.toml", "django", "API"),
    ("requirements.txt", "fastapi", "API"),
    ("requirements.txt", "flask", "API"),
    ("requirements.txt", "Flask", "API"),
    ("requirements.txt", "django", "API"),
    ("requirements.txt", "Django", "API"),
    ("pyproject.toml", "[project.scripts]", "CLI"),
    ("Cargo.toml", "[workspace]", "Monorepo"),
    ("Cargo.toml", "axum", "API"),
    ("Cargo.toml", "actix-web", "API"),
    ("Cargo.toml", "clap", "CLI"),
    ("pom.xml", "<modules>", "Monorepo"),
    ("pom.xml", "spring-boot", "API"),
    ("go.mod", "github.com/gin-gonic/gin", "API"),
    ("go.mod", "github.com/spf13/cobra", "CLI"),
];

/// Determines the project type.
pub fn classify(survey: &Survey) -> ProjectType {
    let language = languages(survey).into_iter().next().unwrap_or_default();
    let named = |kind: &str| format!("{kind} ({language})");
    for (file, word, kind) in SIGNS {
        let path = RepoPath::parse(*file).ok();
        if path.is_some_and(|path| survey.text(&path).contains(word)) {
            let evidence = vec![format!("{} in {file}", word.trim_matches('"'))];
            return ProjectType { name: named(kind), confidence: 0.9, evidence };
        }
    }
    let entry = survey.known.keys().find(|file| {
        matches!(file.file_name(), "main.rs" | "main.go" | "__main__.py" | "cli.py" | "cli.js")
    });
    if let Some(entry) = entry {
        let evidence = vec![format!("the entry point {entry}")];
        return ProjectType { name: named("CLI"), confidence: 0.7, evidence };
    }
    let manifest = survey.names.iter().find(|file| {
        matches!(
            file.as_str(),
            "package.json" | "pyproject.toml" | "setup.py" | "Cargo.toml" | "go.mod" | "pom.xml"
        )
    });
    match manifest {
        Some(manifest) => ProjectType {
            name: named("Library"),
            confidence: 0.7,
            evidence: vec![format!("{manifest} without an entry point")],
        },
        None => ProjectType {
            name: named("Library"),
            confidence: 0.4,
            evidence: vec!["no manifest and no entry point".to_owned()],
        },
    }
}

/// The languages of the sources, those with most files first.
pub fn languages(survey: &Survey) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for file in survey.known.keys() {
        if let Some(language) = Language::of(file) {
            *counts.entry(language.name()).or_default() += 1;
        }
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    counts.into_iter().map(|(name, _)| name.to_owned()).collect()
}

/// The top-level folders with their number of sources, largest first.
pub fn structure(survey: &Survey) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for file in survey.known.keys() {
        let top = file.as_str().split_once('/').map_or(".", |(top, _)| top);
        *counts.entry(top.to_owned()).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    counts.into_iter().take(12).map(|(top, count)| format!("{top}/: {count}")).collect()
}

/// How the project is written, as counts over the chosen sources show.
pub fn patterns(survey: &Survey, files: &[RepoPath]) -> ProjectPatterns {
    let count = |signs: &[&str]| -> usize {
        let texts = files.iter().map(|file| survey.text(file));
        texts.map(|text| signs.iter().map(|sign| text.matches(sign).count()).sum::<usize>()).sum()
    };
    let exceptions = count(&["raise ", "throw "]);
    let values = count(&["Err(", "Result<", "errors.New(", "fmt.Errorf("]);
    let asynchronous = count(&["async ", "go func", "Promise"]);
    ProjectPatterns {
        architecture: structure(survey).join(", "),
        error_handling: match (exceptions, values) {
            (0, 0) => "none seen".into(),
            (thrown, values) if thrown >= values => format!("exceptions ({thrown})"),
            (_, values) => format!("errors as values ({values})"),
        },
        async_pattern: if asynchronous == 0 {
            "none seen".into()
        } else {
            format!("asynchronous code ({asynchronous})")
        },
    }
}

/// The naming style in the chosen sources.
pub fn naming(survey: &Survey, files: &[RepoPath]) -> Vec<String> {
    let (mut snake, mut camel) = (0_usize, 0_usize);
    for name in files.iter().filter_map(|file| survey.known.get(file)).flatten() {
        let short = name.rsplit('.').next().unwrap_or(name);
        snake += usize::from(short.contains('_'));
        camel += usize::from(!short.contains('_') && short.chars().skip(1).any(char::is_uppercase));
    }
    match (snake, camel) {
        (0, 0) => Vec::new(),
        (snake, camel) if snake >= camel => vec![format!("functions in snake_case ({snake})")],
        (_, camel) => vec![format!("functions in camelCase ({camel})")],
    }
}

/// The packages in the manifest, with the chosen files that use each.
pub fn external(survey: &Survey, files: &[RepoPath]) -> Vec<ExternalDependency> {
    let mut usage: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files {
        let Some(language) = Language::of(file) else { continue };
        for package in crate::code::behaviour::packages(language, survey.text(file)) {
            usage.entry(package).or_default().push(file.to_string());
        }
    }
    let package = RepoPath::parse("package.json").ok();
    let package: Option<Value> =
        package.and_then(|path| serde_json::from_str(survey.text(&path)).ok());
    let own: Vec<&str> =
        survey.known.keys().filter_map(|file| file.as_str().split(['/', '.']).next()).collect();
    usage
        .into_iter()
        .filter(|(name, _)| !own.contains(&name.as_str()))
        .map(|(name, files)| {
            let version = package.as_ref().and_then(|package| {
                ["dependencies", "devDependencies"]
                    .iter()
                    .find_map(|key| package[key][&name].as_str().map(str::to_owned))
            });
            ExternalDependency {
                package: name,
                version: version.unwrap_or_default(),
                usage: files.into_iter().take(5).collect::<Vec<_>>().join(", "),
            }
        })
        .take(60)
        .collect()
}

/// The kind of asset that a file is, such as test, documentation or source.
pub fn asset_kind(file: &RepoPath) -> &'static str {
    if test_paths::is_test(file) {
        "existing_test"
    } else if file.extension() == "md" {
        "documentation"
    } else if Language::of(file).is_some() {
        "source_code"
    } else {
        "config"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn survey(files: &[(&str, &str)]) -> Survey {
        let texts: BTreeMap<RepoPath, String> = files
            .iter()
            .map(|(name, text)| (RepoPath::parse(*name).unwrap(), (*text).to_owned()))
            .collect();
        Survey::of(texts.keys().cloned().collect(), texts)
    }

    const PYTHON: (&str, &str) = ("shop/price.py", "def price(text):\n    return 1\n");

    #[test]
    fn the_kind_of_a_project_has_evidence() {
        let table: [(&str, &str, &str, f64); 6] = [
            ("package.json", "{\"react\": 1}", "React (Python)", 0.9),
            ("pyproject.toml", "dependencies = [\"flask\"]", "API (Python)", 0.9),
            ("pyproject.toml", "[project.scripts]", "CLI (Python)", 0.9),
            ("pyproject.toml", "[project]", "Library (Python)", 0.7),
            ("cli.py", "def run():\n    return 1\n", "CLI (Python)", 0.7),
            ("notes.txt", "", "Library (Python)", 0.4),
        ];
        for (file, text, name, confidence) in table {
            let found = classify(&survey(&[PYTHON, (file, text)]));
            assert_eq!(found.name, name, "{file}: {text}");
            assert!((found.confidence - confidence).abs() < 1e-9, "{file}: {found:?}");
            assert_eq!(found.evidence.len(), 1, "{file}");
        }
    }

    #[test]
    fn style_comes_from_counts() {
        let files = [
            ("a.py", "def one_two():\n    raise ValueError(1)\n"),
            ("b.js", "export async function oneTwo() {\n  return 1;\n}\n"),
        ];
        let survey = survey(&files);
        let path = |name: &str| RepoPath::parse(name).unwrap();
        assert_eq!(naming(&survey, &[path("a.py")]), ["functions in snake_case (1)"]);
        assert_eq!(naming(&survey, &[path("b.js")]), ["functions in camelCase (1)"]);
        assert_eq!(naming(&survey, &[]), Vec::<String>::new());
        assert_eq!(patterns(&survey, &[path("a.py")]).error_handling, "exceptions (1)");
        assert_eq!(patterns(&survey, &[path("b.js")]).error_handling, "none seen");
        assert_eq!(patterns(&survey, &[path("b.js")]).async_pattern, "asynchronous code (1)");
        assert_eq!(languages(&survey).len(), 2);
    }

    #[test]
    fn assets_have_a_kind() {
        let table = [
            ("tests/test_a.py", "existing_test"),
            ("README.md", "documentation"),
            ("shop/a.py", "source_code"),
            ("setup.cfg", "config"),
        ];
        for (name, expected) in table {
            assert_eq!(asset_kind(&RepoPath::parse(name).unwrap()), expected, "{name}");
        }
    }

    #[test]
    fn external_packages_have_versions_and_users() {
        let survey = survey(&[
            ("package.json", "{\"dependencies\": {\"axios\": \"^1.2.0\"}}"),
            (
                "lib/a.js",
                "import axios from 'axios';\nexport function get() {\n  return axios;\n}\n",
            ),
        ]);
        let found = external(&survey, &[RepoPath::parse("lib/a.js").unwrap()]);
        assert_eq!(found.len(), 1, "{found:?}");
        let one = &found[0];
        assert_eq!((one.package.as_str(), one.version.as_str()), ("axios", "^1.2.0"));
        assert_eq!(one.usage, "lib/a.js");
    }

    #[test]
    fn folders_and_languages_come_largest_first() {
        let names = ["shop/a.py", "shop/b.py", "web/c.js", "d.py"];
        let texts: BTreeMap<RepoPath, String> = names
            .iter()
            .map(|name| (RepoPath::parse(*name).unwrap(), "x = 1\n".to_owned()))
            .collect();
        let survey = Survey::of(texts.keys().cloned().collect(), texts);
        assert_eq!(structure(&survey), ["shop/: 2", "./: 1", "web/: 1"]);
        assert_eq!(languages(&survey), ["Python", "JavaScript"]);
    }
}
