"""Two clocks: the program's own time, and how long a cell's code has been running."""

import math
import signal
from time import monotonic  # the real one, whatever the program's `time` says: see program_time.py

from .channel import EMBEDDED
from .errors import CellStop, Interrupt

# Before the program may replace them; Pyodide has no timer.
_setitimer = getattr(signal, "setitimer", None)
_getsignal, _raise_signal = signal.getsignal, signal.raise_signal

STOP_AGAIN = 0.5  # seconds; code that swallows the first stop is stopped again, until the host kills it
MICROSECONDS = 1_000_000  # in a second
ORIGIN = 100_000  # seconds that `monotonic` and the loops read at first: some code takes 0 for long ago


class ProgramClock:
    """The session's own time, in microseconds since it began.

    A program that is run again must read the same times. So only what is repeated moves this clock: the steps, the length
    of a sleep, and a microsecond for each look, so that it never stands still and loops over it end. How long code computes
    is not repeated, and does not. What the program reads is made up for at the next step; its timers count waiting only,
    or one that was set after long computing would be due at that step, too early.
    """

    def __init__(self):
        self.origin = 0  # microseconds since the epoch when the session began
        self.now = 0  # what `time` and `datetime` read
        self.looks = 0  # of the cell at `now`
        self.loop = 0  # what timers go by: the time waited, for threads, processes and sockets too
        self.loop_at_answer = 0  # from then on the host measures what is waited
        self.ahead = 0.0  # seconds that a monotonic clock must be ahead of the real one not to be behind `now`
        self.began = monotonic()

    def begin(self, started_at):
        """The session is known from here on; `started_at` in milliseconds since the epoch."""
        self.origin, self.began = started_at * 1000, monotonic()

    def state(self):
        return self.now, self.loop

    def restore(self, state):
        self.now, self.loop = state
        self.reach(*state)
        self.answered()

    def read_measured(self):
        """Seconds, as they really pass, and those in which this process did not exist."""
        return ORIGIN + monotonic() - self.began + self.ahead

    def measure_on(self, measured):
        """As in the runner where that was read."""
        self.ahead += measured - self.read_measured()

    def answered(self):
        """The host has an answer: `waited` of the next step begins here."""
        self.loop_at_answer = self.loop

    def step(self, now, waited):
        """A step has begun, milliseconds after the session did and after the last answer, by the workflow's clock."""
        now = int(now * 1000)
        self.reach(now, now if waited is None else self.loop_at_answer + int(waited * 1000))

    def reach(self, now, loop):
        self.now, self.loop = max(self.now, now), max(self.loop, loop)
        self.ahead = max(self.ahead, self.now / MICROSECONDS - (monotonic() - self.began))

    def catch_up(self):
        """Between cells, when no timer is set: `loop` is not to stay behind `monotonic` for good."""
        self.loop = max(self.loop, self.now)

    def after(self, seconds):
        """Where both stand when so much time has passed: for `reach`."""
        passed = math.ceil(seconds * MICROSECONDS)
        return self.now + passed, self.loop + passed

    def advance(self, seconds):
        self.now, self.loop = self.after(seconds)

    def waited(self, seconds):
        """For a thread, a process or a socket: as long as it took, which no two runs agree on, so only timers see it."""
        self.loop += math.ceil(seconds * MICROSECONDS)

    def read(self):
        """Microseconds since the epoch."""
        self.now += 1
        self.looks += 1
        return self.origin + self.now

    def read_loop(self):
        """Seconds."""
        self.loop += 1
        return ORIGIN + self.loop / MICROSECONDS


class CellTimer:
    """Stops code at its time limit. Waiting for tools does not count, and neither does the runner's own work."""

    def __init__(self, channel):
        self.channel = channel
        self.limit = 90.0
        self.used = 0.0
        self.running = False
        self.alarm = None  # of the program itself, with a handler of its own: when it is due, and how often then
        self.step = monotonic()  # when the step began
        self.interrupted_after = None  # milliseconds of the step: then an interrupt from outside reached its code
        signal.signal(signal.SIGINT, self._stop)  # from the host: at its own deadline, or because somebody wants so
        if not EMBEDDED:  # there it is the only one
            signal.signal(signal.SIGALRM, self._stop)

    def begin(self):
        """A step has begun."""
        self.step, self.interrupted_after = monotonic(), None

    def reset(self, limit):
        self.limit, self.used, self.alarm = limit, 0.0, None

    def allow(self, seconds):
        """So long from now, whatever was used."""
        self.reset(seconds)
        self.resume()

    def resume(self):
        self.since = monotonic()
        self.running = True
        if not EMBEDDED:
            if self.alarm and self.alarm[0] <= self.since:  # nothing can run while the host is waited for
                _setitimer(signal.ITIMER_REAL, self.alarm[1], self.alarm[1])
                _raise_signal(signal.SIGALRM)
                return
            due, every = self.alarm or (self.since + self.limit - self.used, STOP_AGAIN)
            _setitimer(signal.ITIMER_REAL, max(due - self.since, 0.001), every)

    def pause(self):
        if not self.running:
            return
        self.running = False
        now = monotonic()
        if not EMBEDDED:
            left, every = _setitimer(signal.ITIMER_REAL, 0)
            is_of_program = left > 0 and _getsignal(signal.SIGALRM) != self._stop
            self.alarm = (now + left, every) if is_of_program else None
        self.used += now - self.since

    def _stop(self, number, _):
        # Never in the runner's own code or in the middle of a frame; the timer fires again, and so does the host.
        if self.running and not self.channel.sending:
            if number == signal.SIGINT and self.used + monotonic() - self.since < self.limit:
                if self.interrupted_after is None:  # said with the answer: a host that dies now can't say it
                    self.interrupted_after = int((monotonic() - self.step) * 1000)
                self.channel.send({"type": "interrupted"})  # or the host would try again
                raise Interrupt()
            rule = f"it may run {self.limit:g} seconds, waiting for tools not counted"
            raise CellStop("timed_out", f"the code was stopped: {rule}. Do less in one cell.")
