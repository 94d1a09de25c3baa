"""The order of steps: receives frames, answers most of them, and passes the next step to the session.

| frame            | state of the runner                    | action                                                  |
|------------------|----------------------------------------|---------------------------------------------------------|
| hello, step of N | N was executed, its result is kept     | as below, with any fence                                |
| any              | fence lower than the highest seen      | refuse: fenced                                          |
| hello            | any                                    | configure the session, or refuse: invalid               |
| value            | any                                    | add the piece; refuse once when a transfer is damaged   |
| snapshot         | any                                    | send the snapshot, or the reason why there is none      |
| step of number N | N was executed, same digest            | send the stored result                                  |
| step of number N | N was executed, another digest         | refuse: fenced. A run that was reset has such a step    |
| restore          | new: no step was executed              | restore the snapshot                                    |
| read_file        | between two cells                      | send the part of the file, or the reason why not        |
| cell, file,      | unusable, or another step is expected  | refuse: invalid                                         |
| resume           | a referenced value is missing          | refuse: incomplete                                      |
|                  | ready, and it is the expected step     | begin the step                                          |

An activity may execute several steps before they are recorded. When its attempt is lost, the next one requests them
again, with lower fences: so the results of steps that are not recorded yet are kept (`KeptResults`).
"""

import sys

from ..original_builtins import lazy_import
from .incoming_values import IncomingValues
from .kept_results import KeptResults

PROTOCOL = 5


class StepProtocol:
    """`number`, `digest` and `timing` are of the last step. `unusable`: why a restore failed, if one did."""

    def __init__(self, session, channel):
        self.session, self.channel = session, channel
        self.values = IncomingValues()
        self.session_id = None  # until the first hello
        self.fence = []  # the highest seen: [epoch, step, attempt]
        self.number, self.digest, self.timing = 0, None, {}
        self.results = KeptResults()
        self.unusable = None

    def next_step(self, expected_type, should_read=lambda: True):
        """Blocks until the expected step arrives. Returns None when `should_read` returned False."""
        while True:
            frame = self._receive(should_read)
            if frame is None:
                return None
            if frame["fence"] < self.fence:
                if frame["type"] == "hello" and frame["fence"][1] in self.results:
                    self._hello(frame)
                elif not self._repeat_result(frame):
                    self._refuse(frame, "fenced", f"{frame['fence']} is older than {self.fence}")
                continue
            if frame["fence"] != self.fence:
                self.values.clear()
            self.fence = frame["fence"]
            match frame["type"]:
                case "hello":
                    self._hello(frame)
                case "value":
                    self._receive_value_piece(frame)
                case "snapshot":
                    self._snapshot_protocol().send_snapshot(self.session, frame, idle=expected_type == "cell")
                case _:
                    if self._accept_step(frame, expected_type):
                        return frame

    def _accept_step(self, frame, expected_type):
        """Begins the step and returns True when it is the expected one. Answers every other step."""
        kind, number = frame["type"], frame["step"]
        if kind == "read_file" and expected_type == "cell":
            lazy_import("ptc_runner.files").send_part(self.channel, frame)  # elsewhere the dispatcher has the files
            return False
        if kind == "file":  # a cell that is suspended stays so
            expected_type = "file"
        if self._repeat_result(frame):
            return False
        if number in self.results:
            self._refuse(frame, "fenced", f"step {number} has another digest here")
        elif kind == "restore" and self.number == 0 and not self.values.missing(frame):
            self._snapshot_protocol().restore_snapshot(self.session, frame)
        elif self.unusable or number != self.number + 1 or kind != expected_type:
            expected = f"expected {expected_type} as step {self.number + 1}"
            self._refuse(frame, "invalid", f"{expected}, got {kind} as step {number}")
        elif missing := self.values.missing(frame):
            self._refuse(frame, "incomplete", f"step {number} needs value {missing}, which did not arrive")
        else:
            self.begin_step(frame)
            return True
        return False

    def _repeat_result(self, frame):
        """Sends the kept result of this step; returns False when there is none with its digest."""
        result = self.results.get(frame.get("step"), frame.get("digest"))
        if result is not None:
            self.channel.send(result)
        return result is not None

    def begin_step(self, frame):
        self.results.forget(frame.get("recorded", self.number))
        self.number, self.digest = frame["step"], frame["digest"]
        self.timing = {key: frame[key] for key in ("now", "waited") if key in frame}
        self.session.begin_step(self.number)

    def send_result(self, message):
        """Sends the result of the current step, and stores it for a repeated request.

        Every client that is attached to the sandbox receives it, so it names its step, and the time at which the step
        was executed: a repeated request may have another time.
        """
        result = {**message, "step": self.number, "digest": self.digest, **self.timing}
        size = self.channel.send(result)
        self.results.add(self.number, self.digest, result, size)

    def _snapshot_protocol(self):
        return lazy_import("ptc_runner.snapshot.snapshot_protocol")  # few sandboxes need it, and it imports pickle

    def _receive(self, should_read):
        while True:
            try:
                return self.channel.receive(should_read)
            except MemoryError:
                if not self.values.release_memory():
                    raise

    def _receive_value_piece(self, frame):
        if frame["fence"][1] <= self.number:  # of a step that has begun: its sender only waits for the result
            return
        problem = self.values.add(frame["value"], frame["piece"], frame["text"], frame["last"])
        if problem:
            self._refuse(frame, "incomplete", problem)

    def _hello(self, frame):
        if frame["protocol"] != PROTOCOL or self.session_id not in (None, frame["session"]):
            self._refuse(frame, "invalid", "this runner belongs to another session or speaks another protocol")
            return
        limits = frame["limits"]
        self.channel.frame_limit = min(limits["frame_bytes"], 1 << 24)
        self.values.memory_bytes = limits["memory_bytes"]
        self.session.configure(frame, is_first=self.session_id is None)
        self.session_id = frame["session"]
        language = f"Python {sys.version.split()[0]}"
        identity = {"session": self.session_id, "step": self.number, "language": language}
        self.channel.send({"type": "ready", "protocol": PROTOCOL, **identity})

    def _refuse(self, frame, kind, reason):
        # Every client that is attached to the sandbox receives the refusal. The fence identifies the sender.
        identity = {"step": self.number, "fence": frame["fence"]}
        self.channel.send({"type": "refused", **identity, "kind": kind, "reason": reason[:1_000]})
