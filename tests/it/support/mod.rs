//! Temporary repositories, and a command builder that sets the whole environment itself.

pub mod fake_github;
pub mod fake_model;
mod started;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

pub use started::{Regreen, Started};

/// Distance between the rows, or the moments at which a session is killed, that a test visits: the `dense`
/// one visits more of them and takes minutes.
pub const fn sample_step(dense: usize, sparse: usize) -> usize {
    if cfg!(feature = "slow-tests") { dense } else { sparse }
}

/// Writes a program. A shell writes it, as a process that another thread is just starting would hold a
/// file open that is open here, and Linux starts no program that somebody may write to.
pub fn write_program(path: &Path, text: &str) {
    let mut writer = Command::new("/bin/sh")
        .args(["-c", "cat > \"$0.new\" && chmod 755 \"$0.new\" && mv \"$0.new\" \"$0\""])
        .arg(path)
        .stdin(std::process::Stdio::piped())
        .spawn()
        .expect("a shell");
    let mut input = writer.stdin.take().expect("its input");
    input.write_all(text.as_bytes()).expect("a program is written");
    drop(input);
    assert!(writer.wait().expect("an ending").success(), "{} is not written", path.display());
}

/// A repository in a temporary folder, with its own work folder and home.
pub struct TestRepo {
    folder: TempDir,
}

/// Exit code and output of a finished run.
pub struct Ran {
    /// The exit code; `None` after a signal.
    pub code: Option<i32>,
    /// Text of standard output.
    pub out: String,
    /// Text of standard error.
    pub err: String,
}

