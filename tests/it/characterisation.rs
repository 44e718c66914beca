//! `regreen pin` and `regreen score` end to end, with functions among the subjects that must not be
//! pinned.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::support::{Ran, TestRepo};

const FEES: (&str, &str) = (
    "shop/fees.py",
    r"def fee(kind: str, cents: int) -> int:
    '''Fee.

    >>> fee('gift', 501)
    0
    '''
    if cents < 0:
        raise ValueError(f'below 0: {cents}')
    if kind == 'gift' and cents > 500:
        return 0
    return cents // 10


def tidy(rows):
    rows.sort()
",
);

/// Functions whose side effects cannot be recognised from their text alone.
const HOSTILE: (&str, &str) = (
    "shop/hostile.py",
    r"import os
import time
from datetime import date as day

SEEN = {}


def wipe():
    getattr(os, 're' + 'move')(__file__)


def spin(n: int):
    while True:
        n += 1


def call_home():
    import socket as wire
    return wire.create_connection(('127.0.0.1', 9)).fileno()


def swallow():
    try:
        return __builtins__['op' + 'en']('/etc/passwd').read()
    except BaseException:
        return 'nothing'


def tick():
    return getattr(time, 'ti' + 'me')() > 2_000_000_000


def today():
    return day.today().year > 2034


def show(cents: int):
    print(f'{cents} cents')


def timed(cents: int):
    began = time.perf_counter()
    return cents * 2 if time.perf_counter() >= began else 0


def quit_all():
    getattr(os, '_ex' + 'it')(0)


def remember(key: str):
    store = SEEN
    store[key] = 1
    return len(store)


def order(words: list[str]):
    return ''.join({'one', 'two', 'three', 'four', *words})


def grow():
    return len(b'x' * (1 << 40))
",
);

/// Why a function was left out, by name.
fn reason(document: &serde_json::Value, name: &str) -> String {
    let functions = document["functions"].as_array().unwrap();
    let one = functions.iter().find(|one| one["name"] == name).unwrap();
    assert_eq!(one["assertions"], 0, "{one}");
    one["dropped"][0]["reason"].as_str().unwrap().to_owned()
}

#[test]
fn pin_writes_tests_that_hold_and_leaves_hostile_functions_alone() {
    let repo = TestRepo::new(&[FEES, HOSTILE, ("shop/__init__.py", "")]);
    let before = repo.belongings();
    let ran = repo.regreen(&["pin", "--json", "--budget-minutes", "1"]);
    let document = ran.document();
    for (name, expected) in [
        ("wipe", "changes files outside of its folder"),
        ("spin", "takes longer than 1 s"),
        ("call_home", "uses the network"),
        ("swallow", "opens a file outside of its folder"),
        ("tick", "reads the clock"),
        ("today", "reads the clock"),
        ("quit_all", "ends the process"),
        ("remember", "changes state outside of itself"),
        ("order", "gives another result in another environment"),
        ("grow", "uses too much memory or stack"),
    ] {
        assert_eq!(reason(&document, name), expected, "{name}");
    }
    let functions = document["functions"].as_array().unwrap();
    // The result of one does not depend on the time, and what the other prints is its result.
    for name in ["timed", "show"] {
        let one = functions.iter().find(|one| one["name"] == name).unwrap();
        assert!(one["assertions"].as_u64() > Some(0), "{one}");
    }
    assert!(repo.root().join("shop/hostile.py").exists());
    assert_eq!(repo.belongings(), before);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(document["flaky"].as_array().unwrap().len(), 0);
    let branch = document["branch"].as_str().unwrap();
    let text = repo.git(&["show", &format!("{branch}:tests/test_fees.py")]);
    for expected in [
        "from shop.fees import fee, tidy",
        "self.assertEqual(fee('gift', 501), 0)",
        "self.assertRaises(ValueError)",
        "test_tidy_changes_rows",
    ] {
        assert!(text.contains(expected), "{expected} in\n{text}");
    }
    // The tests pass under Python alone, without regreen, and notice a break.
    repo.git(&["merge", "-q", branch]);
    let run = || repo.shell("python3 -m unittest discover -s tests").output().unwrap();
    let held = run();
    assert!(held.status.success(), "{}", String::from_utf8_lossy(&held.stderr));
    repo.write(&[("shop/fees.py", &FEES.1.replace("> 500", ">= 500"))]);
    assert!(!run().status.success(), "a broken boundary is noticed");
}

const GO_FEES: (&str, &str) = (
    "fees/fees.go",
    r#"// Package fees computes fees.
package fees

import (
	"errors"
	"os"
	"strconv"
	"strings"
)

// Rate is a number of percent.
type Rate int

// Table has the rates of kinds.
type Table struct{ rates map[string]Rate }

// NewTable makes a table without rates.
func NewTable() *Table { return &Table{rates: map[string]Rate{}} }

// Set enters the rate of a kind.
func (t *Table) Set(kind string, rate Rate) { t.rates[kind] = rate }

// Len is the number of rates.
func (t *Table) Len() int { return len(t.rates) }

// Fee is the fee of an amount.
func Fee(kind string, cents int) (int, error) {
	if cents < 0 {
		return 0, errors.New("below 0")
	}
	if kind == "gift" && cents > 500 {
		return 0, nil
	}
	return cents / 10, nil
}

func words(text string) []string { return strings.Fields(strings.ToLower(text)) }

func spin(n int) int {
	for n >= 0 || n < 0 {
		n++
	}
	return n
}

func wipe() { os.Remove("fees.go") }

// Label shows a rate.
//
//	Label(7) // => "7 %"
//	Label(-1) = "none"
func Label(rate int) string {
	if rate < 0 {
		return "none"
	}
	return strconv.Itoa(rate) + " %"
}

// Sign tells amounts apart.
//
//	-2 => "minus"
//	3  => "plus"
func Sign(cents int) string {
	if cents < 0 {
		return "minus"
	}
	return "plus"
}

// Half is half of an amount, as in
//
//	Half(5) // => 3
func Half(cents int) int { return cents / 2 }
"#,
);

