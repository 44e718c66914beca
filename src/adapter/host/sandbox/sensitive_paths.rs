//! Paths of the host that hold secrets or caches, and the list of everything besides given paths.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::adapter::host::environment;

/// Device files that programs may write to.
pub(super) const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
];

/// Credential files and folders below a home folder. Maven's `settings.xml` and Gradle's
/// `gradle.properties` are not among them: Java finds the real home by the user's name, and builds
/// fail if the file is there and cannot be read.
const HOME_SECRETS: &[&str] = &[
    ".env",
    ".ssh",
    ".gnupg",
    ".git-credentials",
    ".netrc",
    ".pypirc",
    ".npmrc",
    ".config/pip",
    ".pip",
    ".pgpass",
    ".my.cnf",
    ".vault-token",
    ".terraform.d/credentials.tfrc.json",
    ".terraformrc",
    ".aws",
    ".azure",
    ".kube",
    ".docker/config.json",
    ".config/gh",
    ".config/git/credentials",
    ".config/gcloud",
    ".cargo/credentials.toml",
    ".cargo/credentials",
    ".gem/credentials",
    ".claude",
    ".codex",
    ".config/github-copilot",
    ".copilot",
    ".gemini",
    ".qwen",
];

/// Folders that commonly hold secrets, and those in which GitHub's runner keeps action files.
const SECRETS: &[&str] =
    &["/run/secrets", "/var/run/secrets", "/github/runner_temp", "/github/file_commands"];

/// Variables that name the runner's command files.
const COMMAND_FILES: &[&str] =
    &["GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY"];

/// Parts of a cargo home that a build writes; installed programs are not among them.
const CARGO: &[&str] = &[
    "registry",
    "git",
    ".package-cache",
    ".package-cache-mutate",
    ".global-cache",
    ".global-cache-journal",
];

/// The shortest name of a user in an address that is taken for a token.
const TOKEN: usize = 20;

/// Whether a git configuration holds an `extraheader`, or a password or token in an address.
pub(super) fn holds_credentials(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim().to_ascii_lowercase();
        let address = line.split_once("://").map(|(_, rest)| rest);
        let host = address.and_then(|rest| rest.split(['/', '"']).next()).unwrap_or_default();
        line.contains("extraheader")
            || host
                .split_once('@')
                .is_some_and(|(user, _)| user.contains(':') || user.len() >= TOKEN)
    })
}

/// All paths that test code must not read, resolved to existing real paths.
pub(super) fn secrets(protected: &[PathBuf]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = SECRETS.iter().map(PathBuf::from).collect();
    if let Some(home) = environment::real_home() {
        found.extend(HOME_SECRETS.iter().map(|name| home.join(name)));
    }
    found.extend(environment::path_from("CARGO_HOME").map(|home| home.join("credentials.toml")));
    for name in COMMAND_FILES {
        found.extend(environment::path_from(name).and_then(|file| Some(file.parent()?.to_owned())));
    }
    if let Some(temp) = environment::path_from("RUNNER_TEMP") {
        found.extend(of_runner(&temp, &environment::variable("PATH").unwrap_or_default()));
    }
    let own = protected.iter().map(|folder| without_git(folder));
    found.extend(own.flat_map(|folder| [".env", ".env.local"].map(|name| folder.join(name))));
    // A checkout step leaves its token in the git configuration of the workspace, which is another
    // folder than ours when regreen runs as an action.
    let workspace = environment::path_from("GITHUB_WORKSPACE");
    let configs = protected.iter().chain(&workspace).flat_map(|folder| git_configurations(folder));
    let of_user = environment::real_home()
        .map(|home| [".gitconfig", ".config/git/config"].map(|name| home.join(name)));
    let of_user = of_user.into_iter().flatten();
    found.extend(configs.chain(of_user).filter(|config| {
        std::fs::read_to_string(config).is_ok_and(|text| holds_credentials(&text))
    }));
    real_paths(&found)
}

/// The folder of a repository, also where its git directory is named.
fn without_git(folder: &Path) -> &Path {
    let is_git = folder.file_name().is_some_and(|name| name == ".git");
    folder.parent().filter(|_| is_git).unwrap_or(folder)
}

