"""State that can't be saved: each kind is a reason to refuse a snapshot.

`check_idle` runs before and after copying: code of the program that ran meanwhile may have started something.
"""

import abc
import asyncio
import builtins
import gc
import os
import signal
import sys
import threading
import types

from ..process import EMBEDDED
from .classes import is_cell_class
from ..errors import UnsupportedState

MAXIMUM_DESCRIPTORS = 4_096  # more than a process in a sandbox may have open


def check_idle(session):
    """Raises UnsupportedState for work that has begun and not ended, and for changes of the interpreter."""
    loop = session.loop
    if session.pending_calls:
        raise UnsupportedState("open tool calls")
    if any(not task.done() for task in asyncio.all_tasks(loop)):
        raise UnsupportedState("tasks that have not ended")
    if loop._ready or any(not timer.cancelled() for timer in loop._scheduled) or loop._selector.executor_jobs:
        raise UnsupportedState("scheduled callbacks")
    if loop._default_executor or threading.active_count() > 1:
        raise UnsupportedState("threads")
    if session.policy.current() not in (loop, None):
        raise UnsupportedState("another event loop")
    if loop.get_debug() or loop.get_task_factory() is not loop.task_factory or loop.get_exception_handler():
        raise UnsupportedState("a changed event loop")
    if any(not name.startswith("_") for name in vars(loop).keys() - loop.own_attributes):
        raise UnsupportedState("an attribute of the event loop")
    _check_process(session)
    _check_interpreter(session)


def _check_process(session):
    own = _own_descriptors(session)
    for descriptor in range(MAXIMUM_DESCRIPTORS):
        if descriptor not in own and _is_open(descriptor):
            raise UnsupportedState(f"open files or sockets (descriptor {descriptor})")
    if not EMBEDDED:
        own_and_parents = {str(os.getpid()), str(os.getppid()), "1"}
        if any(name.isdecimal() and name not in own_and_parents for name in os.listdir("/proc")):
            raise UnsupportedState("child processes")
        if signal.getitimer(signal.ITIMER_VIRTUAL)[0] or signal.getitimer(signal.ITIMER_PROF)[0]:
            raise UnsupportedState("a timer of the process")
    for number in signal.valid_signals():
        handler = signal.getsignal(number)
        if callable(handler) and handler not in (signal.default_int_handler, session.timer._on_signal):
            raise UnsupportedState("a handler of a signal")


def _own_descriptors(session):
    own = {0, 1, 2, session.channel.input_fd, session.channel.output_fd, *session.output.descriptors}
    if not EMBEDDED:
        loop = session.loop
        own |= {loop._selector.inner.fileno(), loop._ssock.fileno(), loop._csock.fileno()}
    return own


def _is_open(descriptor):
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _check_interpreter(session):
    streams = zip((sys.stdin, sys.stdout, sys.stderr), session.output.streams)
    if any(stream is not own for stream, own in streams):
        raise UnsupportedState("a standard stream that was replaced")
    current, original = vars(builtins), session.builtins
    if current.keys() != original.keys() or any(current[name] is not value for name, value in original.items()):
        raise UnsupportedState("changed builtins")
    library = os.path.dirname(os.__file__)
    for name, module in list(sys.modules.items()):
        if name == "__main__":
            if module is None or vars(module) is not session.namespace.variables:
                raise UnsupportedState("a replaced module __main__")
            continue
        top = name.partition(".")[0]
        origin = getattr(module, "__file__", None) or library
        is_known = top in sys.stdlib_module_names or top.startswith("_sysconfigdata")
        is_standard = is_known and type(origin) is str and origin.startswith(library)
        is_module = issubclass(type(module), (types.ModuleType, type))  # some entries are classes, such as typing.io
        if not (is_module and is_standard) and name not in session.modules and top != "ptc_runner":
            raise UnsupportedState(f"the module {name}, which may have state of its own")


def check_all_reached(pickler):
    """Raises UnsupportedState for a live object of cells that was not copied: no variable leads to it."""
    for cleanup in getattr(sys.modules.get("typing"), "_cleanups", ()):
        cleanup()
    gc.collect()
    for value in gc.get_objects():
        cls = type(value)
        if cls in CODE_ATTRIBUTES and _code(value).co_filename.startswith(("<cell ", "<string>")):
            raise UnsupportedState(f"a {cls.__name__} that has not ended")
        if issubclass(cls, abc.ABCMeta) and not is_cell_class(value):
            registered = [reference() for reference in abc._get_dump(value)[0]]
            if any(is_cell_class(other) for other in registered if other is not None):
                raise UnsupportedState(f"a class that was registered with {value.__qualname__}")
        if id(value) in pickler.copied_ids:
            continue
        if cls is types.FunctionType and value.__globals__ is pickler.namespace:
            raise UnsupportedState(f"{value.__qualname__}(), which is referenced outside the variables")
        if issubclass(cls, type) and is_cell_class(value):
            raise UnsupportedState(f"the class {value.__qualname__}, which is referenced outside the variables")
        if is_cell_class(cls):
            raise UnsupportedState(f"a {cls.__qualname__}, which is referenced outside the variables")


CODE_ATTRIBUTES = {types.CoroutineType: "cr_code", types.GeneratorType: "gi_code", types.AsyncGeneratorType: "ag_code"}


def _code(value):
    return getattr(value, CODE_ATTRIBUTES[type(value)])
