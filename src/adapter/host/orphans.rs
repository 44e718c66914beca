//! Kills orphans: processes that left their process group. As a subreaper we become their parent; a
//! tag in their environment names their run, at whose end they are killed and reaped.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Mutex, Once, PoisonError};
use std::time::Duration;

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, set_child_subreaper,
};
use rustix::process::{kill_process, kill_process_group, waitid, waitpid};

/// Environment variable that tags the processes of one run.
pub const TAG: &str = "REGREEN_RUN";

/// Rounds of killing before a process that survives is given up.
const ROUNDS: u32 = 500;

/// Our children that are meant to run, with the tags of their runs.
static CHILDREN: Mutex<BTreeMap<i32, String>> = Mutex::new(BTreeMap::new());

/// Registers a child as meant to run, until this is dropped.
pub struct Live {
    pid: Option<i32>,
}

impl Live {
    /// Starts a child. A sweep waits meanwhile, so that it never mistakes the child for an orphan.
    pub fn start<T>(
        tag: &str,
        spawn: impl FnOnce() -> io::Result<T>,
        id: impl Fn(&T) -> Option<u32>,
    ) -> io::Result<(T, Self)> {
        static SUBREAPER: Once = Once::new();
        if !tag.is_empty() {
            SUBREAPER.call_once(|| {
                if let Err(error) = set_child_subreaper(Some(getpid())) {
                    tracing::warn!(%error, "processes that leave their group are not followed");
                }
            });
        }
        let mut children = CHILDREN.lock().unwrap_or_else(PoisonError::into_inner);
        let child = spawn()?;
        let pid = id(&child).and_then(|id| i32::try_from(id).ok());
        if let Some(pid) = pid {
            children.insert(pid, tag.to_owned());
        }
        Ok((child, Self { pid }))
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        if let Some(pid) = self.pid {
            CHILDREN.lock().unwrap_or_else(PoisonError::into_inner).remove(&pid);
        }
    }
}

/// Waits until a killed child has ended, unreaped: what it started becomes ours only then.
pub fn await_end(child: Pid) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    for _ in 0..ROUNDS {
        // An error means that it was reaped already.
        if !matches!(waitid(WaitId::Pid(child), options), Ok(None)) {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Kills everything that this process started, before it ends in haste.
pub fn kill_everything() {
    let children = CHILDREN.lock().unwrap_or_else(PoisonError::into_inner);
    for pid in children.keys().filter_map(|pid| Pid::from_raw(*pid)) {
        // An error means that the group has ended already.
        kill_process_group(pid, Signal::KILL).unwrap_or_default();
    }
    for _ in 0..ROUNDS {
        let left = ours();
        for (pid, dead) in &left {
            let Some(pid) = Pid::from_raw(*pid) else { continue };
            if !dead {
                kill_process(pid, Signal::KILL).unwrap_or_default();
            }
            // Another thread may have reaped it, which is fine.
            waitpid(Some(pid), WaitOptions::NOHANG).unwrap_or_default();
        }
        if left.is_empty() {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Kills and reaps what the run with this tag left behind, and processes that hide their tag, but
/// nothing of another run in progress. Blocks until they are gone.
pub fn sweep(tag: &str) {
    kill_children(tag, &|pid, children| {
        let found = tag_of(pid);
        found == tag || !children.values().any(|live| *live == found && !live.is_empty())
    });
}

/// Kills and reaps what shows this tag and nothing else. Blocks until it is gone.
pub fn sweep_tagged(tag: &str) {
    // A killed process shows no environment any more.
    let found = RefCell::new(BTreeSet::new());
    kill_children(tag, &|pid, _| {
        let mut found = found.borrow_mut();
        found.contains(&pid) || tag_of(pid) == tag && found.insert(pid)
    });
}

/// Kills and reaps our unwanted children for which `is_left` of the run with this tag holds.
fn kill_children(tag: &str, is_left: &dyn Fn(i32, &BTreeMap<i32, String>) -> bool) {
    if tag.is_empty() {
        return;
    }
    for round in 0..ROUNDS {
        let children = CHILDREN.lock().unwrap_or_else(PoisonError::into_inner);
        let mut left = 0;
        for (pid, dead) in ours() {
            if children.contains_key(&pid) || !is_left(pid, &children) {
                continue;
            }
            let Some(pid) = Pid::from_raw(pid) else { continue };
            left += 1;
            if !dead {
                // An error means that it has ended already.
                kill_process(pid, Signal::KILL).unwrap_or_default();
            }
            // Another thread may have reaped it, which is fine.
            if waitpid(Some(pid), WaitOptions::NOHANG).is_err() {
                left -= 1;
            }
        }
        drop(children);
        if left == 0 {
            return;
        }
        // The children of killed processes become ours in the next round.
        std::thread::sleep(Duration::from_millis(if round < 20 { 1 } else { 5 }));
    }
    tracing::warn!("processes of a test run could not be killed");
}

/// The children of this process, and whether each has ended.
fn ours() -> Vec<(i32, bool)> {
    let own = getpid().as_raw_nonzero().get();
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid: i32| {
        let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
        let (dead, parent) = parse_stat(&String::from_utf8_lossy(&stat))?;
        (parent == own).then_some((pid, dead))
    })
    .collect()
}

/// Whether a process has ended, and its parent. The name in `stat` may contain parentheses.
fn parse_stat(stat: &str) -> Option<(bool, i32)> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let state = fields.next()?;
    Some((matches!(state, "Z" | "X"), fields.next()?.parse().ok()?))
}

/// The tag in the environment of a process; empty when it shows none.
fn tag_of(pid: i32) -> String {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let mark = format!("{TAG}=");
    let mut entries = environment.split(|byte| *byte == 0);
    let found = entries.find_map(|entry| entry.strip_prefix(mark.as_bytes()));
    String::from_utf8_lossy(found.unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};

    use super::*;

    /// A process in a session of its own that shows a tag, and whose parent has ended.
    #[expect(clippy::disallowed_methods, reason = "a test starts the process that is swept")]
    fn orphan(tag: &str) -> i32 {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", "setsid sleep 300 >/dev/null 2>&1 & echo $!"]).env(TAG, tag);
        command.stdout(std::process::Stdio::piped());
        let id = |child: &std::process::Child| Some(child.id());
        let (mut child, live) = Live::start(tag, || command.spawn(), id).unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        child.wait().unwrap();
        drop(live);
        line.trim().parse().unwrap()
    }

    #[test]
    fn what_a_client_left_is_killed_and_nothing_else() {
        // A run that another test does not take for ended.
        let (other, own) = ("t-other-client", "t-own-client");
        let keep = Live { pid: Some(-1) };
        CHILDREN.lock().unwrap().insert(-1, other.to_owned());
        let pids = [orphan(other), orphan(own)];
        sweep_tagged(own);
        let is_there = |pid: &i32| std::path::Path::new(&format!("/proc/{pid}")).exists();
        assert_eq!(pids.each_ref().map(is_there), [true, false]);
        drop(keep);
        sweep_tagged(other);
        assert!(!is_there(&pids[0]));
    }

    #[test]
    fn a_name_with_brackets_does_not_move_the_fields() {
        let table = [
            ("12 (sh) S 7 12 1", Some((false, 7))),
            ("12 (a) R 1) Z 9 1 1", Some((true, 9))),
            ("12 (sh", None),
            ("", None),
        ];
        for (stat, expected) in table {
            assert_eq!(parse_stat(stat), expected, "{stat}");
        }
    }
}
