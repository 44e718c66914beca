"""Runs a program of Python and writes which lines and branches of some files ran, where coverage.py is missing.

Usage: regreen_lines.py FOLDER (-m MODULE | FILE) [ARGUMENT...]

FOLDER/files.json lists the paths of the files. FOLDER/report gets their lines and branches in the form of
coverage.py's JSON report, with 0 for what follows the last line of a function; a file that was never loaded
has only missing ones. What runs in other processes does not count. Works on Python 3.8 and later.

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
# What coverage.py leaves out unless a project says otherwise, and where it asks for no branch.
SILENT = re.compile(
    r"#\s*(pragma|PRAGMA)[:\s]?\s*(no|NO)\s*(cover|COVER)|^\s*if (typing\.)?TYPE_CHECKING:"
    r"|^\s*(((async )?def .*?)?[\])]+(\s*->.*?)?:\s*)?\.\.\.\s*(#|$)",
    re.MULTILINE,
)
PARTIAL = re.compile(r"#\s*(pragma|PRAGMA)[:\s]?\s*(no|NO)\s*(branch|BRANCH)")
RETURNS = {dis.opmap[name] for name in ("RETURN_VALUE", "RETURN_CONST") if name in dis.opmap}
SCOPES = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
# Pairs of lines that ran one after the other, by file: None comes before the first, 0 follows the last.
# The same sets by name of a file, once it was seen.
RAN, NAMED = {}, {}


def steps_of(name):
    """The steps of a file that is measured. Tests replace functions of `os`, so none is called here."""
    if name not in NAMED:
        NAMED[name] = NAMED.get(normpath(join(HERE, name)))
    return NAMED[name]


def is_inner(code):
    """Whether it is a part of an expression, whose end is no branch of the statement."""
    return code.co_name[0] == "<" and code.co_name != "<module>"


def monitor():
    """What tests do with `sys.settrace` has no effect."""
    monitoring, last = sys.monitoring, {}
    tool, events, current = monitoring.COVERAGE_ID, monitoring.events, sys._getframe

    def on_start(code, offset):
        if steps_of(code.co_filename) is not None:
            monitoring.set_local_events(tool, code, events.LINE | events.PY_RETURN)
        return monitoring.DISABLE

    def on_line(code, line):
        frame = id(current(1))
        NAMED[code.co_filename].add((last.get(frame), line))
        last[frame] = line

    def on_return(code, offset, value):
        line = last.pop(id(current(1)), None)
        if not is_inner(code):
            NAMED[code.co_filename].add((line, 0))

    def on_unwind(code, offset, error):
        last.pop(id(current(1)), None)

    monitoring.use_tool_id(tool, "regreen")
    monitoring.register_callback(tool, events.PY_START, on_start)
    monitoring.register_callback(tool, events.LINE, on_line)
    monitoring.register_callback(tool, events.PY_RETURN, on_return)
    monitoring.register_callback(tool, events.PY_UNWIND, on_unwind)
    monitoring.set_events(tool, events.PY_START | events.PY_UNWIND)


def on_call(frame, event, argument):
    steps = steps_of(frame.f_code.co_filename)
    # A generator that goes on has one already.
    return None if steps is None else frame.f_trace or follow(steps, is_inner(frame.f_code))


def follow(steps, inner):
    """Each frame has its own, for Python keeps it with the frame."""
    last = None

    def on_line(frame, event, argument):
        nonlocal last
        if event == "line":
            steps.add((last, frame.f_lineno))
            last = frame.f_lineno
        elif event == "return" and not inner and frame.f_code.co_code[frame.f_lasti] in RETURNS:
            steps.add((last, 0))
        return on_line

    return on_line


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


def matching(pattern, text):
    for match in pattern.finditer(text):
        begin = text.count("\n", 0, match.start()) + 1
        yield from range(begin, begin + match.group().count("\n") + 1)


def statements(source, tree):
    """The first line of each statement, by all of its lines, and the first lines that are left out."""
    text = io.TextIOWrapper(io.BytesIO(source), tokenize.detect_encoding(io.BytesIO(source).readline)[0]).read()
    silent = set(matching(SILENT, text))
    first, left_out, begin, depth, above = {}, set(), None, 0, None
    for token in tokenize.tokenize(io.BytesIO(source).readline):
        depth += (token.type == tokenize.INDENT) - (token.type == tokenize.DEDENT)
        if token.type in (tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING):
            continue
        begin = begin or token.start[0]
        if token.type == tokenize.NEWLINE:
            first.update(dict.fromkeys(range(begin, token.end[0] + 1), begin))
            above = above if above is not None and depth > above else None
            if above is None and silent.intersection(range(begin, token.end[0] + 1)):
                above = depth
            left_out.update([] if above is None else [begin])
            begin = None
    for node in ast.walk(tree):
        if isinstance(node, SCOPES) and left_out.intersection(range(heading(node), node.lineno + 1)):
            left_out.update(range(heading(node), node.end_lineno + 1))
        if isinstance(node, SCOPES + (ast.Module,)) and ast.get_docstring(node, False) is not None:
            if node.body[0].lineno > getattr(node, "lineno", 0):
                left_out.add(node.body[0].lineno)
    partial = {first.get(line) for line in matching(PARTIAL, text)}
    return first, left_out, partial


def heading(node):
    return min([node.lineno] + [one.lineno for one in getattr(node, "decorator_list", [])])


def constant(test):
    """The value of a test that the compiler knows; None of any other."""
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.Name) and test.id == "__debug__":
        return True
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        value = constant(test.operand)
        return None if value is None else not value
    return None


def always_matches(case):
    pattern = case.pattern
    while isinstance(pattern, (ast.MatchOr, ast.MatchAs)) and getattr(pattern, "pattern", pattern) is not None:
        pattern = pattern.patterns[-1] if isinstance(pattern, ast.MatchOr) else pattern.pattern
    return case.guard is None and isinstance(pattern, ast.MatchAs)


def branches(tree, first, known):
    """By the first line of each statement that decides: where its body begins, and what else follows."""
    found = {}

    def line(node):
        return first.get(heading(node))

    def begins(node):
        # Before Python 3.10 `while True` itself does not run.
        here = line(node)
        return here if here in known else enter(getattr(node, "body", ()), None)

    def enter(body, after):
        return next(filter(None, map(begins, body)), after)

    def decide(here, body, after, loop):
        leave = {ast.Return: 0, ast.Continue: loop[0], ast.Break: loop[1]}
        begin = enter(body, after)
        return leave.get(type(body[-1]), here) if begin == here else begin

    # `loop` holds its own line and the one behind it.
    def visit(body, after, loop):
        body = [node for node in body if begins(node)]
        for node, following in zip(body, [begins(node) for node in body[1:]] + [after]):
            here = line(node)
            if isinstance(node, SCOPES):
                visit(node.body, 0, (None, None))
            elif isinstance(node, (ast.If, ast.For, ast.AsyncFor, ast.While)):
                if isinstance(node, (ast.For, ast.AsyncFor)) or constant(node.test) is None:
                    found[here] = (decide(here, node.body, following, loop), enter(node.orelse, following))
                if isinstance(node, ast.If):
                    visit(node.body, following, loop)
                else:
                    visit(node.body, begins(node), (begins(node), following))
                visit(node.orelse, following, loop)
            elif isinstance(node, (ast.With, ast.AsyncWith)):
                visit(node.body, following, loop)
            elif hasattr(node, "handlers"):
                end = enter(node.finalbody, following)
                visit(node.body, enter(node.orelse, end), loop)
                for part in [one.body for one in node.handlers] + [node.orelse]:
                    visit(part, end, loop)
                visit(node.finalbody, following, loop)
            elif hasattr(node, "cases"):
                heads = [first.get(case.pattern.lineno) for case in node.cases]
                for case, head, other in zip(node.cases, heads, heads[1:] + [following]):
                    if case is not node.cases[-1] or not always_matches(case):
                        found[head] = (decide(head, case.body, following, loop), other)
                    visit(case.body, following, loop)

    visit(tree.body, 0, (None, None))
    return {head: ends for head, ends in found.items() if len({head, *ends}) == 3}


def executable(code):
    for constant in code.co_consts:
        # Annotations are evaluated when somebody asks for them.
        if isinstance(constant, types.CodeType) and constant.co_name != "__annotate__":
            yield from executable(constant)
    yield from (line for _, line in dis.findlinestarts(code))


def report(path, steps):
    with open(path, "rb") as file:
        source = file.read()
    tree = ast.parse(source)
    first, left_out, partial = statements(source, tree)
    known = {first[line] for line in executable(compile(source, path, "exec")) if line in first}
    steps = {(first.get(last), first.get(line, line)) for last, line in list(steps)}
    handlers = {first.get(node.lineno) for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)}
    executed, missing = [], []
    for head, (body, other) in sorted(branches(tree, first, known).items()):
        if left_out.isdisjoint((head, body, other)):
            reached = {line for last, line in steps if last == head} - handlers - {head}
            for end, ran in ((body, body in reached), (other, reached - {body})):
                if ran or head not in partial:
                    (executed if ran else missing).append([head, end])
    known -= left_out
    ran = known.intersection(line for _, line in steps)
    report = {"executed_lines": sorted(ran), "missing_lines": sorted(known - ran)}
    return dict(report, executed_branches=executed, missing_branches=missing)


def write(folder):
    if os.getpid() != OWNER:
        return
    sys.settrace(None)
    warnings.simplefilter("ignore")
    files = {}
    for path, steps in RAN.items():
        try:
            files[path] = report(path, steps)
        except (OSError, SyntaxError, ValueError, RecursionError, tokenize.TokenError):
            continue
    # Whoever reads it sees all of it or nothing.
    with open(join(folder, "part"), "w", encoding="utf-8") as file:
        json.dump({"files": files}, file)
    os.replace(join(folder, "part"), join(folder, "report"))


def main(folder, words):
    with open(join(folder, "files.json"), encoding="utf-8") as file:
        RAN.update((path, set()) for path in json.load(file))
    for path, steps in RAN.items():
        NAMED[path] = NAMED[os.path.realpath(path)] = steps
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
