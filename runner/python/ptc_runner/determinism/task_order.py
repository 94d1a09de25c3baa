"""Tasks and futures with numbers as hashes and names.

The default hash is the address, so a set of tasks, such as `asyncio.wait` returns, has another order in every
process. A program that iterates over one and calls tools would make other calls in a rebuild.
"""

import asyncio
import itertools
from asyncio import _get_running_loop

_numbers = itertools.count(1)
_names = itertools.count(1)  # like the counter of asyncio, which can't be set
_as_completed = asyncio.as_completed


def get_state():
    """Returns the next number and the next name, without using them up."""
    state = next(_numbers), next(_names)
    set_state(state)
    return state


def set_state(state):
    global _numbers, _names
    _numbers, _names = map(itertools.count, state)


class _HashedByNumber:
    def __init__(self, *positional, **named):
        self._number = next(_numbers)  # first: asyncio puts a task into a set in its constructor
        super().__init__(*positional, **named)

    def __hash__(self):
        return self._number


class Task(_HashedByNumber, asyncio.Task):
    def __init__(self, coroutine, *, name=None, **options):
        super().__init__(coroutine, name=f"Task-{next(_names)}" if name is None else name, **options)


class Future(_HashedByNumber, asyncio.Future):
    pass


def as_completed(fs, **options):
    # asyncio makes tasks from a *set* of coroutines, in the order of their addresses. Tasks that are made here have the
    # order of the code. Without a loop, and for a single future or coroutine, asyncio raises the error.
    if _get_running_loop() and not asyncio.isfuture(fs) and not asyncio.iscoroutine(fs):
        fs = [asyncio.ensure_future(awaitable) for awaitable in dict.fromkeys(fs)]
    return _as_completed(fs, **options)


as_completed.__doc__ = _as_completed.__doc__
asyncio.as_completed = asyncio.tasks.as_completed = as_completed

for _class in (Task, Future):
    _class.__module__ = "asyncio"  # people read it in a repr
