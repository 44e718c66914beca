//! The test world of the bot: a git server over HTTP, a fake GitHub, and jobs of the runner.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::fake_github::FakeGithub;
use crate::support::{Ran, write_program};

/// A token of one world. Each has its own, since another world's may be visible on this machine.
fn canary() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static WORLDS: AtomicU32 = AtomicU32::new(1);
    let number = WORLDS.fetch_add(1, Ordering::Relaxed);
    format!("ghs_canary/7+q=Zt9canary{}x{number}canary", std::process::id())
}

/// Prefix of a file's text that makes it a symbolic link to the rest of the text.
pub const LINK: &str = "link -> ";

/// The folder of the command files that the runner reads after a step.
const COMMANDS: &str = "file_commands";

/// A test world with one repository, `octo/demo`.
pub struct World {
    folder: TempDir,
    server: Child,
    url: String,
    /// The token of every job; after a job it must not be found anywhere.
    pub token: String,
    /// The fake GitHub.
    pub github: FakeGithub,
    /// `PATH` of every job, instead of ours: the user that test code runs as cannot reach an
    /// interpreter in a private home.
    pub path: Option<&'static str>,
}

/// A job of a workflow.
pub struct Job<'a> {
    /// Name of the event (`GITHUB_EVENT_NAME`).
    pub event: &'a str,
    /// Content of the event file.
    pub payload: Value,
    /// Inputs of the action (`with:`).
    pub inputs: &'a [(&'a str, &'a str)],
    /// The branch that is checked out.
    pub checkout: &'a str,
}

impl World {
    /// `main` holds `good`, with one more commit on `topic` that writes `bad`.
    pub fn new(good: &[(&str, &str)], bad: &[(&str, &str)]) -> Self {
        Self::with_token(canary(), good, bad)
    }

    /// Like [`World::new`], with this token of the job.
    pub fn with_token(token: String, good: &[(&str, &str)], bad: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("srv");
        let bare = root.join("octo/demo.git");
        std::fs::create_dir_all(&bare).expect("folders");
        std::fs::create_dir_all(folder.path().join("home")).expect("a home");
        let bare_text = bare.display().to_string();
        git(folder.path(), &["init", "-q", "--bare", "-b", "main", &bare_text]);
        for setting in ["http.receivepack", "uploadpack.allowReachableSHA1InWant"] {
            git(&bare, &["config", setting, "true"]);
        }
        git(folder.path(), &["init", "-q", "-b", "main", "seed"]);
        let seed = folder.path().join("seed");
        git(&seed, &["remote", "add", "origin", &bare_text]);
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/support/git_server.py");
        let mut server = Command::new("python3")
            .arg(script)
            .arg(&root)
            .arg("-")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 starts");
        let mut input = server.stdin.take().expect("a pipe");
        writeln!(input, "{token}").expect("a line");
        let mut port = String::new();
        BufReader::new(server.stdout.take().expect("a pipe")).read_line(&mut port).expect("a port");
        let github = FakeGithub::start();
        github.state().git = Some(bare);
        github.state().permissions.insert("ann".into(), ("write".into(), "maintain".into()));
        let url = format!("http://127.0.0.1:{}", port.trim());
        let world = Self { folder, server, url, token, github, path: None };
        world.commit("main", good, "First");
        world.branch("topic", "main");
        world.commit("topic", bad, "Change it");
        world
    }

    fn seed(&self) -> PathBuf {
        self.folder.path().join("seed")
    }

    /// The address of the git server.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The repository on the server.
    pub fn bare(&self) -> PathBuf {
        self.folder.path().join("srv/octo/demo.git")
    }

    /// The folder that contains the whole world.
    pub fn around(&self) -> &Path {
        self.folder.path()
    }

    /// Creates a branch on the server.
    pub fn branch(&self, name: &str, from: &str) {
        git(&self.seed(), &["checkout", "-q", "-B", name, from]);
        git(&self.seed(), &["push", "-q", "origin", name]);
    }

    /// Fetches a branch of the server into the seed checkout.
    pub fn branch_here(&self, name: &str) {
        git(&self.seed(), &["fetch", "-q", "origin", name]);
        git(&self.seed(), &["checkout", "-q", "-B", name, "FETCH_HEAD"]);
    }

