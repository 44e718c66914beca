//! The private checkout has what the user's has. What cannot be had is named before the first run, and a
//! test that fails for want of it is set aside and never repaired.

#![expect(clippy::disallowed_methods, reason = "a test builds the repository that is met")]

use sha2::{Digest as _, Sha256};

use super::support::{Ran, TestRepo};

/// A bug, and tests of which two read a file that is not in git as such.
const MODEL: &[(&str, &str)] = &[
    (
        "model.py",
        "import pathlib\n\n\ndef weights():\n    text = (pathlib.Path(__file__).parent / 'data' / 'weights.bin').read_text()\n    return [int(part) for part in text.split()]\n\n\ndef total(numbers):\n    result = 0\n    for number in numbers:\n        result -= number\n    return result\n",
    ),
    (
        "test_model.py",
        "import unittest\nfrom model import total, weights\n\n\nclass T(unittest.TestCase):\n    def test_weights(self):\n        self.assertEqual(weights(), [1, 2, 3])\n\n    def test_total_of_weights(self):\n        self.assertEqual(total(weights()), 6)\n\n    def test_total(self):\n        self.assertEqual(total([4, 5]), 9)\n",
    ),
];

const CONTENT: &str = "1 2 3\n";

/// The model, whose weights are a pointer of Git LFS; returns the name of their object.
fn with_pointer() -> (TestRepo, String) {
    let repo = TestRepo::new(MODEL);
    let oid: String = Sha256::digest(CONTENT).iter().map(|byte| format!("{byte:02x}")).collect();
    let pointer = format!(
        "version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {}\n",
        CONTENT.len()
    );
    repo.write(&[
        (".gitattributes", "data/*.bin filter=lfs diff=lfs merge=lfs -text\n"),
        ("data/weights.bin", &pointer),
    ]);
    repo.git(&["add", "-A"]);
    repo.git(&["commit", "-q", "-m", "weights in LFS"]);
    (repo, oid)
}

/// Whether the notice came before the first run, and how the session began and ended.
fn fix(repo: &TestRepo, notice: Option<&str>) -> Ran {
    let before = repo.belongings();
    let ran = repo.regreen(&["fix", "--json"]);
    assert_eq!(repo.belongings(), before, "{}", ran.err);
    match notice {
        Some(words) => {
            let named_at = ran.err.find(words).unwrap_or_else(|| panic!("{words}: {}", ran.err));
            let first_run = ran.err.find("ran 3 tests").expect("a run");
            assert!(named_at < first_run, "{}", ran.err);
        }
        None => assert!(!ran.err.contains("content is missing"), "{}", ran.err),
    }
    ran
}

#[test]
fn an_object_of_lfs_that_is_there_is_read_by_the_tests() {
    let (repo, oid) = with_pointer();
    let folder = repo
        .root()
        .join(".git/lfs/objects")
        .join(oid.get(..2).unwrap())
        .join(oid.get(2..4).unwrap());
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(&oid), CONTENT).unwrap();
    let ran = fix(&repo, None);
    let document = ran.document();
    assert_eq!(document["initial"]["failed"], 2, "{document:#}");
    assert_eq!(ran.code, Some(0), "{document:#}\n{}", ran.err);
    let branch = document["branch"].as_str().unwrap();
    let changed = repo.git(&["diff", "--name-only", "main", branch]);
    assert_eq!(changed, "model.py", "the pointer stays a pointer");
}

#[test]
fn a_test_that_reads_a_pointer_is_set_aside_and_no_edit_is_made_for_it() {
    let (repo, _) = with_pointer();
    let ran = fix(&repo, Some("`data/weights.bin`: pointer of Git LFS"));
    let document = ran.document();
    assert_eq!(document["initial"]["failed"], 3, "{document:#}");
    assert_eq!(ran.code, Some(1), "{document:#}\n{}", ran.err);
    let patch = document["patch"].as_str().unwrap();
    assert!(patch.contains("+        result += number"), "{patch}");
    assert!(!patch.contains("int(1)") && patch.matches("\n+").count() == 2, "{patch}");
    let left = document["failing-tests"].to_string();
    assert!(left.contains("git lfs pull") && left.contains("lfs: true"), "{document:#}");
}

