//! Guards: the rules that every proposed edit must obey, and `Violation`, a breach of one.
//!
//! Source: specification.md 7.13 (F-127).

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent_files::configures_agents;
use super::id::RepoPath;
use super::proposal::FileEdit;
use super::secret;
use super::strategy::Strategy;
use super::text::count;
use super::token_shape;

/// What a fix may change (specification.md 2.3, 7.13).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FixScope {
    #[default]
    Code,
    /// Product code, and tests in a reflective iteration.
    Both,
    Tests,
}

impl FixScope {
    /// What an iteration with this strategy may change.
    #[must_use]
    pub fn reach(self, strategy: Option<Strategy>) -> EditScope {
        match (self, strategy) {
            (Self::Both, Some(Strategy::Reflective)) => EditScope::Either,
            (Self::Code | Self::Both, _) => EditScope::Code,
            (Self::Tests, _) => EditScope::Tests,
        }
    }

    /// What a whole session may have changed.
    #[must_use]
    pub fn reach_of_session(self) -> EditScope {
        self.reach(Some(Strategy::Reflective))
    }
}

/// What one edit may change. Tests are never deleted, skipped or weakened (specification.md 7.13).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EditScope {
    #[default]
    Code,
    /// Product code or tests, not both at once.
    Either,
    Tests,
}

/// A breach of one rule. The name is stable: reports and tests use it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// A path below `.github` or of another CI service.
    CiFile(RepoPath),
    /// A file that tells build tools, editors or agents what to run.
    ToolFile(RepoPath),
    /// A file that configures the repository itself.
    RepositoryFile(RepoPath),
    /// A path below the state root.
    StateFile(RepoPath),
    /// A lock file of a package manager.
    LockFile(RepoPath),
    Manifest(RepoPath),
    /// A file that configures which tests run, and how.
    TestConfiguration(RepoPath),
    Protected(RepoPath),
    /// A symbolic link, or a path that leads through one.
    Link(RepoPath),
    /// A test that a fix may not touch.
    TestEdited {
        file: RepoPath,
        /// Why it counts as one, as the rest of a sentence.
        reason: String,
    },
    /// A file that is not a test, where only tests may change.
    OutOfScope(RepoPath),
    /// Tests and product code change at once, so that a commit would not show which was wrong.
    Mixed,
    /// A test file that the edit would delete or empty.
    TestDeleted(RepoPath),
    /// A test that the edit would delete, rename or empty.
    TestRemoved {
        file: RepoPath,
        test: String,
    },
    /// More skip markers than before.
    TestSkipped(RepoPath),
    /// A focus marker, which disables all other tests.
    TestFocused(RepoPath),
    AssertionsRemoved(RepoPath),
    /// A product file that the edit would delete.
    FileDeleted(RepoPath),
    /// The text no longer parses.
    Syntax {
        file: RepoPath,
        /// Line, from 1; 0 if the checker does not report one.
        line: u32,
    },
    /// The proposal exceeds a size limit.
    TooLarge {
        /// Bytes or files, with their unit.
        size: String,
        /// The limit, with its unit.
        limit: String,
    },
    /// The text before the edit is not what the file contains.
    Stale(RepoPath),
    /// Something that looks like a key or password would be written.
    Secret(RepoPath),
    /// A file that the plan does not name.
    OutsidePlan {
        file: RepoPath,
        /// The places that it names.
        plan: String,
    },
    /// A new file that nothing refers to.
    UnneededFile(RepoPath),
    /// The proposal changes nothing.
    Empty,
}