    /// Commits to a branch of the server. A text that begins with [`LINK`] becomes a symbolic link.
    pub fn commit(&self, branch: &str, files: &[(&str, &str)], message: &str) -> String {
        let seed = self.seed();
        if !git(&seed, &["branch", "--list", branch]).is_empty() {
            git(&seed, &["checkout", "-q", branch]);
        }
        for (name, text) in files {
            let path = seed.join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
            match text.strip_prefix(LINK) {
                Some(to) => std::os::unix::fs::symlink(to, path).expect("a link"),
                None => std::fs::write(path, text).expect("a file"),
            }
        }
        git(&seed, &["add", "-A", "-f"]);
        git(&seed, &["commit", "-q", "-m", message]);
        git(&seed, &["push", "-q", "origin", &format!("HEAD:refs/heads/{branch}")]);
        git(&seed, &["rev-parse", "HEAD"])
    }

    /// Runs git in the repository of the server.
    pub fn git(&self, arguments: &[&str]) -> String {
        git(&self.bare(), arguments)
    }

    /// Opens a pull request from `topic` by the user `ann`.
    pub fn pull(&self) -> u64 {
        let ann = Some((12, "ann".to_owned()));
        let number = self.github.state().open_pull(ann, "topic", "Change it");
        self.git(&["update-ref", &format!("refs/pull/{number}/head"), "topic"]);
        number
    }

    /// GitHub's own example of a webhook payload, with our repository in it.
    fn example(path: &str) -> Value {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/webhooks").join(path);
        let mut value: Value =
            serde_json::from_str(&std::fs::read_to_string(path).expect("an example"))
                .expect("JSON");
        value["repository"]["full_name"] = json!("octo/demo");
        value["repository"]["default_branch"] = json!("main");
        value
    }

