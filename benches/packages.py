#!/usr/bin/env python3
"""What `regreen test` makes of public packages that lost their own tests.

    benches/packages.py [--regreen target/dist/regreen] [--only inflection,ms] [--replay DIR] [--keep DIR]
    benches/packages.py --renew benches/recordings

Needs pip and npm with their registries, and `pip install pytest==9.2.0 text-unidecode six`. For each package: the
source distribution at a pinned version is fetched, its own tests are removed, a repository is
made of it, and `regreen test` runs to its end without a model. With `--replay DIR` the answers
recorded in `DIR/<package>` stand in for a model, and packages without a recording are left out;
`benches/recordings` holds three. With `--renew DIR` the answers of DIR are given to the questions of
today, and the rules and digests of these questions take the place of the old ones; nothing else of
DIR changes, and a session that asks something else, or in another order, ends it. The last thing that is printed is one table:

- functions: those that new tests reach;
- lines, branches, functions: what the project's own coverage tool tells of the functions that were
  asked for, with the new tests; before, nothing runs;
- score: mutants that the new tests notice, of those tried;
- flaky: new tests whose result changed between runs; none of them stays;
- 001.3 and 001.5: what the two gates decided, and which numbers the tests do not reach.
"""

import argparse
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

import chat_server

VITEST = {"scripts": {"test": "vitest run"}, "devDependencies": {"vitest": "2.1.9"}}
NODE_TEST = {"scripts": {"test": "node --test"}}

# name, registry, version, what is tested: files below the root, and what `package.json` is given.
PACKAGES = [
    ("inflection", "pypi", "0.5.1", ["inflection"], None),
    ("humanize", "pypi", "4.9.0", ["src/humanize"], None),
    ("ms", "npm", "2.1.3", ["index.js"], NODE_TEST),
    ("bytes", "npm", "3.1.2", ["index.js"], NODE_TEST),
    ("slugify", "npm", "1.6.6", ["slugify.js"], NODE_TEST),
    ("camelcase", "npm", "8.0.0", ["index.js"], NODE_TEST),
    ("pretty-bytes", "npm", "6.1.1", ["index.js"], NODE_TEST),
    ("pluralize-esm", "npm", "9.0.5", ["src/index.ts"], VITEST),
    ("ts-dedent", "npm", "2.2.0", ["src/index.ts"], VITEST),
    ("python-slugify", "pypi", "8.0.4", ["slugify/slugify.py"], None),
    ("idna", "pypi", "3.10", ["idna/core.py", "idna/intranges.py"], None),
    ("tomli", "pypi", "2.2.1", ["src/tomli/_parser.py", "src/tomli/_re.py"], None),
    ("markupsafe", "pypi", "3.0.2", ["src/markupsafe/__init__.py"], None),
    ("more-itertools", "pypi", "10.5.0", ["more_itertools/recipes.py"], None),
    ("boltons", "pypi", "25.0.0", ["boltons/strutils.py"], None),
    ("funcy", "pypi", "2.0", ["funcy/seqs.py", "funcy/strings.py"], None),
    ("python-dateutil", "pypi", "2.9.0", ["src/dateutil/easter.py", "src/dateutil/relativedelta.py"], None),
    ("qs", "npm", "6.13.1", ["lib/utils.js", "lib/parse.js"], NODE_TEST),
    ("semver", "npm", "7.6.3", ["classes/semver.js", "functions/coerce.js"], NODE_TEST),
    ("content-type", "npm", "1.0.5", ["index.js"], NODE_TEST),
    ("change-case", "npm", "5.4.4", ["dist/index.js"], NODE_TEST),
]

# Beginnings of what is a package's own test; `conftest.py` goes with them.
TESTS = re.compile(r"(^|/)(tests?|__tests__|spec|testing)(/|$)|(^|/)(test_[^/]*|[^/]*_test|conftest)\.py$|\.(test|spec)\.[cm]?[jt]sx?$|(^|/)test\.[cm]?js$")


def run(command, cwd, **more):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done.stdout


