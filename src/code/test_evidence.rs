//! Whether a file is a test, and by what evidence: its name is only one kind of it.
//!
//! What product code imports is product, unless it holds test cases: an assertion in it states an
//! invariant. What nothing but tests imports may still be product, so that alone is no evidence.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use tree_sitter::Node;

use crate::domain::id::RepoPath;

use super::doc_examples;
use super::imports::Graph;
use super::language::Language;
use super::pattern::Pattern;
use super::test_cases::find_tests;
use super::test_paths;
use super::tree::{FUNCTIONS, around, field_of, named_nodes, statements, text_of};

/// Why a file counts as a test; the text completes a sentence that begins with the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestReason {
    Path,
    Run,
    Cases,
    Raised,
    Asserts,
    Values,
    Beside,
    Called,
}

impl fmt::Display for TestReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Path => "belongs to the tests",
            Self::Run => "is run by the test command",
            Self::Cases => "holds test cases",
            Self::Raised => "made the assertion of a failing test",
            Self::Asserts => "asserts, and nothing but tests imports it",
            Self::Values => "holds only values, and nothing but tests imports it",
            Self::Beside => {
                "lies beside what the test command runs, and nothing but tests imports it"
            }
            Self::Called => {
                "checks for what the test command runs, and nothing but tests imports it"
            }
        })
    }
}

/// Everything that the answer may depend on.
#[derive(Clone, Copy)]
pub struct Evidence<'a> {
    /// The texts of the sources.
    pub files: &'a BTreeMap<RepoPath, String>,
    pub imports: &'a Graph,
    /// Whether the test command runs a file by itself.
    pub is_run: &'a dyn Fn(&RepoPath) -> bool,
    /// Files of the frames of failed assertions, innermost first and that of the test last.
    pub stacks: &'a BTreeSet<Vec<RepoPath>>,
}

impl Evidence<'_> {
    /// Why a file is a test; `None` for the product. The first reason that holds is given.
    #[must_use]
    pub fn reason(&self, file: &RepoPath) -> Option<TestReason> {
        self.reason_among(file, &mut BTreeMap::new())
    }

    /// The same; `known` are answers, and the assumption that files are tests about which is asked.
    fn reason_among(
        &self,
        file: &RepoPath,
        known: &mut BTreeMap<RepoPath, bool>,
    ) -> Option<TestReason> {
        known.insert(file.clone(), true);
        let reason = self.own_reason(file).or_else(|| self.reason_by_imports(file, known));
        known.insert(file.clone(), reason.is_some());
        reason
    }

    /// What neither its importers nor the files that it imports decide.
    fn own_reason(&self, file: &RepoPath) -> Option<TestReason> {
        if test_paths::is_test(file) {
            return Some(TestReason::Path);
        }
        if (self.is_run)(file) {
            return Some(TestReason::Run);
        }
        let shape = Shape::of(file, self.files.get(file)?);
        shape.has_cases.then_some(TestReason::Cases)
    }

    fn reason_by_imports(
        &self,
        file: &RepoPath,
        known: &mut BTreeMap<RepoPath, bool>,
    ) -> Option<TestReason> {
        let text = self.files.get(file)?;
        // Sources of a crate hold their own tests, and a panic names no other file.
        let language = Language::of(file).filter(|one| *one != Language::Rust)?;
        let importers: Vec<&RepoPath> = self.imports.importers_of(file).collect();
        if !importers.iter().all(|importer| self.is_test(importer, known)) {
            return None;
        }
        if self.has_raised(file) && !doc_examples::has_any(language, text) {
            return Some(TestReason::Raised);
        }
        if importers.is_empty() {
            return None;
        }
        let shape = Shape::of(file, text);
        if shape.asserts {
            Some(TestReason::Asserts)
        } else if shape.has_only_values {
            Some(TestReason::Values)
        } else if self.is_beside(file) {
            Some(TestReason::Beside)
        } else {
            let is_called = importers.iter().any(|one| self.is_entry(one));
            let is_check = ENDS_RUN.is_match(text) || CHECKS.is_match(file.as_str());
            (is_called && is_check).then_some(TestReason::Called)
        }
    }

    /// Whether a failed assertion began in a file, as the outermost frame shows where no frame is known to
    /// be a test. What is further in may be an invariant of the product.
    fn has_raised(&self, file: &RepoPath) -> bool {
        let mut began = self.stacks.iter().filter(|stack| stack.last() == Some(file));
        began.any(|stack| !stack.iter().any(|one| self.own_reason(one).is_some()))
    }

    fn is_entry(&self, file: &RepoPath) -> bool {
        (self.is_run)(file) || self.has_raised(file)
    }

    fn is_test(&self, file: &RepoPath, known: &mut BTreeMap<RepoPath, bool>) -> bool {
        let answer = known.get(file).copied();
        answer.unwrap_or_else(|| self.reason_among(file, known).is_some())
    }

    /// Whether a file lies at or below the folder of a run file, while the product lies elsewhere.
    fn is_beside(&self, file: &RepoPath) -> bool {
        let is_below = |path: &RepoPath, folder: &str| {
            let rest = path.as_str().strip_prefix(folder);
            rest.is_some_and(|rest| rest.starts_with('/'))
        };
        let above = self.imports.affected_by(&[file.clone()].into());
        let mut run = above.keys().filter(|one| self.is_entry(one) && !one.parent().is_empty());
        run.any(|run| {
            let needed = self.imports.needed_by(&[run.clone()].into());
            let is_elsewhere =
                |one: &RepoPath| !is_below(one, run.parent()) && one.file_name() != "__init__.py";
            is_below(file, run.parent()) && needed.iter().any(is_elsewhere)
        })
    }
}

