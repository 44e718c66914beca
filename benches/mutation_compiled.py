#!/usr/bin/env python3
"""Candidates that regreen's engine judges per second in Go and Rust, beside the mutants of mutation testers.

    benches/mutation_compiled.py go|rust [--regreen target/dist/regreen]

Needs gremlins 0.6 (`go install github.com/go-gremlins/gremlins/cmd/gremlins@latest`) or cargo-mutants 27
(`cargo install cargo-mutants --locked`) on the path.

Both get the same generated project of six packages or modules with tests. For regreen one function is broken so that
no small edit repairs it, so that the search goes to its end; time is that of the whole iterations: tracing, builds
and writing down included. A mutation tester gets the correct function; time is that of its whole run, its first build
and run of the suite included.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from mutation import regreen

MODULES = 5

GO = '''package m{n}

// Clamp keeps a value within bounds.
func Clamp(value, low, high int) int {{
	if value < low {{
		return low
	}}
	if value > high {{
		return high
	}}
	return value
}}

// Count counts the values from a limit on.
func Count(values []int, limit int) int {{
	found := 0
	for _, value := range values {{
		if value >= limit && value%{k} != 0 {{
			found++
		}}
	}}
	return found
}}
'''

GO_TEST = '''package m{n}

import "testing"

func TestClamp(t *testing.T) {{
	for _, c := range [][2]int{{{{0, 1}}, {{1, 1}}, {{3, 3}}, {{5, 5}}, {{6, 5}}}} {{
		if got := Clamp(c[0], 1, 5); got != c[1] {{
			t.Errorf("Clamp(%d) = %d", c[0], got)
		}}
	}}
}}

func TestCount(t *testing.T) {{
	if got := Count([]int{{1, 2, 3, 4}}, 2); got != {counted} {{
		t.Errorf("Count = %d", got)
	}}
}}
'''

GO_RANK = '''package rank

// Best is the index of the row with the highest sum of weighted cells.
func Best(rows [][]int, weights []int, floor int) int {
	best, at := 0, -1
	for index, row := range rows {
		%s
		if score >= floor && score > best {
			best, at = score, index
		}
	}
	return at
}
'''

GO_SCORES = ['''score := 0
		for position, cell := range row {
			score += cell * weights[position]
		}''', '''score := row[0]
		if floor > 2 {
			score = len(row) * 3
		}''']

GO_RANK_TEST = '''package rank

import "testing"

func TestBest(t *testing.T) {
	rows := [][]int{{1, 2}, {9, 1}, {2, 4}, {3, 3}}
	for _, c := range [][2]int{{3, 2}, {42, 2}, {43, -1}} {
		if got := Best(rows, []int{1, 10}, c[0]); got != c[1] {
			t.Errorf("Best(%d) = %d, want %d", c[0], got, c[1])
		}
	}
}
'''

RUST = '''/// Keeps a value within bounds.
pub fn clamp(value: i32, low: i32, high: i32) -> i32 {{
    if value < low {{
        return low;
    }}
    if value > high {{
        return high;
    }}
    value
}}

/// Counts the values from a limit on.
pub fn count(values: &[i32], limit: i32) -> usize {{
    let mut found = 0;
    for value in values {{
        if *value >= limit && *value % {k} != 0 {{
            found += 1;
        }}
    }}
    found
}}

#[cfg(test)]
mod tests {{
    use super::*;

    #[test]
    fn clamps() {{
        for (value, expected) in [(0, 1), (1, 1), (3, 3), (5, 5), (6, 5)] {{
            assert_eq!(clamp(value, 1, 5), expected);
        }}
    }}

    #[test]
    fn counts() {{
        assert_eq!(count(&[1, 2, 3, 4], 2), {counted});
    }}
}}
'''

RUST_RANK = '''/// The index of the row with the highest sum of weighted cells.
pub fn best(rows: &[Vec<i32>], weights: &[i32], floor: i32) -> i32 {
    let mut best = 0;
    let mut at = -1;
    for (index, row) in rows.iter().enumerate() {
        %s
        if score >= floor && score > best {
            best = score;
            at = index as i32;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_row_is_found() {
        let rows = [vec![1, 2], vec![9, 1], vec![2, 4], vec![3, 3]];
        for (floor, expected) in [(3, 2), (42, 2), (43, -1)] {
            assert_eq!(best(&rows, &[1, 10], floor), expected);
        }
    }
}
'''

RUST_SCORES = ['''let mut score = 0;
        for (position, cell) in row.iter().enumerate() {
            score += cell * weights[position];
        }''', '''let _ = weights;
        let mut score = row[0];
        if floor > 2 {
            score = row.len() as i32 * 3;
        }''']


def files(language, broken):
    """The project, with the function that is to be searched or the correct one."""
    found = {}
    numbers = [(n, n % 3 + 2) for n in range(1, MODULES + 1)]
    counted = {k: sum(1 for value in (2, 3, 4) if value % k) for _, k in numbers}
    if language == "go":
        found["go.mod"] = "module example.com/shop\n\ngo 1.21\n"
        for n, k in numbers:
            found[f"m{n}/m{n}.go"] = GO.format(n=n, k=k)
            found[f"m{n}/m{n}_test.go"] = GO_TEST.format(n=n, counted=counted[k])
        found["rank/rank.go"] = GO_RANK % GO_SCORES[broken]
        found["rank/rank_test.go"] = GO_RANK_TEST
    else:
        found["Cargo.toml"] = '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n'
        found[".gitignore"] = "target\nmutants.out*\n"
        found["src/lib.rs"] = "".join(f"pub mod m{n};\n" for n, _ in numbers) + "pub mod rank;\n"
        for n, k in numbers:
            found[f"src/m{n}.rs"] = RUST.format(k=k, counted=counted[k])
        found["src/rank.rs"] = RUST_RANK % RUST_SCORES[broken]
    return found


def project(folder, language, broken):
    root = os.path.join(folder, "project")
    shutil.rmtree(root, ignore_errors=True)
    for name, text in files(language, broken).items():
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
    git = ["git", "-C", root, "-c", "user.name=b", "-c", "user.email=b@localhost"]
    subprocess.run(git + ["init", "-q", "-b", "main"], check=True)
    subprocess.run(git + ["add", "-A"], check=True)
    subprocess.run(git + ["commit", "-q", "-m", "project"], check=True)
    return root


def tester(folder, language):
    """A run of the mutation tester, from start to end."""
    root = project(folder, language, False)
    command = ["gremlins", "unleash"] if language == "go" else ["cargo", "mutants", "--jobs", "2", "--no-shuffle"]
    began = time.monotonic()
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    took = time.monotonic() - began
    out = done.stdout + done.stderr
    if language == "go":
        counts = re.findall(r"(?:Killed|Lived|Timed out|Not viable): (\d+)", out)
    else:
        counts = re.findall(r"(\d+) mutants tested", out)
    count = sum(map(int, counts))
    if not count:
        sys.exit(f"{command} tried nothing:\n{out[-2000:]}")
    print(f"{command[0]} {command[1]}: {count} mutants in {took:.1f} s, {count / took:.1f} a second")
    return count / took


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("language", choices=["go", "rust"])
    parser.add_argument("--regreen", default="target/dist/regreen")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = project(folder, options.language, True)
        ours = regreen(os.path.abspath(options.regreen), folder, root)
        print(f"regreen judges {ours / tester(folder, options.language):.1f} times as many a second")


if __name__ == "__main__":
    main()
