#!/usr/bin/env python3
"""What tests of Pynguin notice, judged as those of `regreen test` are by `packages.py --mutants`.

    python3.10 -m venv pynguin && pynguin/bin/pip install pynguin==0.48.0 pytest==8.4.2 coverage cosmic-ray==8.4.6
    pynguin/bin/python benches/pynguin_tests.py [--only funcy,idna] [--seconds 120] [--mutants 40]

Pynguin runs code as it finds it: use a machine with nothing to lose. Each package has the given seconds, shared
among its modules, with Pynguin's own settings. Tests that fail on the unchanged code are taken out
before mutants are tried. One row a package, as the second table of `packages.py`.
"""

import argparse
import glob
import os
import subprocess
import sys
import tempfile

from cosmic_mutants import failing_tests, judged_row, list_tests
from packages import PACKAGES, repository


def generate(root, path, seconds, folder):
    """Runs Pynguin on one module; its test file, if it wrote one."""
    source = "src" if path.startswith("src/") else "."
    module = os.path.relpath(path, source)[:-3].replace("/", ".")
    module = module.removesuffix(".__init__")
    folder = os.path.join(folder, module.replace(".", "_"))
    os.makedirs(folder)
    command = [
        sys.executable, "-m", "pynguin", "--project-path", os.path.join(root, source), "--module-name", module,
        "--output-path", folder, "--maximum-search-time", str(seconds), "--seed", "1",
    ]
    environment = dict(os.environ, PYNGUIN_DANGER_AWARE="1", PYTHONPATH=os.path.join(root, source))
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, env=environment, timeout=seconds * 4 + 120)
        ended = done.returncode
    except subprocess.TimeoutExpired:
        ended = "none"
    print(f"{module}: exit {ended}", file=sys.stderr, flush=True)
    made = glob.glob(os.path.join(folder, "test_*.py"))
    return made[0] if made else None


def judge(name, root, what, seconds, count):
    """A row on one package."""
    folder = os.path.join(root, "tests")
    os.makedirs(folder, exist_ok=True)
    tests = [generate(root, path, max(1, seconds // len(what)), folder) for path in what]
    tests = [os.path.relpath(path, root) for path in tests if path]
    paths = [os.path.join(root, path) for path in what]
    broken = failing_tests(root, sorted(list_tests(root, tests))) if tests else set()
    kept = sorted(set(list_tests(root, tests)) - broken) if tests else []
    if not kept:
        return f"| `{name}` | nothing that passes was written | | | | |"
    return judged_row(name, root, kept, paths, count)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", help="names of packages, with commas")
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--mutants", type=int, default=40)
    options = parser.parse_args()
    only = options.only.split(",") if options.only else None
    print("| Package | lines | branches | noticed, all lines | noticed, covered lines | tests that a mutant fails |\n|:--|--:|--:|--:|--:|--:|")
    for name, registry, version, what, package in PACKAGES:
        is_module = registry == "pypi" and all(path.endswith(".py") for path in what)
        if not is_module or only and name not in only:
            continue
        with tempfile.TemporaryDirectory() as folder:
            root, _ = repository(name, registry, version, package, folder)
            print(judge(name, root, what, options.seconds, options.mutants), flush=True)


if __name__ == "__main__":
    main()