impl Ran {
    /// The JSON document on standard output.
    pub fn document(&self) -> Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|error| panic!("{error}: {}\n{}", self.out, self.err))
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl TestRepo {
    /// A repository with one commit on `main`.
    pub fn new(files: &[(&str, &str)]) -> Self {
        let repo = Self::empty_at("repo");
        repo.write(files);
        repo.git(&["add", "-A"]);
        repo.git(&["commit", "-q", "-m", "first"]);
        repo
    }

    /// A repository without a commit, in a folder of this name.
    pub fn empty_at(name: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::create_dir_all(folder.path().join("home")).expect("a home");
        std::fs::create_dir_all(folder.path().join(name)).expect("a folder");
        std::os::unix::fs::symlink(name, folder.path().join("at")).expect("a link");
        let repo = Self { folder };
        repo.git(&["init", "-q", "-b", "main"]);
        repo
    }

    /// Root of the checkout.
    pub fn root(&self) -> PathBuf {
        self.folder.path().join("at").canonicalize().expect("the checkout is there")
    }

    /// The folder around the checkout.
    pub fn around(&self) -> &Path {
        self.folder.path()
    }

    /// Writes files of the checkout.
    pub fn write(&self, files: &[(&str, &str)]) {
        for (path, text) in files {
            let path = self.root().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
            std::fs::write(path, text).expect("a file");
        }
    }

    fn clean(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("PATH", std::env::var("PATH").expect("a path"));
        command
            .env("HOME", self.folder.path().join("home"))
            .env("TZ", "UTC")
            .env("LANG", "C.UTF-8");
        for (name, value) in [
            ("GIT_AUTHOR_NAME", "Ada"),
            ("GIT_AUTHOR_EMAIL", "ada@localhost"),
            ("GIT_COMMITTER_NAME", "Ada"),
            ("GIT_COMMITTER_EMAIL", "ada@localhost"),
            ("GIT_AUTHOR_DATE", "2026-01-02T03:04:05Z"),
            ("GIT_COMMITTER_DATE", "2026-01-02T03:04:05Z"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
        ] {
            command.env(name, value);
        }
        // Version managers find their interpreters through these variables.
        for name in ["PYENV_ROOT", "PYENV_VERSION", "CARGO_HOME", "RUSTUP_HOME"] {
            if let Ok(value) = std::env::var(name) {
                command.env(name, value);
            }
        }
        // The standard library of Go takes long to compile.
        let go = concat!(env!("CARGO_TARGET_TMPDIR"), "/go-build");
        std::fs::create_dir_all(go).expect("a folder below target");
        command.env("GOCACHE", go);
        command.current_dir(self.root());
        command
    }

    /// Runs git in the checkout and returns its output.
    pub fn git(&self, arguments: &[&str]) -> String {
        let output = self.clean("git").args(arguments).output().expect("git starts");
        assert!(
            output.status.success(),
            "git {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    /// The program, in the checkout and ready for arguments.
    pub fn command(&self) -> Command {
        let mut command = self.clean(env!("CARGO_BIN_EXE_regreen"));
        command.env("REGREEN_WORK_DIR", self.folder.path().join("work"));
        command
    }

    /// A shell command line, in the environment of the program.
    pub fn shell(&self, line: &str) -> Command {
        let mut command = self.clean("sh");
        command.env("REGREEN_WORK_DIR", self.folder.path().join("work"));
        command.args(["-c", line]);
        command
    }

    /// Runs the program in the checkout.
    pub fn regreen(&self, arguments: &[&str]) -> Ran {
        self.command().args(arguments).output().expect("regreen starts").into()
    }

    /// Everything of the user's that a run must not change.
    pub fn belongings(&self) -> Vec<String> {
        let index = std::fs::read(self.root().join(".git/index")).unwrap_or_default();
        vec![
            self.git(&["status", "--porcelain=v2", "--untracked-files=all"]),
            self.git(&["stash", "list"]),
            self.git(&["symbolic-ref", "-q", "HEAD"]),
            self.git(&["rev-parse", "HEAD"]),
            self.git(&[
                "for-each-ref",
                "--format=%(refname) %(objectname)",
                "refs/heads/main",
                "refs/tags",
                "refs/stash",
            ]),
            format!("{} bytes of index", index.len()),
            std::fs::read_to_string(self.root().join("calc.py")).unwrap_or_default(),
        ]
    }
}

/// Two independent bugs in one module.
pub const CALC: &[(&str, &str)] = &[
    (
        "calc.py",
        r"def clamp(value, low, high):
    if value < low:
        return low
    if value > high:
        return low
    return value


def total(values):
    total = 0
    for value in values:
        total -= value
    return total
",
    ),
    (
        "test_calc.py",
        r"import unittest

from calc import clamp, total


class ClampTest(unittest.TestCase):
    def test_low(self):
        self.assertEqual(clamp(1, 2, 5), 2)

    def test_high(self):
        self.assertEqual(clamp(9, 2, 5), 5)

    def test_inside(self):
        self.assertEqual(clamp(3, 2, 5), 3)


class TotalTest(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([1, 2, 3]), 6)

    def test_nothing(self):
        self.assertEqual(total([]), 0)
",
    ),
    (".gitignore", "__pycache__/\n"),
];

/// One bug whose first plausible edit breaks tests that only a full run sees: they start the
/// program in a separate process, so no import shows that they depend on it.
pub const REGRESSING: &[(&str, &str)] = &[
    (
        "store.py",
        r"import sys

CURRENT = (2, 7)


def supported(version, minimum):
    return version[0] == minimum[0] and version[1] >= minimum[0]


def main(name):
    if not supported(CURRENT, (2, 0)):
        return 'cannot read'
    return f'hello {name}'


if __name__ == '__main__':
    print(main(sys.argv[1]))
",
    ),
    (
        "test_store.py",
        r"import unittest

from store import supported


class T(unittest.TestCase):
    def test_newer(self):
        self.assertTrue(supported((2, 1), (2, 0)))

    def test_much_newer(self):
        self.assertTrue(supported((2, 2), (2, 0)))

    def test_other(self):
        self.assertFalse(supported((1, 5), (2, 0)))
",
    ),
    (
        "test_program.py",
        r"import subprocess, sys, unittest


def said(name):
    done = subprocess.run([sys.executable, '-S', '-E', 'store.py', name], capture_output=True, text=True)
    return done.stdout.strip()


class P(unittest.TestCase):
    def test_ada(self):
        self.assertEqual(said('ada'), 'hello ada')

    def test_bob(self):
        self.assertEqual(said('bob'), 'hello bob')

    def test_nobody(self):
        self.assertEqual(said(''), 'hello')
",
    ),
    (".gitignore", "__pycache__/\n"),
];

/// The Python of the environment that holds pytest with its plugins; `.ci/run` makes it.
pub fn plugin_python() -> String {
    let folder =
        std::env::var("REGREEN_PLUGINS").expect("REGREEN_PLUGINS names an environment of Python");
    Path::new(&folder).join("bin/python").display().to_string()
}
