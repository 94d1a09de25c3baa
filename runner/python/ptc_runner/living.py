"""What lives in a program beside its data, and can't be written down: each is a reason to make no snapshot."""

import abc
import asyncio
import builtins
import gc
import os
import signal
import sys
import threading
import types

from .channel import EMBEDDED
from .classes import is_made_here
from .errors import CantCopy

# In a sandbox; more than a process may have open.
DESCRIPTORS = 4_096


def check(session):
    """Raises CantCopy for whatever is under way."""
    loop = session.loop
    if session.calls:
        raise CantCopy("open tool calls")
    if any(not task.done() for task in asyncio.all_tasks(loop)):
        raise CantCopy("tasks that have not ended")
    if loop._ready or any(not timer.cancelled() for timer in loop._scheduled) or loop._selector.jobs:
        raise CantCopy("callbacks that the loop is to call")
    if loop._default_executor or threading.active_count() > 1:
        raise CantCopy("threads")
    if session.policy.current() not in (loop, None):
        raise CantCopy("another event loop")
    if loop.get_debug() or loop.get_task_factory() is not loop.own_tasks or loop.get_exception_handler():
        raise CantCopy("a changed event loop")
    if any(not name.startswith("_") for name in vars(loop).keys() - loop.own_names):
        raise CantCopy("an attribute of the event loop")
    _check_process(session)
    _check_python(session)


def _check_process(session):
    own = _own_descriptors(session)
    if found := [descriptor for descriptor in range(DESCRIPTORS) if descriptor not in own and _is_open(descriptor)]:
        raise CantCopy(f"open files or sockets (descriptor {found[0]})")
    if not EMBEDDED:
        above = {str(os.getpid()), str(os.getppid()), "1"}
        if any(name.isdecimal() and name not in above for name in os.listdir("/proc")):
            raise CantCopy("child processes")
        if signal.getitimer(signal.ITIMER_VIRTUAL)[0] or signal.getitimer(signal.ITIMER_PROF)[0]:
            raise CantCopy("a timer of the process")
    for number in signal.valid_signals():
        handler = signal.getsignal(number)
        if callable(handler) and handler not in (signal.default_int_handler, session.timer._stop):
            raise CantCopy("a handler of a signal")


def _own_descriptors(session):
    own = {0, 1, 2, session.channel.source, session.channel.sink, session.output.file}
    if not EMBEDDED:
        loop = session.loop
        own |= {loop._selector.real.fileno(), loop._ssock.fileno(), loop._csock.fileno()}
    return own


def _is_open(descriptor):
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _check_python(session):
    streams = zip((sys.stdin, sys.stdout, sys.stderr), session.output.streams)
    if any(stream is not own for stream, own in streams):
        raise CantCopy("a standard stream that was replaced")
    found = vars(builtins)
    if found.keys() != session.builtins.keys() or any(found[name] is not value for name, value in session.builtins.items()):
        raise CantCopy("changed builtins")
    library = os.path.dirname(os.__file__)
    for name, module in list(sys.modules.items()):
        if name == "__main__":
            if module is None or vars(module) is not session.namespace.variables:
                raise CantCopy("a replaced module __main__")
            continue
        top = name.partition(".")[0]
        origin = getattr(module, "__file__", None) or library
        is_known = top in sys.stdlib_module_names or top.startswith("_sysconfigdata")
        is_standard = is_known and type(origin) is str and origin.startswith(library)
        is_module = issubclass(type(module), (types.ModuleType, type))  # a class: typing.io, for one
        if not (is_module and is_standard) and name not in session.modules and top != "ptc_runner":
            raise CantCopy(f"the module {name}, which may hold a state of its own")


def check_reached(copier):
    """Everything that cells have made and that lives must have been copied; else something else than a variable holds it."""
    for cleanup in getattr(sys.modules.get("typing"), "_cleanups", ()):
        cleanup()
    gc.collect()
    for value in gc.get_objects():
        kind = type(value)
        if kind in RUNNING and _code(value).co_filename.startswith(("<cell ", "<string>")):
            raise CantCopy(f"a {kind.__name__} that has not ended")
        if issubclass(kind, abc.ABCMeta) and not is_made_here(value):
            if any(is_made_here(other()) for other in abc._get_dump(value)[0] if other() is not None):
                raise CantCopy(f"a class that was registered with {value.__qualname__}")
        if id(value) in copier.seen:
            continue
        if kind is types.FunctionType and value.__globals__ is copier.space:
            raise CantCopy(f"{value.__qualname__}(), which something beside the variables holds")
        if issubclass(kind, type) and is_made_here(value):
            raise CantCopy(f"the class {value.__qualname__}, which something beside the variables holds")
        if is_made_here(kind):
            raise CantCopy(f"a {kind.__qualname__}, which something beside the variables holds")


RUNNING = {types.CoroutineType: "cr_code", types.GeneratorType: "gi_code", types.AsyncGeneratorType: "ag_code"}


def _code(value):
    return getattr(value, RUNNING[type(value)])