    /// The event of a pull request that is new or has a new head.
    pub fn pull_request(&self, number: u64, action: &str) -> Job<'static> {
        let mut payload = Self::example("pull_request/0.json");
        payload["action"] = json!(action);
        payload["number"] = json!(number);
        let pull = &mut payload["pull_request"];
        pull["number"] = json!(number);
        pull["state"] = json!("open");
        pull["draft"] = json!(false);
        for (end, branch) in [("head", "topic"), ("base", "main")] {
            pull[end]["ref"] = json!(branch);
            pull[end]["sha"] = json!(self.git(&["rev-parse", branch]));
            pull[end]["repo"]["full_name"] = json!("octo/demo");
        }
        payload["sender"] = json!({ "id": 12, "login": "ann", "type": "User" });
        Job { event: "pull_request", payload, inputs: &[], checkout: "topic" }
    }

    /// Posts a comment on the pull request, and returns its event.
    pub fn comment(&self, number: u64, login: &str, body: &str) -> Job<'static> {
        let id = self.github.state().comment(number, Some((12, login.to_owned())), body);
        let mut payload = Self::example("issue_comment/0.json");
        payload["action"] = json!("created");
        payload["issue"]["number"] = json!(number);
        payload["issue"]["state"] = json!("open");
        payload["issue"]["pull_request"] = json!({ "url": "x" });
        let comment = &mut payload["comment"];
        comment["id"] = json!(id);
        comment["body"] = json!(body);
        comment["updated_at"] = comment["created_at"].clone();
        comment["user"] = json!({ "id": 12, "login": login, "type": "User" });
        payload["sender"] = json!({ "id": 12, "login": login, "type": "User" });
        Job { event: "issue_comment", payload, inputs: &[], checkout: "main" }
    }

    /// The program as the runner starts it, in a fresh checkout of depth 1.
    pub fn action(&self, job: &Job<'_>) -> Command {
        let place = self.folder.path().join("workspace");
        drop(std::fs::remove_dir_all(&place));
        let bare = format!("file://{}", self.bare().display());
        let branch = job.checkout;
        git(
            self.folder.path(),
            &["clone", "-q", "--depth=1", "--branch", branch, &bare, "workspace"],
        );
        let event = self.folder.path().join("event.json");
        std::fs::write(&event, job.payload.to_string()).expect("an event");
        // Test code has no access to the runner's folder, so it holds nothing else.
        let commands = self.folder.path().join(COMMANDS);
        std::fs::create_dir_all(&commands).expect("a folder");
        for name in ["output", "summary", "env"] {
            std::fs::write(commands.join(name), "").expect("a file");
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_regreen"));
        let path = self.path.map_or_else(|| std::env::var("PATH").expect("a path"), str::to_owned);
        command.env_clear().env("PATH", path);
        for name in ["PYENV_ROOT", "PYENV_VERSION"] {
            if let Ok(value) = std::env::var(name) {
                command.env(name, value);
            }
        }
        let at = |name: &str| self.folder.path().join(name);
        command
            .env("HOME", at("home"))
            .env("LANG", "C.UTF-8")
            .env("CI", "true")
            .env("GITHUB_ACTIONS", "true")
            .env("GITHUB_EVENT_NAME", job.event)
            .env("GITHUB_EVENT_PATH", event)
            .env("GITHUB_WORKSPACE", &place)
            .env("GITHUB_REPOSITORY", "octo/demo")
            .env("GITHUB_SERVER_URL", &self.url)
            .env("GITHUB_API_URL", self.github.url())
            .env("GITHUB_SHA", self.git(&["rev-parse", branch]))
            .env("GITHUB_RUN_ID", "42")
            .env("GITHUB_RUN_ATTEMPT", "1")
            .env("GITHUB_WORKFLOW", "regreen")
            .env("GITHUB_OUTPUT", commands.join("output"))
            .env("GITHUB_STEP_SUMMARY", commands.join("summary"))
            .env("GITHUB_ENV", commands.join("env"))
            .env("ACTIONS_RUNTIME_TOKEN", &self.token)
            .env("INPUT_TOKEN", &self.token)
            .env("REGREEN_WORK_DIR", at("work"))
            .env("REGREEN_PACE_MS", "0")
            .env("REGREEN_LISTEN_MS", "200")
            .current_dir(&place)
            .arg("action");
        for (name, value) in job.inputs {
            command.env(format!("INPUT_{}", name.to_uppercase()), value);
        }
        command
    }

    /// Runs a job to its end, on a machine without state of earlier jobs.
    pub fn run(&self, job: &Job<'_>) -> Ran {
        drop(std::fs::remove_dir_all(self.folder.path().join("work")));
        self.action(job).output().expect("regreen starts").into()
    }

    /// Runs a job that works on a pull request without publishing, and returns its bundle.
    pub fn bundle(&self, number: u64) -> PathBuf {
        let mut job = self.pull_request(number, "opened");
        job.inputs = &[("mode", "work"), ("bundle", "bundle")];
        let ran = self.run(&job);
        assert_eq!(ran.code, Some(0), "{}\n{}", ran.out, ran.err);
        let bundle = self.around().join("kept");
        std::fs::rename(self.around().join("workspace/bundle"), &bundle).expect("a bundle");
        bundle
    }

    /// Starts a job on a machine without state of earlier jobs.
    pub fn start(&self, job: &Job<'_>) -> Child {
        drop(std::fs::remove_dir_all(self.folder.path().join("work")));
        self.action(job).spawn().expect("regreen starts")
    }

    /// Makes the git server refuse every push until the returned file is removed.
    pub fn refuse_pushes(&self) -> PathBuf {
        let hook = self.bare().join("hooks/pre-receive");
        write_program(&hook, "#!/bin/sh\necho not on fridays >&2\nexit 1\n");
        hook
    }

    /// Makes the git server hold its answer to the first push after which `condition`, a shell
    /// command that runs in its repository, succeeds. So a story can act at an exact point of a run.
    pub fn hold_push(&self, condition: &str) -> HeldPush {
        let marker = self.folder.path().join("srv/held");
        let hook = self.bare().join("hooks/post-receive");
        // It removes itself first, since pushes of the story run it as well.
        let script = format!(
            "#!/bin/sh\n{{ {condition}; }} >/dev/null 2>&1 || exit 0\nrm \"$0\"\n: >'{0}'\n\
             for _ in $(seq 1200); do [ -e '{0}' ] || exit 0; sleep 0.05; done\n",
            marker.display()
        );
        write_program(&hook, &script);
        HeldPush { marker, hook }
    }

    /// The next request to the git server with this method and service (`upload` or `receive`) fails
    /// in this way, once.
    pub fn git_fault(&self, kind: &str, method: &str, service: &str) {
        use std::fs::File;
        let path = self.folder.path().join("srv/faults");
        let mut file = File::options().append(true).create(true).open(path).expect("a file");
        writeln!(file, "{kind} {method} {service}").expect("a line");
    }

    /// Faults of the git server that have not happened.
    pub fn git_faults_left(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("srv/faults")).expect("a file")
    }

    /// Waits until something holds, for a minute.
    pub fn wait_for(&self, holds: impl Fn() -> bool) {
        // Ten minutes, for a machine that has much else to do.
        for _ in 0..12_000 {
            if holds() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!(
            "it never happened: {}\n{}",
            self.git(&["for-each-ref"]),
            self.github.transcript().join("\n")
        );
    }

    /// Whether a branch, or another reference by its full name, is on the server.
    pub fn has(&self, name: &str) -> bool {
        let name =
            if name.starts_with("refs/") { name.to_owned() } else { format!("refs/heads/{name}") };
        !self.git(&["for-each-ref", &name]).is_empty()
    }

    /// Starts a job, and kills it in the push after which a commit message on a branch contains
    /// `words`.
    pub fn run_until(&self, job: &Job<'_>, branch: &str, words: &str) {
        let held = self.hold_push(&format!("git log --format=%s '{branch}' | grep -F '{words}'"));
        self.kill_at(job, &held);
    }

    /// Starts a job, and kills it in this push.
    pub fn kill_at(&self, job: &Job<'_>, held: &HeldPush) {
        let mut child = self.start(job);
        self.wait_for(|| held.has_come());
        child.kill().expect("a child");
        child.wait().expect("a child");
    }

    /// The text of one of the runner's command files.
    pub fn left(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(COMMANDS).join(name)).unwrap_or_default()
    }

    /// Our comment on a pull request.
    pub fn sticky(&self, number: u64) -> String {
        let state = self.github.state();
        let me = state.me.0;
        let own: Vec<_> = state
            .comments
            .iter()
            .filter(|one| one.number == number)
            .filter(|one| one.author.as_ref().is_some_and(|author| author.0 == me))
            .collect();
        assert!(own.len() < 2, "never a second comment: {own:?}");
        own.first().map_or_else(String::new, |one| one.body.clone())
    }

    /// Everything that was printed, posted or written for the runner, as one text.
    pub fn said(&self, ran: &Ran) -> String {
        let mask = format!("::add-mask::{}", self.token);
        let mut said = ran.out.replace(&mask, "") + &ran.err;
        for seen in self.github.log() {
            said += &format!("{} {} {}\n", seen.method, seen.target, seen.body);
        }
        said + &["output", "summary", "env"].map(|name| self.left(name)).join("")
    }

    /// Asserts that nothing that was printed, posted, committed or kept contains the token.
    pub fn assert_no_token(&self, ran: &Ran) {
        let said = self.said(ran);
        assert!(!said.contains(&self.token), "{said}");
        let kept = holding(&self.folder.path().join("work"), &self.token, &[]);
        assert_eq!(kept, "", "files with the token");
        // Objects are compressed, so git itself must search them.
        let found = self.git(&["log", "--all", "--format=%H", "-S", &self.token]);
        assert_eq!(found, "", "commits with the token");
        let messages = self.git(&["log", "--all", "--format=%B%an%ae%cn%ce"]);
        assert!(!messages.contains(&self.token), "{messages}");
    }
}

