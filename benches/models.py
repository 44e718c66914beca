#!/usr/bin/env python3
"""Time of an iteration with a model, without network, model and tests, beside the start-up of the clients.

    benches/models.py [--regreen target/dist/regreen] [--clients FOLDER] [--files 10000]
    benches/models.py --questions [--show] [--regreen target/dist/regreen]

A server on loopback answers at once: an analysis, then the right edit. What is printed is the time
of the iteration without test runs and without the questions themselves: localisation, reading the
sources, building both prompts, matching and vetting the edit, the project's own syntax check,
commits and files. `--clients` names the folder that `tests/clients/install` filled.

With `--questions`, three small repositories (Python, JavaScript, Go) with one fault each are repaired in
two iterations: the first answer changes the right line wrongly. What is printed is the number of calls
and the size of the questions of each iteration, at four bytes for a token; `--show` prints the questions.
"""

import argparse
import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time

ANALYSIS = {
    "root_causes": [], "approach": "Add instead of taking away.",
    "modification_points": ["pkg/m0.py:total:1-5"], "affected_tests": ["tests.test_m0.T.test_total"],
    "confidence_score": 0.9, "expected_outcome": "passes", "verification_steps": [], "impact": "none",
    "report": "The sum falls with every value. " * 25,
}
EDIT = {"edits": [{"file": "pkg/m0.py", "search": "        result -= value\n",
                   "replace": "        result += value\n", "reason": "adds"}], "confidence_score": 0.9}


class Handler(http.server.BaseHTTPRequestHandler):
    asked = 0
    size = 0

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        Handler.size = max(Handler.size, len(body))
        answer = ANALYSIS if Handler.asked % 2 == 0 else EDIT
        Handler.asked += 1
        text = json.dumps({"choices": [{"message": {"content": json.dumps(answer)}, "finish_reason": "stop"}],
                           "usage": {"prompt_tokens": 1, "completion_tokens": 1}}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


def repository(root, files, port):
    def write(path, text):
        path = os.path.join(root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)

    total = "def total(values):\n    result = 0\n    for value in values:\n        result {}= value\n    return result\n"
    for number in range(files):
        folder = f"pkg/g{number // 100}" if number else "pkg"
        write(f"{folder}/__init__.py", "")
        write(f"{folder}/m{number}.py", total.format("+" if number else "-"))
    write("tests/__init__.py", "")
    write("tests/test_m0.py", "import unittest\n\nfrom pkg.m0 import total\n\n\nclass T(unittest.TestCase):\n    def test_total(self):\n        self.assertEqual(total([1, 2]), 3)\n")
    write(".github/regreen.yml", f"providers: [one]\nprovider:\n  one: {{ protocol: chat, model: m, base-url: 'http://127.0.0.1:{port}' }}\n")
    git = ["git", "-c", "user.name=bench", "-c", "user.email=bench@localhost"]
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "all"]):
        subprocess.run(git + command, cwd=root, check=True)


