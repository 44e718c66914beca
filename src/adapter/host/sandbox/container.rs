//! Runs test code in a container: starting a child becomes `docker run` or `podman run`
//! (specification.md 4.13). Uses the engine's command line; no library talks to its socket.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use rustix::process::{getegid, geteuid};

use super::super::environment;
use super::super::invocation::{Access, Invocation};
use super::super::{orphans, short_command};
use super::{OTHER, chown_tree};

/// Engines, in the order in which they are tried.
const ENGINES: &[&str] = &["docker", "podman"];

/// Time limit of a short call to an engine.
const ANSWER: Duration = Duration::from_secs(20);

/// Time limit for pulling an image.
const PULL: Duration = Duration::from_mins(10);

/// Variables of this process that the engine's command line needs.
const OF_ENGINES: &[&str] = &[
    "PATH",
    "HOME",
    "DOCKER_HOST",
    "DOCKER_CONTEXT",
    "DOCKER_CONFIG",
    "DOCKER_CERT_PATH",
    "DOCKER_TLS_VERIFY",
    "CONTAINER_HOST",
    "XDG_RUNTIME_DIR",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
];

/// Files whose presence shows that this process runs in a container itself.
const WITHIN: &[&str] = &["/.dockerenv", "/run/.containerenv"];

static CONTAINER: OnceLock<Container> = OnceLock::new();

/// The container configuration for test code.
#[derive(Debug)]
pub(super) struct Container {
    engine: &'static str,
    image: String,
    network: bool,
    user: (u32, u32),
    /// Mounts of our own container as pairs of its folder and the host's; `None` outside of one.
    within: Option<Vec<(PathBuf, PathBuf)>>,
}

/// Runs test code in `image` from now on, without a network unless `network` is set. Must be called
/// before any child starts; a second call changes nothing.
pub fn run_in(image: &str, network: bool) -> Result<(), String> {
    if CONTAINER.get().is_some() {
        return Ok(());
    }
    if !is_reference(image) {
        return Err(format!("`{image}` is not the name of an image"));
    }
    let engine = ENGINES.iter().find(|engine| say(engine, &["version"], ANSWER).is_ok());
    let Some(engine) = engine else {
        return Err("neither docker nor podman answers here".into());
    };
    if say(engine, &["image", "inspect", image], ANSWER).is_err() {
        say(engine, &["pull", "--quiet", image], PULL)
            .map_err(|error| format!("{engine} cannot pull `{image}`: {error}"))?;
    }
    let user =
        if geteuid().is_root() { (OTHER, OTHER) } else { (geteuid().as_raw(), getegid().as_raw()) };
    let inside = WITHIN.iter().any(|file| Path::new(file).exists());
    let within = inside.then(|| mounts(engine)).transpose()?;
    let image = image.to_owned();
    CONTAINER.get_or_init(|| Container { engine, image, network, user, within });
    Ok(())
}

/// The configuration in force; `None` when test code runs without a container.
pub(super) fn container() -> Option<&'static Container> {
    CONTAINER.get()
}

/// Whether a text can be an image name, tag or digest; it never looks like a command-line flag.
fn is_reference(image: &str) -> bool {
    image.starts_with(|c: char| c.is_ascii_alphanumeric())
        && image.len() <= 400
        && image.chars().all(|c| c.is_ascii_alphanumeric() || "._-/:@".contains(c))
}

/// The environment of the engine's command line.
fn own_environment() -> BTreeMap<String, String> {
    OF_ENGINES
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), environment::variable(name)?)))
        .collect()
}

/// Runs the engine's command line and returns its output.
fn say(engine: &str, words: &[&str], limit: Duration) -> io::Result<String> {
    let argv = std::iter::once(&engine).chain(words).map(|word| (*word).to_owned()).collect();
    let (directory, environment) = (PathBuf::from("/"), own_environment());
    short_command::run(&Invocation { argv, directory, environment, access: None }, "", limit)
}

/// The mounts of our own container: a sibling container can only mount folders of the host.
fn mounts(engine: &str) -> Result<Vec<(PathBuf, PathBuf)>, String> {
    let name = std::fs::read_to_string("/etc/hostname").unwrap_or_default().trim().to_owned();
    let format = "{{json .Mounts}}";
    let mounts = say(engine, &["inspect", "--format", format, &name], ANSWER).map_err(|error| {
        format!("regreen is in a container itself, which {engine} does not know: {error}")
    })?;
    let list: Vec<serde_json::Value> = serde_json::from_str(mounts.trim())
        .map_err(|error| format!("the list of mounts from {engine} cannot be parsed: {error}"))?;
    let path = |mount: &serde_json::Value, key: &str| mount.get(key)?.as_str().map(PathBuf::from);
    Ok(list
        .iter()
        .filter_map(|mount| Some((path(mount, "Destination")?, path(mount, "Source")?)))
        .collect())
}

