"""Mutants that are not regreen's: a random sample of cosmic-ray's, and the tests that notice them.

Needs `pip install pytest==9.2.0 cosmic-ray==8.7.0 coverage`; imported by `packages.py --mutants N`.
"""

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


def sample_mutants(paths, count, seed=20):
    """`count` mutants inside functions of these files, the same for every suite: (path, operator, occurrence, line)."""
    found = []
    for path in paths:
        tree = get_ast_from_path(pathlib.Path(path))
        for name in sorted(cosmic_ray.plugins.operator_names()):
            kind = cosmic_ray.plugins.get_operator(name)
            if kind.arguments():
                continue
            operator = kind()
            positions = ((node, start) for node in ast_nodes(tree) for start, _ in operator.mutation_positions(node))
            for occurrence, (node, start) in enumerate(positions):
                if ASTQuery(node).get_definition_name():
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
