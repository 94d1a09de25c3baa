"""The session: one program, its cells, and its open tool calls. Connects the packages; owns the result of each step.

1. Each step that begins ends with exactly one result.
2. Any exception in user code ends its cell, never the session.
3. Tool calls are numbered in the order in which the code makes them, over all cells.
4. After a cell was stopped, no code of it runs: its tasks are cancelled and its open calls are forgotten.
5. Files of the host are written between two steps of code: between two cells, or while a cell waits for the host.
   Artifacts are read between two cells only.
"""

import builtins
import contextvars
import random
import sys
import time
from asyncio import all_tasks, current_task, get_running_loop, set_event_loop  # from here on: names that the program may replace
from builtins import eval, exec
from sys import setprofile, settrace
from gc import collect

from .check.cell_check import CellCheck
from .determinism import randomness, time_functions
from .determinism.program_clock import ProgramClock
from .errors import CellStop, HostDisconnected
from .original_builtins import lazy_import
from .process import EMBEDDED, is_program_thread
from .program import fork, hints, tools
from .program.cell import CellNamespace, compile_cell, exit_result, format_error, is_async
from .program.cell_timer import CellTimer
from .program.cell_usage import CellUsage
from .program.event_loop import Loop, LoopPolicy, set_event_loop_policy
from .program.restricted_cell import RestrictedCell
from .program.output import OutputCapture
from .program.suspension import CLEANUP_TIMEOUT, Suspension
from .protocol.channel import Channel
from .protocol.floats import float_mask, with_floats
from .protocol.step_protocol import StepProtocol

FRAME_BYTES_PER_CHARACTER = 8  # JSON in ASCII takes up to 6 for a UTF-16 unit; so output alone never fills a frame


def _files():
    return lazy_import("ptc_runner.files")  # in a container, few sandboxes need it


