#!/usr/bin/env python3
"""Measures the embedded engine on a set of small Python bugs, one git repository per bug.

    benches/humanevalfix.py SET.jsonl [--regreen target/dist/regreen] [--jobs 2] [--only ID,ID]

Each line of the set holds `prompt`, `buggy_solution`, `canonical_solution`, `test`, `entry_point`
and `bug_type`, as HumanEvalFix (HumanEvalPack, Python) publishes them. The reference is only used
to judge: an edit is *plausible* when the tests pass, and *correct* when it agrees with the
reference on many inputs that the tests do not hold.
"""

import argparse
import ast
import concurrent.futures
import copy
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time

HEADER = "import unittest\n\nfrom solution import *\nfrom solution import %s\n%s\n\nclass SolutionTest(unittest.TestCase):\n"


def check_function(text):
    tree = ast.parse(text)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "check":
            return tree, node
    return tree, None


def test_file(row):
    """One method per assertion where they are independent, else one for all."""
    tree, check = check_function(row["test"])
    entry = row["entry_point"]
    helpers = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.Import, ast.ImportFrom)) and node is not check]
    extra = "\n".join(ast.unparse(node) for node in helpers)
    imports = [line for line in row["prompt"].splitlines() if line.startswith(("import ", "from "))]
    text = HEADER % (entry, "\n".join(imports) + "\n" + extra)
    argument = check.args.args[0].arg
    body = [node for node in check.body if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))]
    rename = "" if argument == entry else f"        {argument} = {entry}\n"
    if all(isinstance(node, ast.Assert) for node in body):
        for number, node in enumerate(body):
            line = ast.unparse(ast.Assert(test=node.test, msg=None))
            text += f"    def test_{number:02}(self):\n{rename}        {line}\n\n"
    else:
        lines = "\n".join(ast.unparse(node) for node in body)
        text += f"    def test_all(self):\n{rename}{textwrap.indent(lines, '        ')}\n"
    return text


JUDGE = r'''
import copy, json, random, signal, sys, io
sys.setrecursionlimit(3000)
def load(path):
    space = {"__name__": "solution"}
    exec(compile(open(path).read(), path, "exec"), space)
    return space
reference, candidate, entry, seeds = load(sys.argv[1]), load(sys.argv[2]), sys.argv[3], json.load(open(sys.argv[4]))
seeds = [eval(text) for text in seeds]
rng = random.Random(7)
def mutate(value, depth=0):
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return rng.choice([value + 1, value - 1, value, -value, 0, rng.randint(-20, 120), value * 2])
    if isinstance(value, float):
        return rng.choice([value + 1, value - 0.5, -value, value, round(rng.uniform(-50, 50), 2)])
    if isinstance(value, str):
        pool = value + "aB3 .,e()[]yZ"
        text = list(value)
        for _ in range(rng.randint(0, 3)):
            way = rng.randint(0, 2)
            if way == 0 or not text:
                text.insert(rng.randint(0, len(text)), rng.choice(pool))
            elif way == 1:
                text.pop(rng.randrange(len(text)))
            else:
                text[rng.randrange(len(text))] = rng.choice(pool)
        return "".join(text)
    if isinstance(value, (list, tuple)):
        items = [mutate(item, depth + 1) if rng.random() < 0.4 else item for item in value]
        way = rng.randint(0, 4)
        if way == 0 and items:
            items.pop(rng.randrange(len(items)))
        elif way == 1 and items:
            items.insert(rng.randint(0, len(items)), rng.choice(items))
        elif way == 2:
            rng.shuffle(items)
        return type(value)(items)
    if isinstance(value, dict):
        return {key: mutate(item, depth + 1) if rng.random() < 0.5 else item for key, item in value.items()}
    return value
class Late(Exception):
    pass
def late(*_):
    raise Late()
signal.signal(signal.SIGALRM, late)
def call(space, arguments):
    signal.setitimer(signal.ITIMER_REAL, 1.0)
    try:
        return "value", space[entry](*copy.deepcopy(arguments))
    except Late:
        return "late", None
    except BaseException as error:
        return "raised", None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
def same(a, b):
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b) < 1e-6 or a != a and b != b
    return a == b and type(a) == type(b) or a == b
tried = differ = 0
inputs = list(seeds)
for _ in range(400):
    base = rng.choice(seeds)
    inputs.append(tuple(mutate(value) for value in base))
for arguments in inputs:
    kind, expected = call(reference, arguments)
    if kind != "value":
        continue
    tried += 1
    got_kind, got = call(candidate, arguments)
    try:
        equal = got_kind == "value" and same(expected, got)
    except Exception:
        equal = False
    if not equal:
        differ += 1
        if differ == 1:
            print(repr(arguments)[:200], repr(expected)[:80], repr(got)[:80], file=sys.stderr)
print(json.dumps({"tried": tried, "differ": differ}))
'''


