#!/usr/bin/env python3
"""What `regreen integration` makes of modules of repositories, judged by planted breaks.

    benches/integration.py REPOSITORY MODULE [--test-command "python -m pytest -q"] [--breaks 20]
                           [--regreen target/release/regreen] [--engine-minutes 6] [--options "…"]
                           [--recorded benches/recorded_tests/NAME]

The repository must be a clean git checkout whose tests run by the test command; it is copied first.
The session runs without a model, unless `--options` names one, or `--recorded` a folder with the tests
that were written for this module: a server on loopback answers with the file that is asked for. Such
answers measure no model; they show what regreen does with them. Then, in the copy with the new tests:

- the new tests run alone, and ten times in shuffled order where the runner can shuffle;
- breaks are planted in the functions on both sides of the boundaries that the session explored, as
  text: swapped arguments, a dropped call, a renamed key, a changed unit, another exception. A break
  that does not compile is left out. The new tests run on each, and if they notice it, the old ones too.

One line of a table is printed: boundaries, crossed before and after, new tests, unsteady runs, breaks
planted, noticed by the new tests, and noticed by these alone.
"""

import argparse
import ast
import json
import os
import pathlib
import py_compile
import random
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile

import chat_server

TIMEOUT = 90

# What a broken program of Go may take, which else grows until the machine stands still.
MEMORY = 4 << 30


def bound_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def run(command, folder):
    """Whether a command succeeds, and its output."""
    try:
        bound = bound_memory if command[0] == "go" else None
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=TIMEOUT, preexec_fn=bound
        )
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


def drop_statement(line):
    """Nothing in the place of a line that is a call of its own."""
    found = re.match(r"(\s*)(?:await )?(?!return|if|for|while|super|print|panic|del|assert)[\w.]+\(.*\);?$", line)
    return found and found.group(1) + ("pass" if not line.endswith(";") and found.group(1)[:1] == " " else "")


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
    # A number beside an error of Go, and the depth that a warning points to, is read by nobody.
    if re.match(r"\s*(#|//|\*|import|from|def |func |class |return \d+, \w*err)|.*\bstacklevel=", line):
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


def python_span(text, name):
    """The lines of a function of Python from 0, without its docstring; of a class, those of its constructor."""
    for node in ast.walk(ast.parse(text)):
        own = getattr(node, "name", None) == name
        if own and isinstance(node, ast.ClassDef):
            made = [one for one in node.body if getattr(one, "name", None) == "__init__"]
            return made and range(made[0].body[0].lineno - 1, made[0].end_lineno)
        if own and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[bool(ast.get_docstring(node)) and len(node.body) > 1]
            return range(first.lineno - 1, node.end_lineno)
    return ()


