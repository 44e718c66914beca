//! The part of a project's test script that runs a test runner of Node.js.

use crate::adapter::host::environment;
use crate::domain::test_command::TestCommand;

use super::adapter::Site;

/// Scripts of `package.json` that are followed from the test script.
const FOLLOWED: usize = 5;

/// The command of a test script that runs the tests.
pub struct ScriptCommand {
    pub command: TestCommand,
    pub evidence: String,
}

/// The first command of the test script, or of the scripts that it runs with `npm run`, for which
/// `is_run_by` holds. What formats the output behind a `|` is left out.
pub fn find(site: &Site, is_run_by: &dyn Fn(&TestCommand) -> bool) -> Option<ScriptCommand> {
    let package = site.read_package()?;
    let script = site.test_script()?;
    let mut texts = vec![script.clone()];
    let mut at = 0;
    while let Some(text) = texts.get(at).filter(|_| at < FOLLOWED).cloned() {
        for part in TestCommand::new(&text).parts() {
            let command = TestCommand::new(part.text().split(" | ").next().unwrap_or_default());
            if is_run_by(&command) {
                return Some(ScriptCommand {
                    command,
                    evidence: format!("`{script}` in package.json"),
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

/// The search path of the scripts of npm: the programs of the project come first.
pub fn search_path(site: &Site) -> Option<(String, String)> {
    let path = site.path.clone().or_else(|| environment::variable("PATH"))?;
    let own =
        [site.working_folder(), site.root.clone()].map(|folder| folder.join("node_modules/.bin"));
    let joined = std::env::join_paths(own.into_iter().chain(std::env::split_paths(&path))).ok()?;
    Some(("PATH".to_owned(), joined.into_string().ok()?))
}
