"""The step protocol. One answer a step, repeated when the step is; stale and skipped steps change nothing."""

import asyncio
import builtins
import contextvars
import platform
import random
import sys
import time
from asyncio import all_tasks, get_running_loop, set_event_loop  # from here on: names that the program may replace
from builtins import eval, exec
from gc import collect

from . import forked, hints, program_time, randomness, tools
from .cell import AwaitHints, Namespace, compile_cell, explain, is_async
from .channel import Channel
from .clock import CellTimer, ProgramClock
from .errors import CellStop, Closed
from .last_step import LastStep
from .loop import Loop, Policy, set_event_loop_policy
from .output import Output
from .own_builtins import import_late
from .own_process import is_program
from .suspension import CLEANUP_SECONDS, Suspension
from .values import Values

PROTOCOL = 2
FRAME_BYTES_PER_CHARACTER = 16  # JSON in ASCII takes up to 12; so output alone never fills a frame


class Session:
    def __init__(self):
        self.channel = Channel()
        self.output = Output(self.channel)
        self.namespace = Namespace()
        self.hints = AwaitHints(self.namespace.variables)
        self.thread_hint, self.exit_hint = hints.ThreadHint(), hints.ExitHint()
        self.clock = ProgramClock()
        self.timer = CellTimer(self.channel)
        self.limits = {}
        self.values = Values()
        self.session = None  # its name, from the first hello
        self.fence = []  # the highest seen: [epoch, step, attempt]
        self.last = LastStep()
        self.calls = {}  # open calls: index -> (tool, future)
        self.fresh = []  # those not yet handed over
        self.call_index = 0  # of the last call made in this session
        self.calls_in_cell = 0
        self.suspension = Suspension(self)
        self.began = time.time()
        self.builtins = {}  # as the program found them
        self.modules = frozenset()  # their names; also as the program found them
        self.spoiled = None  # why nothing can be run here: a restore that failed
        self.context = contextvars.copy_context()  # that of the cells
        # For cells with top-level await. Others run outside of it, so that asyncio.run() works as in any script.
        self.loop = Loop(self)
        self.policy = Policy(self)
        set_event_loop_policy(self.policy)
        set_event_loop(self.loop)

    # -- the host's side

    def serve(self):
        """Answers the host until it says close or goes away for good."""
        try:
            while True:
                self._cell(self._next_step("cell"))
        except Closed:
            pass

    def _next_step(self, wanted, must_read=lambda: True):
        """Blocks for the frame that may come next; every other frame is answered here. None: `must_read` said no."""
        while True:
            frame = self._receive(must_read)
            if frame is None:
                return None
            kind, fence = frame["type"], frame["fence"]
            if fence < self.fence:
                self._refuse(frame, "fenced", f"{fence} is older than {self.fence}")
                continue
            if fence != self.fence:
                self.values.forget()
            self.fence = fence
            if kind == "hello":
                self._hello(frame)
            elif kind == "close":
                raise Closed()
            elif kind == "value":
                self._collect(frame)
            elif kind == "snapshot":
                self._saving().take(self, frame, idle=wanted == "cell")
            elif self.last.is_of(frame) and self.last.is_another(frame):
                self._refuse(frame, "fenced", f"step {frame['step']} was another here")
            elif self.last.is_of(frame):
                self.channel.send(self.last.answer)
            elif kind == "restore" and self.last.number == 0 and not self.values.missing(frame):
                self._saving().restore(self, frame)
            elif self.spoiled or frame["step"] != self.last.number + 1 or kind != wanted:
                expected = f"expected {wanted} as step {self.last.number + 1}"
                self._refuse(frame, "invalid", f"{expected}, got {kind} as step {frame['step']}")
            elif missing := self.values.missing(frame):
                self._refuse(frame, "incomplete", f"step {frame['step']} needs value {missing}, which did not arrive")
            else:
                self.take(frame)
                return frame

    def take(self, frame):
        self.last.take(frame)
        self.output.step = frame["step"]
        self.timer.begin()

    def _saving(self):
        return import_late("ptc_runner.saving")  # few sandboxes need it, and it brings pickle

    def _receive(self, must_read):
        while True:
            try:
                return self.channel.receive(must_read)
            except MemoryError:
                if not self.values.relieve():
                    raise

    def _collect(self, frame):
        if frame["fence"][1] <= self.last.number:  # of a step that was taken: it only waits for its answer
            return
        refused = self.values.add(frame["value"], frame["piece"], frame["text"], frame["last"])
        if refused:
            self._refuse(frame, "incomplete", refused)

    def _hello(self, frame):
        if frame["protocol"] != PROTOCOL or self.session not in (None, frame["session"]):
            self._refuse(frame, "invalid", "this runner belongs to another session or speaks another protocol")
            return
        is_first = self.session is None
        if is_first:
            self._begin(frame)
        self.session = frame["session"]
        self.limits = frame["limits"]
        self.channel.limit = min(self.limits["frame_bytes"], 1 << 24)
        self.values.memory = self.limits["memory_bytes"]
        self.output.set_limit(min(self.limits["captured_characters"], self.channel.limit // FRAME_BYTES_PER_CHARACTER))
        if is_first:  # a host that attaches later may be configured with other tools than the run began with
            tools.install(self, frame["tools"])
        language = f"Python {platform.python_version()}"
        about = {"session": self.session, "step": self.last.number, "language": language}
        self.channel.send({"type": "ready", "protocol": PROTOCOL, **about})

    def _begin(self, frame):
        """The first greeting. What is the same for every sandbox of a session comes from here: clock and randomness."""
        self.clock.begin(frame.get("started_at", round(time.time() * 1000)))  # absent: from a host that is older
        program_time.install(self.clock)
        self.randomness = randomness.install(f"{frame['seed']} {frame['session']}")
        random.seed(frame["seed"])
        self.builtins, self.modules = dict(vars(builtins)), frozenset(sys.modules)

    def _refuse(self, frame, kind, reason):
        # With the fence of the frame: everybody who is attached hears it, and only its sender is meant.
        about = {"step": self.last.number, "fence": frame["fence"]}
        self.channel.send({"type": "refused", **about, "kind": kind, "reason": reason[:1_000]})

    def _reply(self, message, note=""):
        if self.timer.interrupted_after is not None:
            message = {**message, "interrupted_after": self.timer.interrupted_after}
        answer = {**message, **self.last.told(), "output": self.output.take(note)}
        self.channel.send(answer)
        self.last.answer = answer
        self.clock.answered()

    # -- the program's side

    def _cell(self, frame):
        self.clock.step(frame["now"], frame.get("waited"))
        self.calls_in_cell = self.clock.looks = 0
        self.suspension.begin_cell()
        self.context = self.context.copy()  # so that what is left over from the last cell can't have entered it
        self.output.begin()
        self.timer.reset(self.limits["cell_seconds"])
        with self.hints:
            answer = self._run(frame)
        forked.leave_child(answer)
        self.suspension.end()
        try:
            self._reply(answer, self.hints.text(len(self.calls)) + self.thread_hint.text() + self.exit_hint.text())
        except ValueError as problem:  # too large for a frame: say that instead, or the host waits for ever
            self._abandon()
            self._reply({"type": "failed", "kind": "limit_exceeded", "error": str(problem)})

    def _run(self, frame):
        """Runs a cell to its end. Whatever user code raises ends the cell, never the session."""
        try:
            self.timer.resume()
            self._prepare_loop()
            source = self._value(frame, "source")
            self.exit_hint.begin(source)
            code = compile_cell(source, frame["cell"])
            self.values.forget()
            if is_async(code):
                self.loop.run_cell(eval(code, self.namespace.variables), self.context)
            else:
                self.context.run(exec, code, self.namespace.variables)
            return {"type": "completed"}
        except Closed:
            raise
        except CellStop as stop:
            self.timer.pause()
            error = explain(stop) + hints.for_stop(stop, self.clock.looks)
            self._abandon()
            return {"type": "failed", "kind": stop.kind, "error": error}
        except SystemExit as leave:
            if leave.code in (None, 0):
                return {"type": "completed"}
            return {"type": "failed", "kind": "code_error", "error": f"SystemExit: {leave.code}"}
        except BaseException as error:
            self.timer.pause()
            return {"type": "failed", "kind": "code_error", "error": explain(error) + hints.for_error(error)}
        finally:
            self.timer.pause()

    def _prepare_loop(self):
        """Nothing that an earlier cell did to its loop ends those of later ones."""
        if self.loop.is_closed():
            self.loop = Loop(self)
        self.loop.revive()
        current = self.policy.current()
        if current is None or current.is_closed():
            set_event_loop(self.loop)
        if all(timer.cancelled() for timer in self.loop._scheduled):
            self.clock.catch_up()

    def _abandon(self):
        """After a stop nothing of the program goes on: its tasks are cancelled, its open calls forgotten."""
        self._forget_calls()
        for task in all_tasks(self.loop):
            task.cancel()
        self.loop.set_exception_handler(lambda *_: None)
        self.timer.allow(CLEANUP_SECONDS)
        try:
            for _ in range(3):  # one turn to raise CancelledError, more for what it wakes; also forgets a pending stop
                self.loop.stop()
                self.loop.run_forever()
        except Closed:
            raise
        except BaseException:  # the program's own cleanup failed or took too long
            pass
        finally:
            self.timer.pause()
            self._forget_calls()  # those that finally blocks made
            collect()
            self.loop.set_exception_handler(None)

    def _forget_calls(self):
        self.calls.clear()
        self.fresh.clear()

    async def call(self, tool, arguments):
        """One tool call: registered now, handed over when the program can't go on, awaited by the code."""
        forked.refuse_call_of_child()
        self.calls_in_cell += 1
        if self.calls_in_cell > self.limits["calls_per_cell"]:
            limit = self.limits["calls_per_cell"]
            raise CellStop("limit_exceeded", f"more than {limit} tool calls in one cell. Make the rest in the next cell.")
        loop = get_running_loop()
        if not is_program() or not isinstance(loop, Loop):
            raise RuntimeError(hints.WRONG_LOOP.format(tool=tool))
        self.call_index += 1
        future = loop.create_future()
        index = self.call_index
        self.calls[index] = (tool, future)
        self.fresh.append({"call": index, "tool": tool, "arguments": arguments})
        self.suspension.wakes = 0
        try:
            return await future
        finally:  # also when the code stopped waiting: a timeout, a cancelled task
            if self.calls.pop(index, None):
                self.fresh = [call for call in self.fresh if call["call"] != index]

    def suspend(self, timeout, selector, polls):
        self.suspension.wait(timeout, selector, polls)

    def _deliver(self, index, outcome):
        tool, future = self.calls.pop(index, (None, None))
        if future is None or future.done() or future.get_loop().is_closed():  # the code no longer waits for it
            return
        self.suspension.wakes = 0
        if outcome["status"] == "ok":
            future.set_result(self._value(outcome, "value"))
        else:
            future.set_exception(tools.failure(tool, outcome))

    def _value(self, holder, place):
        return self.values.take(holder["ref"]) if "ref" in holder else holder[place]
