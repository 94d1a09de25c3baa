"""Ends the work that a restricted cell leaves behind: a later cell may have tools that this cell does not have.

A restricted cell is that of another run, with fewer tools. The host checks each call against the tools of the current
cell, so a task of a restricted cell must not make a call in a later cell. The work that is left behind:

| left behind                                 | with the cell                                              |
|---------------------------------------------|------------------------------------------------------------|
| tasks, with the calls that they have made   | cancelled; if it continues, it can't call tools            |
| timers and callbacks of the event loop      | cancelled                                                  |
| tasks of the session that ran meanwhile     | continue, with their tasks, sleeps and timeouts            |
| threads                                     | continue; their callbacks in the loop can't call tools     |
| variables, patched functions, handlers      | stay: all code of a session shares one interpreter         |

So this prevents accidents and simple misuse. It is not a security boundary: code of a restricted cell can change
functions that a later cell calls, and its threads can start other threads.
"""

from _thread import get_ident
from asyncio import Future, Task, Timeout, all_tasks, current_task
from asyncio.futures import _set_result_unless_cancelled as end_sleep
from asyncio.tasks import _release_waiter as end_wait
from contextvars import ContextVar, copy_context
from threading import _active as thread_objects  # by thread identifier
from weakref import WeakSet, ref

from ..errors import ToolDenied
from .event_loop import running_threads

ENDED = 0  # not the number of a cell

# The number of the restricted cell; None in later cells of others; unset in new threads.
_restricted_cell = ContextVar("restricted_cell")


class RestrictedCell:
    """The restricted cell that runs, and the remaining work of earlier ones."""

    def __init__(self, session):
        self.session = session
        self.cell = None  # while a restricted cell runs, its number
        self.ended_tasks = WeakSet()
        self.own_tasks = WeakSet()  # while a restricted cell runs: the tasks of the session
        self.threads = {}  # identifier -> reference to the thread, or None
        self.before = None

    def begin_cell(self, number, is_restricted):
        self.cell = number if is_restricted else None
        # Programs without restricted cells see no variable in their contexts.
        if is_restricted or _restricted_cell in self.session.context:
            self.session.context.run(_restricted_cell.set, self.cell)
        live = set(running_threads())
        self.threads = {number: thread for number, thread in self.threads.items() if number in live}
        if is_restricted:
            loop = self.session.loop
            self.own_tasks = WeakSet(all_tasks(loop))
            self.before = _handles(loop), live

    def end_cell(self):
        """Ends the work of the cell. Its code may clean up for a moment, but can't call tools."""
        if self.cell is None:
            return
        loop = self.session.loop
        handles, threads = self.before
        self.cell = self.before = None
        # References to the handles before keep their addresses from being used again.
        known = set(map(id, handles))
        left = [handle for handle in _handles(loop) if id(handle) not in known and not self._is_own(handle)]
        new_tasks = [task for task in all_tasks(loop) if task not in self.own_tasks]
        self.own_tasks = WeakSet()
        self.ended_tasks.update(new_tasks)
        for number in running_threads():
            if number not in threads:
                thread = thread_objects.get(number)
                self.threads[number] = None if thread is None else ref(thread)
        if new_tasks:
            self.session.cancel_tasks(new_tasks)
        for handle in left:
            handle.cancel()

    def check_call(self, tool):
        """Raises ToolDenied in code of a restricted cell after the end of the cell."""
        if current_task() in self.ended_tasks or _restricted_cell.get(None) not in (None, self.cell):
            message = f"{tool}() was called by code that another agent has left behind: its cell has ended"
            raise ToolDenied(message, tool, "denied")

    def adopt(self, task, creator):
        """Assigns a new task to the restricted cell or the session to which its creator belongs."""
        if creator in self.ended_tasks:
            self.ended_tasks.add(task)
        elif creator in self.own_tasks:
            self.own_tasks.add(task)

    def _is_own(self, handle):
        """Does it belong to a task of the session: the next step, the end, or the end of a sleep or timeout?"""
        callback, arguments = handle._callback, handle._args or ()
        found = [getattr(callback, "__self__", None), *arguments]
        if (callback is end_sleep or callback is end_wait) and isinstance(arguments[0], Future):
            found = [getattr(each, "__self__", None) for each, _ in arguments[0]._callbacks or ()]
        tasks = [each._task if type(each) is Timeout else each for each in found]
        return any(isinstance(task, Task) and task in self.own_tasks for task in tasks)

    def context_of_thread(self, context):
        """Returns the context for a callback that another thread gives to the event loop."""
        number = get_ident()
        if number not in self.threads:
            return context
        reference = self.threads[number]
        if reference is not None and reference() is not thread_objects.get(number):  # another thread has the number now
            return context
        context = (context or copy_context()).copy()
        if _restricted_cell not in context:  # `to_thread` in a later cell has set it
            context.run(_restricted_cell.set, ENDED)
        return context


def _handles(loop):
    return [*loop._ready, *loop._scheduled]
