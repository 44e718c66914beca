"""Runs a program of Python and writes which lines of some files ran, where coverage.py is missing.

Usage: regreen_lines.py FOLDER (-m MODULE | FILE) [ARGUMENT...]

FOLDER/files.json lists the paths of the files. FOLDER/report gets their lines in the form of coverage.py's
JSON report, without branches; a file that was never loaded has only missing lines. What runs in other
processes does not count. Works on Python 3.8 and later.

pytest gets this module as a plugin that is loaded already: PYTEST_DONT_REWRITE.
"""

import ast
import atexit
import dis
import importlib.util
import io
import json
import os
import re
import runpy
import sys
import threading
import tokenize
import types
import unittest
import warnings
from os.path import join, normpath

__unittest = True

OWNER, HERE = os.getpid(), os.getcwd()
PRAGMA = re.compile(r"#\s*pragma[:\s]?\s*no\s*cover", re.IGNORECASE)
# The lines that ran by file; the same sets by name of a file, and what traces it, once it was seen.
RAN, NAMED, HOOKS = {}, {}, {}


def lines_of(name):
    """The lines of a file that is measured. Tests replace functions of `os`, so none is called here."""
    if name not in NAMED:
        NAMED[name] = NAMED.get(normpath(join(HERE, name)))
    return NAMED[name]


def monitor():
    """Notes each line once; what tests do with `sys.settrace` has no effect."""
    monitoring = sys.monitoring
    tool = monitoring.COVERAGE_ID

    def on_line(code, line):
        lines = lines_of(code.co_filename)
        if lines is not None:
            lines.add(line)
        return monitoring.DISABLE

    monitoring.use_tool_id(tool, "regreen")
    monitoring.register_callback(tool, monitoring.events.LINE, on_line)
    monitoring.set_events(tool, monitoring.events.LINE)


def on_call(frame, event, argument):
    name = frame.f_code.co_filename
    if name not in HOOKS:
        HOOKS[name] = hook(lines_of(name))
    return HOOKS[name]


def hook(lines):
    def on_line(frame, event, argument):
        lines.add(frame.f_lineno)
        return on_line

    return None if lines is None else on_line


def trace():
    """Traces from here on. A test may end that: it sets another function or none, or exhausts the stack."""
    if RAN and sys.gettrace() is None:
        threading.settrace(on_call)
        sys.settrace(on_call)


def trace_each_test(words):
    run = unittest.TestCase.run

    def traced(*arguments, **options):
        trace()
        return run(*arguments, **options)

    unittest.TestCase.run = traced
    if words[:2] == ["-m", "pytest"] or words[0].endswith("regreen_pytest.py"):
        sys.modules["regreen_lines"] = sys.modules[__name__]
        words.extend(["-p", "regreen_lines"])
    trace()


# A hook of pytest.
def pytest_runtest_logstart(nodeid, location):
    trace()


def statements(source):
    """The first line of each statement that can run, by all of its lines."""
    first, silent, begin = {}, set(), None
    for token in tokenize.tokenize(io.BytesIO(source).readline):
        if token.type == tokenize.COMMENT and PRAGMA.match(token.string):
            silent.add(token.start[0])
        if token.type in (tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING):
            continue
        begin = begin or token.start[0]
        if token.type == tokenize.NEWLINE:
            first.update(dict.fromkeys(range(begin, token.end[0] + 1), begin))
            begin = None
    tree = ast.parse(source)
    silent, left_out = {first.get(line) for line in silent}, set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.stmt, ast.excepthandler)):
            heads = [node.lineno] + [one.lineno for one in getattr(node, "decorator_list", [])]
            if silent.intersection(heads):
                left_out.update(range(min(heads), node.end_lineno + 1))
        documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        if isinstance(node, documented) and ast.get_docstring(node, False) is not None:
            if node.body[0].lineno > getattr(node, "lineno", 0):
                left_out.add(node.body[0].lineno)
    return {line: head for line, head in first.items() if head not in left_out}


def executable(code):
    for constant in code.co_consts:
        # Annotations are evaluated when somebody asks for them.
        if isinstance(constant, types.CodeType) and constant.co_name != "__annotate__":
            yield from executable(constant)
    yield from (line for _, line in dis.findlinestarts(code))


def report(path, ran):
    with open(path, "rb") as file:
        source = file.read()
    first = statements(source)
    lines = {first[line] for line in executable(compile(source, path, "exec")) if line in first}
    ran = {first[line] for line in list(ran) if line in first} & lines
    return {"executed_lines": sorted(ran), "missing_lines": sorted(lines - ran)}


def write(folder):
    if os.getpid() != OWNER:
        return
    sys.settrace(None)
    warnings.simplefilter("ignore")
    files = {}
    for path, ran in RAN.items():
        try:
            files[path] = report(path, ran)
        except (OSError, SyntaxError, ValueError, RecursionError, tokenize.TokenError):
            continue
    # Whoever reads it sees all of it or nothing.
    with open(join(folder, "part"), "w", encoding="utf-8") as file:
        json.dump({"files": files}, file)
    os.replace(join(folder, "part"), join(folder, "report"))


def main(folder, words):
    with open(join(folder, "files.json"), encoding="utf-8") as file:
        RAN.update((path, set()) for path in json.load(file))
    for path, lines in RAN.items():
        NAMED[path] = NAMED[os.path.realpath(path)] = lines
    is_module = words[0] == "-m"
    if not getattr(sys.flags, "safe_path", sys.flags.isolated):
        sys.path[0] = HERE if is_module else os.path.dirname(os.path.abspath(words[0]))
    if is_module and importlib.util.find_spec(words[1]) is None:
        sys.exit("No module named %s" % words[1])
    atexit.register(write, os.path.abspath(folder))
    if hasattr(sys, "monitoring") and sys.monitoring.get_tool(sys.monitoring.COVERAGE_ID) is None:
        monitor()
    else:
        trace_each_test(words)
    sys.argv[:] = words[is_module:]
    if is_module:
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