def braced_span(text, name):
    """The lines from 0 of a declaration with braces."""
    declared = rf"(?:function\*?\s+|func\s+(?:\([^)]*\)\s*)?|const\s+|let\s+|var\s+|exports\.|^\s+(?:async\s+|static\s+)*){re.escape(name)}\s*(?:=|\(|<|\[)"
    found = re.search(declared, text, re.M)
    opened = found and text.find("{", found.end())
    if not found or opened < 0:
        return ()
    depth = 0
    for at in range(opened, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return range(text.count("\n", 0, opened) + 1, text.count("\n", 0, at))
    return ()


def broken_lines(folder, point):
    """The lines of both sides of a boundary that a break may be planted in, by file."""
    for file, names in ((point["from"], "caller"), (point["to"], "callee")):
        text = (folder / file).read_text()
        span = python_span if file.endswith(".py") else braced_span
        own = {one[names].split(".")[-1] for one in point["calls"]}
        yield file, sorted({line for name in own for line in span(text, name)})


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
        for file, own in broken_lines(folder, point):
            lines = (folder / file).read_text().split("\n")
            for at in own:
                for kind in (changed_unit, renamed_key, other_exception, drop_statement):
                    new = kind(lines[at])
                    if new and new != lines[at]:
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


SHUFFLES = {
    "vitest": "--sequence.shuffle.tests --sequence.seed={}",
    "jest": "--randomize --seed={}",
    "go": "-shuffle={} -count=1",
}


def own_command(folder, command, files):
    """The command that runs the new test files alone."""
    if command[0] != "go":
        return [*command, *files]
    texts = [(folder / file).read_text() for file in files]
    names = [name for text in texts for name in re.findall(r"^func (Test\w+)", text, re.M)]
    packages = sorted({f"./{pathlib.Path(file).parent}" for file in files})
    return ["go", "test", "-run", f"^({'|'.join(names)})$", *packages]


def unsteady(folder, command, files):
    """How many of the runs of new tests failed: each alone and ten in shuffled order, as far as the runner can."""
    own = own_command(folder, command, files)
    if "pytest" in command:
        ok, listed = run([*own, "--collect-only"], folder)
        names = [line for line in listed.split("\n") if "::" in line]
        if not ok or not names:
            return "not run"
        failed = sum(not run([*command, name], folder)[0] for name in names)
        for seed in range(10):
            random.Random(seed).shuffle(names)
            failed += not run([*command, *names], folder)[0]
        return failed
    runner = next((name for name in SHUFFLES if name in command), None)
    options = SHUFFLES.get(runner, "")
    failed = sum(not run([*own, *options.format(seed).split()], folder)[0] for seed in range(1, 11))
    return failed + sum(not run(own_command(folder, command, [file]), folder)[0] for file in files)


def serve_recorded(recorded):
    """Starts a server of the chat protocol that answers with recorded test files; returns its settings."""

    def answer(asked):
        question = "\n".join(str(one["content"]) for one in asked["messages"])
        known = {str(file.relative_to(recorded)): file for file in recorded.rglob("*_test.*")}
        named = next((name for name in known if f"Write `{name}`" in question), None)
        files = [{"file": named, "content": known[named].read_text(), "reason": "recorded"}] if named else []
        tests = {"edits": [], "new_files": files, "covers": [], "notes": "", "confidence_score": 0.9}
        message = {"role": "assistant", "content": json.dumps(tests)}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return {"id": "1", "model": "recorded", "choices": [choice], "usage": usage}

    url = f"http://127.0.0.1:{chat_server.serve(answer)}"
    provider = f"{{ protocol: chat, model: recorded, key: RECORDED_KEY, base-url: '{url}' }}"
    return f"providers: [recorded, embedded]\nprovider:\n  recorded: {provider}\n"


def noticed_before(folder, command, files):
    """Whether the tests without the new files notice what is planted."""
    texts = {file: (folder / file).read_text() for file in files}
    for file in files:
        (folder / file).unlink()
    passed, _ = run(command, folder)
    for file, text in texts.items():
        (folder / file).write_text(text)
    return not passed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository")
    parser.add_argument("module")
    parser.add_argument("--test-command", default="python -m pytest -q")
    parser.add_argument("--breaks", type=int, default=20)
    parser.add_argument("--engine-minutes", default="6")
    parser.add_argument("--regreen", default="target/release/regreen")
    parser.add_argument("--options", default="", help="further options of regreen")
    parser.add_argument("--recorded", default="", help="the folder with recorded test files")
    options = parser.parse_args()
    regreen, command = str(pathlib.Path(options.regreen).resolve()), shlex.split(options.test_command)
    folder = pathlib.Path(tempfile.mkdtemp()) / pathlib.Path(options.repository).resolve().name
    shutil.copytree(options.repository, folder, symlinks=True)
    shutil.rmtree(folder / ".git/regreen", ignore_errors=True)
    environment = dict(os.environ)
    if options.recorded:
        settings = folder / ".github/regreen.yml"
        settings.parent.mkdir(exist_ok=True)
        settings.write_text(serve_recorded(pathlib.Path(options.recorded).resolve()))
        environment["RECORDED_KEY"] = "none"
        git(folder, "add", "-f", str(settings))
        git(folder, "-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "-qm", "Settings")
    words = [regreen, "integration", options.module, "--json", "--engine-minutes", options.engine_minutes, *shlex.split(options.options)]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, env=environment)
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
        row.append(unsteady(folder, command, new))
        planted = noticed = alone = 0
        own = own_command(folder, command, new)
        for name, at, text in breaks(folder, points, options.breaks):
            file = folder / name
            original = file.read_text()
            lines = original.split("\n")
            lines[at] = text
            file.write_text("\n".join(lines))
            if compiles(file):
                planted += 1
                sees = not run(own, folder)[0]
                noticed += sees
                alone += sees and not noticed_before(folder, command, new)
                print(f"{'noticed' if sees else 'missed'} {name}:{at + 1} {text.strip()}", file=sys.stderr)
            file.write_text(original)
        row += [planted, noticed, alone]
    print("| repository | module | boundaries | crossed before | after | tests | unsteady | breaks | noticed | by these alone |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    print("| " + " | ".join(str(one) for one in row) + " |")


if __name__ == "__main__":
    main()
