//! [`SourceIndex`]: selects the sources for a generator's prompt, most important parts first.

use std::collections::BTreeMap;

use crate::code::imports::Graph;
use crate::code::language::Language;
use crate::code::lint::is_manifest;
use crate::code::{documented, outline, test_cases, test_paths};
use crate::domain::guard::is_lock_file;
use crate::domain::id::{RepoPath, TreeId};
use crate::domain::mutation::Mutant;
use crate::domain::test_plan::framework::TestFramework;
use crate::domain::test_plan::requirement::Requirement;
use crate::effect::{Effects, GitError};
use crate::role::new_test_review::texts_of;
use crate::role::project_docs::Documents;
use crate::role::prompt::PromptPart;
use crate::role::requirement_lines::requirement_lines;

/// Maximum size in bytes of a source that must be shown as a whole.
const WHOLE: usize = 60 << 10;

/// Maximum number of lines of a sample test.
const SAMPLE: usize = 150;

/// Maximum number of imported files whose functions are listed.
const IMPORTED: usize = 12;

/// Maximum number of surviving mutants in a prompt.
const SURVIVORS: usize = 25;

/// Maximum number of lines without coverage in a prompt.
const UNRUN: usize = 60;

/// The texts of a repository with its import graph, read once per task.
pub struct SourceIndex {
    pub texts: BTreeMap<RepoPath, String>,
    graph: Graph,
    documents: Documents,
}

/// The source file that a prompt is about, and what is asked about it.
pub struct PromptSubject<'a> {
    pub source: &'a RepoPath,
    pub requirements: &'a [&'a Requirement],
    pub survivors: &'a [Mutant],
    pub uncovered_lines: &'a [u32],
    /// What the task file has the writer shown and told.
    pub shown: &'a [PromptPart],
    pub framework: &'a TestFramework,
    pub project_type: &'a str,
}

impl SourceIndex {
    /// Reads a tree, and those of its documents that are relevant for a request.
    pub async fn read(tree: &TreeId, request: &str, fx: &Effects<'_>) -> Result<Self, GitError> {
        let documents = Documents::read(tree, request, fx).await?;
        Ok(Self { documents, ..Self::of(texts_of(tree, fx).await?) })
    }

    /// Creates an index from texts that were already read.
    #[must_use]
    pub fn of(texts: BTreeMap<RepoPath, String>) -> Self {
        let graph = Graph::build(&texts);
        Self { texts, graph, documents: Documents::default() }
    }

    fn text(&self, file: &RepoPath) -> &str {
        self.texts.get(file).map_or("", String::as_str)
    }

    /// The parts of the generator's prompt.
    pub fn parts(&self, subject: &PromptSubject<'_>) -> Vec<PromptPart> {
        let file = subject.source;
        let source = self.text(file);
        let mut parts = vec![part(&format!("The source {file}"), source, source.len() > WHOLE)];
        if !subject.survivors.is_empty() {
            parts.push(part("Unnoticed changes of the code", &survivors(subject.survivors), true));
        }
        if !subject.uncovered_lines.is_empty() {
            parts.push(part(
                "Lines that no test runs",
                &uncovered_lines(source, subject.uncovered_lines),
                true,
            ));
        }
        let promised = Language::of(file).map(|language| promised(language, source));
        if let Some(promised) = promised.filter(|text| !text.is_empty()) {
            parts.push(part("Requirements from the documentation of the code", &promised, true));
        }
        // In later rounds most of them are covered, but they still specify the behaviour.
        let is_first = subject.survivors.is_empty() && subject.uncovered_lines.is_empty();
        let open = if is_first { " that are open" } else { "" };
        let (derived, stated): (Vec<&Requirement>, Vec<&Requirement>) =
            subject.requirements.iter().partition(|one| one.is_derived());
        for (title, list) in [("Requirements", stated), ("Cases in the code", derived)] {
            parts.push(part(&format!("{title}{open}"), &requirement_lines(&list), true));
        }
        parts.extend(subject.shown.iter().cloned());
        parts.extend(self.documents(file));
        parts.extend(self.sample(subject));
        parts.push(part("How tests are written here", &conventions(subject), true));
        if let Some(known) = self.known_tests(file) {
            parts.push(part("Tests that are there", &known, true));
        }
        for other in self.graph.imports_of(file).filter(|other| *other != file).take(IMPORTED) {
            parts.push(part(&format!("What {other} defines"), &self.signatures(other), true));
        }
        // Lock files are long, add little, and depend on the date of installation.
        let manifests = self.texts.iter().filter(|(file, text)| {
            is_manifest(file) && !is_lock_file(file.file_name()) && !text.is_empty()
        });
        for (file, text) in manifests.take(2) {
            parts.push(part(&format!("The manifest {file}"), text, true));
        }
        parts
    }

