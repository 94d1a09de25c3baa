"""Compiles a cell with top-level await, and formats errors with the lines of cells only."""

import ast
import linecache
import os
import sys
import traceback
import types
from builtins import compile  # from here on: names that the program may replace
from inspect import CO_COROUTINE
from itertools import takewhile
from traceback import StackSummary, TracebackException

from ..original_builtins import original_builtins

RUNNER_DIRECTORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep  # of runner.py
MAXIMUM_ERROR_CHARACTERS = 8_000


class CellNamespace:
    """The variables of the session: a real `__main__` module, so that dataclasses and pickle work."""

    def __init__(self):
        module = types.ModuleType("__main__")
        sys.modules["__main__"] = module
        self.variables = module.__dict__
        sys.argv[:] = [""]  # as at Python's own prompt
        _hide_runner_frames()


def compile_cell(source, number):
    filename = f"<cell {number}>"
    lines = _split_lines(source)
    linecache.cache[filename] = (len(source), None, lines, filename)  # so that tracebacks show the lines
    try:
        return compile(source, filename, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except SyntaxError as error:
        # An error that the compiler finds after parsing has no text: Python looks for it in a file of that name.
        if error.text is None and error.filename == filename and 0 < (error.lineno or 0) <= len(lines):
            error.text = lines[error.lineno - 1]
        raise


def _hide_runner_frames():
    """Ends `traceback.print_stack`, and other code that walks the stack, at the first frame of the runner."""
    original_walk_stack = traceback.walk_stack

    def is_program_frame(frame_and_line):
        return not frame_and_line[0].f_code.co_filename.startswith(RUNNER_DIRECTORY)

    def walk_stack(f):
        if f is None and sys.version_info >= (3, 14):
            f = sys._getframe(1)  # the caller of this function; earlier Pythons find it when they iterate
        return takewhile(is_program_frame, original_walk_stack(f))

    walk_stack.__qualname__, walk_stack.__module__, walk_stack.__doc__ = (
        "walk_stack",
        "traceback",
        original_walk_stack.__doc__,
    )
    traceback.walk_stack = walk_stack


def _split_lines(source):
    """Returns the lines as the compiler counts them: it does not end a line at a form feed or U+2028, as str does."""
    lines = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def is_async(code):
    return bool(code.co_flags & CO_COROUTINE)


def format_error(error):
    """Returns a traceback without the frames of the runner and of asyncio."""
    try:
        with original_builtins():  # Python 3.13 and later import modules here
            report = TracebackException.from_exception(error)
            _keep_cell_frames(report, set())
            text = "".join(report.format()).rstrip()
            text = text.encode("utf-8", "backslashreplace").decode()  # lone surrogates, as Python prints them
    except Exception as problem:  # hostile __str__, loops of __cause__: formatting must not end the session
        text = f"{type(error).__name__} (no traceback: {type(problem).__name__})"
    if len(text) > MAXIMUM_ERROR_CHARACTERS:
        half = MAXIMUM_ERROR_CHARACTERS // 2
        text = f"{text[:half]}\n[... cut ...]\n{text[-half:]}"
    return text


def exit_result(leave):
    """Returns the result of a cell that a SystemExit has ended, with the exit code that a process would have."""
    failure = {"type": "failed", "kind": "code_error"}
    try:
        code = leave.code
        text = f"SystemExit: {code}"[:MAXIMUM_ERROR_CHARACTERS]
    except BaseException as problem:  # hostile __str__, an integer of too many digits: it must not end the session
        return {**failure, "error": f"SystemExit ({type(problem).__name__})"}
    if code is None:
        return {"type": "completed"}
    if not issubclass(type(code), int):
        return {**failure, "error": text}
    if int.__eq__(code, 0):
        return {"type": "completed"}
    return {**failure, "error": text, "exit_code": int.__and__(code, 0xFF)}


def _keep_cell_frames(report, seen):
    if report is None or id(report) in seen:
        return
    seen.add(id(report))
    report.stack = StackSummary.from_list([frame for frame in report.stack if frame.filename.startswith("<cell ")])
    for other in (report.__cause__, report.__context__, *(getattr(report, "exceptions", None) or ())):
        _keep_cell_frames(other, seen)
