//! Projects whose tests run in an environment that uv, Poetry, Hatch or nox has made: its interpreter runs
//! them, and one that is missing is named with the command that makes it.

#![expect(clippy::disallowed_methods, reason = "a test puts a package into an environment")]

use std::path::Path;

use super::support::{Ran, TestRepo};

const SHOP: (&str, &str) = ("shop.py", "def total(prices):\n    return sum(prices) + 1\n");

/// Tests that need a package which only the environment has.
const TESTS: (&str, &str) = (
    "test_shop.py",
    "import unittest\nimport only_there\nimport shop\n\n\nclass T(unittest.TestCase):\n    def test_total(self):\n        self.assertEqual(shop.total([1, 2]), only_there.THREE)\n\n    def test_one(self):\n        self.assertEqual(shop.total([5]), 5)\n",
);

const PROJECT: &str =
    "[project]\nname = \"shop\"\nversion = \"0.1.0\"\nrequires-python = \">=3.8\"\n";

fn install(environment: &Path) {
    let library = std::fs::read_dir(environment.join("lib")).unwrap().next().unwrap().unwrap();
    let file = library.path().join("site-packages/only_there.py");
    std::fs::write(file, "THREE = 3\n").unwrap();
}

fn made(repo: &TestRepo, line: &str) -> String {
    let made = repo.shell(line).output().unwrap();
    assert!(made.status.success(), "{line}: {}", String::from_utf8_lossy(&made.stderr));
    String::from_utf8_lossy(&made.stdout).trim().to_owned()
}

fn is_repaired_in(repo: &TestRepo, environment: &Path, sign: &str) {
    let doctor = repo.regreen(&["doctor"]).out;
    assert!(doctor.contains(&format!("{sign} with the environment")), "{doctor}");
    assert!(doctor.contains(&environment.display().to_string()), "{doctor}");
    let ran = repo.regreen(&["fix", "--json"]);
    let document = ran.document();
    assert_eq!(ran.code, Some(0), "{sign}: {document:#}\n{}", ran.err);
    assert_eq!(document["last"]["passed"], 2, "{sign}: {document:#}");
}

#[test]
fn the_environment_of_a_session_of_nox_runs_the_tests() {
    let repo =
        TestRepo::new(&[("noxfile.py", "import nox\n"), (".gitignore", ".nox\n"), SHOP, TESTS]);
    made(&repo, "python3 -m venv --without-pip .nox/tests");
    let environment = repo.root().join(".nox/tests");
    install(&environment);
    is_repaired_in(&repo, &environment, "noxfile.py");
}

#[cfg(feature = "slow-tests")]
#[test]
#[ignore = "needs uv, Poetry and Hatch; the_environment_of_a_session_of_nox_runs_the_tests always runs"]
fn the_environment_of_uv_poetry_and_hatch_runs_the_tests() {
    let hatch = "[tool.hatch.envs.default]\nskip-install = true\n";
    let table = [
        (
            "uv.lock",
            String::new(),
            "uv venv -q && uv lock -q --offline && uv python find",
            "uv run python -m unittest",
        ),
        (
            "poetry.lock",
            "[tool.poetry]\npackage-mode = false\n".to_owned(),
            "touch poetry.lock && poetry env use -q python3 && poetry env info --executable",
            "poetry run python -m unittest",
        ),
        (
            "pyproject.toml",
            hatch.to_owned(),
            "hatch -q env create && echo $(hatch env find default)/bin/python",
            "",
        ),
    ];
    for (sign, more, make, command) in table {
        let repo = TestRepo::new(&[
            ("pyproject.toml", &format!("{PROJECT}\n{more}")),
            (".gitignore", ".venv\n"),
            SHOP,
            TESTS,
        ]);
        let printed = made(&repo, make);
        let python = Path::new(printed.lines().last().unwrap());
        let environment = python.parent().and_then(Path::parent).unwrap();
        install(environment);
        repo.git(&["add", "-A"]);
        repo.git(&["commit", "-q", "--allow-empty", "-m", "lock"]);
        is_repaired_in(&repo, environment, sign);
        if !command.is_empty() {
            let planned = repo.regreen(&["fix", "--dry-run", "--json", "--test-command", command]);
            let document = planned.document();
            assert_eq!(document["initial"]["failed"], 2, "{command}: {document:#}");
        }
    }
}

#[test]
fn an_environment_that_is_missing_is_named_with_what_makes_it() {
    for (file, text, command) in [
        ("uv.lock", "", "run `uv sync`"),
        ("poetry.lock", "", "run `poetry install`"),
        ("pdm.lock", "", "run `pdm install`"),
        ("hatch.toml", "[envs.default]\n", "run `hatch env create`"),
        ("noxfile.py", "", "run `nox --install-only`"),
    ] {
        let tests = "import unittest\nimport shop\n\n\nclass T(unittest.TestCase):\n    def test_one(self):\n        self.assertEqual(shop.total([5]), 5)\n";
        let project = format!("{PROJECT}dependencies = [\"pytest\"]\n");
        let repo = TestRepo::new(&[
            ("pyproject.toml", &project),
            (file, text),
            SHOP,
            ("test_shop.py", tests),
        ]);
        made(&repo, "python3 -m venv --without-pip ../bare");
        let path = format!(
            "{}:{}",
            repo.around().join("bare/bin").display(),
            std::env::var("PATH").unwrap()
        );
        let run = |verb: &str| -> Ran {
            repo.command().env("PATH", &path).arg(verb).output().unwrap().into()
        };
        let doctor = run("doctor");
        assert_eq!(doctor.code, Some(3), "{file}: {}", doctor.out);
        assert!(doctor.out.contains("pytest does not start: "), "{file}: {}", doctor.out);
        assert!(doctor.out.contains(command), "{file}: {}", doctor.out);
        let fix = run("fix");
        assert_eq!(fix.code, Some(3), "{file}: {}", fix.err);
        assert!(fix.err.contains(command), "{file}: {}", fix.err);
    }
}

#[test]
fn a_plugin_that_the_settings_need_is_named_beside_a_missing_environment() {
    let settings = format!(
        "{PROJECT}dependencies = []\n\n[tool.pytest.ini_options]\naddopts = \"--benchmark-skip\"\n"
    );
    let tests = "import shop\n\n\ndef test_one():\n    assert shop.total([5]) == 5\n";
    let repo = TestRepo::new(&[
        ("pyproject.toml", &settings),
        ("uv.lock", ""),
        SHOP,
        ("test_shop.py", tests),
    ]);
    let doctor = repo.regreen(&["doctor"]);
    assert!(doctor.out.contains("python3 -m pip install pytest-benchmark"), "{}", doctor.out);
    assert!(!doctor.out.contains("does not start"), "{}", doctor.out);
}
