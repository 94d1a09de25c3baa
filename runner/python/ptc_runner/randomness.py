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

    _replace(os, "urandom", urandom)
    if hasattr(os, "getrandom"):
        _replace(os, "getrandom", lambda size, flags=0: urandom(size))
    random._urandom = urandom  # its own name for it: of SystemRandom, and so of `secrets`
    _replace(random.Random, "seed", seed)
    random.seed = random._inst.seed
    # The C library makes a UUID of the real time and the network card. Without it `uuid1` is made of the program's time
    # and of `random`.
    sys.modules["_uuid"] = None
    return stream


def _replace(place, name, function):
    before = getattr(place, name)
    function.__name__, function.__qualname__ = before.__name__, before.__qualname__
    function.__module__, function.__doc__ = before.__module__, before.__doc__
    setattr(place, name, function)
