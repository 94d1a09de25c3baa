"""Randomness that a rebuild repeats: everything that asks the operating system for it is given the session's own stream.

`os.urandom` is where `uuid`, `secrets`, `random.SystemRandom`, `tempfile` and numpy's generators get theirs. To who does not
know the session's name the bytes are as good as random; who may read the history of its run can make them again.
"""

import operator
import os
import random
import sys
from _blake2 import blake2b  # not by way of hashlib, which brings OpenSSL: half a megabyte

from .own_process import is_program
from .replaced import replace

BLOCK_BYTES = 64
SEED_BYTES = 32

_urandom = os.urandom
_seed = random.Random.seed


class Stream:
    """BLAKE2b over a counter, keyed. `position` is all of its state."""

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
            self.position += 1  # what is left of a block is not used: a read depends on nothing but the reads before it
        return bytes(data[:size])


def install(key):
    stream = Stream(key)

    def urandom(size, /):
        return stream.read(size) if is_program() else _urandom(size)

    def seed(self, a=None, version=2):
        # Without a seed the C code asks the kernel itself. Of generators, not of SystemRandom: that has a `seed` of its own.
        return _seed(self, int.from_bytes(urandom(SEED_BYTES), "big") if a is None else a, version)

    # `os` has its functions from the module `posix`, by which pickle knows them.
    os.urandom = random._urandom = replace(sys.modules["posix"], "urandom", urandom)  # SystemRandom and `secrets` use the second
    if hasattr(os, "getrandom"):
        os.getrandom = replace(sys.modules["posix"], "getrandom", lambda size, flags=0: urandom(size))
    _set_seed(seed)
    random.seed = random._inst.seed
    # The C library makes a UUID of the real time and the network card. Without it `uuid1` is made of the program's time
    # and of `random`.
    sys.modules["_uuid"] = None
    return stream


def _set_seed(seed):
    seed.__qualname__, seed.__module__, seed.__doc__ = _seed.__qualname__, _seed.__module__, _seed.__doc__
    random.Random.seed = seed
