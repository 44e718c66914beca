//! Folders that regreen uses on this machine: state, private checkouts and scratch.

use std::path::PathBuf;

use crate::domain::id::{SessionId, sha256_hex, slug};

use super::host::environment;
use super::repo::RepositoryFacts;
use super::store::{STATE_FOLDER, STATE_ROOT};

/// Variable that overrides the folder of private checkouts.
pub const WORK_DIRECTORY: &str = "REGREEN_WORK_DIR";

pub fn state_root(facts: &RepositoryFacts) -> PathBuf {
    facts.common.join(STATE_ROOT)
}

/// The folder for everything that can be recreated.
pub fn work_home() -> PathBuf {
    let chosen = environment::path_from(WORK_DIRECTORY);
    // Git would take a relative path from the repository's own folder.
    let chosen = chosen.map(|path| std::path::absolute(&path).unwrap_or(path));
    chosen
        .or_else(|| environment::path_from("XDG_CACHE_HOME").map(|cache| cache.join("regreen")))
        .or_else(|| environment::real_home().map(|home| home.join(".cache/regreen")))
        .unwrap_or_else(|| std::env::temp_dir().join("regreen"))
}

/// The folder of installed clients: the tool cache of the runner, or else our own folder.
pub fn clients_folder() -> PathBuf {
    let cache = environment::path_from("RUNNER_TOOL_CACHE").map(|cache| cache.join("regreen"));
    cache.unwrap_or_else(work_home).join("clients")
}

/// The folder that holds the private checkouts of a repository.
pub fn work_root(facts: &RepositoryFacts) -> PathBuf {
    let cache = work_home();
    let digest = sha256_hex(facts.common.as_os_str().as_encoded_bytes());
    let short: String = digest.chars().take(8).collect();
    let name =
        facts.root.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    cache.join(format!("{}-{short}", slug(&name)))
}

/// A private folder of a session outside of every checkout.
pub fn scratch(facts: &RepositoryFacts, session: &SessionId) -> PathBuf {
    work_root(facts).join(session.as_str()).join("scratch")
}

/// The path of a session's state folder inside commits.
pub fn state_prefix(session: &SessionId) -> String {
    format!("{STATE_FOLDER}/{}", session.state_folder())
}
