//! Tests of providers that do in disguise what no test may do, so that no text shows it: they are
//! run inside of walls, and what they did not get away with is cut out with its reason.

use std::net::TcpListener;
use std::path::PathBuf;

use serde_json::Value;

use super::fake_model::{Reply, advice, survey, test_file};
use super::support::TestRepo;
use super::test_writing::{configured, nothing, run, server, texts};

/// One language: a right test file, and one with tests that are not.
struct Tongue {
    files: &'static [(&'static str, &'static str)],
    subject: &'static str,
    function: &'static str,
    place: &'static str,
    /// Tests with `BODY` in the middle.
    tests: &'static str,
    /// One that takes `FILE` away and one that reaches for `PORT`, both in disguise.
    sly: &'static str,
    /// One that waits for a day, in disguise.
    slow: &'static str,
    /// Two that pass only together.
    together: &'static str,
    /// Names of the sly ones, and of that which passes only behind another.
    names: [&'static str; 3],
    /// Limit of a run: enough for one that ends.
    limit: &'static str,
    /// Whether the runner stops a test by itself; otherwise the whole run is ended.
    stops_tests: bool,
}

impl Tongue {
    fn with(&self, body: &str) -> String {
        self.tests.replace("BODY", body)
    }

    fn repo(&self, answers: &[String], settings: &str) -> TestRepo {
        let mut script = vec![
            survey(self.subject, &[("L1.1", self.function, 2, "it is twice as much")]),
            advice(self.subject, "L1.3", "zero"),
        ];
        script.extend(answers.iter().map(|text| test_file(self.place, text, &[])));
        script.push(Reply::By(|_| nothing()));
        let model = server(script);
        let repo = configured(self.files, &model, "one");
        let path = repo.root().join(".github/regreen.yml");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{text}{settings}")).unwrap();
        // The server lives as long as the test.
        std::mem::forget(model);
        repo
    }

    fn run(&self, repo: &TestRepo) -> (Value, String, String) {
        let ran = run(repo, &["test", self.subject, "--test-timeout", self.limit]);
        let document = ran.document();
        let given_up = texts(&document["produced"]["given-up"]).join("\n");
        assert_eq!(document["produced"]["authors"][self.place], "one", "{document:#}\n{}", ran.err);
        let branch = format!("regreen/{}", document["session"].as_str().unwrap());
        let kept = repo.git(&["show", &format!("{branch}:{}", self.place)]);
        (document, given_up, kept)
    }
}

/// What is not to be taken away, and whether the walls of this machine hold it.
fn precious(repo: &TestRepo) -> (PathBuf, bool, bool) {
    let file = repo.around().canonicalize().unwrap().join("precious.txt");
    std::fs::write(&file, "mine").unwrap();
    let doctor = repo.regreen(&["doctor", "--json"]).document();
    let holds = doctor["test-code"]["holds"].to_string();
    (file, holds.contains("writes end"), holds.contains("no outgoing TCP ("))
}

fn what_is_hidden_is_contained(tongue: &Tongue) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    // The place of the file is known before there is a repository.
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().canonicalize().unwrap().join("precious.txt");
    std::fs::write(&place, "mine").unwrap();
    let sly = tongue.sly.replace("FILE", place.to_str().unwrap()).replace("PORT", &port);
    let settings = "sandbox: { network: false }\n";
    let answers = if tongue.stops_tests {
        vec![tongue.with(&format!("{}{sly}", tongue.slow))]
    } else {
        vec![tongue.with(tongue.slow), tongue.with(&sly)]
    };
    let repo = tongue.repo(&answers, settings);
    let (own, writes_end, network_ends) = precious(&repo);
    let (_, given_up, kept) = tongue.run(&repo);
    let slow = if tongue.stops_tests {
        "test_slow: does-not-end: "
    } else {
        "refused, by one: does-not-end: "
    };
    assert!(given_up.contains(slow), "{given_up}");
    for (name, held) in tongue.names.iter().zip([writes_end, network_ends]) {
        assert_eq!(given_up.contains(name), held, "{name}: {given_up}");
        assert_eq!(!kept.contains(name), held, "{name}: {kept}");
    }
    assert_eq!(place.exists(), writes_end, "what lies outside stays");
    assert_eq!(listener.accept().is_err(), network_ends, "nobody called");
    assert!(own.exists());
    assert!(kept.contains("wice"), "the tests that are right stay: {kept}");
}

