//! Gate 001.3 and the half of gate 001.5 that needs no run: files in, findings and safe repairs out.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::language::Language;
use crate::code::lint::{self, Project};
use crate::domain::id::RepoPath;
use crate::domain::quality::{Finding, Remark, Stage, TestMetrics};
use crate::effect::Concern;

/// What to look at.
pub struct Review<'a> {
    /// Every file of the repository; those that are not read as text are empty.
    pub files: &'a BTreeMap<RepoPath, String>,
    /// The files to look at.
    pub chosen: &'a [&'a RepoPath],
    /// Files inside installed packages that are asked for by path, by package.
    pub installed: &'a BTreeMap<String, Vec<String>>,
    /// Whether test quality is looked at too.
    pub tests: bool,
}

/// What was found, and what can be repaired safely.
#[derive(Debug, Default)]
pub struct Reviewed {
    /// Findings by file and line.
    pub findings: Vec<Finding>,
    /// How complete the tests are, when that was asked.
    pub metrics: Option<TestMetrics>,
    /// Files that a program made; they are not looked at.
    pub made: Vec<RepoPath>,
    /// Files nested too deeply to be looked at.
    pub deep: Vec<RepoPath>,
    /// Tools that could not be asked, with the reason.
    pub skipped: Vec<(String, String)>,
    /// New texts, with the findings that they take away.
    pub repairs: BTreeMap<RepoPath, (String, Vec<Finding>)>,
}

/// Looks at the chosen files. Never fails; what cannot be read is a finding.
///
/// Source: product.md 6.3, 6.4, 6.6.
#[must_use]
pub fn review(request: &Review<'_>) -> Reviewed {
    let mut project = Project::of(request.files);
    for (package, files) in request.installed {
        project.install(package, files.iter().cloned());
    }
    let is_made =
        |file: &&RepoPath| request.files.get(*file).is_some_and(|text| lint::is_made(file, text));
    let (made, own): (Vec<&RepoPath>, Vec<&RepoPath>) =
        request.chosen.iter().partition(|file| is_made(file));
    let scanned = lint::scan(&own, request.files, &project);
    let mut found = scanned.found;
    found.retain(|one| request.tests || one.finding.stage == Stage::Code);
    let mut reviewed = Reviewed {
        made: made.into_iter().cloned().collect(),
        deep: scanned.deep,
        ..Reviewed::default()
    };
    for file in &own {
        if let Some(text) = request.files.get(*file)
            && let Some(repair) = lint::repair(file, text, &found)
        {
            reviewed.repairs.insert((*file).clone(), repair);
        }
    }
    if request.tests {
        reviewed.metrics = Some(lint::measure(&own, request.files, &project));
    }
    reviewed.findings = found.into_iter().map(|one| one.finding).collect();
    reviewed
}

/// Whether a file is of a language that can be looked at.
#[must_use]
pub fn reads(file: &RepoPath) -> bool {
    Language::of(file).is_some()
}

/// What a rule of a tool is called in the catalogue. The word stands at the beginning or, in
/// brackets, at the end of what the tool says.
const RULES: &[(&str, &str)] = &[
    ("F401 ", "unused-import"),
    ("F811 ", "redeclaration"),
    ("F821 ", "undefined-variable"),
    ("F841 ", "unused-variable"),
    ("S307 ", "dynamic-evaluation"),
    ("S110 ", "empty-catch"),
    ("TS2304:", "undefined-variable"),
    ("TS2307:", "unresolved-import"),
    ("TS6133:", "unused-variable"),
    ("unused import", "unused-import"),
    ("unused variable", "unused-variable"),
    ("unreachable ", "unreachable-code"),
    ("[import-not-found]", "unresolved-import"),
    ("[name-defined]", "undefined-variable"),
    ("(no-undef)", "undefined-variable"),
    ("(no-unused-vars)", "unused-variable"),
    ("(@typescript-eslint/no-unused-vars)", "unused-variable"),
    ("(no-redeclare)", "redeclaration"),
    ("(no-shadow)", "shadowing"),
    ("(no-unreachable)", "unreachable-code"),
    ("(no-eval)", "dynamic-evaluation"),
    ("(no-empty)", "empty-catch"),
    ("(import/no-unresolved)", "unresolved-import"),
    ("(import/no-duplicates)", "duplicate-import"),
    ("(@typescript-eslint/no-explicit-any)", "escape-type"),
];

