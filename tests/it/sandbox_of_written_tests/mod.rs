//! Providers' tests that disguise forbidden actions, so that no check of their text finds them:
//! they run in a sandbox, and the tests that fail there are cut out with the reason.

#[cfg(feature = "slow-tests")]
mod go;

use std::net::TcpListener;
use std::path::PathBuf;

use serde_json::Value;

use super::support::TestRepo;
use super::support::fake_model::{Reply, survey, test_file};
use super::test_writing::{configured, nothing, run, server, texts};

/// One language: a correct test file, and variants with tests that must not be kept.
struct LanguageStory {
    files: &'static [(&'static str, &'static str)],
    subject: &'static str,
    function: &'static str,
    place: &'static str,
    /// A test file with `BODY` as a placeholder.
    tests: &'static str,
    /// A test that deletes `FILE` and one that connects to `PORT`, both in disguise.
    sly: &'static str,
    /// A test that waits for a day, in disguise.
    slow: &'static str,
    /// Two tests that pass only together.
    together: &'static str,
    /// Names of the disguised tests, and of the one that passes only after another.
    names: [&'static str; 3],
    /// Time limit of a run, which is enough for tests that end.
    limit: &'static str,
    /// Whether the runner stops a test by itself; otherwise the whole run is ended.
    stops_tests: bool,
}

impl LanguageStory {
    fn with(&self, body: &str) -> String {
        self.tests.replace("BODY", body)
    }

