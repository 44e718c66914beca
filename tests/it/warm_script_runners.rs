//! Warm Vitest and Jest processes must judge candidates like a fresh start, and report the source
//! lines that each test runs. Tests on recorded answers, which always run, are beside
//! `adapter::suite::candidate::persistent` and `adapter::suite::format::jest`.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test installs packages, runs Node.js and reads its answers"
)]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use super::support::TestRepo;

const TYPESCRIPT: &str = "\
interface Item { price: number; count: number }

export function total(items: Item[]): number {
  let sum = 0;
  for (const item of items) {
    sum += item.price * item.count;
  }
  return sum;
}

export const label = (n: number): string => {
  if (n > 10) {
    return 'many';
  } else if (n > 5) {
    return 'some';
  }
  return 'few';
};
";

const JAVASCRIPT: &str = "\
// A cart.

function total(items) {
  let sum = 0;
  for (const item of items) {
    sum += item.price * item.count;
  }
  return sum;
}

const label = (n) => {
  if (n > 10) {
    return 'many';
  } else if (n > 5) {
    return 'some';
  }
  return 'few';
};

module.exports = { total, label };
";

const TESTS: &str = "\
describe('cart', () => {
  it('sums', () => expect(total([{ price: 3, count: 2 }])).toBe(6));
  it('is empty', () => expect(total([])).toBe(0));
});
it('labels', () => expect(label(7)).toBe('some'));
it.skip('later', () => {});
";

/// The text to replace, its replacement, and the tests that must then fail.
const CANDIDATES: &[(&str, &str, &[&str])] = &[
    ("+= item", "-= item", &["sums"]),
    ("n > 10", "n > 11", &[]),
    ("n > 5", "n > 8", &["labels"]),
    ("sum = 0", "sum = 1", &["is empty", "sums"]),
    // A syntax error, so nothing runs.
    ("return sum;", "return {{{ sum;", &["is empty", "labels", "sums"]),
    // Kills its own process; the other tests are lost, or reported as failed.
    ("let sum = 0;", "process.kill(process.pid, 'SIGKILL'); let sum = 0;", &["sums"]),
    ("return sum", "return sum", &[]),
];

/// Packages that Jest needs for TypeScript.
const JEST_29: &[(&str, &str)] =
    &[("jest", "^29"), ("ts-jest", "^29"), ("typescript", "^5"), ("@types/jest", "^29")];

/// A project with its packages installed.
struct Project {
    repo: TestRepo,
    framework: &'static str,
    source: PathBuf,
    test: PathBuf,
}

impl Project {
    fn new(framework: &'static str, packages: &[(&str, &str)], typed: bool) -> Self {
        let ending = if typed { "ts" } else { "js" };
        let mut package = json!({
            "scripts": { "test": framework },
            "devDependencies": packages.iter().copied().collect::<BTreeMap<_, _>>(),
        });
        let head = match (framework, typed) {
            ("vitest", _) => {
                "import { describe, expect, it } from 'vitest';\nimport { label, total } from './cart';"
            }
            (_, true) => "import { label, total } from './cart';",
            (_, false) => "const { label, total } = require('./cart');",
        };
        if framework == "jest" && typed {
            package["jest"] = json!({ "preset": "ts-jest" });
        }
        let source = format!("src/cart.{ending}");
        let test = format!("src/cart.test.{ending}");
        let options = r#"{"compilerOptions": {"module": "commonjs", "target": "es2020", "isolatedModules": true, "strict": false}}"#;
        let repo = TestRepo::new(&[
            ("package.json", &package.to_string()),
            ("tsconfig.json", options),
            (".gitignore", "node_modules\npackage-lock.json\n"),
            (&source, if typed { TYPESCRIPT } else { JAVASCRIPT }),
            (&test, &format!("{head}\n{TESTS}")),
        ]);
        let install = Command::new("npm")
            .args(["install", "--no-audit", "--no-fund", "--silent"])
            .current_dir(repo.root())
            .output()
            .unwrap();
        assert!(install.status.success(), "{}", String::from_utf8_lossy(&install.stderr));
        let (source, test) = (repo.root().join(source), repo.root().join(test));
        Self { repo, framework, source, test }
    }

