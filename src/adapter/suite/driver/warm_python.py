"""Tries many versions of a module on some tests without starting Python for each.

The process imports the test framework and begins to load the tests. At the moment a module under
repair is imported it stops there and becomes a fork server: for each request it forks, and the
child takes the version it was given, goes on importing, and runs the tests. So all that was
imported before is warm, and all that comes after is fresh.

A front process stands further on: it loaded the tests with the original sources. A version that
differs only inside functions that nothing called while loading is tried there: the front forks,
and the child gives the functions their new code and runs the tests. A version that differs
elsewhere is tried there too, where every test asked for is a plain function of pytest: the child
forgets the modules of the repository, loads them again with the new text, and calls the functions.
That is done only when tests answer the same after such a reload of the original sources as before
it. Every other version is passed back to the process at the import.

Requests and answers are JSON lines on standard input and output. The first request is the set-up:
{"framework": "unittest"|"pytest", "root": DIR, "files": [PATH], "tests": [ID], "arguments": [TEXT],
 "from_folder": BOOL, "trace": BOOL}. Then {"sources": {PATH: TEXT}, "tests": [ID], "limit": SECONDS,
"stop": BOOL}. Works on Python 3.8 and later.
"""

import ctypes
import gc
import importlib.machinery
import io
import json
import os
import select
import signal
import sys
import threading
import time
import types

REQUESTS = os.fdopen(os.dup(0), "r", encoding="utf-8")
ANSWERS = os.fdopen(os.dup(1), "w", encoding="utf-8")
NULL = os.open(os.devnull, os.O_RDWR)
for number in (0, 1, 2):
    os.dup2(NULL, number)

try:
    import resource

    LIBC = ctypes.CDLL(None)
except Exception:
    resource = LIBC = None

MEMORY = 4 << 30
TRACE_LIMIT = "3"
# A trace shows soon where a test goes round.
LEAST_OF_TRACE = 0.3
SETUP = json.loads(REQUESTS.readline())
ROOT = os.path.realpath(SETUP["root"])
FILES = {os.path.realpath(path) for path in SETUP["files"]}
SOURCES = {}
REQUEST = {"tests": SETUP["tests"], "stop": False}
OUT = None
SERVING = False
# Of the front process: pipes to the one at the import, the code of the original sources, and what
# ran of it while the tests were loaded.
FRONT = None
FRONT_LIMIT = 30
ORIGINAL = {}
CALLED = set()
# Files that the front ran without keeping their code.
RUN = set()
# Seconds that tests are known to take; how many times as long a version may be silent, and what it
# is given besides; seconds before the first word; how often is looked.
KNOWN = {}
HANGS = 8
GRACE = 0.6
STARTING = 1.0
LOOK = 0.1
# Whether loading the modules again changes what tests say; not known yet. Tests that are asked.
RELOADS = None
RELOADED = 400


def answer(record):
    ANSWERS.write(json.dumps(record) + "\n")
    ANSWERS.flush()


def tell(record):
    """Writes one result from the child."""
    os.write(OUT, (json.dumps(record) + "\n").encode("utf-8"))


def serve():
    """Answers requests until there are none; returns in each child, with its version in place, and
    in the front process, which goes on with the original sources."""
    global SERVING, FRONT
    SERVING = True
    if threading.active_count() > 1:
        named = [one.name for one in threading.enumerate() if one is not threading.current_thread()]
        answer({"ready": False, "why": "threads run while the tests are loaded: %s" % ", ".join(named)})
        sys.stdout.flush()
        os._exit(0)
    gc.collect()
    gc.freeze()
    passed_on, to_us = os.pipe()
    done, to_front = os.pipe()
    front = os.fork() if SETUP["files"] else None
    if front == 0:
        os.close(passed_on)
        os.close(to_front)
        die_with_parent()
        FRONT = (done, to_us)
        sys.setprofile(note_call)
        return
    os.close(to_us)
    os.close(done)
    back = os.fdopen(passed_on, "r", encoding="utf-8")
    if front and select.select([back], [], [], FRONT_LIMIT)[0] and back.readline() == "ready\n":
        answer({"ready": True})
        for line in back:
            if take(json.loads(line)):
                return
            os.write(to_front, b"\n")
        os._exit(0)
    if front:
        os.kill(front, signal.SIGKILL)
        os.waitpid(front, 0)
    answer({"ready": True})
    for line in REQUESTS:
        if take(json.loads(line)):
            return
    os._exit(0)