impl Violation {
    /// The name of the rule that is broken.
    #[cfg(test)]
    pub fn name(&self) -> &'static str {
        self.parts().0
    }

    /// The rule's name, and a description of the violation.
    fn parts(&self) -> (&'static str, String) {
        match self {
            Self::CiFile(file) => ("ci-file", format!("{file} decides what CI runs")),
            Self::ToolFile(file) => {
                ("tool-file", format!("{file} decides what builds, editors or agents run"))
            }
            Self::RepositoryFile(file) => {
                ("repository-file", format!("{file} configures the repository itself"))
            }
            Self::StateFile(file) => ("state-file", format!("{file} belongs to regreen itself")),
            Self::LockFile(file) => {
                ("lock-file", format!("{file} is written by a package manager"))
            }
            Self::Manifest(file) => ("manifest", format!("{file} lists dependencies")),
            Self::TestConfiguration(file) => {
                ("test-configuration", format!("{file} decides which tests run"))
            }
            Self::Protected(file) => (
                "protected-path",
                format!("{file} is protected by the configuration or run by the test command"),
            ),
            Self::Link(file) => ("link", format!("{file} is a link or lies behind one")),
            Self::TestEdited { file, reason } => ("test-edited", format!("{file} {reason}")),
            Self::OutOfScope(file) => {
                ("out-of-scope", format!("{file} is no test, and only tests may change"))
            }
            Self::Mixed => {
                ("mixed", "tests and product code change at once; change one of them".into())
            }
            Self::TestDeleted(file) => ("test-deleted", format!("{file} would be gone or empty")),
            Self::TestRemoved { file, test } => {
                ("test-removed", format!("{test} in {file} would be gone"))
            }
            Self::TestSkipped(file) => {
                ("test-skipped", format!("{file} would skip more than before"))
            }
            Self::TestFocused(file) => {
                ("test-focused", format!("{file} would silence other tests"))
            }
            Self::AssertionsRemoved(file) => {
                ("assertions-removed", format!("{file} would assert less than before"))
            }
            Self::FileDeleted(file) => ("file-deleted", format!("{file} would be gone")),
            Self::Syntax { file, line: 0 } => ("syntax", format!("{file} would not parse")),
            Self::Syntax { file, line } => {
                ("syntax", format!("{file} would not parse at line {line}"))
            }
            Self::TooLarge { size, limit } => {
                ("too-large", format!("{size} are changed, the limit is {limit}"))
            }
            Self::Stale(file) => ("stale", format!("{file} is not what the edit starts from")),
            Self::Secret(file) => (
                "secret",
                format!("{file} would hold a key or password, or the mark of one that was removed"),
            ),
            Self::OutsidePlan { file, plan } => (
                "outside-plan",
                format!("{file} is in none of the places that the plan names: {plan}"),
            ),
            Self::UnneededFile(file) => (
                "unneeded-file",
                format!(
                    "{file} is new, and neither the rest of the change nor a failing test mentions it"
                ),
            ),
            Self::Empty => ("empty", "nothing would change".into()),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, text) = self.parts();
        write!(f, "{name}: {text}")
    }
}

/// Number of strings in a text that have a published format of API keys.
pub fn keys_in(text: &str) -> usize {
    token_shape::count_plain(text)
}

/// Whether an edit adds a string like an API key, or the mark of a hidden secret.
pub fn holds_secret(edit: &FileEdit) -> bool {
    let count = |text: &Option<String>| {
        let text = text.as_deref().unwrap_or_default();
        keys_in(text) + text.matches(secret::MARK).count()
    };
    count(&edit.after) > count(&edit.before)
}

/// Maximum number of files that one proposal may change.
pub const FILES: usize = 20;

/// Maximum number of bytes, in all changed files, that one proposal may write.
pub const BYTES: usize = 2 << 20;

/// Files that package managers write, besides those that end in `.lock`.
const LOCK_FILES: &[&str] = &[
    "package-lock.json",
    "npm-shrinkwrap.json",
    "pnpm-lock.yaml",
    "bun.lockb",
    "go.sum",
    "gradle.lockfile",
];

/// Names of files that list dependencies.
const MANIFESTS: &[&str] = &[
    "Cargo.toml",
    "package.json",
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "requirements.txt",
    "Pipfile",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "Gemfile",
    "gems.rb",
    "composer.json",
    "global.json",
    "packages.config",
];

/// Endings of files that list dependencies, or which sources and tests are built.
const MANIFEST_ENDINGS: &[&str] =
    &[".gemspec", ".csproj", ".fsproj", ".vbproj", ".sln", ".slnx", ".props", ".targets", ".cmake"];

