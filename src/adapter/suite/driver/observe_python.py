"""Calls functions of one module and reports the result of each call, as a literal.

One request as a JSON line on standard input:
{"module": DOTTED, "path": FILE, "root": DIR, "calls": [{"callee": TEXT, "arguments": [TEXT]}],
 "files": [[NAME, LITERAL]], "trace": BOOL, "reverse": BOOL, "shift": DAYS, "limit": SECONDS, "memory": BYTES}
One answer as a JSON line per call on standard output, with its index, then {"end": true}.

Calls run in a forked child, one child per callee, each call in an empty folder of its own with the files that it
names. They are watched: what touches files outside of that folder, uses the
network, starts a process, reads random numbers, or changes state of its
module is refused with a reason, and so is what takes too long. Works on Python 3.8 and later.
"""

import ast
import collections
import contextlib
import fcntl
import dataclasses
import datetime
import enum
import functools
import gc
import importlib
import importlib.machinery
import importlib.util
import inspect
import itertools
import json
import linecache
import math
import os
import pathlib
import random
import re
import select
import shutil
import signal
import socket
import sys
import sysconfig
import tempfile
import threading
import time
import types
import warnings

try:
    import sqlite3
except ImportError:
    sqlite3 = None

REQUESTS = os.fdopen(os.dup(0), "r", encoding="utf-8")
ANSWERS = os.fdopen(os.dup(1), "w", encoding="utf-8")
NULL = os.open(os.devnull, os.O_RDWR)
for number in (0, 1, 2):
    os.dup2(NULL, number)

TEXT = 1000
ELEMENTS = 60
CONSUMED = 200
LITERAL = 2000
MARKS = 400
MEMBERS = 4
MEMBER = 120
HANGS = 3
# From which number on descriptors of our own are.
DESCRIPTOR = 700
# Bytes of a file that a call writes, and how often it may make or change files.
FILE = 1 << 20
CHANGES = 64


class Refused(BaseException):
    """Raised inside a call that does what a pinned call must not do."""


class NoLiteral(Exception):
    """A value that cannot be written down."""


class Watch:
    active = False
    reason = None
    # Whether a call asked for the time.
    clock = False
    # The folder of the call, whether it was used, and how often something was changed in it.
    folder = None
    used = False
    changes = 0
    # Whether it opens a database in the way that is watched.
    connects = False
    # Why Django cannot be asked, and whether a call uses its database.
    unready = None
    stores = False
    # What the environment of the call holds, and what it was asked for.
    settings = {}
    asked = {}


def refuse(reason):
    if Watch.reason is None:
        Watch.reason = reason
    raise Refused(reason)


AUDITED = [
    (("os.listdir", "os.scandir", "os.walk", "glob.", "os.getxattr"), "lists a folder outside of its own"),
    (("os.link", "os.symlink"), "makes links"),
    (("os.chdir",), "changes its working folder"),
    (("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.chmod", "os.chown", "os.truncate", "os.utime",
      "shutil.", "tempfile.", "os.lockf", "os.setxattr", "os.removexattr", "pathlib."),
     "changes files outside of its folder"),
    (("socket.", "urllib.", "http.", "smtplib.", "ftplib.", "poplib.", "imaplib.", "nntplib.", "telnetlib.",
      "ssl."), "uses the network"),
    (("subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "pty.",
      "os.startfile", "os.kill", "signal.pthread_kill", "webbrowser."), "starts or ends processes"),
    (("os.putenv", "os.unsetenv"), "changes the environment"),
    (("time.sleep",), "sleeps"),
    (("ctypes.", "mmap.", "fcntl."), "reaches below Python"),
    (("sqlite3.", "dbm."), "uses a database outside of its folder"),
    (("builtins.input",), "reads from the keyboard"),
]
CODE = (".py", ".pyc", ".so", ".pyd", ".zip")
CHANGING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
# What is done to files whose paths are the first arguments, as many as the number says.
ON_PATHS = {
    "open": 1, "os.listdir": 1, "os.scandir": 1, "os.remove": 1, "os.rename": 2, "os.rmdir": 1, "os.mkdir": 1,
    "os.chmod": 1, "os.truncate": 1, "os.utime": 1, "sqlite3.connect": 1,
}
# These are made of the above.
BY_PATHS = ("glob.", "os.walk", "pathlib.", "shutil.", "tempfile.")


def is_inside(path):
    """Whether a path leads to a place in the folder of the call, whatever links are on the way."""
    if Watch.folder is None:
        return False
    if type(path) is int:
        try:
            path = os.readlink("/proc/self/fd/%d" % path)
        except OSError:
            return False
    # Another object may give another path when it is asked again.
    if path is not None and type(path) not in (str, bytes, pathlib.PosixPath):
        return False
    path = os.fsdecode("." if path is None else path)
    real = os.path.realpath(path)
    return real == Watch.folder or real.startswith(Watch.folder + os.sep)


def library_folders():
    """The folders of the interpreter and of what is installed, which calls may read."""
    found = {*sysconfig.get_paths().values(), *(one for one in sys.path if one.endswith(("site-packages", "dist-packages")))}
    root = os.path.realpath(REQUEST["root"])
    return tuple(sorted({os.path.realpath(one) + os.sep for one in found if os.path.realpath(one) != root}))


def is_library(path):
    """Whether a path leads to a file of a library."""
    if type(path) not in (str, bytes, pathlib.PosixPath):
        return False
    real = os.path.realpath(os.fsdecode(path))
    return (real + os.sep).startswith(LIBRARIES) and not asks_itself()


def allows(event, arguments):
    """Whether an event touches the folder of the call alone, or only reads a library."""
    if event == "socket.__new__":
        # Event loops wake themselves up by one that leads nowhere else.
        return arguments[1] == getattr(socket, "AF_UNIX", None) and not asks_itself()
    if event in ("os.listdir", "os.scandir") and is_library(arguments[0]):
        return True
    if event == "open" and set(str(arguments[1] or "w")) <= set("rbt") and is_library(arguments[0]):
        return True
    if event.startswith(BY_PATHS):
        return Watch.folder is not None
    if event.startswith("sqlite3.connect"):
        if not Watch.connects or str(arguments[0]).startswith("file:"):
            return False
        if event != "sqlite3.connect" or arguments[0] in (":memory:", ""):
            return True
    count = ON_PATHS.get(event)
    if count is None or not all(map(is_inside, arguments[:count])):
        return False
    Watch.used = True
    if event != "open" or set(str(arguments[1] or "w")) & set("wax+"):
        Watch.changes += event not in ("os.listdir", "os.scandir")
        if Watch.changes > CHANGES:
            refuse("changes many files")
    return True


