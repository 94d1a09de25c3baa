"""Randomness that a rebuild repeats: functions that read random bytes of the operating system get the session's stream.

`uuid`, `secrets`, `random.SystemRandom`, `tempfile` and numpy's generators read `os.urandom`. The bytes are
unpredictable only without the name of the session: a reader of the history of its run can compute them.
"""

import operator
import os
import random
import sys
from _blake2 import blake2b  # not from hashlib, which loads OpenSSL: half a megabyte

from ..process import is_program_thread
from .builtin_replacement import replace_builtin

SEED_BYTES = 32

_urandom = os.urandom
_seed = random.Random.seed


class RandomStream:
    """Keyed BLAKE2b over a counter. `position` is its complete state."""

    def __init__(self, key):
        self.key = blake2b(key.encode()).digest()
        self.position = 0

    def read(self, size):
        size = operator.index(size)
        if size < 0:
            raise ValueError("negative argument not allowed")
        data = bytearray()
        while len(data) < size:
            data += blake2b(self.position.to_bytes(8, "big"), key=self.key).digest()
            self.position += 1  # the rest of a block is not used, so each read begins with a new block
        return bytes(data[:size])


def install(key):
    stream = RandomStream(key)

    def urandom(size, /):
        return stream.read(size) if is_program_thread() else _urandom(size)

    def seed(self, a=None, version=2):
        # Without a seed the C code asks the kernel itself. The `seed` of SystemRandom itself is not replaced.
        return _seed(self, int.from_bytes(urandom(SEED_BYTES), "big") if a is None else a, version)

    # The functions of `os` come from the module `posix`, and pickle saves them by that name.
    # SystemRandom and `secrets` use `random._urandom`.
    os.urandom = random._urandom = replace_builtin(sys.modules["posix"], "urandom", urandom)
    if hasattr(os, "getrandom"):
        os.getrandom = replace_builtin(sys.modules["posix"], "getrandom", lambda size, flags=0: urandom(size))
    _set_seed(seed)
    random.seed = random._inst.seed
    # The C library makes a UUID from the real time and the network card. Without it `uuid1` uses the program's time
    # and `random`.
    sys.modules["_uuid"] = None
    return stream


def _set_seed(seed):
    seed.__qualname__, seed.__module__, seed.__doc__ = _seed.__qualname__, _seed.__module__, _seed.__doc__
    random.Random.seed = seed
