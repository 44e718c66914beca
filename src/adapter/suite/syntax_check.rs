//! The project's own syntax or type check on edited files: quicker and stricter than a run of tests,
//! and it names the line.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use crate::adapter::host::process::{self, Ending, Invocation};
use crate::adapter::host::sandbox::Access;
use crate::domain::id::RepoPath;

use super::framework::Site;

/// Time for one check; the result of one that takes longer is ignored.
const LIMIT: Duration = Duration::from_mins(2);

/// Bytes of a check's output that are kept.
const OUTPUT_LIMIT: u64 = 2 << 10;

/// Reads Python files and names the first that does not compile; writes nothing.
const PYTHON: &str = "import sys
for name in sys.argv[1:]:
    with open(name, 'rb') as file:
        compile(file.read(), name, 'exec', dont_inherit=True)
";

/// Commands that check files of these names, run in the suite's folder.
fn commands(site: &Site, root: &Path, files: &[RepoPath]) -> Vec<Vec<String>> {
    let of = |endings: &[&str]| -> Vec<String> {
        files
            .iter()
            .filter(|file| {
                file.as_str().rsplit_once('.').is_some_and(|(_, ending)| endings.contains(&ending))
            })
            .map(|file| root.join(file.as_str()).display().to_string())
            .collect()
    };
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let folder = site.folder();
    let mut list = Vec::new();
    let python = of(&["py"]);
    if !python.is_empty() {
        list.push([vec![site.python(), "-c".into(), PYTHON.into()], python].concat());
    }
    list.extend(
        of(&["js", "mjs", "cjs"])
            .into_iter()
            .map(|file| vec!["node".to_owned(), "--check".into(), file]),
    );
    let tsc = folder.join("node_modules/.bin/tsc");
    if !of(&["ts", "tsx"]).is_empty() && tsc.is_file() && folder.join("tsconfig.json").is_file() {
        list.push(vec![tsc.display().to_string(), "--noEmit".into(), "-p".into(), ".".into()]);
    }
    if !of(&["rs"]).is_empty() && folder.join("Cargo.toml").is_file() {
        list.push(words("cargo check --tests --quiet --message-format short"));
    }
    if !of(&["go"]).is_empty() && folder.join("go.mod").is_file() {
        list.push(words("go vet ./..."));
    }
    list
}

/// One check of files as they are on disk.
pub struct SyntaxCheck<'a> {
    pub site: &'a Site,
    pub root: &'a Path,
    pub files: &'a [RepoPath],
    /// A configured command that replaces the detected checks.
    pub build_command: Option<&'a str>,
    /// The environment of test code.
    pub environment: BTreeMap<String, String>,
    /// What test code may read and write.
    pub access: Access,
}

impl SyntaxCheck<'_> {
    /// The output of the first check that fails; `None` when all succeed, none is available, or one
    /// takes too long.
    pub async fn first_error(&self, log: &Path) -> Option<String> {
        let commands = match self.build_command {
            Some(command) => vec![vec!["sh".into(), "-c".into(), command.to_owned()]],
            None => commands(self.site, self.root, self.files),
        };
        for argv in commands {
            let program = argv.first().cloned().unwrap_or_default();
            let invocation = Invocation {
                argv,
                directory: self.site.folder(),
                environment: self.environment.clone(),
                access: Some(self.access.clone()),
            };
            let Ok(ending) = process::run(&invocation, LIMIT, log).await else { continue };
            if matches!(ending, Ending::Exit(code) if code != 0) {
                let output = process::tail_of(log, OUTPUT_LIMIT);
                let output = output.replace(&format!("{}/", self.root.display()), "");
                let program = program.rsplit('/').next().unwrap_or(&program);
                let name = self.build_command.unwrap_or(program);
                return Some(format!("{name} says: {}", output.trim()));
            }
        }
        None
    }
}
