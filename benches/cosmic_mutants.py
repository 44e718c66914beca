"""Mutants that are not regreen's: a random sample of cosmic-ray's, and the tests that notice them.

Needs `pip install pytest==9.2.0 cosmic-ray==8.7.0 coverage`; imported by `packages.py --mutants N`.
"""

import ast
import json
import os
import pathlib
import random
import subprocess
import sys

import cosmic_ray.plugins
from cosmic_ray.ast import ast_nodes, get_ast_from_path
from cosmic_ray.ast.ast_query import ASTQuery
from cosmic_ray.mutating import apply_mutation

SECONDS = 60


def unread_annotations(path):
    """Where annotations stand that nothing evaluates: a mutant of `str | None` there changes no behaviour."""
    tree = ast.parse(pathlib.Path(path).read_text(encoding="utf-8"))
    if not any(isinstance(node, ast.ImportFrom) and node.module == "__future__" and "annotations" in [one.name for one in node.names] for node in tree.body):
        return []
    annotations = (getattr(node, field, None) for node in ast.walk(tree) for field in ("annotation", "returns"))
    return [((one.lineno, one.col_offset), (one.end_lineno, one.end_col_offset)) for one in annotations if one]


def sample_mutants(paths, count, seed=20):
    """`count` mutants inside functions of these files, the same for every suite: (path, operator, occurrence, line)."""
    found = []
    for path in paths:
        tree = get_ast_from_path(pathlib.Path(path))
        unread = unread_annotations(path)
        for name in sorted(cosmic_ray.plugins.operator_names()):
            kind = cosmic_ray.plugins.get_operator(name)
            if kind.arguments():
                continue
            operator = kind()
            positions = ((node, start) for node in ast_nodes(tree) for start, _ in operator.mutation_positions(node))
            for occurrence, (node, start) in enumerate(positions):
                if ASTQuery(node).get_definition_name() and not any(first <= start <= last for first, last in unread):
                    found.append((path, operator, occurrence, start[0]))
    return random.Random(seed).sample(found, min(count, len(found)))


def run_tests(root, tests, *before):
    command = [sys.executable, *before, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", *tests]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=SECONDS, env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1"))
    except subprocess.TimeoutExpired:
        return None
    return done


def measure_lines(root, tests, paths):
    """What these tests run of the files: lines that they miss by path, and (covered, all) of lines and of branches."""
    data, report = os.path.join(root, ".cosmic-coverage"), os.path.join(root, ".cosmic-coverage.json")
    include = ",".join(paths)
    run_tests(root, tests, "-m", "coverage", "run", "--branch", "--data-file", data, "--include", include)
    subprocess.run([sys.executable, "-m", "coverage", "json", "-q", "--data-file", data, "-o", report], cwd=root, capture_output=True)
    if not os.path.exists(report):
        return {}, (0, 0), (0, 0)
    with open(report) as file:
        files = json.load(file)["files"]
    os.remove(data)
    os.remove(report)
    lines = {os.path.abspath(os.path.join(root, path)): set(one["missing_lines"]) for path, one in files.items()}
    total = lambda key: sum(one["summary"][key] for one in files.values())
    return lines, (total("covered_lines"), total("num_statements")), (total("covered_branches"), total("num_branches"))


def notice_mutants(root, tests, paths, count):
    """(noticed of all, all, noticed of covered, covered, lines, branches) of a sample of mutants."""
    lines, ran, branches = measure_lines(root, tests, paths)
    result = {"noticed": 0, "all": 0, "noticed of covered": 0, "covered": 0, "lines": ran, "branches": branches}
    for path, operator, occurrence, line in sample_mutants(paths, count):
        missed = lines.get(os.path.abspath(path))
        covered = missed is not None and line not in missed
        noticed = False
        if covered:
            with open(path, encoding="utf-8") as file:
                original = file.read()
            try:
                apply_mutation(pathlib.Path(path), operator, occurrence)
                done = run_tests(root, tests)
                noticed = done is None or done.returncode != 0
            finally:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(original)
        result["all"] += 1
        result["noticed"] += noticed
        result["covered"] += covered
        result["noticed of covered"] += noticed
    return result


