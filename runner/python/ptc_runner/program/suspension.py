"""Suspensions: the program can't continue by itself, so the host gets its new calls and sends the next step."""

from time import monotonic  # the real one: see determinism/time_functions.py

from . import fork
from .gathered_calls import wait_for_all
from ..errors import CellStop
from ..process import is_forked_child
from ..protocol.json_codec import dumps

MAXIMUM_SUSPENSION_BYTES = 1_000_000  # of described calls; the engine behind the host refuses messages over 2 MiB
DESCRIPTION_BYTES = 400  # approximate addition of the host to each call: a digest, a line for people
CLEANUP_TIMEOUT = 1.0  # seconds for the finally blocks of code that was stopped
REBUILD_WAIT_SECONDS = 5.0  # at most in each step, for the threads of a program that is rebuilt
POLL_FLOOR, POLL_CEILING = 0.05, 5.0  # seconds; see _wake_delay
MAXIMUM_CALL_BYTES = 256 * 1024  # of calls alone: the host reads a frame in one piece, and refuses a larger one

RUNNING = "running"


class Sent:
    """The host has the new calls and sends the next step. Local work may let the program continue before that."""

    def __init__(self, timer_due):
        self.started = monotonic()
        self.timer_due = timer_due  # values of the clocks when the host sends a step without results; or None
        self.deferred_frame = None  # the next step, while threads get the same time as at its recording


class Stopping:
    """The host has stopped the cell. Its code may clean up, but not wait."""

    def __init__(self, reason):
        self.reason = reason


class Suspension:
    """Sends calls and delivers results.

    | state    | event                            | next state                    |
    |----------|----------------------------------|-------------------------------|
    | RUNNING  | the program waits                | Sent                          |
    | Sent     | local work is ready              | Sent; the program continues   |
    | Sent     | a step that local work can beat  | Sent, with a deferred frame   |
    | Sent     | a step, or the cell has ended    | RUNNING                       |
    | Sent     | a step that stops the cell       | Stopping                      |
    | Stopping | the program waits                | Stopping; it raises CellStop  |
    | any      | a new cell                       | RUNNING                       |
    """

    def __init__(self, session):
        self.session = session
        self.state = RUNNING
        self.consecutive_wakes = 0  # consecutive steps without results

    @property
    def awaits_host(self):
        return isinstance(self.state, Sent)

    def begin_cell(self):
        self.consecutive_wakes, self.state = 0, RUNNING

    def wait(self, timeout, selector, has_local_work):
        """Sends new calls, then blocks until the host sends the next step or local work is ready.

        In the second case the program continues; its next calls are sent after the host's next step.
        `has_local_work`: a thread, process or socket may become ready, so the host is asked to send a step regularly,
        and timers need not wait for the host. The timers of other programs must wait, because their order must be
        the same in a rebuild.
        """
        if is_forked_child():
            fork.sleep_in_child(self.session.clock, timeout)
            return
        if isinstance(self.state, Stopping):
            raise CellStop("timed_out", self.state.reason)
        session = self.session
        session.timer.pause()
        if not self.awaits_host:
            self._send_calls(timeout, has_local_work)
        sent = self.state
        wait_seconds = timeout if has_local_work else None
        frame = sent.deferred_frame or session.next_resume(
            lambda: selector.wait_for_host_or_local_work(session.channel.input_fd, wait_seconds)
        )
        remaining = _remaining_wait(sent, frame) if frame is not None and has_local_work else 0
        if remaining > 0:
            sent.deferred_frame = frame
            selector.wait_for_local_work(remaining if timeout is None else min(remaining, timeout))
        elif frame is not None:
            self._resume(frame)
        session.timer.resume()

    def finish(self):
        """Called when a cell has ended: its result can be sent only in a step that has no result yet."""
        if self.awaits_host:
            try:
                self._resume(self.state.deferred_frame or self.session.next_resume())
            except CellStop:  # the cell has ended anyway
                self.session.timer.pause()

    def _send_calls(self, timeout, has_local_work):
        session = self.session
        count = _count_fitting(session.new_calls, session.channel.frame_limit)
        calls, session.new_calls = session.new_calls[:count], session.new_calls[count:]
        has_more = bool(session.new_calls)
        wake_in = 0 if has_more else self._wake_delay(timeout, has_local_work)
        try:
            together = {"waits_for_all": True} if not has_more and wait_for_all(session.pending_calls) else {}
            session.send_result({"type": "suspended", "calls": calls, "wake_in": wake_in, **together})
        except ValueError as problem:  # a call that is larger than a frame
            raise CellStop("limit_exceeded", f"{problem}: pass less to one tool call") from None
        self.state = Sent(None if timeout is None or wake_in < timeout else session.clock.time_after(timeout))

    def _resume(self, frame):
        timer_due, self.state = self.state.timer_due, RUNNING
        session = self.session
        session.clock.begin_step(frame["now"], frame.get("waited"))
        if "stop" in frame:
            self.state = Stopping(frame["stop"])
            session.timer.restart(CLEANUP_TIMEOUT)
            raise CellStop("timed_out", frame["stop"])
        try:
            for result in frame["results"]:
                session.resolve_call(result["call"], result["outcome"])
        finally:
            session.protocol.values.clear()
        if not frame["results"] and timer_due is not None:  # only time has passed: the timer is due, by definition
            session.clock.advance_to(*timer_due)

    def _wake_delay(self, timeout, has_local_work):
        """Returns the seconds after which the host sends a step without results; None for never.

        Each wake is a durable step, so the delay doubles while a program polls with open calls.
        """
        if timeout is None and not has_local_work:
            return None
        pause = POLL_FLOOR * 2 ** min(self.consecutive_wakes, 30)
        self.consecutive_wakes += 1
        if timeout is None:
            return pause
        floor = min(pause, POLL_CEILING) if self.session.pending_calls else 0
        return max(min(timeout, pause) if has_local_work else timeout, floor)


def _remaining_wait(sent, frame):
    """Returns the rest of the recorded waiting time. Only in a rebuild, a step arrives before its end."""
    waited = 0 if "stop" in frame else frame.get("waited", 0) / 1_000
    return min(waited, REBUILD_WAIT_SECONDS) - (monotonic() - sent.started)


def _count_fitting(calls, frame_bytes):
    """Returns the number of calls that fit, at least one. The next suspension follows at once and sends the rest."""
    count, size, described = 0, 0, 0
    for call in calls:
        length = len(dumps(call)) + 2
        size += length
        described += length + DESCRIPTION_BYTES
        if count and (size > MAXIMUM_CALL_BYTES or described > min(MAXIMUM_SUSPENSION_BYTES, frame_bytes // 2)):
            break
        count += 1
    return count
