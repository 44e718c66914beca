#!/usr/bin/env python3
"""Times cold builds of two revisions in the same run and prints ratios.

    benches/build.py [--before main] [--after HEAD] [--step release] [--step lints] [--step tests]

Each step starts with an empty target folder; downloads are done before. Processor time is that of every
compiler that the step started, linkers and C compilers included.
"""

import argparse
import os
import resource
import subprocess
import tempfile
import time

STEPS = {
    "release": ["cargo", "build", "--locked", "--release"],
    "lints": ["cargo", "clippy", "--locked", "--all-targets", "--all-features", "--", "-D", "warnings"],
    "tests": ["cargo", "test", "--locked", "--no-run"],
}


def checkout(revision, folder):
    """A copy of a revision, with its dependencies downloaded."""
    subprocess.run(["git", "worktree", "add", "--quiet", "--detach", folder, revision], check=True)
    subprocess.run(["cargo", "fetch", "--quiet", "--locked"], cwd=folder, check=True)


def build(step, sources, scratch):
    """Seconds of wall and processor time, and the crates compiled."""
    with tempfile.TemporaryDirectory(dir=scratch) as target:
        environment = {**os.environ, "CARGO_TARGET_DIR": target, "CARGO_INCREMENTAL": "0"}
        used, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        done = subprocess.run(STEPS[step], cwd=sources, env=environment, capture_output=True, text=True)
        wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            raise SystemExit(f"{' '.join(STEPS[step])} failed:\n{done.stderr[-4000:]}")
    crates = sum(line.strip().startswith(("Compiling", "Checking")) for line in done.stderr.splitlines())
    return wall, after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime, crates


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--before", default="main")
    options.add_argument("--after", default="HEAD")
    options.add_argument("--step", action="append", choices=STEPS)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folders = {name: os.path.join(scratch, name) for name in ("before", "after")}
        try:
            for name, folder in folders.items():
                checkout(getattr(chosen, name), folder)
            print(f"{os.cpu_count()} processors; wall and processor time in seconds, crates compiled")
            for step in chosen.step or STEPS:
                before, after = (build(step, folder, scratch) for folder in folders.values())
                print(
                    f"{step:8} before {before[0]:5.0f} {before[1]:5.0f} {before[2]:4}, after {after[0]:5.0f} {after[1]:5.0f}"
                    f" {after[2]:4}; wall {after[0] / before[0] - 1:+.0%}, processor {after[1] / before[1] - 1:+.0%}",
                    flush=True,
                )
        finally:
            for folder in folders.values():
                subprocess.run(["git", "worktree", "remove", "--force", folder], check=False)


if __name__ == "__main__":
    main()
