"""A pytest plugin that writes one JSON line per test to the file in REGREEN_CASES.

REGREEN_SELECT may name a file with one node id per line: only those tests run. REGREEN_CANDIDATE says
that a candidate is tried or that lines are measured, for which the settings of other plugins change. As a
script it is the program `pytest`.
"""

import json
import os
import signal
import sys
import time

import pytest
from process_end import await_end

MESSAGE_LIMIT = 4096
STACK_LIMIT = 16384


# What the project's plugins are told, by the names that their options have in pytest.
# In every run of a session tests have the same order and the same random numbers (pytest-randomly), so
# that what differs between two runs is due to the sources.
ALWAYS = {"randomly_seed": 1}
# A candidate is judged by its few tests alone: without a threshold for the whole suite (pytest-cov), and
# up to the last of them. Where lines are measured, pytest-cov must not measure them instead.
CANDIDATE = {"no_cov": True, "maxfail": 0}
# A prepared process forks, and so is the only one (pytest-xdist); of other processes no lines are measured.
# A process of its own keeps its workers: a test that ends one must not end the others.
WARM = {"numprocesses": 0, "dist": "no", "tx": [], "distload": False}
ALONE = ("warm", "measured")


def tell_plugins(options):
    """Sets the options that plugins are installed for, unless a seed was chosen."""
    candidate = os.environ.get("REGREEN_CANDIDATE")
    wanted = dict(ALWAYS, **(CANDIDATE if candidate else {}), **(WARM if candidate in ALONE else {}))
    for name, value in wanted.items():
        chosen = getattr(options, name, None)
        if hasattr(options, name) and not (name in ALWAYS and isinstance(chosen, int)):
            setattr(options, name, value)


@pytest.hookimpl(hookwrapper=True)
def pytest_load_initial_conftests(early_config):
    # pytest-cov starts here, before the options are read for good.
    tell_plugins(early_config.known_args_namespace)
    reruns = early_config.pluginmanager.get_plugin("rerunfailures")
    if reruns and os.environ.get("REGREEN_CANDIDATE") == "warm":
        # Beside pytest-xdist it starts a thread for its workers, which keeps the process from forking.
        reruns.HAS_PYTEST_HANDLECRASHITEM = False
    yield


@pytest.hookimpl(hookwrapper=True)
def pytest_cmdline_main(config):
    tell_plugins(config.option)
    yield


def is_crash(report):
    """Whether a worker of pytest-xdist died in the test, which is reported for no phase of it."""
    return report.when not in ("setup", "call", "teardown")


def take_report(running, report, describe):
    """The result of a test, which has up to three reports, with its last one; None before it. An attempt
    that pytest-rerunfailures repeats is none."""
    if report.when == "setup":
        running.pop(report.nodeid, None)
    state = running.setdefault(report.nodeid, {"status": "passed", "ms": 0.0, "repeated": False})
    state["ms"] += getattr(report, "duration", 0) * 1000
    state["repeated"] |= report.outcome == "rerun"
    if report.failed and state["status"] != "failed" and not hasattr(report, "regreen_hook"):
        state["status"] = "failed"
        state.update(describe(report))
    elif report.skipped and state["status"] == "passed":
        state["status"] = "skipped"
    if report.when != "teardown" and not is_crash(report):
        return None
    running.pop(report.nodeid)
    state["id"] = report.nodeid
    return None if state.pop("repeated") else state


TEARDOWN = "teardown of "

# Fixtures of more than one test, by their code.
shared_fixtures = {}


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup(fixturedef):
    if fixturedef.scope != "function":
        shared_fixtures[getattr(fixturedef.func, "__code__", None)] = fixturedef


def hook_of(item, excinfo):
    """The id of a teardown that failed behind the last test of its class, file, folder or session, which it
    does not belong to; None for the teardown of a test."""
    for entry in excinfo.traceback:
        fixture = shared_fixtures.get(getattr(entry.frame.code, "raw", None))
        if fixture:
            parts = item.nodeid.split("[", 1)[0].split("::")
            around = {"class": parts[:-1], "module": parts[:1]}.get(fixture.scope, [])
            return "::".join(around + [TEARDOWN + fixture.func.__name__])
    return None


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    hook = hook_of(item, call.excinfo) if call.when == "teardown" and call.excinfo else None
    if hook:
        outcome.get_result().regreen_hook = hook