    /// The request, and what the documents say about a source file.
    pub fn documents(&self, subject: &RepoPath) -> Vec<PromptPart> {
        let language = Language::of(subject);
        let known = language.map(|one| outline::functions(one, self.text(subject)));
        let functions = known.unwrap_or_default().into_iter().map(|one| one.name).collect();
        self.documents.parts(&[(subject, functions)])
    }

    /// A sample test file of the project, or else one that imports the source.
    fn sample(&self, subject: &PromptSubject<'_>) -> Option<PromptPart> {
        let extension = subject.source.extension();
        let own = self.graph.importers_of(subject.source).filter(|file| test_paths::is_test(file));
        let file = subject
            .framework
            .conventions
            .sample
            .iter()
            .chain(own)
            .find(|file| file.extension() == extension && !self.text(file).is_empty())?;
        let text: Vec<&str> = self.text(file).lines().take(SAMPLE).collect();
        Some(part(&format!("A test file of this project, {file}"), &text.join("\n"), true))
    }

    /// The names of tests that import the source, so that they are not written twice.
    fn known_tests(&self, subject: &RepoPath) -> Option<String> {
        let mut names = String::new();
        let tests = self.graph.importers_of(subject).filter(|file| test_paths::is_test(file));
        for file in tests.take(IMPORTED) {
            let Some(language) = Language::of(file) else { continue };
            for case in test_cases::source_tests(language, self.text(file)).iter().take(60) {
                names.push_str(&format!("{file}: {}\n", case.name));
            }
        }
        (!names.is_empty()).then_some(names)
    }

    /// The functions of a file, each by its first line.
    fn signatures(&self, file: &RepoPath) -> String {
        let Some(language) = Language::of(file) else { return String::new() };
        let text = self.text(file);
        let lines: Vec<&str> = text.lines().collect();
        let head = |start: u32| {
            let at = usize::try_from(start).unwrap_or(1).saturating_sub(1);
            lines.get(at).map_or("", |line| line.trim())
        };
        let heads = outline::functions(language, text).into_iter().take(60);
        heads.map(|one| format!("{}: {}\n", one.name, head(one.start))).collect()
    }
}

/// What the documentation of each function says.
fn promised(language: Language, source: &str) -> String {
    let functions = documented::documented(language, source).into_iter();
    functions.map(|(function, said)| format!("{}: {said}\n", function.name)).collect()
}

fn survivors(list: &[Mutant]) -> String {
    list.iter()
        .take(SURVIVORS)
        .map(|one| format!("line {}: `{}` became `{}`\n", one.line, one.before, one.after))
        .collect()
}

fn uncovered_lines(source: &str, lines: &[u32]) -> String {
    let text = |line: &u32| source.lines().nth(usize::try_from(*line).ok()?.checked_sub(1)?);
    lines
        .iter()
        .filter_map(|line| Some(format!("line {line}: {}\n", text(line)?.trim())))
        .take(UNRUN)
        .collect()
}

fn conventions(subject: &PromptSubject<'_>) -> String {
    let framework = subject.framework;
    let own = &framework.conventions;
    let mut lines = vec![
        format!("framework: {} {}", framework.framework, release(&framework.version)),
        format!("files are named {}", own.file_naming),
    ];
    let mut add = |what: &str, value: String| {
        if !value.is_empty() {
            lines.push(format!("{what}: {value}"));
        }
    };
    add("project", subject.project_type.to_owned());
    add("structure", own.test_structure.clone());
    add("assertions", own.assertion_style.join(", "));
    add("many values in one test", own.parametrisation.join(", "));
    add("set-up", own.setup_teardown.clone());
    add("fixtures", own.fixtures.join(", "));
    add("doubles", own.mocking.clone());
    lines.join("\n")
}