def fetch(name, registry, version, folder):
    """The unpacked source distribution."""
    if registry == "pypi":
        requirement = f"{name}=={version}"
        run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", requirement, "-d", folder], folder)
    else:
        run(["npm", "pack", "--silent", f"{name}@{version}"], folder)
    archives = glob.glob(os.path.join(folder, "*.tar.gz")) + glob.glob(os.path.join(folder, "*.tgz"))
    with tarfile.open(archives[0]) as archive:
        archive.extractall(folder, filter="data")
    os.remove(archives[0])
    (root,) = [entry.path for entry in os.scandir(folder) if entry.is_dir()]
    return root


def strip(root):
    """Takes the package's own tests out; answers with how many files went."""
    gone = 0
    for place, folders, files in os.walk(root, topdown=True):
        for name in list(folders):
            path = os.path.relpath(os.path.join(place, name), root)
            if TESTS.search(path + "/"):
                gone += sum(len(inside) for _, _, inside in os.walk(os.path.join(place, name)))
                shutil.rmtree(os.path.join(place, name))
                folders.remove(name)
        for name in files:
            if TESTS.search(os.path.relpath(os.path.join(place, name), root)):
                os.remove(os.path.join(place, name))
                gone += 1
    return gone


def configure(root, registry, name, package):
    """A way to run tests, where the package's own went away with its development files."""
    if registry == "pypi":
        # The package's own options name plug-ins that are not here.
        for own in ("tox.ini", "pytest.ini"):
            if os.path.exists(os.path.join(root, own)):
                os.remove(os.path.join(root, own))
        source = "src" if os.path.isdir(os.path.join(root, "src")) else "."
        # A package that asks for its own version finds it where an editable install would put it.
        information = os.path.join(root, source, name.replace("-", "_") + ".egg-info")
        if os.path.exists(os.path.join(root, "PKG-INFO")) and not os.path.isdir(information):
            os.makedirs(information)
            shutil.copy(os.path.join(root, "PKG-INFO"), information)
        with open(os.path.join(root, "pytest.ini"), "w") as file:
            file.write(f"[pytest]\npythonpath = {source}\ntestpaths = tests\n")
        ignored = "__pycache__/\n.pytest_cache/\n"
    else:
        path = os.path.join(root, "package.json")
        with open(path) as file:
            present = json.load(file)
        for key in ("scripts", "devDependencies", "ava", "tap", "jest", "xo", "prettier"):
            present.pop(key, None)
        present.update(package)
        with open(path, "w") as file:
            json.dump(present, file, indent=2)
        ignored = "node_modules/\n"
        if "devDependencies" in package:
            run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"], root)
    with open(os.path.join(root, ".gitignore"), "a") as file:
        file.write(ignored)


def repository(name, registry, version, package, folder):
    """A repository of a package without its tests; (root, test files that went)."""
    place = os.path.join(folder, name)
    os.makedirs(place)
    root = fetch(name, registry, version, place)
    gone = strip(root)
    configure(root, registry, name, package)
    git = ["git", "-c", "user.name=bench", "-c", "user.email=bench@localhost"]
    run(git + ["init", "-q", "-b", "main"], root)
    # Nothing is built yet, so that nothing ignored is there but what an install leaves.
    run(git + ["add", "-A"] + (["--force"] if registry == "pypi" else []), root)
    run(git + ["commit", "-q", "-m", f"{name} {version} without tests"], root)
    return root, gone


def test(regreen, name, root, what, folder, replay, minutes):
    """Runs the session; (document, minutes)."""
    environment = dict(os.environ, REGREEN_WORK_DIR=os.path.join(folder, "work-" + name))
    command = [regreen, "test", *what, "--json", *(["--engine-minutes", minutes] if minutes else [])]
    if replay:
        command += ["--replay", os.path.join(replay, name)]
    began = time.monotonic()
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, env=environment)
    minutes = (time.monotonic() - began) / 60
    try:
        return json.loads(done.stdout), minutes
    except ValueError:
        return {"failed": (done.stderr or done.stdout)[-1500:]}, minutes


