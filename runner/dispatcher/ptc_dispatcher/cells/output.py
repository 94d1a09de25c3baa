"""The output of processes: read from pipes as it comes, bounded, and sent to the host at intervals.

A pipe holds 64 KiB: a process that prints more than the dispatcher reads waits for it. Keeps the head and the tail.
"""

import asyncio
import codecs
import os
from time import monotonic

CHUNK_BYTES = 1 << 16
STREAM_SECONDS = 0.25  # between two output messages of a cell
STREAM_CHARACTERS = 4_000
MINIMUM_STEP_CHARACTERS = 1_000  # that every step may print, even after much output of its cell
RESERVED_CHARACTERS = 200  # for the omission marker and for notes
CHARACTERS_PER_FRAME_BYTE = 1 / 16  # JSON in ASCII takes up to 12


class PipeOutput:
    """The write ends are `stdout` and `stderr`, until `close_write_ends`."""

    def __init__(self, session):
        self.session = session
        frame_characters = int(session.channel.frame_limit * CHARACTERS_PER_FRAME_BYTE)
        self.capacity = self.remaining = min(session.limits["captured_characters"], frame_characters)
        self.last_sent = monotonic()
        self.clear()
        self.readers = {}  # descriptor -> decoder
        self.closed = asyncio.get_running_loop().create_future()
        self.stdout, self.stderr = self._open(), self._open()

    def _open(self):
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        self.readers[reader] = codecs.getincrementaldecoder("utf-8")("replace")
        asyncio.get_running_loop().add_reader(reader, self._read, reader)
        return writer

    def close_write_ends(self):
        os.close(self.stdout)
        os.close(self.stderr)

    def clear(self):
        self.head, self.tail, self.dropped = "", "", 0

    def _read(self, reader):
        """Reads once. Returns False when there is nothing to read."""
        try:
            data = os.read(reader, CHUNK_BYTES)
        except BlockingIOError:
            return False
        self._add(self.readers[reader].decode(data, not data))
        if not data:
            self._close(reader)
        return bool(data)

    def _close(self, reader):
        asyncio.get_running_loop().remove_reader(reader)
        os.close(reader)
        del self.readers[reader]
        if not self.readers and not self.closed.done():
            self.closed.set_result(None)

    def _add(self, text):
        if not text:
            return
        limit = self.limit
        head_limit = limit // 2
        rest = text
        if not self.tail and len(self.head) < head_limit:
            free = head_limit - len(self.head)
            self.head, rest = self.head + text[:free], text[free:]
        self.tail += rest
        excess = len(self.tail) - (limit - head_limit)
        if excess > 0:
            self.dropped += excess
            self.tail = self.tail[excess:]
        now = monotonic()
        if self.session.is_running and now - self.last_sent >= STREAM_SECONDS:
            self.last_sent = now
            text = text[-STREAM_CHARACTERS:]
            self.session.channel.send({"type": "output", "step": self.session.host.number, "text": text})

    @property
    def limit(self):
        """Characters that the step may print."""
        free = max(self.remaining, min(MINIMUM_STEP_CHARACTERS, self.capacity))
        return max(free - RESERVED_CHARACTERS, free // 2)

    def take(self, note=""):
        """Returns the output since the last take, and the note."""
        for reader in list(self.readers):
            while reader in self.readers and self._read(reader):
                pass
        cut = f"\n[... {self.dropped} characters cut ...]\n" if self.dropped else ""
        text = self.head + cut + self.tail
        self.clear()
        self.remaining -= len(text)
        separator = "\n" if note and text and not text.endswith("\n") else ""
        return text + separator + note

    def close(self):
        for reader in list(self.readers):
            self._close(reader)
