//! Tests of remotes and bundles against git's own HTTP server on loopback.

#![expect(clippy::disallowed_methods, reason = "tests build the world that the program then meets")]

mod bundles;
mod content;
mod remotes;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use crate::adapter::host::Live;
use crate::adapter::host::http::Http;
use crate::domain::id::{CommitId, SessionId};
use crate::domain::secret::SecretKey;
use crate::effect::{
    FetchTarget, PushOutcome, PushRequest, RebasedPushOutcome, Refuser, RemoteError, TestClock,
};

use super::*;

fn waits() -> RetryWaits {
    RetryWaits { clock: Arc::new(TestClock::default()), seed: 7 }
}

const TOKEN: &str = "ghs_canaryCanary0123456789";

fn git(folder: &Path, arguments: &[&str]) -> String {
    git_with(folder, arguments, "")
}

/// Starts a child that the sweeps of tests which run side by side leave alone.
fn start(command: &mut Command) -> (Child, Live) {
    Live::start("", || command.spawn(), |child: &Child| Some(child.id())).expect("it starts")
}

fn git_with(folder: &Path, arguments: &[&str], input: &str) -> String {
    let mut command = Command::new("git");
    command
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var("PATH").expect("a path"))
        .env("HOME", folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", "Ada")
        .env("GIT_AUTHOR_EMAIL", "ada@localhost")
        .env("GIT_COMMITTER_NAME", "Ada")
        .env("GIT_COMMITTER_EMAIL", "ada@localhost")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let (mut child, _live) = start(&mut command);
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("git reads");
    let output = child.wait_with_output().expect("git ends");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {message}");
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

/// A server with `main` (100 commits) and `topic` (70 commits on top of `main~80`), and a clone of
/// `topic` with depth 1.
struct World {
    folder: tempfile::TempDir,
    server: Child,
    _live: Live,
    url: String,
    scheme: &'static str,
}

impl Drop for World {
    fn drop(&mut self) {
        self.server.kill().and_then(|()| self.server.wait().map(drop)).expect("it runs");
    }
}

impl World {
    fn new() -> Self {
        Self::serve(None)
    }

    fn serve(tls: Option<(&Path, &Path)>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("srv");
        let bare = root.join("o/r.git");
        std::fs::create_dir_all(&bare).expect("a folder");
        git(&bare, &["init", "-q", "--bare", "-b", "main"]);
        git(&bare, &["config", "http.receivepack", "true"]);
        let mut stream = String::new();
        for number in 1..=100 {
            stream += &commit("main", number, &format!("base {number}"), "a.txt");
        }
        git_with(&bare, &["fast-import", "--quiet"], &stream);
        // fast-import resolves `main~80` only once the branch exists.
        let mut stream = "reset refs/heads/topic\nfrom refs/heads/main~80\n\n".to_owned();
        for number in 1..=70 {
            stream += &commit("topic", number, &format!("topic {number}"), "b.txt");
        }
        git_with(&bare, &["fast-import", "--quiet"], &stream);
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/support/git_server.py");
        let mut command = Command::new("python3");
        command.arg(script).arg(&root).arg(TOKEN);
        if let Some((certificate, key)) = tls {
            command.arg(certificate).arg(key);
        }
        let (mut server, live) = start(command.stdout(Stdio::piped()));
        let mut port = String::new();
        let out = server.stdout.take().expect("a pipe");
        BufReader::new(out).read_line(&mut port).expect("a port");
        let scheme = if tls.is_some() { "https" } else { "http" };
        let url = format!("{scheme}://127.0.0.1:{}/o/r.git", port.trim());
        Self { folder, server, _live: live, url, scheme }
    }

    fn bare(&self) -> PathBuf {
        self.folder.path().join("srv/o/r.git")
    }

    fn fault(&self, text: &str) {
        std::fs::write(self.folder.path().join("srv/fault"), text).expect("a file");
    }

    /// Installs a hook of the server's repository.
    fn hook(&self, name: &str, script: &str) {
        let hook = self.bare().join("hooks").join(name);
        crate::adapter::host::files::write_program(&hook, &format!("#!/bin/sh\n{script}\n"));
    }

    /// The next request with this method and service fails in this way.
    fn fault_once(&self, kind: &str, method: &str, service: &str) {
        let line = format!("{kind} {method} {service}\n");
        std::fs::write(self.folder.path().join("srv/faults"), line).expect("a file");
    }

    /// Whether the fault of [`World::fault_once`] happened.
    fn fault_happened(&self) -> bool {
        let left = std::fs::read_to_string(self.folder.path().join("srv/faults"));
        left.expect("a file").is_empty()
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("srv/log")).unwrap_or_default()
    }

    /// A clone as the runner makes it, but with the token in its address.
    fn clone(&self, depth: Option<u32>, branch: &str) -> PathBuf {
        let name = format!("{branch}-{depth:?}");
        let place = self.folder.path().join(&name);
        let secret = format!("x-access-token:{TOKEN}@");
        let url = self.url.replace("://", &format!("://{secret}"));
        let depth = depth.map_or_else(|| "--no-local".into(), |depth| format!("--depth={depth}"));
        git(self.folder.path(), &["clone", "-q", &depth, "--branch", branch, &url, &name]);
        place
    }

    fn remote(&self, checkout: &Path) -> GitRemote {
        let token = Some(Credential { host: "127.0.0.1".into(), token: SecretKey::new(TOKEN) });
        self.remote_with(checkout, token)
    }

    fn remote_with(&self, checkout: &Path, token: Option<Credential>) -> GitRemote {
        let facts = discover(checkout).expect("a checkout");
        let http = Http::new().expect("a client");
        let transport = Transport::new(http, &self.url, token, waits()).expect("an address");
        GitRemote::new(&facts, transport.within(Duration::from_mins(1)))
    }

    fn tip(&self, branch: &str) -> CommitId {
        id(&git(&self.bare(), &["rev-parse", branch]))
    }

    /// Somebody else's commit on a branch of the server.
    fn foreign(&self, branch: &str, file: &str) -> CommitId {
        let more = format!(
            "commit refs/heads/{branch}\ncommitter Bo <bo@localhost> 1767323045 +0000\ndata 4\nmine\nfrom refs/heads/{branch}^0\nM 100644 inline {file}\ndata 4\nelse\n"
        );
        git_with(&self.bare(), &["fast-import", "--quiet", "--force"], &more);
        self.tip(branch)
    }
}