def hung_tests():
    """What tests that made an earlier run hang are said to do, by their names."""
    path = os.environ.get("REGREEN_HUNG")
    if not path:
        return {}
    with open(path, encoding="utf-8") as file:
        return json.load(file)


class Recorder:
    def __init__(self, config):
        self.root = str(config.rootpath) if hasattr(config, "rootpath") else str(config.rootdir)
        # A command may run pytest more than once.
        self.out = open(os.environ["REGREEN_CASES"], "a", encoding="utf-8")
        self.open = {}
        self.chosen, self.reported, self.crashed = [], set(), set()

    def pytest_collection_finish(self, session):
        self.chosen = [item.nodeid for item in session.items]

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids):
        self.chosen = list(ids)

    def write(self, record):
        if "status" in record:
            self.reported.add(record["id"])
        self.out.write(json.dumps(record) + "\n")
        self.out.flush()

    def describe(self, report):
        text = getattr(report, "longreprtext", "") or ""
        crash = getattr(getattr(report, "longrepr", None), "reprcrash", None)
        last = text.strip().rsplit("\n", 1)[-1]
        if not last.startswith("E "):
            # Of a fixture that nothing defines, pytest names the place behind the message.
            last = next((line for line in text.splitlines() if line.startswith("E ")), last)
        message = getattr(crash, "message", None) or last
        if message.startswith("E "):
            message = message[1:].lstrip()
        head = message.split("\n", 1)[0]
        kind = head.split(":", 1)[0].strip()
        plain = kind.replace(".", "").replace("_", "").isalnum() and " " not in kind
        if plain and ":" in head:
            message = message.split(":", 1)[1].strip()
        stack = []
        chain = getattr(getattr(report, "longrepr", None), "reprtraceback", None)
        for entry in getattr(chain, "reprentries", []) or []:
            place = getattr(entry, "reprfileloc", None)
            if place is not None:
                stack.append('  File "%s", line %s, in ?' % (os.path.join(self.root, str(place.path)), place.lineno))
        return {
            "class": kind.rsplit(".", 1)[-1] if plain else "AssertionError" if head.startswith("assert ") else "",
            "message": message[:MESSAGE_LIMIT],
            "stack": ("\n".join(stack) + "\n" + text)[:STACK_LIMIT],
        }

    def pytest_runtest_logstart(self, nodeid, location):
        self.write({"id": nodeid, "start": True, "at": time.time()})

    def write_hung(self, is_spread):
        """Tests of the file in REGREEN_HUNG made an earlier run hang: they fail without being run. Where
        the tests are spread over workers, these have left them out."""
        for name, message in hung_tests().items():
            line = Runner.left_out.get(name)
            if line is not None or is_spread:
                file = os.path.join(self.root, name.split("::", 1)[0])
                self.write({"id": name, "status": "failed", "ms": 0, "file": file, "line": line, "message": message})

    def pytest_collectreport(self, report):
        if report.failed:
            record = {"id": report.nodeid or "collection", "kind": "unloaded", "status": "failed", "ms": 0, "line": None}
            record["file"] = os.path.join(self.root, report.nodeid.split("::", 1)[0]) or None
            record.update(self.describe(report))
            self.write(record)

    def pytest_runtest_logreport(self, report):
        state = take_report(self.open, report, self.describe)
        # Where tests are spread by files, it is tried again in each new worker.
        is_known = is_crash(report) and report.nodeid in self.crashed
        if is_crash(report) and state is not None:
            self.crashed.add(report.nodeid)
        hook = getattr(report, "regreen_hook", None)
        if hook:
            file = os.path.join(self.root, hook.split("::", 1)[0]) if "::" in hook else None
            self.write({"id": hook, "kind": "hook", "status": "failed", "ms": 0, "file": file, **self.describe(report)})
        if state is not None and not is_known:
            file, line, _name = report.location
            # A test in which the process ended has no place: it is no goal of a search.
            if not is_crash(report):
                state.update(file=os.path.join(self.root, file), line=None if line is None else line + 1)
            state["ms"] = int(state["ms"])
            self.write(state)

    def pytest_sessionfinish(self, session):
        self.write_hung(session.config.pluginmanager.hasplugin("dsession"))
        # A run that was cut short (`-x`, too many workers that died) leaves tests without a result.
        left = set(self.chosen) - self.reported
        self.write({"end": True, "planned": len(self.reported) + len(left)})
        await_end()