/// The row of the catalogue that a remark belongs to.
fn row_of(concern: Concern, text: &str) -> &'static str {
    let known = RULES.iter().find(|(word, _)| {
        let closing = word.starts_with(['(', '[']);
        if closing { text.trim_end().ends_with(word) } else { text.starts_with(word) }
    });
    match (known, concern) {
        (Some((_, row)), Concern::Types | Concern::Rules) => row,
        (_, Concern::Types) => "type-mismatch",
        (None, Concern::Rules) => "project-rule",
        (_, Concern::Format) => "format",
    }
}

/// What tools of the project said about one concern, as findings of the rows that know it; of files
/// that are looked at only.
#[must_use]
pub fn told(
    concern: Concern,
    said: &[(Concern, Remark)],
    chosen: &BTreeSet<RepoPath>,
    can_fix: impl Fn(&RepoPath) -> bool,
) -> Vec<Finding> {
    let about = said.iter().filter(|one| one.0 == concern && chosen.contains(&one.1.0));
    about
        .filter_map(|(_, (file, line, text))| {
            let language = Language::of(file)?;
            let fits = |id: &str| lint::row(id).filter(|row| row.languages().contains(&language));
            let general = row_of(concern, "");
            let row = fits(row_of(concern, text)).or_else(|| fits(general))?;
            Some(lint::finding(row, file, *line, text, can_fix(file)))
        })
        .collect()
}

/// Adds what tools said, unless the catalogue has found the same on the same line.
pub fn add(findings: &mut Vec<Finding>, told: Vec<Finding>) {
    for one in told {
        let same = |known: &Finding| {
            known.id == one.id && known.file == one.file && known.line == one.line
        };
        if !findings.iter().any(same) {
            findings.push(one);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_tool_says_gets_the_category_of_the_catalogue() {
        let table = [
            (
                Concern::Rules,
                "a.py",
                "F401 [*] `os` imported but unused",
                "unused-import",
                "imports",
            ),
            (Concern::Rules, "a.py", "F821 Undefined name `x`", "undefined-variable", "variables"),
            (Concern::Rules, "a.py", "E501 Line too long", "project-rule", "lint"),
            (
                Concern::Rules,
                "a.js",
                "'x' is not defined. (no-undef)",
                "undefined-variable",
                "variables",
            ),
            (Concern::Rules, "a.js", "Expected '===' (eqeqeq)", "project-rule", "lint"),
            (
                Concern::Types,
                "a.py",
                "Cannot find module [import-not-found]",
                "unresolved-import",
                "imports",
            ),
            (Concern::Types, "a.py", "Incompatible types [assignment]", "type-mismatch", "types"),
            (Concern::Types, "a.go", "undefined: x", "type-mismatch", "types"),
            // A row that is not about this language leaves the general one.
            (Concern::Types, "a.rs", "unused import: `x`", "type-mismatch", "types"),
            (Concern::Format, "a.py", "`black` would change it", "format", "lint"),
        ];
        for (concern, file, text, id, category) in table {
            let file = RepoPath::parse(file).unwrap();
            let said = [(concern, (file.clone(), 3, text.to_owned()))];
            let found = told(concern, &said, &BTreeSet::from([file.clone()]), |_| false);
            let shown: Vec<(&str, &str, u32)> = found
                .iter()
                .map(|one| (one.id.as_str(), one.category.as_str(), one.line))
                .collect();
            assert_eq!(shown, [(id, category, 3)], "{text}");
            assert!(told(concern, &said, &BTreeSet::new(), |_| false).is_empty());
            let mut all = found.clone();
            add(&mut all, found);
            assert_eq!(all.len(), 1, "what is known is not told twice");
        }
    }
}