def authorise(action, name, *others):
    """Tells SQLite whether a statement may be run: a file may be attached if the call may open it."""
    attach = 24
    active, Watch.active = Watch.active, False
    try:
        # SQL reaches other files by ATTACH only.
        fine = action != attach or not name or name == ":memory:" or not name.startswith("file:") and is_inside(name)
    finally:
        Watch.active = active
    if not fine and Watch.reason is None:
        Watch.reason = "uses a database outside of its folder"
    return 0 if fine else 1


def watch_databases():
    """Lets calls open databases in their folder only, also by SQL."""
    if sqlite3 is None:
        return
    plain = sqlite3.connect

    @functools.wraps(plain)
    def connect(*given, **named):
        active, before = Watch.active, Watch.connects
        Watch.connects = True
        try:
            found = plain(*given, **named)
        finally:
            Watch.connects = before
        if active:
            Watch.active = False
            try:
                found.set_authorizer(authorise)
            finally:
                Watch.active = True
        return found

    sqlite3.connect = sqlite3.dbapi2.connect = connect


# What finds installed packages, messages in other languages, and templates.
FINDERS = ("importlib.metadata", "gettext", "django.template.loaders", "django.utils.translation")


def importing():
    frame = sys._getframe(2)
    while frame is not None:
        finds = str(frame.f_globals.get("__name__")).startswith(FINDERS)
        if finds or frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def audit(event, arguments):
    if not Watch.active:
        return
    if event == "open":
        path, mode, flags = (tuple(arguments) + (None, None, 0))[:3]
        reads = set(mode) <= set("rbt") if isinstance(mode, str) else not (flags or 0) & CHANGING
        code = isinstance(path, str) and path.endswith(CODE) and reads
        if code:
            return
        reason = "opens a file outside of its folder"
    else:
        for names, text in AUDITED:
            if event.startswith(names):
                reason = text
                break
        else:
            return
    Watch.active = False
    try:
        allowed = allows(event, arguments) or importing()
    finally:
        Watch.active = True
    if not allowed:
        refuse(reason)


CLOCK = {
    "process_time", "process_time_ns", "thread_time", "localtime", "gmtime", "ctime", "strftime", "clock_gettime",
}
# These are shifted in other worlds, which shows whether a result depends on them.
SHIFTED = {"time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns"}
SELF = {"getpid", "getppid", "getcwd", "getuid", "getlogin", "uname", "times", "getloadavg", "stat", "lstat", "access"}


# These put the number of the process and the time into what they write, and into names that nobody sees.
NAMES_ITSELF = ("logging", "tempfile")


def shift_clock(days):
    """Moves the time that the module under test is told; it is imported later."""
    seconds = days * 86400
    for name in SHIFTED:
        more = seconds * 10**9 if name.endswith("_ns") else seconds
        setattr(time, name, lambda read=getattr(time, name), more=more: read() + more)
    step, whole, part = datetime.timedelta(days=days), datetime.datetime, datetime.date

    class Kind(type):
        def __instancecheck__(cls, value):
            return isinstance(value, cls.__mro__[1])

        def __subclasscheck__(cls, kind):
            return issubclass(kind, cls.__mro__[1])

    class Whole(whole, metaclass=Kind):
        @classmethod
        def now(cls, tz=None):
            told = whole.now(tz) + step
            return cls(*told.timetuple()[:6], told.microsecond, told.tzinfo, fold=told.fold)

        @classmethod
        def utcnow(cls):
            return cls.now(datetime.timezone.utc).replace(tzinfo=None)

        @classmethod
        def today(cls):
            return cls.now()

    class Part(part, metaclass=Kind):
        @classmethod
        def today(cls):
            told = part.today() + step
            return cls(told.year, told.month, told.day)

    for kind, name in ((Whole, "datetime"), (Part, "date")):
        kind.__module__, kind.__name__, kind.__qualname__ = "datetime", name, name
        setattr(datetime, name, kind)


def profile(frame, event, function):
    if event != "c_call" or not Watch.active:
        return
    name = getattr(function, "__name__", "")
    module = getattr(function, "__module__", None)
    owner = getattr(function, "__self__", None)
    reason = None
    if module == "time" and name in CLOCK and frame.f_globals.get("__name__") not in NAMES_ITSELF:
        reason = "reads the clock"
    elif module == "time" and name in SHIFTED or name in ("now", "today", "utcnow") and isinstance(owner, type) and issubclass(owner, datetime.date):
        # What a framework reads for itself says nothing about a result.
        Watch.active = False
        Watch.clock = Watch.clock or asks_itself(frame)
        Watch.active = True
    elif owner is random._inst or isinstance(owner, random.SystemRandom):
        reason = "uses random numbers"
    elif module == "posix" and name == "urandom":
        reason = "uses random numbers"
    elif module == "posix" and name == "getcwd" and Watch.folder is not None:
        # Where it is differs from run to run, and so does a result that tells it.
        Watch.active = False
        Watch.used = Watch.used or asks_itself()
        Watch.active = True
    elif name == "set_authorizer":
        reason = "uses a database outside of its folder"
    elif module == "posix" and name in ("mkfifo", "mknod"):
        reason = "makes special files"
    elif module == "posix" and name in SELF and frame.f_globals.get("__name__") not in NAMES_ITSELF:
        reason = "asks about its machine"
    if reason:
        Watch.active = False
        allowed = importing()
        Watch.active = True
        if not allowed:
            refuse(reason)


def watch_paths():
    """Lets calls ask about what is in their folder, which no event tells."""
    for name in ("stat", "lstat", "access"):

        def ask(path, *others, plain=getattr(os, name), **named):
            if not Watch.active:
                return plain(path, *others, **named)
            Watch.active = False
            try:
                inside = is_inside(path)
                Watch.used = Watch.used or inside
                is_code = type(path) is str and path.endswith(CODE)
                # Who shows where an error comes from asks about every file.
                shows = sys._getframe(1).f_globals.get("__name__") == "linecache"
                if inside or is_code or shows or is_library(path) or importing():
                    return plain(path, *others, **named)
            finally:
                Watch.active = True
            refuse("asks about files outside of its folder")

        setattr(os, name, functools.wraps(getattr(os, name))(ask))
        # Until Python 3.10, paths keep the functions that there were when their module was loaded.
        for kind in filter(None, [getattr(pathlib, "_NormalAccessor", None)]):
            setattr(kind, name, staticmethod(ask))


