"""Captures the output of user code and its children. Keeps the head and the tail, and counts the rest.

The output is one text in the order of printing, with the parts that were printed to stderr (`WrittenParts`).

Code can close or replace the standard streams, and the next cell could not print. `restore_streams`, at the start of
each cell, decides:

| what an earlier cell has left                          | restored | said once                               |
|--------------------------------------------------------|----------|-----------------------------------------|
| `sys.stdout`, `sys.stderr`: closed, deleted or None    | yes      | yes                                     |
| `sys.stdin`, descriptor 0: the same                    | yes      | no: `exit()` closes it, and it is empty |
| `sys.stdout`, `sys.stderr`: replaced by an open object | no       | yes: it may be on purpose, such as a tee |
| descriptor 1 or 2: closed, or another file             | yes      | yes: children and libraries write there |
| `sys.__stdout__` and so on: anything                   | yes      | no: they lead back from a replacement   |
"""

import codecs
import os
import sys
from collections import deque
from fcntl import F_GETFL, fcntl  # from here on: names that the program may replace
from io import FileIO, TextIOWrapper
from os import close, dup2, fstat, ftruncate, open as open_file, pread
from time import monotonic

from ..process import EMBEDDED, is_forked_child
from .written_parts import STDERR, STDOUT, WrittenParts

