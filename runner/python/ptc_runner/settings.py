"""What a program can change that is neither a variable nor a file: settings of Python and of the process."""

import gc
import locale
import os
import random
import signal
import sys
import time
import warnings

from . import tasks

# What libraries keep of time and chance; not part of the digests in modules.py.
ATTRIBUTES = ("uuid", "_node"), ("uuid", "_last_timestamp"), ("logging", "_startTime")

try:
    import resource
except ImportError:  # Pyodide
    resource = None


def read(session):
    """Settings that can be set again, as data."""
    decimal = sys.modules.get("decimal")
    of_cells = session.context.run
    return {
        "clock": session.clock.state(),
        "measured": session.clock.read_measured(),
        "random": random.getstate(),
        "stream": session.randomness.position,
        "tasks": tasks.state(),
        "directory": os.getcwd(),
        "environment": dict(os.environ),
        "mask": _mask(),
        "path": list(sys.path),
        "arguments": list(sys.argv),
        "recursion": sys.getrecursionlimit(),
        "digits": sys.get_int_max_str_digits(),
        "switch": sys.getswitchinterval(),
        "collects": gc.isenabled(),
        "thresholds": gc.get_threshold(),
        "warnings": list(warnings.filters),
        "decimal": decimal and of_cells(decimal.getcontext).copy(),
        "temporary": sys.modules["tempfile"].tempdir if "tempfile" in sys.modules else None,
        "names": _names_to_come(),
        "attributes": {(name, key): getattr(sys.modules[name], key) for name, key in ATTRIBUTES if name in sys.modules},
        "types": "mimetypes" in sys.modules and sys.modules["mimetypes"].inited,
        "loggers": _loggers(sys.modules["logging"]) if "logging" in sys.modules else [],
    }


def write(session, settings):
    repeat(session, settings)
    session.clock.measure_on(settings["measured"])
    os.chdir(settings["directory"])
    os.environ.clear()
    os.environ.update(settings["environment"])
    if hasattr(time, "tzset"):
        time.tzset()
    os.umask(settings["mask"])
    sys.path[:] = settings["path"]
    sys.argv[:] = settings["arguments"]
    sys.setrecursionlimit(settings["recursion"])
    sys.set_int_max_str_digits(settings["digits"])
    sys.setswitchinterval(settings["switch"])
    gc.set_threshold(*settings["thresholds"])
    (gc.enable if settings["collects"] else gc.disable)()
    warnings.resetwarnings()
    warnings.filters.extend(settings["warnings"])
    if settings["decimal"]:
        session.context.run(sys.modules["decimal"].setcontext, settings["decimal"])
    if settings["temporary"] is not None and "tempfile" in sys.modules:
        sys.modules["tempfile"].tempdir = settings["temporary"]
    if settings["names"]:
        _draw_names(sys.modules["tempfile"], settings["names"])
    for (name, key), value in settings["attributes"].items():
        setattr(sys.modules[name], key, value)
    if settings["types"]:
        sys.modules["mimetypes"].init()
    for name in settings["loggers"]:  # others than fresh ones show in the digest of the module
        sys.modules["logging"].getLogger(name)


def repeat(session, settings):
    """Time and chance, which a program that is run again must find as they were."""
    session.clock.restore(settings["clock"])
    random.setstate(settings["random"])
    session.randomness.position = settings["stream"]
    tasks.restore(settings["tasks"])


def others():
    """Settings that can't be set again, as text: a snapshot that had others than the new runner is not used."""
    found = {"locale": _locale(), "debug": gc.get_debug(), "callbacks": len(gc.callbacks), "hooks": sys.get_asyncgen_hooks()}
    found["tracing"] = sys.gettrace() is not None or sys.getprofile() is not None
    if hasattr(signal, "pthread_sigmask"):
        found["signals"] = sorted(signal.pthread_sigmask(signal.SIG_BLOCK, []))
    if resource:
        found["limits"] = {name: resource.getrlimit(getattr(resource, name)) for name in dir(resource) if name.startswith("RLIMIT_")}
        found["nice"] = os.nice(0)
    if csv := sys.modules.get("_csv"):
        found["csv"] = csv.field_size_limit(), sorted(csv.list_dialects())
    if socket := sys.modules.get("_socket"):
        found["socket"] = socket.getdefaulttimeout()
    if atexit := sys.modules.get("atexit"):
        found["atexit"] = atexit._ncallbacks()
    return {name: repr(value) for name, value in found.items()}


def _names_to_come():
    """Of temporary files: the state of what they are drawn from, if there is one."""
    sequence = getattr(sys.modules.get("tempfile"), "_name_sequence", None)
    generator = getattr(sequence, "_rng", None)
    return generator and generator.getstate()


def _draw_names(tempfile, state):
    sequence = tempfile._name_sequence = tempfile._RandomNameSequence()
    sequence._rng, sequence._rng_pid = random.Random(0), os.getpid()  # not of this process, it would be seeded again
    sequence._rng.setstate(state)


def _loggers(logging):
    return [name for name, found in logging.root.manager.loggerDict.items() if isinstance(found, logging.Logger)]


def _locale():
    return [locale.setlocale(getattr(locale, name)) for name in ("LC_CTYPE", "LC_COLLATE", "LC_TIME", "LC_NUMERIC")]


def _mask():
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