fn commit(branch: &str, number: u32, text: &str, file: &str) -> String {
    format!(
        "commit refs/heads/{branch}\ncommitter Ada <ada@localhost> {} +0000\ndata 1\nx\nM 100644 inline {file}\ndata {}\n{text}\n",
        1_767_300_000 + number,
        text.len()
    )
}

fn id(text: &str) -> CommitId {
    CommitId::parse(text).expect("an id")
}

fn session() -> SessionId {
    SessionId::parse("WFS-test-x").expect("an id")
}

/// A commit of the session in a checkout.
fn fix(checkout: &Path, file: &str, text: &str) -> CommitId {
    let path = checkout.join(file);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
    std::fs::write(path, text).expect("a file");
    git(checkout, &["add", "-A"]);
    sealed(checkout)
}

fn sealed(checkout: &Path) -> CommitId {
    let message = "test-cycle: fix\n\nRegreen-Session: WFS-test-x\nRegreen-Kind: fix\n";
    git(checkout, &["commit", "-q", "-m", message]);
    id(&git(checkout, &["rev-parse", "HEAD"]))
}

fn request(branch: &str, expected: Option<CommitId>, new: &CommitId) -> PushRequest {
    PushRequest {
        branch: branch.into(),
        expected,
        new: new.clone(),
        session: session(),
        protected: vec!["main".into()],
    }
}
