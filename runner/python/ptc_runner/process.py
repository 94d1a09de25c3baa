"""Distinguishes the thread that runs cells from other threads, and its process from forked children.

Threads read clocks in no fixed order, and a forked child has a copy of the random stream. Both use the real clock and
real randomness, so that those of the program stay reproducible. A program that is started by `subprocess` contains no
runner.
"""

import os
import sys
from _thread import get_ident

EMBEDDED = sys.platform == "emscripten"  # Pyodide: no threads, processes, sockets or timers

_program_thread = get_ident()  # the thread that imports this; None in a forked child


def is_program_thread():
    return get_ident() == _program_thread


def is_other_thread():
    """Is this another thread of the program's process?"""
    return _program_thread is not None and get_ident() != _program_thread


def is_forked_child():
    """Is this a child process that the program forked? It has a copy of the runner, and must not write to the host."""
    return _program_thread is None


def _mark_forked_child():
    global _program_thread
    _program_thread = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_mark_forked_child)