/// The major version in a tool's version output: `20` for `v20.20.2`. The rest differs between
/// machines and is irrelevant for tests, so recorded prompts stay valid.
fn release(version: &str) -> &str {
    let start = version.find(|c: char| c.is_ascii_digit()).unwrap_or(version.len());
    let (_, number) = version.split_at(start);
    number.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default()
}

fn part(title: &str, text: &str, may_be_cut: bool) -> PromptPart {
    PromptPart::new(title, text, may_be_cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_are_no_manifests_and_versions_are_told_by_their_release() {
        let table = [
            ("package-lock.json", true),
            ("pnpm-lock.yaml", true),
            ("yarn.lock", true),
            ("uv.lock", true),
            ("go.sum", true),
            ("package.json", false),
            ("setup.py", false),
            ("locks.toml", false),
        ];
        for (name, expected) in table {
            assert_eq!(is_lock_file(name), expected, "{name}");
        }
        for (version, expected) in
            [("pytest 9.2.0", "9"), ("v20.20.2", "20"), ("vitest/2.1.9 linux-x64", "2"), ("", "")]
        {
            assert_eq!(release(version), expected, "{version}");
        }
    }

    #[test]
    fn the_question_shows_source_requirements_sample_and_what_is_imported() {
        let texts = [
            ("poetry.lock", "[[package]]\nname = \"attrs\"\nversion = \"25.1.0\"\n"),
            ("pyproject.toml", "[project]\nname = \"shop\"\n"),
            (
                "shop/price.py",
                "from shop.tax import rate\n\n\ndef gross(price):\n    return price * rate(price)\n",
            ),
            ("shop/tax.py", "def rate(price):\n    return 2\n"),
            (
                "tests/test_tax.py",
                "from shop.tax import rate\n\n\ndef test_rate():\n    assert rate(1) == 2\n",
            ),
        ];
        let sources = SourceIndex::of(
            texts
                .into_iter()
                .map(|(name, text)| (RepoPath::parse(name).unwrap(), text.to_owned()))
                .collect(),
        );
        let subject = RepoPath::parse("shop/price.py").unwrap();
        let version = "vitest/2.1.9 linux-x64 node-v20.20.2".to_owned();
        let mut framework = TestFramework { version, ..TestFramework::default() };
        framework.conventions.sample = RepoPath::parse("tests/test_tax.py").ok();
        let prompt_subject = PromptSubject {
            source: &subject,
            requirements: &[],
            survivors: &[],
            uncovered_lines: &[],
            shown: &[],
            framework: &framework,
            project_type: "Library (Python)",
        };
        let parts = sources.parts(&prompt_subject);
        assert!(parts[4].text.starts_with("framework: command 2\n"), "{}", parts[4].text);
        assert!(parts[4].text.contains("\nproject: Library (Python)"), "{}", parts[4].text);
        let titles: Vec<String> = parts.into_iter().map(|part| part.title).collect();
        assert_eq!(
            titles,
            [
                "The source shop/price.py",
                "Requirements that are open",
                "Cases in the code that are open",
                "A test file of this project, tests/test_tax.py",
                "How tests are written here",
                "What shop/tax.py defines",
                "The manifest pyproject.toml",
            ]
        );
    }

    #[test]
    fn mutants_and_lines_that_no_test_runs_are_shown_and_bounded() {
        let mutant = Mutant {
            file: RepoPath::parse("a.py").unwrap(),
            line: 2,
            operator: "x".into(),
            before: "<".into(),
            after: "<=".into(),
        };
        assert_eq!(survivors(std::slice::from_ref(&mutant)), "line 2: `<` became `<=`\n");
        assert_eq!(survivors(&vec![mutant; 90]).lines().count(), SURVIVORS);
        assert_eq!(uncovered_lines("a\n  b\n", &[2, 9, 0]), "line 2: b\n");
        let source = "x\n".repeat(200);
        let lines: Vec<u32> = (1..=200).collect();
        assert_eq!(uncovered_lines(&source, &lines).lines().count(), UNRUN);
    }
}