def exchanges(folder):
    """The recorded exchanges of a folder in order: path and content."""
    found = []
    for path in sorted(glob.glob(os.path.join(folder, "[0-9]*.json"))):
        with open(path) as file:
            found.append((path, json.load(file)))
    return found


def serve(answers):
    """A model on loopback that gives these answers in order, whatever it is asked; its port."""
    left = list(answers)

    def answer(_):
        if not left:
            return None
        one = left.pop(0)
        usage = one["usage"]
        return {
            "model": one["model"],
            "choices": [{"message": {"content": one["text"]}, "finish_reason": "length" if one["cut"] else "stop"}],
            "usage": {"prompt_tokens": usage["input_tokens"], "completion_tokens": usage["output_tokens"]},
        }

    return chat_server.serve(answer)


def renew(regreen, name, root, what, folder, recording):
    """Asks today's questions, answers them from the recording, and renews its digests."""
    old = exchanges(recording)
    port = serve([exchange["outcome"]["answer"] for _, exchange in old])
    with open(os.path.join(recording, "run.json")) as file:
        run_of = json.load(file)
    first = old[0][1]
    settings = os.path.join(folder, name + ".yml")
    with open(settings, "w") as file:
        file.write(
            f"providers: [{', '.join(run_of['chain'])}]\nprovider:\n  {first['provider']}: "
            f"{{ protocol: chat, model: {first['model']}, context: {first['context']}, base-url: 'http://127.0.0.1:{port}/v1' }}\n"
        )
    tape = os.path.join(folder, name + "-tape")
    environment = dict(os.environ, REGREEN_WORK_DIR=os.path.join(folder, "work-" + name))
    command = [regreen, "test", *what, "--json", "--config", settings, "--record", tape]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, env=environment)
    new = exchanges(tape)
    with open(os.path.join(tape, "run.json")) as file:
        fence = json.load(file)["fence"]
    asked = [exchange["id"] for _, exchange in new]
    if asked != [exchange["id"] for _, exchange in old]:
        sys.exit(f"{name}: now asks {asked}; record it anew\n{done.stderr[-2000:]}")
    changed = 0
    for (path, exchange), (_, today) in zip(old, new):
        # The word around foreign text is that of the recorded run.
        known = lambda text: text.replace(fence, run_of["fence"])
        digest = "sha256:" + hashlib.sha256(known(today["prompt"]).encode()).hexdigest()
        rules = known(today["system"])
        if digest != exchange["prompt"] or rules != exchange["system"]:
            changed += 1
            quoted = lambda text: json.dumps(text, ensure_ascii=False)
            with open(path) as file:
                text = file.read()
            text = text.replace(exchange["prompt"], digest)
            with open(path, "w") as file:
                file.write(text.replace(quoted(exchange["system"]), quoted(rules)))
    print(f"{name}: {changed} of {len(old)} questions are new", file=sys.stderr, flush=True)


def row(name, version, document, minutes):
    made = document.get("produced")
    if not made:
        why = document.get("failed") or document.get("result")
        return f"| `{name}` {version} | nothing was written: {' '.join(str(why).split())[-200:]} | | | | | | | {minutes:.1f} |"
    generation = {}
    path = os.path.join(document["folder"], ".process", "generation.json")
    if os.path.exists(path):
        with open(path) as file:
            generation = json.load(file)
    reports = [generation["made"]["report"]] if generation.get("made") else []
    functions = [one for report in reports for one in report["functions"]]
    pinned = sum(1 for one in functions if one["assertions"])
    assertions = sum(one["assertions"] for report in reports for one in report["files"])

    measured = (made.get("coverage") or {}).get("measured")

    def share(when, what):
        if not measured:
            return "?"
        part, whole = measured[when][what]["part"], measured[when][what]["whole"]
        return f"{part * 100 // whole} %" if whole else "-"

    def covered(when):
        return ", ".join(share(when, what) for what in ("line", "branch", "function"))

    def gate(which):
        said = generation.get(which) or {}
        decision = str(said.get("decision", "?")).upper().replace(" ", "_")
        return decision if decision == "PASS" else f"{decision}: {said.get('reason', '')}"

    missed = made.get("shortfall")
    cells = [
        f"`{name}` {version}",
        f"{pinned} of {len(functions)}",
        f"{made['tests']} / {assertions}",
        covered("before"),
        covered("after"),
        f"{made.get('mutation-score') or '?'} %",
        str(made["flaky"]),
        gate("validation"),
        gate("review") + (f", not reached: {missed}" if missed else ""),
        f"{minutes:.1f}",
    ]
    return "| " + " | ".join(cells) + " |"


