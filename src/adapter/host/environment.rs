//! Environment variables of this process, and the subset that child processes get.

#![expect(clippy::disallowed_methods, reason = "the one place that reads variables")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::domain::secret::Canary;

use super::canary::canary;

/// Variables that child processes inherit besides those of [`TOOL_HOMES`]. All others, tokens and
/// keys above all, are withheld (specification.md 4.13).
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
    "PYENV_VERSION",
    "RUSTUP_TOOLCHAIN",
    "RUSTFLAGS",
    "RBENV_VERSION",
    "GEM_HOME",
    "GEM_PATH",
    "BUNDLE_PATH",
    "BUNDLE_WITHOUT",
    "GOROOT",
    "GOMODCACHE",
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

/// Tool folders with their places in the real home; they stay usable when `HOME` is replaced.
const TOOL_HOMES: &[(&str, &str)] = &[
    ("CARGO_HOME", ".cargo"),
    ("RUSTUP_HOME", ".rustup"),
    ("GOPATH", "go"),
    ("GOCACHE", ".cache/go-build"),
    ("PYENV_ROOT", ".pyenv"),
    ("RBENV_ROOT", ".rbenv"),
    ("GRADLE_USER_HOME", ".gradle"),
];

/// The environment of test code: allow list, separate home, settings for quiet output, canary.
pub fn of_child(home: &Path) -> BTreeMap<String, String> {
    let mut environment = derived(home, &variable);
    let token = canary().map(|canary| (Canary::VARIABLE.to_owned(), canary.token()));
    environment.extend(token);
    environment
}

/// The environment of test code, derived from the variables of this process.
fn derived(home: &Path, own: &dyn Fn(&str) -> Option<String>) -> BTreeMap<String, String> {
    let mut environment = BTreeMap::new();
    for name in ALLOWED {
        environment.extend(own(name).map(|value| ((*name).to_owned(), value)));
    }
    let real = own("HOME").map(PathBuf::from);
    for (name, below) in TOOL_HOMES {
        let usual = || real.as_ref().map(|real| real.join(below)).filter(|folder| folder.is_dir());
        let folder = own(name).or_else(|| usual().map(|folder| folder.display().to_string()));
        environment.extend(folder.map(|folder| ((*name).to_owned(), folder)));
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

/// Variables that a client of a model needs of ours.
const OF_CLIENTS: &[&str] = &[
    "PATH",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
];

/// The environment of a client of a model, without its key.
pub fn of_client(home: &Path) -> BTreeMap<String, String> {
    let own = OF_CLIENTS.iter().filter_map(|name| Some(((*name).to_owned(), variable(name)?)));
    let fixed = [("CI", "true"), ("TERM", "dumb"), ("NO_COLOR", "1")];
    let fixed = fixed.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let mut environment: BTreeMap<String, String> =
        own.chain(fixed).chain([("HOME".to_owned(), home.display().to_string())]).collect();
    // An agent works in a checkout, which must not supply programs.
    environment.entry("PATH".into()).and_modify(|path| *path = absolute_entries(path));
    environment
}

/// What a package manager needs of ours: the user's home, and what leads to the registry.
const OF_PACKAGE_MANAGERS: &[&str] =
    &["HOME", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy"];

/// The environment of a package manager that installs what the user named.
pub fn of_package_manager() -> BTreeMap<String, String> {
    let is_needed = |name: &str| {
        OF_CLIENTS.contains(&name)
            || OF_PACKAGE_MANAGERS.contains(&name)
            || name.to_ascii_lowercase().starts_with("npm_config_")
    };
    own().into_iter().filter(|(name, _)| is_needed(name)).collect()
}

/// A search path without its relative entries.
fn absolute_entries(path: &str) -> String {
    let entries = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    let joined = std::env::join_paths(entries).unwrap_or_default();
    joined.to_string_lossy().into_owned()
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
    fn tool_folders_are_those_that_are_set_or_else_those_in_the_real_home() {
        let real = tempfile::tempdir().unwrap();
        std::fs::create_dir(real.path().join(".gradle")).unwrap();
        std::fs::create_dir(real.path().join(".cargo")).unwrap();
        let own = |name: &str| match name {
            "HOME" => Some(real.path().display().to_string()),
            "GRADLE_USER_HOME" | "GOMODCACHE" | "API_TOKEN" => Some(format!("/set/{name}")),
            _ => None,
        };
        let environment = derived(Path::new("/scratch"), &own);
        let table = [
            ("GRADLE_USER_HOME", Some("/set/GRADLE_USER_HOME".to_owned())),
            ("GOMODCACHE", Some("/set/GOMODCACHE".to_owned())),
            ("CARGO_HOME", Some(real.path().join(".cargo").display().to_string())),
            ("RUSTUP_HOME", None),
            ("API_TOKEN", None),
        ];
        for (name, expected) in table {
            assert_eq!(environment.get(name), expected.as_ref(), "{name}");
        }
    }

    #[test]
    fn children_see_the_allow_list_and_a_home_of_their_own() {
        let mut environment = of_child(Path::new("/scratch"));
        assert_eq!(environment.get("HOME").map(String::as_str), Some("/scratch"));
        let token = environment.remove(Canary::VARIABLE).unwrap();
        assert!(canary().unwrap().is_in(&token));
        for name in environment.keys() {
            assert!(!name.contains("TOKEN") && !name.contains("KEY"), "{name}");
        }
    }
}
