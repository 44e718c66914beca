//! The worker: a separate process that runs the tests without a token (specification.md 4.14).

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::io::AsyncWriteExt;

use crate::adapter::host::files;
use crate::adapter::host::process::{self, Group, Invocation, WITH_PARENT};
use crate::app::Job;
use crate::domain::event::Event;

use super::context::Context;

/// Variables that a worker never gets, by name and by prefix.
const WITHHELD: &[&str] = &["GITHUB_TOKEN", "GH_TOKEN", "GITHUB_PAT"];
const WITHHELD_PREFIXES: &[&str] = &["ACTIONS_", "INPUT_"];

/// Largest file of events, in bytes.
pub const EVENTS_LIMIT: u64 = 256 << 20;

/// Bytes of events read in one call.
const AT_ONCE: u64 = 8 << 20;

/// Parts of the names of variables that hold secrets.
const SECRETS: &[&str] = &["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"];

/// The origin of the code that a worker runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The code of this repository.
    Own,
    /// The code of another repository, which gets no key of a model (specification.md 4.14).
    Foreign,
}

/// The environment of a worker: ours without access to GitHub, and for foreign code also without
/// every variable that looks like a secret or that the configuration names as a key.
pub fn environment(
    own: &BTreeMap<String, String>,
    code: Code,
    keys: &[String],
) -> BTreeMap<String, String> {
    let mut environment = own.clone();
    environment.retain(|name, _| {
        !WITHHELD.contains(&name.as_str())
            && !WITHHELD_PREFIXES.iter().any(|begin| name.starts_with(begin))
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

/// Variables that the configuration names as keys of providers.
fn own_keys(context: &Context<'_>) -> Vec<String> {
    let providers = context.prepared.settings.provider.iter().flatten();
    providers.filter_map(|(_, provider)| provider.key.clone()).collect()
}

/// The environment of a worker that asks no model and therefore gets no keys.
pub fn keyless_environment(context: &Context<'_>) -> BTreeMap<String, String> {
    environment(&context.env.variables, Code::Foreign, &own_keys(context))
}

/// The environment of the worker of a run. It holds the token only when the configuration of the
/// base branch asks for the models of the forge, and never for foreign code.
pub fn run_environment(context: &Context<'_>) -> BTreeMap<String, String> {
    let settings = &context.prepared.settings;
    let code = if context.target.foreign { Code::Foreign } else { Code::Own };
    let mut environment = environment(&context.env.variables, code, &own_keys(context));
    let uses_token = settings.providers.iter().flatten().any(|name| name == "github");
    if let Some(token) = context.env.token.as_ref().filter(|_| uses_token && code == Code::Own) {
        environment.insert("GITHUB_TOKEN".into(), token.expose().to_owned());
    }
    environment
}

/// A running worker.
pub struct Worker {
    group: Group,
    bundle: PathBuf,
    output: PathBuf,
    read: u64,
    rest: Vec<u8>,
}

impl Worker {
    /// Starts `regreen work` for this job, with its bundle's folder and its standard output's file.
    pub async fn start(
        job: &Job,
        environment: BTreeMap<String, String>,
        directory: &Path,
        bundle: &Path,
        output: &Path,
    ) -> io::Result<Self> {
        let program = process::own_program()?.display().to_string();
        let invocation = Invocation {
            argv: vec![program, "work".into()],
            directory: directory.to_owned(),
            environment,
            access: None,
        };
        // The bundle of an earlier run would be read as the result of this one.
        files::remove_folder(bundle);
        files::create_folder(bundle)?;
        let out = files::create(output)?;
        let mut group = Group::start(&invocation, Stdio::piped(), out.into(), Stdio::inherit())?;
        if let Some(mut stdin) = group.child().stdin.take() {
            stdin.write_all(job.to_json().as_bytes()).await?;
            stdin.shutdown().await?;
        }
        let (bundle, output) = (bundle.to_owned(), output.to_owned());
        Ok(Self { group, bundle, output, read: 0, rest: Vec::new() })
    }

    /// Reads the events written since the last call.
    pub fn events(&mut self) -> io::Result<Vec<Event>> {
        let mut events = Vec::new();
        loop {
            let bytes = files::read_from(&self.bundle.join(EVENTS), self.read, AT_ONCE)?;
            if bytes.is_empty() {
                return Ok(events);
            }
            self.read += bytes.len() as u64;
            self.rest.extend(bytes);
            events.extend(whole_lines(&mut self.rest));
        }
    }

    /// The exit code, once the worker has ended; after a signal, 128 plus its number.
    pub fn exit_code(&mut self) -> io::Result<Option<i32>> {
        use std::os::unix::process::ExitStatusExt;
        let status = self.group.child().try_wait()?;
        Ok(status.map(|status| {
            status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
        }))
    }

    /// Asks the worker to save its session and end.
    pub fn stop(&self) {
        self.group.interrupt();
    }

    /// The error in the worker's output: message and hint.
    pub fn problem(&self) -> Option<(String, String)> {
        let bytes = files::read(&self.output, 16 << 20).ok()??;
        let document: serde_json::Value = serde_json::from_slice(&bytes).ok()?;
        let problem = document.get("error")?;
        let text = |name: &str| problem.get(name)?.as_str().map(str::to_owned);
        Some((text("message")?, text("hint").unwrap_or_default()))
    }
}

pub use crate::domain::session::files::BUNDLE_EVENTS as EVENTS;

/// Takes all complete lines off `bytes` as events; skips those of a newer worker.
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
    fn a_worker_gets_no_token() {
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
        for name in ["PATH", "GITHUB_WORKSPACE", "GEMINI_API_KEY", WITH_PARENT] {
            assert!(left.contains_key(name), "{name}");
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
