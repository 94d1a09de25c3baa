"""Makes `time` and `datetime` read the session's time (program_clock.py), which a rebuild repeats.

`process_time` and `thread_time` are unchanged: they measure this process. `monotonic` and `perf_counter` run at the
real speed, but are never behind the session's time. So a deadline made with them is due after a wait in which this
process did not exist, or which a rebuild skipped.
"""

import _datetime  # the builtin C half of `datetime`: 12 KB, while the module takes 300
import gc
import time as time_module
from time import asctime, ctime, gmtime, localtime, sleep, strftime, time, time_ns

from ..process import EMBEDDED, is_program_thread
from .builtin_replacement import replace_builtin

if EMBEDDED:  # imported before `hello`: the time of a session must not begin with this import
    from . import time_zones

    time_zones.install()

_replaced_members = []  # replaced members of C types: Python's attribute cache may reference them without owning them


def install(clock):
    _install_datetime(_install_time(clock))


def _install_time(clock):
    def now():
        return clock.read_wall() / 1_000_000 if is_program_thread() else time()

    def now_ns():
        return clock.read_wall() * 1_000 if is_program_thread() else time_ns()

    def sleep_in_program(seconds, /):
        sleep(seconds)  # first: it may raise, for a wrong argument or an interrupt; then the clock does not move
        if is_program_thread():
            clock.advance(seconds)

    measured = clock.monotonic_seconds

    def measured_ns():
        return int(measured() * 1_000_000_000)

    def fields(of):
        return lambda seconds=None, /: of(now() if seconds is None else seconds)

    replacements = {
        "time": now,
        "time_ns": now_ns,
        "sleep": sleep_in_program,
        "monotonic": lambda: measured(),
        "monotonic_ns": lambda: measured_ns(),
        "perf_counter": lambda: measured(),  # the same clock on every Unix
        "perf_counter_ns": lambda: measured_ns(),
        "localtime": fields(localtime),
        "gmtime": fields(gmtime),
        "ctime": fields(ctime),
        "asctime": lambda *arguments: asctime(*(arguments or (localtime(now()),))),
        "strftime": lambda form, *arguments: strftime(form, *(arguments or (localtime(now()),))),
    }
    for name, reads in (("clock_gettime", (now, measured)), ("clock_gettime_ns", (now_ns, measured_ns))):
        if hasattr(time_module, name):
            replacements[name] = _by_clock_id(getattr(time_module, name), *reads)
    for name, function in replacements.items():
        replace_builtin(time_module, name, function)
    return now


def _by_clock_id(original, wall, measured):
    """Returns a function that reads the replaced clocks by the identifiers of the operating system."""
    replaced = {time_module.CLOCK_REALTIME: wall, time_module.CLOCK_MONOTONIC: measured}
    return lambda number, /: replaced[number]() if number in replaced else original(number)


def _install_datetime(time_now):
    """Replaces `now` and `utcnow`, which read the clock in C. `today` calls `time.time`, and needs no replacement.

    They are replaced inside the type. A subclass would be another type for isinstance, pickle and repr. The type
    allows no assignment, but its `__dict__` is a view of an ordinary dict. The names have not been looked up yet, so
    Python's attribute cache has no entry for them.
    """
    datetime_type = _datetime.datetime
    members = gc.get_referents(datetime_type.__dict__)[0]
    from_timestamp, from_utc = members["fromtimestamp"], members["utcfromtimestamp"]

    def now(cls, tz=None):
        return from_timestamp.__get__(None, cls)(time_now(), tz)

    def utcnow(cls):
        return from_utc.__get__(None, cls)(time_now())

    for function in (now, utcnow):
        name = function.__name__
        _replaced_members.append(members[name])
        function.__qualname__, function.__module__, function.__doc__ = (
            f"datetime.{name}",
            "datetime",
            members[name].__doc__,
        )
        members[name] = classmethod(function)
    if getattr(datetime_type.now, "__func__", None) is not now:
        raise RuntimeError("the clock of datetime could not be set")
