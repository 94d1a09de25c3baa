"""One cell: compile with top-level await, run, and explain what went wrong in terms of the cell's own lines."""

import ast
import inspect
import linecache
import sys
import traceback
import types
import warnings
import weakref

ERROR_CHARACTERS = 8_000


class Namespace:
    """The variables of the session: a real `__main__` module, so that dataclasses and pickle work."""

    def __init__(self):
        module = types.ModuleType("__main__")
        sys.modules["__main__"] = module
        self.variables = module.__dict__


def compile_cell(source, number):
    filename = f"<cell {number}>"
    lines = source.splitlines(keepends=True)
    linecache.cache[filename] = (len(source), None, lines, filename)  # so that tracebacks show the lines
    return compile(source, filename, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)


def is_async(code):
    return bool(code.co_flags & inspect.CO_COROUTINE)


def explain(error):
    """A traceback with the cell's lines only: the runner's and asyncio's say nothing to the reader."""
    try:
        report = traceback.TracebackException.from_exception(error)
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
    report.stack = traceback.StackSummary.from_list([frame for frame in report.stack if frame.filename.startswith("<cell ")])
    for other in (report.__cause__, report.__context__, *(getattr(report, "exceptions", None) or ())):
        _keep_cells(other, seen)


class AwaitHints:
    """Finds tool calls that were made but never awaited, the most common mistake of model-written code."""

    def __init__(self, variables):
        self.variables = variables
        self.told = weakref.WeakSet()
        self.names = []

    def __enter__(self):
        self.names = []
        self.saved = warnings.showwarning, warnings.filters[:]
        warnings.simplefilter("always", RuntimeWarning)
        warnings.showwarning = self._warned
        return self

    def __exit__(self, *_):
        for value in list(self.variables.values()):
            if inspect.iscoroutine(value) and value not in self.told:
                if inspect.getcoroutinestate(value) == inspect.CORO_CREATED:
                    self.told.add(value)
                    self.names.append(value.__name__)
        warnings.showwarning, warnings.filters[:] = self.saved

    def _warned(self, message, category, filename, lineno, file=None, line=None):
        text = str(message)
        if text.startswith("coroutine '") and text.endswith("was never awaited"):
            self.names.append(text.split("'")[1])
        elif category is not RuntimeWarning or "tracemalloc" not in text:
            print(f"{category.__name__}: {text}", file=sys.stderr)

    def text(self):
        return "".join(
            f"[hint] {name}() was called but never awaited: write `await {name}(...)`.\n" for name in sorted(set(self.names))
        )
