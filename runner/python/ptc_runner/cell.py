"""One cell: compile with top-level await, run, and explain what went wrong in terms of the cell's own lines."""

import ast
import linecache
import os
import sys
import traceback
import types
import warnings
import weakref
from builtins import compile  # from here on: names that the program may replace
from inspect import CO_COROUTINE, CORO_CREATED, getcoroutinestate, iscoroutine
from itertools import takewhile
from traceback import StackSummary, TracebackException

from .own_builtins import own_builtins

RUNNER = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
ERROR_CHARACTERS = 8_000


class Namespace:
    """The variables of the session: a real `__main__` module, so that dataclasses and pickle work."""

    def __init__(self):
        module = types.ModuleType("__main__")
        sys.modules["__main__"] = module
        self.variables = module.__dict__
        sys.argv[:] = [""]  # as at Python's own prompt
        _hide_runner()


def compile_cell(source, number):
    filename = f"<cell {number}>"
    lines = source.splitlines(keepends=True)
    linecache.cache[filename] = (len(source), None, lines, filename)  # so that tracebacks show the lines
    try:
        return compile(source, filename, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except SyntaxError as error:
        # What the compiler finds after parsing has no text: Python looks for it in a file of that name.
        if error.text is None and error.filename == filename and 0 < (error.lineno or 0) <= len(lines):
            error.text = lines[error.lineno - 1]
        raise


def _hide_runner():
    """`traceback.print_stack` and all that walks the stack end where the runner begins."""
    walk = traceback.walk_stack

    def is_program(place):
        return not place[0].f_code.co_filename.startswith(RUNNER)

    def walk_stack(f):
        if f is None and sys.version_info >= (3, 14):
            f = sys._getframe(1)  # the frame of the caller, where older ones look when they are iterated
        return takewhile(is_program, walk(f))

    walk_stack.__qualname__, walk_stack.__module__, walk_stack.__doc__ = "walk_stack", "traceback", walk.__doc__
    traceback.walk_stack = walk_stack


def is_async(code):
    return bool(code.co_flags & CO_COROUTINE)


def explain(error):
    """A traceback with the cell's lines only: the runner's and asyncio's say nothing to the reader."""
    try:
        with own_builtins():  # newer Pythons import where they make one
            report = TracebackException.from_exception(error)
            _keep_cells(report, set())
            text = "".join(report.format()).rstrip()
    except Exception as problem:  # hostile __str__, __cause__ loops: never let explaining fail the session
        text = f"{type(error).__name__} (no traceback: {type(problem).__name__})"
    if len(text) > ERROR_CHARACTERS:
        half = ERROR_CHARACTERS // 2
        text = f"{text[:half]}\n[... cut ...]\n{text[-half:]}"
    return text


def _keep_cells(report, seen):
    if report is None or id(report) in seen:
        return
    seen.add(id(report))
    report.stack = StackSummary.from_list([frame for frame in report.stack if frame.filename.startswith("<cell ")])
    for other in (report.__cause__, report.__context__, *(getattr(report, "exceptions", None) or ())):
        _keep_cells(other, seen)


class AwaitHints:
    """Finds tool calls that were made but never awaited, the most common mistake of model-written code."""

    def __init__(self, variables):
        self.variables = variables
        self.told = weakref.WeakSet()
        self.names = []
        self.show = warnings._showwarnmsg_impl
        warnings._showwarnmsg_impl = self._show  # is called unless the program shows warnings in its own way

    def __enter__(self):
        self.names = []
        self.variables.pop("__warningregistry__", None)  # a warning is shown once for each line of each cell
        return self

    def __exit__(self, *_):
        for value in list(self.variables.values()):
            if iscoroutine(value) and value not in self.told:
                if getcoroutinestate(value) == CORO_CREATED:
                    self.told.add(value)
                    self.names.append(value.__name__)

    def _show(self, warning):
        if warning.category is RuntimeWarning and iscoroutine(warning.source):
            self.names.append(warning.source.__name__)
        else:
            self.show(warning)

    def text(self, open_calls):
        hints = [f"{name}() was called but never awaited: write `await {name}(...)`." for name in sorted(set(self.names))]
        if open_calls:
            hints.append(f"{open_calls} tool calls were still open when the cell ended: await them in the next cell.")
        return "".join(f"[hint] {hint}\n" for hint in hints)
