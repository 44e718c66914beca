#!/usr/bin/env python3
"""What one iteration costs besides running tests, on a repository of 10,000 files.

    benches/overhead.py [--regreen target/dist/regreen] [--files 10000] [--repeat 3]

The repository holds Python files of which a few have tests, and three bugs far apart, so that
regreen needs several iterations. Its overhead is the time of an iteration less what its runs of
the suite took; the search for an edit, which is work of its own, is counted apart. Beside it the
git program does what every iteration must do at least: `git status`, `git add -A` and `git commit`
of one changed file in the same repository.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

BUGS = [("clamp", "    if value > high:\n        return high\n", "    if value > high:\n        return low\n"),
        ("half", "    return value // 2\n", "    return value // 3\n"),
        ("last", "    return values[-1]\n", "    return values[0]\n")]

GOOD = {
    "clamp": "def clamp(value, high):\n    if value > high:\n        return high\n    return value\n",
    "half": "def half(value):\n    return value // 2\n",
    "last": "def last(values):\n    return values[-1]\n",
}

CHECKS = {"clamp": "clamp(9, 5), 5", "half": "half(12), 6", "last": "last([1, 2, 3]), 3"}


def git(root, *arguments):
    command = ["git", "-c", "user.name=bench", "-c", "user.email=bench@localhost", *arguments]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout


def repository(folder, files):
    root = os.path.join(folder, "repo")
    for number in range(files):
        place = os.path.join(root, "lib", f"p{number // 100}")
        os.makedirs(place, exist_ok=True)
        near = number - number % 100
        head = f"from lib.p{near // 100}.m{near} import f{near}\n\n\n" if number != near else ""
        with open(os.path.join(place, f"m{number}.py"), "w") as file:
            file.write(f"{head}def f{number}(value):\n    if value > {number}:\n        return value - 1\n    return value + {number}\n")
    os.makedirs(os.path.join(root, "tests"))
    open(os.path.join(root, "tests", "__init__.py"), "w").close()
    for index, (name, before, after) in enumerate(BUGS):
        with open(os.path.join(root, f"{name}.py"), "w") as file:
            file.write(GOOD[name].replace(before, after))
        with open(os.path.join(root, "tests", f"test_{name}.py"), "w") as file:
            file.write(f"import unittest\n\nfrom {name} import {name}\n\n\nclass Test{name.title()}(unittest.TestCase):\n    def test_{name}(self):\n        self.assertEqual({CHECKS[name]})\n")
    with open(os.path.join(root, ".gitignore"), "w") as file:
        file.write("__pycache__/\n")
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "project")
    return root


def regreen(program, root, work):
    """Runs it; for each iteration milliseconds of the search, and of the rest without test runs."""
    command = [program, "fix", "--json", "--test-command", "python3 -m unittest discover -s tests -t ."]
    ran = subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ, REGREEN_WORK_DIR=work))
    began = proposed = 0.0
    times = []
    for line in ran.stderr:
        now = time.monotonic()
        if line.startswith("iteration "):
            began = now
        elif "    after " in line and " candidate" in line:
            proposed = now
        elif line.startswith(("  ✓", "  ↩")):
            times.append(((proposed - began) * 1000, (now - proposed) * 1000))
    document = json.loads(ran.stdout.read())
    if document["result"] != "success":
        sys.exit(document["reason"])
    testing = [0] * len(times)
    with open(os.path.join(document["folder"], ".process", "events.jsonl")) as file:
        events = [json.loads(line) for line in file]
    # The confirmation at the end runs after the last iteration.
    ended = [index for index, event in enumerate(events) if event["event"] == "iteration-ended"][-1]
    for event in events[:ended]:
        if event["event"] == "ran" and event["iteration"] > 0:
            testing[event["iteration"] - 1] += event["duration-ms"]
    rest = [rest - tests for (_, rest), tests in zip(times, testing)]
    found = [one["candidates"] for one in document["iterations"]]
    return document, list(zip([search for search, _ in times], found, rest, testing))


def rival(root, repeat):
    times = []
    for number in range(repeat):
        with open(os.path.join(root, "half.py"), "a") as file:
            file.write(f"# {number}\n")
        began = time.monotonic()
        git(root, "status", "--porcelain")
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", "change")
        times.append(time.monotonic() - began)
    return statistics.median(times) * 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--regreen", default="target/dist/regreen")
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = repository(folder, options.files)
        program = os.path.abspath(options.regreen)
        samples = []
        for number in range(options.repeat):
            document, rows = regreen(program, root, os.path.join(folder, f"work{number}"))
            samples.extend(rows)
            for search, tried, rest, tests in rows:
                print(f"search {search:.0f} ms ({tried} candidates), tests {tests} ms, all else {rest:.0f} ms")
            git(root, "branch", "-D", *re.findall(r"regreen/\S+", git(root, "branch", "--list", "regreen/*")))
        ours = statistics.median(rest for _, _, rest, _ in samples)
        short = statistics.median(search for search, tried, _, _ in samples if tried < 50)
        theirs = rival(root, 9)
        print(f"an iteration besides search and tests: {ours:.0f} ms; a search of few candidates: {short:.0f} ms")
        print(f"git status, add and commit of one file: {theirs:.0f} ms; {ours / theirs:.1f} times as long")


if __name__ == "__main__":
    main()
