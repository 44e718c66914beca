//! Starts child processes in groups of their own: clean environment, time limit, output to a file.

#![expect(clippy::disallowed_methods, reason = "the one place that starts children")]

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};

use super::orphans::{self, Live};
use super::sandbox::{self, ProgramKind};
use super::short_command;

pub use super::invocation::Invocation;

/// Output kept from the beginning of a run, in bytes.
pub const KEPT_HEAD: u64 = 24 << 20;

/// Output kept from the end of a run, in bytes.
pub const KEPT_TAIL: usize = 256 << 10;

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitReason {
    /// It ended by itself with this code.
    Exit(i32),
    /// A signal from elsewhere killed it.
    Signal(i32),
    /// It reached the time limit, and its whole group was killed.
    TimedOut,
}

impl From<ExitStatus> for ExitReason {
    fn from(status: ExitStatus) -> Self {
        let signal = || Self::Signal(status.signal().unwrap_or_default());
        status.code().map_or_else(signal, Self::Exit)
    }
}

impl std::fmt::Display for ExitReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exit(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::TimedOut => f.write_str("the time limit"),
        }
    }
}

/// Variable that a parent process sets for a child that must not outlive it.
pub const WITH_PARENT: &str = "REGREEN_WITH_PARENT";

/// Whether this process runs as root.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Makes the kernel send this process SIGINT when its parent ends, so that it saves and stops.
pub fn end_with_parent() {
    let asked = rustix::process::set_parent_process_death_signal(Some(Signal::INT));
    if let Err(error) = asked {
        tracing::warn!(%error, "this process outlives the one that started it");
    }
}

pub fn own_program() -> io::Result<PathBuf> {
    std::env::current_exe()
}

/// A child; dropping it kills its process group and the processes that left the group.
pub struct Group {
    child: Child,
    pid: Option<Pid>,
    tag: String,
    program: ProgramKind,
    _live: Live,
}

impl Group {
    /// Starts a child as the leader of a new process group, inside the sandbox in force.
    pub fn start(
        invocation: &Invocation,
        stdin: Stdio,
        stdout: Stdio,
        stderr: Stdio,
    ) -> io::Result<Self> {
        let tag = tag_of(invocation);
        let child = sandbox::prepare(invocation, &tag)?;
        let mut command = Command::from(short_command::command(&child)?);
        command.stdin(stdin).stdout(stdout).stderr(stderr);
        let (child, live) = Live::start(&tag, || command.spawn(), Child::id)?;
        let pid = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        Ok(Self { child, pid, tag, program: program_of(invocation), _live: live })
    }

    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Sends SIGINT, the signal of Ctrl-C, to the child alone.
    pub fn interrupt(&self) {
        if let Some(pid) = self.pid {
            // An error means that it has ended already.
            rustix::process::kill_process(pid, Signal::INT).unwrap_or_default();
        }
    }

    /// Kills every process of the group and those that left it; blocks until the latter are gone.
    pub fn kill(&self) {
        if let Some(pid) = self.pid {
            // An error means that the group has ended already.
            kill_process_group(pid, Signal::KILL).unwrap_or_default();
            orphans::await_end(pid);
        }
        sandbox::sweep(&self.tag, self.program);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The tag of a sandboxed child's run; empty for other children.
fn tag_of(invocation: &Invocation) -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static RUNS: AtomicU64 = AtomicU64::new(1);
    if invocation.access.is_none() {
        return String::new();
    }
    format!("{}-{}", std::process::id(), RUNS.fetch_add(1, Ordering::Relaxed))
}

/// What a child is.
fn program_of(invocation: &Invocation) -> ProgramKind {
    invocation.access.as_ref().map(|access| access.program).unwrap_or_default()
}

/// Removes secrets from a log when its child has ended, or was stopped.
struct RedactedAtEnd<'a>(&'a Path);

impl Drop for RedactedAtEnd<'_> {
    fn drop(&mut self) {
        if let Err(error) = super::redaction::redact_file(self.0) {
            tracing::warn!(log = %self.0.display(), %error, "a log could not be redacted");
        }
    }
}