class Session:
    def __init__(self):
        self.channel = Channel()
        self.protocol = StepProtocol(self, self.channel)
        self.output = OutputCapture(self.channel)
        self.namespace = CellNamespace()
        self.hints = hints.CellHints(self.namespace.variables)
        self.check = CellCheck(self.namespace.variables)
        self.clock = ProgramClock()
        self.timer = CellTimer(self.channel)
        self.usage = CellUsage(self.timer)
        self.limits = {}
        self.pending_calls = {}  # index -> (tool, future, task that made the call)
        self.new_calls = []  # pending calls that were not sent to the host yet
        self.call_index = 0  # index of the last call in this session
        self.calls_in_cell = 0
        self.calls_allowed = True  # False while a snapshot is made or read
        self.suspension = Suspension(self)
        self.restricted_cell = RestrictedCell(self)
        self.artifacts = _files().Artifacts() if EMBEDDED else None  # elsewhere the dispatcher has them
        self.process_started = time.time()
        self.builtins = {}  # before any cell ran
        self.modules = frozenset()  # names of the modules that were loaded before any cell ran
        self.context = contextvars.copy_context()  # context of the cells
        # For cells with top-level await. Other cells run outside of it, so that asyncio.run() works like in any script.
        self.loop = Loop(self)
        self.policy = LoopPolicy(self)
        set_event_loop_policy(self.policy)
        set_event_loop(self.loop)

    def run(self):
        """Executes cells until the host closes its end of the connection."""
        try:
            while True:
                frame = self.protocol.next_step("cell")
                if frame["type"] == "file":
                    self._write_file(frame)
                else:
                    self._execute_cell(frame)
        except HostDisconnected:
            pass

    # -- called by the protocol

    def configure(self, frame, is_first):
        """Applies a hello. The first one installs the tools: a host that attaches later may have others."""
        if is_first:
            self._initialize(frame)
        self.limits = frame["limits"]
        frame_characters = self.channel.frame_limit // FRAME_BYTES_PER_CHARACTER
        self.output.set_limit(min(self.limits["captured_characters"], frame_characters))
        if is_first:
            tools.install(self, frame["tools"])
            self.check.set_tools(frame["tools"], self.builtins)

    def _initialize(self, frame):
        """Sets the clock and the randomness, which are the same in every sandbox of a session."""
        self.clock.begin(frame["started_at"])
        time_functions.install(self.clock)
        self.randomness = randomness.install(f"{frame['seed']} {frame['session']}")
        random.seed(frame["seed"])
        self.builtins, self.modules = dict(vars(builtins)), frozenset(sys.modules)

    def begin_step(self, number):
        self.output.step = number
        self.timer.begin_step()

    # -- cells

    def _execute_cell(self, frame):
        self.clock.begin_step(frame["now"], frame.get("waited"))  # the first step of a session has no `waited`
        self.calls_in_cell = self.clock.reads = 0
        self.suspension.begin_cell()
        self.context = self.context.copy()  # a task that is left over from the last cell can't have entered the copy
        self.restricted_cell.begin_cell(frame["cell"], frame.get("restricted", False))
        self.output.begin_cell()
        self.timer.reset(self.limits["cell_seconds"])
        self.usage.begin()
        self.hints.begin_cell()
        if self.artifacts is not None:
            self.artifacts.begin_cell()
        result = self._run_cell(frame)
        self.hints.end_cell()
        fork.exit_child(result)
        self.restricted_cell.end_cell()
        self.suspension.finish()
        result["usage"] = self.usage.measure()
        result.update(self._take_artifacts())
        try:
            self.send_result(result, self.hints.text(len(self.pending_calls)))
        except ValueError as problem:  # too large for a frame: the host would wait for a result forever
            self._cancel_program()
            failure = {"type": "failed", "kind": "limit_exceeded", "error": str(problem)}
            self.send_result({**failure, "usage": result["usage"]})

    def next_resume(self, *should_read):
        """Returns the next step of a suspended cell, as `next_step`. Files that the host sends before are written."""
        while True:
            frame = self.protocol.next_step("resume", *should_read)
            if frame is None or frame["type"] != "file":
                return frame
            self._write_file(frame)

    def _write_file(self, frame):
        self.clock.begin_step(frame["now"], frame.get("waited"))
        self.send_result(_files().write_upload(self.protocol.values, frame))

    def _take_artifacts(self):
        if self.artifacts is None:
            return {}
        try:
            files = self.artifacts.take_changes(self.limits["cell_seconds"] - self.timer.used_seconds)
        except BaseException:  # the program has replaced functions that this uses
            files = [{"path": _files().FOLDER, "bytes": 0, "problem": "the files can't be listed"}]
        return {"files": files} if files else {}

    def send_result(self, message, note=""):
        if self.timer.interrupted_after is not None:
            message = {**message, "interrupted_after": self.timer.interrupted_after}
        self.protocol.send_result({**message, **self.output.take(note)})
        self.clock.mark_result()

    def _run_cell(self, frame):
        """Runs a cell to its end and returns its result."""
        try:
            self.timer.resume()
            self.hints.streams = self.output.restore_streams()
            self.timer.restore_interrupt()
            self._prepare_loop()
            if "input_data" in frame:
                self.namespace.variables["input_data"] = self._resolve_value(frame["input_data"], "value")
            source = self._resolve_value(frame, "source")
            self.hints.set_source(source)
            try:
                code = compile_cell(source, frame["cell"])
            except SyntaxError as error:
                text = format_error(error) + hints.hint_for_syntax(error, source)
                return {"type": "failed", "kind": "code_error", "error": text}
            if findings := self.check.check(source, frame.get("checked", False)):
                return {"type": "failed", "kind": "code_error", "error": findings}
            self.protocol.values.clear()
            try:
                if is_async(code):
                    self.loop.run_cell(eval(code, self.namespace.variables), self.context)
                else:
                    self.context.run(exec, code, self.namespace.variables)
            finally:  # the program must not trace the runner's code, because trace functions may raise
                settrace(None)  # a trace function gets no event for a call of a C function
                try:
                    setprofile(None)
                except BaseException:  # a profile function gets one; Python removes a function that raises
                    pass
            return {"type": "completed"}
        except HostDisconnected:
            raise
        except CellStop as stop:
            self.timer.pause()
            error = format_error(stop) + hints.hint_for_stop(stop, self.clock.reads)
            self._cancel_program()
            return {"type": "failed", "kind": stop.kind, "error": error}
        except SystemExit as leave:
            return exit_result(leave)
        except BaseException as error:
            self.timer.pause()
            return {"type": "failed", "kind": "code_error", "error": format_error(error) + hints.hint_for_error(error)}
        finally:
            self.timer.pause()

    def _prepare_loop(self):
        """Replaces or reopens a loop that an earlier cell closed."""
        if self.loop.is_closed():
            self.loop = Loop(self)
        self.loop.reopen()
        current = self.policy.current()
        if current is None or current.is_closed():
            set_event_loop(self.loop)
        if all(timer.cancelled() for timer in self.loop._scheduled):
            self.clock.synchronise_loop_time()

    def _cancel_program(self):
        """Cancels the tasks of the program and forgets its open calls."""
        self._forget_calls()
        self.cancel_tasks(all_tasks(self.loop))
        self._forget_calls()  # the calls of finally blocks
        collect()

    def cancel_tasks(self, tasks):
        """Cancels these tasks, and forgets their open calls."""
        for task in tasks:
            task.cancel()
        self.loop.set_exception_handler(lambda *_: None)
        self.timer.restart(CLEANUP_TIMEOUT)
        try:
            # The first iteration raises CancelledError in the tasks, later ones run the code that this wakes up.
            # They also clear a pending `loop.stop()`.
            for _ in range(3):
                self.loop.stop()
                self.loop.run_forever()
        except HostDisconnected:
            raise
        except BaseException:  # the program's own cleanup failed or took too long
            pass
        finally:
            self.timer.pause()
            self._forget_calls(tasks)
            for task in tasks:
                if task.done() and not task.cancelled():
                    task.exception()  # without this call asyncio would print it
            self.loop.set_exception_handler(None)

    def _forget_calls(self, tasks=None):
        """Forgets the open calls of these tasks; None: of all tasks."""
        forgotten = [index for index, (_, _, task) in self.pending_calls.items() if tasks is None or task in tasks]
        for index in forgotten:
            del self.pending_calls[index]
        self.new_calls = [call for call in self.new_calls if call["call"] in self.pending_calls]

    # -- called by the program

    async def call(self, tool, arguments):
        """Makes one tool call. It is sent to the host when the program can't continue without its result."""
        self._check_calls_allowed()
        fork.reject_call_in_child()
        self.calls_in_cell += 1
        if self.calls_in_cell > self.limits["calls_per_cell"]:
            limit = self.limits["calls_per_cell"]
            raise CellStop(
                "limit_exceeded", f"more than {limit} tool calls in one cell. Make the rest in the next cell."
            )
        loop = get_running_loop()
        if not is_program_thread() or not isinstance(loop, Loop):
            raise RuntimeError(hints.WRONG_LOOP_ERROR.format(tool=tool))
        self.restricted_cell.check_call(tool)
        self.call_index += 1
        future = loop.create_future()
        index = self.call_index
        self.pending_calls[index] = (tool, future, current_task(loop))
        floats = float_mask(arguments)
        call = {"call": index, "tool": tool, "arguments": arguments}
        self.new_calls.append(call if floats is None else {**call, "floats": floats})
        self.suspension.consecutive_wakes = 0
        try:
            return await future
        finally:  # also when the code stopped waiting: a timeout, a cancelled task
            if self.pending_calls.pop(index, None):
                self.new_calls = [call for call in self.new_calls if call["call"] != index]

    def suspend(self, timeout, selector, has_local_work):
        self._check_calls_allowed()
        self.suspension.wait(timeout, selector, has_local_work)

    def _check_calls_allowed(self):
        if not self.calls_allowed:
            raise CellStop("code_error", "no tool can be called while a snapshot is made")

    # -- called by the suspension

    def resolve_call(self, index, outcome):
        tool, future, _ = self.pending_calls.pop(index, (None, None, None))
        if future is None or future.done() or future.get_loop().is_closed():  # the code no longer waits for it
            return
        self.suspension.consecutive_wakes = 0
        if outcome["status"] == "ok":
            value = self._resolve_value(outcome, "value")
            future.set_result(with_floats(value, outcome["floats"]) if "floats" in outcome else value)
        else:
            future.set_exception(tools.tool_error(tool, outcome))

    def _resolve_value(self, container, key):
        return self.protocol.values.take(container["ref"]) if "ref" in container else container[key]
