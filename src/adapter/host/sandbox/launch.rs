//! Sandbox launcher: our binary, started again, drops privileges and then becomes the test program.

#![expect(clippy::disallowed_methods, reason = "becomes the program it was asked to start")]

use std::ffi::OsString;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};

use landlock::{ABI, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort};
use landlock::{PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr};
use landlock::{RulesetStatus, Scope};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{DumpableBehavior, PidfdFlags, pidfd_open, set_dumpable_behavior};
use rustix::process::{Gid, Pid, Signal, Uid, geteuid, getpid, getppid};
use rustix::process::{kill_process, set_child_subreaper};
use rustix::thread::{CapabilitySet, capability_is_in_bounding_set};
use rustix::thread::{remove_capability_from_bounding_set, set_thread_groups};
use rustix::thread::{set_thread_res_gid, set_thread_res_uid};
use serde::{Deserialize, Serialize};

use super::{Network, sensitive_paths, sockets};
use crate::adapter::host::orphans;

/// The hidden verb of the launcher, followed by a [`LaunchSpec`] as JSON, program and arguments.
pub const VERB: &str = "__launch";

/// Path of the running binary, valid even after its file was replaced.
pub const SELF: &str = "/proc/self/exe";

/// Exit code when the sandbox could not be enforced and the program was not started.
const REFUSED: u8 = 125;

/// Exit codes of shells for a program that cannot be executed or found.
const NOT_RUN: u8 = 126;
const NOT_FOUND: u8 = 127;

/// Lowest port that needs no privilege to listen on.
const UNPRIVILEGED: u16 = 1024;

/// The restrictions that the launcher enforces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Limits {
    /// User and group to become.
    pub user: Option<u32>,
    /// Limit writes, and hide secrets.
    pub files: bool,
    /// Block signals and abstract sockets to processes outside of the sandbox.
    pub signals: bool,
    pub network: Network,
    /// The only TCP port that connections may go to; `None` follows `network`.
    pub port: Option<u16>,
    /// No sockets of the network but those of TCP.
    pub tcp_only: bool,
    /// The process, our parent, with which the program and all that it started ends.
    pub ends_with: Option<i32>,
}

impl Limits {
    /// Whether a child goes through the launcher.
    pub(super) fn launches(self) -> bool {
        self.user.is_some() || self.files || self.ends_with.is_some()
    }
}

/// The limits with their paths.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct LaunchSpec {
    pub limits: Limits,
    /// Folders and files that may be written.
    pub write: Vec<PathBuf>,
    /// Folders and files that must not be read.
    pub closed: Vec<PathBuf>,
}

/// Runs the launcher when `arguments` request it; then returns only if the program cannot be
/// started. Must be called before any thread starts, because the restrictions apply per thread.
pub fn launched(arguments: &[OsString]) -> Option<ExitCode> {
    let [_, verb, spec, program, rest @ ..] = arguments else { return None };
    if verb != VERB {
        return None;
    }
    let fail = |text: String, code: u8| {
        // Standard error may be closed; the exit code says it too.
        writeln!(std::io::stderr(), "regreen: {text}").unwrap_or_default();
        Some(ExitCode::from(code))
    };
    let spec: LaunchSpec = match serde_json::from_slice(spec.as_encoded_bytes()) {
        Ok(spec) => spec,
        Err(error) => {
            return fail(format!("the launcher got no valid specification: {error}"), REFUSED);
        }
    };
    if let Err(reason) = enforce(&spec) {
        return fail(format!("the program was not started, since {reason}"), REFUSED);
    }
    let mut command = std::process::Command::new(program);
    command.args(rest);
    let error = match spec.limits.ends_with {
        Some(parent) => match run_until_parent_ends(command, parent) {
            Ok(code) => return Some(code),
            Err(error) => error,
        },
        None => command.exec(),
    };
    let code = if error.kind() == std::io::ErrorKind::NotFound { NOT_FOUND } else { NOT_RUN };
    fail(format!("{} does not start: {error}", program.to_string_lossy()), code)
}

/// Runs a program to its end. When our parent ends first, kills the program and everything that it
/// started: the kernel's signal for the death of a parent would reach the program alone.
fn run_until_parent_ends(
    mut command: std::process::Command,
    parent: i32,
) -> std::io::Result<ExitCode> {
    // The parent may have ended before this began.
    let is_over = || getppid() != Pid::from_raw(parent);
    if is_over() {
        return Ok(ExitCode::from(NOT_RUN));
    }
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    // A process that leaves the group becomes our child when its parent ends.
    set_child_subreaper(Some(getpid()))?;
    let mut child = command.spawn()?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let ended = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(end_like(status));
        }
        if is_over() {
            orphans::sweep("launcher");
            return Ok(ExitCode::from(NOT_RUN));
        }
        await_exit(ended.as_ref());
    }
}

/// How long the launcher waits between two looks at its parent.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Waits until the child ends, or until it is time to look at the parent again.
fn await_exit(ended: Option<&OwnedFd>) {
    let mut ends: Vec<PollFd<'_>> =
        ended.into_iter().map(|ended| PollFd::new(ended, PollFlags::IN)).collect();
    // A signal may end the wait early, which costs one more look.
    poll(&mut ends, Some(&LOOK)).unwrap_or_default();
}

