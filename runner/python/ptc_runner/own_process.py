"""Who is meant by "the program": the one thread that runs cells, in the one process that is rebuilt.

Threads read in no fixed order, and a forked child would go on with a copy of the same random numbers. Both keep the real
clock and real randomness, so that the program's own stay in order. Programs that are started (`subprocess`) have nothing
of the runner in them anyway.
"""

import os
from _thread import get_ident

_thread = get_ident()  # the thread that imports this; None in a forked child


def is_program():
    return get_ident() == _thread


def is_thread():
    """In another thread of the process."""
    return _thread is not None and get_ident() != _thread


def is_forked():
    """In a child process that the program forked: it has a copy of the runner, and must not speak for it."""
    return _thread is None


def _left():
    global _thread
    _thread = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_left)
