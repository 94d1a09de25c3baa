"""Notes for who wrote the code, where Python's own words do not say what to do."""

from time import monotonic, sleep  # the real ones: see program_time.py

from .loop import count_busy_threads

# What asyncio says to code that starts a loop in a loop.
NESTED = (
    "asyncio.run() cannot be called from a running event loop",
    "Runner.run() cannot be called from a running event loop",
    "This event loop is already running",
    "Cannot run the event loop while another loop is running",
)


def for_error(error):
    if type(error) is RuntimeError and str(error) in NESTED:
        return "\n[hint] The cell runs in an event loop already: write `await main()`, not `asyncio.run(main())`."
    return ""


LAST_STEPS = 0.05  # seconds; a thread whose result let the cell end may be about to end too


class ThreadHint:
    """Tells of threads that outlive the cell that began them, once."""

    def __init__(self):
        self.told = 0

    def text(self):
        count, told = count_busy_threads(), self.told
        began = monotonic()
        while count > told and monotonic() - began < LAST_STEPS:
            sleep(0.001)
            count = count_busy_threads()
        self.told = count
        if count <= told:
            return ""
        return f"[hint] {count} threads were still running when the cell ended: what they print comes with a later cell.\n"
