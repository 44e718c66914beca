#!/usr/bin/env python3
"""Whether `regreen test` finds the documented examples of QuixBugs that its programs contradict.

    git clone https://github.com/jkoppel/QuixBugs
    benches/documented_examples.py QuixBugs [--regreen target/release/regreen]

Needs `pip install pytest`. Each program of `python_programs` whose description has `>>>` examples becomes a repository
with the description as docstring, as one would write it, and is tested without a model. Which
examples fail is found by comparing values, each in a process of its own. One row a program: examples that
fail, those among them that regreen reports as findings, other findings, and tests that expect what
a failing example contradicts, of which there must be none.
"""

import argparse
import ast
import doctest
import json
import os
import re
import subprocess
import sys
import tempfile

SECONDS = 5


def documented(text):
    """The program with its description as docstring of its function, or None without an example."""
    tree = ast.parse(text)
    described = [node for node in tree.body if isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str)]
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    if not described or not functions or ">>>" not in described[-1].value.value:
        return None
    note, function = described[-1], functions[0]
    lines = text.splitlines()
    body = lines[: note.lineno - 1] + lines[note.end_lineno:]
    inner = ['    """' + note.value.value.strip().replace("\n", "\n    ") + '\n    """']
    first = function.body[0].lineno - 1
    made = "\n".join(body[:first] + inner + body[first:])
    return re.sub(r"[ \t]+\n", "\n", made).rstrip() + "\n"


def failing_examples(folder, module):
    """The sources of the documented examples that fail or do not end."""
    with open(os.path.join(folder, module + ".py")) as file:
        functions = [node for node in ast.parse(file.read()).body if isinstance(node, ast.FunctionDef)]
    examples = doctest.DocTestParser().get_examples(ast.get_docstring(functions[0]) or "")
    failing = []
    for example in examples:
        check = (
            f"from {module} import *\nimport doctest\n"
            f"source, want = {example.source!r}, {example.want!r}\n"
            "import ast\n"
            "try:\n    code, want = compile(source.strip(), 'one', 'eval'), ast.literal_eval(want.strip())\n    [eval(name) for name in code.co_names]\n"
            "except (NameError, SyntaxError, ValueError):\n    raise SystemExit(0)\n"
            "raise SystemExit(eval(code) != want)"
        )
        try:
            done = subprocess.run([sys.executable, "-c", check], cwd=folder, capture_output=True, timeout=SECONDS)
            fails = done.returncode != 0
        except subprocess.TimeoutExpired:
            fails = True
        if fails:
            failing.append(example.source.strip())
    return failing


def git(folder, *arguments):
    command = ["git", "-c", "user.name=bench", "-c", "user.email=bench@localhost", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True).stdout


def plain(call):
    """A call without blanks and with one kind of quotes, to compare what two texts show."""
    return re.sub(r"\s", "", call).replace('"', "'")


def examine(regreen, folder, module):
    """A row of the table, and whether every failing example was found and none is expected."""
    failing = failing_examples(folder, module)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", module)
    environment = dict(os.environ, REGREEN_WORK_DIR=folder + "-work")
    done = subprocess.run([regreen, "test", module + ".py", "--json"], cwd=folder, capture_output=True, text=True, env=environment)
    document = json.loads(done.stdout)
    if document.get("folder"):
        with open(os.path.join(document["folder"], ".process", "generation.json")) as file:
            findings = [one["message"] for one in json.load(file)["made"]["report"]["findings"]]
    else:
        # Without a test there is no session: the error has a line for each finding.
        findings = [line for line in document["error"]["message"].splitlines() if "says that it" in line]
    branch = git(folder, "for-each-ref", "--format=%(refname:short)", "refs/heads/regreen/").split()
    written = git(folder, "diff", "main", branch[-1]) if branch else ""
    called = lambda source: re.sub(r"^list\((.*)\)$", r"\1", source, flags=re.DOTALL)
    found = [one for one in failing if any(plain(called(one)) in plain(text) for text in findings)]
    contradicted = [one for one in failing if f"assert{plain(one)}==" in plain(written)]
    others = len(findings) - len(found)
    row = f"| `{module}` | {len(failing)} | {len(found)} | {max(others, 0)} | {len(contradicted)} | {done.returncode} |"
    return row, bool(failing), len(found) == len(failing) and not contradicted


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("quixbugs", help="a checkout of QuixBugs")
    parser.add_argument("--regreen", default="target/release/regreen")
    options = parser.parse_args()
    regreen = os.path.abspath(options.regreen)
    programs = os.path.join(options.quixbugs, "python_programs")
    rows, counted = [], {True: [], False: []}
    with tempfile.TemporaryDirectory() as place:
        for name in sorted(os.listdir(programs)):
            with open(os.path.join(programs, name)) as file:
                text = documented(file.read()) if name.endswith(".py") else None
            if text is None:
                continue
            folder = os.path.join(place, name[:-3])
            os.mkdir(folder)
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
            with open(os.path.join(folder, "pytest.ini"), "w") as file:
                file.write("[pytest]\npythonpath = .\n")
            row, fails, complete = examine(regreen, folder, name[:-3])
            print(row, file=sys.stderr, flush=True)
            rows.append(row)
            counted[fails].append(complete)
    print("| Program | examples that fail | found | other findings | expected all the same | exit |")
    print("|:--|--:|--:|--:|--:|--:|")
    print("\n".join(rows))
    print(f"\nPrograms with a failing example: {len(counted[True])}, all of it found: {sum(counted[True])}; without one: {len(counted[False])}")


if __name__ == "__main__":
    main()