#[test]
fn a_submodule_is_there_if_the_user_has_it_and_named_if_not() {
    let data = TestRepo::empty_at("data");
    data.write(&[("weights.bin", CONTENT)]);
    data.git(&["add", "-A"]);
    data.git(&["commit", "-q", "-m", "data"]);
    let repo = TestRepo::new(MODEL);
    let url = format!("file://{}", data.root().display());
    repo.git(&["-c", "protocol.file.allow=always", "submodule", "add", "-q", &url, "data"]);
    repo.git(&["commit", "-q", "-m", "data as a submodule"]);
    let ran = fix(&repo, None);
    let document = ran.document();
    assert_eq!(document["initial"]["failed"], 2, "{document:#}");
    assert_eq!(ran.code, Some(0), "{document:#}\n{}", ran.err);
    let branch = document["branch"].as_str().unwrap();
    let link = repo.git(&["ls-tree", branch, "data"]);
    assert!(link.starts_with("160000 commit "), "{link}");

    repo.git(&["submodule", "deinit", "-q", "-f", "data"]);
    let ran = fix(&repo, Some("`data`: empty submodule"));
    let document = ran.document();
    assert_eq!(document["initial"]["failed"], 3, "{document:#}");
    assert_eq!(ran.code, Some(1), "{document:#}\n{}", ran.err);
    assert!(
        document["failing-tests"].to_string().contains("submodules: recursive"),
        "{document:#}"
    );
}

#[test]
fn a_bug_in_a_file_with_crlf_is_repaired_and_its_line_ends_stay() {
    let repo = TestRepo::empty_at("repo");
    repo.git(&["config", "core.autocrlf", "true"]);
    repo.write(&[
        ("shop.py", "def total(a, b):\r\n    return a - b\r\n"),
        (
            "test_shop.py",
            "import pathlib\r\nimport unittest\r\nfrom shop import total\r\n\r\n\r\nclass T(unittest.TestCase):\r\n    def test_total(self):\r\n        self.assertEqual(total(1, 2), 3)\r\n\r\n    def test_ends(self):\r\n        self.assertIn(b'\\r\\n', pathlib.Path('shop.py').read_bytes())\r\n",
        ),
    ]);
    repo.git(&["add", "-A"]);
    repo.git(&["commit", "-q", "-m", "first"]);
    let ran = repo.regreen(&["fix", "--json"]);
    let document = ran.document();
    assert_eq!(document["initial"]["failed"], 1, "{document:#}\n{}", ran.err);
    assert_eq!(ran.code, Some(0), "{document:#}\n{}", ran.err);
    let branch = document["branch"].as_str().unwrap();
    repo.git(&["checkout", "-q", branch]);
    let text = std::fs::read_to_string(repo.root().join("shop.py")).unwrap();
    assert_eq!(text, "def total(a, b):\r\n    return a + b\r\n");
}

#[test]
fn a_module_that_a_build_generated_between_the_sources_is_there() {
    let repo = TestRepo::new(&[
        ("shop/__init__.py", "from ._version import version\nfrom .price import total\n"),
        ("shop/price.py", "def total(prices):\n    return -sum(prices)\n"),
        (
            "test_shop.py",
            "import shop\n\n\ndef test_total():\n    assert shop.total([1, 2]) == 3\n\n\ndef test_version():\n    assert shop.version == '1.4'\n",
        ),
        (".gitignore", "_version.py\n__pycache__/\n"),
    ]);
    repo.write(&[("shop/_version.py", "version = '1.4'\n")]);
    let ran = repo.regreen(&["fix", "--providers", "embedded", "--json"]);
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.out, ran.err);
    let files = repo.git(&["diff", "--name-only", "main", "regreen/WFS-test-main"]);
    assert_eq!(files.trim(), "shop/price.py");
}

#[test]
fn a_test_that_demands_a_clean_checkout_hinders_no_repair() {
    let git = "import subprocess\n\n\ndef git(*words):\n    return subprocess.run(('git',) + words, capture_output=True, text=True, check=True).stdout.strip()\n\n\ndef test_clean():\n    assert git('status', '--porcelain') == ''\n\n\ndef test_branch():\n    import os\n    assert git('branch', '--show-current') == 'main' and os.path.isdir('.git/hooks')\n\n\ndef test_version():\n    assert git('describe', '--tags', '--dirty').startswith('v1.2') and 'dirty' not in git('describe', '--tags', '--dirty')\n";
    let repo = TestRepo::new(&[
        ("calc.py", "def area(width, height):\n    return width + height\n"),
        (
            "test_calc.py",
            "from calc import area\n\n\ndef test_area():\n    assert area(3, 4) == 12\n\n\ndef test_zero():\n    assert area(0, 9) == 0\n",
        ),
        ("test_git.py", git),
        (".gitignore", "__pycache__/\n.pytest_cache/\n"),
    ]);
    repo.git(&["tag", "v1.2"]);
    let ran = repo.regreen(&["fix", "--providers", "embedded", "--json"]);
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.out, ran.err);
    let fixed = repo.git(&["show", "regreen/WFS-test-main:calc.py"]);
    assert!(fixed.contains("return width * height"), "{fixed}");
    let document: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(document["initial"]["passed"], 3, "{document}");
}