EMBEDDED_FILE = "/dev/output"  # created by realm-main.mjs, outside of the quota
# In an embedded interpreter these devices are the streams of the protocol. They become links to other files.
EMBEDDED_DEVICES = {"/dev/stdin": os.devnull, "/dev/stdout": EMBEDDED_FILE, "/dev/stderr": EMBEDDED_FILE}
CHUNK_BYTES = 1 << 20
STREAM_SECONDS = 0.25  # between two output messages of a cell
STREAM_CHARACTERS = 4_000
MINIMUM_STEP_CHARACTERS = 1_000  # that every step may print, even after much output of its cell
encode_utf16 = codecs.getencoder("utf-16-le")  # now: Python imports a codec at its first use, and the program may replace `__import__`
STREAM_NAMES = "stdin", "stdout", "stderr"  # by descriptor
MAXIMUM_RANGES = 250  # of stderr in one result; the last ones are kept
MAXIMUM_PARTS = 10_000  # between two drains
RESERVED_CHARACTERS = 200  # for the omission marker and for hints: the host cuts at the limit, and would cut them


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
        self.replacements = {}  # name -> the stream of the program with that name, once the program was told

    def _redirect(self):
        # One file without a name behind descriptors 1 and 2 keeps the order of prints, C extensions and children;
        # a pipe would need a thread that drains it. RLIMIT_FSIZE bounds the file, and so does draining it regularly.
        self.file = os.open(EMBEDDED_FILE, os.O_RDWR) if EMBEDDED else os.memfd_create("output")
        self.written = WrittenParts(self.file, EMBEDDED_FILE if EMBEDDED else f"/proc/self/fd/{self.file}")
        for descriptor in (0, 1, 2):
            self._redirect_descriptor(descriptor)
        if EMBEDDED:
            for path, target in EMBEDDED_DEVICES.items():
                os.unlink(path)
                os.symlink(target, path)
        self.streams = [TextIOWrapper.__new__(TextIOWrapper) for _ in STREAM_NAMES]
        for descriptor in (0, 1, 2):
            self._open_stream(descriptor)
        sys.stdin, sys.stdout, sys.stderr = self.streams
        # Under both names: a program ends its own redirection by `sys.stdout = sys.__stdout__`.
        sys.__stdin__, sys.__stdout__, sys.__stderr__ = self.streams
        self.files = [_file_identity(descriptor) for descriptor in (0, 1, 2)]

    @property
    def descriptors(self):
        return self.file, *self.written.descriptions

    def _redirect_descriptor(self, descriptor):
        if descriptor:
            dup2(self.written.descriptions[descriptor - 1], descriptor)
            return
        null = open_file(os.devnull, os.O_RDONLY)
        if null:  # not when 0 was closed: the lowest free number is used
            dup2(null, 0)
            close(null)

    def _open_stream(self, descriptor):
        """Opens the stream, also again: the handlers of `logging` and other code have the object."""
        stream = self.streams[descriptor]
        if descriptor:
            file = CapturedFile(descriptor, self)
            TextIOWrapper.__init__(stream, file, encoding="utf-8", errors="backslashreplace", write_through=True)
        else:
            TextIOWrapper.__init__(stream, FileIO(0, closefd=False))

    def restore_streams(self):
        """Makes the streams usable for the next cell; see the table above. Returns the messages for the program.

        Runs code of the program: a replaced stream may have its own methods.
        """
        lines = []
        for descriptor, name in enumerate(STREAM_NAMES):
            if _file_identity(descriptor) != self.files[descriptor]:
                self._redirect_descriptor(descriptor)
                if descriptor:
                    lines.append(f"descriptor {descriptor} was closed or redirected by earlier code, and is restored.")
            own, current = self.streams[descriptor], getattr(sys, name, None)
            try:
                usable = _is_open(current)
            except BaseException:  # code of the program did not end in time
                setattr(sys, name, own)
                raise
            if not _is_open(own):
                self._open_stream(descriptor)
            setattr(sys, f"__{name}__", own)
            if current is own:
                self.replacements.pop(name, None)
            if not usable:
                setattr(sys, name, own)
                if descriptor:
                    lines.append(f"sys.{name} was closed by earlier code, and is restored.")
            elif descriptor and current is not own and self.replacements.get(name) is not current:
                self.replacements[name] = current
                lines.append(
                    f"sys.{name} is still the {type(current).__name__[:50]} of earlier code, and only what that passes on is "
                    f"shown. `sys.{name} = sys.__{name}__` undoes it."
                )
        return lines

    def set_limit(self, characters):
        self.capacity = characters

    def begin_cell(self):
        """Starts the interval, so a short cell sends no output message before its result."""
        self.last_sent = monotonic()
        self.remaining = self.capacity  # characters that the cell may print

    @property
    def limit(self):
        """Characters that the step may print. The host counts a character above U+FFFF as two."""
        free = max(self.remaining, min(MINIMUM_STEP_CHARACTERS, self.capacity))
        return max(free - RESERVED_CHARACTERS, free // 2) // (2 if self.is_wide else 1)

    def _clear(self):
        self.head, self.tail, self.dropped = "", "", 0
        self.is_wide = False  # True when the text has a character above U+FFFF
        self.printed = 0  # characters, with the dropped ones
        self.stderr = deque(maxlen=MAXIMUM_RANGES)  # [start, end] in the printed characters

    def on_write(self, stream, count):
        """User code wrote `count` bytes. Drains the file when it is large, and sends output at intervals."""
        self.written.mark(stream)  # by the size of the file: the program may have redirected the descriptor
        self.unread += count
        now = monotonic()
        is_full = self.unread >= CHUNK_BYTES or len(self.written.parts) >= MAXIMUM_PARTS
        if not is_full and now - self.last_sent < STREAM_SECONDS:
            return
        text = self._drain()
        if text and now - self.last_sent >= STREAM_SECONDS:
            self.last_sent = now
            self.channel.send({"type": "output", "step": self.step, "text": text[-STREAM_CHARACTERS:]})

    def _drain(self):
        """Moves the output from the file to the bounded text. Returns the end of the output."""
        self.unread = 0
        last, offset = "", 0
        while parts := self.written.after(offset):  # checked again: a child may print meanwhile
            for stream, end in parts:
                while offset < end:
                    data = pread(self.file, min(end - offset, CHUNK_BYTES), offset)  # not more: memory may be short
                    text = self.decoder.decode(data)
                    self.add(text, stream)
                    last = (last + text)[-STREAM_CHARACTERS:]
                    offset = offset + len(data) if data else end  # no data: truncated meanwhile
        ftruncate(self.file, 0)
        self.written.clear()
        return last

    def add(self, text, stream=STDOUT):
        start, self.printed = self.printed, self.printed + len(text)
        if stream == STDERR and text:
            if self.stderr and self.stderr[-1][1] == start:
                self.stderr[-1][1] = self.printed
            else:
                self.stderr.append([start, self.printed])
        self.is_wide = self.is_wide or _utf16_length(text) > len(text)
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
        """Returns the members of a result with the output since the last take, and the note of the runner as stderr."""
        for name in ("stdout", "stderr"):
            try:
                getattr(sys, name).flush()
            except Exception:  # user code may have closed or replaced it
                pass
        self._drain()
        cut = f"\n[... {self.dropped} characters cut ...]\n" if self.dropped else ""
        text = self.head + cut + self.tail
        ranges = self._ranges(len(cut))
        self._clear()
        self.remaining -= len(text)
        if note:
            separator = "\n" if text and not text.endswith("\n") else ""
            start, text = len(text), text + separator + note
            ranges.append((start, len(text)))
        if not ranges:
            return {"output": text}
        return {"output": text, "stderr": _in_utf16(text, ranges[-MAXIMUM_RANGES:])}

    def _ranges(self, cut):
        """Returns the parts of the text that were printed to stderr. `cut`: length of the marker in it."""
        head, missing = len(self.head), self.dropped - cut
        ranges = []
        for start, end in self.stderr:
            start = start if start < head else max(start - missing, head + cut)
            end = min(end, head) if end <= head + self.dropped else end - missing
            if start < end:  # not dropped
                ranges.append((start, end))
        return ranges


def _utf16_length(text):
    return len(text) if text.isascii() else len(encode_utf16(text, "surrogatepass")[0]) // 2


def _in_utf16(text, ranges):
    """Converts ascending ranges of characters to the units of the host."""
    converted, position, units = [], 0, 0
    for bounds in ranges:
        pair = []
        for bound in bounds:
            units += _utf16_length(text[position:bound])
            position = bound
            pair.append(units)
        converted.append(pair)
    return converted


def _file_identity(descriptor):
    """Returns the file behind a descriptor, and its open mode; None when the descriptor is closed."""
    try:
        status = fstat(descriptor)
        return status.st_dev, status.st_ino, fcntl(descriptor, F_GETFL) & os.O_ACCMODE
    except OSError:
        return None


def _is_open(stream):
    """Returns False for a closed or detached stream, or no stream. A stream of the program needs no `closed`."""
    try:
        return stream is not None and not getattr(stream, "closed", False)
    except Exception:  # a detached stream raises ValueError
        return False


class CapturedFile(FileIO):
    def __init__(self, descriptor, output):
        super().__init__(descriptor, "wb", closefd=False)
        self.output = output
        self.stream = descriptor - 1

    def write(self, data):
        if is_forked_child():  # its parent drains the file
            return super().write(data)
        self.output.written.mark()
        count = super().write(data)
        self.output.on_write(self.stream, count)
        return count
