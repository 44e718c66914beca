//! The part of a project's test script that runs a test runner of Node.js.

use crate::adapter::host::environment;
use crate::domain::test_command::TestCommand;

use super::adapter::{FrameworkAdapter, Site};

/// Scripts of `package.json` that are followed from the test script.
const FOLLOWED: usize = 5;

/// The command of a test script that runs the tests.
pub struct ScriptCommand {
    pub command: TestCommand,
    pub evidence: String,
    /// Whether the test script does nothing else.
    is_whole: bool,
}

/// The first command of the test script, or of the scripts that it runs with `npm run`, for which
/// `is_run_by` holds. What formats the output behind a `|` is left out.
pub fn find(site: &Site, is_run_by: &dyn Fn(&TestCommand) -> bool) -> Option<ScriptCommand> {
    let package = site.read_package()?;
    let script = site.test_script()?;
    let mut texts = vec![script.clone()];
    let (mut at, mut is_whole) = (0, true);
    while let Some(text) = texts.get(at).filter(|_| at < FOLLOWED).cloned() {
        let parts = TestCommand::new(&text).parts();
        is_whole &= parts.len() == 1;
        for part in parts {
            let command = TestCommand::new(part.text().split(" | ").next().unwrap_or_default());
            if is_run_by(&command) {
                return Some(ScriptCommand {
                    command,
                    evidence: format!("`{script}` in package.json"),
                    is_whole,
                });
            }
            let runs =
                [&["npm", "run"][..], &["yarn", "run"], &["pnpm", "run"], &["yarn"], &["pnpm"]];
            let name = runs.iter().find_map(|run| {
                let mut words = command.words().iter();
                let is_run = run.iter().all(|word| words.next().is_some_and(|one| one == word));
                words.find(|word| !word.starts_with('-')).filter(|_| is_run)
            });
            let next = name.and_then(|name| package["scripts"][name.as_str()].as_str());
            texts.extend(next.map(str::to_owned));
        }
        at += 1;
    }
    None
}

/// Whether the test script starts a framework.
pub fn starts_framework(site: &Site, adapter: &FrameworkAdapter) -> bool {
    find(site, &adapter.is_run_by).is_some()
}

/// The command that runs the whole test script, where that does more than the command which
/// `is_run_by` finds: other commands, or the scripts that npm runs before and after it.
pub fn find_whole(site: &Site, is_run_by: &dyn Fn(&TestCommand) -> bool) -> Option<&'static str> {
    let package = site.read_package()?;
    site.test_script()?;
    let has_hook = ["pretest", "posttest"].iter().any(|name| package["scripts"][name].is_string());
    let is_whole = find(site, is_run_by).is_some_and(|found| found.is_whole);
    (has_hook || !is_whole).then_some("npm test")
}

/// The search path of the scripts of npm: the programs of the project come first.
pub fn search_path(site: &Site) -> Option<(String, String)> {
    let path = site.path.clone().or_else(|| environment::variable("PATH"))?;
    let own =
        [site.working_folder(), site.root.clone()].map(|folder| folder.join("node_modules/.bin"));
    let joined = std::env::join_paths(own.into_iter().chain(std::env::split_paths(&path))).ok()?;
    Some(("PATH".to_owned(), joined.into_string().ok()?))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "a script lies in a real folder")]

    use super::*;

    #[test]
    fn a_script_that_does_more_than_run_one_runner_is_run_whole() {
        let table = [
            (r#""test": "mocha""#, false),
            (r#""test": "mocha --exit | cat""#, false),
            (r#""test": "npm run unit", "unit": "CI=1 mocha""#, false),
            (r#""test": "mocha && node e2e.js""#, true),
            (
                r#""test": "npm run unit && npm run e2e", "unit": "mocha", "e2e": "node e2e.js""#,
                true,
            ),
            (r#""test": "mocha; node e2e.js""#, true),
            (r#""test": "gulp check""#, true),
            (r#""test": "mocha", "pretest": "eslint .""#, true),
            (r#""test": "mocha", "posttest": "eslint .""#, true),
            (r#""unit": "mocha", "pretest": "eslint .""#, false),
        ];
        for (scripts, expected) in table {
            let folder = tempfile::tempdir().unwrap();
            let text = format!("{{\"scripts\": {{{scripts}}}}}");
            std::fs::write(folder.path().join("package.json"), text).unwrap();
            let is_run_by = |command: &TestCommand| command.after(&["mocha"]).is_some();
            let whole = find_whole(&Site::new(folder.path(), ""), &is_run_by);
            assert_eq!(whole.is_some(), expected, "{scripts}");
        }
    }
}
