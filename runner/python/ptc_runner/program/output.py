"""Captures what user code and its children print. Keeps the head and the tail, and counts the rest."""

import codecs
import fcntl
import io
import os
import sys
from os import fstat, ftruncate, pread  # the program may replace those of `os`, and `monotonic`
from time import monotonic

from ..process import EMBEDDED, is_forked_child

EMBEDDED_FILE = "/dev/output"  # created by realm-main.mjs, outside of the quota
# In an embedded interpreter these devices are the streams of the protocol. They become links to other files.
EMBEDDED_DEVICES = {"/dev/stdin": os.devnull, "/dev/stdout": EMBEDDED_FILE, "/dev/stderr": EMBEDDED_FILE}
CHUNK_BYTES = 1 << 20
STREAM_SECONDS = 0.25  # between two output messages of a cell
STREAM_CHARACTERS = 4_000
MINIMUM_STEP_CHARACTERS = 1_000  # that every step may print, whatever its cell has printed before
RESERVED_CHARACTERS = 200  # for the mark of a cut and for hints: the host cuts at the limit, and would cut them


class OutputCapture:
    def __init__(self, channel):
        self.channel = channel
        self.step = 0
        self.set_limit(20_000)
        self.begin_cell()
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.unread = 0
        self._clear()
        self._redirect()
        self.streams = sys.stdin, sys.stdout, sys.stderr

    def _redirect(self):
        # One file without a name behind descriptors 1 and 2 keeps the order of prints, C extensions and children;
        # a pipe would need a thread that drains it. RLIMIT_FSIZE bounds the file, and so does draining it now and then.
        self.file = os.open(EMBEDDED_FILE, os.O_RDWR) if EMBEDDED else os.memfd_create("output")
        fcntl.fcntl(self.file, fcntl.F_SETFL, os.O_APPEND)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        os.dup2(self.file, 1)
        os.dup2(self.file, 2)
        if EMBEDDED:
            for path, target in EMBEDDED_DEVICES.items():
                os.unlink(path)
                os.symlink(target, path)
        sys.stdin = sys.__stdin__ = io.TextIOWrapper(io.FileIO(0, closefd=False))
        # Under both names: a program ends a redirection of its own by `sys.stdout = sys.__stdout__`.
        sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__ = [
            io.TextIOWrapper(CapturedFile(fd, self), encoding="utf-8", errors="backslashreplace", write_through=True)
            for fd in (1, 2)
        ]

    def set_limit(self, characters):
        self.capacity = characters

    def begin_cell(self):
        """Starts the interval, so a short cell sends no output message before its result."""
        self.last_sent = monotonic()
        self.remaining = self.capacity  # characters that the cell may print

    @property
    def limit(self):
        """Characters that the step may print."""
        free = max(self.remaining, min(MINIMUM_STEP_CHARACTERS, self.capacity))
        return max(free - RESERVED_CHARACTERS, free // 2)

    def _clear(self):
        self.head, self.tail, self.dropped = "", "", 0

    def on_write(self, count):
        """User code wrote `count` bytes. Drains the file when it is large, and sends output now and then."""
        if is_forked_child():  # its parent drains the file
            return
        self.unread += count
        now = monotonic()
        if self.unread < CHUNK_BYTES and now - self.last_sent < STREAM_SECONDS:
            return
        text = self._drain()
        if text and now - self.last_sent >= STREAM_SECONDS:
            self.last_sent = now
            self.channel.send({"type": "output", "step": self.step, "text": text[-STREAM_CHARACTERS:]})

    def _drain(self):
        """Moves what was printed from the file to the bounded text. Returns the end of it."""
        self.unread = 0
        text, offset = "", 0
        while (left := fstat(self.file).st_size - offset) > 0:  # checked again: a child may print meanwhile
            data = pread(self.file, min(left, CHUNK_BYTES), offset)  # not more than there is: memory may be short
            if not data:  # truncated meanwhile
                break
            text = self.decoder.decode(data)
            self.add(text)
            offset += len(data)
        ftruncate(self.file, 0)
        return text

    def add(self, text):
        limit = self.limit
        head_limit = limit // 2
        if not self.tail and len(self.head) < head_limit:
            free = head_limit - len(self.head)
            self.head, text = self.head + text[:free], text[free:]
        self.tail += text
        excess = len(self.tail) - (limit - head_limit)
        if excess > 0:
            self.dropped += excess
            self.tail = self.tail[excess:]

    def take(self, note=""):
        """Returns what was printed since the last take, and the note of the runner."""
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:  # user code may have closed or replaced it
                pass
        self._drain()
        cut = f"\n[... {self.dropped} characters cut ...]\n" if self.dropped else ""
        text = self.head + cut + self.tail
        self._clear()
        self.remaining -= len(text)
        separator = "\n" if note and text and not text.endswith("\n") else ""
        return text + separator + note


class CapturedFile(io.FileIO):
    def __init__(self, descriptor, output):
        super().__init__(descriptor, "wb", closefd=False)
        self.output = output

    def write(self, data):
        count = super().write(data)
        self.output.on_write(count)
        return count
