#!/usr/bin/env python3
"""Time of an iteration with a model, without network, model and tests, beside the start-up of the clients.

    benches/models.py [--regreen target/release/regreen] [--clients FOLDER] [--files 10000]

A server on loopback answers at once: an analysis, then the right edit. What is printed is the time
of the iteration without test runs and without the questions themselves: localisation, reading the
sources, building both prompts, matching and vetting the edit, the project's own syntax check,
commits and files. `--clients` names the folder that `tests/clients/install` filled.
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--regreen", default="target/release/regreen")
    parser.add_argument("--clients")
    parser.add_argument("--files", type=int, default=10_000)
    options = parser.parse_args()
    program = os.path.abspath(options.regreen)
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