# What every process has, and no program of its own.
MACHINE = {"HOME", "PATH", "PWD", "USER", "LOGNAME", "SHELL", "LANG", "TERM", "TMPDIR", "TZ", "PYTHONPATH"}


# Modules that ask for others, this one included.
BETWEEN = ("__main__", "os", "collections.abc", "posixpath", "genericpath", "pathlib", "pathlib._local", "pathlib._abc")


def asks_itself(frame=None):
    """Whether code of the repository asks, rather than a library."""
    frame = frame or sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__") in BETWEEN:
        frame = frame.f_back
    path = os.path.realpath(frame.f_code.co_filename) if frame else ""
    return path.startswith(REQUEST["root"] + os.sep) and "site-packages" not in path


def watch_environment():
    """Answers code of the repository from the settings of the call instead of those of the machine."""
    kind = type(os.environ)

    def ask(environ, name, plain=kind.__getitem__):
        if not Watch.active:
            return plain(environ, name)
        Watch.active = False
        try:
            if not asks_itself():
                return plain(environ, name)
        finally:
            Watch.active = True
        if name in MACHINE or name.startswith("LC_"):
            refuse("asks about its machine")
        Watch.asked[name] = Watch.settings.get(name)
        if name not in Watch.settings:
            raise KeyError(name)
        return Watch.settings[name]

    def list_names(environ, plain=kind.__iter__):
        if Watch.active and asks_itself():
            refuse("asks about its machine")
        return plain(environ)

    kind.__getitem__, kind.__iter__ = ask, list_names


class Silent:
    """Stands for standard output or error, and keeps what a call prints."""

    encoding = "utf-8"
    errors = "strict"

    def __init__(self):
        self.text = ""

    def write(self, text):
        if Watch.active:
            self.text += text
            if len(self.text) > TEXT:
                refuse("prints much")
        return len(text)

    def flush(self):
        pass

    def isatty(self):
        return False


class Tracer:
    """Lines and steps between lines of the module's file."""

    def __init__(self, path):
        self.path, self.lines, self.marks = path, set(), set()

    def call(self, frame, event, argument):
        if frame.f_code.co_filename != self.path:
            return None
        last = [-frame.f_code.co_firstlineno]

        def line(frame, event, argument):
            if event == "line":
                self.lines.add(frame.f_lineno)
                if len(self.marks) < MARKS:
                    self.marks.add("%d>%d" % (last[0], frame.f_lineno))
                last[0] = frame.f_lineno
            return line

        return line


LAZY = (
    types.GeneratorType, map, filter, zip, enumerate, reversed, itertools.chain, itertools.islice,
    itertools.takewhile, itertools.dropwhile, itertools.starmap, itertools.accumulate, itertools.groupby,
    itertools.product, itertools.permutations, itertools.combinations, itertools.zip_longest,
    itertools.compress, itertools.cycle, itertools.repeat, itertools.count, itertools.filterfalse,
    collections.abc.MappingView, type(iter([])), type(iter(())), type(iter({})),
    type(iter(set())), type(iter("")), type(iter(range(0))),
)
STANDARD = {
    "datetime": ("date", "datetime", "time", "timedelta"),
    "decimal": ("Decimal",),
    "fractions": ("Fraction",),
    "uuid": ("UUID",),
    "pathlib": ("PurePosixPath", "PosixPath"),
}


def reach(kind, needs):
    """How a test names a class: by its module, which must lead back to it."""
    module, name = kind.__module__, kind.__qualname__
    if module == "builtins":
        return name
    found = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is not kind or module == "__main__":
        raise NoLiteral("its type %s cannot be imported" % kind.__name__)
    needs.add(module)
    return "%s.%s" % (module, name)


def literal(value, needs, depth=0):
    if depth > 8:
        raise NoLiteral("it is nested too deeply")
    kind = type(value)
    inner = lambda one: literal(one, needs, depth + 1)
    if value is None or kind is bool or value is Ellipsis or value is NotImplemented:
        return repr(value)
    if kind is int:
        if value.bit_length() > 1300:
            raise NoLiteral("it is a very large number")
        return repr(value)
    if kind is float:
        return repr(value) if math.isfinite(value) else "float(%r)" % repr(value)
    if kind is complex:
        return repr(value)
    # A text of a class of its own inside of a list equals the plain one.
    if depth and isinstance(value, str) and kind is not str and not isinstance(value, enum.Enum) and value == str.__str__(value):
        return inner(str.__str__(value))
    if kind in (str, bytes, bytearray):
        if len(value) > TEXT:
            raise NoLiteral("it is a long text")
        return repr(value)
    if isinstance(value, enum.Enum):
        if type(value).__members__.get(value.name) is not value:
            raise NoLiteral("it is a member of no enumeration")
        return "%s.%s" % (reach(kind, needs), value.name)
    if isinstance(value, type):
        return reach(value, needs)
    if hasattr(value, "__len__") and not isinstance(value, range) and len(value) > ELEMENTS:
        raise NoLiteral("it has many elements")
    if kind is list:
        return "[%s]" % ", ".join(map(inner, value))
    if kind is tuple:
        return "(%s)" % (", ".join(map(inner, value)) + ("," if len(value) == 1 else ""))
    if kind is set or kind is frozenset:
        text = "{%s}" % ", ".join(sorted(map(inner, value))) if value else ""
        return text or "set()" if kind is set else "frozenset(%s)" % text
    if kind is dict:
        return "{%s}" % ", ".join("%s: %s" % (inner(k), inner(v)) for k, v in value.items())
    if kind in (range, slice):
        return repr(value)
    if kind in (collections.OrderedDict, collections.Counter, collections.deque):
        needs.add("collections")
        content = inner(list(value) if kind is collections.deque else dict(value))
        return "collections.%s(%s)" % (kind.__name__, content)
    if kind is collections.defaultdict:
        return inner(dict(value))
    if kind.__name__ in STANDARD.get(kind.__module__.split(".")[0], ()) and kind.__module__.split(".")[0] in STANDARD:
        module = kind.__module__.split(".")[0]
        needs.add(module)
        text = repr(value)
        return text if text.startswith(module + ".") else "%s.%s" % (module, text)
    if dataclasses.is_dataclass(value):
        fields = [one for one in dataclasses.fields(value) if one.init]
        parts = ["%s=%s" % (one.name, inner(getattr(value, one.name))) for one in fields]
        return "%s(%s)" % (reach(kind, needs), ", ".join(parts))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        parts = ["%s=%s" % (name, inner(getattr(value, name))) for name in value._fields]
        return "%s(%s)" % (reach(kind, needs), ", ".join(parts))
    return construction(value, kind, needs, inner)


