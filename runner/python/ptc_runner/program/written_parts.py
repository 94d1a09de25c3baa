"""Tells which bytes of the output file were written to stdout, and which to stderr.

Descriptors 1 and 2 append to one file, so the file has the order of all writes. Each descriptor has an open file
description of its own. Its position is the end of the last write through it, also by a child process.

| written                                                    | order | stream                                          |
|------------------------------------------------------------|-------|-------------------------------------------------|
| by `sys.stdout` and `sys.stderr`: marked before and after  | exact | exact                                           |
| otherwise (`os.write`, C, children), to one of them since  | exact | exact                                           |
| the last mark                                              |       |                                                 |
| otherwise, to both since the last mark                     | exact | exact for the last write; what is before the    |
|                                                            |       | last write to the other stream counts for that  |
| by a path (`/dev/stderr`), which opens the file again      | exact | stdout                                          |
"""

from os import O_APPEND, O_WRONLY, SEEK_CUR, SEEK_END, SEEK_SET, lseek, open as open_file

STDOUT, STDERR = 0, 1


class WrittenParts:
    def __init__(self, file, path):
        self.file = file
        self.descriptions = [open_file(path, O_WRONLY | O_APPEND) for _ in (STDOUT, STDERR)]
        self.clear()

    def clear(self):
        """Begins again; the file is empty."""
        self.parts = []  # (stream, end), in the order of writing
        self.size = 0  # of the file at the last mark
        for description in self.descriptions:
            lseek(description, 0, SEEK_SET)  # otherwise a later write could end at the old position

    def mark(self, stream=None):
        """Attributes the bytes since the last mark: to `stream`, or by the positions of the descriptions."""
        size = lseek(self.file, 0, SEEK_END)
        if size == self.size:
            return
        if size < self.size:  # truncated by the program
            self.parts, self.size = [], 0
        if stream is None:
            ends = sorted((lseek(self.descriptions[stream], 0, SEEK_CUR), stream) for stream in (STDOUT, STDERR))
            written = [(end, stream) for end, stream in ends if self.size < end <= size]
            if len(written) == 2:
                end, stream = written[0]
                self._add(stream, end)
            stream = written[-1][1] if written else STDOUT
        self._add(stream, size)

    def _add(self, stream, end):
        parts = self.parts  # another thread may clear them
        if parts and parts[-1][0] == stream:
            parts[-1] = (stream, end)
        else:
            parts.append((stream, end))
        self.size = end

    def after(self, offset):
        """Returns the parts that end after this offset."""
        self.mark()
        return [part for part in self.parts if part[1] > offset]