impl Container {
    /// A sentence for people that describes the isolation.
    pub(super) fn in_force(&self) -> String {
        let network = if self.network { "with the engine's network" } else { "without a network" };
        format!(
            "test code runs in a container of `{}` by {}, as user {}, without capabilities, {network}; it sees the private checkout and its scratch folder",
            self.image, self.engine, self.user.0
        )
    }

    /// Whether test code can reach the network.
    pub(super) fn is_open(&self) -> bool {
        self.network
    }

    /// The child, wrapped in the engine's command. `tag` names the container, to remove it later.
    pub(super) fn launch(
        &self,
        child: &Invocation,
        access: &Access,
        tag: &str,
    ) -> io::Result<Invocation> {
        if geteuid().is_root() {
            chown_tree::chown_without_path(access, self.user.0)?;
        }
        let mut environment = own_environment();
        environment.insert(orphans::TAG.into(), tag.to_owned());
        let argv = self.arguments(child, access, tag)?;
        Ok(Invocation { argv, directory: "/".into(), environment, access: None })
    }

    fn arguments(&self, child: &Invocation, access: &Access, tag: &str) -> io::Result<Vec<String>> {
        let mut open: Vec<&Path> = access.checkouts.iter().map(PathBuf::as_path).collect();
        open.push(&access.scratch);
        // The folder in which the child works is mounted for reading: the other protected folders stay outside.
        let looked_at = access.protected.iter().map(PathBuf::as_path).find(|folder| {
            child.directory.starts_with(folder)
                && !open.iter().any(|folder| child.directory.starts_with(folder))
        });
        let mut argv: Vec<String> =
            [self.engine, "run", "--rm", "--interactive"].map(str::to_owned).into();
        if self.engine == "docker" {
            // Podman's own init is a package that is often missing.
            argv.push("--init".into());
        }
        argv.extend(["--name".into(), name(tag)]);
        argv.extend(["--pull", "never", "--cap-drop", "ALL"].map(str::to_owned));
        argv.extend(["--security-opt".into(), "no-new-privileges".into()]);
        argv.extend(["--user".into(), format!("{}:{}", self.user.0, self.user.1)]);
        if self.engine == "podman" && !geteuid().is_root() {
            argv.extend(["--userns".into(), "keep-id".into()]);
        }
        if !self.network {
            argv.extend(["--network".into(), "none".into()]);
        }
        for folder in &open {
            argv.extend(["--mount".into(), self.mount(folder, "")?]);
        }
        if let Some(folder) = looked_at {
            argv.extend(["--mount".into(), self.mount(folder, ",readonly")?]);
        }
        let seen: Vec<&Path> = open.iter().copied().chain(looked_at).collect();
        argv.extend(["--workdir".into(), child.directory.display().to_string()]);
        for (name, value) in &child.environment {
            if travels(name, value, &seen) {
                argv.extend(["--env".into(), format!("{name}={value}")]);
            }
        }
        let mut words = program(&child.argv, &seen).into_iter();
        // Replaces the entry point of the image.
        argv.extend(["--entrypoint".into(), words.next().unwrap_or_default()]);
        argv.push(self.image.clone());
        argv.extend(words);
        Ok(argv)
    }

    /// A bind mount of a folder under the same path in the container.
    fn mount(&self, folder: &Path, end: &str) -> io::Result<String> {
        let source = match &self.within {
            None => folder.to_owned(),
            Some(mounts) => mounts
                .iter()
                .filter_map(|(ours, theirs)| Some((ours, theirs, folder.strip_prefix(ours).ok()?)))
                .max_by_key(|(ours, _, _)| ours.as_os_str().len())
                .map(|(_, theirs, rest)| {
                    if rest.as_os_str().is_empty() { theirs.clone() } else { theirs.join(rest) }
                })
                .ok_or_else(|| {
                    io::Error::other(format!(
                        "{} lies in regreen's own container, where another one cannot see it: set REGREEN_WORK_DIR to a folder that is mounted",
                        folder.display()
                    ))
                })?,
        };
        let (source, target) = (source.display().to_string(), folder.display().to_string());
        if source.contains([',', '"']) || target.contains([',', '"']) {
            return Err(io::Error::other(format!(
                "{target} cannot be mounted: its name has a comma or quote"
            )));
        }
        Ok(format!("type=bind,source={source},target={target}{end}"))
    }
}

/// The name of the container of a run.
fn name(tag: &str) -> String {
    format!("regreen-{tag}")
}

/// Whether a variable is passed into the container, not naming tools or caches of the host.
fn travels(name: &str, value: &str, seen: &[&Path]) -> bool {
    let locale = name.starts_with("LC_") || matches!(name, "LANG" | "LANGUAGE" | "TZ");
    if locale {
        return true;
    }
    let shared = value
        .split([':', '=', ',', ' '])
        .any(|part| seen.iter().any(|folder| Path::new(part).starts_with(folder)));
    let home = environment::real_home().map(|home| home.display().to_string());
    let of_home = home.is_some_and(|home| home.len() > 1 && value.contains(&home));
    shared || !of_home && !environment::is_of_this_machine(name)
}