# name, source, its fault, an edit that does not help, the right one, other files.
REPOSITORIES = [
    ("python", "shop/price.py", "subtotal + discount", "subtotal * discount", "subtotal - discount", {
        "shop/__init__.py": "",
        "shop/price.py": "\"\"\"Prices of a shop.\"\"\"\n\n\ndef total(prices, discount=0):\n    \"\"\"The sum of the prices, less the discount.\n\n    >>> total([5, 5], 2)\n    8\n    \"\"\"\n    subtotal = sum(prices)\n    return subtotal + discount\n\n\ndef tax(price, rate=20):\n    \"\"\"The tax on a price, in whole cents.\"\"\"\n    return price * rate // 100\n",
        "tests/__init__.py": "",
        "tests/test_price.py": "import unittest\n\nfrom shop.price import tax, total\n\n\nclass PriceTest(unittest.TestCase):\n    def test_total(self):\n        self.assertEqual(total([1, 2]), 3)\n\n    def test_discount(self):\n        self.assertEqual(total([50, 50], 10), 90)\n\n    def test_tax(self):\n        self.assertEqual(tax(100), 20)\n\n    def test_no_tax(self):\n        self.assertEqual(tax(0), 0)\n",
    }, "tests.test_price.PriceTest.test_discount"),
    ("javascript", "lib/price.js", "subtotal + discount", "subtotal * discount", "subtotal - discount", {
        "package.json": '{ "name": "shop", "version": "1.0.0", "scripts": { "test": "node --test" } }\n',
        "lib/price.js": "/** The sum of the prices, less the discount. */\nfunction total(prices, discount = 0) {\n  const subtotal = prices.reduce((sum, price) => sum + price, 0);\n  return subtotal + discount;\n}\n\n/** The tax on a price, in whole cents. */\nfunction tax(price, rate = 20) {\n  return Math.floor((price * rate) / 100);\n}\n\nmodule.exports = { total, tax };\n",
        "test/price.test.js": "const test = require('node:test');\nconst assert = require('node:assert');\nconst { total, tax } = require('../lib/price.js');\n\ntest('total', () => {\n  assert.strictEqual(total([1, 2]), 3);\n});\n\ntest('discount', () => {\n  assert.strictEqual(total([50, 50], 10), 90);\n});\n\ntest('tax', () => {\n  assert.strictEqual(tax(100), 20);\n});\n\ntest('no tax', () => {\n  assert.strictEqual(tax(0), 0);\n});\n",
    }, "test/price.test.js::discount"),
    ("go", "price/price.go", "subtotal + discount", "subtotal * discount", "subtotal - discount", {
        "go.mod": "module example.com/shop\n\ngo 1.20\n",
        "price/price.go": "// Package price computes prices.\npackage price\n\n// Total returns the sum of the prices, less the discount.\nfunc Total(prices []int, discount int) int {\n\tsubtotal := 0\n\tfor _, price := range prices {\n\t\tsubtotal += price\n\t}\n\treturn subtotal + discount\n}\n\n// Tax returns the tax on a price, in whole cents.\nfunc Tax(price, rate int) int {\n\treturn price * rate / 100\n}\n",
        "price/price_test.go": "package price\n\nimport \"testing\"\n\nfunc TestTotal(t *testing.T) {\n\tif got := Total([]int{1, 2}, 0); got != 3 {\n\t\tt.Errorf(\"got %d, want 3\", got)\n\t}\n}\n\nfunc TestDiscount(t *testing.T) {\n\tif got := Total([]int{50, 50}, 10); got != 90 {\n\t\tt.Errorf(\"got %d, want 90\", got)\n\t}\n}\n\nfunc TestTax(t *testing.T) {\n\tif got := Tax(100, 20); got != 20 {\n\t\tt.Errorf(\"got %d, want 20\", got)\n\t}\n}\n",
    }, "example.com/shop/price.TestDiscount"),
]


