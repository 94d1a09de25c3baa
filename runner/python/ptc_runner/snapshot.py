"""Snapshots: the whole state of a program between two cells, as bytes, or why that can't be. Nothing is ever left out.

  copying.py    objects, by value; classes.py and instances.py are parts of it
  sets.py       the order that sets have
  living.py     what can't be written down: tasks, threads, open files
  settings.py   what is neither a variable nor a file
  modules.py    what is in the modules that are loaded
  files.py      /tmp

A snapshot is a line of JSON and a compressed pickle. It is read by a fresh runner of the same Python only, in a sandbox: to
read one is to run whatever somebody has put into it, which is no more than cells may do anyway.
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

from . import files, living, modules, sets, settings
from .channel import EMBEDDED
from .classes import is_made_here
from .copying import Copier, Restorer
from .errors import CantCopy

FORMAT = 3
DEPTH = 2_000  # calls in calls; one that code has raised would not keep pickle from the end of the stack
LONGEST = 200  # characters of a reason
PYTHON = f"{sys.implementation.cache_tag} {sys.version} {sys.platform} {sys.byteorder}"


class Sink:
    """Compresses what it is given, up to a number of bytes and a moment."""

    def __init__(self, room, until):
        self.room, self.until = room, until
        self.compressor = zlib.compressobj(1)
        self.pieces = []

    def write(self, data):
        self.room -= len(data)
        if self.room < 0:
            raise CantCopy("more bytes than a snapshot may have")
        if time.monotonic() > self.until:
            raise CantCopy("more than can be copied in time")
        self.pieces.append(self.compressor.compress(data))

    def close(self):
        return b"".join((*self.pieces, self.compressor.flush()))


def take(session, room, seconds):
    """The program as bytes. Raises CantCopy, with what is in the way."""
    room = min(room, _free(session.limits["memory_bytes"]))
    sink = Sink(room, time.monotonic() + seconds)
    living.check(session)
    files.check_elsewhere(session.began)
    names = [name for name, module in sys.modules.items() if name != "__main__" and module is not None]
    sink.write(json.dumps({"format": FORMAT, "python": PYTHON, "modules": names}).encode() + b"\n")
    chosen = settings.read(session)
    try:
        sys.setrecursionlimit(min(chosen["recursion"], DEPTH))
        _copy_all(session, sink, files.read(room), chosen)
    finally:
        sys.setrecursionlimit(chosen["recursion"])
        settings.repeat(session, chosen)  # of code that got in, nothing is left
    return sink.close()


def _copy_all(session, sink, found, chosen):
    space = session.namespace.variables
    copier = Copier(sink, space, session.loop)
    copier.dump(found)
    copier.dump(list(space))
    for name, value in space.items():
        _copy(copier, name, value)
    _copy(copier, "settings", chosen)
    _copy_orders(copier, sink.room // 8)
    living.check_reached(copier)
    living.check(session)  # what was copied could run code after all: nothing may have begun
    copier.dump(
        {
            "call_index": session.call_index,
            "sources": {file: linecache.cache[file] for file in sorted(copier.files) if file in linecache.cache},
            "modules": modules.digests(session),
            "others": settings.others(),
        }
    )


def _copy_orders(copier, room):
    found = list(copier.sets.values())
    constants = [value for code in copier.codes for value in sets.constants(code)]
    copier.dump((found, list(copier.codes)))
    copier.dump(sets.read_all(found + constants, room))


def _copy(copier, name, value):
    try:
        copier.dump(value)
    except RecursionError:
        raise CantCopy(f"{name}: it is nested too deeply") from None
    except MemoryError:
        raise
    except Exception as problem:
        raise CantCopy(f"{name}: {problem}"[:LONGEST]) from None


def _free(memory):
    """Bytes that a copy may have, well away from the limit of the sandbox."""
    used = 0
    if not EMBEDDED:
        with open("/proc/self/statm") as file:
            used = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        disk = os.statvfs(files.FOLDER)
        used += (disk.f_blocks - disk.f_bfree) * disk.f_frsize  # in memory, too
    return min(memory // 8, max(memory - used, 0) // 4)


def restore(session, data):
    """Makes a fresh runner what the snapshot is of. Raises CantCopy, or anything; then the runner is of no more use."""
    head, _, body = zlib.decompress(data).partition(b"\n")
    header = json.loads(head)
    if header["format"] != FORMAT or header["python"] != PYTHON:
        raise CantCopy("the snapshot was made by another Python")
    for name in header["modules"]:
        importlib.import_module(name)
    space = session.namespace.variables
    restorer = Restorer(io.BytesIO(body), space, session.loop)
    found = restorer.load()
    names = restorer.load()
    values = [restorer.load() for _ in names]
    chosen = restorer.load()
    _repeat_orders(restorer)
    end = restorer.load()
    _check_keys()
    space.clear()
    space.update(zip(names, values))
    files.write(found)
    linecache.cache.update(end["sources"])
    session.call_index = end["call_index"]
    settings.write(session, chosen)
    _compare("a setting", end["others"], settings.others())
    _compare("the module", end["modules"], modules.digests(session))


def _repeat_orders(restorer):
    found, codes = restorer.load()
    constants = [value for code in codes for value in sets.constants(code)]
    for value, (values, layout) in zip(found + constants, restorer.load(), strict=True):
        sets.write(value, values, layout)


def _check_keys():
    """A key that leads back to its own dict or set may have been hashed before it was whole."""
    for container in gc.get_objects():
        if type(container) in (dict, set, frozenset):
            for key in container:
                if is_made_here(type(key)) and key not in container:
                    raise CantCopy(f"a {type(key).__qualname__} that is a key of what it holds itself")


def _compare(what, then, now):
    for name in sorted({*then, *now}):
        if then.get(name) != now.get(name):
            raise CantCopy(f"{what} {name} is not what it was")
