//! Modules are found as by hand: what cannot be imported without regreen cannot be imported under it,
//! and an editable installation of the repository leads to the checkout under test.

#![expect(clippy::disallowed_methods, reason = "a test builds a virtual environment")]

use std::path::PathBuf;

use super::support::{Ran, TestRepo};

/// A module in `src`, a package that another finder maps, and their tests.
const INSTALLED: &[(&str, &str)] = &[
    ("src/shop.py", "def total(prices):\n    return -sum(prices)\n"),
    ("lib/till/__init__.py", "def open_for(hour):\n    return hour < 9\n"),
    (
        "tests/test_shop.py",
        "import unittest\nimport shop\nimport till\n\n\nclass T(unittest.TestCase):\n    def test_total(self):\n        self.assertEqual(shop.total([1, 2]), 3)\n\n    def test_one(self):\n        self.assertEqual(shop.total([5]), 5)\n\n    def test_hours(self):\n        self.assertTrue(till.open_for(12))\n\n    def test_night(self):\n        self.assertFalse(till.open_for(8))\n",
    ),
];

/// What `pip install -e` of setuptools writes for a package that is not in a folder of its own.
const FINDER: &str = "import importlib.util, sys\n\nMAPPING = {'till': 'ROOT/lib/till'}\n\n\nclass Finder:\n    @classmethod\n    def find_spec(cls, name, path=None, target=None):\n        if name in MAPPING:\n            place = MAPPING[name] + '/__init__.py'\n            return importlib.util.spec_from_file_location(name, place, submodule_search_locations=[MAPPING[name]])\n\n\ndef install():\n    sys.meta_path.append(Finder)\n";

/// A virtual environment beside the repository: the search path of its programs, and its packages.
fn environment(repo: &TestRepo) -> (String, PathBuf) {
    let environment = repo.around().join("env");
    let made = repo.shell("python3 -m venv --clear --without-pip ../env").output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let library = std::fs::read_dir(environment.join("lib")).unwrap().next().unwrap().unwrap();
    let path = format!("{}:{}", environment.join("bin").display(), std::env::var("PATH").unwrap());
    (path, library.path().join("site-packages"))
}

/// Tests of a copy would show nothing of the checkout.
#[test]
fn an_installed_copy_that_tests_import_instead_is_named() {
    let source = "def total(prices):\n    return sum(prices)\n";
    let test = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.assertTrue(1)\n";
    for settings in ["", "[tool.pytest.ini_options]\npythonpath = [\"src\"]\n"] {
        let repo = TestRepo::new(&[
            ("src/shop.py", source),
            ("tests/test_other.py", test),
            ("pyproject.toml", settings),
            (".gitignore", "__pycache__/\n"),
        ]);
        let (path, packages) = environment(&repo);
        std::fs::write(packages.join("shop.py"), source).unwrap();
        let mut regreen = repo.command();
        regreen.env("PATH", path).args(["test", "src/shop.py", "--no-coverage"]);
        let ran = Ran::from(regreen.output().unwrap());
        let copy = packages.join("shop.py").display().to_string();
        let said = format!(
            "No test was written: tests import the installed copy in `{copy}` instead of it: `pip install -e .` corrects that"
        );
        assert_eq!(ran.out.contains(&said), settings.is_empty(), "{}\n{}", ran.out, ran.err);
    }
}

/// Runs in a virtual environment beside the repository, which is installed there or is not.
fn in_environment(repo: &TestRepo, installed: bool, command: &str) -> Ran {
    let (path, packages) = environment(repo);
    if installed {
        let root = repo.root().display().to_string();
        for (name, text) in [
            ("__editable__.shop-1.pth", format!("{root}/src\n")),
            (
                "__editable__.till-1.pth",
                "import __editable___till_1_finder as f; f.install()\n".into(),
            ),
            ("__editable___till_1_finder.py", FINDER.replace("ROOT", &root)),
        ] {
            std::fs::write(packages.join(name), text).unwrap();
        }
    }
    let mut regreen = repo.command();
    regreen.env("PATH", path).args(["fix", "--json", "--test-command", command]);
    regreen.output().unwrap().into()
}

