//! What a generator is shown of a repository, most important first.

use std::collections::BTreeMap;

use crate::code::imports::Graph;
use crate::code::language::Language;
use crate::code::lint::is_manifest;
use crate::code::{outline, test_cases, testing};
use crate::domain::id::{RepoPath, TreeId};
use crate::domain::mutation::Mutant;
use crate::domain::test_plan::analysis::Requirement;
use crate::domain::test_plan::context::TestFramework;
use crate::effect::{Effects, GitError};
use crate::role::inspector::texts_of;
use crate::role::prompt::Part;
use crate::role::test_plan::Documents;

/// Bytes of a source that is shown whole or not at all.
const WHOLE: usize = 60 << 10;

/// Lines of a sample test.
const SAMPLE: usize = 150;

/// Files whose names are shown because the source imports them.
const IMPORTED: usize = 12;

/// Survivors that one question names.
const SURVIVORS: usize = 25;

/// Lines without a run that one question names.
const UNRUN: usize = 60;

/// The texts of a repository and who imports whom, read once per task.
pub struct Desk {
    /// All files; those that are not read are empty.
    pub texts: BTreeMap<RepoPath, String>,
    graph: Graph,
    documents: Documents,
}

/// What one question is about.
pub struct PromptSubject<'a> {
    /// The source.
    pub subject: &'a RepoPath,
    /// Requirements that are still open.
    pub requirements: &'a [&'a Requirement],
    /// Broken versions of the source that no test notices.
    pub survivors: &'a [Mutant],
    /// Lines of the source that no test runs.
    pub unrun: &'a [u32],
    /// Cases that were added in phase 4.
    pub suggestions: &'a str,
    /// How tests are run and written.
    pub framework: &'a TestFramework,
}

impl Desk {
    /// Reads a tree, and of its documents what a request is about.
    ///
    /// # Errors
    ///
    /// When git cannot give a file.
    pub async fn read(tree: &TreeId, request: &str, fx: &Effects<'_>) -> Result<Self, GitError> {
        let documents = Documents::read(tree, request, fx).await?;
        Ok(Self { documents, ..Self::of(texts_of(tree, fx).await?) })
    }

    /// Looks at texts that were read.
    #[must_use]
    pub fn of(texts: BTreeMap<RepoPath, String>) -> Self {
        let graph = Graph::build(&texts);
        Self { texts, graph, documents: Documents::default() }
    }

    fn text(&self, file: &RepoPath) -> &str {
        self.texts.get(file).map_or("", String::as_str)
    }

    /// Parts of the generator's question.
    #[must_use]
    pub fn parts(&self, matter: &PromptSubject<'_>) -> Vec<Part> {
        let subject = matter.subject;
        let source = self.text(subject);
        let mut parts = vec![part(&format!("The source {subject}"), source, source.len() > WHOLE)];
        if !matter.survivors.is_empty() {
            parts.push(part("Unnoticed changes of the code", &survivors(matter.survivors), true));
        }
        if !matter.unrun.is_empty() {
            parts.push(part("Lines that no test runs", &unrun(source, matter.unrun), true));
        }
        let title = if matter.survivors.is_empty() && matter.unrun.is_empty() {
            "Requirements that are open"
        } else {
            // Most of them are shown by now; what the code must do still stands in them.
            "Requirements"
        };
        parts.push(part(title, &requirements(matter.requirements), true));
        parts.extend(self.documents(subject));
        parts.extend(self.sample(matter));
        parts.push(part("How tests are written here", &manner(matter.framework), true));
        if let Some(known) = self.known_tests(subject) {
            parts.push(part("Tests that are there", &known, true));
        }
        for file in self.graph.imports_of(subject).filter(|file| *file != subject).take(IMPORTED) {
            parts.push(part(&format!("What {file} defines"), &self.names(file), true));
        }
        let own = self.texts.iter().filter(|(file, text)| {
            is_manifest(file) && !is_lock(file.file_name()) && !text.is_empty()
        });
        for (file, text) in own.take(2) {
            parts.push(part(&format!("The manifest {file}"), text, true));
        }
        if !matter.suggestions.is_empty() {
            parts.push(part("Cases that are easily forgotten", matter.suggestions, true));
        }
        parts
    }

    /// What was asked for, and what documents say about a source.
    #[must_use]
    pub fn documents(&self, subject: &RepoPath) -> Vec<Part> {
        let language = Language::of(subject);
        let known = language.map(|one| outline::functions(one, self.text(subject)));
        let functions = known.unwrap_or_default().into_iter().map(|one| one.name).collect();
        self.documents.parts(&[(subject, functions)])
    }

