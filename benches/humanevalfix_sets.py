"""What the measurements on HumanEvalFix share: one git repository per bug, `regreen fix`, and a table of results.

A script holds a `Language` and calls `main`. An edit is *plausible* when the tests pass, and *correct* when the judge of
the language finds no input on which it and the reference differ. With `--check` regreen is not run: the tests have to
pass with the reference and fail with the bug, and the judge has to say the same of the two.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import math
import os
import re
import shutil
import signal
import statistics
import subprocess
import tempfile
import time
import typing


@dataclasses.dataclass
class Language:
    """What is particular to a language."""

    # The file of the repository that holds the function.
    source: str
    # The command that runs the tests.
    test: list
    # From a row and a body of the function to the files of the repository.
    files: typing.Callable
    # From a row, the text of a repaired `source` and an empty folder to what `verdict` returns.
    judge: typing.Callable
    # From a row to the reason why it cannot be run here, or nothing.
    skip: typing.Callable = lambda row: ""


def write(folder, files):
    for name, text in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)


def finished(command, folder, timeout):
    """Runs a command to its end; one that takes too long is ended with all that it started."""
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                               start_new_session=True)
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
    return process.returncode, out, err


def verdict(command, folder, timeout=300):
    """Whether two solutions agree, and a word on it, from a program that prints how many inputs it tried and how many differ."""
    _, out, err = finished(command, folder, timeout)
    return read_verdict(out, err)


def read_verdict(out, err):
    found = re.search(r"JUDGED (\d+) (\d+)(.*)", out)
    if not found:
        return False, "the judge ended: " + (out + err)[-200:].strip()
    tried, differ = int(found[1]), int(found[2])
    return tried > 0 and differ == 0, f"{differ} of {tried} differ{found[3]}"


def judge(language, row, fixed, folder):
    try:
        return language.judge(row, fixed, folder)
    except subprocess.TimeoutExpired:
        return False, "the judge took too long"


def values(row):
    """The texts and the whole numbers that the tests of a row hold, from which a judge makes more of their kind."""
    texts = []
    for literal in re.findall(r'"(?:[^"\\\n]|\\.)*"', row["test"]):
        try:
            texts.append(json.loads(literal))
        except ValueError:
            pass
    numbers = {int(number) for number in re.findall(r"(?<![\w.])-?\d+(?![\w.])", row["test"])}
    return sorted({text for text in texts if len(text) <= 60}), sorted(one for one in numbers if abs(one) <= 10**6)


def literals(row):
    """`values` as lists in the syntax that C, Java and Rust share, without their brackets."""
    texts, numbers = values(row)
    return ", ".join(json.dumps(text, ensure_ascii=False) for text in texts), ", ".join(map(str, numbers))


def fix(language, row, options, folder, result):
    """Runs regreen on the bug of a row and writes into `result` what came of it."""
    repo = os.path.join(folder, "repo")
    write(repo, language.files(row, row["buggy_solution"]))
    git = ["git", "-C", repo, "-c", "user.name=b", "-c", "user.email=b@localhost"]
    subprocess.run(["git", "init", "-q", "-b", "main", repo], check=True)
    subprocess.run(git + ["add", "-A"], check=True)
    subprocess.run(git + ["commit", "-q", "-m", "first"], check=True)
    environment = dict(os.environ, REGREEN_WORK_DIR=os.path.join(folder, "work"))
    command = [options.regreen, "fix", repo, "--json", "--quiet", "--jobs", str(options.candidates), "--test-timeout", "60s",
               "--budget-minutes", f"{options.minutes:g}", "--target", "100"]
    # The budget ends the search, and not what comes before and after it.
    most = options.minutes + 7
    began = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60 * most)
    except subprocess.TimeoutExpired:
        result["error"] = f"took longer than {most:g} minutes"
        return
    result["seconds"] = time.monotonic() - began
    try:
        document = json.loads(done.stdout)
    except ValueError:
        result["error"] = (done.stderr or done.stdout)[-300:]
        return
    result["candidates"] = sum(one["candidates"] for one in document["iterations"])
    result["reason"] = document["reason"]
    result["summary"] = [one["summary"] for one in document["iterations"] if one["outcome"] == "improved"]
    result["plausible"] = document["result"] == "success"
    if result["plausible"]:
        show = git + ["show", f"{document['branch']}:{language.source}"]
        fixed = subprocess.run(show, capture_output=True, text=True, check=True).stdout
        result["correct"], result["differ"] = judge(language, row, fixed, os.path.join(folder, "judge"))


def run(language, row, options):
    result = {"id": row["task_id"], "kind": row["bug_type"], "plausible": False, "correct": False, "candidates": 0}
    folder = tempfile.mkdtemp(prefix="regreen-" + row["task_id"].replace("/", "-") + "-")
    try:
        fix(language, row, options, folder, result)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return result


LATE = "they took longer than two minutes"


def passes(language, files, folder):
    """Whether the tests pass, and the end of what they printed."""
    write(folder, files)
    try:
        code, out, err = finished(language.test, folder, 120)
    except subprocess.TimeoutExpired:
        return False, LATE
    return code == 0, " ".join((out + err)[-300:].split())


def check(language, row):
    """What is wrong with the row itself; and where the judge does not do its work, which is less."""
    folder = tempfile.mkdtemp(prefix="check-" + row["task_id"].replace("/", "-") + "-")
    problems, remarks = [], []
    try:
        reference = language.files(row, row["canonical_solution"])
        bug = language.files(row, row["buggy_solution"])
        good, said = passes(language, reference, os.path.join(folder, "reference"))
        if not good:
            problems.append(f"the tests fail with the reference: {said}")
        good, said = passes(language, bug, os.path.join(folder, "bug"))
        if good:
            problems.append("the tests pass with the bug")
        elif said == LATE:
            remarks.append(f"the tests of the bug: {LATE}")
        good, itself = judge(language, row, reference[language.source], os.path.join(folder, "judge-reference"))
        if not good:
            problems.append(f"the judge on the reference: {itself}")
        good, said = judge(language, row, bug[language.source], os.path.join(folder, "judge-bug"))
        if good:
            remarks.append(f"the judge does not notice the bug: {said}")
        return problems, remarks, f"{itself} from itself; the bug: {said}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def check_all(language, rows, options):
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for row, (problems, remarks, itself) in zip(rows, pool.map(lambda row: check(language, row), rows)):
            wrong += bool(problems)
            print(f"{row['task_id']:10} {'; '.join(problems + remarks) or 'as it should be: ' + itself}", flush=True)
    print(f"\n{len(rows)} rows checked, {wrong} with a problem")


def table(results):
    kinds = sorted({result["kind"] for result in results})
    print("\n| kind | bugs | plausible | first patch correct |\n|:--|--:|--:|--:|")
    for kind in kinds + ["all"]:
        part = [result for result in results if kind in ("all", result["kind"])]
        print(f"| {kind} | {len(part)} | {sum(r['plausible'] for r in part)} | {sum(r['correct'] for r in part)} |")
    seconds = [result["seconds"] for result in results if "seconds" in result]
    if seconds:
        candidates = statistics.median(result["candidates"] for result in results)
        print(f"\nmedian {statistics.median(seconds):.1f} s a bug, median {candidates:.0f} candidates")
    # Where the tests pass in the end, the last candidate is the one that was accepted.
    ranks = sorted(result["candidates"] for result in results if result["plausible"])
    if ranks:
        late = ranks[math.ceil(0.9 * len(ranks)) - 1]
        print(f"first accepted candidate: median {statistics.median(ranks):.0f}, 90th percentile {late}")


def main(description, language):
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("set")
    parser.add_argument("--regreen", default="target/dist/regreen")
    parser.add_argument("--jobs", type=int, default=1, help="bugs at a time")
    parser.add_argument("--candidates", type=int, default=2, help="candidates at a time")
    parser.add_argument("--minutes", type=float, default=3, help="budget of one bug")
    parser.add_argument("--only", default="", metavar="ID,ID")
    parser.add_argument("--check", action="store_true", help="check the set and the judge, without regreen")
    options = parser.parse_args()
    options.regreen = os.path.abspath(options.regreen)
    with open(options.set) as file:
        rows = [json.loads(line) for line in file if line.strip()]
    selected = {name.split("/")[-1] for name in options.only.split(",") if name}
    rows = [row for row in rows if not selected or row["task_id"].split("/")[-1] in selected]
    skipped = {row["task_id"]: language.skip(row) for row in rows if language.skip(row)}
    for name, reason in skipped.items():
        print(f"{name:10} skipped: {reason}", flush=True)
    rows = [row for row in rows if row["task_id"] not in skipped]
    if options.check:
        check_all(language, rows, options)
    else:
        results = []
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for result in pool.map(lambda row: run(language, row, options), rows):
                results.append(result)
                mark = "correct" if result["correct"] else "plausible" if result["plausible"] else "-"
                said = "; ".join(result.get("summary", [])) or result.get("reason", result.get("error", ""))[:90]
                print(f"{result['id']:10} {result['kind']:18} {mark:10} {result.get('seconds', 0):6.1f} s {result['candidates']:6} "
                      f"{said} {result.get('differ', '') if mark == 'plausible' else ''}", flush=True)
        table(results)
    if skipped:
        print(f"{len(skipped)} skipped")
