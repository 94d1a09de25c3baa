"""The event loop whose idle moment is the suspension."""

import asyncio
import selectors
import threading
from time import monotonic, sleep  # the real ones: see program_time.py

from .channel import EMBEDDED
from .errors import CellStop
from .tasks import Future, Task

LONG_SLEEP = 1.0  # seconds; a shorter sleep with no call open is slept here, a longer one parks the run
IDLE_POOL_THREADS = ("asyncio_", "ThreadPoolExecutor")


class SuspendingSelector:
    """asyncio asks its selector what to do when nothing is ready. That moment *is* the suspension."""

    def __init__(self, session):
        self.session = session
        self.real = None if EMBEDDED else selectors.DefaultSelector()
        self.own = 0  # descriptors that the loop watches for itself

    def __getattr__(self, name):  # register, unregister, modify, get_key, get_map, close
        return getattr(self.real, name)

    def select(self, timeout=None):
        events = [] if EMBEDDED else self.real.select(0)
        if events or (timeout is not None and timeout <= 0):
            return events
        if self.session.calls:
            self.session.suspend(timeout)
        elif self._local_work():
            began = monotonic()
            events = self.real.select(timeout)
            self.session.clock.waited(monotonic() - began)
            return events
        elif timeout is None:
            raise CellStop("code_error", "the code waits for something that can never happen")
        elif timeout <= LONG_SLEEP:
            sleep(timeout)
            self.session.clock.advance(timeout)
        else:
            self.session.suspend(timeout)
        return []

    def _local_work(self):
        """A thread, child process or socket of the program that will wake the loop by itself."""
        if EMBEDDED:
            return False
        if self.session.executor_jobs or len(self.real.get_map()) > self.own:
            return True
        others = (thread.name for thread in threading.enumerate() if thread is not threading.main_thread())
        return any(not name.startswith(IDLE_POOL_THREADS) for name in others)


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
        self.own_tasks = lambda loop, coroutine, **options: Task(coroutine, loop=loop, **options)
        self.set_task_factory(self.own_tasks)
        self.own_names = frozenset((*vars(self), "own_names"))

    def time(self):
        return self.session.clock.read_loop()

    def create_future(self):
        return Future(loop=self)

    def run_in_executor(self, executor, function, *arguments):
        future = super().run_in_executor(executor, function, *arguments)
        self.session.executor_jobs += 1
        future.add_done_callback(self._job_done)
        return future

    def _job_done(self, _):
        self.session.executor_jobs -= 1

    def _process_events(self, events):
        if events:
            super()._process_events(events)

    def _write_to_self(self):
        if not EMBEDDED:  # Pyodide has neither threads nor a pipe to wake itself with
            super()._write_to_self()