def take(request, way="import"):
    """Forks for one request; whether this is the child. The answer reports `way`."""
    global SOURCES, REQUEST, OUT
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        os.setpgid(0, 0)
        REQUESTS.close()
        limit_resources(request["limit"])
        OUT, REQUEST = writer, request
        SOURCES = {os.path.realpath(path): text for path, text in request["sources"].items()}
        return True
    os.close(writer)
    results, ended = collect(reader, child, request["limit"], patience(request["tests"]))
    os.close(reader)
    for record in results:
        if record["status"] == "passed":
            KNOWN[record["id"]] = max(KNOWN.get(record["id"], 0), record["ms"] / 1000)
    answer({"results": results, "ended": ended, "way": way})
    return False


def note_call(frame, event, argument):
    code = frame.f_code
    if event == "call" and code.co_filename in ORIGINAL:
        CALLED.add(code)


def forget():
    """Takes the modules of the repository out, so that the next import loads them again."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name == "__main__" or not isinstance(file, str) or os.path.basename(file) == "conftest.py":
            continue
        real = os.path.realpath(file)
        if real.startswith(ROOT + os.sep) and "site-packages" not in real:
            del sys.modules[name]


def loaded_again(names, again):
    """The tests as functions of freshly loaded modules, with their arguments."""
    forget()
    return {
        name: (getattr(importlib.import_module(again[name][0]), again[name][1]), again[name][2])
        for name in names
    }


def verdicts(tests):
    found = []
    for function, values in tests.values():
        try:
            function(**values)
            found.append("passed")
        except BaseException as error:
            found.append(type(error).__name__)
    return found


def reload_agrees(again):
    """Whether tests say the same after the modules were loaded again; asked in a child."""
    names = list(again)[:RELOADED]
    here = {name: (getattr(sys.modules[again[name][0]], again[name][1]), again[name][2]) for name in names}
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            os.setpgid(0, 0)
            limit_resources(FRONT_LIMIT)
            before = verdicts(here)
            same = before == verdicts(loaded_again(names, again)) and "passed" in before
            os.write(writer, b"same" if same else b"other")
        finally:
            os._exit(0)
    os.close(writer)
    ready = select.select([reader], [], [], FRONT_LIMIT)[0]
    said = os.read(reader, 16) if ready else b""
    os.close(reader)
    for target in (os.killpg, os.kill):
        try:
            target(child, signal.SIGKILL)
        except OSError:
            pass
    os.waitpid(child, 0)
    return said == b"same"


def can_reload(names, again):
    """Whether all of these tests can be asked by loading the modules again."""
    global RELOADS
    if not again or any(name not in again for name in names):
        return False
    if RELOADS is None:
        RELOADS = reload_agrees(again)
    return RELOADS


def serve_at_front(again=None):
    """In the front process: answers requests, and returns in each child with new code in place.
    `again` are tests that can be asked after the modules were loaded again."""
    sys.setprofile(None)
    done, to_import = FRONT
    if threading.active_count() > 1:
        os._exit(1)
    functions = {}
    # Tests may freeze what they loaded, and the collector does not list that.
    gc.unfreeze()
    for one in gc.get_objects():
        if isinstance(one, types.FunctionType) and one.__code__.co_filename in ORIGINAL:
            functions.setdefault(id(one.__code__), []).append(one)
    gc.collect()
    gc.freeze()
    os.write(to_import, b"ready\n")
    for line in REQUESTS:
        request = json.loads(line)
        swaps = swaps_of(request["sources"])
        if swaps is None and not can_reload(request["tests"], again):
            os.write(to_import, line.encode("utf-8"))
            os.read(done, 1)
        elif take(request, "modules" if swaps is None else "functions"):
            if swaps is None:
                try:
                    call_plain(REQUEST["tests"], loaded_again(REQUEST["tests"], again))
                except BaseException:
                    # A version that cannot be loaded: no test is reported, so all have failed.
                    pass
                finish()
            for old, new in swaps:
                for one in functions.get(id(old), ()):
                    one.__code__ = new
            return
    os._exit(0)


def compiled(text, path):
    """The code of a text. A byte order mark at its beginning is of the file, not of the program."""
    return compile(text[text.startswith("\ufeff"):], path, "exec", dont_inherit=True)


def swaps_of(sources):
    """Old and new code of the functions that differ; None when something else differs too."""
    swaps = []
    paths = {os.path.realpath(path): path for path in ORIGINAL}
    for path, text in sources.items():
        path = paths.get(os.path.realpath(path))
        if path is None or os.path.realpath(path) in RUN:
            return None
        try:
            new = compiled(text, path)
        except (SyntaxError, ValueError):
            return None
        if not differ_in_functions(ORIGINAL[path], new, swaps):
            return None
    if any(old in CALLED or old.co_freevars != new.co_freevars for old, new in swaps):
        return None
    return swaps


SHAPE = [
    "co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_flags", "co_argcount",
    "co_posonlyargcount", "co_kwonlyargcount", "co_exceptiontable",
]
FUNCTION = 0x2


def differ_in_functions(old, new, swaps):
    """Whether a module or class body is the same but for the code of functions it defines."""
    if any(getattr(old, name, None) != getattr(new, name, None) for name in SHAPE):
        return False
    if len(old.co_consts) != len(new.co_consts):
        return False
    for was, now in zip(old.co_consts, new.co_consts):
        if not isinstance(was, types.CodeType) or not isinstance(now, types.CodeType):
            if type(was) is not type(now) or repr(was) != repr(now):
                return False
        elif was.co_name != now.co_name:
            return False
        elif not was.co_flags & FUNCTION:
            if not differ_in_functions(was, now, swaps):
                return False
        elif not same_code(was, now):
            # Comprehensions of a body run when it does.
            if was.co_name.startswith("<") and was.co_name != "<lambda>":
                return False
            swaps.append((was, now))
    return True


def same_code(old, new):
    if any(getattr(old, name, None) != getattr(new, name, None) for name in SHAPE):
        return False
    if len(old.co_consts) != len(new.co_consts):
        return False
    return all(
        same_code(was, now)
        if isinstance(was, types.CodeType) and isinstance(now, types.CodeType)
        else type(was) is type(now) and repr(was) == repr(now)
        for was, now in zip(old.co_consts, new.co_consts)
    )


def die_with_parent():
    if LIBC is not None:
        try:
            LIBC.prctl(1, signal.SIGKILL)
        except AttributeError:
            pass


def limit_resources(seconds):
    if LIBC is None:
        return
    die_with_parent()
    try:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        whole = int(seconds) + 5
        resource.setrlimit(resource.RLIMIT_CPU, (whole, whole))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (OSError, ValueError, AttributeError):
        pass


def patience(names):
    """Processor seconds without a word after which a version hangs: many times what the slowest of
    these tests is known to take. None where one is not known. Processor time goes by on a busy
    machine as on an idle one, so a version that is only slow is not taken for one that hangs."""
    if not names or any(name not in KNOWN for name in names):
        return None
    return HANGS * max(KNOWN[name] for name in names) + GRACE


def processor(child):
    """Processor seconds of a child; 0 where the system does not tell."""
    try:
        with open("/proc/%d/stat" % child) as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return 0.0


def collect(reader, child, limit, silence=None):
    deadline = time.monotonic() + limit
    text, ended = b"", False
    # Modules may be loaded before the first test.
    cpu_time, extra = 0.0, STARTING
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            break
        if not select.select([reader], [], [], left if silence is None else min(left, LOOK))[0]:
            if silence is not None and processor(child) - cpu_time > silence + extra:
                break
            continue
        cpu_time, extra = processor(child), 0.0
        piece = os.read(reader, 65536)
        if not piece:
            break
        text += piece
        if b'"end"' in piece or b'"end"' in text[-200:]:
            ended = True
            break
    for target in (os.killpg, os.kill):
        try:
            target(child, signal.SIGKILL)
        except OSError:
            pass
    os.waitpid(child, 0)
    lines = text.decode("utf-8", "replace").splitlines()
    results = []
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if "end" not in record:
            results.append(record)
    return results, ended


STOCK_GET_CODE = importlib.machinery.SourceFileLoader.get_code
STOCK_OPEN_CODE = io.open_code


def wait_at(path):
    """The path of a file as it is known here; one under repair is where requests are waited for."""
    path = os.path.realpath(path)
    if path in FILES and not SERVING and not SETUP.get("trace"):
        serve()
    return path


def get_code(loader, fullname):
    """The code of a module for each loader of Python, whether an import or a test made it."""
    path = wait_at(loader.path)
    if path in SOURCES:
        return compiled(SOURCES[path], loader.path)
    if path in FILES and FRONT:
        # A file that is loaded twice has one code, so that the functions of both get the new one.
        known = [code for name, code in ORIGINAL.items() if os.path.realpath(name) == path]
        if not known:
            known = [compile(loader.get_data(loader.path), loader.path, "exec", dont_inherit=True)]
            ORIGINAL[loader.path] = known[0]
        return known[0]
    return STOCK_GET_CODE(loader, fullname)


def open_code(path):
    """The text of a file that `runpy` runs."""
    real = wait_at(path)
    if real in SOURCES:
        return io.BytesIO(SOURCES[real].encode("utf-8"))
    if FRONT:
        RUN.add(real)
    return STOCK_OPEN_CODE(path)


class Tracer:
    """Lines of repository files that run, per test."""

    def __init__(self):
        self.known = {}
        # In documentation another part begins behind each example that gave what it states.
        self.parts, self.states = [{}], True

    def wanted(self, path):
        if path not in self.known:
            real = os.path.realpath(path)
            inside = real.startswith(ROOT + os.sep) and "site-packages" not in real
            self.known[path] = os.path.relpath(real, ROOT) if inside else None
        return self.known[path]

    def call(self, frame, event, argument):
        code = frame.f_code
        if code.co_filename.startswith("<doctest ") and code.co_name == "<module>":
            if self.states:  # what fails is the last one
                self.parts.append({})
            self.states = bool(getattr(frame.f_back.f_locals.get("example"), "want", ""))
            return None
        name = self.wanted(code.co_filename)
        if name is None:
            return None
        lines = self.parts[-1].setdefault(name, set())
        if frame.f_lineno:  # a module begins at line 0
            lines.add(frame.f_lineno)

        def line(frame, event, argument):
            if event == "line":
                lines.add(frame.f_lineno)
            return line

        return line

    def start(self):
        self.parts, self.states = [{}], True
        # Clients of applications run these in threads.
        threading.settrace(self.call)
        sys.settrace(self.call)

    def stop(self, behind=0):
        """The lines of all parts but the first ones."""
        sys.settrace(None)
        threading.settrace(None)
        names = {name for part in self.parts[behind:] for name in part}
        of = lambda name: (part.get(name, ()) for part in self.parts[behind:])
        return {name: sorted(set().union(*of(name))) for name in names}


TRACER = Tracer()


def trace_limit():
    """The seconds of a traced test: fewer where tests hang and the others are quick."""
    known = float(os.environ.get("REGREEN_COMPUTING_LIMIT", TRACE_LIMIT))
    return str(min(known, float(TRACE_LIMIT)))


def describe(kind, value):
    text = str(value)
    return getattr(kind, "__name__", str(kind)), text[:2000]


def places(trace):
    """The places of a traceback, as Python writes them, but without the sources."""
    found = []
    while trace is not None and len(found) < 200:
        found.append('  File "%s", line %d' % (trace.tb_frame.f_code.co_filename, trace.tb_lineno))
        trace = trace.tb_next
    return "\n".join(found[-40:])


def finish():
    if OUT is not None:
        tell({"end": True})
    os._exit(0)


def run_unittest():
    import unittest

    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import unittest_driver as driver

    tracing = SETUP.get("trace")
    sys.path.insert(0, os.getcwd())

    class Result(unittest.TestResult):
        def startTest(self, test):
            super().startTest(test)
            self.began = time.monotonic()
            self.verdict = ("passed", None)
            if tracing:
                TRACER.start()

        def fail(self, test, err):
            if not isinstance(test, unittest.TestCase):
                self.shouldStop = self.shouldStop or REQUEST["stop"]
                return
            self.verdict = ("failed", err)

        def addError(self, test, err):
            super().addError(test, err)
            self.fail(test, err)

        def addFailure(self, test, err):
            super().addFailure(test, err)
            self.fail(test, err)

        def addSubTest(self, test, subtest, err):
            super().addSubTest(test, subtest, err)
            if err is not None and self.verdict[0] != "failed":
                self.verdict = ("failed", err)

        def addUnexpectedSuccess(self, test):
            super().addUnexpectedSuccess(test)
            self.verdict = ("failed", (AssertionError, AssertionError("unexpected success"), None))

        def addSkip(self, test, reason):
            super().addSkip(test, reason)
            self.verdict = ("skipped", None)

        def stopTest(self, test):
            lines = TRACER.stop() if tracing else None
            super().stopTest(test)
            status, err = self.verdict
            record = {"id": driver.name_of(test), "status": status}
            record["ms"] = (time.monotonic() - self.began) * 1000
            if err is not None:
                record["class"], record["message"] = describe(err[0], err[1])
                record["stack"] = places(err[2])
                if tracing:
                    import traceback

                    record["stack"] = "".join(traceback.format_exception(*err))[-16384:]
            if lines is not None:
                record["lines"] = lines
            tell(record)
            if status == "failed" and REQUEST["stop"]:
                self.stop()

        def _exc_info_to_string(self, err, test):
            return ""

    if tracing:
        driver.Alarm.limit, driver.Alarm.least = float(trace_limit()), LEAST_OF_TRACE
        TRACER.start()
    given = driver.Arguments(module=None, argv=["tests"] + SETUP["arguments"])
    suite = driver.select(SETUP["tests"], getattr(given, "start", None), getattr(given, "top", None))
    if tracing:
        tell({"id": "", "status": "passed", "ms": 0, "lines": TRACER.stop()})
    if not SERVING and not tracing:
        serve()
    if FRONT:
        serve_at_front()
    by_name = {}
    for test in driver.leaves(suite):
        if tracing:
            driver.limited(test)
        by_name.setdefault(driver.name_of(test), test)
    chosen = unittest.TestSuite(by_name[name] for name in REQUEST["tests"] if name in by_name)
    chosen.run(Result())
    finish()


class Brief:
    """What is kept of a failure: its message, where pytest looks for it. Writing the whole trace
    would read every source on the way for each candidate."""

    def __init__(self, excinfo):
        self.reprcrash = self
        self.message = excinfo.exconly(tryshort=True)
        self.places = places(excinfo.tb)

    def __str__(self):
        return self.message

    def toterminal(self, _):
        pass


def brief(excinfo, style=None):
    return Brief(excinfo)


RUNTEST_HOOKS = [
    "pytest_runtest_protocol", "pytest_runtest_setup", "pytest_runtest_call", "pytest_pyfunc_call",
    "pytest_runtest_teardown", "pytest_runtest_makereport",
]


def values_of(item):
    """The arguments of a test that needs nothing but a call; None for every other test."""
    import inspect

    import pytest

    if type(item) is not pytest.Function or inspect.iscoroutinefunction(item.obj):
        return None
    if any(mark.name != "parametrize" for mark in item.iter_markers()):
        return None
    spec = getattr(item, "callspec", None)
    values = {}
    for name in item.fixturenames:
        if name in getattr(spec, "funcargs", {}):
            values[name] = spec.funcargs[name]
            continue
        makers = item._fixtureinfo.name2fixturedefs.get(name, ())
        direct = [maker.func.__name__ == "get_direct_param_fixture_func" for maker in makers]
        if not direct or not direct[-1] or name not in spec.params:
            return None
        values[name] = spec.params[name]
    return values if set(values) == set(item._fixtureinfo.argnames) else None


def only_calls(config, own):
    """Whether nothing but pytest itself takes part in running a test."""
    if config.getini("filterwarnings") or config.getoption("pythonwarnings", None):
        return False
    for hook in RUNTEST_HOOKS:
        for one in getattr(config.hook, hook).get_hookimpls():
            module = getattr(one.plugin, "__name__", type(one.plugin).__module__)
            if one.plugin is not own and not module.startswith(("_pytest.", "regreen_pytest")):
                return False
    return True


def plain_tests(items, config, own):
    """Tests that need nothing but a call, with their arguments, by id."""
    try:
        if not only_calls(config, own):
            return {}
        values = ((item, values_of(item)) for item in items)
        return {item.nodeid: (item.obj, given) for item, given in values if given is not None}
    except Exception:
        return {}


SIMPLE = (int, float, complex, str, bytes, bool, type(None))


def is_simple(value):
    """Whether a value holds nothing of a module that could be loaded again."""
    if isinstance(value, dict):
        return type(value) is dict and all(is_simple(one) for pair in value.items() for one in pair)
    if type(value) in (list, tuple, set, frozenset):
        return all(is_simple(one) for one in value)
    return type(value) in SIMPLE


def by_function(items, plain):
    """Plain tests that are functions of a module, by id: module, name, arguments."""
    found = {}
    for item in items:
        if item.nodeid not in plain or item.cls is not None:
            continue
        name = getattr(item, "originalname", None) or item.name
        module = getattr(item, "module", None)
        values = plain[item.nodeid][1]
        known = module is not None and sys.modules.get(module.__name__) is module
        if known and getattr(module, name, None) is item.obj and is_simple(values):
            found[item.nodeid] = (module.__name__, name, values)
    return found


def call_plain(names, plain):
    """Runs the tests at the beginning that need nothing but a call, without pytest's protocol
    around each; answers with the others."""
    for index, name in enumerate(names):
        if name not in plain:
            return names[index:]
        function, values = plain[name]
        record = {"id": name, "status": "passed"}
        began = time.monotonic()
        try:
            function(**values)
        except BaseException as error:
            import _pytest.outcomes as outcomes

            if isinstance(error, (outcomes.Exit, KeyboardInterrupt, SystemExit)):
                return names[index:]
            skipped = isinstance(error, (outcomes.Skipped, outcomes.XFailed))
            record["status"] = "skipped" if skipped else "failed"
            kind, text = describe(type(error), error)
            record["class"], record["message"] = kind, "%s: %s" % (kind, text) if text else kind
            record["stack"] = places(error.__traceback__)
        record["ms"] = (time.monotonic() - began) * 1000
        tell(record)
        if record["status"] == "failed" and REQUEST["stop"]:
            finish()
    return finish()


def run_pytest():
    # The folder of a script is searched for modules, as that of this one.
    import regreen_pytest

    if SETUP["from_folder"]:
        sys.path.insert(0, os.getcwd())
    import pytest

    tracing = SETUP.get("trace")

    class Plugin:
        def __init__(self):
            self.open = {}

        def pytest_collection_finish(self, session):
            if not SERVING and not tracing:
                serve()
            plain = {} if tracing else plain_tests(session.items, session.config, self)
            by_name = {item.nodeid: item for item in session.items}
            if FRONT:
                serve_at_front(by_function(session.items, plain))
            chosen = [name for name in REQUEST["tests"] if name in by_name]
            if not tracing:
                chosen = call_plain(chosen, plain)
            session.items[:] = [by_name[name] for name in chosen]
            if not tracing:
                for item in session.items:
                    item.repr_failure = brief
            if tracing:
                tell({"id": "", "status": "passed", "ms": 0, "lines": TRACER.stop()})

        def pytest_collectreport(self, report):
            if report.failed and OUT is not None:
                crash = getattr(getattr(report, "longrepr", None), "reprcrash", None)
                tell({"id": report.nodeid, "status": "failed", "ms": 0, "class": "",
                      "message": getattr(crash, "message", "")[:2000]})

        @pytest.hookimpl(hookwrapper=True)
        def pytest_runtest_protocol(self, item, nextitem):
            if tracing:
                option = "doctest_continue_on_failure"
                is_source = item.nodeid.split("::", 1)[0].endswith(".py")
                self.is_page = not is_source and not item.config.getoption(option, False)
                TRACER.start()
            yield

        def pytest_runtest_logreport(self, report):
            state = regreen_pytest.take_report(self.open, report, self.describe)
            if state is None:
                return
            if tracing:
                # Only what ran for the failing example of a page can be at fault.
                is_page = state["status"] == "failed" and self.is_page
                state["lines"] = TRACER.stop(len(TRACER.parts) - 1 if is_page else 0) or TRACER.stop()
            tell(state)
            if state["status"] == "failed" and REQUEST["stop"]:
                finish()

        def describe(self, report):
            crash = getattr(getattr(report, "longrepr", None), "reprcrash", None)
            message = getattr(crash, "message", "") or ""
            kind = message.split("\n", 1)[0].split(":", 1)[0].strip()
            plain = kind.replace(".", "").replace("_", "").isalnum()
            kind = kind.rsplit(".", 1)[-1] if plain else ""
            stack = getattr(getattr(report, "longrepr", None), "places", "")
            return {"message": message[:2000], "class": kind, "stack": stack}

        def pytest_sessionfinish(self, session):
            finish()

    files = []
    for name in SETUP["tests"]:
        file = name.split("::", 1)[0]
        if file not in files and os.path.exists(file):
            files.append(file)
    os.environ.pop("PYTEST_ADDOPTS", None)
    os.environ["REGREEN_CANDIDATE"] = "warm"
    plugins = [Plugin(), regreen_pytest]
    if tracing:
        os.environ["REGREEN_TEST_LIMIT"] = trace_limit()
        regreen_pytest.Runner.least = LEAST_OF_TRACE
        os.environ["REGREEN_CASES"] = os.devnull
        TRACER.start()
    # A candidate needs verdicts, not explanations: no rewritten assertions, no captured output.
    quick = ["--tb=native", "--assert=plain", "-s"]
    options = ["-q", "-p", "no:cacheprovider"] + (["--tb=short"] if tracing else quick)
    pytest.main(options + files, plugins=plugins)
    finish()


def main():
    importlib.machinery.SourceFileLoader.get_code = get_code
    io.open_code = open_code
    sys.dont_write_bytecode = True
    try:
        if SETUP["framework"] == "pytest":
            run_pytest()
        else:
            run_unittest()
    except BaseException as error:
        if OUT is not None:
            os._exit(1)
        if not SERVING:
            answer({"ready": False, "why": "%s: %s" % (type(error).__name__, error)})
        os._exit(1)


if SETUP.get("trace"):
    OUT = ANSWERS.fileno()
sys.argv = ["tests"]
main()
