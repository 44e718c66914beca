//! Sandbox of test code: decided once per process from the request and the machine's abilities,
//! enforced by a launcher, and reported in plain sentences (specification.md 4.13).
//!
//! A child starts through our own binary, which drops user, groups and file access and then
//! executes the program. That needs no unsafe code and costs a few milliseconds per process.

mod chown_tree;
mod container;
mod launch;
mod sensitive_paths;
mod sockets;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use landlock::{ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset};
use landlock::{RulesetAttr, Scope};
use rustix::process::{DumpableBehavior, geteuid, getpid, set_dumpable_behavior};

use super::invocation::Invocation;
use super::orphans;
use container::Container;
use launch::{LaunchSpec, Limits};

pub use super::invocation::{Access, ProgramKind};
pub use container::run_in;
pub use launch::{VERB, launched};

/// Variable that selects the isolation of test code: `files` (the default), `other-user`, or `off`.
pub const SANDBOX: &str = "REGREEN_SANDBOX";

/// Variable that selects the network of test code: `open` (the default), `local`, or `closed`.
pub const NETWORK: &str = "REGREEN_NETWORK";

/// User and group id of test code when regreen is root and test code is not; it owns nothing.
pub const OTHER: u32 = 65_532;

/// User and group id of the clients of models then: test code of the same user could look into them.
const CLIENT: u32 = 65_533;

/// How far test code is kept away from the rest of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IsolationLevel {
    /// No isolation beyond a clean environment, a separate home and a process group.
    Off,
    /// Same user; Landlock limits writes and hides secrets.
    Files,
    /// Another user as well; needs root, so it is meant for containers.
    OtherUser,
}

/// Outgoing connections of test code. Landlock knows TCP ports, not addresses: UDP, and with it
/// name resolution, is never limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Network {
    /// The network of the machine, unrestricted.
    #[default]
    Open,
    /// TCP only to ports from 1024 up, which suites use for servers of their own. Web, mail and SSH
    /// servers on their usual ports are unreachable; servers on high ports are not.
    Local,
    /// No outgoing TCP at all, loopback included.
    Closed,
}

/// The requested isolation and network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Containment {
    pub isolation: IsolationLevel,
    pub network: Network,
}

impl Default for Containment {
    fn default() -> Self {
        Self { isolation: IsolationLevel::Files, network: Network::Open }
    }
}

impl Containment {
    /// Parses [`SANDBOX`] and [`NETWORK`]; the error names the unknown value and the known ones.
    pub fn parse(isolation: Option<&str>, network: Option<&str>) -> Result<Self, String> {
        let isolation = match isolation.unwrap_or_default() {
            "" | "files" => IsolationLevel::Files,
            "other-user" => IsolationLevel::OtherUser,
            "off" => IsolationLevel::Off,
            word => return Err(format!("{SANDBOX} is files, other-user or off, not `{word}`")),
        };
        let network = match network.unwrap_or_default() {
            "" | "open" => Network::Open,
            "local" => Network::Local,
            "closed" => Network::Closed,
            word => return Err(format!("{NETWORK} is open, local or closed, not `{word}`")),
        };
        Ok(Self { isolation, network })
    }
}

/// What this process and machine support.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Whether this binary understands [`VERB`]; a test harness does not.
    pub launcher: bool,
    /// Whether we are root and may change users and file owners.
    pub may_change_user: bool,
    /// Landlock's ABI version; 0 when the kernel has none.
    pub landlock: u8,
}

impl Facts {
    fn here() -> Self {
        Self {
            launcher: READY.get().is_some() && Path::new(launch::SELF).exists(),
            may_change_user: geteuid().is_root() && may_change_user(),
            landlock: landlock_version(),
        }
    }
}

/// CHOWN, FOWNER, KILL, SETGID and SETUID, as bits of the effective set.
const NEEDED: u64 = 1 | 1 << 3 | 1 << 5 | 1 << 6 | 1 << 7;

fn may_change_user() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let set = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok())
        .is_some_and(|set| set & NEEDED == NEEDED)
}

fn landlock_version() -> u8 {
    let ruleset = || Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let files = |abi: ABI| {
        ruleset().handle_access(AccessFs::from_all(abi)).and_then(Ruleset::create).is_ok()
    };
    if !files(ABI::V1) {
        return 0;
    }
    if !files(ABI::V3) {
        return 1;
    }
    if ruleset().handle_access(AccessNet::ConnectTcp).and_then(Ruleset::create).is_err() {
        return 3;
    }
    if ruleset().scope(Scope::Signal).and_then(Ruleset::create).is_err() {
        return 4;
    }
    6
}

/// The protection in force, and what is missing from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protection {
    limits: Limits,
    /// What is enforced, one sentence each, in our own words.
    pub in_force: Vec<String>,
    /// What is not enforced and why, one sentence each, in our own words.
    pub missing: Vec<String>,
    /// What is open because nobody asked to close it, one sentence each with what closes it.
    pub by_choice: Vec<String>,
}

