//! Environment variables of this process, and the subset that child processes get.

#![expect(clippy::disallowed_methods, reason = "the one place that reads variables")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Variables that child processes inherit. All others, tokens and keys above all, are withheld
/// (specification.md 13.10).
const ALLOWED: &[&str] = &[
    "PATH",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LC_MESSAGES",
    "TZ",
    "TMPDIR",
    "SHELL",
    "USER",
    "LOGNAME",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "PYENV_ROOT",
    "PYENV_VERSION",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "RUSTFLAGS",
    "GOPATH",
    "GOROOT",
    "GOMODCACHE",
    "GOCACHE",
    "GOPROXY",
    "GOFLAGS",
    "GOSUMDB",
    "GOTOOLCHAIN",
    "JAVA_HOME",
    "M2_HOME",
    "MAVEN_HOME",
    "GRADLE_HOME",
    "NVM_DIR",
    "NVM_BIN",
    "NODE_PATH",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
];

/// Tool folders in the real home; their variables keep them usable when `HOME` is replaced.
const TOOL_HOMES: &[(&str, &str)] = &[
    ("CARGO_HOME", ".cargo"),
    ("RUSTUP_HOME", ".rustup"),
    ("GOPATH", "go"),
    ("GOCACHE", ".cache/go-build"),
    ("PYENV_ROOT", ".pyenv"),
    ("GRADLE_USER_HOME", ".gradle"),
];

/// The environment of test code: the allow list, a separate home, and settings for quiet output.
pub fn of_child(home: &Path) -> BTreeMap<String, String> {
    let mut environment = BTreeMap::new();
    for name in ALLOWED {
        if let Ok(value) = std::env::var(name) {
            environment.insert((*name).to_owned(), value);
        }
    }
    if let Ok(real) = std::env::var("HOME") {
        for (name, below) in TOOL_HOMES {
            let folder = Path::new(&real).join(below);
            if folder.is_dir() {
                let folder = folder.display().to_string();
                environment.entry((*name).to_owned()).or_insert(folder);
            }
        }
    }
    for (name, value) in [
        ("HOME", home.display().to_string()),
        ("CI", "true".to_owned()),
        ("TERM", "dumb".to_owned()),
        ("NO_COLOR", "1".to_owned()),
        ("PYTHONDONTWRITEBYTECODE", "1".to_owned()),
        ("PYTHONHASHSEED", "0".to_owned()),
        ("GIT_TERMINAL_PROMPT", "0".to_owned()),
    ] {
        environment.insert(name.to_owned(), value);
    }
    environment
}

/// Whether a variable names tools, folders or caches that exist only on this machine.
pub fn is_of_this_machine(name: &str) -> bool {
    ALLOWED.contains(&name) || TOOL_HOMES.iter().any(|(tool, _)| *tool == name)
}

/// The real home folder of the user, where tools keep their caches.
pub fn real_home() -> Option<PathBuf> {
    std::env::var("HOME").ok().map(PathBuf::from)
}

/// A variable of this process.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The variables of our own environment that are text.
pub fn own() -> BTreeMap<String, String> {
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text).collect()
}

/// A path from a variable of this process, when it is set and not empty.
pub fn path_from(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_see_the_allow_list_and_a_home_of_their_own() {
        let environment = of_child(Path::new("/scratch"));
        assert_eq!(environment.get("HOME").map(String::as_str), Some("/scratch"));
        for name in environment.keys() {
            assert!(!name.contains("TOKEN") && !name.contains("KEY"), "{name}");
        }
    }
}
