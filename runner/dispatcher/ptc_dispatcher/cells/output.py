"""The output of processes: read from pipes as it comes, bounded, and sent to the host at intervals.

A pipe holds 64 KiB: a process that prints faster than the dispatcher reads waits. Stdout and stderr have a pipe each,
so their order is exact only as far as the dispatcher reads between two prints. Keeps the head and the tail of the text.
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
FRAME_BYTES_PER_CHARACTER = 8  # JSON in ASCII takes 6, and 12 for an emoji: a frame full of them is refused
MAXIMUM_RANGES = 250  # of stderr; the host drops a longer list


class Text:
    """A text with its parts: (characters, whether they came from stderr)."""

    def __init__(self):
        self.parts = []
        self.length = 0

    def append(self, text, is_error):
        if not text:
            return
        self.length += len(text)
        if self.parts and self.parts[-1][1] == is_error:
            text = self.parts.pop()[0] + text
        self.parts.append((text, is_error))

    def drop_first(self, count):
        self.length -= count
        kept = 0
        while count > 0:
            text, is_error = self.parts[kept]
            if len(text) > count:
                self.parts[kept] = (text[count:], is_error)
                break
            count -= len(text)
            kept += 1
        del self.parts[:kept]

    def error_ranges(self):
        """Returns the ranges of stderr, in UTF-16 code units."""
        ranges, at = [], 0
        for text, is_error in self.parts:
            end = at + len(text.encode("utf-16-le", "surrogatepass")) // 2
            if is_error:
                ranges.append([at, end])
            at = end
        return ranges


class PipeOutput:
    """The write ends are `stdout` and `stderr`, until `close_write_ends`.

    Masked output is sent with the messages only: a part of it could have a part of a key.
    """

    def __init__(self, session, mask=None):
        self.session, self.mask = session, mask
        frame_characters = session.channel.frame_limit // FRAME_BYTES_PER_CHARACTER
        self.capacity = self.remaining = min(session.limits["captured_characters"], frame_characters)
        self.last_sent = monotonic()
        self.clear()
        self.readers = {}  # descriptor -> (decoder, whether it is stderr)
        self.stdout, self.stderr = self._open(False), self._open(True)

    def _open(self, is_error):
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        self.readers[reader] = codecs.getincrementaldecoder("utf-8")("replace"), is_error
        asyncio.get_running_loop().add_reader(reader, self._read, reader)
        return writer

    def close_write_ends(self):
        os.close(self.stdout)
        os.close(self.stderr)

    def clear(self):
        self.head, self.tail, self.dropped = Text(), Text(), 0

    def _read(self, reader):
        """Reads once. Returns False when there is nothing to read."""
        try:
            data = os.read(reader, CHUNK_BYTES)
        except BlockingIOError:
            return False
        decoder, is_error = self.readers[reader]
        self._add(decoder.decode(data, not data), is_error)
        if not data:
            self._close(reader)
        return bool(data)

    def _close(self, reader):
        asyncio.get_running_loop().remove_reader(reader)
        os.close(reader)
        del self.readers[reader]

    def _add(self, text, is_error):
        if not text:
            return
        limit = self.limit
        head_limit = limit // 2
        free = head_limit - self.head.length if self.tail.length == 0 else 0
        self.head.append(text[:free], is_error)
        self.tail.append(text[free:], is_error)
        excess = self.tail.length - (limit - head_limit)
        if excess > 0:
            self.dropped += excess
            self.tail.drop_first(excess)
        now = monotonic()
        if self.mask is None and self.session.is_running and now - self.last_sent >= STREAM_SECONDS:
            self.last_sent = now
            shown = text[-STREAM_CHARACTERS:]
            self.session.channel.send({"type": "output", "step": self.session.host.number, "text": shown})

    @property
    def limit(self):
        """Characters that the step may print."""
        free = max(self.remaining, min(MINIMUM_STEP_CHARACTERS, self.capacity))
        return max(free - RESERVED_CHARACTERS, free // 2)

    def take(self, note=""):
        """Returns `output` and `stderr` of a message: the text since the last take, and the note, as stderr."""
        for reader in list(self.readers):
            for _ in range(2):  # a pipe is never fuller than one read; a process may go on printing
                if reader not in self.readers or not self._read(reader):
                    break
        text = self.head
        text.append(f"\n[... {self.dropped} characters cut ...]\n" if self.dropped else "", False)
        for part, is_error in self.tail.parts:
            text.append(part, is_error)
        self.clear()
        self.remaining -= text.length
        if self.mask is not None:
            text.parts = [(self.mask(part), is_error) for part, is_error in text.parts]
        ends_open = text.parts and not text.parts[-1][0].endswith("\n")
        text.append("\n" + note if note and ends_open else note, True)
        ranges = text.error_ranges()
        stderr = {"stderr": ranges} if 0 < len(ranges) <= MAXIMUM_RANGES else {}
        return {"output": "".join(part for part, _ in text.parts), **stderr}

    def close(self):
        for reader in list(self.readers):
            self._close(reader)
