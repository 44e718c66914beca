#!/usr/bin/env python3
"""Measures regreen beside other tools in the same run and prints ratios.

    benches/speed.py [--regreen target/dist/regreen]

Needs `pip install junitparser pytest pytest-testmon`.
"""

import argparse
import glob
import os
import subprocess
import sys
import tempfile
import time


def timed(command, **more):
    began = time.monotonic()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    return time.monotonic() - began, done.stdout


def measure(*arguments):
    command = ["cargo", "bench", "--quiet", "--profile", "dist", "--features", "internals", "--bench", "parse", "--", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def start_up(regreen):
    ours = min(timed([regreen, "--version"])[0] for _ in range(20))
    python = min(timed([sys.executable, "-c", "pass"])[0] for _ in range(20))
    print(f"start-up: regreen {ours * 1000:.1f} ms, python {python * 1000:.1f} ms")


def junit(folder):
    path = os.path.join(folder, "report.xml")
    with open(path, "w") as file:
        file.write('<testsuites><testsuite name="s">')
        for number in range(100_000):
            inner = '<failure message="1 != 2" type="AssertionError">trace\n line</failure>' if number % 20 == 0 else ""
            file.write(f'<testcase classname="pkg.mod{number % 97}" name="test_{number}" time="0.01">{inner}</testcase>\n')
        file.write("</testsuite></testsuites>")
    ours = float(measure("junit", path))
    script = f"import time,junitparser;b=time.monotonic();x=junitparser.JUnitXml.fromfile({path!r});n=sum(1 for s in x for c in s if (c.classname,c.name,c.time,c.result) is not None);assert n==100000,n;print((time.monotonic()-b)*1000)"
    theirs = min(float(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout) for _ in range(3))
    print(f"100,000 JUnit cases: regreen {ours:.1f} ms, junitparser {theirs:.0f} ms, {theirs / ours:.0f} times faster")


def impact(folder):
    """5,000 files: 2,500 modules, each importing two earlier ones, and a test for each."""
    root = os.path.join(folder, "repo")
    for group in range(50):
        os.makedirs(os.path.join(root, "pkg", f"g{group}"))
        open(os.path.join(root, "pkg", f"g{group}", "__init__.py"), "w").close()
    open(os.path.join(root, "pkg", "__init__.py"), "w").close()
    os.makedirs(os.path.join(root, "tests"))
    for number in range(2500):
        group = number // 50
        near = [n for n in (number - 1, number - 7) if n >= group * 50]
        lines = [f"from pkg.g{group}.m{n} import f as f{n}" for n in near]
        call = " + ".join(["1"] + [f"f{n}(0)" for n in near[:1]])
        with open(os.path.join(root, "pkg", f"g{group}", f"m{number}.py"), "w") as file:
            file.write("\n".join(lines) + f"\n\n\ndef f(x):\n    return x + {call}\n")
        with open(os.path.join(root, "tests", f"test_m{number}.py"), "w") as file:
            file.write(f"from pkg.g{group}.m{number} import f\n\n\ndef test_f():\n    assert f(1) > 0\n")
    changed = "pkg/g20/m1040.py"
    print("impact, regreen:", measure("impact", root, changed), "ms")
    pytest = [sys.executable, "-m", "pytest", "-q", "--testmon"]
    environment = dict(os.environ, PYTHONPATH=root)
    first, _ = timed(pytest, cwd=root, env=environment)
    with open(os.path.join(root, changed), "a") as file:
        file.write("\n\ndef g():\n    return 2\n")
    path = os.path.join(root, changed)
    text = open(path).read().replace("return x + 1", "return x + 2 - 1")
    open(path, "w").write(text)
    second, out = timed(pytest + ["--collect-only"], cwd=root, env=environment)
    print(f"impact, pytest --testmon: first run {first:.0f} s, selection after the change {second:.1f} s ({out.strip().splitlines()[-1]})")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--regreen", default="target/dist/regreen")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        start_up(os.path.abspath(options.regreen))
        junit(folder)
        impact(folder)


if __name__ == "__main__":
    main()
