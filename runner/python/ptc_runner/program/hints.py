"""Hints for the author of a cell, where Python's own messages do not say what to do."""

import warnings
import weakref
from atexit import _ncallbacks
from inspect import CORO_CREATED, getcoroutinestate, iscoroutine
from threading import enumerate as all_threads  # from here on: names that the program may replace
from time import monotonic, sleep
from weakref import ref

from .event_loop import running_threads

# What asyncio says to code that starts a loop in a loop.
NESTED_LOOP_ERRORS = (
    "asyncio.run() cannot be called from a running event loop",
    "Runner.run() cannot be called from a running event loop",
    "This event loop is already running",
    "Cannot run the event loop while another loop is running",
)
# What a tool says to code that awaits it in a loop of another thread, or of a policy that the program has set.
WRONG_LOOP_ERROR = (
    "{tool}() can't be awaited in this event loop: await it in the cell, as in `await main()`, which needs no thread. "
    "A function that needs one: `await asyncio.to_thread(function, asyncio.get_running_loop())` in the cell, and "
    "`asyncio.run_coroutine_threadsafe({tool}(...), loop).result()` in the function"
)
MANY_CLOCK_READS = 100  # in one cell: a loop waits for the clock; code that only measures reads it less often
THREAD_EXIT_SECONDS = 0.05  # a thread whose result let the cell end may be about to end too


def hint_for_error(error):
    if type(error) is RuntimeError and str(error) in NESTED_LOOP_ERRORS:
        return "\n[hint] The cell runs in an event loop already: write `await main()`, not `asyncio.run(main())`."
    return ""


def hint_for_stop(stop, clock_reads):
    """`clock_reads`: how often the cell read the clock, which does not move while code computes."""
    if stop.kind == "timed_out" and clock_reads > MANY_CLOCK_READS:
        return "\n[hint] time.time() stands still while code computes: measure with time.perf_counter()."
    return ""


class CellHints:
    """The hints after the output of a cell. Each class has `begin_cell`, and `lines` for a cell that has ended."""

    def __init__(self, variables):
        self.unawaited, self.threads, self.atexit = UnawaitedHint(variables), ThreadHint(), AtexitHint()

    def begin_cell(self):
        self.unawaited.begin_cell()

    def set_source(self, source):
        self.atexit.begin_cell(source)

    def end_cell(self):
        self.unawaited.end_cell()

    def text(self, pending_calls):
        lines = [
            *self.unawaited.lines(),
            *pending_calls_lines(pending_calls),
            *self.threads.lines(),
            *self.atexit.lines(),
        ]
        return "".join(f"[hint] {line}\n" for line in lines)


def pending_calls_lines(count):
    return [f"{count} tool calls were still open when the cell ended: await them in the next cell."] if count else []


class UnawaitedHint:
    """Finds tool calls that were made but never awaited, the most common mistake of model-written code."""

    def __init__(self, variables):
        self.variables = variables
        self.reported = weakref.WeakSet()
        self.names = []
        self.show_warning = warnings._showwarnmsg_impl
        warnings._showwarnmsg_impl = self._record_warning  # not called when the program shows warnings in its own way

    def begin_cell(self):
        self.names = []
        self.variables.pop("__warningregistry__", None)  # a warning is shown once for each line of each cell

    def end_cell(self):
        for value in list(self.variables.values()):
            if iscoroutine(value) and value not in self.reported:
                if getcoroutinestate(value) == CORO_CREATED:
                    self.reported.add(value)
                    self.names.append(value.__name__)

    def _record_warning(self, warning):
        if warning.category is RuntimeWarning and iscoroutine(warning.source):
            self.names.append(warning.source.__name__)
        else:
            self.show_warning(warning)

    def lines(self):
        return [
            f"{name}() was called but never awaited: write `await {name}(...)`." for name in sorted(set(self.names))
        ]


class ThreadHint:
    """Reports each thread that outlives its cell, once."""

    def __init__(self):
        self.reported = []  # weak references: the number of a thread that has ended is given to another

    def lines(self):
        started = monotonic()
        while (new := self._new_threads()) and monotonic() - started < THREAD_EXIT_SECONDS:
            sleep(0.001)
        self.reported = [reference for reference in self.reported if reference() is not None] + list(map(ref, new))
        if not new:
            return []
        return [f"{len(new)} threads were still running when the cell ended: what they print comes with a later cell."]

    def _new_threads(self):
        busy = set(running_threads())
        reported = [reference() for reference in self.reported]
        return [
            thread
            for thread in all_threads()
            if thread.ident in busy and not any(thread is reported_thread for reported_thread in reported)
        ]


class AtexitHint:
    """Reports that a cell has registered functions with `atexit`."""

    def __init__(self):
        self.mentions_atexit, self.count = False, 0

    def begin_cell(self, source):
        # Modules of the library register functions of their own when they are imported.
        self.mentions_atexit, self.count = "atexit" in source, _ncallbacks()

    def lines(self):
        if not self.mentions_atexit or _ncallbacks() <= self.count:
            return []
        return ["what functions of `atexit` print is lost: they run when the session is over. Call them in a cell."]