def construction(value, kind, needs, inner):
    """A call of the class with what its object keeps under the names of the parameters."""
    if isinstance(value, LAZY):
        raise NoLiteral("it contains a %s" % kind.__name__)
    refused = NoLiteral("a value of type %s cannot be written as a literal" % kind.__name__)
    if "__eq__" not in dir(kind) or kind.__eq__ is object.__eq__ or not hasattr(value, "__dict__"):
        raise refused
    try:
        parameters = list(inspect.signature(kind).parameters.values())
    except (TypeError, ValueError):
        raise refused from None
    parts = []
    for one in parameters:
        if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            continue
        if one.name not in vars(value):
            raise refused
        if one.default is not one.empty and same(vars(value)[one.name], one.default):
            continue
        text = inner(vars(value)[one.name])
        positional = one.kind is not one.KEYWORD_ONLY and one.default is one.empty
        parts.append(text if positional else "%s=%s" % (one.name, text))
    return "%s(%s)" % (reach(kind, needs), ", ".join(parts))


ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]+")


def described(value, needs):
    """How an object that has no literal is observed, and the literal of what is seen."""
    kind = type(value)
    module = sys.modules.get(kind.__module__)
    own = os.path.realpath(getattr(module, "__file__", None) or "").startswith(REQUEST["root"] + os.sep)
    own = own or kind in (list, tuple)
    if not own or isinstance(value, type):
        return None
    if kind.__str__ is not object.__str__ or kind.__repr__ is not object.__repr__:
        text = str(value)
        if type(text) is str and not ADDRESS.search(text):
            return "text", written(text, needs)
    if kind in (list, tuple) and value:
        parts = [described(one, needs) for one in value[:ELEMENTS]]
        if len(value) <= ELEMENTS and all(part and part[0] == "text" for part in parts):
            return "texts", written([str(one) for one in value], needs)
        return None
    kept = getattr(value, "__dict__", None)
    if kept and not any(name.startswith("_") for name in kept):
        try:
            return "attributes", written(dict(kept), needs)
        except NoLiteral:
            pass
    members = members_of(value, needs)
    return ("members", written(members, needs)) if members else None


def members_of(value, needs):
    """What an object tells in public: a few attributes and properties with short literals."""
    kind, found = type(value), {}
    names = [*getattr(value, "__dict__", ()), *(name for name in dir(kind) if isinstance(inspect.getattr_static(kind, name, None), property))]
    for name in sorted(name for name in set(names) if not name.startswith("_")):
        try:
            Watch.active = True
            one = getattr(value, name)
        except Exception:
            continue
        finally:
            Watch.active = False
        try:
            if len(found) < MEMBERS and len(written(one, set(needs))) <= MEMBER:
                written(one, needs)
                found[name] = one
        except NoLiteral:
            pass
    return found


def same(one, other, depth=0):
    """Equal, and of the same types all the way down, but for texts inside of others."""
    if depth and type(other) is str and isinstance(one, str):
        return other == str.__str__(one) and bool(one == other)
    if type(one) is not type(other) or depth > 20:
        both = (type(one), type(other))
        return both == (collections.defaultdict, dict) and same(dict(one), other, depth + 1)
    if type(one) is float:
        return repr(one) == repr(other)
    if isinstance(one, (list, tuple, collections.deque)):
        return len(one) == len(other) and all(same(a, b, depth + 1) for a, b in zip(one, other))
    if isinstance(one, dict):
        return len(one) == len(other) and all(
            same(a, b, depth + 1) and same(one[a], other[b], depth + 1) for a, b in zip(one, other)
        )
    if isinstance(one, (set, frozenset)):
        return one == other and sorted(map(repr, one)) == sorted(map(repr, other))
    return bool(one == other)


def written(value, needs):
    """The literal of a value, proven to mean the same value."""
    text = literal(value, needs)
    if len(text) > LITERAL:
        raise NoLiteral("its literal is long")
    names = {}
    for module in needs:
        importlib.import_module(module)
        names[module.split(".")[0]] = sys.modules[module.split(".")[0]]
    if not same(value, eval(text, names)):
        raise NoLiteral("its literal does not compare equal to it")
    return text


