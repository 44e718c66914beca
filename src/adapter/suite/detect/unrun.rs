//! Suites that a folder holds beside the one that runs.

use std::fs;
use std::path::Path;

use crate::code::language;
use crate::code::test_paths::has_test_name;
use crate::domain::framework::Framework;
use crate::domain::id::RepoPath;
use crate::domain::shell;
use crate::domain::text::count;

use super::super::framework::{DETECTION_ORDER, Site, adapter};
use super::{Package, no_files};

/// Test files that are counted at most.
const COUNTED: usize = 1_000;

/// The names of the languages that only this framework runs; none where that is open.
fn languages_of(framework: Framework) -> &'static [&'static str] {
    match framework {
        Framework::Pytest | Framework::Unittest => &["Python"],
        Framework::NodeTest
        | Framework::Jest
        | Framework::Vitest
        | Framework::Mocha
        | Framework::Jasmine
        | Framework::Ava
        | Framework::NodeTap
        | Framework::Tape => &["JavaScript", "TypeScript"],
        Framework::CargoTest | Framework::Nextest => &["Rust"],
        Framework::GoTest => &["Go"],
        Framework::Maven | Framework::Gradle => &["Java"],
        Framework::Rspec | Framework::Minitest => &["Ruby"],
        Framework::Phpunit => &["PHP"],
        Framework::Ctest => &["C and C++"],
        Framework::Dotnet => &[".NET"],
        Framework::Bazel | Framework::Command => &[],
    }
}

/// The suites that `chosen` does not run, each with its evidence and the way to run it: those with a
/// manifest of their own and test files of another language, in the folder and in packages below, and
/// packages of its own that it leaves out. A configured command that names a runner leaves out that one too.
pub(super) fn find(site: &Site, chosen: Framework, packages: &[Package]) -> Vec<String> {
    let own = languages_of(chosen);
    if own.is_empty() {
        return Vec::new();
    }
    let plain = Site { command: None, report: None, ..site.clone() };
    let mut known: Vec<&[&str]> = vec![own];
    let mut found = Vec::new();
    for framework in DETECTION_ORDER {
        let is_run = site
            .command
            .as_ref()
            .is_some_and(|command| command.parts().iter().any(adapter(framework).is_run_by));
        let languages = languages_of(framework);
        if is_run || known.contains(&languages) {
            continue;
        }
        if let Some(evidence) = evidence(&plain, framework) {
            known.push(languages);
            let command = (adapter(framework).command)(&plain, None, &no_files()).display;
            let command = shell::word(&command);
            found.push(format!("{framework} ({evidence}; `--test-command {command}` runs it)"));
        }
    }
    for Package { folder, framework, .. } in packages {
        let below = Site { directory: folder.clone(), ..plain.clone() };
        if languages_of(*framework) == own && *framework != chosen {
            continue;
        }
        if let Some(evidence) = evidence(&below, *framework) {
            let folder_word = shell::word(folder);
            found.push(format!(
                "{framework} in {folder} ({evidence}; `regreen fix {folder_word}` runs it)"
            ));
        }
    }
    found
}

/// The manifest of a framework and the number of its test files; `None` without either.
fn evidence(site: &Site, framework: Framework) -> Option<String> {
    let manifest = adapter(framework).evidence(site)?;
    let languages = languages_of(framework);
    let is_source = |name: &str| {
        let file = RepoPath::parse(name.to_owned()).ok();
        file.and_then(|file| language::name_of(&file)).is_some_and(|name| languages.contains(&name))
    };
    let files = site.find_files(COUNTED, &is_source, &|_| false);
    let tests = files.iter().filter(|file| holds_tests(site, file, framework)).count();
    (tests > 0).then(|| format!("{manifest}, {}", count(tests, "test file")))
}

/// Whether a source holds tests: by its name, in Rust also by a test module beside the code.
fn holds_tests(site: &Site, file: &Path, framework: Framework) -> bool {
    let below = file.strip_prefix(site.working_folder()).ok().and_then(Path::to_str);
    let path = below.and_then(|below| RepoPath::parse(below.to_owned()).ok());
    let is_named = path.is_some_and(|path| has_test_name(&path));
    let is_rust = languages_of(framework) == ["Rust"];
    is_named || is_rust && fs::read_to_string(file).is_ok_and(|text| text.contains("#[test]"))
}
