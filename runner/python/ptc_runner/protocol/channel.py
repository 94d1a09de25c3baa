"""Frames between runner and host, over two private descriptors.

A frame is a 4-byte big-endian length, then that much JSON: ASCII to the host, UTF-8 from it. The text of a value
follows its JSON after a line break, because parsing it twice would take longer. A frame is shorter than 16 MiB and its
text has no zero byte, so a frame always begins with a zero byte and has no other that could begin one: after a
connection that broke in the middle of a frame, the next zero byte is the next frame.

1. A frame is written whole or the process ends.
2. A forked child writes nothing.
3. No frame is lost when memory runs out: `receive` can be called again.
"""

import os
from os import read, write  # the program may replace the functions of `os`

from ..errors import HostDisconnected
from ..process import is_forked_child
from .json_codec import dumps, loads

OPENING_BRACE_BYTE = 0x7B


class Channel:
    """Sends and receives frames."""

    def __init__(self):
        # User code and its children must not find the protocol on 0, 1, 2 or inherit it by accident.
        self.input_fd, self.output_fd = os.dup(0), os.dup(1)
        self.buffer = FrameBuffer()
        self.chunk = self.frame = None  # read, but not processed: they survive a MemoryError
        self.frame_limit = 1 << 24
        self.sending = False

    def send(self, message):
        """Returns the number of bytes of the frame."""
        if is_forked_child():
            return 0
        body = dumps(message).encode("ascii")
        if len(body) >= self.frame_limit:
            raise ValueError(f"a frame of {len(body)} bytes is over the limit of {self.frame_limit}")
        view = memoryview(len(body).to_bytes(4, "big") + body)
        self.sending = True
        try:
            while view:
                view = view[write(self.output_fd, view) :]
        finally:
            self.sending = False
        return len(body)

    def receive(self, should_read=lambda: True):
        """Returns the next frame, or None when `should_read` returned False. Can be called again after a MemoryError.

        `should_read` blocks until the host has written something (True) or something else is ready (False).
        """
        while True:
            self.frame = self.frame or self.buffer.next_frame()
            if self.frame is not None:
                message, self.frame = parse_frame(self.frame), None
                if message is None:
                    continue
                return message
            if not self.chunk and not should_read():
                return None
            self.chunk = self.chunk or read(self.input_fd, 1 << 16)
            if not self.chunk:
                raise HostDisconnected()
            self.buffer.push(self.chunk)
            self.chunk = None


class FrameBuffer:
    """Finds the frames in a stream of bytes."""

    def __init__(self):
        self.buffer = bytearray()
        self.searched = 0  # bytes of the first frame in which no other frame begins

    def push(self, data):
        self.buffer += data

    def next_frame(self):
        """Returns the next complete frame; None when there is none yet."""
        while True:
            start = self.buffer.find(0)
            if start != 0:  # the rest of a frame of a dead sender, or noise: skip to a possible start of a frame
                self._drop(len(self.buffer) if start < 0 else start)
            if len(self.buffer) < 5:
                return None
            end = 4 + int.from_bytes(self.buffer[:4], "big")
            if self.buffer[4] != OPENING_BRACE_BYTE:  # a zero byte, but not the first byte of a length
                self._drop(1)
                continue
            cut = self.buffer.find(0, max(4, self.searched), end)
            if cut >= 0:  # a new frame begins inside this one: the sender of this one died
                self._drop(cut)
                continue
            if len(self.buffer) < end:
                self.searched = len(self.buffer)
                return None
            with memoryview(self.buffer) as view:
                frame = bytes(view[4:end])
            self._drop(end)
            return frame

    def _drop(self, count):
        del self.buffer[:count]
        self.searched = 0


def parse_frame(frame):
    """Returns None for a frame that is mixed from two: two hosts may send at once, until one of them is refused."""
    line_end = frame.find(b"\n")
    try:
        if line_end < 0:
            return loads(frame.decode())
        text = str(memoryview(frame)[line_end + 1 :], "utf-8")  # a slice of bytes would be another copy
        return {**loads(frame[:line_end].decode()), "text": text}
    except ValueError:
        return None