class Runner:
    """Chooses the tests and limits each of them: in each worker of pytest-xdist, whose main process
    collects and runs none."""

    # The lines of tests that are not run because they made an earlier run hang.
    left_out = {}
    # Seconds that a test may compute at least, after one that hung; half of it after three.
    least = 1.0

    def __init__(self):
        self.rung, self.longest = 0, 0.0

    def pytest_collection_modifyitems(self, session, config, items):
        self.choose(config, items)
        hung = hung_tests()
        for item in [item for item in items if item.nodeid in hung]:
            items.remove(item)
            self.left_out[item.nodeid] = (item.location[1] or 0) + 1

    def choose(self, config, items):
        path = os.environ.get("REGREEN_SELECT")
        if not path:
            return
        with open(path, encoding="utf-8") as file:
            wanted = {line.rstrip("\n") for line in file}
        files = {name for name in wanted if "::" not in name}
        # A hook runs with the tests around which it stands.
        hooks = [name.rpartition(TEARDOWN)[0] for name in wanted if TEARDOWN in name]
        keep, drop = [], []
        for item in items:
            chosen = item.nodeid in wanted or item.nodeid.split("::", 1)[0] in files
            chosen = chosen or any(item.nodeid.startswith(hook) for hook in hooks)
            (keep if chosen else drop).append(item)
        if drop:
            config.hook.pytest_deselected(items=drop)
            items[:] = keep

    def computing_limit(self, limit):
        """The limit of a test that computes all the time. Once one has hung, in this run or in an
        earlier one, the next have a multiple of what the longest of the others took."""
        known = float(os.environ.get("REGREEN_COMPUTING_LIMIT", "0"))
        if not self.rung and not known:
            return limit
        own = self.least if self.rung < 3 else self.least / 2
        least = own if self.rung and known <= 1.0 else max(known, 1.0)
        return min(limit, max(least, 10 * self.longest))

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item):
        limit = float(os.environ.get("REGREEN_TEST_LIMIT", "0"))
        longer = max(limit / (1 + self.rung), min(limit, 1.0))
        seconds = self.computing_limit(longer)
        began, used = time.monotonic(), time.thread_time()

        def ring(number, frame):
            spent = time.monotonic() - began
            if spent < longer and time.thread_time() - used < spent / 4:
                # It waits for something, which only takes as long as it takes, or for its turn.
                signal.setitimer(signal.ITIMER_REAL, max(min(seconds, longer - spent), 0.001))
                return
            self.rung += 1
            pytest.fail("the test was stopped after %g s" % round(spent, 1 if spent < 1 else 0))

        armed = limit > 0
        try:
            # The project's own limit (pytest-timeout) uses the same clock; the shorter one holds.
            left = signal.getitimer(signal.ITIMER_REAL)[0]
            armed = armed and not 0 < left <= seconds
            if armed:
                own = signal.signal(signal.SIGALRM, ring)
                signal.setitimer(signal.ITIMER_REAL, seconds)
        except (ValueError, AttributeError, OSError):
            armed = False
        outcome = yield
        if outcome.excinfo is None:
            self.longest = max(self.longest, time.monotonic() - began)
        if armed:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, own)
            if left:
                signal.setitimer(signal.ITIMER_REAL, max(left - (time.monotonic() - began), 0.001))


def pytest_configure(config):
    if os.environ.get("REGREEN_CASES"):
        config.pluginmanager.register(Runner(), "regreen-runner")
    if os.environ.get("REGREEN_CASES") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Recorder(config), "regreen-recorder")


if __name__ == "__main__":
    sys.exit(pytest.main())
