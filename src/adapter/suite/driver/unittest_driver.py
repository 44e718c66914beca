"""Runs unittest and writes one JSON line per test to a file.

Usage: unittest_driver.py OUT [--select FILE] [-- ARGUMENT...]

Runs the tests that `python -m unittest ARGUMENT...` runs. Without `--` it discovers them, trying `.`,
`tests` and `test`. FILE holds one test id per line. Works on Python 3.8 and later.
"""

import inspect
import io
import json
import os
import runpy
import signal
import sys
import time
import traceback
import unittest
from process_end import await_end

if sys.flags.ignore_environment:
    # `-E` and `-I` keep Python from finding this file by itself.
    runpy.run_path(os.path.join(os.path.dirname(os.path.abspath(__file__)), "sitecustomize.py"))

# Frames of this file are as much the framework's own as those of unittest: it leaves them out.
__unittest = True

class TestTimeout(BaseException):
    """Raised inside a test that takes too long."""


class Alarm:
    """A limit for each test, shorter after each one that ran into it. Once one has hung, in this run or
    in an earlier one, those that compute all the time have a multiple of what the longest other took."""

    limit = float(os.environ.get("REGREEN_TEST_LIMIT", "0"))
    known = float(os.environ.get("REGREEN_COMPUTING_LIMIT", "0"))
    # Seconds that a test may compute at least, after one that hung; half of it after three.
    least = 1.0
    rung, longest, began, is_stopped = 0, 0.0, 0.0, False

    @classmethod
    def start(cls):
        cls.began, cls.is_stopped = time.monotonic(), False
        if cls.limit <= 0:
            return
        longer = max(cls.limit / (1 + cls.rung), min(cls.limit, 1.0))
        seconds, used = longer, time.thread_time()
        if cls.rung or cls.known:
            own = cls.least if cls.rung < 3 else cls.least / 2
            least = own if cls.rung and cls.known <= 1.0 else max(cls.known, 1.0)
            seconds = min(longer, max(least, 10 * cls.longest))

        def ring(number, frame):
            spent = time.monotonic() - cls.began
            if spent < longer and time.thread_time() - used < spent / 4:
                # It waits for something, which only takes as long as it takes, or for its turn.
                signal.setitimer(signal.ITIMER_REAL, max(min(seconds, longer - spent), 0.001))
                return
            cls.rung, cls.is_stopped = cls.rung + 1, True
            raise TestTimeout("the test was stopped after %g s" % round(spent, 1 if spent < 1 else 0))

        try:
            signal.signal(signal.SIGALRM, ring)
            signal.setitimer(signal.ITIMER_REAL, seconds)
        except (ValueError, AttributeError, OSError):
            cls.limit = 0

    @classmethod
    def stop(cls):
        if cls.limit > 0:
            signal.setitimer(signal.ITIMER_REAL, 0)
        if not cls.is_stopped:
            cls.longest = max(cls.longest, time.monotonic() - cls.began)


FAILED_TEST = "unittest.loader._FailedTest."
HOOKS = ("setUpClass", "tearDownClass", "setUpModule", "tearDownModule")
MESSAGE_LIMIT = 4096
STACK_LIMIT = 16384