class Asked(http.server.BaseHTTPRequestHandler):
    """Answers as a model would that errs once, and keeps the questions."""

    case = None
    questions = []
    wrong = True

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        system, question = (message["content"] for message in body["messages"])
        form = json.dumps(body["response_format"]) if "response_format" in body else ""
        role = re.match(r"You are the (\w+)", system)[1]
        iteration = int(re.search(r"IMPL-fix-(\d+)", question)[1])
        Asked.questions.append((iteration, role, system, question, form))
        _, file, fault, bad, good, files, test = Asked.case
        line = next(number for number, text in enumerate(files[file].splitlines(), 1) if fault in text)
        (whole,) = [text for text in files[file].splitlines() if fault in text]
        new = whole.replace(fault, bad if iteration == 1 else good)
        block = f"{file}\n```\n<<<<<<< SEARCH\n{whole}\n=======\n{new}\n>>>>>>> REPLACE\n```\n"
        blocks = "<<<<<<< SEARCH" in question
        if role == "analyst":
            text = json.dumps(dict(
                ANALYSIS, modification_points=[f"{file}::{line}-{line}"], affected_tests=[test],
                evidence=[{"test": test, "expected": "90", "actual": "110", "line": whole.strip()}],
            )) + ("\n\n" + block if blocks else "")
        elif blocks:
            text = "The discount is taken off.\n\n" + block
        else:
            text = json.dumps({"edits": [{"file": file, "search": whole, "replace": new, "reason": "takes it off"}]})
        answer = json.dumps({"choices": [{"message": {"content": text}, "finish_reason": "stop"}],
                             "usage": {"prompt_tokens": 1, "completion_tokens": 1}}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


def questions(program, show):
    """Prints the calls and the tokens of the questions of two iterations in each repository."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Asked)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for case in REPOSITORIES:
        Asked.case, Asked.questions = case, []
        with tempfile.TemporaryDirectory() as folder:
            root = os.path.join(folder, "repo")
            files = dict(case[5])
            files[".github/regreen.yml"] = f"providers: [one]\nprovider:\n  one: {{ protocol: chat, model: m, context: 1000000, base-url: 'http://127.0.0.1:{server.server_address[1]}' }}\n"
            for path, text in files.items():
                path = os.path.join(root, path)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w") as file:
                    file.write(text)
            git = ["git", "-c", "user.name=bench", "-c", "user.email=bench@localhost"]
            for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "all"]):
                subprocess.run(git + command, cwd=root, check=True)
            environment = dict(os.environ, REGREEN_WORK_DIR=os.path.join(folder, "work"))
            done = subprocess.run([program, "fix", "--json"], cwd=root, capture_output=True, text=True, env=environment)
            if json.loads(done.stdout)["result"] != "success":
                sys.exit(done.stderr)
        for iteration in sorted({question[0] for question in Asked.questions}):
            asked = [question for question in Asked.questions if question[0] == iteration]
            tokens = [len("".join(question[2:]).encode()) // 4 for question in asked]
            roles = ", ".join(f"{role} {size}" for (_, role, *_), size in zip(asked, tokens))
            print(f"{case[0]}, iteration {iteration}: {len(asked)} calls, {sum(tokens)} tokens ({roles})")
        if show:
            for iteration, role, system, question, form in Asked.questions:
                print(f"===== {case[0]} {iteration} {role}\n{system}\n-----\n{question}\n-----\n{form}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--regreen", default="target/dist/regreen")
    parser.add_argument("--clients")
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--questions", action="store_true")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    program = os.path.abspath(options.regreen)
    if options.questions:
        questions(program, options.show)
        return
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for files in (10, options.files):
        with tempfile.TemporaryDirectory() as folder:
            root = os.path.join(folder, "repo")
            os.makedirs(root)
            repository(root, files, server.server_address[1])
            Handler.asked = Handler.size = 0
            environment = dict(os.environ, REGREEN_WORK_DIR=os.path.join(folder, "work"))
            done = subprocess.run([program, "-vv", "fix", "--json"], cwd=root, capture_output=True, text=True, env=environment)
            document = json.loads(done.stdout)
            if document["result"] != "success":
                sys.exit(done.stderr)
            (one,) = document["iterations"]
            with open(os.path.join(document["folder"], ".process/outcomes.jsonl")) as lines:
                moves = [json.loads(line)["step"] for line in lines if line.startswith('{"step"')]
            spent = {move["step"]["step"]: move["took_ms"] for move in moves}
            asked = sum(call["duration_ms"] for call in one["calls"])
            work = spent["diagnose"] + spent["propose"] + spent["apply"] + spent["keep"] - asked
            context = re.findall(r"context gathered took=(\S+)", done.stderr)
            print(f"{files} files: {work} ms besides {asked} ms of questions (diagnose {spent['diagnose']}, propose {spent['propose']}, apply {spent['apply']}, keep {spent['keep']}); context read in {' and '.join(context)}; largest question {Handler.size / 1000:.1f} kB")
    for name in ("gemini", "qwen", "codex", "claude") if options.clients else ():
        path = os.path.join(options.clients, "node_modules/.bin", name)
        times = []
        for _ in range(3):
            began = time.monotonic()
            subprocess.run([path, "--version"], capture_output=True, check=True)
            times.append(time.monotonic() - began)
        print(f"{name} --version: {min(times) * 1000:.0f} ms")


if __name__ == "__main__":
    main()