fn what_passes_only_together_is_cut(tongue: &Tongue) {
    let repo = tongue.repo(&[tongue.with(tongue.together)], "");
    let (_, given_up, kept) = tongue.run(&repo);
    let name = tongue.names[2];
    let said = given_up.lines().find(|line| line.contains(name)).unwrap_or_default();
    assert!(
        ["it does not hold when", "runs of the same sources"].iter().any(|why| said.contains(why)),
        "{given_up}"
    );
    assert!(!kept.contains(name) && kept.contains("wice"), "{kept}");
}

const PYTHON: Tongue = Tongue {
    files: &[
        ("shop/__init__.py", ""),
        ("shop/price.py", "def twice(price: int) -> int:\n    return price * 2\n"),
        ("tests/__init__.py", ""),
        (
            "tests/test_nothing.py",
            "import unittest\n\n\nclass NothingTest(unittest.TestCase):\n    def test_nothing(self):\n        self.assertEqual(1 + 1, 2)\n",
        ),
        (".gitignore", "__pycache__/\n"),
    ],
    subject: "shop/price.py",
    function: "twice",
    place: "tests/test_price.py",
    tests: "import os\nimport socket\nimport time\nimport unittest\n\nfrom shop.price import twice\n\nSEEN = [len(os.sep), len(time.tzname[0]) * 0, int(socket.AF_INET) * 0]\n\n\nclass PriceTest(unittest.TestCase):\n    def test_twice(self):\n        self.assertEqual(twice(2), 4)\n        self.assertEqual(twice(0), 0)\nBODY",
    sly: "\n    def test_sly_removal(self):\n        getattr(os, 're' + 'move')('FILE')\n        self.assertEqual(twice(3), 6)\n\n    def test_sly_call(self):\n        getattr(socket, 'create_' + 'connection')(('127.0.0.1', PORT), 5).close()\n        self.assertEqual(twice(3), 6)\n",
    slow: "\n    def test_slow(self):\n        getattr(time, 'sl' + 'eep')(86400)\n        self.assertEqual(twice(3), 6)\n",
    together: "\n    def test_a_first(self):\n        SEEN.append(twice(3))\n        self.assertEqual(len(SEEN), 4)\n\n    def test_b_second(self):\n        self.assertEqual(SEEN[3:], [6])\n",
    names: ["test_sly_removal", "test_sly_call", "test_b_second"],
    limit: "20s",
    stops_tests: true,
};

#[test]
fn what_a_test_of_python_hides_is_contained() {
    what_is_hidden_is_contained(&PYTHON);
}

#[test]
fn tests_of_python_that_pass_only_together_are_cut() {
    what_passes_only_together_is_cut(&PYTHON);
}

const SCRIPT: Tongue = Tongue {
    files: &[
        (
            "package.json",
            "{\"name\": \"x\", \"version\": \"1.0.0\", \"scripts\": {\"test\": \"node --test\"}}",
        ),
        (
            "lib/price.js",
            "function twice(price) {\n  return price * 2;\n}\n\nmodule.exports = { twice };\n",
        ),
        (
            "test/nothing.test.js",
            "const test = require('node:test');\nconst assert = require('node:assert');\ntest('nothing', () => assert.equal(1 + 1, 2));\n",
        ),
    ],
    subject: "lib/price.js",
    function: "twice",
    place: "test/price.test.js",
    tests: "const test = require('node:test');\nconst assert = require('node:assert');\nconst fs = require('node:fs');\nconst net = require('node:net');\nconst { twice } = require('../lib/price.js');\n\nconst seen = [fs.constants.F_OK, net.isIP('x')];\n\ntest('twice as much', () => {\n  assert.equal(twice(2), 4);\n  assert.equal(twice(0), 0);\n});\nBODY",
    sly: "\ntest('sly removal', () => {\n  fs['un' + 'linkSync']('FILE');\n  assert.equal(twice(3), 6);\n});\n\ntest('sly call', async () => {\n  const call = net['create' + 'Connection'];\n  await new Promise((done, failed) => {\n    const socket = call(PORT, '127.0.0.1', () => done(socket.destroy()));\n    socket.on('error', failed);\n  });\n  assert.equal(twice(3), 6);\n});\n",
    slow: "\ntest('slow', async () => {\n  const wait = globalThis['set' + 'Timeout'];\n  await new Promise((done) => wait(done, 86400000));\n  assert.equal(twice(3), 6);\n});\n",
    together: "\ntest('a first', () => {\n  seen.push(twice(3));\n  assert.equal(seen.length, 3);\n});\n\ntest('b second', () => {\n  assert.deepEqual(seen.slice(2), [6]);\n});\n",
    names: ["sly removal", "sly call", "b second"],
    limit: "20s",
    stops_tests: false,
};

