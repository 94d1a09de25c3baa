"""State that a program can change, except variables and files: settings of Python and of the process."""

import gc
import locale
import os
import random
import signal
import sys
import time
import warnings

from ..determinism import task_order

# State of time and randomness in libraries; not part of the digests in module_digests.py.
MODULE_ATTRIBUTES = ("uuid", "_node"), ("uuid", "_last_timestamp"), ("logging", "_startTime")

try:
    import resource
except ImportError:  # Pyodide
    resource = None


def capture(session):
    """Returns the settings that can be set again, by name."""
    return {name: get(session) for name, get, _ in SETTINGS}


def apply(session, captured):
    for name, _, set_value in SETTINGS:
        set_value(session, captured[name])


def apply_deterministic(session, captured):
    """Restores time and randomness, which a rebuild must reproduce."""
    for name, _, set_value in DETERMINISTIC_SETTINGS:
        set_value(session, captured[name])


def fixed_settings():
    """Returns the settings that can't be set again, as text: they must be equal in the runner that reads a snapshot."""
    values = {
        "locale": [
            locale.setlocale(getattr(locale, name)) for name in ("LC_CTYPE", "LC_COLLATE", "LC_TIME", "LC_NUMERIC")
        ],
        "debug": gc.get_debug(),
        "callbacks": len(gc.callbacks),
        "hooks": sys.get_asyncgen_hooks(),
        "tracing": sys.gettrace() is not None or sys.getprofile() is not None,
    }
    if hasattr(signal, "pthread_sigmask"):
        values["signals"] = sorted(signal.pthread_sigmask(signal.SIG_BLOCK, []))
    if resource:
        names = [name for name in dir(resource) if name.startswith("RLIMIT_")]
        values["limits"] = {name: resource.getrlimit(getattr(resource, name)) for name in names}
        values["nice"] = os.nice(0)
    if csv := sys.modules.get("_csv"):
        values["csv"] = csv.field_size_limit(), sorted(csv.list_dialects())
    if socket := sys.modules.get("_socket"):
        values["socket"] = socket.getdefaulttimeout()
    if atexit := sys.modules.get("atexit"):
        values["atexit"] = atexit._ncallbacks()
    return {name: repr(value) for name, value in values.items()}


def _set_random_stream(session, position):
    session.randomness.position = position


def _set_environment(_, environment):
    os.environ.clear()
    os.environ.update(environment)
    if hasattr(time, "tzset"):
        time.tzset()


def _umask(_):
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _set_path(_, path):
    sys.path[:] = path


def _set_arguments(_, arguments):
    sys.argv[:] = arguments


def _set_warning_filters(_, filters):
    warnings.resetwarnings()
    warnings.filters.extend(filters)


def _decimal_context(session):
    decimal = sys.modules.get("decimal")
    return decimal and session.context.run(decimal.getcontext).copy()


def _set_decimal_context(session, context):
    if context:
        session.context.run(sys.modules["decimal"].setcontext, context)


def _temporary_directory(_):
    return sys.modules["tempfile"].tempdir if "tempfile" in sys.modules else None


def _set_temporary_directory(_, directory):
    if directory is not None and "tempfile" in sys.modules:
        sys.modules["tempfile"].tempdir = directory


def _temporary_names(_):
    """Returns the state of the generator that draws names of temporary files, if there is one."""
    sequence = getattr(sys.modules.get("tempfile"), "_name_sequence", None)
    generator = getattr(sequence, "_rng", None)
    return generator and generator.getstate()


def _set_temporary_names(_, state):
    if not state:
        return
    tempfile = sys.modules["tempfile"]
    sequence = tempfile._name_sequence = tempfile._RandomNameSequence()
    sequence._rng, sequence._rng_pid = random.Random(0), os.getpid()  # the generator of another process is seeded again
    sequence._rng.setstate(state)


def _module_attributes(_):
    return {(name, key): getattr(sys.modules[name], key) for name, key in MODULE_ATTRIBUTES if name in sys.modules}


def _set_module_attributes(_, values):
    for (name, key), value in values.items():
        setattr(sys.modules[name], key, value)


def _has_mime_types(_):
    return "mimetypes" in sys.modules and sys.modules["mimetypes"].inited


def _set_mime_types(_, is_initialized):
    if is_initialized:
        sys.modules["mimetypes"].init()


def _loggers(_):
    if "logging" not in sys.modules:
        return []
    logging = sys.modules["logging"]
    return [name for name, logger in logging.root.manager.loggerDict.items() if isinstance(logger, logging.Logger)]


def _set_loggers(_, names):
    for name in names:  # a logger that was configured shows in the digest of the module
        sys.modules["logging"].getLogger(name)


# Name, function that returns the value, function that sets it: in the order in which they are applied.
DETERMINISTIC_SETTINGS = (
    ("clock", lambda session: session.clock.get_state(), lambda session, state: session.clock.set_state(state)),
    ("random", lambda _: random.getstate(), lambda _, state: random.setstate(state)),
    ("random stream", lambda session: session.randomness.position, _set_random_stream),
    ("tasks", lambda _: task_order.get_state(), lambda _, state: task_order.set_state(state)),
)
SETTINGS = (
    *DETERMINISTIC_SETTINGS,
    (
        "monotonic clock",
        lambda session: session.clock.monotonic_seconds(),
        lambda session, seconds: session.clock.continue_monotonic(seconds),
    ),
    ("check", lambda session: session.check.get_state(), lambda session, state: session.check.set_state(state)),
    ("directory", lambda _: os.getcwd(), lambda _, directory: os.chdir(directory)),
    ("environment", lambda _: dict(os.environ), _set_environment),
    ("umask", _umask, lambda _, mask: os.umask(mask)),
    ("path", lambda _: list(sys.path), _set_path),
    ("arguments", lambda _: list(sys.argv), _set_arguments),
    ("recursion", lambda _: sys.getrecursionlimit(), lambda _, limit: sys.setrecursionlimit(limit)),
    ("digits", lambda _: sys.get_int_max_str_digits(), lambda _, digits: sys.set_int_max_str_digits(digits)),
    ("switch interval", lambda _: sys.getswitchinterval(), lambda _, seconds: sys.setswitchinterval(seconds)),
    ("gc thresholds", lambda _: gc.get_threshold(), lambda _, thresholds: gc.set_threshold(*thresholds)),
    ("gc", lambda _: gc.isenabled(), lambda _, is_enabled: gc.enable() if is_enabled else gc.disable()),
    ("warnings", lambda _: list(warnings.filters), _set_warning_filters),
    ("decimal context", _decimal_context, _set_decimal_context),
    ("temporary directory", _temporary_directory, _set_temporary_directory),
    ("temporary names", _temporary_names, _set_temporary_names),
    ("module attributes", _module_attributes, _set_module_attributes),
    ("mime types", _has_mime_types, _set_mime_types),
    ("loggers", _loggers, _set_loggers),
)
