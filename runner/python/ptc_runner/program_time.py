"""What `time` and `datetime` say to the program: the session's time (clock.py), the same when it is run again.

Left as they are: `process_time` and its kind, which measure what this process does. `monotonic` and `perf_counter` measure
too and move as they really do, but are never behind the session's time: a deadline made with them is due after a wait in
which this process did not exist, or did not have to wait because it is being rebuilt.
"""

import _datetime  # the C half of `datetime`, built in: 12 KB, where the module costs 300
import gc
import time as module
from time import asctime, ctime, gmtime, localtime, sleep, strftime, time, time_ns

from .channel import EMBEDDED
from .own_process import is_program
from .replaced import replace

if EMBEDDED:  # here, before anybody greets this interpreter: a session's time must not begin with an import
    from . import time_zones

    time_zones.install()

_kept = []  # what was replaced in C types: Python's cache of attributes may point to it without owning it


def install(clock):
    _install_datetime(_install_time(clock))


def _install_time(clock):
    def now():
        return clock.read() / 1_000_000 if is_program() else time()

    def now_ns():
        return clock.read() * 1_000 if is_program() else time_ns()

    def pause(seconds, /):
        sleep(seconds)  # first: it refuses what is no length of time, and an interrupted one moves nothing
        if is_program():
            clock.advance(seconds)

    measured = clock.read_measured

    def measured_ns():
        return int(measured() * 1_000_000_000)

    def fields(of):
        return lambda seconds=None, /: of(now() if seconds is None else seconds)

    replacements = {
        "time": now,
        "time_ns": now_ns,
        "sleep": pause,
        "monotonic": lambda: measured(),
        "monotonic_ns": lambda: measured_ns(),
        "perf_counter": lambda: measured(),  # the same clock on every Unix
        "perf_counter_ns": lambda: measured_ns(),
        "localtime": fields(localtime),
        "gmtime": fields(gmtime),
        "ctime": fields(ctime),
        "asctime": lambda *given: asctime(*(given or (localtime(now()),))),
        "strftime": lambda form, *given: strftime(form, *(given or (localtime(now()),))),
    }
    for clock_of, reads in (("clock_gettime", (now, measured)), ("clock_gettime_ns", (now_ns, measured_ns))):
        if hasattr(module, clock_of):
            replacements[clock_of] = _by_number(getattr(module, clock_of), *reads)
    for name, function in replacements.items():
        replace(module, name, function)
    return now


def _by_number(before, wall, measured):
    """The same clocks under the numbers of the operating system."""
    mine = {module.CLOCK_REALTIME: wall, module.CLOCK_MONOTONIC: measured}
    return lambda number, /: mine[number]() if number in mine else before(number)


def _install_datetime(time_now):
    """`now` and `utcnow` read the clock in C. `today` of both types asks `time.time`, and needs nothing.

    They are replaced inside the types. A subclass in their place would be another type: for isinstance with what C makes,
    for pickle, for repr. These types take no assignment, but what their `__dict__` is a view of is an ordinary dict.
    Nobody has looked the names up yet, so Python's cache of attributes holds nothing of them.
    """
    kind = _datetime.datetime
    members = gc.get_referents(kind.__dict__)[0]
    from_timestamp, from_utc = members["fromtimestamp"], members["utcfromtimestamp"]

    def now(cls, tz=None):
        return from_timestamp.__get__(None, cls)(time_now(), tz)

    def utcnow(cls):
        return from_utc.__get__(None, cls)(time_now())

    for function in (now, utcnow):
        name = function.__name__
        _kept.append(members[name])
        function.__qualname__, function.__module__, function.__doc__ = f"datetime.{name}", "datetime", members[name].__doc__
        members[name] = classmethod(function)
    if getattr(kind.now, "__func__", None) is not now:
        raise RuntimeError("the clock of datetime could not be set")
