"""Frames between runner and host.

A frame is a 4-byte big-endian length, then that much ASCII JSON. It is shorter than 16 MiB and JSON text has no zero
byte, so a frame always begins with a zero byte and has no other that could begin one: after a connection that broke in
the middle of a frame, the next zero byte is the next frame.
"""

import os
import sys
from os import read, write  # the program may replace those of `os`

from .errors import Closed
from .own_process import is_forked
from .wire_json import dumps, loads

EMBEDDED = sys.platform == "emscripten"
OPENING_BRACE = 0x7B


class Channel:
    """Frames over two private descriptors."""

    def __init__(self):
        # User code and its children must not find the protocol on 0, 1, 2 or inherit it by accident.
        self.source, self.sink = os.dup(0), os.dup(1)
        self.buffer = bytearray()
        self.piece = self.frame = None  # read, and not yet put to use
        self.limit = 1 << 24
        self.sending = False

    def send(self, message):
        if is_forked():
            return
        body = dumps(message).encode("ascii")
        if len(body) >= self.limit:
            raise ValueError(f"a frame of {len(body)} bytes is over the limit of {self.limit}")
        view = memoryview(len(body).to_bytes(4, "big") + body)
        self.sending = True
        try:
            while view:
                view = view[write(self.sink, view) :]
        finally:
            self.sending = False

    def receive(self, must_read=lambda: True):
        """The next frame. Loses nothing when there is no memory for it: it can be asked for again.

        `must_read` may wait for something else as well; when it says no, there is no frame (None).
        """
        while True:
            self.frame = self.frame or self._next()
            if self.frame is not None:
                message, self.frame = _parse(self.frame), None
                if message is None:
                    continue
                return message
            if not self.piece and not must_read():
                return None
            self.piece = self.piece or read(self.source, 1 << 16)
            if not self.piece:
                raise Closed()
            self.buffer += self.piece
            self.piece = None

    def _next(self):
        while True:
            start = self.buffer.find(0)
            if start != 0:  # the rest of a frame whose sender died, or noise: skip to where a frame can begin
                del self.buffer[: len(self.buffer) if start < 0 else start]
            if len(self.buffer) < 5:
                return None
            end = 4 + int.from_bytes(self.buffer[:4], "big")
            if self.buffer[4] != OPENING_BRACE:  # a zero, but not that of a length
                del self.buffer[:1]
                continue
            cut = self.buffer.find(0, 4, end)
            if cut >= 0:  # a new frame begins inside this one: its sender died half-way
                del self.buffer[:cut]
                continue
            if len(self.buffer) < end:
                return None
            frame = bytes(self.buffer[4:end])
            del self.buffer[:end]
            return frame


def _parse(frame):
    """None for what is made of two frames: two hosts are sending at once, until one of them learns that it is fenced off."""
    try:
        return loads(frame.decode())
    except ValueError:
        return None
