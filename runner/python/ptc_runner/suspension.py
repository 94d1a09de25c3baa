"""Suspensions: the program can't go on, so the host gets its new calls and is the next to speak."""

from time import monotonic  # the real one: see program_time.py

from . import forked
from .errors import CellStop
from .own_process import is_forked
from .wire_json import dumps

SUSPENSION_BYTES = 1_000_000  # of described calls; the engine behind the host refuses messages over 2 MiB
DESCRIPTION_BYTES = 400  # about what the host adds to each call: a digest, a line for people
CLEANUP_SECONDS = 1.0  # for the finally blocks of code that was stopped
REPEATED_SECONDS = 5.0  # at most for each step, that threads get when a program is run again and need not wait
POLL_FLOOR, POLL_CEILING = 0.05, 5.0  # seconds; see _wake_in
CALL_BYTES = 256 * 1024  # of calls alone: the host reads a frame in one piece, and refuses a larger one


class Suspension:
    """Hands over calls, and takes what the host brings for them."""

    def __init__(self, session):
        self.session = session
        self.is_open = False  # the host is the next to speak; a thread may let the program go on before it does
        self.held = None  # what the host has said, while threads are given the time that they had
        self.began = 0.0  # when the host was given its answer
        self.due = None  # what the clock has reached when the host brings nothing but time
        self.wakes = 0  # times in a row that it did
        self.stopped = None  # why the host has stopped the cell

    def begin_cell(self):
        self.wakes, self.stopped = 0, None

    def wait(self, timeout, selector, polls):
        """Hands over the new calls and blocks until the host goes on, or something that the selector watches is ready.

        In the latter case the program goes on in a step that has its answer: what it calls then is handed over after
        the host has spoken. `polls`: this may happen, so the host is asked to come back now and then, and timers need
        not wait for it. Those of other programs must: their order is to be the same when they are run again.
        """
        if is_forked():
            forked.wait(self.session.clock, timeout)
            return
        if self.stopped is not None:  # code that is cleaning up can't wait
            raise CellStop("timed_out", self.stopped)
        session = self.session
        session.timer.pause()
        if not self.is_open:
            self._hand_over(timeout, polls)
        patience = timeout if polls else None
        frame = self.held or session._next_step(
            "advance", lambda: selector.wait_beside_host(session.channel.source, patience)
        )
        left = self._left(frame) if frame is not None and polls else 0
        if left > 0:
            self.held = frame
            selector.wait_for_local_work(left if timeout is None else min(left, timeout))
        elif frame is not None:
            self._go_on(frame)
        session.timer.resume()

    def _left(self, frame):
        """Of the time that the program waited for this step. It is over, unless the program is run again."""
        waited = 0 if "stop" in frame else (frame.get("waited") or 0) / 1_000
        return min(waited, REPEATED_SECONDS) - (monotonic() - self.began)

    def end(self):
        """Before the answer of a cell that is over: the host must have spoken."""
        if self.is_open:
            try:
                self._go_on(self.held or self.session._next_step("advance"))
            except CellStop:  # it is over anyway
                self.session.timer.pause()

    def _hand_over(self, timeout, polls):
        session = self.session
        count = _count_fitting(session.fresh, session.channel.limit)
        calls, session.fresh = session.fresh[:count], session.fresh[count:]
        more = bool(session.fresh)
        wake_in = 0 if more else self._wake_in(timeout, polls)
        try:
            session._reply({"type": "suspended", "calls": calls, "wake_in": wake_in})
        except ValueError as problem:  # a call that is larger than a frame
            raise CellStop("limit_exceeded", f"{problem}: pass less to one tool call") from None
        self.is_open, self.began = True, monotonic()
        self.due = None if timeout is None or wake_in < timeout else session.clock.after(timeout)

    def _go_on(self, frame):
        self.is_open, self.held = False, None
        session = self.session
        session.clock.step(frame["now"], frame.get("waited"))
        if "stop" in frame:
            self.stopped = frame["stop"]
            session.timer.allow(CLEANUP_SECONDS)
            raise CellStop("timed_out", self.stopped)
        try:
            for result in frame["results"]:
                session._deliver(result["call"], result["outcome"])
        finally:
            session.values.forget()
        if not frame["results"] and self.due is not None:  # only time has passed: the timer is due, by definition
            session.clock.reach(*self.due)

    def _wake_in(self, timeout, polls):
        """A wake is a durable step, so a program that polls while calls are open is woken ever more seldom."""
        if timeout is None and not polls:
            return None
        pause = POLL_FLOOR * 2 ** min(self.wakes, 30)
        self.wakes += 1
        if timeout is None:
            return pause
        floor = min(pause, POLL_CEILING) if self.session.calls else 0
        return max(min(timeout, pause) if polls else timeout, floor)


def _count_fitting(calls, frame_bytes):
    """So many of the calls, one at least; the rest goes with the next suspension, which follows at once."""
    count, size, described = 0, 0, 0
    for call in calls:
        length = len(dumps(call)) + 2
        size += length
        described += length + DESCRIPTION_BYTES
        if count and (size > CALL_BYTES or described > min(SUSPENSION_BYTES, frame_bytes // 2)):
            break
        count += 1
    return count