    /// A test file of the project: the one that shows its manner, else one that imports the source.
    fn sample(&self, matter: &PromptSubject<'_>) -> Option<Part> {
        let ending = matter.subject.extension();
        let own = self.graph.importers_of(matter.subject).filter(|file| testing::is_test(file));
        let file = matter
            .framework
            .conventions
            .sample
            .iter()
            .chain(own)
            .find(|file| file.extension() == ending && !self.text(file).is_empty())?;
        let text: Vec<&str> = self.text(file).lines().take(SAMPLE).collect();
        Some(part(&format!("A test file of this project, {file}"), &text.join("\n"), true))
    }

    /// Names of tests that import the source, so that they are not written again.
    fn known_tests(&self, subject: &RepoPath) -> Option<String> {
        let mut names = String::new();
        let tests = self.graph.importers_of(subject).filter(|file| testing::is_test(file));
        for file in tests.take(IMPORTED) {
            let Some(language) = Language::of(file) else { continue };
            for case in test_cases::source_tests(language, self.text(file)).iter().take(60) {
                names.push_str(&format!("{file}: {}\n", case.name));
            }
        }
        (!names.is_empty()).then_some(names)
    }

    fn names(&self, file: &RepoPath) -> String {
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

/// The requirements of one question, one line each.
#[must_use]
pub fn requirements(list: &[&Requirement]) -> String {
    list.iter()
        .map(|one| {
            format!(
                "{} {} (line {}): {}; given: {}; expect: {}\n",
                one.id, one.layer, one.line, one.text, one.given, one.expect
            )
        })
        .collect()
}

fn survivors(list: &[Mutant]) -> String {
    list.iter()
        .take(SURVIVORS)
        .map(|one| format!("line {}: `{}` became `{}`\n", one.line, one.before, one.after))
        .collect()
}

fn unrun(source: &str, lines: &[u32]) -> String {
    let text = |line: &u32| source.lines().nth(usize::try_from(*line).ok()?.checked_sub(1)?);
    lines
        .iter()
        .filter_map(|line| Some(format!("line {line}: {}\n", text(line)?.trim())))
        .take(UNRUN)
        .collect()
}

fn manner(framework: &TestFramework) -> String {
    let own = &framework.conventions;
    let mut lines = vec![
        format!("framework: {} {}", framework.framework, release(&framework.version)),
        format!("files are named {}", own.file_naming),
    ];
    let mut add = |what: &str, said: String| {
        if !said.is_empty() {
            lines.push(format!("{what}: {said}"));
        }
    };
    add("structure", own.test_structure.clone());
    add("assertions", own.assertion_style.join(", "));
    add("many values in one test", own.parametrisation.join(", "));
    add("set-up", own.setup_teardown.clone());
    add("fixtures", own.fixtures.join(", "));
    add("doubles", framework.mocking_framework.clone());
    lines.join("\n")
}

/// The release of a version as a tool prints it: `20` of `v20.20.2`. The rest differs from machine
/// to machine and tells nobody how to write a test, so a recorded question stays the same.
fn release(version: &str) -> &str {
    let start = version.find(|c: char| c.is_ascii_digit()).unwrap_or(version.len());
    let (_, number) = version.split_at(start);
    number.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default()
}

/// Whether a file names the exact version of every package. It is long, tells nothing that the
/// manifest beside it does not, and differs with the day of an install.
fn is_lock(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, ending)| ending == "lock" || stem.ends_with("-lock"))
        || name == "go.sum"
}

fn part(title: &str, text: &str, may_be_cut: bool) -> Part {
    Part { title: title.to_owned(), text: text.to_owned(), may_be_cut }
}

/// The nearest folder of tests that is there already. Python finds no tests in a folder that is
/// new and no package; other runners look everywhere.
fn settled(wanted: RepoPath, folders: &dyn Fn(&str) -> bool) -> RepoPath {
    let mut folder = wanted.parent();
    if wanted.extension() != "py" {
        return wanted;
    }
    while !folder.is_empty() {
        if folders(folder) {
            let path = format!("{folder}/{}", wanted.file_name());
            return RepoPath::parse(path).unwrap_or(wanted);
        }
        folder = folder.rsplit_once('/').map_or("", |(above, _)| above);
    }
    wanted
}

