"""Calls with results that the program needs together: the host then sends one step instead of one for each result."""

from .tools import make_tool

_TOOL_CODES = make_tool.__code__.co_consts  # has the code of the function that every tool is


def wait_for_all(pending_calls):
    """True when one `asyncio.gather`, or one task group, waits for all calls, and no code waits for a single one.

    A single result then runs no code of the program, unless it is an error.
    """
    if len(pending_calls) < 2:
        return False
    waiters = {_only_waiter(task) for _, _, task in pending_calls.values()}
    return len(waiters) == 1 and None not in waiters


def _only_waiter(task):
    """Returns the callback at the end of the task, if it is the only one and is of a gather or a task group; else None.

    All tasks of one gather, or of one task group, have the same callback.
    """
    if task is None or getattr(task.get_coro(), "cr_code", None) not in _TOOL_CODES:
        return None  # the call is part of a function of the program, which continues with the result
    callbacks = task._callbacks or ()
    if len(callbacks) != 1:
        return None
    waiter = callbacks[0][0]
    is_known = getattr(waiter, "__qualname__", "") in ("gather.<locals>._done_callback", "TaskGroup._on_task_done")
    return waiter if is_known else None
