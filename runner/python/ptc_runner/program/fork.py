"""A child process that the program forked: it has a copy of the runner, but only its parent may write to the host."""

import sys
from time import sleep  # the real one: see determinism/time_functions.py

from ..errors import CellStop
from ..process import is_forked_child


def exit_child(result):
    """Ends the child, because its copy of the cell has ended. Does nothing in the parent."""
    if not is_forked_child():
        return
    if error := result.get("error"):
        print(error, file=sys.stderr)
    raise SystemExit(1 if error else 0)


def sleep_in_child(clock, timeout):
    """Sleeps for real: a forked child can't suspend."""
    if timeout is None:
        raise CellStop("code_error", "a forked child process waits for tool calls of its parent")
    sleep(timeout)
    clock.advance(timeout)


def reject_call_in_child():
    if is_forked_child():
        raise RuntimeError("a forked child process can't call tools")
