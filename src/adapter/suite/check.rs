//! The project's own syntax or type check on edited files, where its tools are there: quicker and
//! stricter than a run of tests, and it says where.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use crate::adapter::host::process::{self, Ending, Invocation};
use crate::adapter::host::sandbox::Access;
use crate::domain::id::RepoPath;

use super::framework::Site;

/// Time for one check; one that takes longer says nothing.
const LIMIT: Duration = Duration::from_mins(2);

/// Bytes of what a check said that are kept.
const SAID: u64 = 2 << 10;

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

/// What the project's own check says against the files as they are on disk; `None` when it says
/// nothing, is not there, or takes too long. `build` is the command to ask instead of what is
/// detected.
pub async fn check(
    site: &Site,
    root: &Path,
    (files, build): (&[RepoPath], Option<&str>),
    child: (BTreeMap<String, String>, Access),
    log: &Path,
) -> Option<String> {
    let commands = match build {
        Some(build) => vec![vec!["sh".into(), "-c".into(), build.to_owned()]],
        None => commands(site, root, files),
    };
    for argv in commands {
        let name = build.map(str::to_owned).or_else(|| argv.first().cloned()).unwrap_or_default();
        let (environment, access) = child.clone();
        let invocation =
            Invocation { argv, directory: site.folder(), environment, access: Some(access) };
        let Ok(ending) = process::run(&invocation, LIMIT, log).await else { continue };
        if let Ending::Exit(code) = ending
            && code != 0
        {
            let said = process::tail_of(log, SAID);
            let said = said.replace(&format!("{}/", root.display()), "");
            let program =
                if build.is_some() { &name } else { name.rsplit('/').next().unwrap_or(&name) };
            return Some(format!("{program} says: {}", said.trim()));
        }
    }
    None
}