    /// Statuses by test name, from a fresh start of the suite's own command.
    fn fresh(&self) -> BTreeMap<String, String> {
        let report = self.repo.around().join("fresh.json");
        let mut command =
            Command::new(self.repo.root().join("node_modules/.bin").join(self.framework));
        if self.framework == "vitest" {
            command.args(["run", "--reporter=json"]);
            command.arg(format!("--outputFile.json={}", report.display()));
        } else {
            command.args(["--json", &format!("--outputFile={}", report.display())]);
        }
        command.current_dir(self.repo.root()).env("CI", "true").output().unwrap();
        statuses(&report)
    }

    fn driver(&self, more: &[(&str, String)]) -> Driver {
        let report = self.repo.around().join("warm.json");
        let drivers = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/adapter/suite/driver");
        let mut child = Command::new("node")
            .arg(drivers.join(format!("warm_{}.mjs", self.framework)))
            .arg(&report)
            .current_dir(self.repo.root())
            .env("CI", "true")
            .envs(more.iter().map(|(name, value)| (*name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut driver = Driver { child, input, output, report };
        let ready = driver.answer().unwrap();
        assert_eq!(ready["ready"], true, "{ready}");
        driver
    }
}

/// A running warm process, with its pipes and its report.
struct Driver {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    report: PathBuf,
}

impl Driver {
    /// The next answer; `None` when the process has ended.
    fn answer(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).ok()
    }

    /// Runs the test file; returns statuses by test name, or `None` when the process has ended.
    fn run(&mut self, project: &Project) -> Option<BTreeMap<String, String>> {
        let request = json!({ "file": project.test, "changed": [project.source] });
        writeln!(self.input, "{request}").unwrap();
        let answer = self.answer()?;
        assert_eq!(answer["ended"], true, "{answer}");
        Some(statuses(&self.report))
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn statuses(report: &Path) -> BTreeMap<String, String> {
    let Ok(text) = std::fs::read_to_string(report) else { return BTreeMap::new() };
    std::fs::remove_file(report).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    let files = document["testResults"].as_array().unwrap();
    let tests = files.iter().flat_map(|file| file["assertionResults"].as_array().unwrap());
    tests
        .map(|test| {
            let text = |key: &str| test[key].as_str().unwrap().to_owned();
            (text("title"), text("status"))
        })
        .collect()
}

fn judge(project: &Project) {
    let text = std::fs::read_to_string(&project.source).unwrap();
    let all = ["is empty", "labels", "sums"];
    let mut driver = project.driver(&[]);
    for (old, new, failing) in CANDIDATES {
        assert_eq!(text.matches(old).count(), 1, "{old}");
        std::fs::write(&project.source, text.replace(old, new)).unwrap();
        let fresh = project.fresh();
        let Some(warm) = driver.run(project) else {
            assert!(new.contains("SIGKILL"), "{old} -> {new} ended the process");
            driver = project.driver(&[]);
            continue;
        };
        let passed = |output: &BTreeMap<String, String>| -> Vec<String> {
            let passed = output.iter().filter(|(_, status)| *status == "passed");
            passed.map(|(name, _)| name.clone()).collect()
        };
        assert_eq!(passed(&warm), passed(&fresh), "{old} -> {new}");
        if new.contains("SIGKILL") {
            assert!(!passed(&warm).contains(&"sums".to_owned()), "{warm:?}");
            continue;
        }
        let expected: Vec<&str> = all.into_iter().filter(|name| !failing.contains(name)).collect();
        assert_eq!(passed(&warm), expected, "{old} -> {new}: {warm:?}");
        if !failing.is_empty() && failing.len() < all.len() {
            assert_eq!(warm, fresh, "{old} -> {new}");
        }
    }
    std::fs::write(&project.source, text).unwrap();
    trace(project);
}

/// Asserts which source lines each test runs.
fn trace(project: &Project) {
    let out = project.repo.around().join("lines");
    std::fs::write(&out, "").unwrap();
    let root = project.repo.root();
    let mut driver = project.driver(&[
        ("REGREEN_LINES", out.display().to_string()),
        ("REGREEN_ROOT", root.display().to_string()),
    ]);
    driver.run(project).unwrap();
    let output = std::fs::read_to_string(&out).unwrap();
    let records: Vec<Value> =
        output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let source = project.source.display().to_string();
    let ran = |name: &str| -> Vec<u64> {
        let record = records.iter().find(|record| {
            let names = record["names"].as_array().into_iter().flatten();
            names.last().is_some_and(|last| last.as_str().unwrap().ends_with(name))
        });
        let lines =
            record.unwrap_or_else(|| panic!("{name}: {output}"))["lines"][&source].as_array();
        lines.into_iter().flatten().map(|line| line.as_u64().unwrap()).collect()
    };
    // Lines of function headers differ between tools that remove the types.
    let body = |name: &str| -> Vec<u64> {
        ran(name).into_iter().filter(|line| ![3, 11].contains(line)).collect()
    };
    assert_eq!(body("sums"), [4, 5, 6, 8], "{output}");
    assert_eq!(body("is empty"), [4, 5, 8], "{output}");
    assert_eq!(body("labels"), [12, 14, 15], "{output}");
    let whole = records.last().unwrap();
    let known: Vec<u64> = whole["known"][&source]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line.as_u64().unwrap())
        .collect();
    assert!([4, 5, 6, 8, 12, 13, 14, 15, 17].iter().all(|line| known.contains(line)), "{output}");
    assert!(!known.contains(&2) && !known.contains(&16), "{output}");
}

#[cfg(feature = "slow-tests")]
#[test]
#[ignore = "needs the npm registry"]
fn candidates_are_judged_by_vitest_and_jest_as_by_a_fresh_start() {
    judge(&Project::new("vitest", &[("vitest", "^4")], true));
    judge(&Project::new("jest", &[("jest", "^30")], false));
}

#[test]
#[cfg(feature = "slow-tests")]
#[ignore = "needs the npm registry; candidates_are_judged_by_vitest_and_jest_as_by_a_fresh_start has the newest"]
fn candidates_are_judged_by_older_runners_as_by_a_fresh_start() {
    for version in ["^2", "^3"] {
        judge(&Project::new("vitest", &[("vitest", version)], true));
    }
    judge(&Project::new("jest", JEST_29, true));
}

/// Lines and branches are measured, all mutants on lines that tests reach are tried, and a fault is repaired.
fn whole(project: &Project, output: &str) {
    let planned = project.repo.regreen(&["plan", "src/cart.ts", "--json"]).document();
    let summary = planned["phases"][1]["summary"].as_str().unwrap();
    assert!(summary.contains(output), "{summary}");
    let ran = project.repo.regreen(&["score", "src/cart.ts", "--json"]);
    let score = ran.document();
    assert_eq!(score["reach"], "known", "{} {}", ran.out, ran.err);
    assert!(score["covered"].as_u64() < score["mutants"].as_u64(), "{score}");
    assert_eq!(score["tried"], score["covered"], "all of them, as in other warm trials: {score}");
    let broken = TYPESCRIPT.replace("+= item", "-= item");
    project.repo.write(&[("src/cart.ts", &broken)]);
    project.repo.git(&["commit", "-q", "-a", "-m", "break it"]);
    let ran = project.repo.regreen(&["fix", "--json"]);
    let document = ran.document();
    assert_eq!(document["result"], "success", "{}", ran.err);
    assert!(document["patch"].as_str().unwrap().contains("+    sum += item"), "{document}");
}

#[cfg(feature = "slow-tests")]
#[test]
#[ignore = "needs the npm registry"]
fn typescript_under_vitest_is_measured_scored_and_repaired() {
    whole(&Project::new("vitest", &[("vitest", "^3")], true), "lines 81.8 %, branches 50.0 %");
    let provider = [("vitest", "^4"), ("@vitest/coverage-v8", "^4")];
    whole(&Project::new("vitest", &provider, true), "lines 80.0 %, branches 50.0 %");
}

#[cfg(feature = "slow-tests")]
#[test]
#[ignore = "needs the npm registry"]
fn typescript_under_jest_is_measured_scored_and_repaired() {
    // The map of the source knows nothing of an `else` that is not there.
    whole(&Project::new("jest", JEST_29, true), "lines 81.8 %, branches 66.7 %");
}
