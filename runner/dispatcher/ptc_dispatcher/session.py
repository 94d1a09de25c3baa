"""The session: one cell at a time, in the language that it names. Connects the parts; owns the result of each step.

1. Each step that begins ends with exactly one result.
2. Tool calls are numbered over all languages, those of one suspension that came by the socket in the order of their
   tool and arguments: the order in which parallel processes call is different in each execution.
3. A step in which calls by the socket are open ends when all processes wait, for calls or for each other; or after some
   time, when another process has local work. Then the host sends steps at growing intervals, in which further calls
   are sent.
4. The time limit of a cell is applied here, because a runner would count the time in which its code waits for a process
   that waits for a tool.
5. When a cell has ended, calls by the socket that are open fail, and until the next cell there are no calls.
6. Files of the host are written between two steps of code: between two cells, or while a cell waits for the host. This
   takes nothing of the time of a cell, and its timers go on. Artifacts are read between two cells only.
"""

import asyncio
import os
import signal
from time import monotonic

from ptc_runner.errors import HostDisconnected
from ptc_runner.files import Artifacts, write_upload
from ptc_runner.protocol.channel import Channel

from .cells.bash import BashCell, BashState
from .cells.command import CommandCell
from .cells.environment import start_environment_cell
from .cells.reaper import Reaper
from .cells.runner import Runner, RunnerCell
from .host import Host
from .network.tunnel import Tunnel
from .processes import QuietCheck, adopt_orphans
from .tools.requests import OpenRequests
from .tools.server import ToolServer

FOLDER = os.environ["PTC_FOLDER"]  # of the socket and the state of bash: not in /tmp, which code may empty
PROXY_PORT = "PTC_PROXY_PORT"  # environment variable of a sandbox with a network
CHECK_SECONDS, CHECK_CEILING = 0.001, 0.02  # between two checks of the processes
POLL_FLOOR, POLL_CEILING = 0.05, 5.0  # seconds; each poll is a durable step
KILL_SECONDS = 1.0  # from the first stop of a cell


