#!/usr/bin/env python3
"""What `regreen integration` makes of modules of repositories, judged by planted breaks.

    benches/integration.py REPOSITORY MODULE [--test-command "python -m pytest -q"] [--breaks 20]
                           [--regreen target/release/regreen] [--engine-minutes 6]

The repository must be a clean git checkout whose tests run by the test command; it is copied first.
The session runs without a model. Then, in the copy with the new tests:

- each new test file of Python runs alone and ten times in shuffled order;
- breaks are planted on both sides of the boundaries that the session explored, as text: swapped
  arguments, a dropped call, a renamed key, a changed unit, another exception. A break that does not
  compile is left out. The new tests and those of before run on each.

One line of a table is printed: boundaries, crossed before and after, new tests, steady, breaks
planted, noticed by the new tests, and noticed by these alone.
"""

import argparse
import json
import pathlib
import py_compile
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

TIMEOUT = 300


def run(command, folder):
    """Whether a command succeeds, and its output."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return False, "timeout"
    return done.returncode == 0, done.stdout + done.stderr


def git(folder, *arguments):
    return subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True).stdout


def swap_arguments(line, call):
    """The line with the first two arguments of the call swapped."""
    given = call["arguments"]
    if len(given) < 2 or "=" in given[0] + given[1]:
        return None
    return replaced(line, f"{given[0]}, {given[1]}", f"{given[1]}, {given[0]}")


def drop_call(line, call):
    """The line with the call replaced by its first argument."""
    name = call["callee"].split(".")[-1]
    if not call["arguments"]:
        return None
    found = re.search(r"[\w.]*\b" + re.escape(name) + r"\(", line)
    whole = found and closed(line, found.start(), found.end())
    return whole and line.replace(whole, call["arguments"][0], 1)


def closed(line, start, opened):
    """The text from `start` to the bracket that closes the one before `opened`."""
    depth = 1
    for at in range(opened, len(line)):
        depth += {"(": 1, ")": -1}.get(line[at], 0)
        if depth == 0:
            return line[start : at + 1]
    return None


def replaced(line, old, new):
    return line.replace(old, new, 1) if old in line and old != new else None


def changed_unit(line):
    if re.match(r"\s*(#|//|\*|import|from|def |func |class )", line):
        return None
    found = re.search(r"(?<![\w.\"'])(\d+)(?![\w.\"'])", line)
    return found and line[: found.start(1)] + str(int(found.group(1)) * 100 + 1) + line[found.end(1) :]


def renamed_key(line):
    found = re.search(r"[\[{,]\s*[\"']([a-zA-Z_]{2,})[\"']\s*[:\]]", line)
    return found and line[: found.start(1)] + "x_" + line[found.start(1) :]


def other_exception(line):
    for pattern, other in [(r"raise (?!RuntimeError)([\w.]+)", "RuntimeError"), (r"throw new (?!EvalError)(\w+)", "EvalError")]:
        found = re.search(pattern, line)
        if found:
            return line[: found.start(1)] + other + line[found.end(1) :]
    return replaced(line, 'errors.New("', 'errors.New("x')


def breaks(folder, points, wanted):
    """Breaks as file, line from 0, and new text, drawn evenly from all kinds and files."""
    kinds = {}
    for point in points:
        lines = (folder / point["from"]).read_text().split("\n")
        for call in point["calls"]:
            at = call["line"] - 1
            for kind in (swap_arguments, drop_call):
                new = kind(lines[at], call)
                if new and new != lines[at]:
                    kinds.setdefault(kind.__name__, set()).add((point["from"], at, new))
        for file in (point["from"], point["to"]):
            for at, line in enumerate((folder / file).read_text().split("\n")):
                for kind in (changed_unit, renamed_key, other_exception):
                    new = kind(line)
                    if new and new != line:
                        kinds.setdefault(kind.__name__, set()).add((file, at, new))
    draw = random.Random(36)
    queues = [draw.sample(sorted(found), len(found)) for _, found in sorted(kinds.items())]
    chosen = []
    while len(chosen) < wanted and any(queues):
        chosen.extend(queue.pop() for queue in queues if queue)
    return chosen[:wanted]


def compiles(file):
    if file.suffix == ".py":
        try:
            py_compile.compile(str(file), cfile=str(file) + "c.tmp", doraise=True)
        except py_compile.PyCompileError:
            return False
        pathlib.Path(str(file) + "c.tmp").unlink()
    if file.suffix == ".go":
        return run(["go", "vet", f"./{file.parent.name}"], file.parent.parent)[0]
    return file.suffix not in (".js", ".mjs", ".cjs") or run(["node", "--check", str(file)], file.parent)[0]


def steady(folder, command, files):
    """How many of ten shuffled runs and of the runs alone failed."""
    ok, listed = run([*command, "--collect-only", *files], folder)
    names = [line for line in listed.split("\n") if "::" in line]
    if not ok or not names:
        return None
    failed = sum(not run([*command, name], folder)[0] for name in names)
    for seed in range(10):
        random.Random(seed).shuffle(names)
        failed += not run([*command, *names], folder)[0]
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository")
    parser.add_argument("module")
    parser.add_argument("--test-command", default="python -m pytest -q")
    parser.add_argument("--breaks", type=int, default=20)
    parser.add_argument("--engine-minutes", default="6")
    parser.add_argument("--regreen", default="target/release/regreen")
    options = parser.parse_args()
    regreen, command = str(pathlib.Path(options.regreen).resolve()), shlex.split(options.test_command)
    folder = pathlib.Path(tempfile.mkdtemp()) / pathlib.Path(options.repository).resolve().name
    shutil.copytree(options.repository, folder, symlinks=True)
    shutil.rmtree(folder / ".git/regreen", ignore_errors=True)
    words = [regreen, "integration", options.module, "--json", "--engine-minutes", options.engine_minutes]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    if not done.stdout.strip():
        sys.exit(done.stderr)
    state = json.loads(done.stdout)
    points = state["exploration"]["integration_points"]
    inventory = state["test_inventory"] or {}
    new = [one["path"] for one in inventory.get("test_files", [])]
    crossing = {one["boundary"] for one in inventory.get("test_files", [])}
    before = [one for one in points if one["crossed"] or one["crossed_by"]]
    after = [one for one in points if one in before or f"{one['from']} → {one['to']}" in crossing]
    row = [folder.name, options.module, len(points), len(before), len(after), inventory.get("total_tests", 0)]
    if new:
        git(folder, "checkout", "-q", f"regreen/{state['session_id']}")
        old = [f"--ignore={file}" for file in new]
        is_pytest = "pytest" in options.test_command
        row.append(steady(folder, command, new) if is_pytest else "not measured")
        planted = noticed = alone = 0
        for name, at, text in breaks(folder, points, options.breaks):
            file = folder / name
            original = file.read_text()
            lines = original.split("\n")
            lines[at] = text
            file.write_text("\n".join(lines))
            if compiles(file):
                planted += 1
                sees = not run([*command, *new], folder)[0]
                noticed += sees
                if sees and is_pytest:
                    alone += run([*command, *old], folder)[0]
                print(f"{'noticed' if sees else 'missed'} {name}:{at + 1} {text.strip()}", file=sys.stderr)
            file.write_text(original)
        row += [planted, noticed, alone]
    print("| repository | module | boundaries | crossed before | after | tests | unsteady | breaks | noticed | by these alone |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    print("| " + " | ".join(str(one) for one in row) + " |")


if __name__ == "__main__":
    main()