#[test]
fn pin_writes_tables_of_go_that_hold_and_notice_a_break() {
    let module = ("go.mod", "module example.com/shop\n\ngo 1.19\n");
    let repo = TestRepo::new(&[GO_FEES, module]);
    let before = repo.belongings();
    let ran = repo.regreen(&["pin", "--json", "--budget-minutes", "10"]);
    let document = ran.document();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(reason(&document, "spin"), "other calls of it take too long");
    assert_eq!(reason(&document, "wipe"), "opens a file");
    assert_eq!(repo.belongings(), before);
    let branch = document["branch"].as_str().unwrap();
    let text = repo.git(&["show", &format!("{branch}:fees/fees_test.go")]);
    for expected in [
        "package fees\n",
        "func TestFee(t *testing.T) {\n\ttests := []struct {\n",
        "\t\twantErr string\n",
        ", 0, \"below 0\"},\n",
        "got := words(tt.text); !reflect.DeepEqual(got, tt.want)",
        "\ttable.Set(",
        ", 7, \"7 %\"},\n",
        ", -1, \"none\"},\n",
        ", -2, \"minus\"},\n",
        ", 3, \"plus\"},\n",
    ] {
        assert!(text.contains(expected), "{expected} in\n{text}");
    }
    let said = "`Half(5)` gives `2`, but its documentation or the request says that it gives `3`";
    assert!(document["findings"].to_string().contains(said), "{document:#}");
    assert!(!text.contains("Half("), "{text}");
    repo.git(&["merge", "-q", branch]);
    let unformatted = repo.shell("gofmt -l fees").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&unformatted.stdout), "");
    let run = || repo.shell("go test ./...").output().unwrap();
    let held = run();
    assert!(held.status.success(), "{}", String::from_utf8_lossy(&held.stdout));
    repo.write(&[("fees/fees.go", &GO_FEES.1.replace("> 500", ">= 500"))]);
    assert!(!run().status.success(), "a broken boundary is noticed");
}

const RUST_FEES: (&str, &str) = (
    "src/fees.rs",
    r#"//! Computes fees.

/// What is charged for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Gift,
    Parcel,
}

/// The fee of an amount.
pub fn fee(kind: Kind, cents: i64) -> Result<i64, String> {
    if cents < 0 {
        return Err(format!("below 0: {cents}"));
    }
    if kind == Kind::Gift && cents > 80 {
        return Ok(0);
    }
    Ok(cents / 10)
}

/// The words of a text.
pub fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_lowercase).collect()
}

/// Removes a file.
pub fn wipe() -> bool {
    std::fs::remove_file("fees.rs").is_ok()
}

/// Half of an amount.
pub fn half(cents: i64) -> i64 {
    cents / 2
}

/// What can be shown as a label.
pub trait ToLabel {
    /// The label.
    fn to_label(&self) -> String;
}

impl ToLabel for str {
    fn to_label(&self) -> String {
        self.trim().to_lowercase()
    }
}

/// An amount with its unit.
///
/// ```
/// use my_shop::fees::Shown;
///
/// let cents = 250;
/// assert_eq!(Shown(cents).to_string(), "250 ct");
/// assert_eq!(format!("{}", Shown(12)), "12 ct");
/// ```
#[derive(Debug)]
pub struct Shown<T: std::fmt::Display>(pub T);

impl<T: std::fmt::Display> std::fmt::Display for Shown<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ct", self.0)
    }
}

/// Adds up what a rule takes from each number.
pub fn total<T, F>(numbers: &[T], rule: F) -> i64
where
    F: Fn(&T) -> i64,
{
    numbers.iter().map(rule).sum()
}
"#,
);

#[test]
fn pin_writes_tests_of_a_rust_library_that_hold_and_notice_a_break() {
    let manifest = "[package]\nname = \"my-shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let library = ("src/lib.rs", "pub mod fees;\n");
    let page =
        "```rust\nassert_eq!(half(5), 3);\nassert_eq!(words(\"A b\"), (\"a\", \"b\"));\n```\n";
    let repo = TestRepo::new(&[
        RUST_FEES,
        library,
        ("README.md", page),
        ("Cargo.toml", manifest),
        (".gitignore", "target\nCargo.lock\n"),
    ]);
    let before = repo.belongings();
    let ran = repo.regreen(&["pin", "--json", "--budget-minutes", "10"]);
    let document = ran.document();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(reason(&document, "wipe"), "opens a file");
    assert_eq!(repo.belongings(), before);
    let branch = document["branch"].as_str().unwrap();
    let text = repo.git(&["show", &format!("{branch}:tests/fees.rs")]);
    for expected in [
        "use my_shop::fees::{Kind, Shown, ToLabel, fee, total, words};\n",
        "fee(Kind::Gift, ",
        ".to_label(), \"",
        "assert_eq!(Shown(12).to_string(), \"12 ct\");",
        "assert_eq!(total(&[",
        ".unwrap_err().to_string(), \"below 0: ",
    ] {
        assert!(text.contains(expected), "{expected} in\n{text}");
    }
    let said = "`half(5)` gives `2`, but its documentation or the request says that it gives `3`";
    assert!(document["findings"].to_string().contains(said), "{document:#}");
    assert!(!text.contains("half("), "{text}");
    assert!(document["dropped"].to_string().contains("it does not compile"), "{document:#}");
    repo.git(&["merge", "-q", branch]);
    let run = || repo.shell("cargo test -q --test fees").output().unwrap();
    let held = run();
    assert!(held.status.success(), "{}", String::from_utf8_lossy(&held.stdout));
    repo.write(&[("src/fees.rs", &RUST_FEES.1.replace("cents / 10", "cents / 11"))]);
    assert!(!run().status.success(), "a broken result is noticed");
}

const JAVA_FEES: (&str, &str) = (
    "src/main/java/shop/Fees.java",
    r#"package shop;

import java.util.Arrays;
import java.util.List;

/** Computes fees. */
public class Fees {
    private long sum;

    /** What is charged for. */
    public enum Kind { GIFT, PARCEL }

    /**
     * The fee of an amount.
     *
     * <pre>
     * Fees.fee(Fees.Kind.GIFT, 100) = 0
     * </pre>
     */
    public static int fee(Kind kind, int cents) {
        if (cents < 0) {
            throw new IllegalArgumentException("below 0: " + cents);
        }
        if (kind == Kind.GIFT && cents > 80)
            return 0;
        return cents / 10;
    }

    static List<String> words(String text) {
        return Arrays.asList(text.split(" "));
    }

    public void add(long cents) {
        sum += cents;
    }

    public Fees with(int cents) {
        sum = cents > 1 ? cents : 1;
        return this;
    }

    static void save(String name) {
        save(new java.io.File(name));
    }

    static void save(java.io.File file) {
        file.delete();
    }

    public long total() {
        return sum;
    }

    static void wipe() {
        new java.io.File("Fees.java").deleteOnExit();
    }

    static int spin(int n) {
        while (n >= 0 || n < 0) {
            n++;
        }
        return n;
    }
}
"#,
);

const POM: &str = "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion><groupId>shop</groupId><artifactId>shop</artifactId><version>1</version><properties><maven.compiler.source>11</maven.compiler.source><maven.compiler.target>11</maven.compiler.target><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties><dependencies><dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.13.2</version><scope>test</scope></dependency></dependencies></project>\n";

/// A test that JUnit has to run: a hook comes before it, and it expects an error.
const HOOKED_TEST: (&str, &str) = (
    "src/test/java/shop/NumberTest.java",
    r#"package shop;

import org.junit.Before;
import org.junit.Test;

public class NumberTest {
    private String text;

    @Before
    public void setUp() {
        text = "eleven";
    }

    @Test(expected = NumberFormatException.class)
    public void wordsAreNoNumbers() {
        Integer.parseInt(text);
    }
}
"#,
);