class Session:
    def __init__(self, languages):
        self.artifacts = Artifacts() if languages.pop("files", None) is not None else None
        self.languages = languages
        self.channel = Channel()
        self.host = Host(self, self.channel)
        self.changed = asyncio.Event()
        self.limits = {}
        self.hello = None
        self.input_data = None  # of the first cell: each language gets it with its own first cell
        self.used_languages = set()
        self.runners = {}  # language -> Runner
        self.reaper = Reaper()
        self.requests = OpenRequests(self)
        self.server = ToolServer(self, FOLDER)
        self.quiet = QuietCheck(self)
        self.bash = BashState(FOLDER)
        self.tunnel = Tunnel(self) if PROXY_PORT in os.environ else None
        self.cell = None
        self.call_index = 0  # of the last call in this session
        self.calls_in_cell = 0
        self.now = 0  # milliseconds since the start of the session: the clock of the program
        self.waited = 0  # milliseconds that the session has waited: the clock of its timers
        self.waited_for_files = 0  # of these, those before files that were written since the last step of code
        self.step_started = monotonic()
        self.is_running = False  # a step has begun, and has no result yet
        self.used_seconds = 0.0  # by the current cell, in steps before this one
        self.pause = POLL_FLOOR
        self.stopping = None  # {"kind", "error"} for a cell that is being stopped, and when that began
        self.interrupted_after = None
        self.exit_status = None  # set when a runner has ended

    async def run(self):
        """Executes cells until the host closes its end of the connection. Returns the status of this process."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._on_interrupt)
        self._redirect_standard_streams()
        adopt_orphans()
        self.reaper.start(loop)
        await self.server.start()
        if self.tunnel is not None:
            await self.tunnel.start(int(os.environ.pop(PROXY_PORT)))
        try:
            while self.exit_status is None:
                frame = await self.host.next_step("cell")
                if frame["type"] == "file":
                    self._write_file(frame)
                else:
                    await self._execute_cell(frame)
        except HostDisconnected:
            pass
        finally:
            self.server.close()
        return self.exit_status or 0

    def _redirect_standard_streams(self):
        """Processes must not inherit the descriptors of the protocol, which `Channel` has copied."""
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(null, 1)
        os.close(null)

    # -- called by the protocol

    def configure(self, frame, is_first):
        """Applies a hello. The first one installs the tools: a host that attaches later may have others."""
        self.limits = frame["limits"]
        if is_first:
            self.hello = frame
            self.requests.set_tools(frame["tools"])

    def begin_step(self, number):
        self.step_started, self.interrupted_after, self.is_running = monotonic(), None, True

    def _write_file(self, frame):
        self._set_clock(frame)
        self.waited_for_files += frame.get("waited", 0)
        used_seconds = self.used_seconds
        message = write_upload(self.host.values, frame)
        self._send_result({**message, "output": ""})
        self.used_seconds = used_seconds

    def _with_waited(self, frame):
        """A runner counts what it has waited from its own last result."""
        waited, self.waited_for_files = self.waited_for_files, 0
        return {**frame, "waited": frame.get("waited", 0) + waited} if waited else frame

    # -- cells

    async def _execute_cell(self, frame):
        self._set_clock(frame)
        frame = self._with_waited(frame)
        self.used_seconds, self.calls_in_cell, self.stopping, self.pause = 0.0, 0, None, POLL_FLOOR
        if "input_data" in frame:
            self.input_data = frame["input_data"]
            if "ref" in self.input_data:
                self.host.values.keep(self.input_data["ref"])
        await self.server.ensure_listening()
        self.requests.begin_cell()
        try:
            if self.artifacts is not None:
                self.artifacts.begin_cell()
            self.cell = await self._start_cell(frame)
            while True:
                message = await self._next_message()
                if self.exit_status is not None:
                    return
                has_ended = message["type"] != "suspended"
                if has_ended:
                    self.cell.finish()
                    self.requests.end_cell()
                    self.cell = None
                    message = self._with_artifacts(message)
                self._send_result(message)
                if has_ended:
                    return
                frame = await self.host.next_step("resume")
                while frame["type"] == "file":
                    self._write_file(frame)
                    frame = await self.host.next_step("resume")
                await self._resume(frame)
        finally:
            self.host.values.clear()

    async def _start_cell(self, frame):
        language = frame.get("language", next(iter(self.languages)))
        settings = self.languages.get(language)
        if settings is None:
            return FailedCell(f"this sandbox has no language {language}")
        known = None if language in self.used_languages else self.input_data
        input_data = frame.get("input_data", known)
        self.used_languages.add(language)
        if "command" in settings:
            if language not in self.runners:
                self.runners[language] = await Runner.start(self, settings)
            return RunnerCell.start(self, self.runners[language], frame, input_data)
        if "run" in settings:
            return CommandCell.start(self, frame, language, settings)
        if "environment" in settings:
            return start_environment_cell(self, frame)
        return BashCell.start(self, frame, input_data)

    async def _next_message(self):
        """Waits until the cell has ended, or can't continue without the host. Returns the message of the step."""
        self.quiet.reset()
        pause = CHECK_SECONDS
        while True:
            self.changed.clear()
            if self.exit_status is not None:
                return None
            if self.cell.message is not None:
                return self._with_requests(self.cell.take_message())
            timeout = self._apply_time_limit()
            if self.requests.any_open and self.stopping is None:
                if self.quiet.check():
                    return self._suspended(None)
                if self.quiet.has_local_work:
                    pause, self.pause = self.pause, min(2 * self.pause, POLL_CEILING)
                    return self._suspended(pause)
                timeout, pause = min(pause, timeout), min(2 * pause, CHECK_CEILING)
            try:
                await asyncio.wait_for(self.changed.wait(), timeout)
                pause = CHECK_SECONDS
            except asyncio.TimeoutError:
                pass

    def _suspended(self, wake_in):
        return self._with_requests({"type": "suspended", "calls": [], "wake_in": wake_in, **self.cell.take_output()})

    def _with_requests(self, message):
        """Adds the new calls of processes to a suspension, and the time of their first sleep."""
        if self.interrupted_after is not None:
            message = {**message, "interrupted_after": self.interrupted_after}
        if message["type"] != "suspended":
            was_stopped = self.stopping is not None and message.get("kind") == "stopped"
            return {**message, **self.stopping["end"]} if was_stopped else message
        calls, due, has_more = self.requests.take_new()
        if self.requests.any_open:
            message.pop("waits_for_all", None)
        wakes = [seconds for seconds in (message["wake_in"], due, 0 if has_more else None) if seconds is not None]
        wake_in = min(wakes, default=None)
        self.requests.is_sleep_next = due is not None and due == wake_in
        return {**message, "calls": [*message["calls"], *calls], "wake_in": wake_in}

    def _with_artifacts(self, message):
        if self.artifacts is None:
            return message
        files = self.artifacts.take_changes(self.limits["cell_seconds"] - self.running_seconds)
        return {**message, "files": files} if files else message

    def _send_result(self, message):
        self.used_seconds += monotonic() - self.step_started
        self.is_running = False
        try:
            self.host.send_result(message)
        except ValueError as problem:  # too large for a frame: the host would wait for a result forever
            self.host.send_result({"type": "failed", "kind": "limit_exceeded", "error": str(problem), "output": ""})

    async def _resume(self, frame):
        self._set_clock(frame)
        frame = self._with_waited(frame)
        if "stop" in frame:
            self.requests.end_cell()
            self.stop({"kind": "timed_out", "error": frame["stop"]})
        elif frame["results"]:
            self.pause = POLL_FLOOR
        try:
            self.requests.deliver(frame.get("results", []))
            self.cell.resume(frame)
        finally:
            self.host.values.clear()

    def _set_clock(self, frame):
        """A step moves the clock. Timers count waiting only, not earlier computing."""
        self.now = max(self.now, frame["now"])
        self.waited += frame.get("waited", 0)

    def read_clock(self):
        """Returns milliseconds since 1970. Each reading moves the clock, so that a loop that waits for it ends."""
        now, self.now = self.now, self.now + 1
        return self.hello["started_at"] + now

    @property
    def running_seconds(self):
        """Seconds for which the cell has run, without the time between two steps."""
        return self.used_seconds + monotonic() - self.step_started

    def next_call_index(self):
        self.call_index += 1
        return self.call_index

    # -- stopping

    def stop(self, end):
        """Stops the cell, which then ends as failed in this way."""
        if self.cell is None or self.stopping is not None:
            return
        self.stopping = {"end": end, "since": monotonic(), "tries": 0}
        self.changed.set()

    def _apply_time_limit(self):
        """Stops a cell at its limit, again if needed. Returns the seconds until this has to be called again."""
        limit = self.limits["cell_seconds"]
        if self.cell.seconds is not None:
            limit = min(limit, self.cell.seconds)
        left = limit - self.running_seconds
        if left <= 0 and self.stopping is None:
            rule = f"it may run {limit:g} seconds, waiting for tools not counted"
            self.stop({"kind": "timed_out", "error": f"the code was stopped: {rule}. Do less in one cell."})
        if self.stopping is None:
            return left
        tries = self.stopping["tries"]
        elapsed = monotonic() - self.stopping["since"]
        if elapsed >= tries * KILL_SECONDS / 2:
            self.stopping["tries"] += 1
            self.requests.end_cell()
            self.cell.stop(is_last=elapsed >= KILL_SECONDS)
        return 0.1

    def _on_interrupt(self):
        """The host has sent SIGINT. Outside of running code it is ignored."""
        if self.cell is None or self.cell.message is not None or not self.is_running:
            return
        self.cell.interrupt()

    def on_interrupted(self):
        """The interrupt has reached the code."""
        if self.stopping is not None and self.stopping["end"]["kind"] != "stopped":  # by the time limit, not by the host
            return
        if self.interrupted_after is None:
            self.interrupted_after = int((monotonic() - self.step_started) * 1000)
        self.channel.send({"type": "interrupted"})  # otherwise the host would try again

    def on_runner_end(self, status):
        """Invariant 3 of the dispatcher."""
        self.exit_status = status
        self.changed.set()


class FailedCell:
    """A cell that could not start."""

    def __init__(self, error, kind="code_error"):
        self.message = {"type": "failed", "kind": kind, "error": error, "output": ""}

    def take_message(self):
        return self.message

    def finish(self):
        pass
