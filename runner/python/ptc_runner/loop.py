"""The event loops of the program, whose idle moment is the suspension."""

import asyncio
import selectors
import signal
import sys
from _thread import get_ident
from select import select
from sys import _current_frames
from time import monotonic, sleep  # the real ones: see program_time.py

from .channel import EMBEDDED
from .errors import CellStop
from .own_process import is_program, is_thread
from .tasks import Future, Task

if sys.version_info >= (3, 14):  # the public names warn there
    from asyncio.events import _set_event_loop_policy as set_event_loop_policy
    from asyncio.unix_events import _DefaultEventLoopPolicy as DefaultEventLoopPolicy
else:
    from asyncio import DefaultEventLoopPolicy, set_event_loop_policy

LONG_SLEEP = 1.0  # seconds; a shorter sleep with no call open is slept here, a longer one parks the run
WAKING = set() if EMBEDDED else {signal.SIGALRM, signal.SIGCHLD}  # signals that the program itself has brought about
SECOND_LOOK = 0.05  # seconds; see `select`


class SuspendingSelector:
    """asyncio asks its selector what to do when nothing is ready. That moment *is* the suspension."""

    def __init__(self, session):
        self.session = session
        self.real = None if EMBEDDED else selectors.DefaultSelector()
        self.own = 0  # descriptors that the loop watches for itself
        self.handled = ()  # signals for which the loop has a handler
        self.jobs = 0  # of executors, as far as the loop knows not done

    def __getattr__(self, name):  # register, unregister, modify, get_key, get_map, close
        return getattr(self.real, name)

    def select(self, timeout=None):
        if is_thread():  # the program runs this loop in another thread: there it is an ordinary one
            return self.real.select(timeout)
        events = self._ready()
        if events or (timeout is not None and timeout <= 0):
            return events
        is_long = timeout is None or timeout > LONG_SLEEP
        waits_locally = self._has_local_work()
        if not waits_locally and (events := self._ready()):  # of a thread that has ended between the two looks
            return events
        if self.session.calls or self.session.suspension.is_open:
            self.session.suspend(timeout, self, waits_locally)
            return []
        if is_long and not waits_locally and has_threads():
            # A thread of a pool that has taken its work this moment, and has not begun it, looks idle.
            if events := self._ready(SECOND_LOOK):
                return events
            waits_locally = self._has_local_work()
        if waits_locally:
            began = monotonic()
            events = self.real.select(timeout)
            self.session.clock.waited(monotonic() - began)
            return events
        if timeout is None:
            raise CellStop("code_error", "the code waits for something that can never happen")
        if is_long:
            self.session.suspend(timeout, self, False)
        else:
            sleep(timeout)
            self.session.clock.advance(timeout)
        return []

    def wait_beside_host(self, source, timeout):
        """Waits for the host or for what this selector watches, so long at most. True: the host has said something."""
        if EMBEDDED:
            return True  # there is nothing else to wait for: reading blocks
        began = monotonic()
        ready, _, _ = select([source, self.real.fileno()], [], [], timeout)
        if source in ready:
            return True
        self.session.clock.waited(monotonic() - began)
        return False

    def wait_for_local_work(self, timeout):
        began = monotonic()
        select([self.real.fileno()], [], [], timeout)
        self.session.clock.waited(monotonic() - began)

    def _ready(self, seconds=0):
        return [] if EMBEDDED else self.real.select(seconds)

    def _has_local_work(self):
        """A thread, child process or socket of the program that will wake the loop by itself."""
        if EMBEDDED:
            return False
        is_watching = len(self.real.get_map()) > self.own or not WAKING.isdisjoint(self.handled)
        return self.jobs > 0 or is_watching or bool(busy_threads())


def has_threads():
    return not EMBEDDED and len(_current_frames()) > 1


def busy_threads():
    """The numbers of other threads than this one, without those of thread pools that have nothing to do.

    A thread of a ThreadPoolExecutor that waits for work is in `_worker` itself, and its queue is empty; one that has work
    is in a function that was called from there. Its name says nothing: programs choose it.
    """
    if EMBEDDED:
        return []
    pools = sys.modules.get("concurrent.futures.thread")
    idle = pools and pools._worker.__code__
    queues = _queues(pools) if pools else {}
    frames = _current_frames()
    frames.pop(get_ident(), None)
    return [number for number, frame in frames.items() if frame.f_code is not idle or _has_jobs(queues.get(number))]


def _queues(pools):
    """By the number of the thread. A copy first: other threads make pools."""
    threads = ((key(), queue) for key, queue in list(pools._threads_queues.data.items()))
    return {thread.ident: queue for thread, queue in threads if thread is not None}


def _has_jobs(queue):
    return queue is not None and queue.qsize() > 0


class Loop(asyncio.BaseEventLoop if EMBEDDED else asyncio.SelectorEventLoop):
    """An ordinary asyncio loop with the suspending selector and the run's own clock."""

    def __init__(self, session):
        self.session = session
        if EMBEDDED:
            super().__init__()
            self._selector = SuspendingSelector(session)
        else:
            super().__init__(SuspendingSelector(session))
            self._selector.own = len(self._selector.get_map())
            self._selector.handled = self._signal_handlers
        self.own_tasks = lambda loop, coroutine, **options: Task(coroutine, loop=loop, **options)
        self.set_task_factory(self.own_tasks)
        self.own_names = frozenset((*vars(self), "own_names"))

    def time(self):
        clock = self.session.clock
        return clock.read_measured() if is_thread() else clock.read_loop()

    def create_future(self):
        return Future(loop=self)

    def run_in_executor(self, executor, function, *arguments):
        future = super().run_in_executor(executor, function, *arguments)
        self._selector.jobs += 1
        future.add_done_callback(self._job_done)
        return future

    def _job_done(self, _):
        self._selector.jobs -= 1

    def run_cell(self, coroutine, context):
        """Runs the code of a cell. What it sets in the context stays set: a task would have a copy."""
        task = Task(coroutine, loop=self, context=context)
        task._log_destroy_pending = False
        try:
            self.run_until_complete(task)
        finally:
            if task.done() and not task.cancelled():
                task.exception()  # it is told in the answer, and not once more when the task is gone

    def revive(self):
        """Takes back what ends a loop for good, as far as that can be: the loop of cells outlives each of them."""
        if self._executor_shutdown_called:
            self._default_executor, self._executor_shutdown_called = None, False
        self._asyncgens_shutdown_called = False

    def _process_events(self, events):
        if events:
            super()._process_events(events)

    def _write_to_self(self):
        if not EMBEDDED:  # Pyodide has neither threads nor a pipe to wake itself with
            super()._write_to_self()


class Policy(DefaultEventLoopPolicy):
    """Every loop that the program's own thread makes suspends, so `asyncio.run` and `asyncio.Runner` are Python's own.

    Other threads, and forked children, get ordinary loops.
    """

    def __init__(self, session):
        super().__init__()
        self.session = session

    def new_event_loop(self):
        return Loop(self.session) if is_program() else super().new_event_loop()

    def current(self):
        """The loop that is set; None after `asyncio.run`."""
        try:
            return self.get_event_loop()
        except RuntimeError:
            return None