/// Files that decide which tests run.
const TEST_CONFIGURATION: &[&str] = &[
    "pytest.ini",
    ".pytest.ini",
    "tox.ini",
    "conftest.py",
    "noxfile.py",
    ".coveragerc",
    ".mocharc.js",
    ".mocharc.cjs",
    ".mocharc.json",
    ".mocharc.jsonc",
    ".mocharc.yaml",
    ".mocharc.yml",
    ".taprc",
    ".rspec",
    ".rspec-local",
    ".simplecov",
    "phpunit.xml",
    "phpunit.xml.dist",
    "phpunit.dist.xml",
    "CMakeLists.txt",
    "xunit.runner.json",
    "jasmine.json",
    "jasmine.mjs",
    "BUILD",
    "BUILD.bazel",
    "WORKSPACE",
    "WORKSPACE.bazel",
    "MODULE.bazel",
    ".bazelrc",
    ".bazelignore",
    "nextest.toml",
    "karma.conf.js",
    "sitecustomize.py",
    "usercustomize.py",
];

/// How the names of such files begin whose ending differs.
const TEST_SETTINGS: &[&str] = &[
    "jest.config.",
    "vitest.config.",
    "playwright.config.",
    "cypress.config.",
    "karma.conf.",
    "ava.config.",
];

/// Files of CI services outside `.github`.
const CI_FILES: &[&str] = &[
    ".gitlab-ci.yml",
    ".travis.yml",
    "azure-pipelines.yml",
    "Jenkinsfile",
    "appveyor.yml",
    ".drone.yml",
    "bitbucket-pipelines.yml",
    "action.yml",
    ".pre-commit-config.yaml",
];

/// Files that configure the repository itself: reviewers, filters of git, submodules.
const REPOSITORY_FILES: &[&str] = &["CODEOWNERS", ".gitattributes", ".gitmodules"];

/// Files that decide what build tools run for whoever opens the repository.
const TOOL_FILES: &[&str] = &[
    "build.rs",
    "Makefile",
    "GNUmakefile",
    "Rakefile",
    "CMakePresets.json",
    "CMakeUserPresets.json",
    "Dockerfile",
    "gradlew",
    "mvnw",
    ".claude.json",
    ".envrc",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".ripgreprc",
];

/// Folders at the root that contain only configuration of build tools.
const TOOL_FOLDERS: &[&str] = &[".devcontainer", ".cargo", ".mvn", ".yarn", ".bundle"];

/// Whether a package manager writes files of this name.
pub fn is_lock_file(name: &str) -> bool {
    let folded = name.to_ascii_lowercase();
    folded.ends_with(".lock") || LOCK_FILES.contains(&folded.as_str())
}

/// Checks a path without looking at the content; `state_root` is the folder of regreen's own files.
pub fn path(file: &RepoPath, state_root: &str) -> Option<Violation> {
    let (text, name) = (file.as_str(), file.file_name());
    let first = text.split('/').next().unwrap_or_default();
    let own = || file.clone();
    // Case is folded, as some file systems do.
    let (folded, folded_name) = (first.to_ascii_lowercase(), name.to_ascii_lowercase());
    let listed = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
    if folded == ".github" || folded == ".circleci" || folded == ".husky" || listed(CI_FILES) {
        Some(Violation::CiFile(own()))
    } else if TOOL_FOLDERS.contains(&folded.as_str())
        || listed(TOOL_FILES)
        || configures_agents(file)
    {
        Some(Violation::ToolFile(own()))
    } else if listed(REPOSITORY_FILES) {
        Some(Violation::RepositoryFile(own()))
    } else if first.eq_ignore_ascii_case(state_root) {
        Some(Violation::StateFile(own()))
    } else if is_lock_file(name) {
        Some(Violation::LockFile(own()))
    } else if listed(MANIFESTS)
        || MANIFEST_ENDINGS.iter().any(|end| folded_name.ends_with(end))
        || folded_name.starts_with("requirements") && folded_name.ends_with(".txt")
    {
        Some(Violation::Manifest(own()))
    } else if listed(TEST_CONFIGURATION)
        || TEST_SETTINGS.iter().any(|start| folded_name.starts_with(start))
        || folded_name.ends_with(".runsettings")
    {
        Some(Violation::TestConfiguration(own()))
    } else {
        None
    }
}