    fn repo(&self, answers: &[String], settings: &str) -> TestRepo {
        let mut script =
            vec![survey(self.subject, &[("L1.1", self.function, 2, "it is twice as much")])];
        script.extend(answers.iter().map(|text| test_file(self.place, text, &[])));
        script.push(Reply::By(|_| nothing()));
        let model = server(script);
        let repo = configured(self.files, &model, "one");
        let path = repo.root().join(".github/regreen.yml");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{text}{settings}")).unwrap();
        // The server must live as long as the test.
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

/// A file that no test may delete, and whether the sandbox protects files and TCP on this machine.
fn precious(repo: &TestRepo) -> (PathBuf, bool, bool) {
    let file = repo.around().canonicalize().unwrap().join("precious.txt");
    std::fs::write(&file, "mine").unwrap();
    let doctor = repo.regreen(&["doctor", "--json"]).document();
    let holds = doctor["test-code"]["holds"].to_string();
    (file, holds.contains("writes end"), holds.contains("no outgoing TCP ("))
}

fn what_is_hidden_is_contained(story: &LanguageStory) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    // The path of the file must be known before the repository is created.
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().canonicalize().unwrap().join("precious.txt");
    std::fs::write(&place, "mine").unwrap();
    let sly = story.sly.replace("FILE", place.to_str().unwrap()).replace("PORT", &port);
    let settings = "sandbox: { network: false }\n";
    let answers = if story.stops_tests {
        vec![story.with(&format!("{}{sly}", story.slow))]
    } else {
        vec![story.with(story.slow), story.with(&sly)]
    };
    let repo = story.repo(&answers, settings);
    let (own, writes_end, network_ends) = precious(&repo);
    let (_, given_up, kept) = story.run(&repo);
    let slow = if story.stops_tests {
        "testslow: does-not-end: "
    } else {
        "refused, by one: does-not-end: "
    };
    let said = given_up.to_lowercase().replace('_', "");
    assert!(said.contains(slow), "{given_up}");
    for (name, held) in story.names.iter().zip([writes_end, network_ends]) {
        assert_eq!(given_up.contains(name), held, "{name}: {given_up}");
        assert_eq!(!kept.contains(name), held, "{name}: {kept}");
    }
    assert_eq!(place.exists(), writes_end, "what lies outside stays");
    assert_eq!(listener.accept().is_err(), network_ends, "nobody called");
    assert!(own.exists());
    assert!(kept.contains("wice"), "the tests that are right stay: {kept}");
}

fn what_passes_only_together_is_cut(story: &LanguageStory) {
    let repo = story.repo(&[story.with(story.together)], "");
    let (_, given_up, kept) = story.run(&repo);
    let name = story.names[2];
    let said = given_up.lines().find(|line| line.contains(name)).unwrap_or_default();
    assert!(
        ["it does not hold when", "runs of the same sources"].iter().any(|why| said.contains(why)),
        "{given_up}"
    );
    assert!(!kept.contains(name) && kept.contains("wice"), "{kept}");
}

const PYTHON: LanguageStory = LanguageStory {
    files: &[
        ("shop/__init__.py", ""),
        ("shop/price.py", "def twice(price: int) -> int:\n    return price * 2\n"),
        ("tests/__init__.py", ""),
        (
            "tests/test_nothing.py",
            r"import unittest


class NothingTest(unittest.TestCase):
    def test_nothing(self):
        self.assertEqual(1 + 1, 2)
",
        ),
        (".gitignore", "__pycache__/\n"),
    ],
    subject: "shop/price.py",
    function: "twice",
    place: "tests/test_price.py",
    tests: r"import os
import socket
import time
import unittest

from shop.price import twice

SEEN = [len(os.sep), len(time.tzname[0]) * 0, int(socket.AF_INET) * 0]


class PriceTest(unittest.TestCase):
    def test_twice(self):
        self.assertEqual(twice(2), 4)
        self.assertEqual(twice(0), 0)
BODY",
    sly: r"
    def test_sly_removal(self):
        getattr(os, 're' + 'move')('FILE')
        self.assertEqual(twice(3), 6)

    def test_sly_call(self):
        getattr(socket, 'create_' + 'connection')(('127.0.0.1', PORT), 5).close()
        self.assertEqual(twice(3), 6)
",
    slow: r"
    def test_slow(self):
        getattr(time, 'sl' + 'eep')(86400)
        self.assertEqual(twice(3), 6)
",
    together: r"
    def test_a_first(self):
        SEEN.append(twice(3))
        self.assertEqual(len(SEEN), 4)

    def test_b_second(self):
        self.assertEqual(SEEN[3:], [6])
",
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

const SCRIPT: LanguageStory = LanguageStory {
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
            r"const test = require('node:test');
const assert = require('node:assert');
test('nothing', () => assert.equal(1 + 1, 2));
",
        ),
    ],
    subject: "lib/price.js",
    function: "twice",
    place: "test/price.test.js",
    tests: r"const test = require('node:test');
const assert = require('node:assert');
const fs = require('node:fs');
const net = require('node:net');
const { twice } = require('../lib/price.js');

const seen = [fs.constants.F_OK, net.isIP('x')];

test('twice as much', () => {
  assert.equal(twice(2), 4);
  assert.equal(twice(0), 0);
});
BODY",
    sly: r"
test('sly removal', () => {
  fs['un' + 'linkSync']('FILE');
  assert.equal(twice(3), 6);
});

test('sly call', async () => {
  const call = net['create' + 'Connection'];
  await new Promise((done, failed) => {
    const socket = call(PORT, '127.0.0.1', () => done(socket.destroy()));
    socket.on('error', failed);
  });
  assert.equal(twice(3), 6);
});
",
    slow: r"
test('slow', async () => {
  const wait = globalThis['set' + 'Timeout'];
  await new Promise((done) => wait(done, 86400000));
  assert.equal(twice(3), 6);
});
",
    together: r"
test('a first', () => {
  seen.push(twice(3));
  assert.equal(seen.length, 3);
});

test('b second', () => {
  assert.deepEqual(seen.slice(2), [6]);
});
",
    names: ["sly removal", "sly call", "b second"],
    limit: "20s",
    stops_tests: false,
};

#[test]
#[ignore = "needs node; what_a_test_of_python_hides_is_contained always runs"]
fn what_a_test_of_javascript_hides_is_contained() {
    what_is_hidden_is_contained(&SCRIPT);
}

#[cfg(feature = "slow-tests")]
#[test]
#[ignore = "needs node; tests_of_python_that_pass_only_together_are_cut always runs"]
fn tests_of_javascript_that_pass_only_together_are_cut() {
    what_passes_only_together_is_cut(&SCRIPT);
}