/// The place of a new file: where it belongs, or beside it when something is there already.
/// `taken` and `folders` tell what is in the repository.
#[must_use]
pub fn place(
    wanted: &RepoPath,
    subject: &RepoPath,
    taken: &dyn Fn(&RepoPath) -> bool,
    folders: &dyn Fn(&str) -> bool,
) -> Option<RepoPath> {
    // Tests inside a source of Rust cannot be a file of their own.
    let wanted = if wanted == subject {
        let stem = subject.file_name().split('.').next().unwrap_or_default();
        RepoPath::parse(format!("tests/{stem}.rs")).ok()?
    } else {
        settled(wanted.clone(), folders)
    };
    let (folder, name) = (wanted.parent().to_owned(), wanted.file_name().to_owned());
    let join = |name: String| {
        RepoPath::parse(if folder.is_empty() { name } else { format!("{folder}/{name}") }).ok()
    };
    let free = |path: &RepoPath| !taken(path) && testing::is_test(path);
    std::iter::once(wanted.clone())
        .chain((1..100).filter_map(|number| {
            let mark = if number == 1 { "more".to_owned() } else { format!("more{number}") };
            join(marked(&name, &mark))
        }))
        .find(free)
}

/// A name with a word in it that keeps it a name of tests.
fn marked(name: &str, mark: &str) -> String {
    let (stem, rest) = name.split_once('.').unwrap_or((name, ""));
    let dotted = |stem: &str, rest: &str| format!("{stem}.{rest}");
    let upper = || {
        let mut letters = mark.chars();
        letters.next().map(|c| c.to_ascii_uppercase()).into_iter().chain(letters).collect()
    };
    if rest.contains('.') {
        return dotted(stem, &format!("{mark}.{rest}"));
    }
    for (end, joined) in [("_test", format!("_{mark}_test")), ("_spec", format!("_{mark}_spec"))] {
        if let Some(start) = stem.strip_suffix(end) {
            return dotted(&format!("{start}{joined}"), rest);
        }
    }
    if rest == "java" {
        let upper: String = upper();
        for end in ["Tests", "Test"] {
            if let Some(start) = stem.strip_suffix(end) {
                return dotted(&format!("{start}{upper}{end}"), rest);
            }
        }
    }
    dotted(&format!("{stem}_{mark}"), rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_goes_where_it_belongs_or_beside_what_is_there() {
        let table = [
            ("tests/test_price.py", "shop/price.py", 0, Some("tests/test_price.py")),
            ("tests/test_price.py", "shop/price.py", 1, Some("tests/test_price_more.py")),
            ("tests/test_price.py", "shop/price.py", 2, Some("tests/test_price_more2.py")),
            ("tests/shop/test_price.py", "shop/price.py", 0, Some("tests/test_price.py")),
            ("checks/shop/test_price.py", "shop/price.py", 0, Some("checks/shop/test_price.py")),
            ("test/text.test.js", "lib/text.js", 1, Some("test/text.more.test.js")),
            ("pkg/price_test.go", "pkg/price.go", 1, Some("pkg/price_more_test.go")),
            (
                "src/test/java/PriceTest.java",
                "src/main/java/Price.java",
                1,
                Some("src/test/java/PriceMoreTest.java"),
            ),
            ("src/price.rs", "src/price.rs", 0, Some("tests/price.rs")),
            ("shop/price_check.py", "shop/price.py", 0, None),
        ];
        for (wanted, subject, in_use, expected) in table {
            let path = |text: &str| RepoPath::parse(text).unwrap();
            let left = std::cell::Cell::new(in_use);
            let taken = |_: &RepoPath| {
                left.set(left.get() - 1);
                left.get() >= 0
            };
            let found = place(&path(wanted), &path(subject), &taken, &|folder| folder == "tests");
            assert_eq!(
                found.map(|path| path.to_string()).as_deref(),
                expected,
                "{wanted} {in_use}"
            );
        }
    }

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
            assert_eq!(is_lock(name), expected, "{name}");
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
        let desk = Desk::of(
            texts
                .into_iter()
                .map(|(name, text)| (RepoPath::parse(name).unwrap(), text.to_owned()))
                .collect(),
        );
        let subject = RepoPath::parse("shop/price.py").unwrap();
        let version = "vitest/2.1.9 linux-x64 node-v20.20.2".to_owned();
        let mut framework = TestFramework { version, ..TestFramework::default() };
        framework.conventions.sample = RepoPath::parse("tests/test_tax.py").ok();
        let matter = PromptSubject {
            subject: &subject,
            requirements: &[],
            survivors: &[],
            unrun: &[],
            suggestions: "",
            framework: &framework,
        };
        let parts = desk.parts(&matter);
        assert!(parts[3].text.starts_with("framework: command 2\n"), "{}", parts[3].text);
        let titles: Vec<String> = parts.into_iter().map(|part| part.title).collect();
        assert_eq!(
            titles,
            [
                "The source shop/price.py",
                "Requirements that are open",
                "A test file of this project, tests/test_tax.py",
                "How tests are written here",
                "What shop/tax.py defines",
                "The manifest pyproject.toml",
            ]
        );
    }
}