#[cfg(feature = "slow-tests")]
#[test]
fn an_editable_installation_leads_to_the_checkout_under_test() {
    // A command may set the variable by which Python finds our part, or ignore it.
    for start in ["python3", "PYTHONPATH=docs python3", "python3 -E"] {
        let repo = TestRepo::new(INSTALLED);
        let command = format!("{start} -m unittest discover -s tests");
        let ran = in_environment(&repo, true, &command);
        let document = ran.document();
        assert_eq!(document["initial"]["failed"], 4, "{command}: {document:#}\n{}", ran.err);
        assert_eq!(ran.code, Some(0), "{command}: {document:#}\n{}", ran.err);
        let patch = document["patch"].as_str().unwrap();
        assert!(patch.contains("src/shop.py") && patch.contains("lib/till/__init__.py"), "{patch}");
        assert!(patch.contains("+    return sum(prices)"), "{patch}");
    }
}

#[test]
fn sources_that_are_not_installed_are_not_found() {
    let repo = TestRepo::new(INSTALLED);
    let ran = in_environment(&repo, false, "python3 -m unittest discover -s tests");
    assert_eq!(ran.code, Some(1), "{}\n{}", ran.out, ran.err);
    let document = ran.document();
    assert_eq!(
        document["initial"]["total"], 1,
        "the file alone, which does not load: {document:#}"
    );
}

/// A project whose tests need it to be installed; a backend of its own builds it without a network.
const PROJECT: &[(&str, &str)] = &[
    (
        "pyproject.toml",
        "[build-system]\nrequires = []\nbuild-backend = \"backend\"\nbackend-path = [\".\"]\n",
    ),
    (
        "backend.py",
        "import os, zipfile\n\n\ndef build_editable(folder, settings=None, metadata=None):\n    name = 'shop-1-py3-none-any.whl'\n    with zipfile.ZipFile(os.path.join(folder, name), 'w') as out:\n        out.writestr('shop.pth', os.path.abspath('src') + '\\n')\n        out.writestr('shop-1.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: shop\\nVersion: 1\\n')\n        out.writestr('shop-1.dist-info/WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')\n        out.writestr('shop-1.dist-info/RECORD', '')\n    return name\n",
    ),
    ("src/shop/__init__.py", "def total(prices):\n    return -sum(prices)\n"),
    (
        "tests/test_shop.py",
        "import unittest\n\nimport shop\n\n\nclass T(unittest.TestCase):\n    def test_total(self):\n        self.assertEqual(shop.total([1, 2]), 3)\n\n    def test_one(self):\n        self.assertEqual(shop.total([5]), 5)\n",
    ),
];

#[test]
fn a_project_that_is_not_installed_is_no_bug_of_its_code() {
    let repo = TestRepo::new(PROJECT);
    for flags in [&["fix", "--json"][..], &["fix", "--json", "--dry-run"]] {
        let ran = repo.regreen(flags);
        assert_eq!(ran.code, Some(1), "{}\n{}", ran.out, ran.err);
        let document = ran.document();
        assert_eq!(
            document["reason"],
            "`shop` stands in `src/shop`, where Python does not search: the project is not installed; install it before the run with `pip install -e .`, or run with `--test-command 'PYTHONPATH=src python3 -m unittest discover -s tests'`"
        );
        assert_eq!(document["iterations"].as_array().map(Vec::len), Some(0), "{document:#}");
    }
    let command = "PYTHONPATH=src python3 -m unittest discover -s tests";
    let ran = TestRepo::new(PROJECT).regreen(&["fix", "--json", "--test-command", command]);
    assert_eq!(ran.document()["initial"]["failed"], 2, "{}", ran.err);
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.out, ran.err);
}

