"""Cells of a language with a runner. To the runner, the dispatcher is a host with its own step numbers."""

import asyncio
import os
import signal
import subprocess

from ptc_runner.errors import CellStop
from ptc_runner.protocol.channel import FrameBuffer, parse_frame
from ptc_runner.protocol.json_codec import dumps

from ..processes import descendants, end_process

UNLIMITED_SECONDS = 1_000_000  # see invariant 4 of the session
UNKNOWN_CALL = 0  # a runner ignores the result of a call that its code does not wait for


class Runner:
    """A runner process. It lives as long as the session."""

    def __init__(self, session, process):
        self.session, self.process = session, process
        self.step = 0
        self.calls = {}  # open calls, also of earlier cells: index in the session -> index in the runner
        self.frames = FrameBuffer()
        self.cell = None
        self.ready = asyncio.get_running_loop().create_future()

    @classmethod
    async def start(cls, session, settings):
        """Starts a runner and waits until it is ready."""
        environment = {**session.server.environment, **settings["environment"]}
        process = subprocess.Popen(
            settings["command"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, bufsize=0
        )
        runner = cls(session, process)
        session.reaper.on_end(process.pid, runner._on_end)
        os.set_blocking(process.stdout.fileno(), False)
        asyncio.get_running_loop().add_reader(process.stdout.fileno(), runner._on_readable)
        limits = {**session.limits, "cell_seconds": UNLIMITED_SECONDS}
        runner.send({**session.hello, "fence": [1, 0, 1], "limits": limits})
        await runner.ready
        return runner

    def _on_end(self, status, _):
        self.session.on_runner_end(status)
        if not self.ready.done():
            self.ready.set_result(None)

    @property
    def pid(self):
        return self.process.pid

    def send(self, message, text=None):
        """Blocks until the runner has read the frame: it reads whenever it is not executing code."""
        body = dumps(message).encode() + (b"" if text is None else b"\n" + text)
        view = memoryview(len(body).to_bytes(4, "big") + body)
        try:
            while view:
                view = view[os.write(self.process.stdin.fileno(), view) :]
        except BrokenPipeError:
            pass  # it has ended, which the reaper reports

    def begin_step(self, kind, frame, **members):
        """Sends a step, after the values that it references."""
        self.step += 1
        identity = {"fence": [1, self.step, 1], "step": self.step, "digest": "", "recorded": self.step - 1}
        times = {key: frame[key] for key in ("now", "waited") if key in frame}
        for reference in references(members):
            pieces = self.session.host.values.pieces_of(reference)
            for number, piece in enumerate(pieces):
                is_last = number == len(pieces) - 1
                message = {"type": "value", "fence": identity["fence"], "value": reference, "piece": number, "last": is_last}
                self.send(message, piece)
        self.send({"type": kind, **identity, **times, **members})

    def _on_readable(self):
        try:
            data = os.read(self.process.stdout.fileno(), 1 << 16)
        except BlockingIOError:
            return
        if not data:  # it has closed its output; its end is reported by the reaper
            asyncio.get_running_loop().remove_reader(self.process.stdout.fileno())
            return
        self.frames.push(data)
        while (frame := self.frames.next_frame()) is not None:
            message = parse_frame(frame)
            if type(message) is dict:
                self._receive(message)

    def _receive(self, message):
        kind = message.get("type")
        if kind == "ready":
            if not self.ready.done():
                self.ready.set_result(None)
        elif kind == "output":
            if self.cell is not None and type(message.get("text")) is str:
                self.session.channel.send({"type": "output", "step": self.session.host.number, "text": message["text"]})
        elif kind == "interrupted":
            if self.cell is not None:
                self.session.on_interrupted()
        elif kind in ("suspended", "completed", "failed") and message.get("step") == self.step and self.cell is not None:
            self.cell.on_message(message)


class RunnerCell:
    seconds = None

    def __init__(self, session, runner):
        self.session, self.runner = session, runner
        self.message = None
        self.is_suspended = False
        runner.cell = self

    @classmethod
    def start(cls, session, runner, frame, input_data):
        cell = cls(session, runner)
        source = {key: frame[key] for key in ("source", "ref", "restricted", "checked") if key in frame}
        data = {} if input_data is None else {"input_data": input_data}
        try:
            runner.begin_step("cell", frame, cell=frame["cell"], **source, **data)
        except CellStop as stop:
            runner.step -= 1
            cell.message = {"type": "failed", "kind": stop.kind, "error": str(stop), "output": ""}
        return cell

    @property
    def runner_pid(self):
        return self.runner.pid

    def on_message(self, message):
        content = {key: value for key, value in message.items() if key not in ("step", "digest", "now", "waited")}
        content.pop("interrupted_after", None)  # counted from another step
        if content["type"] == "suspended":
            content["calls"] = [self._translate(call) for call in content["calls"]]
        self.message = content
        self.session.changed.set()

    def _translate(self, call):
        index = self.session.next_call_index()
        self.runner.calls[index] = call["call"]
        return {**call, "call": index}

    def take_message(self):
        message, self.message = self.message, None
        self.is_suspended = message["type"] == "suspended"
        return message

    def take_output(self):
        return {"output": ""}  # the runner sends it with its next message

    def resume(self, frame):
        """Passes a step on. A step with results of calls by the socket, too: the timers of the code are not due then."""
        if not self.is_suspended:  # its code runs, or its next message goes to the host in this step
            return
        self.is_suspended = False
        results = [
            {**result, "call": self.runner.calls.pop(result["call"], UNKNOWN_CALL)} for result in frame.get("results", [])
        ]
        stop = {"stop": frame["stop"]} if "stop" in frame else {}
        try:
            self.runner.begin_step("resume", frame, results=results, **stop)
        except CellStop as problem:
            self.runner.step -= 1
            self.session.stop({"kind": problem.kind, "error": str(problem)})
            self.runner.begin_step("resume", frame, results=[], stop=str(problem))

    def interrupt(self):
        end_process(self.runner.pid, signal.SIGINT)

    def stop(self, is_last):
        """The runner ends the cell. It can't while it waits for a process, so its processes end after a while."""
        if self.is_suspended:
            return
        for pid in descendants([self.runner.pid]) if is_last else ():
            end_process(pid, signal.SIGKILL)
        end_process(self.runner.pid, signal.SIGINT)

    def finish(self):
        self.runner.cell = None


def references(members):
    """Returns the references of the values that a step needs, each once."""
    outcomes = (result["outcome"] for result in members.get("results", ()))
    containers = (members, members.get("input_data", {}), *outcomes)
    return dict.fromkeys(container["ref"] for container in containers if "ref" in container)
