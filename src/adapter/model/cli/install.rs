//! Installs clients with npm, each in a folder of its own that is named after its version.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::adapter::host::process::{self, ExitReason, Invocation};
use crate::adapter::host::{environment, files};
use crate::domain::provider::ClientProgram;

use super::table::{self, CliRow};

/// Time limit of an installation; the largest client has 200 MB.
const LIMIT: Duration = Duration::from_mins(10);

/// Output of npm that is read at most, in bytes.
const OUTPUT: u64 = 1 << 20;

/// What to do about a client that is missing or too old.
pub(super) fn advice(row: &CliRow) -> String {
    format!("`regreen clients install {}` installs {} {}", row.name, row.package, row.version)
}

/// The program of a client that [`install`] put below `folder`, if it is there.
pub fn installed(program: ClientProgram, folder: &Path) -> Option<PathBuf> {
    let row = table::row(program);
    let path = program_in(&place(row, folder), row);
    path.exists().then_some(path)
}

fn place(row: &CliRow, folder: &Path) -> PathBuf {
    folder.join(format!("{}-{}", row.name, row.version))
}

fn program_in(place: &Path, row: &CliRow) -> PathBuf {
    place.join("node_modules/.bin").join(row.name)
}

/// Installs the tested version of a client below `folder` and returns its program. Runs no script
/// of any package, except for the one that puts the client's own program in place. One that is
/// installed already stays as it is. The error says what failed, in npm's words.
pub async fn install(program: ClientProgram, folder: &Path) -> Result<PathBuf, String> {
    let row = table::row(program);
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let folder = std::path::absolute(folder).map_err(failed)?;
    if let Some(path) = installed(program, &folder) {
        return Ok(path);
    }
    files::create_folder(&folder).map_err(failed)?;
    // Moved to its name when it is complete, so that an interrupted installation leaves nothing.
    let fresh = files::private_folder(&folder, "new-").map_err(failed)?;
    let package = format!("{}@{}", row.package, row.version);
    let mut npm = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund"].to_vec();
    npm.extend(["--loglevel=error", "--prefix", ".", &package]);
    run(&npm, fresh.path()).await?;
    if let Some(script) = row.install_script {
        let script = format!("node_modules/{}/{script}", row.package);
        run(&["node", &script], fresh.path()).await?;
    }
    if !program_in(fresh.path(), row).exists() {
        return Err(format!(
            "npm installed {package} without its program; see its settings (`npm config list`)"
        ));
    }
    let place = place(row, &folder);
    match std::fs::rename(fresh.path(), &place) {
        Ok(()) => Ok(program_in(&place, row)),
        // Another process was faster.
        Err(error) => installed(program, &folder).ok_or_else(|| failed(error)),
    }
}

async fn run(argv: &[&str], directory: &Path) -> Result<(), String> {
    let invocation = Invocation {
        argv: argv.iter().map(|&word| word.to_owned()).collect(),
        directory: directory.to_owned(),
        environment: environment::of_package_manager(),
        access: None,
    };
    let records = directory.join("records");
    let ran = process::run_with_input(&invocation, "", &records, LIMIT, OUTPUT, &|| false).await;
    let program = argv.first().unwrap_or(&"");
    let ran = ran.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            format!("`{program}` is not installed; the clients of models need Node.js with npm")
        }
        _ => format!("`{program}`: {error}"),
    })?;
    files::remove_tree(&records).map_err(|error| error.to_string())?;
    let reason = match ran.ending {
        Ok(ExitReason::Exit(0)) => return Ok(()),
        Ok(ending) => format!("it ended with {ending}"),
        Err(_) => format!("it did not end within {} minutes", LIMIT.as_secs() / 60),
    };
    let words: Vec<&str> = ran.err.lines().filter(|line| !line.trim().is_empty()).take(3).collect();
    Err(format!("`{}`: {reason}: {}", argv.join(" "), words.join("; ")))
}