def await_now(coroutine):
    """Runs a coroutine that waits for nothing."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value
    coroutine.close()
    refuse("waits for something")


def explicit(error):
    """Whether code of the repository raised it by a statement of its own."""
    entry = error.__traceback__
    while entry is not None and entry.tb_next is not None:
        entry = entry.tb_next
    if entry is None:
        return False
    path = os.path.realpath(entry.tb_frame.f_code.co_filename)
    inside = path.startswith(REQUEST["root"] + os.sep) and "site-packages" not in path
    return inside and re.search(r"\braise\b", linecache.getline(path, entry.tb_lineno)) is not None


FRAMEWORKS = {"click", "django", "fastapi", "flask", "httpx", "starlette", "typer", "werkzeug"}


def answer_of(value):
    """What a test compares of an answer of an application or a command, by expressions on it; else None."""
    roots = {kind.__module__.split(".")[0] for kind in type(value).__mro__}
    if not roots & FRAMEWORKS:
        return None
    if hasattr(value, "exit_code") and hasattr(value, "output"):
        if value.exception is not None and not isinstance(value.exception, SystemExit):
            raise value.exception
        # How a framework puts that it was called wrongly differs from version to version.
        return {"exit_code": value.exit_code, **({} if value.exit_code == 2 else {"output": value.output})}
    if not isinstance(getattr(value, "status_code", None), int):
        return None
    if value.status_code >= 500:
        refuse("is answered with status %d" % value.status_code)
    found = {"status_code": value.status_code}
    kind = value.headers.get("Content-Type") or ""
    if 300 <= value.status_code < 400:
        found["headers['Location']"] = value.headers.get("Location")
    elif value.status_code == 422 or value.status_code >= 400 and "json" not in kind:
        # What a framework says of a bad request differs from version to version.
        pass
    elif "json" in kind:
        found["get_json()" if hasattr(value, "get_json") else "json()"] = (getattr(value, "get_json", None) or value.json)()
    elif hasattr(value, "get_data"):
        found["get_data(as_text=True)"] = value.get_data(as_text=True)
    elif "django" not in roots:
        found["text" if hasattr(value, "text") else "content"] = value.text if hasattr(value, "text") else value.content
    elif not value.streaming:
        found["content.decode()" if "text" in kind else "content"] = value.content.decode() if "text" in kind else value.content
    return found


def result(value, way, needs, is_made):
    """What a test compares; of an object that was just made, what it keeps, not that it is equal to itself."""
    known = set(needs)
    answer = answer_of(value) if way == "plain" else None
    if answer is not None:
        return {"value": written(answer, needs), "way": "members"}
    try:
        if is_made and described(value, needs):
            raise NoLiteral("it is described")
        found = {"value": written(value, needs), "way": way}
        if type(value) not in PLAIN:
            found["printed"] = printed(value)
        return found
    except NoLiteral:
        needs.clear()
        needs.update(known)
        other = described(value, needs) if way in ("plain", "list") else None
        if other is None or way == "list" and other[0] != "texts":
            raise
        return {"value": other[1], "way": other[0], "printed": printed(value)}


# What the prompt shows of these is their literal.
PLAIN = (type(None), bool, int, float, str, bytes)


def printed(value):
    """What the prompt of the interpreter shows of an object, where that is always the same."""
    try:
        text = repr(value)
    except Exception:
        return None
    return text if type(text) is str and len(text) < 400 and not ADDRESS.search(text) else None


NAMED = re.compile(r"(\w+)=(?!=)")


def split_names(arguments):
    """The names of arguments that are given by name, None for others; and the values."""
    found = [NAMED.match(text) for text in arguments]
    values = [text[one.end():] if one else text for one, text in zip(found, arguments)]
    return [one and one.group(1) for one in found], values


def statement_on(name, step):
    """A step of a story: `add(1)` of `name.add(1)`, `["a"] = 1` and `del ["a"]`."""
    if step.startswith("del ["):
        return "del " + name + step[4:]
    return name + ("" if step.startswith("[") else ".") + step


def callee_of(call, names):
    """What is called; where calls on its object come first, its method after these."""
    if "." not in call["callee"]:
        return eval(call["callee"], names)
    subject, method = call["callee"].rsplit(".", 1)
    try:
        subject = eval(subject, names)
    except Exception as error:
        refuse("its object cannot be made: %s" % type(error).__name__)
    for one in call.get("setup") or ():
        try:
            exec(statement_on("__subject", one), dict(names, __subject=subject))
        except Exception as error:
            refuse("a call before it fails: %s" % type(error).__name__)
    if isinstance(inspect.getattr_static(type(subject), method, None), (property, functools.cached_property)):
        return lambda: getattr(subject, method)
    found = getattr(subject, method)
    return found if callable(found) else lambda: found


def own_classes(module):
    """The classes that a module defines, which arguments may name beside modules of the standard library."""
    found = {one: importlib.import_module(one) for one in ARGUMENT_MODULES}
    found.update((name, one) for name, one in vars(module).items() if isinstance(one, type) and one.__module__ == module.__name__)
    return found


def called_names(module, texts):
    """The functions and classes of a module that the texts call."""
    found = {name: one for name, one in vars(module).items() if isinstance(one, (types.FunctionType, type))}
    called = {name for text in texts for name in re.findall(r"(?<![\w.\"'])(\w+)\(", text)}
    return {name: one for name, one in found.items() if name in called}


@functools.lru_cache(maxsize=None)
def imported_names(path):
    """What a file imports by name, also where only type checkers do: the name here, its module and its name there."""
    nodes = ast.walk(ast.parse("".join(linecache.getlines(path))))
    found = [(node, one) for node in nodes if isinstance(node, ast.ImportFrom) for one in node.names]
    return [(one.asname or one.name, "." * node.level + (node.module or ""), one.name) for node, one in found]


def imported_objects(module, texts):
    """The classes that a module imports and what other modules have, where texts call it, each with its own module."""
    found = {}
    for name, source, own in imported_names(module.__file__):
        if any("%s(" % name in text for text in texts):
            source = importlib.import_module(source, module.__package__)
            kind = getattr(source, own, None)
            if isinstance(kind, type):
                found[name] = (kind, source.__name__)
    for name, source in REQUEST["bindings"]:
        if name not in found and name not in vars(module) and any(re.search(r"(?<![\w.\"'])%s[.()]" % name, text) for text in texts):
            source = importlib.import_module(source)
            if hasattr(source, name):
                found[name] = (getattr(source, name), source.__name__)
    return found


DATABASES = ("sqlite3",) if sqlite3 else ()
ARGUMENT_MODULES = ("datetime", "decimal", "fractions", "io", "pathlib", "re", *DATABASES)
NAMED_MODULE = re.compile(r"\b(%s)\.[A-Za-z]" % "|".join(ARGUMENT_MODULES))


@functools.lru_cache(maxsize=None)
def package_of(module):
    """The package of a module, or itself, with what finds calls of its functions in a text."""
    name = module.__name__.partition(".")[0]
    return name, re.compile(r"(?<![\w.\"'/])%s\.[A-Za-z]\w*\(" % re.escape(name))


def public_attributes(value):
    """The attributes of an object that keeps no private ones."""
    kept = getattr(value, "__dict__", None)
    if not kept or any(name.startswith("_") for name in kept):
        raise NoLiteral("it is a context manager with a state of its own")
    return dict(kept)


def leave(manager, tracer):
    """Ends what a context manager began, under the same watch as the call."""
    try:
        signal.setitimer(signal.ITIMER_REAL, REQUEST["limit"])
        if tracer:
            sys.settrace(tracer.call)
        Watch.active = True
        manager.__exit__(None, None, None)
    finally:
        Watch.active = False
        sys.settrace(None)
        signal.setitimer(signal.ITIMER_REAL, 0)


def enter_folder(call, folder):
    """Makes the folder of a call with the files that it names, and returns these."""
    os.mkdir(folder)
    os.chdir(folder)
    texts = [*call["arguments"], call["callee"], *(call.get("setup") or ())]
    given = {}
    for name, text in REQUEST["files"]:
        if any('"%s"' % name in one for one in texts):
            given[name] = ast.literal_eval(text)
            with open(name, "w", encoding="utf-8", newline="") as file:
                file.write(given[name])
    Watch.folder, Watch.used, Watch.changes, Watch.asked = os.path.realpath(folder), False, 0, {}
    Watch.settings = dict(call.get("environment") or ())
    tempfile.tempdir = Watch.folder
    return given


def leave_folder(given):
    """Removes the folder of a call; returns the texts of files that it made or changed, None for those that are gone."""
    folder, Watch.folder = Watch.folder, None
    found = {}
    try:
        for base, _, names in os.walk(folder):
            for name in names[:CHANGES]:
                found[os.path.relpath(os.path.join(base, name), folder)] = text_of(os.path.join(base, name))
    finally:
        os.chdir(os.path.dirname(folder))
        shutil.rmtree(folder, ignore_errors=True)
    changed = {name: found.get(name) for name in given if found.get(name) != given[name]}
    changed.update((name, text) for name, text in found.items() if name not in given)
    return [[name, changed[name]] for name in sorted(changed) if is_pinned(changed[name])]


def text_of(path):
    """The text of a file, or a zero byte where it is none; what is too large for a call refuses it."""
    try:
        if os.path.islink(path) or not os.path.isfile(path):
            return "\0"
        if os.path.getsize(path) >= FILE:
            Watch.reason = Watch.reason or "writes a large file"
        with open(path, encoding="utf-8", newline="") as file:
            return file.read(FILE)
    except (OSError, ValueError):
        return "\0"


def is_pinned(text):
    """Whether a test compares what is in a file: no databases, and nothing that is long."""
    return text is None or len(text) <= TEXT and "\0" not in text


def run_apart(call, module, tracer, folder):
    """Makes a call in a folder of its own and adds to its record what it did there."""
    given = enter_folder(call, folder)
    try:
        record = run(call, module, tracer)
    finally:
        Watch.active = False
        written = leave_folder(given)
    if "refused" in record or Watch.reason:
        return {"refused": record.get("refused") or Watch.reason}
    if Watch.used:
        given = [[name, repr(text)] for name, text in sorted(given.items())]
        written = [[name, None if text is None else repr(text)] for name, text in written]
        record["folder"] = {"given": given, "written": written}
    record["asked"] = sorted(Watch.asked.items())
    if folder in json.dumps([record.get(key) for key in ("value", "message", "after", "folder")]):
        return {"refused": "its result tells where its files are"}
    return record


def run(call, module, tracer):
    needs, way = set(), "plain"
    if Watch.unready and call["callee"].startswith("Client()."):
        return {"refused": Watch.unready}
    Watch.reason, Watch.clock, Watch.stores = None, False, False
    sys.stdout, sys.stderr = Silent(), Silent()
    try:
        keywords, texts = split_names(call["arguments"])
        written_in = [*texts, call["callee"], *(call.get("setup") or ())]
        others = imported_objects(module, written_in)
        known = dict({name: kind for name, (kind, _) in others.items()}, **own_classes(module))
        nested = called_names(module, texts)
        known.update(nested)
        # A command is given to its runner.
        known.update((one, vars(module)[one]) for one in texts if is_request(call) and one in vars(module))
        package, calls = package_of(module)
        if any(calls.search(text) for text in written_in):
            known[package] = nested[package] = sys.modules[package]
            needs.add(package)
        # Functions of the module run under the same watch as the call.
        signal.signal(signal.SIGALRM, lambda number, frame: refuse(slow()))
        signal.setitimer(signal.ITIMER_REAL, REQUEST["limit"])
        Watch.active = bool(nested or others)
        arguments = [eval(text, dict(known)) for text in texts]
        before = [eval(text, dict(known)) for text in texts]
        needs.update(name for text in written_in for name in NAMED_MODULE.findall(text))
        # What the module itself has is imported from there.
        missing = {"%s:%s" % (source, name) for name, (_, source) in others.items() if name not in vars(module)}
        missing.update("%s:%s" % (module.__name__, name) for name in nested if name not in needs)
    except Refused as error:
        return {"refused": str(error)}
    except (ImportError, RuntimeError) as error:
        return {"refused": "it cannot be called: %s" % str(error).strip().split("\n")[0][:200]}
    except Exception as error:
        return {"refused": "an argument cannot be made: %s" % type(error).__name__}
    finally:
        Watch.active = False
        signal.setitimer(signal.ITIMER_REAL, 0)
    names = dict(known, **vars(module))
    ring = lambda number, frame: refuse(slow())
    signal.signal(signal.SIGALRM, ring)
    record, manager = {}, None
    threads = threading.active_count()
    try:
        signal.setitimer(signal.ITIMER_REAL, REQUEST["limit"])
        if tracer:
            sys.settrace(tracer.call)
            threading.settrace(tracer.call)
        sys.setprofile(profile)
        threading.setprofile(profile)
        Watch.active = True
        try:
            callee = callee_of(call, names)
            way = "entered" if call["callee"].endswith(".__enter__") else way
            value = callee(
                *[one for one, name in zip(arguments, keywords) if name is None],
                **{name: one for one, name in zip(arguments, keywords) if name is not None},
            )
            if isinstance(value, types.CoroutineType):
                way = "await"
                value = await_now(value)
            elif value is NotImplemented:
                refuse("is not defined for these values")
            elif way == "entered":
                manager = callee.__self__
            elif isinstance(value, contextlib._GeneratorContextManager):
                way = "entered"
                manager, value = value, value.__enter__()
            elif isinstance(value, LAZY) or call["callee"].endswith((".__iter__", ".__reversed__")):
                way = "list"
                value = list(itertools.islice(value, CONSUMED + 1))
                if len(value) > CONSUMED:
                    way, value = "first-items", value[:5]
                    needs.add("itertools")
            elif type(value) in (list, tuple) and value and all(isinstance(one, LAZY) for one in value):
                way = "lists"
                value = [list(itertools.islice(one, CONSUMED)) for one in value]
        finally:
            Watch.active = False
            sys.settrace(None)
            sys.setprofile(None)
            threading.settrace(None)
            threading.setprofile(None)
            signal.setitimer(signal.ITIMER_REAL, 0)
        if manager is not None:
            way, value = ("entered", value) if value is not manager else ("entered-attributes", public_attributes(value))
        if type(value) is float and math.isnan(value):
            record = {"value": "nan", "way": "nan" if way == "plain" else "none"}
        elif value is None and way == "plain" and isinstance(sys.stdout, Silent) and sys.stdout.text and not is_command(call):
            record = {"value": written(sys.stdout.text, needs), "way": "printed"}
        else:
            record = result(value, way, needs, isinstance(callee, type))
        if manager is not None:
            leave(manager, tracer)
    except Refused as error:
        record = {"refused": str(error)}
    except (RecursionError, MemoryError) as error:
        record = {"refused": "uses too much memory or stack"}
    except SystemExit as error:
        record = {"refused": "ends the process"}
        if is_command(call):
            record = {"raised": "SystemExit", "message": str(error), "explicit": True, "way": "plain"}
    except KeyboardInterrupt:
        record = {"refused": "ends the process"}
    except NoLiteral as error:
        record = {"refused": "its result is left out: %s" % error}
    except BaseException as error:
        if manager is not None:
            return {"refused": "it cannot be left: %s" % type(error).__name__}
        if is_request(call):
            return {"refused": "it makes the application raise %s" % type(error).__name__}
        try:
            record = {
                "raised": reach(type(error), needs),
                "message": str(error)[:TEXT],
                "explicit": explicit(error),
                "way": way,
            }
        except NoLiteral as problem:
            record = {"refused": "what it raises is left out: %s" % problem}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    if Watch.reason is not None:
        return {"refused": Watch.reason}
    # The client of an application ends its own threads a moment later.
    for _ in range(50 if is_request(call) else 0):
        if threading.active_count() <= threads:
            break
        time.sleep(0.01)
    if threading.active_count() > threads:
        return {"refused": "starts a thread"}
    if "refused" in record:
        return record
    after = []
    # Beside a result or an error, a change that cannot be written down is not asserted.
    asserted = record.get("value") not in (None, "None") or "raised" in record
    for index, (now, then) in enumerate(zip(arguments, before)):
        try:
            if isinstance(now, (list, dict, set, bytearray)) and not same(now, then):
                after.append([index, written(now, needs)])
        except Exception:
            if not asserted:
                return {"refused": "changes an argument in a way that cannot be written down"}
    if is_command(call) and isinstance(sys.stdout, Silent) and sys.stdout.text:
        record["output"] = written(sys.stdout.text, needs)
    record["after"], record["needs"], record["clock"] = after, sorted(needs | missing), Watch.clock
    record["database"] = Watch.stores
    if tracer:
        record["lines"], record["marks"] = sorted(tracer.lines), sorted(tracer.marks)
    return record


def is_command(call):
    """Whether a call is that of the entry point of a command, which may end by an exit and print beside its result."""
    return call["callee"].split(".")[-1] == "main"


def is_request(call):
    """Whether a call asks an application or a command by the test client of its framework."""
    return call["callee"].startswith(("TestClient(", "CliRunner(", "Client().")) or ".test_client()" in call["callee"]


def state_of(names):
    """What a call could change for the next one: values that modules of the repository hold."""
    known = []
    for name in names:
        one = sys.modules.get(name)
        file = getattr(one, "__file__", None)
        if not file or not os.path.realpath(file).startswith(REQUEST["root"] + os.sep):
            continue
        for key, value in list(vars(one).items()):
            # What a cache remembers changes no result: other orders of the calls would show it.
            if not key.startswith("__") and not CACHE.search(key) and isinstance(value, (int, str, float, list, dict, set, tuple, type(None))):
                try:
                    known.append((name, key, repr(value)[:4000]))
                except Exception:
                    known.append((name, key, "?"))
    return sorted(known)


CACHE = re.compile("cache|memo", re.IGNORECASE)


def slow():
    return "takes longer than %g s" % REQUEST["limit"]


def limit_resources():
    try:
        import resource

        memory = REQUEST["memory"]
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE, FILE))
    except (ImportError, OSError, ValueError):
        pass


def child(calls, module, out, folder):
    """Runs calls of one callee; what they change is seen when all are done."""
    limit_resources()
    sys.stdout, sys.stderr = Silent(), Silent()
    # A test runner keeps warnings apart from what is printed.
    warnings.simplefilter("ignore")
    names = list(sys.modules)
    before, hangs = state_of(names), 0
    for index, call in calls:
        tracer = Tracer(module.__file__) if REQUEST["trace"] else None
        own = os.path.join(folder, str(index))
        record = run_apart(call, module, tracer, own) if hangs < HANGS else {"refused": slow()}
        hangs += record.get("refused") == slow()
        record["index"] = index
        os.write(out, (json.dumps(record) + "\n").encode("utf-8", "surrogatepass"))
    # Modules that are first imported by a call are no change.
    changed = state_of(names) != before
    os.write(out, (json.dumps({"done": True, "changed": changed}) + "\n").encode())
    os._exit(0)


def tell(record):
    ANSWERS.write(json.dumps(record) + "\n")
    ANSWERS.flush()


UNCALLED = "was not called, because calls before it ended the process"


def moved_up(descriptor):
    """The same open file under a number that calls do not guess."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, DESCRIPTOR)
    os.close(descriptor)
    return moved