#[cfg(feature = "slow-tests")]
#[test]
fn set_up_installs_the_project_though_the_sandbox_keeps_it_from_the_interpreter() {
    for install in ["pip install -e .", "python3 -m pip install -e ."] {
        let repo = TestRepo::new(PROJECT);
        let ran = repo.regreen(&["fix", "--json", "--setup", install]);
        assert_eq!(ran.document()["initial"]["failed"], 2, "{install}: {}\n{}", ran.out, ran.err);
        assert_eq!(ran.code, Some(0), "{install}: {}\n{}", ran.out, ran.err);
        let outside = repo.shell("python3 -c 'import shop'").output().unwrap();
        assert!(!outside.status.success(), "{install}: nothing is installed outside of the run");
    }
}

#[cfg(feature = "slow-tests")]
#[test]
fn set_up_that_writes_elsewhere_is_told_where_it_may() {
    let repo = TestRepo::new(PROJECT);
    let made = repo.shell("python3 -m venv ../env").output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let program = repo.around().join("env/bin/pip");
    let ran = repo.regreen(&["fix", "--setup", &format!("{} install -e .", program.display())]);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    let said = "set-up commands may write only to the private checkout, a home of their own";
    assert!(ran.err.contains("Permission denied") && ran.err.contains(said), "{}", ran.err);
    let here = "python3 -m venv .venv && .venv/bin/pip install -e .";
    let ran = repo.regreen(&["fix", "--json", "--setup", here]);
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.out, ran.err);
}

#[test]
#[ignore = "needs pytest"]
fn pytest_finds_only_the_modules_that_it_finds_by_hand() {
    let repo = TestRepo::new(&[
        ("shop.py", "def total(prices):\n    return sum(prices)\n"),
        (
            "tests/test_shop.py",
            "import shop\n\n\ndef test_total():\n    assert shop.total([1, 2]) == 3\n",
        ),
    ]);
    for (command, green) in [
        ("pytest", false),
        ("python3 -m pytest", true),
        ("PYTHONPATH=. pytest -q", true),
        ("PYTHONPATH= pytest", false),
        ("echo first; PYTHONPATH=\"$PWD\" pytest", true),
    ] {
        let by_hand = repo.shell(command).output().unwrap().status.success();
        assert_eq!(by_hand, green, "{command}");
        let ran = repo.regreen(&["fix", "--json", "--dry-run", "--test-command", command]);
        let document = ran.document();
        assert_eq!(
            document["initial"]["failed"] == 0,
            green,
            "{command}: {document:#}\n{}",
            ran.err
        );
        if !green {
            assert!(ran.out.contains("No module named 'shop'"), "{command}: {}", ran.out);
        }
    }
}

#[cfg(feature = "slow-tests")]
#[test]
#[ignore = "needs pytest"]
fn candidates_are_tried_with_the_modules_and_variables_of_the_command() {
    let repo = TestRepo::new(&[
        ("src/shop.py", "def total(prices):\n    return -sum(prices)\n"),
        (
            "tests/test_shop.py",
            "import os\nimport shop\n\n\ndef test_total():\n    assert os.environ['SHOP'] == 'a b'\n    assert shop.total([1, 2]) == 3\n\n\ndef test_one():\n    assert os.environ['SHOP'] == 'a b'\n    assert shop.total([5]) == 5\n",
        ),
    ]);
    for command in
        ["SHOP='a b' PYTHONPATH=src pytest", "SHOP='a b' PYTHONPATH=src python3 -B -m pytest -q"]
    {
        let ran = repo.regreen(&["fix", "--json", "--test-command", command]);
        assert_eq!(ran.code, Some(0), "{command}: {}\n{}", ran.out, ran.err);
        assert_eq!(ran.document()["initial"]["failed"], 2, "{command}: {}", ran.out);
    }
}