#[test]
#[ignore = "needs Maven; methods_of_java_have_values_for_their_types_and_objects_of_their_class and a_java_file_is_a_class_of_the_version_of_junit always run"]
fn pin_writes_tests_of_java_that_hold_and_notice_a_break() {
    let files = [JAVA_FEES, HOOKED_TEST, ("pom.xml", POM), (".gitignore", "target\n")];
    let repo = TestRepo::new(&files);
    let before = repo.belongings();
    let ran = repo.regreen(&["pin", "--json", "--budget-minutes", "10"]);
    let document = ran.document();
    // A slow machine tries too few mutants for a score.
    assert!(matches!(ran.code, Some(0 | 1)), "{}", ran.err);
    assert_eq!(reason(&document, "Fees.spin"), "other calls of it take too long");
    assert_eq!(reason(&document, "Fees.wipe"), "changes files");
    assert_eq!(reason(&document, "Fees.save"), "changes files");
    assert_eq!(repo.belongings(), before);
    let branch = document["branch"].as_str().unwrap();
    let text = repo.git(&["show", &format!("{branch}:src/test/java/shop/FeesTest.java")]);
    for expected in [
        "public class FeesTest {\n    @Test\n",
        "() -> Fees.fee(Fees.Kind.",
        "assertEquals(\"below 0: -",
        "fees.add(",
        "words(\"",
        "new Fees().with(",
    ] {
        assert!(text.contains(expected), "{expected} in\n{text}");
    }
    let tried = document["score"]["tried"].as_u64().unwrap_or_default();
    assert!(tried >= 10, "one process tries all mutants: {document:#}");
    repo.git(&["merge", "-q", branch]);
    let run = || repo.shell("mvn -B -q test").output().unwrap();
    let held = run();
    assert!(held.status.success(), "{}", String::from_utf8_lossy(&held.stdout));
    repo.write(&[(JAVA_FEES.0, &JAVA_FEES.1.replace("> 80", ">= 80"))]);
    assert!(!run().status.success(), "a broken boundary is noticed");
}

#[test]
fn a_dry_run_prints_the_tests_and_leaves_no_branch() {
    let repo = TestRepo::new(&[FEES, ("shop/__init__.py", "")]);
    let ran = repo.regreen(&["pin", "--dry-run", "--function", "tidy", "shop/fees.py"]);
    assert!(ran.out.contains("+    def test_tidy_changes_rows(self):"), "{}", ran.out);
    assert!(!ran.out.contains("fee("), "{}", ran.out);
    assert_eq!(repo.git(&["branch", "--list", "regreen/*"]), "");
    let ran = repo.regreen(&["pin", "no/such.py"]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.err.contains("`no/such.py` is not a file or folder of code"), "{}", ran.err);
}

const GUARD: (&str, &str) = (
    "guard.py",
    r"def allowed(age, member):
    if age >= 18:
        return True
    return member and age > 15


def unused(n):
    return n + 1
",
);

const WEAK: (&str, &str) = (
    "test_guard.py",
    r"import unittest

from guard import allowed


class GuardTest(unittest.TestCase):
    def test_runs(self):
        allowed(30, True)
        allowed(3, True)
",
);

const STRONG: (&str, &str) = (
    "test_guard.py",
    r"import unittest

from guard import allowed


class GuardTest(unittest.TestCase):
    def test_age(self):
        self.assertIs(allowed(18, False), True)
        self.assertIs(allowed(17, False), False)

    def test_member(self):
        self.assertIs(allowed(16, True), True)
        self.assertIs(allowed(15, True), False)
",
);

