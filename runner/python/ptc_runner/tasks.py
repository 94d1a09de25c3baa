"""Tasks and futures that are hashed, and named, by number.

By default their hash is their address, so a set of them, such as `asyncio.wait` gives, has another order in every
process: a program that goes through one and calls tools would make other calls when it is run again.
"""

import asyncio
import itertools
from asyncio import _get_running_loop

_numbers = itertools.count(1)
_names = itertools.count(1)  # as asyncio counts them, where nobody can set it
_as_completed = asyncio.as_completed


def state():
    """The next number and the next name; they stay the next."""
    restore(found := (next(_numbers), next(_names)))
    return found


def restore(state):
    global _numbers, _names
    _numbers, _names = map(itertools.count, state)


class _Numbered:
    def __init__(self, *positional, **named):
        self._number = next(_numbers)  # first: asyncio puts a task into a set while it is being made
        super().__init__(*positional, **named)

    def __hash__(self):
        return self._number


class Task(_Numbered, asyncio.Task):
    def __init__(self, coroutine, *, name=None, **options):
        super().__init__(coroutine, name=f"Task-{next(_names)}" if name is None else name, **options)


class Future(_Numbered, asyncio.Future):
    pass


def as_completed(fs, **options):
    # asyncio makes tasks of a *set* of coroutines, in the order of their addresses. Made here, they keep that of the code.
    # Without a loop that is not possible, and a single future or coroutine is a mistake: asyncio says so.
    if _get_running_loop() and not asyncio.isfuture(fs) and not asyncio.iscoroutine(fs):
        fs = [asyncio.ensure_future(each) for each in dict.fromkeys(fs)]
    return _as_completed(fs, **options)


as_completed.__doc__ = _as_completed.__doc__
asyncio.as_completed = asyncio.tasks.as_completed = as_completed

for _kind in (Task, Future):
    _kind.__module__ = "asyncio"  # people read it in a repr