def leaves(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from leaves(item)
        else:
            yield item


def name_of(test):
    name = test.id()
    if name.startswith(FAILED_TEST):
        name = name[len(FAILED_TEST):]
    return name


def place_of(test):
    try:
        method = getattr(test, test._testMethodName)
        function = inspect.unwrap(getattr(method, "__func__", method))
        return os.path.abspath(inspect.getsourcefile(function)), function.__code__.co_firstlineno
    except Exception:
        return None, None


class Program(unittest.TestProgram):
    """The arguments of `python -m unittest`, read as unittest reads them."""

    def runTests(self):
        pass


class Arguments(Program):
    """The same without loading a test."""

    def createTests(self, *arguments, **options):
        pass


def discover():
    for folder in (".", "tests", "test"):
        if not os.path.isdir(folder):
            continue
        if folder != "." and os.path.exists(os.path.join(folder, "__init__.py")):
            continue
        tests = list(leaves(unittest.TestLoader().discover(folder)))
        if tests:
            return unittest.TestSuite(tests)
    return unittest.TestSuite()


def select(names, start, top):
    for folder in (top, start, "tests", "test"):
        if folder and os.path.isdir(folder) and not os.path.exists(os.path.join(folder, "__init__.py")):
            path = os.path.abspath(folder)
            if path not in sys.path:
                sys.path.append(path)
    return unittest.TestSuite(loaded(group_of(name)) for name in names)


def group_of(name):
    """The class or module of a hook, which runs with its tests."""
    group, _, last = name.rpartition(".")
    return group if last in HOOKS else name


def loaded(name):
    """The tests of a name. Discovery makes a failed test of what does not load; by its name, only an
    ImportError does."""
    try:
        return unittest.TestLoader().loadTestsFromName(name)
    except Exception:
        return unittest.loader._make_failed_import_test(name, unittest.TestSuite)[0]


def limited(test):
    """Makes a test fail, instead of hang, when its time is over."""
    inner = test._callTestMethod if hasattr(test, "_callTestMethod") else None
    if inner is None:
        return

    def call(method):
        Alarm.start()
        try:
            return inner(method)
        except TestTimeout as error:
            raise AssertionError(str(error)) from None
        finally:
            Alarm.stop()

    test._callTestMethod = call


class Result(unittest.TextTestResult):
    """Writes each test as it ends; a test with a failed subtest is a failed test."""

    out = None

    def startTest(self, test):
        super().startTest(test)
        self.out.write(json.dumps({"id": name_of(test), "start": True, "at": time.time()}) + "\n")
        self.out.flush()
        self.began = time.monotonic()
        self.verdict = ("passed", None)

    def addError(self, test, err):
        super().addError(test, err)
        if not isinstance(test, unittest.TestCase):
            # setUpClass, setUpModule or what takes them down: it belongs to a class or a module.
            name, _, group = str(getattr(test, "description", test)).rstrip(")").partition(" (")
            file = None
            for module in (group, group.rpartition(".")[0]):
                file = file or getattr(sys.modules.get(module), "__file__", None)
            name = "%s.%s" % (group, name) if group else name
            self.write(name, file and os.path.abspath(file), None, 0, ("failed", err), "hook")
            return
        self.verdict = ("failed", err)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.verdict = ("failed", err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None and self.verdict[0] != "failed":
            self.verdict = ("failed", err)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        if not isinstance(test, unittest.TestCase):
            return
        if getattr(self, "verdict", ("passed",))[0] != "failed":
            self.verdict = ("skipped", None)
        if not hasattr(self, "began"):
            self.began = time.monotonic()

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.verdict = ("failed", (AssertionError, AssertionError("unexpected success"), None))

    def stopTest(self, test):
        super().stopTest(test)
        file, line = place_of(test)
        took = (time.monotonic() - self.began) * 1000
        name = name_of(test)
        kind = "unloaded" if test.id().startswith(FAILED_TEST) else "test"
        if kind == "unloaded" and os.path.isdir(name.replace(".", os.sep)):
            # A package of the product that the search for tests imported: no test has its name.
            kind = "prerequisite"
        self.write(name, file, line, took, self.verdict, kind)

    def write(self, name, file, line, took, verdict, kind_of_case="test"):
        status, err = verdict
        record = {"id": name, "kind": kind_of_case, "status": status, "file": file, "line": line, "ms": int(took)}
        if err is not None:
            kind, value, trace = err
            record["class"] = getattr(kind, "__name__", str(kind))
            record["message"] = str(value)[:MESSAGE_LIMIT]
            text = "".join(traceback.format_exception(kind, value, trace))
            record["stack"] = text[-STACK_LIMIT:]
            lines = str(value).strip().splitlines()
            if kind_of_case == "unloaded" and len(lines) > 1:
                # The error of the module stands at the end of what the loader says.
                record["class"], _, record["message"] = lines[-1].partition(": ")
                record["file"] = record["line"] = None
        self.out.write(json.dumps(record) + "\n")
        self.out.flush()


def prepared(suite):
    """The suite whose tests end by themselves, without those of the file in REGREEN_HUNG: they made an
    earlier run hang, and fail without being run."""
    if os.environ.get("REGREEN_HUNG"):
        with open(os.environ["REGREEN_HUNG"], encoding="utf-8") as file:
            hung = json.load(file)
        tests = list(leaves(suite))
        suite = unittest.TestSuite(test for test in tests if name_of(test) not in hung)
        for test in tests:
            if name_of(test) in hung:
                place, line = place_of(test)
                record = {"id": name_of(test), "status": "failed", "file": place, "line": line}
                record["message"] = hung[name_of(test)]
                Result.out.write(json.dumps(record) + "\n")
    for test in leaves(suite):
        limited(test)
    return suite


def main(argv):
    own, given = argv[1:], None
    if "--" in own:
        own, given = own[:own.index("--")], own[own.index("--") + 1:]
    sys.path.insert(0, os.getcwd())
    # Tests see the arguments that unittest got.
    sys.argv[1:] = given or []
    program = None if given is None else Program(module=None, argv=argv[:1] + given)
    if len(own) > 1:
        with open(own[2], encoding="utf-8") as file:
            names = [line.rstrip("\n") for line in file if line.strip()]
        suite = select(names, getattr(program, "start", None), getattr(program, "top", None))
    else:
        suite = program.test if program else discover()
    with io.open(own[0], "w", encoding="utf-8") as file:
        Result.out = file
        suite = prepared(suite)
        planned = suite.countTestCases()
        chosen = {name: bool(getattr(program, name, False)) for name in ("failfast", "buffer")}
        runner = unittest.TextTestRunner(resultclass=Result, verbosity=1, **chosen)
        result = runner.run(suite)
        file.write(json.dumps({"end": True, "planned": planned}) + "\n")
        await_end()
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.argv[0] = "python -m unittest"
    status = main([sys.argv[0]] + sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status) if os.environ.get("REGREEN_HARD_EXIT") else sys.exit(status)