def serve(calls, module):
    """Runs calls in children until each has an answer."""
    records, crashes = {}, 0
    left = list(calls)
    while left:
        reader, writer = os.pipe()
        # Calls may open, and close, files by small numbers.
        writer = moved_up(writer)
        gc.collect()
        folder = tempfile.mkdtemp(prefix="calls-", dir=os.getcwd())
        pid = os.fork()
        if pid == 0:
            os.close(reader)
            try:
                os.setpgid(0, 0)
                child(left, module, writer, folder)
            finally:
                os._exit(1)
        os.close(writer)
        text, done, changed, hung = b"", False, False, False
        while True:
            ready = select.select([reader], [], [], REQUEST["limit"] + 1.5)[0]
            piece = os.read(reader, 1 << 16) if ready else b""
            if not piece:
                hung = not ready
                break
            text += piece
            *whole, text = text.split(b"\n")
            for line in whole:
                record = json.loads(line.decode("utf-8", "surrogatepass"))
                if record.get("done"):
                    done, changed = True, record["changed"]
                else:
                    records[record["index"]] = record
            if done:
                break
        os.close(reader)
        for target in (os.killpg, os.kill):
            try:
                target(pid, signal.SIGKILL)
            except OSError:
                pass
        os.waitpid(pid, 0)
        shutil.rmtree(folder, ignore_errors=True)
        if changed:
            for index, _ in calls:
                if "refused" not in records.get(index, {"refused": ""}):
                    records[index] = {"index": index, "refused": "changes state outside of itself"}
        left = [(index, call) for index, call in left if index not in records]
        if left and not done:
            why = slow() if hung else "ends the process"
            records[left[0][0]] = {"index": left[0][0], "refused": why}
            left = left[1:]
            # One that hangs or dies again and again is not asked for ever.
            crashes += 1
            others = why if hung else UNCALLED
            for index, _ in left if crashes >= HANGS else ():
                records[index] = {"index": index, "refused": others}
            left = left if crashes < HANGS else []
    for index, _ in calls:
        tell(records[index])


