"""The event loops of the program. When nothing is ready, the loop suspends the program."""

import asyncio
import selectors
import signal
import sys
from _thread import get_ident
from asyncio import current_task  # from here on: names that the program may replace
from select import select
from sys import _current_frames
from time import monotonic, sleep  # the real ones: see determinism/time_functions.py

from ..errors import CellStop
from ..process import EMBEDDED, is_program_thread, is_other_thread
from ..determinism.task_order import Future, Task

if sys.version_info >= (3, 14):  # the public names warn there
    from asyncio.events import _set_event_loop_policy as set_event_loop_policy
    from asyncio.unix_events import _DefaultEventLoopPolicy as DefaultEventLoopPolicy
else:
    from asyncio import DefaultEventLoopPolicy, set_event_loop_policy

SUSPENDING_SLEEP = 1.0  # seconds; with no pending call, a longer sleep suspends the program, a shorter one blocks here
WAKING_SIGNALS = set() if EMBEDDED else {signal.SIGALRM, signal.SIGCHLD}  # signals that the program itself can cause
IDLE_THREAD_RECHECK = 0.05  # seconds; see `select`


class SuspendingSelector:
    """asyncio calls its selector when nothing is ready. The selector then suspends the program."""

    def __init__(self, session):
        self.session = session
        self.inner = None if EMBEDDED else selectors.DefaultSelector()
        self.own_descriptors = 0  # descriptors that the loop watches for itself
        self.signal_handlers = ()  # signals for which the loop has a handler
        self.executor_jobs = 0  # number of jobs of executors with futures that are not done

    def __getattr__(self, name):  # register, unregister, modify, get_key, get_map, close
        return getattr(self.inner, name)

    def select(self, timeout=None):
        if is_other_thread():  # in another thread of the program, this loop does not suspend
            return self.inner.select(timeout)
        events = self._poll()
        if events or (timeout is not None and timeout <= 0):
            return events
        is_long = timeout is None or timeout > SUSPENDING_SLEEP
        waits_locally = self._has_local_work()
        if not waits_locally and (events := self._poll()):  # a thread ended between the two checks
            return events
        if self.session.pending_calls or self.session.suspension.awaits_host:
            self.session.suspend(timeout, self, waits_locally)
            return []
        if is_long and not waits_locally and has_threads():
            # A pool thread that has taken a job and not started it looks idle: check again.
            if events := self._poll(IDLE_THREAD_RECHECK):
                return events
            waits_locally = self._has_local_work()
        if waits_locally:
            started = monotonic()
            events = self.inner.select(timeout)
            self.session.clock.add_local_wait(monotonic() - started)
            return events
        if timeout is None:
            raise CellStop("code_error", "the code waits for something that can never happen")
        if is_long:
            self.session.suspend(timeout, self, False)
        else:
            sleep(timeout)
            self.session.clock.advance(timeout)
        return []

    def wait_for_host_or_local_work(self, source, timeout):
        """Waits at most `timeout` seconds. Returns True when the host has written something, False for local work."""
        if EMBEDDED:
            return True  # there is no local work: reading blocks
        started = monotonic()
        ready, _, _ = select([source, self.inner.fileno()], [], [], timeout)
        if source in ready:
            return True
        self.session.clock.add_local_wait(monotonic() - started)
        return False

    def wait_for_local_work(self, timeout):
        started = monotonic()
        select([self.inner.fileno()], [], [], timeout)
        self.session.clock.add_local_wait(monotonic() - started)

    def _poll(self, seconds=0):
        return [] if EMBEDDED else self.inner.select(seconds)

    def _has_local_work(self):
        """Can a thread, child process or socket of the program wake the loop without the host?"""
        if EMBEDDED:
            return False
        is_watching = len(self.inner.get_map()) > self.own_descriptors or not WAKING_SIGNALS.isdisjoint(
            self.signal_handlers
        )
        return self.executor_jobs > 0 or is_watching or bool(running_threads())