/// Runs a child to its end and writes its standard output and error to `log`.
///
/// Memory stays bounded whatever the child prints: the log holds the first [`KEPT_HEAD`] and the
/// last [`KEPT_TAIL`] bytes. Dropping the future kills the group.
pub async fn run(invocation: &Invocation, limit: Duration, log: &Path) -> io::Result<ExitReason> {
    if let Some(folder) = log.parent() {
        super::files::create_folder(folder)?;
    }
    let mut sink = fresh(log)?;
    let _redacted = RedactedAtEnd(log);
    let (mut reader, writer) = io::pipe()?;
    let mut group =
        Group::start(invocation, Stdio::null(), writer.try_clone()?.into(), writer.into())?;
    let copied = tokio::task::spawn_blocking(move || copy_bounded(&mut reader, &mut sink));
    let ending = match tokio::time::timeout(limit, group.child().wait()).await {
        Ok(status) => status?.into(),
        Err(_elapsed) => {
            group.kill();
            group.child().wait().await?;
            ExitReason::TimedOut
        }
    };
    // Also after a normal exit, since a process that the suite left running holds the pipe open.
    group.kill();
    // A process that left the group may keep the pipe open for ever, so its output is not awaited.
    if let Ok(Ok(result)) = tokio::time::timeout(Duration::from_secs(5), copied).await {
        result?;
    }
    Ok(ending)
}

/// How a child of [`run_with_input`] ended, and what it printed.
#[derive(Debug)]
pub struct ChildOutput {
    /// Whether it ended by itself, or why its group was killed.
    pub ending: Result<ExitReason, Stopped>,
    /// Its standard output, cut where it is too large.
    pub out: String,
    /// Standard error, cut at the size limit.
    pub err: String,
}

/// Why the group of a child was killed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    TimeLimit,
    TooMuchOutput,
    /// The caller asked for it.
    OnRequest,
}

/// Runs a child with `input` on its standard input until it ends, reaches `limit`, writes more than
/// `largest` bytes, or `is_over` says that it need not go on. Its output goes to files in `folder`,
/// so no pipe can block. Dropping the future kills the group.
pub async fn run_with_input(
    invocation: &Invocation,
    input: &str,
    folder: &Path,
    limit: Duration,
    largest: u64,
    is_over: &(dyn Fn() -> bool + Sync),
) -> io::Result<ChildOutput> {
    super::files::create_folder(folder)?;
    let [from, out, err] = ["in.txt", "out.txt", "err.txt"].map(|name| folder.join(name));
    super::files::write(&from, input.as_bytes())?;
    let mut group = Group::start(
        invocation,
        File::open(&from)?.into(),
        File::create(&out)?.into(),
        File::create(&err)?.into(),
    )?;
    let deadline = tokio::time::Instant::now() + limit;
    let size = |path: &Path| std::fs::metadata(path).map_or(0, |meta| meta.len());
    let ending = loop {
        let step = tokio::time::timeout(Duration::from_millis(100), group.child().wait()).await;
        if let Ok(status) = step {
            break Ok(status?.into());
        }
        if size(&out) + size(&err) > largest {
            break Err(Stopped::TooMuchOutput);
        }
        if tokio::time::Instant::now() >= deadline {
            break Err(Stopped::TimeLimit);
        }
        if is_over() {
            break Err(Stopped::OnRequest);
        }
    };
    group.kill();
    if ending.is_err() {
        // Until it is gone, it can start another process, which the second round ends.
        group.child().wait().await?;
        group.kill();
    }
    let text = |path: &Path| tail_of(path, largest);
    Ok(ChildOutput { ending, out: text(&out), err: text(&err) })
}

/// Runs a short child that must succeed and returns its standard output; blocks.
pub fn output(invocation: &Invocation, limit: Duration) -> io::Result<String> {
    let tag = tag_of(invocation);
    let prepared = sandbox::prepare(invocation, &tag)?;
    let output = short_command::run(&prepared, &tag, limit);
    sandbox::sweep(&tag, program_of(invocation));
    output
}

/// Creates an empty file. A symbolic link at its path is replaced, not written through.
fn fresh(path: &Path) -> io::Result<File> {
    super::files::remove(path)?;
    File::create_new(path)
}

/// Copies with bounded memory; drops the middle of excessive output.
fn copy_bounded(reader: &mut impl Read, sink: &mut impl Write) -> io::Result<()> {
    let mut buffer = vec![0; 64 << 10];
    let mut head = KEPT_HEAD;
    let mut tail: Vec<u8> = Vec::new();
    let mut left_out = 0u64;
    loop {
        let count = match reader.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let read = buffer.get(..count).unwrap_or_default();
        let fits = usize::try_from(head).unwrap_or(usize::MAX).min(read.len());
        let (beginning, rest) = read.split_at(fits);
        sink.write_all(beginning)?;
        head -= fits as u64;
        tail.extend_from_slice(rest);
        if tail.len() > 2 * KEPT_TAIL {
            let surplus = tail.len() - KEPT_TAIL;
            tail.drain(..surplus);
            left_out += surplus as u64;
        }
    }
    if left_out > 0 {
        write!(sink, "\n[regreen left out {left_out} bytes here]\n")?;
    }
    sink.write_all(&tail)?;
    sink.flush()
}