#[test]
#[ignore = "needs node; what_a_test_of_python_hides_is_contained always runs"]
fn what_a_test_of_javascript_hides_is_contained() {
    what_is_hidden_is_contained(&SCRIPT);
}

#[test]
#[ignore = "needs node; tests_of_python_that_pass_only_together_are_cut always runs"]
fn tests_of_javascript_that_pass_only_together_are_cut() {
    what_passes_only_together_is_cut(&SCRIPT);
}

const GO: Tongue = Tongue {
    files: &[
        ("go.mod", "module example.com/shop\n\ngo 1.19\n"),
        (
            "price/price.go",
            "package price\n\n// Twice is twice as much.\nfunc Twice(price int) int {\n\treturn price * 2\n}\n",
        ),
    ],
    subject: "price/price.go",
    function: "Twice",
    place: "price/price_test.go",
    tests: "package price\n\nimport (\n\t\"net\"\n\t\"os\"\n\t\"testing\"\n\t\"time\"\n)\n\nvar remove, call, wait = os.Remove, net.DialTimeout, time.Sleep\n\nvar seen = []int{len(os.Args) * 0}\n\nfunc TestTwice(t *testing.T) {\n\tif Twice(2) != 4 || Twice(0) != 0 {\n\t\tt.Error(\"not twice as much\")\n\t}\n}\nBODY",
    sly: "\nfunc TestSlyRemoval(t *testing.T) {\n\tif err := remove(\"FILE\"); err != nil || Twice(3) != 6 {\n\t\tt.Error(err)\n\t}\n}\n\nfunc TestSlyCall(t *testing.T) {\n\tif _, err := call(\"tcp\", \"127.0.0.1:PORT\", time.Second); err != nil || Twice(3) != 6 {\n\t\tt.Error(err)\n\t}\n}\n",
    slow: "\nfunc TestSlow(t *testing.T) {\n\twait(24 * time.Hour)\n\tif Twice(3) != 6 {\n\t\tt.Error(\"not twice\")\n\t}\n}\n",
    together: "\nfunc TestAFirst(t *testing.T) {\n\tseen = append(seen, Twice(3))\n\tif len(seen) != 2 {\n\t\tt.Error(seen)\n\t}\n}\n\nfunc TestBSecond(t *testing.T) {\n\tif len(seen) != 2 || seen[1] != 6 {\n\t\tt.Error(seen)\n\t}\n}\n",
    names: ["TestSlyRemoval", "TestSlyCall", "TestBSecond"],
    // The first run compiles the standard library.
    limit: "90s",
    stops_tests: false,
};

#[test]
#[ignore = "needs go; what_a_test_of_python_hides_is_contained always runs"]
fn what_a_test_of_go_hides_is_contained() {
    what_is_hidden_is_contained(&GO);
}

/// The same with nothing that takes long to compile.
const GO_TOGETHER: Tongue = Tongue {
    tests: "package price\n\nimport \"testing\"\n\nvar seen = []int{0}\n\nfunc TestTwice(t *testing.T) {\n\tif Twice(2) != 4 || Twice(0) != 0 {\n\t\tt.Error(\"not twice as much\")\n\t}\n}\nBODY",
    ..GO
};

#[test]
#[ignore = "needs go; tests_of_python_that_pass_only_together_are_cut always runs"]
fn tests_of_go_that_pass_only_together_are_cut() {
    what_passes_only_together_is_cut(&GO_TOGETHER);
}