/// Files below a folder that contain a text. The text is passed by standard input, because other
/// tests search the arguments of all processes for secrets.
pub fn holding(folder: &Path, text: &str, more: &[&str]) -> String {
    let mut grep = Command::new("grep")
        .args(["-rlF", "-f", "-"])
        .args(more)
        .arg(".")
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("grep starts");
    let mut input = grep.stdin.take().expect("standard input");
    writeln!(input, "{text}").expect("grep reads");
    drop(input);
    let found = grep.wait_with_output().expect("grep ends");
    String::from_utf8_lossy(&found.stdout).into_owned()
}

/// A push that the git server answers when this is dropped.
pub struct HeldPush {
    marker: PathBuf,
    hook: PathBuf,
}

impl HeldPush {
    /// Whether the push has come; its references are updated then.
    pub fn has_come(&self) -> bool {
        self.marker.exists()
    }
}

impl Drop for HeldPush {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.hook));
        drop(std::fs::remove_file(&self.marker));
    }
}

impl Drop for World {
    fn drop(&mut self) {
        drop(self.server.kill());
        drop(self.server.wait());
    }
}

fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(directory)
        .env_clear()
        .env("PATH", std::env::var("PATH").expect("a path"))
        .env("HOME", directory)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", "Ann")
        .env("GIT_AUTHOR_EMAIL", "ann@localhost")
        .env("GIT_COMMITTER_NAME", "Ann")
        .env("GIT_COMMITTER_EMAIL", "ann@localhost")
        .output()
        .expect("git starts");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {error}");
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}