/// Decides what is enforced. Never promises more than the launcher keeps, which ends instead of
/// starting test code when one of its steps fails.
pub fn decide(requested: Containment, facts: Facts) -> Protection {
    let mut it = Protection {
        limits: Limits::default(),
        in_force: vec![
            "test code gets an environment without keys and tokens, and a home of its own".into(),
        ],
        missing: Vec::new(),
        by_choice: Vec::new(),
    };
    if requested.isolation == IsolationLevel::Off || !facts.launcher {
        let why = if facts.launcher { "it is switched off" } else { "there is no launcher" };
        it.missing.push(format!("test code may read, write and connect as regreen may: {why}"));
        return it;
    }
    if requested.isolation == IsolationLevel::OtherUser {
        if facts.may_change_user {
            it.limits.user = Some(OTHER);
            it.in_force.push(format!(
                "test code runs as user {OTHER}, without groups and capabilities; regreen's files, processes and sockets belong to another"
            ));
        } else {
            it.missing.push("test code runs as the user of regreen, who is not root".into());
        }
    }
    // Before version 3, Landlock permits truncation or denies every rename between folders.
    if facts.landlock >= 3 {
        it.limits.files = true;
        it.in_force.extend([
            "writes end at the private checkout, its scratch and temporary folders and the caches of build tools (Landlock)".into(),
            "known credential files cannot be read (Landlock)".into(),
            "memory and environment of regreen cannot be read (Landlock, and the process is not dumpable)".into(),
        ]);
    } else {
        it.missing.push(format!(
            "files are limited by permissions alone: {}",
            if facts.landlock == 0 {
                "this kernel has no Landlock"
            } else {
                "Landlock here is older than Linux 6.2"
            }
        ));
    }
    if facts.landlock >= 6 {
        it.limits.signals = true;
        it.in_force.push("no signals to processes outside (Landlock)".into());
    } else if it.limits.user.is_none() {
        it.missing.push("test code may send signals to processes of the same user".into());
    }
    limit_network(&mut it, requested.network, facts.landlock);
    if it.limits.user.is_none() {
        it.missing.push("test code can connect to sockets of this user, including Docker's".into());
    }
    it
}

fn limit_network(it: &mut Protection, network: Network, landlock: u8) {
    match network {
        Network::Open => it.by_choice.push(
            "the network is open to test code; `sandbox.network: false` closes outgoing TCP".into(),
        ),
        Network::Local | Network::Closed if landlock < 4 => it
            .missing
            .push("the network is open to test code: Landlock limits TCP from Linux 6.7 on".into()),
        Network::Local => {
            it.limits.network = Network::Local;
            it.in_force.push("no outgoing TCP to ports below 1024 (Landlock)".into());
            it.by_choice.push(format!(
                "UDP and TCP to higher ports are open to test code; `{NETWORK}=closed` closes outgoing TCP"
            ));
        }
        Network::Closed => {
            it.limits.network = Network::Closed;
            it.in_force.push("no outgoing TCP (Landlock)".into());
            it.by_choice.push(
                "UDP is open to test code; `sandbox.image` runs it in a container without network"
                    .into(),
            );
        }
    }
}

static READY: OnceLock<()> = OnceLock::new();
static CLOSED: OnceLock<()> = OnceLock::new();
static IN_FORCE: OnceLock<Protection> = OnceLock::new();

/// Declares that this binary understands [`VERB`], and hides its memory and environment from other
/// processes of the same user, since keys cannot be removed from an environment.
pub fn harden_process() {
    READY.get_or_init(|| {
        if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
            tracing::warn!(%error, "this process stays readable for others of the same user");
        }
    });
}

/// Closes the network unless [`NETWORK`] overrides it; called before any child starts.
pub fn close_network() {
    CLOSED.get_or_init(|| ());
}

/// The protection that a container gives, which replaces regreen's own.
fn container_protection(container: &Container) -> Protection {
    let mut by_choice = Vec::new();
    if container.is_open() {
        by_choice.push("the network is open to test code, as `sandbox.network: true` says".into());
    }
    let in_force = vec![container.in_force()];
    Protection { limits: Limits::default(), in_force, missing: Vec::new(), by_choice }
}

/// Kills the processes, or removes the container, that a run left behind.
pub(super) fn sweep(tag: &str, program: ProgramKind) {
    match (container::container(), program) {
        (None, _) => orphans::sweep(tag),
        (Some(_), ProgramKind::Tests) if !tag.is_empty() => container::remove(tag),
        (Some(_), ProgramKind::Tests) => {}
        // The engine's helper processes must not be killed as orphans of a client.
        (Some(_), ProgramKind::Client { .. }) => orphans::sweep_tagged(tag),
    }
}

/// What the two variables and the configuration request.
fn requested() -> Result<Containment, String> {
    let variable = super::environment::variable;
    let network = variable(NETWORK).filter(|word| !word.is_empty());
    let network = network.or_else(|| CLOSED.get().map(|()| "closed".to_owned()));
    Containment::parse(variable(SANDBOX).as_deref(), network.as_deref())
}