SETTINGS = ("pyproject.toml", "pytest.ini", ".pytest.ini", "setup.cfg", "tox.ini", "conftest.py", "tests/conftest.py")


def installed_copy():
    """The copy that tests import instead of the file, whose folder `src` only we search."""
    folders = [one for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if os.path.basename(one) == "src"]
    path = list(sys.path)
    for folder in filter(path.__contains__, folders):
        path.remove(folder)
    for name in SETTINGS:
        try:
            with open(os.path.join(REQUEST["root"], name), encoding="utf-8") as file:
                text = file.read()
        except (OSError, ValueError):
            continue
        if "pythonpath" in text or "sys.path" in text:
            return None
    package = REQUEST["module"].split(".")[0]
    spec = importlib.machinery.PathFinder.find_spec(package, path)
    places = [spec.origin, *(spec.submodule_search_locations or ())] if spec else []
    copies = [one for one in places if one and re.search(r"[/\\](site|dist)-packages[/\\]", one)]
    return copies[-1] if copies and not copies[-1].startswith(REQUEST["root"] + os.sep) else None


DJANGO = re.compile(r"""(?:DJANGO_SETTINGS_MODULE["'\]]*\s*[,=]\s*|--ds[= ])["']?([\w.]+)""")


def make_tables(settings):
    """Makes the tables of all models, and lets requests alone use them."""
    base = importlib.import_module("django.db.backends.base.base").BaseDatabaseWrapper
    has_requests = any(call["callee"].startswith("Client().") for call in REQUEST["calls"])
    if has_requests:
        apps = importlib.import_module("django.apps").apps.get_app_configs()
        settings.MIGRATION_MODULES = {one.label: None for one in apps}
        importlib.import_module("django.core.management").call_command("migrate", run_syncdb=True, verbosity=0)

    def ensure(connection, plain=base.ensure_connection):
        if not has_requests:
            refuse("uses the database of Django")
        Watch.stores = True
        return plain(connection)

    base.ensure_connection = ensure