/// The last `limit` bytes of a text file; nothing of a pipe or device, which may not end.
pub fn tail_of(log: &Path, limit: u64) -> String {
    use std::io::{Seek, SeekFrom};
    let read = || -> io::Result<Vec<u8>> {
        let flags =
            rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::CLOEXEC;
        let mut file = File::from(rustix::fs::open(log, flags, rustix::fs::Mode::empty())?);
        let facts = file.metadata()?;
        if !facts.is_file() {
            return Ok(Vec::new());
        }
        file.seek(SeekFrom::Start(facts.len().saturating_sub(limit)))?;
        let mut bytes = Vec::new();
        file.take(limit).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    String::from_utf8_lossy(&read().unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::environment::of_child;
    use super::*;

    fn shell(script: &str, folder: &Path) -> Invocation {
        Invocation {
            argv: vec!["sh".into(), "-c".into(), script.into()],
            directory: folder.to_owned(),
            environment: of_child(folder),
            access: None,
        }
    }

    #[test]
    fn what_is_no_plain_file_has_no_text() {
        let folder = tempfile::tempdir().unwrap();
        let [text, pipe, device] = ["text", "pipe", "device"].map(|name| folder.path().join(name));
        std::fs::write(&text, "begin and end").unwrap();
        super::super::files::create_pipe(&pipe).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &device).unwrap();
        let tails = [&text, &pipe, &device].map(|path| tail_of(path, 3));
        assert_eq!(tails, ["end", "", ""]);
    }

    #[tokio::test]
    async fn a_flood_is_cut_in_the_middle_and_keeps_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let script = "yes 'a line that a test prints' | head -c 48000000; echo; echo the end";
        let ending =
            run(&shell(script, folder.path()), Duration::from_mins(1), &log).await.unwrap();
        assert_eq!(ending, ExitReason::Exit(0));
        let size = std::fs::metadata(&log).unwrap().len();
        assert!(size < KEPT_HEAD + 3 * KEPT_TAIL as u64, "{size}");
        let tail = tail_of(&log, 600_000);
        assert!(
            tail.ends_with("the end\n") && tail.contains("regreen left out"),
            "its end is kept"
        );
    }

    #[tokio::test]
    async fn a_stopped_child_says_what_stopped_it() {
        let folder = tempfile::tempdir().unwrap();
        let table = [
            ("echo done", Ok(ExitReason::Exit(0))),
            ("head -c 900 /dev/zero; sleep 300", Err(Stopped::TimeLimit)),
            ("head -c 1100 /dev/zero; sleep 300", Err(Stopped::TooMuchOutput)),
            ("touch over; sleep 300", Err(Stopped::OnRequest)),
        ];
        for (script, expected) in table {
            let is_over = || folder.path().join("over").exists();
            let limit = Duration::from_millis(1_500);
            let child = shell(script, folder.path());
            let output = run_with_input(&child, "", folder.path(), limit, 1_000, &is_over).await;
            assert_eq!(output.unwrap().ending, expected, "{script}");
        }
    }

    #[tokio::test]
    async fn the_limit_kills_the_whole_group() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let script = "sleep 300 & echo $! > pid; sleep 300";
        let run = run(&shell(script, folder.path()), Duration::from_millis(400), &log).await;
        assert_eq!(run.unwrap(), ExitReason::TimedOut);
        let pid: i32 =
            std::fs::read_to_string(folder.path().join("pid")).unwrap().trim().parse().unwrap();
        // The kernel may take a moment to remove a killed process.
        let gone = || {
            let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            state.is_empty() || state.contains(") Z ")
        };
        for _ in 0..2000 {
            if gone() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("the grandchild lives on");
    }

    #[tokio::test]
    async fn a_program_that_does_not_exist_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let mut invocation = shell("", folder.path());
        invocation.argv = vec!["no-such-program-here".into()];
        let ran = run(&invocation, Duration::from_secs(1), &folder.path().join("log")).await;
        assert_eq!(ran.unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