/// The git configurations around a folder that may hold credentials, included ones too.
pub(super) fn git_configurations(folder: &Path) -> Vec<PathBuf> {
    let inside =
        folder.ancestors().find(|above| above.file_name().is_some_and(|name| name == ".git"));
    let git = inside.map_or_else(|| folder.join(".git"), Path::to_owned);
    let mut found = ["config", "config.worktree", "FETCH_HEAD"].map(|name| git.join(name)).to_vec();
    found.extend(children(&git.join("modules")).into_iter().map(|module| module.join("config")));
    let text = std::fs::read_to_string(git.join("config")).unwrap_or_default();
    let values = text.lines().filter_map(|line| line.split_once('='));
    let included = values.filter(|(key, _)| key.trim() == "path");
    found.extend(included.map(|(_, path)| git.join(path.trim().trim_matches('"'))));
    found
}

/// The existing paths, each once by its real path; the root folder is left out as a mistake.
fn real_paths(paths: &[PathBuf]) -> Vec<PathBuf> {
    let real = paths.iter().filter_map(|path| path.canonicalize().ok());
    let real: BTreeSet<PathBuf> = real.filter(|path| path.parent().is_some()).collect();
    real.into_iter().collect()
}

/// The runner's temporary folder, or only the secrets in it when tools are started from there.
fn of_runner(temp: &Path, search: &str) -> Vec<PathBuf> {
    if !std::env::split_paths(search).any(|folder| folder.starts_with(temp)) {
        return vec![temp.to_owned()];
    }
    let secret = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        name.is_some_and(|name| name.starts_with("git-credentials") || name.starts_with('_'))
    };
    children(temp).into_iter().filter(secret).collect()
}

/// The entries of a folder without symbolic links, whose targets have paths of their own.
pub(super) fn children(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let own = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
    own.map(|entry| entry.path()).collect()
}

/// The fewest folders and files that together cover everything besides `closed`.
pub(super) fn complement_of(
    closed: &[PathBuf],
    children: &dyn Fn(&Path) -> Vec<PathBuf>,
) -> Vec<PathBuf> {
    let mut open = Vec::new();
    let mut around = vec![PathBuf::from("/")];
    while let Some(folder) = around.pop() {
        for child in children(&folder) {
            if closed.contains(&child) {
            } else if closed.iter().any(|path| path.starts_with(&child)) {
                around.push(child);
            } else {
                open.push(child);
            }
        }
    }
    open
}

/// Temporary folders of the machine and of this child.
pub(super) fn temporary(environment: &BTreeMap<String, String>) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = ["/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from).to_vec();
    found.extend(environment.get("TMPDIR").map(PathBuf::from));
    real_paths(&found)
}

/// Splits folders into those that contain no protected path, and those that do.
pub(super) fn apart(folders: &[PathBuf], protected: &[PathBuf]) -> (Vec<PathBuf>, Vec<PathBuf>) {
    folders
        .iter()
        .cloned()
        .partition(|folder| !protected.iter().any(|path| path.starts_with(folder)))
}

/// Caches of build tools, which test runs may write.
pub(super) fn caches(environment: &BTreeMap<String, String>) -> Vec<PathBuf> {
    let of = |name: &str| environment.get(name).map(PathBuf::from);
    let mut found = Vec::new();
    if let Some(cargo) = of("CARGO_HOME") {
        found.extend(CARGO.iter().map(|name| cargo.join(name)));
    }
    found.extend(of("GOCACHE"));
    found.extend(of("GOMODCACHE"));
    found.extend(of("GOPATH").map(|go| go.join("pkg")));
    found.extend(of("GRADLE_USER_HOME"));
    found.extend(environment::real_home().map(|home| home.join(".m2/repository")));
    found
}

/// Moves caches that another user cannot write to that user's home.
pub(super) fn own_caches(environment: &mut BTreeMap<String, String>, home: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let open = |path: &Path| {
        std::fs::metadata(path).is_ok_and(|facts| facts.permissions().mode() & 0o002 != 0)
    };
    for (name, below) in [
        ("CARGO_HOME", ".cargo"),
        ("GOPATH", "go"),
        ("GOCACHE", ".cache/go-build"),
        ("GOMODCACHE", "go/pkg/mod"),
        ("GRADLE_USER_HOME", ".gradle"),
    ] {
        if environment.get(name).is_none_or(|path| !open(Path::new(path))) {
            environment.insert(name.to_owned(), home.join(below).display().to_string());
        }
    }
    if environment::real_home().is_none_or(|home| !open(&home.join(".m2/repository"))) {
        let option = format!("-Dmaven.repo.local={}", home.join(".m2/repository").display());
        environment.insert("MAVEN_OPTS".into(), option);
    }
}

/// Whether a program exists where the child will look for it.
pub(super) fn can_start(program: &str, search: &str, directory: &Path) -> bool {
    if program.contains('/') {
        return directory.join(program).is_file();
    }
    std::env::split_paths(search).any(|folder| directory.join(folder).join(program).is_file())
}