def set_up_django():
    """Prepares Django by the settings of the project; returns why it cannot be asked."""
    folders = [REQUEST["root"], *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    for folder, name in itertools.product(folders, (*SETTINGS, "manage.py")):
        try:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                found = DJANGO.search(file.read())
        except (OSError, ValueError):
            continue
        if found:
            os.environ.setdefault("DJANGO_SETTINGS_MODULE", found.group(1))
            break
    if "DJANGO_SETTINGS_MODULE" not in os.environ or importlib.util.find_spec("django") is None:
        return "needs Django with its settings"
    if FRAMEWORK == "pytest" and importlib.util.find_spec("pytest_django") is None:
        return "needs pytest-django, which is not installed"
    try:
        settings = importlib.import_module("django.conf").settings
        # Never the database of the project: an empty one in memory, of which each child has its own copy.
        engine = {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}
        settings.DATABASES = {name: dict(engine) for name in {"default", *settings.DATABASES}}
        importlib.import_module("django").setup()
        make_tables(settings)
        importlib.import_module("django.test.utils").setup_test_environment(debug=False)
        # What it loads with the first request changes nothing then.
        importlib.import_module("django.urls").get_resolver().url_patterns
        importlib.import_module("django.template").engines.all()
    except (Exception, Refused) as error:
        return "Django cannot be set up: %s: %s" % (type(error).__name__, str(error)[:200])
    return None


def load():
    ring = lambda number, frame: refuse("cannot be imported in 20 s")
    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 20)
    sys.stdout, sys.stderr = Silent(), Silent()
    try:
        Watch.unready = set_up_django()
        module = importlib.import_module(REQUEST["module"])
    except Refused as error:
        return None, str(error)
    except BaseException as error:
        if Watch.unready and type(error).__module__.startswith("django."):
            return None, Watch.unready
        return None, "its module cannot be imported: %s: %s" % (type(error).__name__, str(error)[:200])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    file = getattr(module, "__file__", None)
    if not file or os.path.realpath(file) != os.path.realpath(REQUEST["path"]):
        return None, "`import %s` finds another file" % REQUEST["module"]
    copy = installed_copy()
    if copy:
        return None, "tests import the installed copy in %s instead of it: `pip install -e .` corrects that" % copy
    if threading.active_count() > 1:
        return None, "its module starts threads"
    return module, None


def main():
    module, problem = load()
    groups = {}
    if module:
        imported_names(module.__file__)
    for index, call in enumerate(REQUEST["calls"]):
        # What one request changes says nothing about another one.
        key = str(call) if is_request(call) else call["callee"].split("(")[0]
        groups.setdefault(key, []).append((index, call))
    for calls in groups.values():
        if problem:
            for index, _ in calls:
                tell({"index": index, "refused": problem})
            continue
        serve(list(reversed(calls)) if REQUEST["reverse"] else calls, module)
    tell({"end": True})


REQUEST = json.loads(REQUESTS.readline())
REQUEST["root"] = os.path.realpath(REQUEST["root"])
LIBRARIES = library_folders()
FRAMEWORK, sys.argv = sys.argv[-1], ["tests"]
sys.dont_write_bytecode = True
if any(map(is_request, REQUEST["calls"])):
    # Frameworks derive classes from those of dates, which a shifted clock replaces.
    for source in ("pydantic.v1", *(source for _, source in REQUEST["bindings"] if source.split(".")[0] in FRAMEWORKS - {"django"})):
        with contextlib.suppress(Exception):
            importlib.import_module(source)
if REQUEST["shift"]:
    shift_clock(REQUEST["shift"])
watch_paths()
watch_databases()
watch_environment()
sys.addaudithook(audit)
main()
