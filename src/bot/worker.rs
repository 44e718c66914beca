//! The working phase: a process of its own that runs the tests and has no token (product.md 13.17).

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::adapter::host::files;
use crate::adapter::host::process::{self, Group, Invocation};
use crate::domain::event::Event;

/// Names and beginnings of names that the working phase never sees.
const CLOSED: &[&str] = &["GITHUB_TOKEN", "GH_TOKEN", "GITHUB_PAT"];
const CLOSED_BEGINNINGS: &[&str] = &["ACTIONS_", "INPUT_"];

/// Says that a worker ends with the one that started it.
pub const WITH_PARENT: &str = "REGREEN_WITH_PARENT";

/// Events of a run that are read, in bytes.
pub const EVENTS_LIMIT: u64 = 256 << 20;

/// Bytes of events that are read at once.
const AT_ONCE: u64 = 8 << 20;

/// Parts of names that say that a value is a secret.
const SECRETS: &[&str] = &["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"];

/// Whose code a working phase runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// That of this repository.
    Own,
    /// That of another one: no key of a model comes near it (product.md 13.9).
    Foreign,
}

/// The environment of the working phase: ours without anything that opens GitHub, and for foreign
/// code without anything that is called a secret or that the configuration names as a key.
#[must_use]
pub fn environment(
    own: &BTreeMap<String, String>,
    code: Code,
    keys: &[String],
) -> BTreeMap<String, String> {
    let mut environment = own.clone();
    environment.retain(|name, _| {
        !CLOSED.contains(&name.as_str())
            && !CLOSED_BEGINNINGS.iter().any(|begin| name.starts_with(begin))
    });
    if code == Code::Foreign {
        environment.retain(|name, _| {
            let upper = name.to_ascii_uppercase();
            !SECRETS.iter().any(|part| upper.contains(part)) && !keys.contains(name)
        });
    }
    environment.insert(WITH_PARENT.into(), "1".into());
    if process::is_root() {
        environment.entry("REGREEN_SANDBOX".into()).or_insert_with(|| "other-user".into());
    }
    environment
}

/// A running working phase.
pub struct Worker {
    group: Group,
    bundle: PathBuf,
    said: PathBuf,
    read: u64,
    rest: Vec<u8>,
}

impl Worker {
    /// Starts `regreen` with these arguments. It leaves a bundle in `bundle`; its last word goes
    /// to `said`.
    ///
    /// # Errors
    ///
    /// What the operating system says.
    pub fn start(
        arguments: Vec<String>,
        environment: BTreeMap<String, String>,
        directory: &Path,
        bundle: &Path,
        said: &Path,
    ) -> io::Result<Self> {
        let program = process::own_program()?.display().to_string();
        let invocation = Invocation {
            argv: std::iter::once(program).chain(arguments).collect(),
            directory: directory.to_owned(),
            environment,
            access: None,
        };
        // What an earlier run left would be taken for this one's.
        files::remove_folder(bundle);
        files::create_folder(bundle)?;
        let out = files::create(said)?;
        let group = Group::start(&invocation, Stdio::null(), out.into(), Stdio::inherit())?;
        let (bundle, said) = (bundle.to_owned(), said.to_owned());
        Ok(Self { group, bundle, said, read: 0, rest: Vec::new() })
    }

    /// The events since the last call.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn events(&mut self) -> io::Result<Vec<Event>> {
        let mut events = Vec::new();
        loop {
            let bytes = files::read_behind(&self.bundle.join(EVENTS), self.read, AT_ONCE)?;
            if bytes.is_empty() {
                return Ok(events);
            }
            self.read += bytes.len() as u64;
            self.rest.extend(bytes);
            events.extend(whole_lines(&mut self.rest));
        }
    }

    /// Its exit code, once it has ended; 128 and the signal after one.
    ///
    /// # Errors
    ///
    /// What the operating system says.
    pub fn ended(&mut self) -> io::Result<Option<i32>> {
        use std::os::unix::process::ExitStatusExt;
        let status = self.group.child().try_wait()?;
        Ok(status.map(|status| {
            status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
        }))
    }

    /// Asks it to save and end.
    pub fn stop(&self) {
        self.group.interrupt();
    }

    /// The problem it ended with, from its last word: what happened and what to do.
    #[must_use]
    pub fn problem(&self) -> Option<(String, String)> {
        let bytes = files::read(&self.said, 16 << 20).ok()??;
        let document: serde_json::Value = serde_json::from_slice(&bytes).ok()?;
        let problem = document.get("error")?;
        let text = |name: &str| problem.get(name)?.as_str().map(str::to_owned);
        Some((text("message")?, text("hint").unwrap_or_default()))
    }
}

/// The file of events in a bundle.
pub const EVENTS: &str = "events.jsonl";

/// The events of all complete lines, which are taken out. A line that is no event is left out: a
/// newer worker may tell more.
pub fn whole_lines(bytes: &mut Vec<u8>) -> Vec<Event> {
    let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') else { return Vec::new() };
    let lines: Vec<u8> = bytes.drain(..=end).collect();
    lines
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_working_phase_sees_no_token() {
        let own = [
            ("PATH", "/bin"),
            ("GITHUB_TOKEN", "t"),
            ("GH_TOKEN", "t"),
            ("INPUT_TOKEN", "t"),
            ("ACTIONS_RUNTIME_TOKEN", "t"),
            ("ACTIONS_ID_TOKEN_REQUEST_URL", "t"),
            ("GITHUB_WORKSPACE", "/w"),
            ("GEMINI_API_KEY", "k"),
        ];
        let own = own.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let left = environment(&own, Code::Own, &[]);
        assert!(left.values().all(|value| value != "t"), "{left:?}");
        for kept in ["PATH", "GITHUB_WORKSPACE", "GEMINI_API_KEY", WITH_PARENT] {
            assert!(left.contains_key(kept), "{kept}");
        }
    }

    #[test]
    fn code_of_another_repository_runs_without_any_key() {
        let own = [
            ("PATH", "/bin"),
            ("GEMINI_API_KEY", "k"),
            ("npm_token", "k"),
            ("MODEL_ACCESS", "k"),
            ("GITHUB_REPOSITORY", "octo/demo"),
        ];
        let own = own.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let left = environment(&own, Code::Foreign, &["MODEL_ACCESS".to_owned()]);
        assert!(left.values().all(|value| value != "k"), "{left:?}");
        assert!(left.contains_key("PATH") && left.contains_key("GITHUB_REPOSITORY"), "{left:?}");
    }

    #[test]
    fn a_line_counts_when_it_is_whole() {
        let mut bytes = b"{\"event\":\"notice\",\"text\":\"a\"}\nnothing\n{\"event\":\"no".to_vec();
        assert_eq!(whole_lines(&mut bytes), [Event::Notice { text: "a".into() }]);
        bytes.extend(b"tice\",\"text\":\"b\"}\n");
        assert_eq!(whole_lines(&mut bytes), [Event::Notice { text: "b".into() }]);
        assert!(bytes.is_empty());
    }
}