/// What the syntax of a file says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Shape {
    has_cases: bool,
    /// A function that returns nothing ends with an assertion, or one stands outside of functions.
    asserts: bool,
    /// There are literals, and nothing that runs or is imported.
    has_only_values: bool,
}

/// How a check ends the run, which a module of a product leaves to its entry.
static ENDS_RUN: Pattern =
    Pattern::new(r"\bSystemExit\b|\bsys\.exit\b|\bprocess\.exit|\bos\.Exit\b|\bSystem\.exit\b");

/// Names of checks, which count only where the test command is known to call them.
static CHECKS: Pattern =
    Pattern::new(r"(?i)(?:^|[/_.-])(?:checks?|verify|verification|smoke)[/_.-]");

/// Nodes of what runs, or brings something in.
const BUSY: &[&str] = &[
    "call",
    "call_expression",
    "new_expression",
    "class_definition",
    "class_declaration",
    "import_statement",
    "import_from_statement",
    "method_invocation",
];

impl Shape {
    fn of(file: &RepoPath, text: &str) -> Self {
        let Some(language) = Language::of(file).filter(|one| *one != Language::Rust) else {
            return Self::default();
        };
        let Some(tree) = language.parse(text) else { return Self::default() };
        let nodes = named_nodes(tree.root_node());
        let assertions: Vec<Node<'_>> =
            nodes.iter().copied().filter(|node| is_assertion(*node, text)).collect();
        let is_case = |range: &std::ops::Range<usize>| {
            // Products have functions whose names begin with `test` too.
            let mut inside = assertions.iter().map(Node::start_byte);
            language != Language::Python || inside.any(|at| range.contains(&at))
        };
        let tests = find_tests(language, &nodes, text);
        let is_busy =
            |node: &Node<'_>| BUSY.contains(&node.kind()) || FUNCTIONS.contains(&node.kind());
        let is_literal = |node: &Node<'_>| {
            matches!(node.kind(), "integer" | "float" | "number") || node.kind().contains("string")
        };
        Self {
            has_cases: tests.iter().any(|test| test.body.is_some() && is_case(&test.range)),
            asserts: assertions.iter().any(|one| concludes(*one, text)),
            has_only_values: !nodes.iter().any(is_busy) && nodes.iter().any(is_literal),
        }
    }
}

