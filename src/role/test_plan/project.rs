//! Classifies a project by type and language and describes its conventions (specification.md 6.5).

use std::collections::BTreeMap;

use crate::code::language::Language;
use crate::domain::id::RepoPath;

use super::survey::Survey;

/// The type of a project, with the evidence for it.
#[derive(Clone, Debug, PartialEq)]
pub struct ProjectType {
    pub name: String,
    /// What shows it, and how surely.
    pub evidence: String,
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
    let of = |kind: &str, evidence: String, percent: u32| ProjectType {
        name: format!("{kind} ({language})"),
        evidence: format!("{evidence} (confidence {percent} %)"),
    };
    for (file, word, kind) in SIGNS {
        let path = RepoPath::parse(*file).ok();
        if path.is_some_and(|path| survey.text(&path).contains(word)) {
            return of(kind, format!("{} in {file}", word.trim_matches('"')), 90);
        }
    }
    let entry = survey.known.keys().find(|file| {
        matches!(file.file_name(), "main.rs" | "main.go" | "__main__.py" | "cli.py" | "cli.js")
    });
    if let Some(entry) = entry {
        return of("CLI", format!("the entry point {entry}"), 70);
    }
    let manifests =
        ["package.json", "pyproject.toml", "setup.py", "Cargo.toml", "go.mod", "pom.xml"];
    match survey.names.iter().find(|file| manifests.contains(&file.as_str())) {
        Some(manifest) => of("Library", format!("{manifest} without an entry point"), 70),
        None => of("Library", "no manifest and no entry point".to_owned(), 40),
    }
}

/// The languages of the sources, those with most files first.
fn languages(survey: &Survey) -> Vec<String> {
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
        let table = [
            ("package.json", "{\"react\": 1}", "React (Python)", "90"),
            ("pyproject.toml", "dependencies = [\"flask\"]", "API (Python)", "90"),
            ("pyproject.toml", "[project.scripts]", "CLI (Python)", "90"),
            ("pyproject.toml", "[project]", "Library (Python)", "70"),
            ("cli.py", "def run():\n    return 1\n", "CLI (Python)", "70"),
            ("notes.txt", "", "Library (Python)", "40"),
        ];
        for (file, text, name, percent) in table {
            let found = classify(&survey(&[PYTHON, (file, text)]));
            assert_eq!(found.name, name, "{file}: {text}");
            let end = format!("(confidence {percent} %)");
            assert!(found.evidence.ends_with(&end), "{file}: {found:?}");
        }
    }
}
