//! Kills orphans: processes that left their process group. As a subreaper we become their parent; a
//! tag in their environment names their run, at whose end they are killed and reaped.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Mutex, Once, PoisonError};
use std::time::Duration;

use rustix::process::set_child_subreaper;
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, waitpid};

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

/// Kills and reaps what the run with this tag left behind, and processes that hide their tag, but
/// nothing of another run in progress. Blocks until they are gone.
pub fn sweep(tag: &str) {
    if tag.is_empty() {
        return;
    }
    for round in 0..ROUNDS {
        let children = CHILDREN.lock().unwrap_or_else(PoisonError::into_inner);
        let mut left = 0;
        for (pid, dead) in ours() {
            if children.contains_key(&pid) || is_of_another(pid, tag, &children) {
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

fn is_of_another(pid: i32, tag: &str, children: &BTreeMap<i32, String>) -> bool {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let mark = format!("{TAG}=");
    let found = environment
        .split(|byte| *byte == 0)
        .find_map(|entry| entry.strip_prefix(mark.as_bytes()))
        .unwrap_or_default();
    found != tag.as_bytes()
        && children.values().any(|live| live.as_bytes() == found && !live.is_empty())
}

#[cfg(test)]
mod tests {
    use super::parse_stat;

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
