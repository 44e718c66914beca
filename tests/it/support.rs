//! Repositories and a command builder whose environment is built, not inherited.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// A repository in a temporary folder, with its own work folder and home.
pub struct TestRepo {
    folder: TempDir,
}

/// What a run printed.
pub struct Ran {
    /// The exit code; `None` after a signal.
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
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
        // Version managers find their interpreters through these.
        for name in ["PYENV_ROOT", "PYENV_VERSION", "CARGO_HOME", "RUSTUP_HOME"] {
            if let Ok(value) = std::env::var(name) {
                command.env(name, value);
            }
        }
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

    /// The program, ready to be given arguments.
    pub fn command(&self) -> Command {
        let mut command = self.clean(env!("CARGO_BIN_EXE_regreen"));
        command.env("REGREEN_WORK_DIR", self.folder.path().join("work"));
        command
    }

    /// A line for the shell, in the environment of the program.
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

    /// Everything of the user's that a run must leave alone.
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
        "def clamp(value, low, high):\n    if value < low:\n        return low\n    if value > high:\n        return low\n    return value\n\n\ndef total(values):\n    total = 0\n    for value in values:\n        total -= value\n    return total\n",
    ),
    (
        "test_calc.py",
        "import unittest\n\nfrom calc import clamp, total\n\n\nclass ClampTest(unittest.TestCase):\n    def test_low(self):\n        self.assertEqual(clamp(1, 2, 5), 2)\n\n    def test_high(self):\n        self.assertEqual(clamp(9, 2, 5), 5)\n\n    def test_inside(self):\n        self.assertEqual(clamp(3, 2, 5), 3)\n\n\nclass TotalTest(unittest.TestCase):\n    def test_total(self):\n        self.assertEqual(total([1, 2, 3]), 6)\n\n    def test_nothing(self):\n        self.assertEqual(total([]), 0)\n",
    ),
    (".gitignore", "__pycache__/\n"),
];

/// One bug whose first plausible edit breaks tests that only a full run sees: they start the
/// program in a process of its own, so no import leads to them.
pub const REGRESSING: &[(&str, &str)] = &[
    (
        "store.py",
        "import sys\n\nCURRENT = (2, 7)\n\n\ndef supported(version, minimum):\n    return version[0] == minimum[0] and version[1] >= minimum[0]\n\n\ndef main(name):\n    if not supported(CURRENT, (2, 0)):\n        return 'cannot read'\n    return f'hello {name}'\n\n\nif __name__ == '__main__':\n    print(main(sys.argv[1]))\n",
    ),
    (
        "test_store.py",
        "import unittest\n\nfrom store import supported\n\n\nclass T(unittest.TestCase):\n    def test_newer(self):\n        self.assertTrue(supported((2, 1), (2, 0)))\n\n    def test_much_newer(self):\n        self.assertTrue(supported((2, 2), (2, 0)))\n\n    def test_other(self):\n        self.assertFalse(supported((1, 5), (2, 0)))\n",
    ),
    (
        "test_program.py",
        "import subprocess, sys, unittest\n\n\ndef said(name):\n    done = subprocess.run([sys.executable, '-S', '-E', 'store.py', name], capture_output=True, text=True)\n    return done.stdout.strip()\n\n\nclass P(unittest.TestCase):\n    def test_ada(self):\n        self.assertEqual(said('ada'), 'hello ada')\n\n    def test_bob(self):\n        self.assertEqual(said('bob'), 'hello bob')\n\n    def test_nobody(self):\n        self.assertEqual(said(''), 'hello')\n",
    ),
    (".gitignore", "__pycache__/\n"),
];
