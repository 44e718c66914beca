//! Runs the project's syntax or type check on edited files: faster and stricter than a test run,
//! and it names the line.

use std::path::Path;
use std::time::Duration;

use crate::adapter::host::process::{self, ExitReason};
use crate::domain::id::RepoPath;

use super::framework::{Site, shell_argv, words};
use super::project_suite::ProjectSuite;

/// Time limit of one check; a check that exceeds it is ignored.
const LIMIT: Duration = Duration::from_mins(2);

/// Bytes of a check's output that are kept.
const OUTPUT_LIMIT: u64 = 2 << 10;

/// Python program that compiles the given files and stops at the first error; writes nothing.
pub const COMPILE_PYTHON: &str = "import sys
for name in sys.argv[1:]:
    with open(name, 'rb') as file:
        compile(file.read(), name, 'exec', dont_inherit=True)
";

/// The commands that check files by extension, run in the suite's folder.
fn commands(site: &Site, root: &Path, files: &[RepoPath]) -> Vec<Vec<String>> {
    let of = |endings: &[&str]| -> Vec<String> {
        let own = files.iter().filter(|file| endings.contains(&file.extension()));
        own.map(|file| root.join(file.as_str()).display().to_string()).collect()
    };
    let folder = site.working_folder();
    let mut list = Vec::new();
    let python = of(&["py"]);
    if !python.is_empty() {
        list.push([vec![site.find_python(), "-c".into(), COMPILE_PYTHON.into()], python].concat());
    }
    let scripts = of(&["js", "mjs", "cjs"]).into_iter();
    list.extend(scripts.map(|file| vec!["node".to_owned(), "--check".into(), file]));
    let tsc = folder.join("node_modules/.bin/tsc");
    if !of(&["ts", "tsx"]).is_empty() && tsc.is_file() && folder.join("tsconfig.json").is_file() {
        list.push(vec![tsc.display().to_string(), "--noEmit".into(), "-p".into(), ".".into()]);
    }
    if !of(&["rs"]).is_empty() && folder.join("Cargo.toml").is_file() {
        list.push(words(&["cargo", "check", "--tests", "--quiet", "--message-format", "short"]));
    }
    if !of(&["go"]).is_empty() && folder.join("go.mod").is_file() {
        list.push(words(&["go", "vet", "./..."]));
    }
    list
}

impl ProjectSuite<'_> {
    /// The output of the first check of files that fails in time; `None` when there is none.
    pub(super) async fn first_syntax_error(
        &self,
        root: &Path,
        files: &[RepoPath],
    ) -> Option<String> {
        let build_command = self.settings.tools.build.as_deref();
        let commands = match build_command {
            Some(command) => vec![shell_argv(command)],
            None => commands(&self.site(root), root, files),
        };
        let log = self.settings.scratch.join("check.log");
        for argv in commands {
            let program = argv.first().cloned().unwrap_or_default();
            let invocation = self.invocation(root, argv);
            let Ok(ending) = process::run(&invocation, LIMIT, &log).await else { continue };
            if matches!(ending, ExitReason::Exit(code) if code != 0) {
                let output = process::tail_of(&log, OUTPUT_LIMIT);
                let output = output.replace(&format!("{}/", root.display()), "");
                let program = program.rsplit('/').next().unwrap_or(&program);
                let name = build_command.unwrap_or(program);
                return Some(format!("{name} says: {}", output.trim()));
            }
        }
        None
    }
}
