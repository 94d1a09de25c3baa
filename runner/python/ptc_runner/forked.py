"""A child process that the program forked has a copy of the runner, but its parent answers the host."""

import sys
from time import sleep  # the real one: see program_time.py

from .errors import CellStop
from .own_process import is_forked


def leave_child(answer):
    """The cell has ended, and with it the program of the child; nothing happens in the parent."""
    if not is_forked():
        return
    if error := answer.get("error"):
        print(error, file=sys.stderr)
    raise SystemExit(1 if error else 0)


def wait(clock, timeout):
    """Instead of a suspension."""
    if timeout is None:
        raise CellStop("code_error", "a forked child process waits for tool calls of its parent")
    sleep(timeout)
    clock.advance(timeout)


def refuse_call_of_child():
    if is_forked():
        raise RuntimeError("a forked child process can't call tools")