/// Checks the size limits, and that the proposal changes something.
pub fn size(files: &[FileEdit]) -> Vec<Violation> {
    let mut found = Vec::new();
    let bytes: usize = files.iter().filter_map(|edit| edit.after.as_ref()).map(String::len).sum();
    if files.len() > FILES {
        let (size, limit) = (count(files.len(), "file"), count(FILES, "file"));
        found.push(Violation::TooLarge { size, limit });
    }
    if bytes > BYTES {
        let (size, limit) = (format!("{bytes} bytes"), format!("{BYTES} bytes"));
        found.push(Violation::TooLarge { size, limit });
    }
    if files.iter().all(|edit| edit.before == edit.after) {
        found.push(Violation::Empty);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protected_paths_are_named_by_rule() {
        let table = [
            (".github/workflows/ci.yml", Some("ci-file")),
            (".GitHub/workflows/ci.yml", Some("ci-file")),
            ("sub/Jenkinsfile", Some("ci-file")),
            (".claude/settings.json", Some("tool-file")),
            ("docs/Agents.md", Some("tool-file")),
            ("build.rs", Some("tool-file")),
            (".gitmodules", Some("repository-file")),
            ("docs/CODEOWNERS", Some("repository-file")),
            (".Workflow/active/x.json", Some("state-file")),
            ("Requirements-dev.TXT", Some("manifest")),
            ("Jest.config.ts", Some("test-configuration")),
            ("web/.npmrc", Some("tool-file")),
            ("Package.json", Some("manifest")),
            (".workflow/active/x.json", Some("state-file")),
            ("web/package-lock.json", Some("lock-file")),
            ("Cargo.lock", Some("lock-file")),
            ("deno.lock", Some("lock-file")),
            ("Bun.lockb", Some("lock-file")),
            ("package.json", Some("manifest")),
            ("requirements-dev.txt", Some("manifest")),
            ("pytest.ini", Some("test-configuration")),
            (".pytest.ini", Some("test-configuration")),
            ("jest.config.ts", Some("test-configuration")),
            ("Gemfile", Some("manifest")),
            ("shop.gemspec", Some("manifest")),
            ("composer.json", Some("manifest")),
            ("Shop.Tests/Shop.Tests.csproj", Some("manifest")),
            ("Rakefile", Some("tool-file")),
            (".bundle/config", Some("tool-file")),
            (".rspec", Some("test-configuration")),
            ("phpunit.xml.dist", Some("test-configuration")),
            ("src/CMakeLists.txt", Some("test-configuration")),
            ("pkg/BUILD.bazel", Some("test-configuration")),
            ("ci.runsettings", Some("test-configuration")),
            ("ava.config.js", Some("test-configuration")),
            ("lib/build.rb", None),
            ("src/app.py", None),
            ("src/lock.py", None),
        ];
        for (text, expected) in table {
            let judged = path(&RepoPath::parse(text).unwrap(), ".workflow");
            assert_eq!(judged.as_ref().map(Violation::name), expected, "{text}");
        }
    }

    #[test]
    fn size_and_emptiness_are_judged() {
        let file = RepoPath::parse("a.py").unwrap();
        let edit = |before: &str, after: String| FileEdit {
            file: file.clone(),
            before: Some(before.into()),
            after: Some(after),
        };
        assert_eq!(size(&[edit("x", "x".into())]), [Violation::Empty]);
        assert_eq!(size(&[edit("x", "y".into())]), []);
        assert_eq!(size(&[edit("x", "y".repeat(BYTES + 1))]).len(), 1);
        let many: Vec<FileEdit> = (0..=FILES).map(|_| edit("x", "y".into())).collect();
        assert_eq!(size(&many).len(), 1);
    }
}