/// The limits of a client of a model that may connect to one port. A container is for test code: the
/// client is not installed in it.
fn limits_of_client(port: u16) -> Result<Limits, String> {
    static CLIENTS: OnceLock<Protection> = OnceLock::new();
    let requested = Containment { network: Network::Closed, ..requested()? };
    let protection = CLIENTS.get_or_init(|| decide(requested, Facts::here()));
    let ends_with = Facts::here().launcher.then(own_pid);
    let limits = client_limits(protection.limits, port);
    let tcp_only = limits.port.is_some() && sockets::is_supported();
    Ok(Limits { tcp_only, ends_with, ..limits })
}

/// The limits of test code: where a launcher starts it, it ends with this process.
fn limits_of_tests(limits: Limits) -> Limits {
    Limits { ends_with: limits.launches().then(own_pid), ..limits }
}

fn own_pid() -> i32 {
    getpid().as_raw_nonzero().get()
}

/// The limits of a client where test code with a closed network has `limits`.
fn client_limits(limits: Limits, port: u16) -> Limits {
    let port = (limits.network == Network::Closed).then_some(port);
    Limits { network: Network::Open, port, user: limits.user.map(|_| CLIENT), ..limits }
}

/// Whether the kernel keeps the clients of models to their own folders and to one port.
pub fn confines_clients() -> bool {
    limits_of_client(0).is_ok_and(|limits| limits.files && limits.port.is_some())
}

/// Whether test code can open no TCP connections.
pub fn is_offline() -> bool {
    match container::container() {
        Some(container) => !container.is_open(),
        None => protection().is_ok_and(|it| it.limits.network == Network::Closed),
    }
}

/// The protection in force for test code of this process, from the two variables.
pub fn protection() -> Result<&'static Protection, String> {
    if let Some(known) = IN_FORCE.get() {
        return Ok(known);
    }
    let requested = requested()?;
    Ok(IN_FORCE.get_or_init(|| match container::container() {
        Some(container) => container_protection(container),
        None => decide(requested, Facts::here()),
    }))
}

/// Prepares a child for the sandbox: adds the launcher, changes the owner of its folders and adapts
/// its environment. Fails when the other user cannot own or reach a folder.
pub(super) fn prepare(invocation: &Invocation, tag: &str) -> io::Result<Invocation> {
    let mut child = invocation.clone();
    let Some(access) = &invocation.access else { return Ok(child) };
    let limits = match access.program {
        ProgramKind::Tests => limits_of_tests(protection().map_err(io::Error::other)?.limits),
        ProgramKind::Client { port } => limits_of_client(port).map_err(io::Error::other)?,
    };
    if let (ProgramKind::Tests, Some(container)) = (access.program, container::container()) {
        return container.launch(invocation, access, tag);
    }
    if !limits.launches() {
        return Ok(child);
    }
    child.environment.insert(orphans::TAG.into(), tag.to_owned());
    let Some(program) = child.argv.first() else { return Ok(child) };
    let search = child.environment.get("PATH").map_or("", String::as_str);
    if !sensitive_paths::can_start(program, search, &child.directory) {
        return Err(io::ErrorKind::NotFound.into());
    }
    let closed =
        if limits.files { sensitive_paths::secrets(&access.protected) } else { Vec::new() };
    let mut write = access.checkouts.clone();
    write.push(access.scratch.clone());
    let all: Vec<PathBuf> = access.protected.iter().chain(&closed).cloned().collect();
    let temporary = sensitive_paths::temporary(&child.environment);
    let (shared, private) = sensitive_paths::apart(&temporary, &all);
    if access.program == ProgramKind::Tests {
        write.extend(sensitive_paths::caches(&child.environment));
        write.extend(shared);
    }
    if access.program == ProgramKind::Tests && !private.is_empty() {
        let folder = access.scratch.join("tmp");
        std::fs::create_dir_all(&folder)?;
        let folder = folder.display().to_string();
        let java = format!("-Djava.io.tmpdir={folder}");
        child.environment.insert("JAVA_TOOL_OPTIONS".into(), java);
        child.environment.insert("TMPDIR".into(), folder);
    }
    if let Some(user) = limits.user {
        chown_tree::chown_tree(access, user)?;
        sensitive_paths::own_caches(&mut child.environment, &access.scratch.join("home"));
        for (name, value) in [
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "safe.directory"),
            ("GIT_CONFIG_VALUE_0", "*"),
        ] {
            child.environment.insert(name.into(), value.into());
        }
    }
    let spec = LaunchSpec { limits, write, closed };
    let mut argv = vec![launch::SELF.to_owned(), VERB.to_owned(), serde_json::to_string(&spec)?];
    argv.append(&mut child.argv);
    child.argv = argv;
    Ok(child)
}

#[cfg(test)]
mod tests;
