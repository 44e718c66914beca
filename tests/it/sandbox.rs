//! A hostile test suite tries to escape its sandbox. What regreen claims to prevent must fail, and
//! what it cannot prevent on this machine it must report.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;

use serde_json::Value;

use crate::support::{CALC, TestRepo, write_program};

/// Each test passes when its attempt is refused; `test_allowed_*` when it is not.
const HOSTILE: &str = r#"
import os, signal, socket, tempfile, unittest

def parent_of(pid):
    with open(f"/proc/{pid}/stat") as stat:
        return int(stat.read().rsplit(")", 1)[1].split()[1])


# The launcher stands between.
PARENT = parent_of(os.getppid())


def append(path):
    with open(path, "a") as file:
        file.write("mine\n")


class Attempts(unittest.TestCase):
    def refused(self, attempt):
        with self.assertRaises(OSError) as caught:
            attempt()
        self.assertIsInstance(caught.exception, PermissionError, caught.exception)

    def test_environment_of_regreen(self):
        self.refused(lambda: open(f"/proc/{PARENT}/environ", "rb").read())

    def test_memory_of_regreen(self):
        self.refused(lambda: open(f"/proc/{PARENT}/mem", "rb").close())

    def test_files_of_regreen(self):
        self.refused(lambda: os.readlink(f"/proc/{PARENT}/fd/1"))

    def test_signal_to_regreen(self):
        self.refused(lambda: os.kill(PARENT, 0))

    def test_read_token_of_the_runner(self):
        self.refused(lambda: open("AROUND/runner/git-credentials-1.config").read())

    def test_read_password_in_git_config(self):
        self.refused(lambda: open("CHECKOUT/.git/config").read())

    def test_read_key_in_the_home(self):
        self.refused(lambda: open("AROUND/home/.ssh/id_ed25519").read())

    def test_write_command_file(self):
        self.refused(lambda: append("AROUND/runner/_runner_file_commands/set_env"))

    def test_write_git_config(self):
        self.refused(lambda: append("CHECKOUT/.git/config"))

    def test_write_hook(self):
        self.refused(lambda: append("CHECKOUT/.git/hooks/pre-commit"))

    def test_write_file_of_the_user(self):
        self.refused(lambda: append("CHECKOUT/calc.py"))

    def test_write_outside(self):
        self.refused(lambda: append("AROUND/outside"))

    def test_link_outside_and_write(self):
        os.symlink("AROUND/outside", "link")
        self.refused(lambda: append("link"))

    def test_connect_low_port(self):
        self.refused(lambda: socket.create_connection(("127.0.0.1", 9), 5))

    def test_connect_high_port(self):
        self.refused(lambda: socket.create_connection(("127.0.0.1", HIGH), 5).close())

    def test_docker_socket(self):
        sock = socket.socket(socket.AF_UNIX)
        self.refused(lambda: sock.connect("AROUND/docker.sock"))

    def test_become_root(self):
        self.refused(lambda: os.setuid(0) or (_ for _ in ()).throw(OSError("became root")))

    def test_allowed_write_here_at_home_and_in_temporary_folders(self):
        append("here")
        append(os.path.expanduser("~/note"))
        with tempfile.NamedTemporaryFile("w+") as file:
            file.write("x")
        with open(os.devnull, "w") as null:
            null.write("x")

    def test_allowed_serve_and_connect(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            socket.create_connection(server.getsockname(), 5).close()

    def test_allowed_read_the_machine(self):
        self.assertTrue(os.listdir("/"))
        with open("/etc/passwd") as file:
            self.assertIn("root", file.read())

    def test_allowed_daemon(self):
        # It leaves group, session and environment, and would sleep for a day.
        read, write = os.pipe()
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.set_inheritable(write, False)
                os.closerange(0, 3)
                os.execve("/bin/sleep", ["sleep", "DAEMON"], {})
            os._exit(0)
        os.close(write)
        # The end of the pipe comes when the program is replaced.
        self.assertEqual(os.read(read, 1), b"")
"#;

/// Waits until processes that show a text in their command line have come, or have gone.
fn await_processes(text: &str, expected: bool) {
    for _ in 0..600 {
        let found = std::process::Command::new("pgrep").args(["-f", text]).output().unwrap();
        if found.stdout.is_empty() != expected {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    panic!("`{text}`: expected to run: {expected}");
}

#[test]
fn whatever_ends_regreen_ends_its_tests_and_what_they_started() {
    for signal in ["-TERM", "-INT", "-KILL"] {
        // A duration that no other `sleep` on this machine uses.
        let sleep = format!("8640{}.{}", signal.len(), std::process::id());
        let text = format!(
            "import subprocess, time, unittest\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        subprocess.Popen(['sleep', '{sleep}'], start_new_session=True)\n        time.sleep(600)\n"
        );
        let repo = TestRepo::new(&[("calc.py", "VALUE = 1\n"), ("test_it.py", &text)]);
        let null = std::process::Stdio::null;
        let mut child = repo.command().arg("fix").stdout(null()).stderr(null()).spawn().unwrap();
        let running = format!("sleep {sleep}");
        await_processes(&running, true);
        let pid = child.id().to_string();
        let sent = std::process::Command::new("kill").args([signal, &pid]).status().unwrap();
        assert!(sent.success(), "{signal}");
        child.wait().unwrap();
        await_processes(&running, false);
        await_processes(&format!("{}.*unittest", repo.around().display()), false);
    }
}

struct World {
    repo: TestRepo,
    _docker: UnixListener,
    _high: TcpListener,
    daemon: String,
}

/// A checkout, surrounded by what a runner has: a token file, command files, a socket, a home.
fn world(walls: &str, network: &str) -> World {
    let repo = TestRepo::new(&[("calc.py", "VALUE = 1\n"), (".gitignore", "__pycache__/\n")]);
    let around = repo.around().canonicalize().unwrap();
    let high = TcpListener::bind("127.0.0.1:0").unwrap();
    // A duration that no other `sleep` on this machine uses.
    let daemon = format!("86400.{}{}", std::process::id(), high.local_addr().unwrap().port());
    let text = HOSTILE
        .replace("AROUND", around.to_str().unwrap())
        .replace("CHECKOUT", repo.root().to_str().unwrap())
        .replace("HIGH", &high.local_addr().unwrap().port().to_string())
        .replace("DAEMON", &daemon);
    repo.write(&[("test_attempts.py", &text)]);
    repo.git(&["add", "-A"]);
    repo.git(&["commit", "-qm", "attempts"]);
    repo.git(&["config", "http.https://github.example/.extraheader", "AUTHORIZATION: basic x"]);
    for (path, text) in [
        ("runner/git-credentials-1.config", "[http]\n\textraheader = t0ken\n"),
        ("runner/_runner_file_commands/set_env", ""),
        ("home/.ssh/id_ed25519", "key"),
    ] {
        let path = around.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let mode = |path: &Path, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    // Other users may enter the folders, and the socket has the mode of Docker's.
    mode(&around, 0o755);
    mode(&around.join("home"), 0o755);
    let docker = UnixListener::bind(around.join("docker.sock")).unwrap();
    mode(&around.join("docker.sock"), 0o660);
    std::fs::write(around.join("words"), format!("{walls} {network}")).unwrap();
    World { repo, _docker: docker, _high: high, daemon }
}

impl World {
    fn run(&self, arguments: &[&str]) -> Value {
        let around = self.repo.around().canonicalize().unwrap();
        let words = std::fs::read_to_string(around.join("words")).unwrap();
        let (walls, network) = words.split_once(' ').unwrap();
        let ran = self
            .repo
            .command()
            // Another user cannot reach an interpreter in a private home.
            .env("PATH", "/usr/bin:/bin")
            .env("REGREEN_SANDBOX", walls)
            .env("REGREEN_NETWORK", network)
            .env("RUNNER_TEMP", around.join("runner"))
            .env("GITHUB_ENV", around.join("runner/_runner_file_commands/set_env"))
            .env("GEMINI_API_KEY", "k3y")
            .args(arguments)
            .output()
            .unwrap();
        crate::support::Ran::from(ran).document()
    }

    /// Attempts that were not refused, and what regreen claimed to prevent and not to prevent.
    fn attempts(&self) -> (BTreeSet<String>, String, String) {
        let doctor = self.run(&["doctor", "--json"]);
        let said = |list: &Value| {
            let texts = list.as_array().unwrap().iter().map(|text| text.as_str().unwrap());
            texts.collect::<Vec<_>>().join("\n")
        };
        let holds = said(&doctor["test-code"]["holds"]);
        let open = said(&doctor["test-code"]["open"]);
        let document = self.run(&["fix", "--dry-run", "--json"]);
        assert_eq!(document["initial"]["total"], 21, "{document:#}");
        let failing = document["failing-tests"].as_array().expect("a list").iter();
        let failing = failing
            .map(|test| test.as_str().unwrap_or_else(|| test["test"].as_str().unwrap()))
            .map(|test| test.rsplit(['.', ':']).next().unwrap().to_owned())
            .collect();
        (failing, holds, open)
    }
}

/// Attempts that each claim of regreen rules out.
fn ruled_out(holds: &str) -> BTreeSet<&'static str> {
    let user = holds.contains("runs as user");
    let files = holds.contains("writes end");
    let mut all = BTreeSet::new();
    if user || files {
        all.extend([
            "test_environment_of_regreen",
            "test_memory_of_regreen",
            "test_files_of_regreen",
            "test_write_command_file",
            "test_write_git_config",
            "test_write_hook",
            "test_write_file_of_the_user",
            "test_write_outside",
            "test_link_outside_and_write",
        ]);
    }
    if files {
        all.extend([
            "test_read_token_of_the_runner",
            "test_read_password_in_git_config",
            "test_read_key_in_the_home",
        ]);
    }
    if user {
        all.extend(["test_docker_socket", "test_become_root"]);
    }
    if user || holds.contains("no signals") {
        all.insert("test_signal_to_regreen");
    }
    if holds.contains("no outgoing TCP") {
        all.insert("test_connect_low_port");
    }
    if holds.contains("no outgoing TCP (") {
        all.insert("test_connect_high_port");
    }
    all
}

fn is_running(argument: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .any(|line| String::from_utf8_lossy(&line).contains(argument))
}

/// Runs the suite, and compares what happened with what regreen claimed.
fn holds_what_it_says(walls: &str, network: &str, expected: &[&str]) {
    let world = world(walls, network);
    let (happened, holds, open) = world.attempts();
    let ruled_out = ruled_out(&holds);
    let broken: Vec<_> = happened.iter().filter(|test| ruled_out.contains(test.as_str())).collect();
    assert!(broken.is_empty(), "{walls} {network}: not refused: {broken:?}\n{holds}");
    let broken: Vec<_> = happened.iter().filter(|test| test.starts_with("test_allowed")).collect();
    let closed = network == "closed" && holds.contains("no outgoing TCP (");
    let served = ["test_allowed_serve_and_connect".to_owned()];
    let meant = closed && broken.iter().all(|test| served.contains(test));
    assert!(broken.is_empty() || meant, "{walls} {network}: ordinary work is refused: {broken:?}");
    // A machine that supports a protection must use it, and must report what it does not support.
    for sentence in expected {
        assert!(
            holds.contains(sentence) || open.contains("Landlock") || open.contains("not root"),
            "{walls} {network}: {sentence}: {holds}\n{open}"
        );
    }
    if happened.contains("test_docker_socket") {
        assert!(open.contains("sockets of this user") || open.contains("as regreen may"), "{open}");
    }
    if happened.contains("test_connect_high_port") {
        assert!(open.contains("open to test code") || open.contains("as regreen may"), "{open}");
    }
    if ruled_out.contains("test_write_outside") {
        assert!(!is_running(&world.daemon), "a daemon outlived its run");
    }
    let outside = world.repo.around().join("outside");
    assert_eq!(outside.exists(), happened.contains("test_write_outside"), "{happened:?}");
}

#[test]
fn a_hostile_suite_ends_at_the_walls_of_the_plain_command_line() {
    holds_what_it_says("files", "open", &["writes end", "memory and environment"]);
}

#[test]
fn a_hostile_suite_ends_at_the_walls_of_another_user() {
    holds_what_it_says("other-user", "local", &["runs as user", "below 1024"]);
}

#[test]
fn a_hostile_suite_finds_no_way_out_by_tcp() {
    holds_what_it_says("files", "closed", &["no outgoing TCP ("]);
}

#[cfg(feature = "slow-tests")]
#[test]
fn a_suite_of_another_user_is_repaired_and_its_remains_are_ours_to_remove() {
    let repo = TestRepo::new(CALC);
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(repo.around(), open).unwrap();
    let before = repo.belongings();
    let ran = repo
        .command()
        .env("PATH", "/usr/bin:/bin")
        .env("REGREEN_SANDBOX", "other-user")
        .env("REGREEN_NETWORK", "local")
        .args(["fix", "--json"])
        .output()
        .unwrap();
    let ran = crate::support::Ran::from(ran);
    assert_eq!(ran.document()["result"], "success", "{}", ran.err);
    assert_eq!(repo.belongings(), before);
    let left = walk(&repo.around().join("work"));
    assert!(left.iter().all(|path| !path.ends_with("test_calc.py")), "{left:?}");
}

#[test]
fn without_walls_nothing_is_claimed() {
    let world = world("off", "closed");
    let doctor = world.run(&["doctor", "--json"]);
    let holds = doctor["test-code"]["holds"].to_string();
    assert!(ruled_out(&holds).is_empty(), "{holds}");
    assert!(doctor["test-code"]["open"].to_string().contains("switched off"), "{doctor}");
}

#[test]
fn an_unknown_wall_stops_the_run_before_any_test_code() {
    let repo = TestRepo::new(&[("test_x.py", "open('ran', 'w')\n")]);
    let ran = repo.command().env("REGREEN_SANDBOX", "strong").args(["fix"]).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_ne!(ran.status.code(), Some(0));
    assert!(said.contains("files, other-user or off, not `strong`"), "{said}");
    assert!(!repo.root().join("ran").exists());
}

#[test]
fn no_variable_of_the_runner_and_no_key_reaches_test_code() {
    let names = [
        "GITHUB_TOKEN",
        "GITHUB_ENV",
        "GITHUB_OUTPUT",
        "GITHUB_EVENT_PATH",
        "GH_TOKEN",
        "ACTIONS_RUNTIME_TOKEN",
        "ACTIONS_RESULTS_URL",
        "ACTIONS_CACHE_URL",
        "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
        "ACTIONS_ID_TOKEN_REQUEST_URL",
        "RUNNER_TEMP",
        "INPUT_TOKEN",
        "INPUT_MAX-ITERATIONS",
        "STATE_token",
        "NPM_TOKEN",
        "CARGO_REGISTRY_TOKEN",
        "OPENAI_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "SSH_AUTH_SOCK",
        "DOCKER_HOST",
        "KUBECONFIG",
        "NODE_OPTIONS",
        "LD_PRELOAD",
        "PYTHONSTARTUP",
        "GIT_ASKPASS",
        "HTTPS_PROXY",
    ];
    let suite = r"import os, unittest

class T(unittest.TestCase):
    def test_names(self):
        print('SEEN', ' '.join(sorted(os.environ)))
        self.assertFalse([v for v in os.environ.values() if 'c4nary' in v])
";
    let repo = TestRepo::new(&[("test_names.py", suite)]);
    let mut command = repo.command();
    for name in names {
        // The loader and the runner read two of these variables before the program begins.
        let value = if name == "LD_PRELOAD" { "" } else { "c4nary" };
        command.env(name, value);
    }
    let ran = command.args(["fix", "--json"]).output().unwrap();
    let document = crate::support::Ran::from(ran).document();
    assert_eq!(document["result"], "success", "{document:#}");
    let folder = Path::new(document["folder"].as_str().expect("a folder"));
    let mut logs = String::new();
    for log in walk(folder) {
        logs += &String::from_utf8_lossy(&std::fs::read(log).unwrap());
    }
    let seen: BTreeSet<&str> = logs
        .lines()
        .filter_map(|line| line.split_once("SEEN "))
        .flat_map(|(_, rest)| rest.split(' '))
        .collect();
    assert!(seen.contains("PATH") && seen.contains("HOME"), "{seen:?}");
    for name in names {
        assert!(!seen.contains(name), "{name} reached test code");
    }
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        if entry.path().is_dir() {
            found.extend(walk(&entry.path()));
        } else {
            found.push(entry.path());
        }
    }
    found
}

#[test]
fn the_configuration_closes_the_network_and_the_environment_wins() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let suite = format!(
        r"import socket, unittest

class T(unittest.TestCase):
    def test_connect(self):
        with self.assertRaises(PermissionError):
            socket.create_connection(('127.0.0.1', {port}), 5).close()
"
    );
    let repo = TestRepo::new(&[
        ("test_connect.py", &suite),
        (".github/regreen.yml", "sandbox: { network: false }\n"),
    ]);
    let closed = |network: Option<&str>| {
        let mut command = repo.command();
        command
            .args(["fix", "--json", "--dry-run"])
            .envs(network.map(|word| ("REGREEN_NETWORK", word)));
        let ran = crate::support::Ran::from(command.output().unwrap());
        ran.document()["failing-tests"].as_array().unwrap().is_empty()
    };
    let doctor = repo.command().env("REGREEN_NETWORK", "closed").args(["doctor"]).output().unwrap();
    let can = String::from_utf8_lossy(&doctor.stdout).contains("no outgoing TCP (");
    assert_eq!(closed(None), can);
    assert!(!closed(Some("open")));
}

/// Opens sockets of all kinds, and says in JSON which of them are refused.
const SOCKETS: &str = r#"
import ctypes, json, socket, sys

INET, INET6, STREAM, DGRAM = socket.AF_INET, socket.AF_INET6, socket.SOCK_STREAM, socket.SOCK_DGRAM


def io_uring():
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(425, 1, ctypes.create_string_buffer(120)) < 0:
        raise OSError(ctypes.get_errno(), "io_uring")


def fast_open(send):
    send(socket.socket(INET, STREAM), 0x20000000, ("127.0.0.1", int(sys.argv[1])))


attempts = {
    "tcp": lambda: socket.socket(INET, STREAM | socket.SOCK_NONBLOCK),
    "tcp by name": lambda: socket.socket(INET6, STREAM, socket.IPPROTO_TCP),
    "unix": lambda: socket.socket(socket.AF_UNIX, DGRAM),
    "send": lambda: socket.create_connection(("127.0.0.1", int(sys.argv[1]))).send(b"x"),
    "udp": lambda: socket.socket(INET, DGRAM),
    "udp 6": lambda: socket.socket(INET6, DGRAM | socket.SOCK_NONBLOCK),
    "multipath": lambda: socket.socket(INET, STREAM, 262),
    "multipath 6": lambda: socket.socket(INET6, STREAM, 262),
    "ping": lambda: socket.socket(INET, DGRAM, socket.IPPROTO_ICMP),
    "virtual machine": lambda: socket.socket(40, STREAM),
    "fast open": lambda: fast_open(lambda s, flag, to: s.sendto(b"x", flag, to)),
    "fast open, other call": lambda: fast_open(lambda s, flag, to: s.sendmsg([b"x"], [], flag, to)),
    "io_uring": io_uring,
}
refused = []
for name, attempt in attempts.items():
    try:
        attempt()
    except PermissionError:
        refused.append(name)
    except OSError:
        pass
print(json.dumps(refused))
"#;

/// What the launcher does to a client, apart from what Landlock does to it.
#[test]
fn a_client_opens_no_socket_that_landlock_does_not_see() {
    let repo = TestRepo::new(&[("sockets.py", SOCKETS)]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let refused = |tcp_only: bool| {
        let limits = serde_json::json!({
            "user": null, "files": false, "signals": false, "network": "open", "port": null,
            "tcp_only": tcp_only, "ends_with": null,
        });
        let spec = serde_json::json!({ "limits": limits, "write": [], "closed": [] }).to_string();
        let ran = repo.regreen(&["__launch", &spec, "python3", "sockets.py", &port]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let names: Vec<String> = serde_json::from_str(&ran.out).unwrap();
        names
    };
    let closed = [
        "udp",
        "udp 6",
        "multipath",
        "multipath 6",
        "ping",
        "virtual machine",
        "fast open",
        "fast open, other call",
        "io_uring",
    ];
    assert_eq!(refused(true), closed);
    let open = refused(false);
    for name in ["udp", "multipath", "fast open"] {
        assert!(!open.iter().any(|one| one == name), "{name} is open elsewhere: {open:?}");
    }
}

/// The same of a client that a session starts, played by a script that answers like Codex.
#[test]
fn a_client_of_a_session_has_no_socket_but_its_own() {
    let repo = TestRepo::new(CALC);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let probe = SOCKETS.replace("sys.argv[1]", &port.to_string());
    let script = format!(
        r#"#!/usr/bin/env python3
import sys
if sys.argv[1:] == ["--version"]:
    print("codex-cli 0.169.0")
    sys.exit()
{probe}
said = "PROBED " + " ".join(name.replace(" ", "-") for name in refused) + " END"
print(json.dumps({{"type": "item.completed", "item": {{"type": "agent_message", "text": said}}}}))
"#
    );
    let program = repo.around().join("codex");
    write_program(&program, &script);
    let text = format!(
        "providers: [one, embedded]\nprovider:\n  one: {{ client: codex, program: '{}', key: ONE_KEY, model: m }}\n",
        program.display()
    );
    repo.write(&[(".github/regreen.yml", &text)]);
    repo.command().env("ONE_KEY", "sk-one-0123456789").args(["fix"]).output().unwrap();
    let records = walk(repo.around())
        .into_iter()
        .filter(|path| path.to_string_lossy().ends_with("cli-output.1.txt"));
    let records = records.map(|path| std::fs::read_to_string(path).unwrap());
    let mut probed = records.filter_map(|text| {
        let (_, rest) = text.split_once("PROBED ")?;
        Some(rest.split_once(" END")?.0.to_owned())
    });
    let refused = probed.next_back().expect("the client was asked");
    // Where Landlock does not know ports, nothing of the network is closed.
    if refused.contains("send") {
        assert!(
            refused.contains("udp udp-6 multipath") && refused.contains("io_uring"),
            "{refused}"
        );
    }
    assert!(!refused.contains("unix") && !refused.contains("tcp"), "{refused}");
}
