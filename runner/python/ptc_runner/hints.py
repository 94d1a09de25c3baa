"""Notes for who wrote the code, where Python's own words do not say what to do."""

from atexit import _ncallbacks
from threading import enumerate as all_threads  # from here on: names that the program may replace
from time import monotonic, sleep
from weakref import ref

from .loop import busy_threads

# What asyncio says to code that starts a loop in a loop.
NESTED = (
    "asyncio.run() cannot be called from a running event loop",
    "Runner.run() cannot be called from a running event loop",
    "This event loop is already running",
    "Cannot run the event loop while another loop is running",
)
# What a tool says to code that awaits it in a loop of another thread, or of a policy that the program has set.
WRONG_LOOP = (
    "{tool}() can't be awaited in this event loop: await it in the cell, as in `await main()`, which needs no thread. "
    "A function that needs one: `await asyncio.to_thread(function, asyncio.get_running_loop())` in the cell, and "
    "`asyncio.run_coroutine_threadsafe({tool}(...), loop).result()` in the function"
)
MANY_LOOKS = 100  # at a clock, by a loop; code that only measures looks less often
LAST_STEPS = 0.05  # seconds; a thread whose result let the cell end may be about to end too


def for_error(error):
    if type(error) is RuntimeError and str(error) in NESTED:
        return "\n[hint] The cell runs in an event loop already: write `await main()`, not `asyncio.run(main())`."
    return ""


def for_stop(stop, looks):
    """`looks`: how often the cell has looked at the clock that stands still (clock.py)."""
    if stop.kind == "timed_out" and looks > MANY_LOOKS:
        return "\n[hint] time.time() stands still while code computes: measure with time.perf_counter()."
    return ""


class ThreadHint:
    """Tells of threads that outlive the cell that began them, once."""

    def __init__(self):
        self.told = []  # weak references: the number of a thread that has ended is given to another

    def text(self):
        began = monotonic()
        while (new := self._new()) and monotonic() - began < LAST_STEPS:
            sleep(0.001)
        self.told = [told for told in self.told if told() is not None] + list(map(ref, new))
        if not new:
            return ""
        return f"[hint] {len(new)} threads were still running when the cell ended: what they print comes with a later cell.\n"

    def _new(self):
        busy = set(busy_threads())
        told = [thread() for thread in self.told]
        return [each for each in all_threads() if each.ident in busy and not any(each is thread for thread in told)]


class ExitHint:
    """Tells of functions that a cell has registered with `atexit`."""

    def __init__(self):
        self.is_named, self.count = False, 0

    def begin(self, source):
        # Modules of the library register functions of their own when they are imported.
        self.is_named, self.count = "atexit" in source, _ncallbacks()

    def text(self):
        if not self.is_named or _ncallbacks() <= self.count:
            return ""
        return "[hint] what functions of `atexit` print is lost: they run when the session is over. Call them in a cell.\n"
