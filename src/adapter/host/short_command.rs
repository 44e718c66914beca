//! Runs a short child process to its end and reads its standard output; blocks.

#![expect(clippy::disallowed_methods, reason = "starts children and measures their time")]

use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::invocation::Invocation;
use super::orphans::Live;

/// Bytes of output that are read at most.
const OUTPUT_LIMIT: u64 = 1 << 16;

/// Builds the command of an invocation, with a new process group and a clean environment.
pub fn command(invocation: &Invocation) -> io::Result<Command> {
    let (program, arguments) = invocation.program()?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(&invocation.directory)
        .env_clear()
        .envs(&invocation.environment)
        .process_group(0);
    Ok(command)
}

/// Runs a child that must succeed, and kills its group; `tag` marks its run.
pub fn run(invocation: &Invocation, tag: &str, limit: Duration) -> io::Result<String> {
    let mut command = command(invocation)?;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let (mut child, live) = Live::start(tag, || command.spawn(), |child: &Child| Some(child.id()))?;
    let output = wait(&mut child, limit);
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        kill_process_group(pid, Signal::KILL).unwrap_or_default();
    }
    child.wait()?;
    drop(live);
    output
}

fn wait(child: &mut Child, limit: Duration) -> io::Result<String> {
    let began = Instant::now();
    let mut text = String::new();
    loop {
        if let Some(status) = child.try_wait()? {
            if let Some(stdout) = &mut child.stdout {
                stdout.take(OUTPUT_LIMIT).read_to_string(&mut text)?;
            }
            return if status.success() {
                Ok(text)
            } else {
                Err(io::Error::other(format!("it ended with {status}")))
            };
        }
        if began.elapsed() > limit {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "it took too long"));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
