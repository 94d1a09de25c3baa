"""The time limit of a cell. Waiting for tools does not count, and neither does the runner's own work."""

import signal
from time import monotonic  # the real one: see determinism/time_functions.py

from ..errors import CellStop, Interrupt
from ..process import EMBEDDED

# Captured before the program may replace them. Pyodide has no timer.
_setitimer = getattr(signal, "setitimer", None)
_getsignal, _raise_signal, _signal = signal.getsignal, signal.raise_signal, signal.signal
_sigmask = getattr(signal, "pthread_sigmask", None)

REPEAT_STOP_SECONDS = 0.5  # code that swallows the first stop is stopped again, until the host kills it


class CellTimer:
    """Stops code at its time limit, and at an interrupt from the host.

    `running_since` is None while the timer is paused. The program may set an alarm with its own handler;
    `program_alarm`, (when it is due, interval), keeps it while the timer is paused.
    """

    def __init__(self, channel):
        self.channel = channel
        self.limit_seconds = 90.0
        self.used_seconds = 0.0
        self.total_seconds = 0.0  # for which code ran, since the runner began
        self.running_since = None
        self.program_alarm = None
        self.step_started = monotonic()
        self.interrupted_after = None  # milliseconds from the beginning of the step to its first interrupt
        signal.signal(signal.SIGINT, self._on_signal)  # sent by the host: at its own deadline, or on request of a user
        if not EMBEDDED:  # Pyodide has SIGINT only
            signal.signal(signal.SIGALRM, self._on_signal)

    def restore_interrupt(self):
        """The host stops a cell by SIGINT. A handler or mask of an earlier cell would leave only killing the sandbox.

        A handler of SIGALRM stays: a program may install it in one cell and set its alarm in a later one.
        """
        if _getsignal(signal.SIGINT) != self._on_signal:
            _signal(signal.SIGINT, self._on_signal)
        if _sigmask:
            _sigmask(signal.SIG_UNBLOCK, (signal.SIGINT, signal.SIGALRM))

    def begin_step(self):
        self.step_started, self.interrupted_after = monotonic(), None

    def reset(self, limit):
        self.limit_seconds, self.used_seconds, self.program_alarm = limit, 0.0, None

    def restart(self, seconds):
        """Allows this many seconds from now, regardless of the time used before."""
        self.reset(seconds)
        self.resume()

    def resume(self):
        now = self.running_since = monotonic()
        if not EMBEDDED:
            if self.program_alarm and self.program_alarm[0] <= now:  # it became due while the program was suspended
                _setitimer(signal.ITIMER_REAL, self.program_alarm[1], self.program_alarm[1])
                _raise_signal(signal.SIGALRM)
                return
            due, every = self.program_alarm or (now + self.limit_seconds - self.used_seconds, REPEAT_STOP_SECONDS)
            _setitimer(signal.ITIMER_REAL, max(due - now, 0.001), every)

    def pause(self):
        if self.running_since is None:
            return
        since, self.running_since = self.running_since, None
        now = monotonic()
        if not EMBEDDED:
            remaining, every = _setitimer(signal.ITIMER_REAL, 0)
            is_of_program = remaining > 0 and _getsignal(signal.SIGALRM) != self._on_signal
            self.program_alarm = (now + remaining, every) if is_of_program else None
        self.used_seconds += now - since
        self.total_seconds += now - since

    def _on_signal(self, number, _):
        # Ignored in the runner's own code and in the middle of a frame: the timer fires again, and so does the host.
        if self.running_since is not None and not self.channel.sending:
            if number == signal.SIGINT and self.used_seconds + monotonic() - self.running_since < self.limit_seconds:
                if self.interrupted_after is None:  # part of the result: this host may die before it can report it
                    self.interrupted_after = int((monotonic() - self.step_started) * 1000)
                self.channel.send({"type": "interrupted"})  # otherwise the host would try again
                raise Interrupt()
            rule = f"it may run {self.limit_seconds:g} seconds, waiting for tools not counted"
            raise CellStop("timed_out", f"the code was stopped: {rule}. Do less in one cell.")
