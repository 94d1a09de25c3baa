"""Two clocks: the program's own time, and how long a cell's code has been running."""

import signal
import time

from .channel import EMBEDDED
from .errors import CellStop, Interrupt

STOP_AGAIN = 0.5  # seconds; code that swallows the first stop is stopped again, until the host kills it


class ProgramClock:
    """Seconds of the run's own time: it stands at least where the workflow says, and moves on while code runs."""

    def __init__(self):
        self.set(0.0)

    def set(self, seconds):
        self.base, self.since = seconds, time.monotonic()

    def read(self):
        return self.base + time.monotonic() - self.since

    def at_least(self, seconds):
        self.set(max(self.read(), seconds))


class CellTimer:
    """Stops code at its time limit. Waiting for tools does not count, and neither does the runner's own work."""

    def __init__(self, channel):
        self.channel = channel
        self.limit = 90.0
        self.used = 0.0
        self.running = False
        signal.signal(signal.SIGINT, self._stop)  # from the host: at its own deadline, or because somebody wants so
        if not EMBEDDED:  # there it is the only one
            signal.signal(signal.SIGALRM, self._stop)

    def reset(self, limit):
        self.limit, self.used = limit, 0.0

    def resume(self):
        self.since = time.monotonic()
        self.running = True
        if not EMBEDDED:
            signal.setitimer(signal.ITIMER_REAL, max(self.limit - self.used, 0.001), STOP_AGAIN)

    def pause(self):
        self.running = False
        if not EMBEDDED:
            signal.setitimer(signal.ITIMER_REAL, 0)
        self.used += time.monotonic() - self.since

    def _stop(self, number, _):
        # Never in the runner's own code or in the middle of a frame; the timer fires again, and so does the host.
        if self.running and not self.channel.sending:
            if number == signal.SIGINT and self.used + time.monotonic() - self.since < self.limit:
                self.channel.send({"type": "interrupted"})  # or the host would try again
                raise Interrupt()
            rule = f"it may run {self.limit:g} seconds, waiting for tools not counted"
            raise CellStop("timed_out", f"the code was stopped: {rule}. Do less in one cell.")
