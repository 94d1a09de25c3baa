"""Makes and restores snapshots: the complete state of a program between two cells, as bytes.

  pickler.py          objects, by value; classes.py and instances.py contain reducers
  constructors.py     the functions that a snapshot calls when it is read
  set_order.py        refuses sets whose order would change
  unsupported.py      state that can't be copied: tasks, threads, open files
  settings.py         settings of Python and of the process
  module_digests.py   digests of the loaded modules
  files.py            /tmp

A snapshot is compressed: a line of JSON, then a sequence of pickles. The package header lists the invariants.
"""

import gc
import importlib
import io
import json
import linecache
import os
import sys
import time
import zlib

from . import files, module_digests, set_order, settings, unsupported
from ..process import EMBEDDED
from .classes import is_cell_class
from .pickler import ProgramPickler, ProgramUnpickler
from ..errors import UnsupportedState

FORMAT = 2
MAXIMUM_RECURSION = 2_000  # while copying: with a higher limit pickle could overflow the stack
MAXIMUM_REASON_CHARACTERS = 200
PYTHON = f"{sys.implementation.cache_tag} {sys.version} {sys.platform} {sys.byteorder}"


class CompressedWriter:
    """Compresses data. Raises UnsupportedState after `limit` bytes of data, and after `deadline`."""

    def __init__(self, limit, deadline):
        self.limit, self.deadline = limit, deadline
        self.compressor = zlib.compressobj(1)
        self.pieces = []

    def write(self, data):
        self.limit -= len(data)
        if self.limit < 0:
            raise UnsupportedState("more bytes than a snapshot may have")
        if time.monotonic() > self.deadline:
            raise UnsupportedState("more than can be copied in time")
        self.pieces.append(self.compressor.compress(data))

    def close(self):
        return b"".join((*self.pieces, self.compressor.flush()))


def dump(session, limit, seconds):
    """Returns the program as bytes. Raises UnsupportedState with the reason when it can't be saved."""
    limit = min(limit, _available_bytes(session.limits["memory_bytes"]))
    writer = CompressedWriter(limit, time.monotonic() + seconds)
    unsupported.check_idle(session)
    files.check_outside(session.process_started)
    names = [name for name, module in sys.modules.items() if name != "__main__" and module is not None]
    writer.write(json.dumps({"format": FORMAT, "python": PYTHON, "modules": names}).encode() + b"\n")
    captured = settings.capture(session)
    try:
        sys.setrecursionlimit(min(captured["recursion"], MAXIMUM_RECURSION))
        entries = files.read_files(limit)
        _dump_all(session, writer, entries, captured)
    finally:
        sys.setrecursionlimit(captured["recursion"])
        settings.apply_deterministic(session, captured)  # code of the program may have run: undo its reads
    return writer.close()


def _dump_all(session, writer, entries, captured):
    namespace = session.namespace.variables
    pickler = ProgramPickler(writer, namespace, session.loop)
    pickler.dump(entries)
    pickler.dump(list(namespace))
    for name, value in namespace.items():
        _dump_value(pickler, name, value)
    _dump_value(pickler, "settings", captured)
    set_order.check(pickler.sets.values())
    unsupported.check_all_reached(pickler)
    unsupported.check_idle(session)  # code of the program may have run and started something
    pickler.dump(
        {
            "call_index": session.call_index,
            "artifacts": session.artifacts.digests if session.artifacts else {},
            "sources": {
                file: linecache.cache[file] for file in sorted(pickler.source_files) if file in linecache.cache
            },
            "modules": module_digests.digest_modules(session),
            "settings": settings.fixed_settings(),
        }
    )


def _dump_value(pickler, name, value):
    try:
        pickler.dump(value)
    except RecursionError:
        raise UnsupportedState(f"{name}: it is nested too deeply") from None
    except MemoryError:
        raise
    except Exception as problem:
        raise UnsupportedState(f"{name}: {problem}"[:MAXIMUM_REASON_CHARACTERS]) from None


def _available_bytes(memory):
    """Returns how many bytes a copy may have, far below the memory limit of the sandbox."""
    used = 0
    if not EMBEDDED:
        with open("/proc/self/statm") as file:
            used = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        disk = os.statvfs(files.DIRECTORY)
        used += (disk.f_blocks - disk.f_bfree) * disk.f_frsize  # these files are in memory
    return min(memory // 8, max(memory - used, 0) // 4)


def restore(session, data):
    """Restores a snapshot in a fresh runner. After an exception of any class, the runner is unusable."""
    first_line, _, body = zlib.decompress(data).partition(b"\n")
    header = json.loads(first_line)
    if header["format"] != FORMAT or header["python"] != PYTHON:
        raise UnsupportedState("the snapshot was made by another Python")
    for name in header["modules"]:
        importlib.import_module(name)
    namespace = session.namespace.variables
    unpickler = ProgramUnpickler(io.BytesIO(body), namespace, session.loop)
    entries = unpickler.load()
    names = unpickler.load()
    values = [unpickler.load() for _ in names]
    captured = unpickler.load()
    trailer = unpickler.load()
    _check_keys()
    namespace.clear()
    namespace.update(zip(names, values))
    files.write_files(entries)
    linecache.cache.update(trailer["sources"])
    session.call_index = trailer["call_index"]
    if session.artifacts:
        session.artifacts.digests = trailer["artifacts"]
    settings.apply(session, captured)
    _compare("setting", trailer["settings"], settings.fixed_settings())
    _compare("the module", trailer["modules"], module_digests.digest_modules(session))


def _check_keys():
    """Raises UnsupportedState for a key that was hashed before it was complete: it references its own dict or set."""
    for container in gc.get_objects():
        if type(container) in (dict, set, frozenset):
            for key in container:
                if is_cell_class(type(key)) and key not in container:
                    raise UnsupportedState(
                        f"a {type(key).__qualname__} that is a key of a container that it references"
                    )


def _compare(kind, expected, actual):
    for name in sorted({*expected, *actual}):
        if expected.get(name) != actual.get(name):
            raise UnsupportedState(f"{kind} {name} differs")
