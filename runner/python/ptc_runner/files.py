"""Files: writes what the host uploads, reports what a cell has left in the folder for artifacts, reads it for the host.

The dispatcher uses it, and in the embedded sandbox the runner of Python, which has no dispatcher there.

Both have the user of the programs, so a link that code has made leads only to what code itself can read. Still they
follow none, open ordinary files only, and stop at limits: a FIFO or an endless file must not stop the session.
"""

import base64
import errno
import os
import stat
from time import monotonic

from .errors import CellStop
from .protocol.incoming_values import new_sha256

FOLDER = "/tmp/out"
MAXIMUM_REPORTED = 100  # files of one cell
MAXIMUM_ENTRIES = 10_000  # that are looked at
MAXIMUM_FILE_BYTES = 1 << 30
CHUNK_BYTES = 1 << 20
MINIMUM_SECONDS = 1.5  # for reading the artifacts of a cell, also of one that was stopped
NO_MEMORY = "there is too little memory"


class Artifacts:
    """What the folder had at the end of the last cell."""

    def __init__(self):
        self.known = {}  # path -> (state of the inode, SHA-256)

    @staticmethod
    def begin_cell(mkdir=os.mkdir):  # a program may replace the function
        """Makes the folder, so that code writes into it at once."""
        try:
            mkdir(FOLDER)
        except OSError:
            pass  # it is there, or there is no room

    def take_changes(self, seconds):
        """Returns the files that are new or have other content: {"path", "bytes", "sha256" or "problem"}.

        `seconds`: what is left of the time of the cell. The host kills the sandbox some seconds after it.
        """
        found, seen, deadline = [], {}, monotonic() + max(seconds, MINIMUM_SECONDS)
        left_out = 0
        for path in self._paths():
            try:
                report, known = self._look_at(path, deadline)
            except OSError as problem:
                report, known = {"bytes": 0, "problem": problem.strerror}, None
            except MemoryError:
                report, known = {"bytes": 0, "problem": NO_MEMORY}, None
            seen[path] = known
            if report is None:
                continue
            if len(found) == MAXIMUM_REPORTED - 1:
                left_out += 1
                del seen[path]  # the next cell reports it
                continue
            found.append({"path": shown(path), **report})
        self.known = seen
        if left_out:
            found.append({"path": FOLDER, "bytes": 0, "problem": f"{left_out} more files: too many for one cell"})
        return found

    @property
    def digests(self):
        """The SHA-256 of the known files: what a snapshot saves."""
        return {path: known[1] for path, known in self.known.items() if known and known[1]}

    @digests.setter
    def digests(self, digests):
        self.known = {path: (None, digest) for path, digest in digests.items()}

    @staticmethod
    def _paths():
        if os.path.islink(FOLDER):
            return
        count = 0
        for folder, folders, files in os.walk(FOLDER):
            folders.sort()
            for name in sorted(files):
                count += 1
                if count > MAXIMUM_ENTRIES:
                    return
                yield os.path.join(folder, name)

    def _look_at(self, path, deadline):
        """Returns what to report, None for nothing, and what is known of the file."""
        status = os.lstat(path)
        state = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        earlier = self.known.get(path)
        if earlier is not None and earlier[0] == state:
            return None, earlier
        problem = problem_of(path, status)
        digest = None if problem else digest_of(path, deadline)
        if digest is None:
            return {"bytes": status.st_size, "problem": problem or "it takes too long to read"}, (state, None)
        if earlier is not None and earlier[1] == digest:
            return None, (state, digest)
        return {"bytes": status.st_size, "sha256": digest}, (state, digest)


def problem_of(path, status):
    """Returns why a file is not an artifact; None for one that is."""
    if not stat.S_ISREG(status.st_mode):
        return "it is a link" if stat.S_ISLNK(status.st_mode) else "it is not an ordinary file"
    if shown(path) != path:
        return "its name is not UTF-8"
    return f"it has more than {MAXIMUM_FILE_BYTES} bytes" if status.st_size > MAXIMUM_FILE_BYTES else None


def shown(path):
    """Returns the path with escapes in place of bytes that are not UTF-8."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def digest_of(path, deadline):
    """Returns the SHA-256 of a file; None after the deadline."""
    digest = new_sha256()
    with open_file(path) as file:
        while chunk := file.read(CHUNK_BYTES):
            digest.update(chunk)
            if monotonic() > deadline:
                return None
    return digest.hexdigest()


def open_file(path):
    """Opens an ordinary file to read it, without a buffer. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(0, "it is not an ordinary file")
    return open(descriptor, "rb", buffering=0)


def send_part(channel, frame):
    """Answers a frame `read_file`: with the bytes, as far as the file has them, or with a reason."""
    identity = {"step": frame["step"], "fence": frame["fence"]}
    try:
        with open_file(frame["path"]) as file:
            data = os.pread(file.fileno(), min(frame["bytes"], MAXIMUM_FILE_BYTES), frame["offset"])
    except (OSError, MemoryError) as problem:
        channel.send({"type": "no_snapshot", **identity, "reason": _reason(problem)})
        return
    size = channel.frame_limit // 4 // 4 * 3  # this number of bytes makes a quarter of a frame in Base64
    for start in range(0, max(len(data), 1), size):
        text = base64.b64encode(memoryview(data)[start : start + size]).decode()
        last = start + size >= len(data)
        channel.send({"type": "snapshot", **identity, "piece": start // size, "text": text, "last": last})


def write_upload(values, frame):
    """Writes the part of a frame `file`. Returns the message of its step."""
    try:
        content = base64.b64decode(values.take(frame["ref"]), validate=True)
        write_part(frame["path"], frame["offset"], content)
        return {"type": "completed"}
    except (OSError, MemoryError) as problem:
        return {"type": "failed", "kind": "code_error", "error": _reason(problem)}
    except (TypeError, ValueError):
        return {"type": "failed", "kind": "code_error", "error": "the content is not Base64"}
    except CellStop as stop:
        return {"type": "failed", "kind": stop.kind, "error": str(stop)}
    finally:
        values.clear()


def _reason(problem):
    return NO_MEMORY if isinstance(problem, MemoryError) else problem.strerror


def write_part(path, offset, content):
    """Writes a part of a file. The first part replaces what was there. Raises OSError."""
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    except FileExistsError:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from None
    if offset == 0 and os.path.lexists(path) and not os.path.isdir(path):
        os.unlink(path)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "it is not an ordinary file")
        view = memoryview(content)
        while view:
            count = os.pwrite(descriptor, view, offset)
            view, offset = view[count:], offset + count
    finally:
        os.close(descriptor)
