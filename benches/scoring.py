#!/usr/bin/env python3
"""Mutants a second when tests are scored, and a plan for 10,000 files, each beside something else.

    benches/packages.py --keep DIR --only inflection     # writes the tests first
    benches/scoring.py DIR [--regreen target/dist/regreen] [--rounds 3] [--files 10000]

Needs `pip install mutmut==3.8.1`. On a machine that does other work too, seconds mean little: the
programs take turns, and what is printed is the ratio of each turn and its median, in processor
time of the program and all that it started; seconds on the wall are printed beside it.

- scoring: `regreen score` and `mutmut run --max-children 2` on the same file and the same tests,
  from start to end, each in a copy of its own. Mutants differ, so mutants a second are compared.
- planning: `regreen plan` without a run of the suite, beside Python reading the syntax of the same
  files with `ast`, both from start to end.
"""

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import packages
import rivals

MODULE = '''
def total_{n}(prices, rate={n}):
    """Sums up."""
    if not prices:
        raise ValueError("nothing to sum up")
    result = 0
    for price in prices:
        if price < 0:
            continue
        result += price * rate
    return result if result < 1000 else 1000


def label_{n}(name, count=0):
    if count == 0:
        return name
    return f"{{name}} ({{count}})"
'''

READ = """
import ast, sys
for name in sys.stdin.read().split("\\0"):
    if name:
        ast.parse(open(name).read())
"""


def spent(work):
    """What `work` answers, processor seconds of what it started, seconds on the wall."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    answer = work()
    wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return answer, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def scoring(program, package, rounds, folder):
    package = next(one for one in packages.PACKAGES if one[0] == "inflection")
    package = os.path.join(os.path.abspath(package), "inflection")
    (root,) = [entry.path for entry in os.scandir(package) if entry.is_dir()]
    ratios = []
    for turn in range(rounds):
        ours, theirs = [rivals.copy(root, folder, f"{who}-{turn}") for who in ("ours", "theirs")]
        (tried, _, _), cpu, wall = spent(lambda: rivals.regreen(program, ours, package[3], folder))
        (other, _, _), other_cpu, other_wall = spent(lambda: rivals.mutmut(theirs, package[3]))
        ratios.append(tried / cpu / (other / other_cpu))
        print(f"scoring {turn + 1}: regreen {tried} mutants in {cpu:.1f} s ({wall:.0f} s on the wall), mutmut {other} in {other_cpu:.1f} s ({other_wall:.0f} s): {ratios[-1]:.1f} times", flush=True)
    print(f"scoring: median {statistics.median(ratios):.1f} times as many mutants in a second of a processor as mutmut")


def planning(program, rounds, files, folder):
    root = os.path.join(folder, "large")
    for number in range(files):
        place = os.path.join(root, "pkg", f"g{number // 100}")
        os.makedirs(place, exist_ok=True)
        with open(os.path.join(place, f"m{number}.py"), "w") as file:
            file.write(MODULE.format(n=number).lstrip("\n"))
    with open(os.path.join(root, "pytest.ini"), "w") as file:
        file.write("[pytest]\n")
    git = ["git", "-c", "user.name=bench", "-c", "user.email=bench@localhost"]
    packages.run(git + ["init", "-q", "-b", "main"], root)
    packages.run(git + ["add", "-A"], root)
    packages.run(git + ["commit", "-q", "-m", "large"], root)
    ratios, worst = [], 0.0
    for turn in range(rounds):
        environment = dict(os.environ, REGREEN_WORK_DIR=os.path.join(folder, f"plan-{turn}"))
        command = [program, "plan", "pkg/g7", "--no-coverage", "--fresh", "--quiet"]
        done, ours, wall = spent(lambda: subprocess.run(command, cwd=root, capture_output=True, text=True, env=environment))
        if done.returncode != 0:
            sys.exit(f"plan: {done.stdout[-1000:]}{done.stderr[-1000:]}")
        names = subprocess.run(["git", "ls-files", "-z", "*.py"], cwd=root, capture_output=True, text=True, check=True).stdout
        _, theirs, other_wall = spent(lambda: subprocess.run([sys.executable, "-c", READ], cwd=root, input=names, text=True, check=True))
        ratios.append(ours / theirs)
        worst = max(worst, wall)
        print(f"planning {turn + 1}: regreen {ours:.1f} s ({wall:.1f} s on the wall), Python's parser {theirs:.1f} s ({other_wall:.1f} s): {ratios[-1]:.1f} times", flush=True)
    print(f"planning {files} files: median {statistics.median(ratios):.1f} times as long as Python's parser; the longest took {worst:.1f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("packages", help="what `benches/packages.py --keep` was given")
    parser.add_argument("--regreen", default="target/dist/regreen")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--files", type=int, default=10_000)
    options = parser.parse_args()
    program = os.path.abspath(options.regreen)
    folder = tempfile.mkdtemp()
    try:
        planning(program, options.rounds, options.files, folder)
        scoring(program, options.packages, options.rounds, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
