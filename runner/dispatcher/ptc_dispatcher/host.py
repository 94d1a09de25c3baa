"""Steps from the host. Values are passed on to runners as they came: the dispatcher does not parse them.

In a sandbox with a network, frames are read while a cell runs, too: those of the network are handled at once, and the
others wait for the end of the step.
"""

import asyncio
import hashlib
import json
from collections import deque

from ptc_runner.errors import CellStop, HostDisconnected
from ptc_runner.protocol.incoming_values import OUT_OF_MEMORY, IncomingValue, IncomingValues
from ptc_runner.protocol.step_protocol import StepProtocol

MAXIMUM_WAITING = 16  # frames; further ones stay in the pipe until the step ends
NO_SNAPSHOT = "the state of several languages is not saved: their steps are repeated"


class Host(StepProtocol):
    def __init__(self, session, channel):
        super().__init__(session, channel)
        self.values = ForwardedValues()
        self.may_read = False
        self.waiting = deque()  # frames that came while a cell ran

    async def next_step(self, expected_type):
        """Waits for the expected step. Raises HostDisconnected when the host has closed the connection."""
        loop = asyncio.get_running_loop()
        while True:
            loop.remove_reader(self.channel.input_fd)
            frame = super().next_step(expected_type, self._take_readiness)
            if frame is not None:
                if self.session.tunnel is not None:
                    loop.add_reader(self.channel.input_fd, self._read_while_running)
                return frame
            readable = loop.create_future()
            loop.add_reader(self.channel.input_fd, lambda: readable.done() or readable.set_result(None))
            try:
                await readable
            finally:
                loop.remove_reader(self.channel.input_fd)
            self.may_read = True

    def _take_readiness(self):
        """Each readiness of the descriptor allows one read, so that reading never blocks."""
        may_read, self.may_read = self.may_read, False
        return may_read

    def _receive(self, should_read):
        while True:
            frame = self.waiting.popleft() if self.waiting else self._receive_frame(should_read)
            if frame is None or frame["type"] != "network":
                return frame

    def _receive_frame(self, should_read):
        """Returns the next frame. What it says about the network has been done."""
        frame = super()._receive(should_read)
        tunnel = self.session.tunnel
        if frame is not None and tunnel is not None:
            if frame["type"] == "network":
                tunnel.receive(frame)
            elif frame["type"] == "hello" and frame["fence"] >= self.fence:
                tunnel.attach(frame["fence"])
        return frame

    def _read_while_running(self):
        self.may_read = True
        try:
            while (frame := self._receive_frame(self._take_readiness)) is not None:
                if frame["type"] != "network":
                    self.waiting.append(frame)
            has_ended = False
        except HostDisconnected:  # the next step will find out
            has_ended = True
        if has_ended or len(self.waiting) >= MAXIMUM_WAITING:
            asyncio.get_running_loop().remove_reader(self.channel.input_fd)

    def _snapshot_protocol(self):
        return NoSnapshots


class NoSnapshots:
    """The state of processes can't be saved."""

    @staticmethod
    def send_snapshot(session, frame, idle):
        identity = {"step": frame["step"], "fence": frame["fence"]}
        session.channel.send({"type": "no_snapshot", **identity, "reason": NO_SNAPSHOT})

    @staticmethod
    def restore_snapshot(session, frame):
        session.host.unusable = NO_SNAPSHOT
        session.host.begin_step(frame)
        session.host.send_result({"type": "restored", "problem": NO_SNAPSHOT})


class ForwardedValue(IncomingValue):
    """The UTF-8 text of a value, in the pieces in which it came."""

    def __init__(self):
        super().__init__()
        self.digest = hashlib.sha256()

    def add(self, text, memory_bytes):
        self.count += 1
        self.characters += len(text)
        if self.problem is not None:
            return
        if 2 * self.characters > memory_bytes:
            self.fail(OUT_OF_MEMORY)
            return
        data = text.encode()
        self.digest.update(data)
        self.pieces.append(data)

    def finish(self, reference):
        if self.problem is None and self.digest.hexdigest() != reference:
            return False
        self.is_complete = True
        return True


class ForwardedValues(IncomingValues):
    value_type = ForwardedValue

    def __init__(self):
        super().__init__()
        self.kept = {}  # values of later steps, too

    def keep(self, reference):
        self.kept[reference] = self.values[reference]

    def take(self, reference):
        """Returns the parsed value."""
        return json.loads(b"".join(self.pieces_of(reference)))

    def pieces_of(self, reference):
        """Returns the pieces of the text. Raises CellStop when the value does not fit into the memory."""
        value = self.values.get(reference) or self.kept[reference]
        if value.problem is not None:
            rule = f"a value of {value.characters} characters can't be given to the code: {value.problem}"
            raise CellStop("limit_exceeded", f"{rule}. Ask the tool for less.")
        return value.pieces
