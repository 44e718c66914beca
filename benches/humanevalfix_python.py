#!/usr/bin/env python3
"""Measures the embedded engine on a set of small Python bugs, one git repository per bug.

    benches/humanevalfix_python.py SET.jsonl [--regreen target/dist/regreen] [--jobs 1] [--only ID,ID] [--check]

Each line of the set holds `prompt`, `buggy_solution`, `canonical_solution`, `test`, `entry_point` and `bug_type`, as
HumanEvalFix (HumanEvalPack, Python) publishes them. An edit is *plausible* when the tests pass, and *correct* when it
agrees with the reference on many inputs that the tests do not hold, made from the arguments that they hold.
"""

import ast
import json
import sys
import textwrap

import humanevalfix_sets as sets

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
    kinds = (ast.FunctionDef, ast.Import, ast.ImportFrom)
    helpers = [node for node in tree.body if isinstance(node, kinds) and node is not check]
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
        return a == b or abs(a - b) < 1e-6 or a != a and b != b
    return a == b and type(a) == type(b) or a == b
tried = differ = 0
first = ""
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
            first = f"{arguments!r:.200} gives {expected!r:.80}, and not {got!r:.80}"
print("JUDGED", tried, differ, first)
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
    return found or drawn(row)


def drawn(row):
    """What tests that draw their arguments pass to the reference."""
    found = []
    space = {"__name__": "solution"}
    exec(row["prompt"] + row["canonical_solution"], space)
    entry = space[row["entry_point"]]

    def record(*arguments):
        found.append(repr(arguments))
        return entry(*arguments)

    space[row["entry_point"]] = record
    exec(row["test"], space)
    return found


def files(row, body):
    return {"solution.py": row["prompt"] + body, "test_solution.py": test_file(row)}


def judge(row, fixed, folder):
    sets.write(folder, {"reference.py": row["prompt"] + row["canonical_solution"], "candidate.py": fixed, "judge.py": JUDGE,
                        "seeds.json": json.dumps(seeds_of(row))})
    # Every input may take a second, with each of the two.
    command = [sys.executable, "judge.py", "reference.py", "candidate.py", row["entry_point"], "seeds.json"]
    return sets.verdict(command, folder, 900)


if __name__ == "__main__":
    test = [sys.executable, "-m", "unittest", "-q"]
    sets.main(__doc__, sets.Language(source="solution.py", test=test, files=files, judge=judge))