/// Whether a node asserts; unlike where assertions are counted, names that products have do not count.
fn is_assertion(node: Node<'_>, text: &str) -> bool {
    let callee = match node.kind() {
        "assert_statement" => return true,
        "call" | "call_expression" => field_of(node, "function", text),
        "method_invocation" => field_of(node, "name", text),
        _ => return false,
    };
    let last = callee.rsplit('.').next().unwrap_or(callee);
    let is_matched = || node.parent().is_some_and(|up| up.kind() == "member_expression");
    last.to_ascii_lowercase().starts_with("assert")
        || callee.starts_with("assert.")
        || ["t.Error", "t.Fatal"].iter().any(|start| callee.starts_with(start))
        || callee == "expect" && is_matched()
}

/// Whether an assertion is what its function is for, and no condition of what the function returns.
fn concludes(assertion: Node<'_>, text: &str) -> bool {
    let Some(function) = around(assertion, FUNCTIONS) else {
        return text_of(assertion, text).contains('(');
    };
    let Some(body) = function.child_by_field_name("body") else { return false };
    if !body.kind().ends_with("block") {
        return true;
    }
    let returns = |node: &Node<'_>| {
        node.kind() == "return_statement"
            && node.named_child_count() > 0
            && around(*node, FUNCTIONS).is_some_and(|one| one.id() == function.id())
    };
    let last = statements(body).pop();
    last.is_some_and(|last| last.byte_range().contains(&assertion.start_byte()))
        && !named_nodes(body).iter().any(returns)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Files = &'static [(&'static str, &'static str)];

    fn path(text: &str) -> RepoPath {
        RepoPath::parse(text).unwrap()
    }

    fn reason(files: Files, run: &[&str], stacks: &[&[&str]], file: &str) -> Option<TestReason> {
        let files: BTreeMap<RepoPath, String> =
            files.iter().map(|(file, text)| (path(file), (*text).to_owned())).collect();
        let stacks = stacks.iter().map(|stack| stack.iter().map(|file| path(file)).collect());
        let evidence = Evidence {
            files: &files,
            imports: &Graph::build(&files),
            is_run: &|file| run.contains(&file.as_str()),
            stacks: &stacks.collect(),
        };
        evidence.reason(&path(file))
    }

    /// A runner, its checks, its report writer, and the product.
    const CHECKS: Files = &[
        (
            "checks/runner.py",
            "import checks\nimport style\n\nstyle.write([c() for c in checks.ALL])\n",
        ),
        (
            "checks/checks.py",
            "from shop import price\n\ndef same(actual, expected):\n    assert actual == expected\n\nALL = [lambda: same(price.total([1]), 1)]\n",
        ),
        ("checks/style.py", "def write(results):\n    return 1 if any(results) else 0\n"),
        ("shop/__init__.py", ""),
        ("shop/price.py", "from shop import tax\n\ndef total(prices):\n    return sum(prices)\n"),
        ("shop/tax.py", "def rate(amount):\n    assert amount >= 0\n    return amount / 5\n"),
    ];

    /// Invariants in the product, helpers and expectations of tests.
    const PYTHON: Files = &[
        (
            "tests/test_price.py",
            "from shop.price import total\n\ndef test_a():\n    assert total(1) == 1\n",
        ),
        ("shop/price.py", "def total(price):\n    assert price >= 0\n    return price\n"),
        ("test_shop.py", "from selfcheck import check\nimport expected\nimport stock\nimport db\n"),
        (
            "selfcheck.py",
            "from stock import left\n\ndef check(n, m):\n    for one in n:\n        assert left(one) == m\n",
        ),
        ("expected.py", "THREE = {'a': 6}\n"),
        (
            "stock.py",
            "import limits\n\ndef left(n):\n    if n < 0:\n        return None\n    assert n < 9\n    return n\n",
        ),
        ("limits.py", "LIMIT = 3\n"),
        ("db.py", "class Db:\n    def test_connection(self):\n        return self.ping()\n"),
        ("verify/price_spec_file.py", "def verify_total():\n    assert total(1) == 1\n"),
        (
            "shop/cases.py",
            "import shop.price\n\ndef test_b():\n    assert shop.price.total(2) == 2\n",
        ),
        ("shop/documented.py", "def f():\n    '''\n    >>> f()\n    1\n    '''\n    return 2\n"),
    ];

    const SCRIPTS: Files = &[
        (
            "scripts/verify.js",
            "const { same } = require('./lib/same');\nconst { total } = require('../src');\nsame(total([1]), 1);\n",
        ),
        (
            "scripts/lib/same.js",
            "exports.same = (a, b) => { if (a !== b) process.exitCode = 1; };\n",
        ),
        (
            "src/index.js",
            "const assert = require('node:assert');\nconst { sum } = require('./lib/sum');\nexports.total = (list) => { assert(Array.isArray(list)); return sum(list); };\n",
        ),
        ("src/lib/sum.js", "exports.sum = (list) => list.length;\n"),
        (
            "qa/price.check.ts",
            "import { total } from '../src';\nit('sums', () => { expect(total([1])).toBe(1); });\n",
        ),
        (
            "qa/equal.ts",
            "import assert from 'assert';\nexport const equal = (a, b) => assert.deepEqual(a, b);\n",
        ),
        (
            "a.test.ts",
            "import { equal } from './qa/equal';\nimport { parse } from './src/parser';\nimport { test } from './src/matcher';\n",
        ),
        ("src/parser.ts", "export function parse(p) { p.next(); p.expect(')'); }\n"),
        ("src/matcher.ts", "export const test = (text) => /a/.test(text);\n"),
        (
            "bin/check.js",
            "const core = require('../core');\nconst check = require('../checks/core');\ncheck.run(core);\n",
        ),
        ("checks/core.js", "exports.run = (core) => core.f(1) === 2;\n"),
        ("core.js", "const { sum } = require('./src/lib/sum');\nexports.f = (n) => sum([n]);\n"),
    ];

    const OTHERS: Files = &[
        ("go.mod", "module example.org/shop\n"),
        (
            "cmd/check/main.go",
            "package main\n\nimport (\n\t\"example.org/shop/internal/checks\"\n)\n\nfunc main() { checks.Run() }\n",
        ),
        (
            "internal/checks/checks.go",
            "package checks\n\nimport \"example.org/shop/price\"\n\nfunc Run() { if price.Total(1) != 1 { panic(1) } }\n",
        ),
        ("price/price.go", "package price\n\nfunc Total(n int) int { return n }\n"),
        (
            "price/price_test.go",
            "package price\n\nimport (\n\t\"testing\"\n\t\"example.org/shop/kit\"\n)\n\nfunc TestA(t *testing.T) { kit.Same(t, Total(1), 1) }\n",
        ),
        (
            "kit/kit.go",
            "package kit\n\nimport \"testing\"\n\nfunc Same(t *testing.T, a, b int) {\n\tif a != b {\n\t\tt.Errorf(\"%d\", a)\n\t}\n}\n",
        ),
        (
            "src/lib.rs",
            "mod price;\n#[cfg(test)]\nmod tests { #[test] fn a() { assert_eq!(super::f(), 1); } }\n",
        ),
        ("src/price.rs", "pub fn price(n: u32) -> u32 { assert!(n > 0); n }\n"),
        ("src/tests.rs", "#[test]\nfn a() {}\n"),
        (
            "src/main/java/shop/Price.java",
            "package shop;\nclass Price { int f(int n) { assert n > 0; return n; } }\n",
        ),
        (
            "src/checks/java/shop/Smoke.java",
            "package shop;\nclass Smoke { @Test void a() { assertEquals(1, new Price().f(1)); } }\n",
        ),
        ("src/test/java/shop/PriceTest.java", "package shop;\nclass PriceTest { }\n"),
    ];

    type Row<'a> = (&'a str, Files, &'a [&'a str], &'a [&'a [&'a str]], Option<TestReason>);

    #[test]
    fn evidence_decides_what_a_test_is() {
        use TestReason::{Asserts, Beside, Called, Cases, Path, Raised, Run, Values};
        let checks = &["checks/runner.py"][..];
        let verify = &["scripts/verify.js", "bin/check.js"][..];
        let go = &["cmd/check/main.go"][..];
        let failed: &[&[&str]] = &[&["checks/checks.py", "checks/runner.py"]];
        let invariant: &[&[&str]] = &[&["shop/price.py", "tests/test_price.py"]];
        let verified: &[&[&str]] = &[&["verify/price_spec_file.py"]];
        let documented: &[&[&str]] = &[&["shop/documented.py"]];
        let verified_invariant: &[&[&str]] = &[&["shop/tax.py", "verify/price_spec_file.py"]];
        let spawned: &[&[&str]] = &[&["shop/tax.py"]];
        let panicked: &[&[&str]] = &[&["src/lib.rs"]];
        let table: &[Row<'_>] = &[
            ("checks/runner.py", CHECKS, checks, failed, Some(Run)),
            ("checks/checks.py", CHECKS, checks, failed, Some(Asserts)),
            ("checks/runner.py", CHECKS, &[], failed, Some(Raised)),
            ("checks/checks.py", CHECKS, &[], failed, Some(Asserts)),
            ("checks/style.py", CHECKS, &[], failed, Some(Beside)),
            ("shop/price.py", CHECKS, &[], failed, None),
            ("checks/checks.py", CHECKS, &[], &[&["checks/checks.py"]], None),
            ("checks/style.py", CHECKS, checks, failed, Some(Beside)),
            ("shop/price.py", CHECKS, checks, failed, None),
            ("shop/tax.py", CHECKS, checks, spawned, None),
            ("shop/__init__.py", CHECKS, checks, failed, None),
            ("tests/test_price.py", PYTHON, &[], invariant, Some(Path)),
            ("shop/price.py", PYTHON, &[], invariant, None),
            ("selfcheck.py", PYTHON, &[], &[], Some(Asserts)),
            ("expected.py", PYTHON, &[], &[], Some(Values)),
            ("stock.py", PYTHON, &[], &[], None),
            ("limits.py", PYTHON, &[], &[], None),
            ("db.py", PYTHON, &[], &[], None),
            ("verify/price_spec_file.py", PYTHON, &[], verified, Some(Raised)),
            ("verify/price_spec_file.py", PYTHON, &[], verified_invariant, Some(Raised)),
            ("verify/price_spec_file.py", PYTHON, &[], &[], None),
            ("shop/cases.py", PYTHON, &[], &[], Some(Cases)),
            ("shop/documented.py", PYTHON, &[], documented, None),
            ("new.py", PYTHON, &[], &[], None),
            ("scripts/verify.js", SCRIPTS, verify, &[], Some(Run)),
            ("scripts/lib/same.js", SCRIPTS, verify, &[], Some(Beside)),
            ("src/index.js", SCRIPTS, verify, &[], None),
            ("src/lib/sum.js", SCRIPTS, verify, &[], None),
            ("qa/price.check.ts", SCRIPTS, &[], &[], Some(Cases)),
            ("qa/equal.ts", SCRIPTS, &[], &[], Some(Asserts)),
            ("src/parser.ts", SCRIPTS, &[], &[], None),
            ("src/matcher.ts", SCRIPTS, &[], &[], None),
            ("checks/core.js", SCRIPTS, verify, &[], Some(Called)),
            ("core.js", SCRIPTS, verify, &[], None),
            ("cmd/check/main.go", OTHERS, go, &[], Some(Run)),
            ("internal/checks/checks.go", OTHERS, go, &[], Some(Called)),
            ("price/price.go", OTHERS, go, &[], None),
            ("kit/kit.go", OTHERS, &[], &[], Some(Asserts)),
            ("src/lib.rs", OTHERS, &[], panicked, None),
            ("src/price.rs", OTHERS, &[], &[&["src/price.rs"]], None),
            ("src/tests.rs", OTHERS, &[], &[], Some(Path)),
            ("src/main/java/shop/Price.java", OTHERS, &[], &[], None),
            ("src/checks/java/shop/Smoke.java", OTHERS, &[], &[], Some(Cases)),
        ];
        for (file, files, run, stacks, expected) in table {
            assert_eq!(reason(files, run, stacks, file), *expected, "{file} {run:?} {stacks:?}");
        }
    }
}