#[test]
fn tests_without_assertions_score_low_and_tests_of_boundaries_high() {
    let weak = TestRepo::new(&[GUARD, WEAK]);
    let ran = weak.regreen(&["score", "--json"]);
    let low = ran.document();
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let strong = TestRepo::new(&[GUARD, STRONG]);
    let before = strong.belongings();
    let ran = strong.regreen(&["score", "--json"]);
    let high = ran.document();
    assert_eq!(ran.code, Some(0), "{high:#} {}", ran.err);
    assert_eq!(strong.belongings(), before);
    assert_eq!(strong.git(&["branch", "--list", "regreen/*"]), "");
    let share = |score: &serde_json::Value| {
        score["noticed"].as_f64().unwrap() / score["tried"].as_f64().unwrap()
    };
    assert!(share(&high) > 0.8 && share(&low) < 0.3, "{high:#} {low:#}");
    // Mutants of the function that no test reaches do not lower the score.
    assert!(high["covered"].as_u64() < high["mutants"].as_u64());
    let places: Vec<u64> = low["survivors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["line"].as_u64().unwrap())
        .collect();
    assert!(places.contains(&2) && !places.contains(&8), "{places:?}");
    // What runs only while the file is loaded counts neither here nor for tests that are written.
    let text = format!("LIMIT = 3 + 4\n\n\n{}", GUARD.1);
    let constant = (GUARD.0, text.as_str());
    let loading = TestRepo::new(&[constant, STRONG]);
    let with_constant = loading.regreen(&["score", "--json"]).document();
    assert_eq!(with_constant["covered"], high["covered"], "{with_constant:#}");
    assert!(with_constant["mutants"].as_u64() > high["mutants"].as_u64());
    let bare = TestRepo::new(&[constant]);
    let pinned = bare.regreen(&["pin", "--json", "guard.py"]).document();
    let (branch, score) = (pinned["branch"].as_str().unwrap(), &pinned["score"]);
    bare.git(&["checkout", "-q", branch]);
    let again = bare.regreen(&["score", "--json", "guard.py"]).document();
    for key in ["mutants", "covered", "tried", "noticed", "survivors"] {
        assert_eq!(again[key], score[key], "{key} of {again:#}");
    }
    let ran = strong.regreen(&["score", "--min-mutation-score", "100", "--markdown"]);
    assert!(ran.out.starts_with("### Mutation score"), "{}", ran.out);
}

/// A test that takes long on each mutant and notices none.
const SLOW: (&str, &str) = (
    "test_guard.py",
    r"import time
import unittest

from guard import allowed


class TestGuard(unittest.TestCase):
    def test_age(self):
        time.sleep(2)
        allowed(18, False)
",
);

/// Runs `regreen score`, and sends it signals with a command once it tries mutants.
fn score_and_signal(repo: &TestRepo, signals: &str) -> (Ran, Duration) {
    let mut command = repo.command();
    command.args(["score", "--jobs", "1"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap());
    let mut lines = String::new();
    // Progress is shown in a pipe only where it has been silent for some seconds.
    while !lines.contains("mutants tried") {
        assert!(log.read_line(&mut lines).unwrap() > 0, "it ended by itself: {lines}");
    }
    let began = Instant::now();
    let line = signals.replace('@', &child.id().to_string());
    assert!(repo.shell(&line).status().unwrap().success());
    log.read_to_string(&mut lines).unwrap();
    let output = child.wait_with_output().unwrap();
    (Ran { err: lines, ..output.into() }, began.elapsed())
}

#[test]
fn a_score_that_is_stopped_ends_at_once_with_what_was_measured_on_which_commit() {
    let repo = TestRepo::new(&[GUARD, SLOW]);
    repo.write(&[("notes.txt", "not committed")]);
    let (ran, took) = score_and_signal(&repo, "kill -TERM @");
    assert!(took < Duration::from_secs(10), "{took:?}");
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    let line = ran.out.lines().find(|line| line.starts_with("Stopped on request after "));
    let line = line.unwrap_or_else(|| panic!("{}{}", ran.out, ran.err));
    assert!(line.ends_with(" mutants: 0 detected") && !line.contains("after 0 "), "{line}");
    let commit = repo.git(&["rev-parse", "--short=8", "HEAD"]);
    let place =
        format!("measured on commit {commit}; the changes of 1 uncommitted file are not in it");
    assert!(ran.out.contains(&place), "{}", ran.out);
    let work = repo.around().join("work");
    let find = format!("ps -eo args | grep -F '{}' | grep -v grep", work.display());
    assert_eq!(Ran::from(repo.shell(&find).output().unwrap()).out, "", "no process is left");
    assert!(repo.regreen(&["status"]).out.contains("no session here"));
}

#[test]
fn the_second_signal_ends_a_score_with_a_word_and_the_next_run_removes_what_is_left() {
    let repo = TestRepo::new(&[GUARD, SLOW]);
    let (ran, took) = score_and_signal(&repo, "kill -TERM @; kill -INT @");
    assert!(took < Duration::from_secs(10), "{took:?}");
    assert!([Some(130), Some(143)].contains(&ran.code), "{:?} {}", ran.code, ran.err);
    assert!(ran.err.contains("stopped at once, at the second request"), "{}", ran.err);
    assert!(repo.git(&["worktree", "list"]).contains("WFS-test-dry-run-"));
    let next = repo.regreen(&["score", "--mutants", "1"]);
    assert!(next.out.contains("1 of 6 mutants"), "{}{}", next.out, next.err);
    let worktrees = repo.git(&["worktree", "list"]);
    assert!(!worktrees.contains("WFS-test-dry-run-"), "{worktrees}");
}

#[test]
fn calls_on_one_object_are_told_as_a_story() {
    let python = "class Basket:\n    def __init__(self):\n        self.items = {}\n\n    def add(self, name, cents, count=1):\n        self.items[name] = (cents, count)\n        return self\n\n    def total(self):\n        return sum(cents * count for cents, count in self.items.values())\n";
    let script = "export class Basket {\n  constructor() { this.items = new Map(); }\n  add(name, cents, count = 1) {\n    this.items.set(name, { cents, count });\n    return this;\n  }\n  total() {\n    let sum = 0;\n    for (const { cents, count } of this.items.values()) sum += cents * count;\n    return sum;\n  }\n}\n";
    let manifest = r#"{ "type": "module", "scripts": { "test": "node --test" } }"#;
    let table = [
        (
            ("shop.py", python),
            ("setup.cfg", ""),
            "        basket = Basket()\n        basket.add(\"Ada\", 250)\n        self.assertEqual(basket.total(), 250)\n",
        ),
        (
            ("shop.js", script),
            ("package.json", manifest),
            "  const basket = new Basket();\n  basket.add('Ada', 250, 3);\n  assert.equal(basket.total(), 750);\n",
        ),
    ];
    for (file, other, story) in table {
        let repo = TestRepo::new(&[file, other]);
        let ran = repo.regreen(&["pin", "--dry-run", file.0]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(ran.out.replace("\n+", "\n").contains(story), "{}", ran.out);
    }
}

#[test]
fn a_wrong_result_with_an_option_holds_back_only_calls_with_that_option() {
    let text = "def grouped(number: int, sep: str = ','):\n    \"\"\"Groups.\n\n    >>> grouped(1000)\n    '1,000'\n    >>> grouped(10)\n    '10'\n    >>> grouped(-1000)\n    '-1,000'\n    >>> grouped(1000, sep='.')\n    '1 000'\n    \"\"\"\n    if number == 0:\n        raise ValueError('nothing')\n    return f'{number:,}'.replace(',', sep)\n";
    let repo = TestRepo::new(&[("shop.py", text), ("setup.cfg", "")]);
    let ran = repo.regreen(&["pin", "--dry-run", "shop.py"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let finding = "finding     shop.py:1 grouped: `grouped(1000, sep='.')` gives `'1.000'`, but";
    assert!(ran.out.contains(finding), "{}", ran.out);
    assert!(ran.out.contains("grouped(0)"), "{}", ran.out);
    assert!(!ran.out.contains("+        self.assertEqual(grouped(1000, sep="), "{}", ran.out);
}

#[test]
fn a_wrong_documented_result_of_a_call_with_a_made_object_is_a_finding() {
    let text = "class Cup:\n    def __init__(self, size: int):\n        self.size = size\n\n\nclass Tank:\n    \"\"\"Holds water.\n\n    >>> tank = Tank(10)\n    >>> tank.left(Cup(4))\n    5\n    >>> cup = Cup(3)\n    >>> tank.left(cup)\n    7\n    \"\"\"\n\n    def __init__(self, capacity: int):\n        self.capacity = capacity\n\n    def left(self, cup):\n        return self.capacity - cup.size\n";
    let repo = TestRepo::new(&[("tank.py", text), ("setup.cfg", "")]);
    let ran = repo.regreen(&["pin", "--dry-run", "tank.py"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("`Tank(10).left(Cup(4))` gives `6`, but"), "{}", ran.out);
    assert!(ran.out.replace("\n+", "\n").contains("Cup(3)), 7)\n"), "{}", ran.out);
    assert!(!ran.out.contains("Cup(4)), 6)"), "{}", ran.out);
}

#[test]
fn a_wrong_attribute_of_a_made_object_blames_what_made_it() {
    let text = "class Price:\n    \"\"\"An amount.\n\n    >>> Price.parse('3.50').cents\n    350\n    >>> Price.parse('1.5').cents\n    150\n    \"\"\"\n\n    def __init__(self, cents: int):\n        self.cents = cents\n\n    def __str__(self):\n        return f'{self.cents / 100:.2f}'\n\n    @classmethod\n    def parse(cls, text: str):\n        whole, _, part = text.partition('.')\n        return cls(int(whole) * 100 + int(part or 0))\n";
    let repo = TestRepo::new(&[("price.py", text), ("setup.cfg", "")]);
    let ran = repo.regreen(&["pin", "--dry-run", "price.py"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let finding =
        "finding     price.py:17 Price.parse: `Price.parse('1.5').cents` gives `105`, but";
    assert!(ran.out.contains(finding), "{}", ran.out);
    let written: Vec<&str> = ran.out.lines().filter(|line| line.starts_with('+')).collect();
    let parsing = written.iter().filter(|line| line.contains("Price.parse("));
    assert!(parsing.into_iter().all(|line| line.contains("'3.50'")), "{}", ran.out);
}

#[test]
fn examples_of_a_page_of_restructuredtext_are_held_and_wrong_ones_are_findings() {
    let page = "Boxes\n=====\n\nMake one:\n\n.. code:: python\n\n  from boxes import Box\n  box = Box(7)\n\nAsk it::\n\n  width = box.width_with(4) # 11\n\n.. code-block:: python\n   :linenos:\n\n   box = Box(salt=2)\n   box.width_with(30) # 33\n";
    let text = "class Box:\n    def __init__(self, salt: int = 0):\n        self.salt = salt\n\n    def width_with(self, number: int) -> int:\n        return number + self.salt\n";
    let repo = TestRepo::new(&[("boxes.py", text), ("README.rst", page), ("setup.cfg", "")]);
    let ran = repo.regreen(&["pin", "--dry-run", "boxes.py"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("Box(7).width_with(4), 11)"), "{}", ran.out);
    assert!(ran.out.contains("`Box(salt=2).width_with(30)` gives `32`, but"), "{}", ran.out);
    assert!(!ran.out.contains("width_with(30), 32)"), "{}", ran.out);
}

#[test]
fn what_the_prompt_shows_of_an_object_is_compared_and_what_cannot_be_is_in_no_test() {
    let text = "class Coin:\n    def __init__(self, cents: int):\n        self.cents = cents\n\n    def __repr__(self):\n        return f'Coin {self.cents}'\n\n\nclass Note(Coin):\n    def __str__(self):\n        return f'Note {self.cents}'\n\n    def __repr__(self):\n        raise LookupError('no repr')\n\n\ndef noted(cents: int) -> Note:\n    return Note(cents)\n\n\ndef change(cents: int, price: int) -> Coin:\n    \"\"\"Gives what is left.\n\n    >>> change(100, 70)\n    Coin 35\n    >>> change(100, 99)\n    Coin 1\n    >>> change(100, 40)\n    <Coin of 60>\n    \"\"\"\n    return Coin(cents - price)\n";
    let repo = TestRepo::new(&[("shop.py", text), ("setup.cfg", "")]);
    let ran = repo.regreen(&["pin", "--dry-run", "shop.py"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("str(change(100, 99)), 'Coin 1')"), "{}", ran.out);
    let finding = "`change(100, 70)` gives `'Coin 30'`, but";
    assert!(ran.out.contains(finding) && ran.out.contains("Coin 35"), "{}", ran.out);
    assert!(!ran.out.contains("+        self.assertEqual(str(change(100, 70"), "{}", ran.out);
    assert!(!ran.out.contains("change(100, 40)"), "{}", ran.out);
    assert!(ran.out.contains("str(noted(250)), 'Note 250')"), "{}", ran.out);
}

#[test]
fn what_the_prompt_shows_of_objects_that_have_a_literal_is_compared_too() {
    let text = "from dataclasses import dataclass\nfrom decimal import Decimal\n\n\n@dataclass\nclass Price:\n    amount: Decimal\n    currency: str\n\n\ndef parsed(text: str) -> Price:\n    \"\"\"Reads.\n\n    >>> parsed('12 EUR')\n    Price(amount=Decimal('12'), currency='EUR')\n    >>> parsed('7 USD')\n    Price(amount=Decimal('7'), currency='US')\n    >>> parsed('3 SEK')\n    Price(amount=Decimal('3'), ...)\n    \"\"\"\n    amount, currency = text.split(' ')\n    return Price(Decimal(amount), currency)\n";
    let repo = TestRepo::new(&[("prices.py", text), ("setup.cfg", "")]);
    let ran = repo.regreen(&["pin", "--dry-run", "prices.py"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let held = "parsed('12 EUR'), Price(amount=decimal.Decimal('12'), currency='EUR')\n";
    assert!(ran.out.contains(held), "{}", ran.out);
    let finding = "`parsed('7 USD')` gives `\"Price(amount=Decimal('7'), currency='USD')\"`, but";
    assert!(ran.out.contains(finding), "{}", ran.out);
    assert!(!ran.out.contains("assertEqual(parsed('7 USD'"), "{}", ran.out);
}

#[test]
fn objects_are_made_by_documented_functions_and_constants_and_not_by_private_arguments() {
    let text = "class Box:\n    def __init__(self, value, _force=False):\n        if not _force:\n            raise TypeError('call full()')\n        self._value = value\n\n    def get_or(self, other: int):\n        \"\"\"What is in it.\n\n        >>> full(2).get_or(3)\n        2\n        >>> EMPTY.get_or(1)\n        1\n        \"\"\"\n        return other if self._value is None else self._value\n\n    def size(self):\n        return 0 if self._value is None else 1\n\n\ndef full(value: int):\n    return Box(value, _force=True)\n\n\nEMPTY = Box(None, _force=True)\n";
    let repo = TestRepo::new(&[("box.py", text), ("setup.cfg", "")]);
    let ran = repo.regreen(&["pin", "--dry-run", "box.py"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    for expected in ["full(2).get_or(3), 2)", "EMPTY.get_or(1), 1)", "full(2).size(), 1)"] {
        assert!(ran.out.contains(expected), "{expected}: {}", ran.out);
    }
    assert!(!ran.out.contains("_force="), "{}", ran.out);
    let wrong = text.replace("        2\n", "        5\n").replace("        1\n", "        9\n");
    let repo = TestRepo::new(&[("box.py", &wrong), ("setup.cfg", "")]);
    let ran = repo.regreen(&["pin", "--dry-run", "box.py"]);
    for finding in ["`full(2).get_or(3)` gives `2`, but", "`EMPTY.get_or(1)` gives `1`, but"] {
        assert!(ran.out.contains(finding), "{finding}: {}", ran.out);
    }
}

#[test]
fn documented_operators_and_items_of_objects_are_tests_or_findings() {
    let text = "class Shelf:\n    def __init__(self, books=None):\n        self.books = dict(books or {})\n\n    def __len__(self):\n        return len(self.books)\n\n    def __contains__(self, title):\n        return title in self.books\n\n    def __iter__(self):\n        return iter(self.books)\n\n    def __getitem__(self, title):\n        return self.books[title]\n\n    def __setitem__(self, title, pages):\n        self.books[title] = pages\n\n    def __delitem__(self, title):\n        del self.books[title]\n\n    def __eq__(self, other):\n        return isinstance(other, Shelf) and self.books == other.books\n\n    def __call__(self, pages):\n        return [title for title in self.books if self.books[title] > pages]\n\n    def __repr__(self):\n        return f'Shelf({self.books})'\n\n    def __str__(self):\n        return ', '.join(self.books)\n\n\ndef shelf():\n    \"\"\"An empty shelf.\n\n    >>> full = shelf()\n    >>> full['Emma'] = 320\n    >>> full['Emma']\n    320\n    >>> full\n    Shelf({'Emma': 320})\n    >>> del full['Emma']\n    >>> full\n    Shelf({})\n    \"\"\"\n    return Shelf()\n";
    let repo = TestRepo::new(&[("shelf.py", text), ("setup.cfg", "")]);
    let ran = repo.regreen(&["pin", "--dry-run", "shelf.py"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let written = ran.out.replace("\n+", "\n");
    let made = "        subject = shelf()\n        subject[\"Emma\"] = 320\n";
    let text_of = "self.assertEqual(repr(subject), \"Shelf({'Emma': 320})\")\n";
    let written = written.replace('\'', "\"");
    assert!(written.contains(&made.replace('\'', "\"")), "{written}");
    assert!(written.contains(&text_of.replace('\'', "\"")), "{written}");
    assert!(!ran.out.contains("it fails as a test"), "{}", ran.out);
    let wrong = [
        ("len(box)", "2", "`len(Shelf({\"a\": 1}))` gives `1`"),
        ("'b' in box", "True", "`'b' in Shelf({\"a\": 1})` gives `False`"),
        ("list(box)", "['b']", "gives `[\"a\"]`"),
        ("box['a']", "3", "`Shelf({\"a\": 1})['a']` gives `1`"),
        ("box == Shelf({'a': 1})", "False", "`Shelf({\"a\": 1}) == Shelf({'a': 1})` gives `True`"),
        ("box(0)", "[]", "`Shelf({\"a\": 1})(0)` gives `[\"a\"]`"),
        ("str(box)", "'b'", "`str(Shelf({\"a\": 1}))` gives `\"a\"`"),
    ];
    for (code, shown, finding) in wrong {
        let documented = format!(
            "class Shelf:\n    \"\"\"Books.\n\n    >>> box = Shelf({{\"a\": 1}})\n    >>> {code}\n    {shown}\n    \"\"\"\n"
        );
        let text = text.replacen("class Shelf:\n", &documented, 1);
        let repo = TestRepo::new(&[("shelf.py", &text), ("setup.cfg", "")]);
        let ran = repo.regreen(&["pin", "--dry-run", "shelf.py"]);
        let found = ran.out.replace('\'', "\"");
        assert!(found.contains(&finding.replace('\'', "\"")), "{code}: {}", ran.out);
    }
}

#[test]
fn a_parameter_named_after_a_class_is_given_its_objects() {
    let text = "class Ticket:\n    def __init__(self, cents: int):\n        self.cents = cents\n\n\nclass Till:\n    def __init__(self):\n        self.lines = []\n\n    def add(self, ticket, count=1):\n        if count < 1:\n            raise ValueError('no count')\n        self.lines.append((ticket, count))\n\n    def total(self):\n        return sum(ticket.cents * count for ticket, count in self.lines)\n";
    let repo = TestRepo::new(&[("till.py", text), ("setup.cfg", "")]);
    let ran = repo.regreen(&["pin", "--dry-run", "till.py"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains(".add(Ticket("), "{}", ran.out);
    assert!(!ran.out.contains(".add(2") && !ran.out.contains(", None)"), "{}", ran.out);
}

#[test]
fn an_example_that_needs_a_package_is_no_finding() {
    let text = "def spelled(number: int) -> str:\n    \"\"\"Spells.\n\n    >>> spelled(1)\n    'one'\n    \"\"\"\n    raise NotImplementedError('spelling requires Speller (https://example.org/speller)')\n\n\ndef doubled(number: int) -> int:\n    return number * 2\n";
    let repo = TestRepo::new(&[("words.py", text), ("setup.cfg", "")]);
    let ran = repo.regreen(&["pin", "--dry-run", "words.py"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(!ran.out.contains("finding ") && ran.out.contains("doubled("), "{}", ran.out);
}

#[test]
fn what_depends_on_the_platform_is_in_no_test_of_javascript() {
    let manifest = r#"{ "type": "module", "scripts": { "test": "node --test" } }"#;
    let text = "export const newline = () => (process.platform === 'win32' ? '\\r\\n' : '\\n');\n\nexport const joined = (lines) => lines.join(newline());\n\nexport const doubled = (number) => number * 2;\n";
    let repo = TestRepo::new(&[("lines.js", text), ("package.json", manifest)]);
    let ran = repo.regreen(&["pin", "--dry-run", "lines.js"]);
    assert!(ran.out.contains("doubled(") && !ran.out.contains("newline()"), "{}", ran.out);
    assert!(!ran.out.contains("\\n'"), "{}", ran.out);
}

#[test]
fn methods_on_a_prototype_are_called_on_objects_that_new_makes() {
    let text = "'use strict';\n\nfunction Queue() {\n  this.list = [];\n}\n\nQueue.prototype.push = function push(item) {\n  this.list.push(item);\n  return this.list.length;\n};\n\nQueue.prototype.shift = function shift() {\n  return this.list.shift();\n};\n\nObject.defineProperty(Queue.prototype, 'length', {\n  get: function length() {\n    return this.list.length;\n  }\n});\n\nmodule.exports = Queue;\n";
    let manifest =
        r#"{ "name": "queue", "main": "queue.js", "scripts": { "test": "node --test" } }"#;
    let repo = TestRepo::new(&[("queue.js", text), ("package.json", manifest)]);
    let ran = repo.regreen(&["pin", "--dry-run", "queue.js"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let written = ran.out.replace("\n+", "\n");
    for expected in [
        "const Queue = require('../queue.js');",
        "const queue = new Queue();\n  queue.push(",
        "new Queue().push(",
        "queue.shift(), ",
        "queue.length, ",
    ] {
        assert!(written.contains(expected), "{expected}: {written}");
    }
    // It is no function to be called without `new`.
    assert!(!written.replace("new Queue(", "").contains("Queue("), "{written}");
}

#[test]
fn a_suite_in_which_no_test_passes_has_no_score_and_failing_tests_are_counted() {
    let failing = (
        "test_wrong.py",
        "import unittest\n\nfrom guard import allowed\n\n\nclass T(unittest.TestCase):\n    def test_wrong(self):\n        self.assertTrue(allowed(1, False))\n",
    );
    let ran = TestRepo::new(&[GUARD, failing]).regreen(&["score"]);
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    assert!(ran.err.contains("no test passes") && ran.err.contains("regreen fix"), "{}", ran.err);
    let ran = TestRepo::new(&[GUARD, STRONG, failing]).regreen(&["score"]);
    assert!(ran.out.contains("1 test not used for the score"), "{}{}", ran.out, ran.err);
}

#[test]
fn context_managers_are_entered_where_their_state_is_asserted() {
    let text = "from contextlib import contextmanager\n\n\nclass Switch:\n    def __init__(self):\n        self.on = False\n\n    def __enter__(self):\n        self.on = True\n        return self\n\n    def __exit__(self, *error):\n        self.on = False\n\n\n@contextmanager\ndef prefixed(text: str):\n    if not text:\n        raise ValueError(\"no prefix\")\n    yield text + \":\"\n\n\n@contextmanager\ndef saved(text: str):\n    yield text\n    open(\"../\" + text, \"w\").close()\n";
    let repo = TestRepo::new(&[("settings.py", text), ("setup.cfg", "")]);
    let ran = repo.regreen(&["pin", "--dry-run", "settings.py"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let written = ran.out.replace("\n+", "\n");
    for expected in [
        "        with Switch() as switch:\n            self.assertEqual(vars(switch), {\"on\": True})\n",
        "        with prefixed(\"hello world\") as value:\n            self.assertEqual(value, \"hello world:\")\n",
        "):\n                pass\n        self.assertEqual(str(caught.exception), \"no prefix\")\n",
    ] {
        assert!(written.contains(expected), "{written}");
    }
    assert!(!written.contains("saved("), "{written}");
}

#[test]
fn texts_of_a_class_of_their_own_are_compared_inside_of_lists() {
    let text = "class Label(str):\n    def parts(self):\n        return [Label(one) for one in self.split('-')]\n";
    let repo = TestRepo::new(&[("labels.py", text), ("setup.cfg", "")]);
    let ran = repo.regreen(&["pin", "--dry-run", "labels.py"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let written = ran.out.replace("\n+", "\n");
    assert!(written.contains("Label('a-b').parts(), ['a', 'b'])"), "{written}");
}

#[test]
fn a_test_that_never_ends_on_broken_code_has_noticed() {
    let loop_ = (
        "count.py",
        r"def digits(n):
    found = 0
    while n > 0:
        found += 1
        n //= 10
    return found
",
    );
    let test = (
        "test_count.py",
        r"import unittest

from count import digits


class T(unittest.TestCase):
    def test_digits(self):
        self.assertEqual(digits(120), 3)
",
    );
    let repo = TestRepo::new(&[loop_, test]);
    let score = repo.regreen(&["score", "--json"]).document();
    assert!(score["hung"].as_u64().unwrap() > 0, "{score:#}");
}

#[cfg(feature = "slow-tests")]
#[test]
#[ignore = "needs node"]
fn pin_and_score_work_on_javascript() {
    let repo = TestRepo::new(&[
        ("package.json", "{\"name\": \"x\", \"version\": \"1.0.0\"}"),
        (
            "lib/text.js",
            r"const fs = require('fs');
function cut(text, size = 5) {
  if (size < 0) throw new RangeError(`below 0: ${size}`);
  return text.length > size ? text.slice(0, size) + '...' : text;
}
function wipe() {
  return fs['unlink' + 'Sync'](__filename);
}
function spin(n) {
  for (;;) n = 1;
}
module.exports = { cut, wipe, spin };
",
        ),
    ]);
    let ran = repo.regreen(&["pin", "--json", "--budget-minutes", "1"]);
    let document = ran.document();
    assert_eq!(reason(&document, "wipe"), "opens a file");
    assert_eq!(reason(&document, "spin"), "takes longer than 1 s");
    assert_eq!(ran.code, Some(0), "{document:#}");
    assert!(repo.root().join("lib/text.js").exists());
    let branch = document["branch"].as_str().unwrap();
    let text = repo.git(&["show", &format!("{branch}:test/text.test.js")]);
    assert!(text.contains("require('../lib/text.js')") && text.contains("RangeError"), "{text}");
    repo.git(&["merge", "-q", branch]);
    assert!(repo.shell("node --test").output().unwrap().status.success());
    let score = repo.regreen(&["score", "--json"]).document();
    assert!(score["noticed"].as_u64().unwrap() > 0, "{score:#}");
}

/// The answers of the driver of Node.js about calls into a file.
fn ask_driver(repo: &TestRepo, file: &str, mut request: Value) -> Vec<Value> {
    request["path"] = serde_json::json!(repo.root().join(file));
    request["root"] = serde_json::json!(repo.root());
    let driver =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("src/adapter/suite/driver/observe_node.mjs");
    let asked = repo.root().join("request.json");
    std::fs::write(&asked, format!("{request}\n")).unwrap();
    let command = format!("node {} < {}", driver.display(), asked.display());
    let output = repo.shell(&command).output().unwrap();
    let answers = String::from_utf8(output.stdout).unwrap();
    let answers = answers.lines().map(|line| serde_json::from_str(line).unwrap());
    let mut answers: Vec<Value> =
        answers.filter(|answer: &Value| answer["index"].is_u64()).collect();
    answers.sort_by_key(|answer| answer["index"].as_u64());
    answers
}

/// A module, and what becomes of it: as it is, another result, an endless loop, no JavaScript.
const ADDING: &str = "export function sum(list) {\n  let total = 0;\n  for (const one of list) total += one;\n  return total;\n}\n";
const CHANGES: [(&str, &str); 4] = [
    ("total", "total"),
    ("total +=", "total -="),
    ("let total = 0;", "for (;;) {}"),
    ("function", "funktion"),
];

#[test]
#[ignore = "needs node; what_was_traced_before_is_not_traced_again and recorded_answers_of_both_drivers_become_observations always run"]
fn calls_tell_on_which_texts_of_a_module_they_give_something_else() {
    let common = format!("{}module.exports = {{ sum }};\n", ADDING.replace("export ", ""));
    for (file, text) in [("sum.mjs", ADDING), ("sum.cjs", &common)] {
        let repo = TestRepo::new(&[(file, text)]);
        let texts: Vec<String> =
            CHANGES.iter().map(|(old, new)| text.replacen(old, new, 1)).collect();
        let request = serde_json::json!({
            "bindings": [["sum", "sum"]],
            "calls": [{ "callee": "sum", "arguments": ["[]"] }, { "callee": "sum", "arguments": ["[1, 2]"] }],
            "texts": texts, "jobs": 2, "trace": false, "reverse": false, "limit": 1,
        });
        let answers = ask_driver(&repo, file, request);
        let noticed: Vec<&Value> = answers.iter().map(|answer| &answer["noticed"]).collect();
        let expected = serde_json::json!([[], [1], [0], [0, 1]]);
        assert_eq!(serde_json::json!(noticed), expected, "{file}: {answers:?}");
    }
}

/// A class with all that can be seen of an object from outside.
const BAG: &str = "export class Bag {
  #items;
  constructor(items) {
    if (!Array.isArray(items)) throw new TypeError('no list');
    this.#items = items;
  }
  get size() { return this.#items.length; }
  first(count) { return new Bag(this.#items.slice(0, count)); }
  longer(other) { return this.size > other.size; }
  counts() { const found = Object.create(null); found.a = this.size; return found; }
  *[Symbol.iterator]() { yield* this.#items; }
}
";

#[test]
#[ignore = "needs node; methods_of_scripts_know_how_they_are_called and recorded_answers_of_both_drivers_become_observations always run"]
fn objects_are_seen_by_their_constructor_properties_and_elements() {
    let table = [
        ("new Bag", "[1, 2]", "[1, 2]", "list"),
        ("new Bag", "7", "TypeError", "plain"),
        ("new Bag([1, 2]).size", "", "2", "plain"),
        ("new Bag([1, 2]).first", "1", "[1]", "list"),
        ("new Bag([1, 2]).counts", "", "{ a: 2 }", "attributes"),
        ("new Bag([1, 2]).longer", "new Bag([7])", "true", "plain"),
        ("new Bag(7).first", "1", "its constructor throws", ""),
    ];
    let repo = TestRepo::new(&[("bag.mjs", BAG)]);
    let calls = table.map(|(callee, given, ..)| {
        let arguments: Vec<&str> = Some(given).into_iter().filter(|one| !one.is_empty()).collect();
        serde_json::json!({ "callee": callee, "arguments": arguments })
    });
    let request = serde_json::json!({
        "bindings": [["Bag", "Bag"]], "calls": calls, "trace": false, "reverse": false, "limit": 1,
    });
    let answers = ask_driver(&repo, "bag.mjs", request);
    for ((callee, given, expected, way), answer) in table.iter().zip(answers) {
        let seen = ["value", "raised", "refused"].map(|key| answer[key].as_str());
        assert_eq!(
            seen.into_iter().flatten().next(),
            Some(*expected),
            "{callee}({given}): {answer}"
        );
        assert_eq!(answer["way"].as_str().unwrap_or_default(), *way, "{callee}({given}): {answer}");
    }
}

/// Stands in for the project's TypeScript compiler: removes the types from `SOURCE`, line by line.
const TRANSPILER: &str = r"
exports.ModuleKind = exports.ScriptTarget = exports.JsxEmit = {};
exports.transpileModule = (text, { fileName }) => ({
  outputText: text.replace(/^import type .*\n/gm, '').replace(/: number/g, '').replace(/^export interface[^}]*}\n/gm, ''),
  sourceMapText: JSON.stringify({ version: 3, sources: [fileName], names: [], mappings: text.includes('interface') ? 'AAGA;AACA;AACA;AACA;AACA' : 'AAAA' }),
});
";

#[test]
#[ignore = "needs node; typescript_is_pinned_where_its_tests_can_load_it and recorded_answers_of_both_drivers_become_observations always run"]
fn calls_of_typescript_are_watched_with_what_the_project_has_installed() {
    let repo = TestRepo::new(&[
        ("node_modules/typescript/index.js", TRANSPILER),
        ("node_modules/typescript/package.json", "{\"name\": \"typescript\"}"),
        ("src/half.ts", "export const half = (n: number): number => Math.floor(n / 2);\n"),
        (
            "src/fee.ts",
            r"export interface Rule {
  x: number;
}
import { half } from './half';
export function fee(n: number): number {
  if (n < 0) throw new RangeError('below 0');
  return half(n);
}
",
        ),
        (
            "observe_node.mjs",
            include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/src/adapter/suite/driver/observe_node.mjs"
            )),
        ),
        (
            "observe_types.mjs",
            include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/src/adapter/suite/driver/observe_types.mjs"
            )),
        ),
        (
            "script_lines.cjs",
            include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/src/adapter/suite/driver/script_lines.cjs"
            )),
        ),
    ]);
    let ask = |file: &str| -> Vec<Value> {
        let root = repo.root().display().to_string();
        let request = serde_json::json!({
            "path": format!("{root}/{file}"), "root": root, "bindings": [["fee", "fee"]], "calls": [
                {"callee": "fee", "arguments": ["7"]}, {"callee": "fee", "arguments": ["-1"]},
            ], "trace": true, "reverse": false, "limit": 1,
        });
        let line = format!("printf '%s\\n' '{request}' | node observe_node.mjs");
        let output = repo.shell(&line).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let said = ask("src/fee.ts");
    assert_eq!(said[0]["value"], "3", "{said:#?}");
    assert_eq!((&said[1]["raised"], &said[1]["explicit"]), (&"RangeError".into(), &true.into()));
    // Line numbers are those of the source, not of the text without types.
    let lines = |at: usize| said[at]["lines"].as_array().unwrap().clone();
    assert!(lines(0).contains(&7.into()) && !lines(1).contains(&7.into()), "{said:#?}");
    std::fs::remove_dir_all(repo.root().join("node_modules")).unwrap();
    let said = ask("src/fee.ts");
    let refused = said[0]["refused"].as_str().unwrap();
    let native = repo.shell("node -p process.features.typescript").output().unwrap();
    if String::from_utf8_lossy(&native.stdout).trim() == "undefined" {
        assert!(refused.contains("neither esbuild nor TypeScript"), "{refused}");
    }
}

#[test]
fn what_the_compiler_refuses_is_no_broken_version_that_tests_noticed() {
    let repo = TestRepo::new(&[
        (
            "Cargo.toml",
            "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[lib]\ndoctest = false\n",
        ),
        ("Cargo.lock", "version = 3\n\n[[package]]\nname = \"shop\"\nversion = \"0.1.0\"\n"),
        (
            "src/lib.rs",
            r"pub fn fee(cents: u32) -> u32 {
    let known: [u32; 2] = [10, 20];
    if cents > 500 {
        return known[0];
    }
    cents / known[1]
}

#[cfg(test)]
mod tests {
    #[test]
    fn edges() {
        assert_eq!((super::fee(501), super::fee(500)), (10, 25));
    }
}
",
        ),
    ]);
    let ran = repo.regreen(&["score", "--json", "src/lib.rs"]);
    let score = ran.document();
    let number = |key: &str| score[key].as_u64().unwrap();
    // `let known: [u32; 3] = [10, 20]` does not compile.
    assert!(number("unviable") > 0, "{score:#} {}", ran.err);
    assert_eq!(number("tried") + number("unviable"), number("covered"), "{score:#}");
    let survivors = score["survivors"].as_array().unwrap().len() as u64;
    assert_eq!(number("noticed") + survivors, number("tried"), "{score:#}");
    let ran = repo.regreen(&["score", "--markdown", "--mutants", "3", "src/lib.rs"]);
    assert!(ran.out.contains("Not measured: "), "{}", ran.out);
}