def judged_row(name, root, tests, paths, count):
    """A row of a table on tests of a package: what they run and notice of `count` mutants, and how many of them a mutant fails."""
    found = notice_mutants(root, tests, paths, count)
    share = lambda part, whole: f"{part}/{whole}" + (f" = {part * 100 // whole} %" if whole else "")
    noticed = [share(found["noticed"], found["all"]), share(found["noticed of covered"], found["covered"])]
    cells = [share(*found["lines"]), share(*found["branches"]), *noticed, share(*strong_tests(root, tests, paths))]
    return f"| `{name}` | " + " | ".join(cells) + " |"


def list_tests(root, tests):
    """The ids of tests, and the name that coverage.py has for each as a context."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *tests]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True).stdout.splitlines()
    ids = [line for line in listed if "::" in line]
    context = lambda one: pathlib.Path(one.split("::")[0]).stem + "." + ".".join(one.split("[")[0].split("::")[1:])
    return {one: context(one) for one in ids}


def contexts_by_line(root, tests, paths):
    """The contexts of coverage.py that run each line: {(path, line): contexts}."""
    settings, report = os.path.join(root, ".cosmic-contexts.ini"), os.path.join(root, ".cosmic-contexts.json")
    data = os.path.join(root, ".cosmic-contexts")
    with open(settings, "w") as file:
        file.write("[run]\ndynamic_context = test_function\n")
    run_tests(root, tests, "-m", "coverage", "run", "--rcfile", settings, "--data-file", data, "--include", ",".join(paths))
    subprocess.run([sys.executable, "-m", "coverage", "json", "-q", "--show-contexts", "--data-file", data, "-o", report], cwd=root, capture_output=True)
    with open(report) as file:
        files = json.load(file)["files"]
    for one in (settings, report, data):
        os.remove(one)
    place = lambda path: os.path.abspath(os.path.join(root, path))
    return {(place(path), int(line)): set(run) for path, one in files.items() for line, run in one["contexts"].items()}


def failing_tests(root, ids):
    """The tests among these that fail; all of them if they do not end."""
    command = [sys.executable, "-m", "pytest", "-q", "-rf", "--tb=no", "-p", "no:cacheprovider", "-p", "no:randomly", *ids]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=SECONDS, env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1"))
    except subprocess.TimeoutExpired:
        return set(ids)
    named = {line.split(" ", 1)[1].split(" - ")[0] for line in done.stdout.splitlines() if line.startswith("FAILED ")}
    # A module that does not load fails every test.
    return named if done.returncode in (0, 1) else set(ids)


def strong_tests(root, tests, paths, most=40):
    """(tests that fail for a mutant of a line that they run, all): each is tried with at most `most` mutants."""
    ids, ran = list_tests(root, tests), contexts_by_line(root, tests, paths)
    left, tried = set(ids), dict.fromkeys(ids, 0)
    for path, operator, occurrence, line in sample_mutants(paths, sys.maxsize):
        contexts = ran.get((os.path.abspath(path), line), set())
        due = sorted(one for one in left if tried[one] < most and any(name.endswith(ids[one]) for name in contexts))
        if not due:
            continue
        with open(path, encoding="utf-8") as file:
            original = file.read()
        try:
            apply_mutation(pathlib.Path(path), operator, occurrence)
            left -= failing_tests(root, due)
        finally:
            with open(path, "w", encoding="utf-8") as file:
                file.write(original)
        for one in due:
            tried[one] += 1
    for one in sorted(left):
        print(f"no mutant of {tried[one]} fails {one}", file=sys.stderr)
    return len(ids) - len(left), len(ids)