def seeds_of(row):
    """Arguments of the calls in the tests, as source."""
    _, check = check_function(row["test"])
    names = {check.args.args[0].arg, row["entry_point"]}
    found = []
    for node in ast.walk(check):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names and not node.keywords:
            text = "(" + "".join(ast.unparse(argument) + "," for argument in node.args) + ")"
            try:
                eval(text)
                found.append(text)
            except Exception:
                pass
    return found


def run(row, options):
    name = row["task_id"].replace("/", "-")
    folder = tempfile.mkdtemp(prefix=f"regreen-{name}-")
    result = {"id": row["task_id"], "kind": row["bug_type"], "plausible": False, "correct": False, "candidates": 0}
    try:
        repo = os.path.join(folder, "repo")
        os.mkdir(repo)
        with open(os.path.join(repo, "solution.py"), "w") as file:
            file.write(row["prompt"] + row["buggy_solution"])
        with open(os.path.join(repo, "test_solution.py"), "w") as file:
            file.write(test_file(row))
        git = ["git", "-C", repo, "-c", "user.name=b", "-c", "user.email=b@localhost"]
        subprocess.run(["git", "init", "-q", "-b", "main", repo], check=True)
        subprocess.run(git + ["add", "-A"], check=True)
        subprocess.run(git + ["commit", "-q", "-m", "first"], check=True)
        began = time.monotonic()
        environment = dict(os.environ, REGREEN_WORK_DIR=os.path.join(folder, "work"))
        command = [options.regreen, "fix", repo, "--json", "--quiet", "--jobs", "1", "--test-timeout", "60s",
                   "--max-iterations", "6", "--target", "100"]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=900)
        result["seconds"] = time.monotonic() - began
        try:
            document = json.loads(done.stdout)
        except ValueError:
            result["error"] = (done.stderr or done.stdout)[-300:]
            return result
        result["candidates"] = sum(one["candidates"] for one in document["iterations"])
        result["reason"] = document["reason"]
        result["summary"] = [one["summary"] for one in document["iterations"] if one["outcome"] == "improved"]
        result["plausible"] = document["result"] == "success"
        if not result["plausible"]:
            return result
        fixed = subprocess.run(git + ["show", f"{document['branch']}:solution.py"], capture_output=True, text=True, check=True).stdout
        reference, candidate, judge, seeds = (os.path.join(folder, n) for n in ("r.py", "c.py", "j.py", "s.json"))
        for path, text in ((reference, row["prompt"] + row["canonical_solution"]), (candidate, fixed), (judge, JUDGE)):
            with open(path, "w") as file:
                file.write(text)
        with open(seeds, "w") as file:
            json.dump(seeds_of(row), file)
        judged = subprocess.run([sys.executable, judge, reference, candidate, row["entry_point"], seeds], capture_output=True, text=True, timeout=900)
        try:
            verdict = json.loads(judged.stdout.strip().splitlines()[-1])
            result["correct"] = verdict["tried"] > 0 and verdict["differ"] == 0
            result["differ"] = f"{verdict['differ']}/{verdict['tried']} {judged.stderr[:200]}"
        except (ValueError, IndexError):
            result["differ"] = judged.stderr[-200:]
        return result
    except subprocess.TimeoutExpired:
        result["error"] = "took longer than 15 minutes"
        return result
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("set")
    parser.add_argument("--regreen", default="target/dist/regreen")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--out", default="")
    options = parser.parse_args()
    options.regreen = os.path.abspath(options.regreen)
    with open(options.set) as file:
        rows = [json.loads(line) for line in file if line.strip()]
    selected = {name.split("/")[-1] for name in options.only.split(",") if name}
    rows = [row for row in rows if not selected or row["task_id"].split("/")[-1] in selected]
    results = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for result in pool.map(lambda row: run(row, options), rows):
            results.append(result)
            mark = "correct" if result["correct"] else "plausible" if result["plausible"] else "-"
            print(f"{result['id']:12} {result['kind']:18} {mark:10} {result.get('seconds', 0):6.1f} s {result['candidates']:6} "
                  f"{'; '.join(result.get('summary', [])) or result.get('reason', result.get('error', ''))[:90]} {result.get('differ', '') if mark == 'plausible' else ''}", flush=True)
    if options.out:
        with open(options.out, "w") as file:
            json.dump(results, file, indent=1)
    kinds = sorted({result["kind"] for result in results})
    print("\n| kind | bugs | plausible | first patch correct |\n|:--|--:|--:|--:|")
    for kind in kinds + ["all"]:
        part = [result for result in results if kind in ("all", result["kind"])]
        print(f"| {kind} | {len(part)} | {sum(r['plausible'] for r in part)} | {sum(r['correct'] for r in part)} |")
    seconds = [result["seconds"] for result in results if "seconds" in result]
    if seconds:
        print(f"\nmedian {statistics.median(seconds):.1f} s a bug, median {statistics.median(r['candidates'] for r in results):.0f} candidates")


if __name__ == "__main__":
    main()