/// Replaces the path of a program on the host by its bare name, unless the path is mounted.
fn program(argv: &[String], seen: &[&Path]) -> Vec<String> {
    let mut argv = argv.to_vec();
    if let Some(first) = argv.first_mut() {
        let path = Path::new(first.as_str());
        let foreign = path.is_absolute() && !seen.iter().any(|folder| path.starts_with(folder));
        let plain = path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
        if let Some(plain) = plain.filter(|_| foreign) {
            *first = plain;
        }
    }
    argv
}

/// Removes the container of a run, with everything in it; a missing one is no error.
pub(super) fn remove(tag: &str) {
    if let Some(container) = container()
        && let Err(error) = say(container.engine, &["rm", "--force", &name(tag)], ANSWER)
    {
        tracing::debug!(%error, tag, "the container is gone");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn container(network: bool, within: Option<Vec<(PathBuf, PathBuf)>>) -> Container {
        Container { engine: "docker", image: "python:3.13".into(), network, user: (7, 8), within }
    }

    fn child(directory: &str) -> Invocation {
        let environment = [
            ("PATH", "/usr/bin"),
            ("CARGO_HOME", "/opt/cargo"),
            ("PYTHONPATH", "/w/drivers:/c"),
            ("LANG", "C.UTF-8"),
            ("CI", "true"),
        ];
        Invocation {
            argv: vec!["/usr/bin/python3".into(), "-m".into(), "pytest".into()],
            directory: directory.into(),
            environment: environment.map(|(name, value)| (name.into(), value.into())).into(),
            access: None,
        }
    }

    fn access() -> Access {
        Access {
            checkouts: vec!["/c".into()],
            scratch: "/w".into(),
            protected: vec!["/home/me/repo".into(), "/home/me/repo/.git/regreen".into()],
            ..Access::default()
        }
    }

    #[test]
    fn the_whole_command_line() {
        let argv = container(false, None).arguments(&child("/c/sub"), &access(), "1-2").unwrap();
        insta::assert_snapshot!(argv.join("\n"), @r"
        docker
        run
        --rm
        --interactive
        --init
        --name
        regreen-1-2
        --pull
        never
        --cap-drop
        ALL
        --security-opt
        no-new-privileges
        --user
        7:8
        --network
        none
        --mount
        type=bind,source=/c,target=/c
        --mount
        type=bind,source=/w,target=/w
        --workdir
        /c/sub
        --env
        CI=true
        --env
        LANG=C.UTF-8
        --env
        PYTHONPATH=/w/drivers:/c
        --entrypoint
        python3
        python:3.13
        -m
        pytest
        ");
    }

    #[test]
    fn a_network_is_given_only_on_request_and_what_is_looked_at_cannot_be_written() {
        let open = container(true, None).arguments(&child("/c"), &access(), "t").unwrap();
        assert!(!open.contains(&"none".to_owned()) && container(true, None).is_open());
        let only = Access { checkouts: Vec::new(), ..access() };
        let argv = container(false, None).arguments(&child("/home/me/repo"), &only, "t").unwrap();
        let mounts: Vec<&String> = argv.iter().filter(|word| word.starts_with("type=")).collect();
        let expected = [
            "type=bind,source=/w,target=/w",
            "type=bind,source=/home/me/repo,target=/home/me/repo,readonly",
        ];
        assert_eq!(mounts, expected);
    }

    #[test]
    fn from_within_a_container_the_machines_folders_are_named() {
        let within = vec![
            (PathBuf::from("/"), PathBuf::from("/outer")),
            (PathBuf::from("/c"), PathBuf::from("/srv/checkout")),
        ];
        let inside = container(false, Some(within[1..].to_vec()));
        assert_eq!(
            inside.mount(Path::new("/c/sub"), "").unwrap(),
            "type=bind,source=/srv/checkout/sub,target=/c/sub"
        );
        let error = inside.mount(Path::new("/w"), "").unwrap_err().to_string();
        assert!(error.contains("set REGREEN_WORK_DIR"), "{error}");
        let longest = container(false, Some(within)).mount(Path::new("/c"), "").unwrap();
        assert_eq!(longest, "type=bind,source=/srv/checkout,target=/c");
        assert!(container(false, None).mount(Path::new("/a,b"), "").is_err());
    }

    #[test]
    fn names_of_images_are_no_flags() {
        for image in ["python:3.13", "ghcr.io/a/b@sha256:00", "localhost:5000/x/y:tag-1.0_2"] {
            assert!(is_reference(image), "{image}");
        }
        for image in ["", "-v", "--privileged", "a b", "a;b", "$(x)", "/abs"] {
            assert!(!is_reference(image), "{image}");
        }
    }
}
