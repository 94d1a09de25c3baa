"""The time of the program.

A rebuilt program must read the same times. So only what a rebuild repeats moves this clock: the steps, the length of
a sleep, and one microsecond for each read, so that a loop that waits for the clock ends. Computing time is not
repeatable, so it does not move the clock; the next step corrects it.

Timers count waiting only. Otherwise a timer that was set after a long computation would fire at the next step, too
early.
"""

import math
from time import monotonic  # the real function, also after `time` is replaced: see time_functions.py

MICROSECONDS = 1_000_000  # in a second
MONOTONIC_START = 100_000  # first value of `monotonic` and the loops, in seconds: some code treats 0 as long ago


class ProgramClock:
    """All times are in microseconds since the session began, unless their name or comment says otherwise."""

    def __init__(self):
        self.origin = 0  # microseconds since the epoch when the session began
        self.now = 0  # the value that `time` and `datetime` read
        self.reads = 0  # number of reads of `now` by the current cell
        self.loop_time = 0  # the value that timers read: the waiting time, also for threads, processes and sockets
        self.loop_time_at_result = 0  # the host measures `waited` from the last result
        self.monotonic_offset = 0.0  # seconds that a monotonic clock is ahead of the real one, to keep up with `now`
        self.started = monotonic()  # seconds

    def begin(self, started_at):
        """Sets the start of the session, in milliseconds since the epoch."""
        self.origin, self.started = started_at * 1000, monotonic()

    def get_state(self):
        return self.now, self.loop_time

    def set_state(self, state):
        self.now, self.loop_time = state
        self.advance_to(*state)
        self.mark_result()

    def monotonic_seconds(self):
        """Returns the real seconds, with the seconds in which this process did not exist."""
        return MONOTONIC_START + monotonic() - self.started + self.monotonic_offset

    def continue_monotonic(self, seconds):
        """Continues at this reading of `monotonic_seconds` in another runner."""
        self.monotonic_offset += seconds - self.monotonic_seconds()

    def mark_result(self):
        """Called when the host got a result: `waited` of the next step counts from this time."""
        self.loop_time_at_result = self.loop_time

    def begin_step(self, now, waited):
        """Advances to the time of a step: `now` milliseconds after the session began, `waited` after the last result.

        `waited` is None in the first step of a session.
        """
        now = int(now * 1000)
        self.advance_to(now, now if waited is None else self.loop_time_at_result + int(waited * 1000))

    def advance_to(self, now, loop_time):
        self.now, self.loop_time = max(self.now, now), max(self.loop_time, loop_time)
        self.monotonic_offset = max(self.monotonic_offset, self.now / MICROSECONDS - (monotonic() - self.started))

    def synchronise_loop_time(self):
        """Called between cells when no timer is set, so that the time of the loop does not stay behind for good."""
        self.loop_time = max(self.loop_time, self.now)

    def time_after(self, seconds):
        """Returns the values of both clocks after this number of seconds, as arguments of `advance_to`."""
        passed = math.ceil(seconds * MICROSECONDS)
        return self.now + passed, self.loop_time + passed

    def advance(self, seconds):
        self.now, self.loop_time = self.time_after(seconds)

    def add_local_wait(self, seconds):
        """Adds a wait for a thread, process or socket. Only timers see it, because its length is not repeatable."""
        self.loop_time += math.ceil(seconds * MICROSECONDS)

    def read_wall(self):
        """Returns microseconds since the epoch."""
        self.now += 1
        self.reads += 1
        return self.origin + self.now

    def read_loop(self):
        """Returns seconds."""
        self.loop_time += 1
        return MONOTONIC_START + self.loop_time / MICROSECONDS