def judge_tests(name, root, what, count):
    """A row on what the new tests of a Python package notice of mutants that are not regreen's."""
    from cosmic_mutants import judged_row

    branches = run(["git", "for-each-ref", "--format=%(refname:short)", "refs/heads/regreen/"], root).split()
    if not branches:
        return f"| `{name}` | nothing was written | | | | |"
    run(["git", "checkout", "-q", "-f", "--detach", branches[-1]], root)
    tests = [path for path in run(["git", "diff", "--name-only", "main", "HEAD"], root).split() if path.endswith(".py")]
    paths = [os.path.join(root, path) for place in what for path in run(["git", "ls-files", place], root).split()]
    paths = [path for path in paths if path.endswith(".py")]
    row = judged_row(name, root, tests, paths, count)
    run(["git", "checkout", "-q", "-f", "main"], root)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--regreen", default="target/dist/regreen")
    parser.add_argument("--only", help="names of packages, with commas")
    parser.add_argument("--replay", metavar="DIR", help="recorded model answers, a folder for each package")
    parser.add_argument("--renew", metavar="DIR", help="give recorded answers to the questions of today, and keep the digests of these")
    parser.add_argument("--keep", metavar="DIR", help="leave the repositories here")
    parser.add_argument("--engine-minutes", metavar="N", help="as `regreen test` takes it")
    parser.add_argument("--mutants", metavar="N", type=int, help="of Python packages, judge the tests by N mutants of cosmic-ray")
    options = parser.parse_args()
    regreen = os.path.abspath(options.regreen)
    replay = options.replay or options.renew
    replay = os.path.abspath(replay) if replay else None
    only = options.only.split(",") if options.only else [package[0] for package in PACKAGES]
    folder = os.path.abspath(options.keep) if options.keep else tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    rows, judged = [], []
    try:
        for name, registry, version, what, package in PACKAGES:
            if name not in only or replay and not os.path.isdir(os.path.join(replay, name)):
                continue
            shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
            shutil.rmtree(os.path.join(folder, "work-" + name), ignore_errors=True)
            root, gone = repository(name, registry, version, package, folder)
            print(f"{name}: {gone} of its own test files taken out", file=sys.stderr, flush=True)
            if options.renew:
                renew(regreen, name, root, what, folder, os.path.join(replay, name))
                continue
            document, minutes = test(regreen, name, root, what, folder, replay, options.engine_minutes)
            with open(os.path.join(folder, name + ".json"), "w") as file:
                json.dump(document, file, indent=1)
            rows.append(row(name, version, document, minutes))
            print(rows[-1], file=sys.stderr, flush=True)
            if options.mutants and registry == "pypi":
                judged.append(judge_tests(name, root, what, options.mutants))
                print(judged[-1], file=sys.stderr, flush=True)
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    if options.renew:
        return
    print("| Package | functions | tests / assertions | before | after | score | flaky | gate 001.3 | gate 001.5 | minutes |")
    print("|:--|--:|--:|--:|--:|--:|--:|:--|:--|--:|")
    print("\n".join(rows))
    if judged:
        print("\n| Package | lines | branches | noticed, all lines | noticed, covered lines | tests that a mutant fails |")
        print("|:--|--:|--:|--:|--:|--:|")
        print("\n".join(judged))


if __name__ == "__main__":
    main()