def has_threads():
    return not EMBEDDED and len(_current_frames()) > 1


def running_threads():
    """Returns the identifiers of all other threads, without idle threads of thread pools.

    An idle thread of a ThreadPoolExecutor executes `_worker` itself, and its queue is empty; a busy one executes a
    function that `_worker` called. The name of a thread is no evidence, because programs choose it.
    """
    if EMBEDDED:
        return []
    pools = sys.modules.get("concurrent.futures.thread")
    idle = pools and pools._worker.__code__
    queues = _pool_queues(pools) if pools else {}
    frames = _current_frames()
    frames.pop(get_ident(), None)
    return [number for number, frame in frames.items() if frame.f_code is not idle or _has_jobs(queues.get(number))]


def _pool_queues(pools):
    """Returns the queues by thread identifier. Iterates over a copy, because other threads may create pools."""
    threads = ((key(), queue) for key, queue in list(pools._threads_queues.data.items()))
    return {thread.ident: queue for thread, queue in threads if thread is not None}


def _has_jobs(queue):
    return queue is not None and queue.qsize() > 0


class Loop(asyncio.BaseEventLoop if EMBEDDED else asyncio.SelectorEventLoop):
    """An ordinary asyncio loop with the suspending selector and the session's clock."""

    def __init__(self, session):
        self.session = session
        if EMBEDDED:
            super().__init__()
            self._selector = SuspendingSelector(session)
        else:
            super().__init__(SuspendingSelector(session))
            self._selector.own_descriptors = len(self._selector.get_map())
            self._selector.signal_handlers = self._signal_handlers
        self.task_factory = self._new_task
        self.set_task_factory(self.task_factory)
        self.own_attributes = frozenset((*vars(self), "own_attributes"))

    def time(self):
        clock = self.session.clock
        return clock.monotonic_seconds() if is_other_thread() else clock.read_loop()

    def _new_task(self, _, coroutine, **options):
        task = Task(coroutine, loop=self, **options)
        self.session.restricted_cell.adopt(task, current_task(self))
        return task

    def call_soon_threadsafe(self, callback, *arguments, context=None):
        if is_other_thread():
            context = self.session.restricted_cell.context_of_thread(context)
        return super().call_soon_threadsafe(callback, *arguments, context=context)

    def create_future(self):
        return Future(loop=self)

    def run_in_executor(self, executor, function, *arguments):
        future = super().run_in_executor(executor, function, *arguments)
        self._selector.executor_jobs += 1
        future.add_done_callback(self._job_done)
        return future

    def _job_done(self, _):
        self._selector.executor_jobs -= 1

    def run_cell(self, coroutine, context):
        """Runs a cell in `context` itself, not in a copy: context variables that the cell sets stay set."""
        task = Task(coroutine, loop=self, context=context)
        task._log_destroy_pending = False
        try:
            self.run_until_complete(task)
        finally:
            if task.done() and not task.cancelled():
                task.exception()  # it is in the result; without this call asyncio would print it as well

    def reopen(self):
        """Undoes shutdown of the executor and of asynchronous generators: the loop outlives each cell."""
        if self._executor_shutdown_called:
            self._default_executor, self._executor_shutdown_called = None, False
        self._asyncgens_shutdown_called = False

    def _process_events(self, events):
        if events:
            super()._process_events(events)

    def _write_to_self(self):
        if not EMBEDDED:  # Pyodide has neither threads nor a pipe that could wake the loop
            super()._write_to_self()


class LoopPolicy(DefaultEventLoopPolicy):
    """Every loop that the program's own thread makes suspends, so `asyncio.run` and `asyncio.Runner` are Python's own.

    Other threads, and forked children, get ordinary loops.
    """

    def __init__(self, session):
        super().__init__()
        self.session = session

    def new_event_loop(self):
        return Loop(self.session) if is_program_thread() else super().new_event_loop()

    def current(self):
        """Returns the loop that is set; None after `asyncio.run`."""
        try:
            return self.get_event_loop()
        except RuntimeError:
            return None
