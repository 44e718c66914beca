#!/usr/bin/env python3
"""Candidates that regreen's engine judges per second, beside the mutants that mutation testers run.

    benches/mutation.py [--regreen target/dist/regreen]

Needs `pip install pytest==9.2.0 mutmut==3.8.1 cosmic-ray==8.7.0`.

All three change one place of the same generated project and ask the same pytest tests about it:

- regreen: the project has one function that no small edit repairs, so the search goes on to its
  end. A candidate is an edit judged by tests, the failing ones first, until one fails. Time is that
  of the whole iteration: ranking, tracing and writing down included.
- mutmut: two children, which is how it uses two cores; each mutant runs the tests that reach the
  changed function until one fails. Time is that of the whole run, the making of mutants and the
  first run of the suite included; its own figure leaves those out.
- cosmic-ray: the local distributor; each mutant runs `python -m pytest -x -q`. Time is that of
  `exec` alone; `--cosmic-mutants` cuts the run after so many.
"""

import argparse
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

MODULES = 12

MODULE = '''
def clamp(value, low, high):
    if value < low:
        return low
    if value > high:
        return high
    return value


def total(values, start=0):
    result = start
    for value in values:
        result += value * {n}
    return result


def count(values, limit):
    found = 0
    for value in values:
        if value >= limit and value % {k} != 0:
            found += 1
    return found


def initials(name):
    parts = [part[0].upper() for part in name.split() if part]
    return ".".join(parts) + "." if parts else ""
'''

TEST = '''
import pytest

from shop.m{n} import clamp, count, initials, total


@pytest.mark.parametrize("value, expected", [(0, 1), (1, 1), (3, 3), (5, 5), (6, 5)])
def test_clamp(value, expected):
    assert clamp(value, 1, 5) == expected


def test_total():
    assert total([1, 2, 3]) == 6 * {n}
    assert total([], 4) == 4


def test_count():
    assert count([1, 2, 3, 4], 2) == {counted}


def test_initials():
    assert initials("ada  lovelace") == "A.L."
    assert initials("") == ""
'''

GOOD = '''
def rank(rows, weights, floor):
    scores = []
    for index, row in enumerate(rows):
        score = 0
        for position, cell in enumerate(row):
            if cell is None:
                continue
            score += cell * weights[position]
        if score >= floor:
            scores.append((score, index))
    scores.sort(key=lambda pair: (-pair[0], pair[1]))
    return [index for _, index in scores]
'''

# Weights, missing cells, order and ties are all wrong: no edit of one or two places helps.
BAD = '''
def rank(rows, weights, floor):
    scores = []
    for index, row in enumerate(rows):
        score = 1
        first = row[0] or 0
        last = row[len(row) - 1] or 0
        if first > last and floor > 0:
            score = first + last * 2
        elif first < last or floor < 3:
            score = last - first + 1
        if score > floor + 1:
            scores.append(score + index)
    scores.sort()
    return scores
'''

RANK_TEST = '''
from shop.rank import rank


def test_rank():
    assert rank([[1, 2], [3, None], [2, 4], [1, 2], [0, 0]], [1, 10], 3) == [2, 0, 3, 1]
'''


def write(root, path, text):
    path = os.path.join(root, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text.lstrip("\n"))


def project(folder, rank):
    root = os.path.join(folder, "project")
    shutil.rmtree(root, ignore_errors=True)
    write(root, "shop/__init__.py", "")
    write(root, "pyproject.toml", '[tool.pytest.ini_options]\npythonpath = ["."]\n\n[tool.mutmut]\nsource_paths = ["shop/"]\n')
    write(root, ".gitignore", "__pycache__\nmutants\n*.sqlite\n.pytest_cache\n")
    for number in range(1, MODULES + 1):
        divisor = number % 3 + 2
        counted = sum(1 for value in (2, 3, 4) if value % divisor)
        write(root, f"shop/m{number}.py", MODULE.format(n=number, k=divisor))
        write(root, f"tests/test_m{number}.py", TEST.format(n=number, counted=counted))
    write(root, "shop/rank.py", rank)
    write(root, "tests/test_rank.py", RANK_TEST)
    git = ["git", "-c", "user.name=bench", "-c", "user.email=bench@localhost"]
    subprocess.run(git + ["init", "-q", "-b", "main"], cwd=root, check=True)
    subprocess.run(git + ["add", "-A"], cwd=root, check=True)
    subprocess.run(git + ["commit", "-q", "-m", "project"], cwd=root, check=True)
    return root


def timed(command, root, check=True, **more):
    began = time.monotonic()
    done = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if check and done.returncode != 0:
        sys.exit(f"{command}:\n{done.stdout[-3000:]}")
    return time.monotonic() - began, done.stdout


def regreen(program, folder, root):
    """Candidates a second of the whole iterations of a search in a project."""
    environment = dict(os.environ, REGREEN_WORK_DIR=os.path.join(folder, "work"))
    done = subprocess.run([program, "fix", "--json"], cwd=root, capture_output=True, text=True, env=environment)
    document = json.loads(done.stdout)
    tried = sum(one["candidates"] for one in document["iterations"])
    seconds = sum(one["seconds"] for one in document["iterations"])
    if not tried:
        sys.exit(f"regreen tried nothing: {document['reason']}\n{done.stderr[-2000:]}")
    print(f"regreen: {tried} candidates in {seconds:.1f} s, {tried / seconds:.1f} a second ({document['result']}: {document['reason']})")
    return tried / seconds


def mutmut(folder):
    root = project(folder, GOOD)
    took, out = timed([sys.executable, "-m", "mutmut", "run", "--max-children", "2"], root)
    done = re.findall(r"(\d+)/(\d+)", out)[-1]
    own = re.findall(r"([\d.]+) mutations/second", out)
    count = int(done[0])
    print(f"mutmut: {count} mutants in {took:.1f} s, {count / took:.1f} a second; by its own count, which leaves its start out, {own[-1] if own else '?'}")
    return count / took


def cosmic_ray(folder, limit):
    root = project(folder, GOOD)
    write(root, "cosmic.toml", f'[cosmic-ray]\nmodule-path = "shop"\ntimeout = 30.0\nexcluded-modules = []\ntest-command = "{sys.executable} -m pytest -x -q -p no:cacheprovider"\n[cosmic-ray.distributor]\nname = "local"\n')
    tool = [os.path.join(os.path.dirname(sys.executable), "cosmic-ray")]
    timed(tool + ["init", "cosmic.toml", "run.sqlite"], root)
    with sqlite3.connect(os.path.join(root, "run.sqlite")) as base:
        base.execute("delete from mutation_specs where job_id not in (select job_id from work_items limit ?)", (limit,))
        base.execute("delete from work_items where job_id not in (select job_id from mutation_specs)")
    took, _ = timed(tool + ["exec", "cosmic.toml", "run.sqlite"], root)
    with sqlite3.connect(os.path.join(root, "run.sqlite")) as base:
        (count,) = base.execute("select count(*) from work_results").fetchone()
    print(f"cosmic-ray: {count} mutants in {took:.1f} s, {count / took:.1f} a second")
    return count / took


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--regreen", default="target/dist/regreen")
    parser.add_argument("--cosmic-mutants", type=int, default=60)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        ours = regreen(os.path.abspath(options.regreen), folder, project(folder, BAD))
        for name, rate in [("mutmut", mutmut(folder)), ("cosmic-ray", cosmic_ray(folder, options.cosmic_mutants))]:
            print(f"{name}: regreen judges {ours / rate:.1f} times as many a second")


if __name__ == "__main__":
    main()
