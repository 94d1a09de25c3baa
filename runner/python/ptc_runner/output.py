"""Captures what user code and its children print, bounded: head and tail are kept, the middle is counted."""

import codecs
import fcntl
import io
import os
import sys
from os import fstat, ftruncate, pread  # the program may replace those of `os`, and `monotonic`
from time import monotonic

from .channel import EMBEDDED
from .own_process import is_forked

EMBEDDED_FILE = "/dev/output"  # made by inside.mjs, which counts it to no quota
# What the three descriptors of an embedded interpreter are, as a link; there they are devices of the protocol's streams.
EMBEDDED_DEVICES = {"/dev/stdin": os.devnull, "/dev/stdout": EMBEDDED_FILE, "/dev/stderr": EMBEDDED_FILE}
CHUNK = 1 << 20
PIECE_SECONDS = 0.25  # a long-running cell shows what it prints so often
PIECE_CHARACTERS = 4_000
STEP_CHARACTERS = 1_000  # that every step may say, whatever its cell has said before
NOTE_CHARACTERS = 200  # kept free for the mark of a cut and for hints: the host cuts at the limit, and would cut those


class Output:
    def __init__(self, channel):
        self.channel = channel
        self.step = 0
        self.set_limit(20_000)
        self.begin()
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.unread = 0
        self._clear()
        self._redirect()
        self.streams = sys.stdin, sys.stdout, sys.stderr

    def _redirect(self):
        # One file without a name behind descriptors 1 and 2 keeps the order of prints, C extensions and child processes;
        # a pipe would need a thread to drain it. RLIMIT_FSIZE bounds it, and so does draining from time to time.
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
        # Under both names: `sys.stdout = sys.__stdout__` is how a program ends a redirection of its own.
        sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__ = [
            io.TextIOWrapper(CountingFile(fd, self), encoding="utf-8", errors="backslashreplace", write_through=True)
            for fd in (1, 2)
        ]

    def set_limit(self, characters):
        self.capacity = characters

    def begin(self):
        """A cell begins: a quick one sends no piece before its answer."""
        self.last_piece = monotonic()
        self._leave(self.capacity)

    def _leave(self, characters):
        self.room = characters
        free = max(characters, min(STEP_CHARACTERS, self.capacity))
        self.limit = max(free - NOTE_CHARACTERS, free // 2)

    def _clear(self):
        self.head, self.tail, self.dropped = "", "", 0

    def printed(self, count):
        """User code wrote `count` bytes: keep the file small, and show a piece now and then."""
        if is_forked():  # its parent reads what it printed
            return
        self.unread += count
        now = monotonic()
        if self.unread < CHUNK and now - self.last_piece < PIECE_SECONDS:
            return
        text = self._drain()
        if text and now - self.last_piece >= PIECE_SECONDS:
            self.last_piece = now
            self.channel.send({"type": "output", "step": self.step, "text": text[-PIECE_CHARACTERS:]})

    def _drain(self):
        """Moves what was printed from the file to the bounded text; gives its tail."""
        self.unread = 0
        text, offset = "", 0
        while (left := fstat(self.file).st_size - offset) > 0:  # again at its end: a child may print meanwhile
            data = pread(self.file, min(left, CHUNK), offset)  # no more than is there: memory may be short
            if not data:  # truncated meanwhile
                break
            text = self.decoder.decode(data)
            self.add(text)
            offset += len(data)
        ftruncate(self.file, 0)
        return text

    def add(self, text):
        room = self.limit // 2
        if not self.tail and len(self.head) < room:
            taken = room - len(self.head)
            self.head, text = self.head + text[:taken], text[taken:]
        self.tail += text
        excess = len(self.tail) - (self.limit - room)
        if excess > 0:
            self.dropped += excess
            self.tail = self.tail[excess:]

    def take(self, note=""):
        """The text since the last take, and a note of the runner's own."""
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:  # user code may have closed or replaced it
                pass
        self._drain()
        cut = f"\n[... {self.dropped} characters cut ...]\n" if self.dropped else ""
        text = self.head + cut + self.tail
        self._clear()
        self._leave(self.room - len(text))
        separator = "\n" if note and text and not text.endswith("\n") else ""
        return text + separator + note


class CountingFile(io.FileIO):
    def __init__(self, descriptor, output):
        super().__init__(descriptor, "wb", closefd=False)
        self.output = output

    def write(self, data):
        count = super().write(data)
        self.output.printed(count)
        return count
