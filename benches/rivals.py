#!/usr/bin/env python3
"""The mutation score of regreen beside that of an established tool, on the same tests.

    benches/packages.py --keep DIR            # writes the tests first
    benches/rivals.py DIR [--regreen target/dist/regreen] [--only inflection,ms,strsim]

Python and JavaScript: the packages that `benches/packages.py --keep DIR` left, with the tests that
regreen wrote, beside mutmut and Stryker. Rust: a crate with its own tests, beside cargo-mutants.
Needs `pip install mutmut==3.8.1`, npm with its registry, and `cargo install cargo-mutants`.

- regreen: `regreen score --json`.
- mutmut: `mutmut run --max-children 2`; its figure leaves out what no test runs.
- Stryker: the command runner with `node --test`, two at a time; a mutant that times out is noticed.
- cargo-mutants: every third mutant, two at a time; what does not compile is left out. regreen: 60
  of its own, evenly spread.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

STRYKER = "9.0.1"
CRATE = ("strsim", "0.11.1", ["src/lib.rs"])


def run(command, cwd, check=True, **more):
    began = time.monotonic()
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, **more)
    if check and done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return time.monotonic() - began, done.stdout, done.stderr


def copy(root, folder, name):
    """A copy of a repository with the tests that regreen wrote."""
    place = os.path.join(folder, name)
    shutil.copytree(root, place, symlinks=True)
    _, branches, _ = run(["git", "branch", "--list", "--format=%(refname:short)", "regreen/*"], place)
    names = branches.split()
    if not names:
        sys.exit(f"{root}: no branch with tests; run benches/packages.py --keep first")
    run(["git", "checkout", "-q", "--force", names[-1]], place)
    return place


def regreen(program, root, what, folder, *flags):
    environment = dict(os.environ, REGREEN_WORK_DIR=os.path.join(folder, "work"))
    took, out, err = run([program, "score", *what, "--json", *flags], root, check=False, env=environment)
    try:
        score = json.loads(out)
    except ValueError:
        sys.exit(f"regreen score: {err[-2000:]}")
    if "noticed" not in score:
        sys.exit(f"regreen score: {score}")
    return score["tried"], score["noticed"], took


def mutmut(root, what):
    source = what[0] if os.path.isdir(os.path.join(root, what[0])) else os.path.dirname(what[0])
    with open(os.path.join(root, "setup.cfg"), "a") as file:
        file.write(f"\n[mutmut]\npaths_to_mutate={source}\nsource_paths={source}\ntests_dir=tests\nalso_copy=\n    pytest.ini\n")
    took, out, err = run([sys.executable, "-m", "mutmut", "run", "--max-children", "2"], root, check=False)
    took_more, listed, _ = run([sys.executable, "-m", "mutmut", "results", "--all", "true"], root, check=False)
    words = re.findall(r": ([a-z ]+)$", listed, re.M)
    noticed = sum(words.count(word) for word in ("killed", "timeout", "segfault", "suspicious"))
    tried = noticed + words.count("survived")
    if not tried:
        sys.exit(f"mutmut tried nothing: {out[-1500:]}{err[-1500:]}")
    return tried, noticed, took


def stryker(root, what):
    # Its own development dependencies are none of the package's.
    with open(os.path.join(root, "stryker.conf.json"), "w") as file:
        json.dump({
            "mutate": [name if name.endswith("js") else name + "/**/*.js" for name in what],
            "testRunner": "command",
            "commandRunner": {"command": "node --test"},
            "concurrency": 2,
            "reporters": ["json"],
            "checkers": [],
            "allowConsoleColors": False,
        }, file)
    run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--no-save", f"@stryker-mutator/core@{STRYKER}"], root)
    took, out, err = run(["node_modules/.bin/stryker", "run", "stryker.conf.json"], root, check=False)
    path = os.path.join(root, "reports/mutation/mutation.json")
    if not os.path.exists(path):
        sys.exit(f"stryker: {out[-1500:]}{err[-1500:]}")
    with open(path) as file:
        report = json.load(file)
    words = [mutant["status"] for one in report["files"].values() for mutant in one["mutants"]]
    noticed = words.count("Killed") + words.count("Timeout")
    return noticed + words.count("Survived"), noticed, took


def crate(folder):
    """A crate of the registry as a repository of its own."""
    name, version, _ = CRATE
    shell = os.path.join(folder, "shell")
    os.makedirs(os.path.join(shell, "src"))
    with open(os.path.join(shell, "Cargo.toml"), "w") as file:
        file.write(f'[package]\nname = "shell"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n{name} = "={version}"\n')
    with open(os.path.join(shell, "src/lib.rs"), "w"):
        pass
    run(["cargo", "vendor", "--quiet"], shell)
    root = os.path.join(folder, name)
    shutil.move(os.path.join(shell, "vendor", name), root)
    os.remove(os.path.join(root, ".cargo-checksum.json"))
    with open(os.path.join(root, "Cargo.toml"), "a") as file:
        file.write("\n[workspace]\n")
    with open(os.path.join(root, ".gitignore"), "a") as file:
        file.write("target\nmutants.out*\n")
    run(["cargo", "generate-lockfile", "--quiet"], root)
    git = ["git", "-c", "user.name=bench", "-c", "user.email=bench@localhost"]
    run(git + ["init", "-q", "-b", "main"], root)
    run(git + ["add", "-A"], root)
    run(git + ["commit", "-q", "-m", f"{name} {version}"], root)
    return root


def cargo_mutants(root):
    took, out, err = run(["cargo", "mutants", "--no-shuffle", "-j", "2", "--shard", "0/3"], root, check=False)
    if not os.path.exists(os.path.join(root, "mutants.out", "caught.txt")):
        sys.exit(f"cargo mutants: {out[-1500:]}{err[-1500:]}")

    def count(name):
        with open(os.path.join(root, "mutants.out", name)) as file:
            return sum(1 for line in file if line.strip())

    noticed = count("caught.txt") + count("timeout.txt")
    return noticed + count("missed.txt"), noticed, took


def show(name, tool, found):
    tried, noticed, took = found
    share = 100 * noticed / tried if tried else 0
    print(f"| {name} | {tool} | {tried} | {noticed} | {share:.1f} % | {took:.0f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("packages", help="what `benches/packages.py --keep` was given")
    parser.add_argument("--regreen", default="target/dist/regreen")
    parser.add_argument("--only", default="inflection,ms,camelcase,strsim")
    options = parser.parse_args()
    program = os.path.abspath(options.regreen)
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, here)
    import packages
    only = options.only.split(",")
    print("| Tests of | Tool | mutants tried | noticed | score | seconds |")
    print("|:--|:--|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        for name, registry, version, what, _ in packages.PACKAGES:
            if name not in only:
                continue
            package = os.path.join(os.path.abspath(options.packages), name)
            (root,) = [entry.path for entry in os.scandir(package) if entry.is_dir()]
            # Each tool works on a copy of its own: they leave files behind.
            shown = f"`{name}` {version}"
            show(shown, "`regreen score`", regreen(program, copy(root, folder, name + "-ours"), what, folder))
            place = copy(root, folder, name + "-theirs")
            if registry == "pypi":
                show(shown, "mutmut 3.8.1", mutmut(place, what))
            else:
                show(shown, f"Stryker {STRYKER}", stryker(place, what))
        if CRATE[0] in only:
            root = crate(folder)
            shown = f"`{CRATE[0]}` {CRATE[1]}, its own"
            show(shown, "`regreen score`", regreen(program, root, CRATE[2], folder, "--mutants", "60"))
            show(shown, "cargo-mutants", cargo_mutants(root))


if __name__ == "__main__":
    main()
