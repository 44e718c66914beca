//! Suites that print 2 GiB must cost little memory, and their results are still read.

use serde_json::Value;

use super::support::TestRepo;

/// What the output may cost, in bytes: the peak resident memory of the program or of one of its
/// children beyond that of the same run without the output. A debug build alone has 40 MiB of code.
const LIMIT: u64 = 32 << 20;

/// Runs a program, and prints the peak resident memory of it and of the children it waited for.
const MEASURE: &str = r"import os, sys, resource
child = os.fork()
if child == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
_, status, usage = os.wait4(child, 0)
print(usage.ru_maxrss * 1024, file=sys.stderr)
sys.exit(os.waitstatus_to_exitcode(status))
";

/// Writes 2 GiB to standard output in blocks of 1 MiB that begin with `head`.
const PRINTS: &str = r"import sys


def flood(head):
    block = head + b'x' * ((1 << 20) - len(head) - 1) + b'\n'
    for _ in range(2048):
        sys.stdout.buffer.write(block)
    sys.stdout.buffer.flush()
";

/// Runs `regreen` on these files. Returns what it printed, and what 2 GiB of output cost.
fn measured(files: &[(&str, &str)], arguments: &[&str]) -> (Value, u64) {
    let silent = PRINTS.replace("2048", "0");
    let (_, base) = peak_of(&[files, &[("flood.py", &silent)]].concat(), arguments);
    let (document, peak) = peak_of(&[files, &[("flood.py", PRINTS)]].concat(), arguments);
    (document, peak.saturating_sub(base))
}

fn peak_of(files: &[(&str, &str)], arguments: &[&str]) -> (Value, u64) {
    let repo = TestRepo::new(files);
    let plain = repo.command();
    let mut command = std::process::Command::new("python3");
    command.args(["-c", MEASURE]).arg(plain.get_program()).args(arguments);
    command.env_clear().current_dir(repo.root());
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = command.output().unwrap();
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    let peak = talk.lines().last().and_then(|line| line.parse().ok()).unwrap();
    (serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {talk}")), peak)
}

fn failing(document: &Value) -> Vec<&str> {
    let tests = document["failing-tests"].as_array().unwrap();
    tests.iter().map(|test| test["test"].as_str().unwrap()).collect()
}

#[cfg(feature = "slow-tests")]
#[test]
#[ignore = "needs time: prints 2 GiB"]
fn a_test_that_prints_2_gib_costs_less_than_32_mib() {
    let tests = r"import unittest

from flood import flood


class Flood(unittest.TestCase):
    def test_prints(self):
        flood(b'')

    def test_fails(self):
        self.assertEqual(1, 2)
";
    let (document, cost) = measured(&[("test_flood.py", tests)], &["fix", "--dry-run", "--json"]);
    assert_eq!(document["initial"]["passed"], 1, "{document}");
    assert_eq!(failing(&document), ["test_flood.Flood.test_fails"]);
    assert!(cost < LIMIT, "{cost} bytes more were resident");
}

#[cfg(feature = "slow-tests")]
#[test]
#[ignore = "needs time: prints 2 GiB"]
fn a_command_whose_read_output_is_2_gib_of_no_text_costs_less_than_32_mib() {
    let command = "import flood\nprint('1..2')\nprint('not ok 1 - first', flush=True)\nflood.flood(b'\\xff\\xfe')\nprint('ok 2 - last')\n";
    let arguments = ["fix", "--dry-run", "--json", "--test-command", "python3 run.py"];
    let (document, cost) = measured(&[("run.py", command)], &arguments);
    assert_eq!(document["initial"]["passed"], 1, "{document}");
    assert_eq!(failing(&document), ["first"]);
    assert!(cost < LIMIT, "{cost} bytes more were resident");
}