/// Ends as the child did: with its code, or by its signal.
fn end_like(status: ExitStatus) -> ExitCode {
    if let Some(signal) = status.signal().and_then(Signal::from_named_raw) {
        // What ignores the signal ends with the code that shells use for it.
        kill_process(getpid(), signal).unwrap_or_default();
    }
    let code = status.code().or(status.signal().map(|signal| 128 + signal));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX))
}

/// Enforces all restrictions; the error names the one that failed.
fn enforce(spec: &LaunchSpec) -> Result<(), String> {
    // The paths are opened before the permission to open them is dropped.
    let rules = spec.limits.files.then(|| rules(spec)).transpose()?;
    match spec.limits.user {
        Some(user) => change_user(user)?,
        None if spec.limits.files && geteuid().is_root() => stay_weak_root()?,
        None => {}
    }
    if let Some(rules) = rules {
        let status = rules.restrict_self().map_err(|error| format!("Landlock refuses: {error}"))?;
        if status.ruleset != RulesetStatus::FullyEnforced || !status.no_new_privs {
            return Err("Landlock is not in force as a whole".into());
        }
    }
    if spec.limits.tcp_only { sockets::restrict() } else { Ok(()) }
}

/// Drops all groups, changes group and user for good, and verifies that root cannot be regained.
fn change_user(user: u32) -> Result<(), String> {
    let (uid, gid) = (Uid::from_raw(user), Gid::from_raw(user));
    let failed = |what: &str, error| format!("{what} cannot be given up: {error}");
    set_thread_groups(&[]).map_err(|error| failed("groups", error))?;
    set_thread_res_gid(gid, gid, gid).map_err(|error| failed("the group", error))?;
    set_thread_res_uid(uid, uid, uid).map_err(|error| failed("the user", error))?;
    rustix::thread::set_no_new_privs(true).map_err(|error| failed("new privileges", error))?;
    let back = set_thread_res_uid(Uid::ROOT, Uid::ROOT, Uid::ROOT).is_ok();
    if back || geteuid() != uid {
        return Err("the user was not given up".into());
    }
    Ok(())
}

/// Capabilities that would let root bypass Landlock or read the memory and environment of other
/// processes. Docker's root has none of them.
const STRONG: [CapabilitySet; 7] = [
    CapabilitySet::SYS_PTRACE,
    CapabilitySet::PERFMON,
    CapabilitySet::SYS_ADMIN,
    CapabilitySet::SYS_MODULE,
    CapabilitySet::SYS_RAWIO,
    CapabilitySet::BPF,
    CapabilitySet::CHECKPOINT_RESTORE,
];

/// Removes these capabilities for the next `exec` of a root that stays root.
fn stay_weak_root() -> Result<(), String> {
    for capability in STRONG {
        // A kernel that does not know a capability does not grant it either.
        if capability_is_in_bounding_set(capability).unwrap_or(false) {
            remove_capability_from_bounding_set(capability)
                .map_err(|error| format!("{capability:?} cannot be given up: {error}"))?;
        }
    }
    Ok(())
}

fn rules(spec: &LaunchSpec) -> Result<RulesetCreated, String> {
    let failed = |error: landlock::RulesetError| format!("Landlock refuses: {error}");
    let write = AccessFs::from_write(ABI::V3);
    let read = if spec.closed.is_empty() { BitFlags::empty() } else { AccessFs::ReadFile.into() };
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(write | read)
        .map_err(failed)?;
    if spec.limits.network != Network::Open || spec.limits.port.is_some() {
        ruleset = ruleset.handle_access(AccessNet::ConnectTcp).map_err(failed)?;
    }
    if spec.limits.signals {
        ruleset = ruleset.scope(Scope::Signal | Scope::AbstractUnixSocket).map_err(failed)?;
    }
    let mut created = ruleset.create().map_err(failed)?;
    for path in &spec.write {
        created = beneath(created, path, write | read)?;
    }
    for device in sensitive_paths::DEVICES {
        created = beneath(created, Path::new(device), BitFlags::from(AccessFs::WriteFile) | read)?;
    }
    if !spec.closed.is_empty() {
        for path in sensitive_paths::complement_of(&spec.closed, &sensitive_paths::children) {
            created = beneath(created, &path, read)?;
        }
    }
    if let Some(port) = spec.limits.port {
        created = created.add_rule(NetPort::new(port, AccessNet::ConnectTcp)).map_err(failed)?;
    }
    if spec.limits.network == Network::Local {
        for port in UNPRIVILEGED..=u16::MAX {
            created =
                created.add_rule(NetPort::new(port, AccessNet::ConnectTcp)).map_err(failed)?;
        }
    }
    Ok(created)
}

/// Grants rights below a path; a missing path needs none.
fn beneath(
    created: RulesetCreated,
    path: &Path,
    rights: BitFlags<AccessFs>,
) -> Result<RulesetCreated, String> {
    let (Ok(fd), Ok(facts)) = (PathFd::new(path), std::fs::metadata(path)) else {
        return Ok(created);
    };
    let rights = if facts.is_dir() { rights } else { rights & AccessFs::from_file(ABI::V3) };
    if rights.is_empty() {
        return Ok(created);
    }
    created
        .add_rule(PathBeneath::new(fd, rights))
        .map_err(|error| format!("Landlock refuses {}: {error}", path.display()))
}
