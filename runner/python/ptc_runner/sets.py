"""The order of sets.

A set is gone through in the order of its table: where values collided, how it grew and what was taken out of it since decide.
pickle puts the values into a new one, and every third set of four words comes back in another order: code that makes its
calls in that order would make others. So a snapshot has the tables, and they are made again in place, in memory: Python
itself has no way to.
"""

import ctypes
import hashlib
from array import array

from .errors import CantCopy

WORD = ctypes.c_ssize_t
FORMAT = "q" if ctypes.sizeof(WORD) == 8 else "i"
START = object.__basicsize__
TAKEN_OUT = -1  # in the place of a hash, which is never that
SMALLEST = 8  # entries; a table of so many is a part of its set


class Head(ctypes.Structure):
    """What CPython keeps of a set behind what every object has. `fill` counts entries that were taken out, too."""

    _fields_ = [(name, WORD) for name in ("fill", "used", "mask", "table", "hash", "finger")]


class Table:
    """The table of a set: for each entry a word for the address of the value and one for its hash."""

    def __init__(self, value):
        self.head = Head.from_address(id(value) + START)
        self.inside = id(value) + START + ctypes.sizeof(Head)
        self.size = self.head.mask + 1
        if self.head.used != _length(value) or self.size < SMALLEST or self.size & self.head.mask:
            raise CantCopy("a set of an unknown build")
        self.memory = (WORD * (2 * self.size)).from_address(self.head.table)
        self.words = memoryview(self.memory).cast("B").cast(FORMAT)

    def entries(self):
        """(place, address, hash) of all that are not empty."""
        numbered = enumerate(zip(self.words[::2], self.words[1::2]))
        return ((place, address, hashed) for place, (address, hashed) in numbered if address)

    def replace(self, words, finger):
        """Takes these words instead. They have the same values, and may be more or fewer."""
        if len(words) != len(self.words):
            self._change(len(words) // 2)
        self.words[:] = memoryview(words)
        self.head.fill, self.head.finger = sum(1 for address in words[::2] if address), finger

    def _change(self, size):
        """Takes the table of another set, which gets this one's and is thrown away with it."""
        count = size // 4 + 1
        other = set()
        other.update(dict.fromkeys(range(count)))  # of a dict the length is known: the table is made once, for twice as many
        for number in range(count):
            other.discard(number)
        theirs = Table(other)
        if theirs.size != size:
            raise CantCopy("a set of a size that can't be made")
        mine = self.head.table
        ctypes.memset(mine, 0, ctypes.sizeof(self.memory))  # its references move on
        self.head.table, self.memory, self.words = theirs.head.table, theirs.memory, theirs.words
        if mine == self.inside:
            theirs.head.table, theirs.head.mask = theirs.inside, SMALLEST - 1
        else:
            theirs.head.table, theirs.head.mask = mine, self.head.mask
        theirs.head.fill = 0
        self.head.mask = size - 1


def read_all(values, room):
    """All that `write` needs for each, beside the set; their tables may have so many bytes."""
    found = []
    for value in values:
        table = Table(value)
        room -= ctypes.sizeof(table.memory)
        if room < 0:
            raise CantCopy("sets of too many values")
        places, gone, hashes = array("I"), array("I"), array("q")
        for place, _, hashed in table.entries():
            if hashed == TAKEN_OUT:
                gone.append(place)
            else:
                places.append(place)
                hashes.append(hashed)
        layout = table.size, table.head.finger, places.tobytes(), gone.tobytes(), _digest(hashes)
        found.append((list(_iterator(value)), layout))
    return found


def write(value, values, layout):
    """Gives a set its order. One with values that are hashed by their address, which are others now, stays as it is."""
    size, finger, places, gone, digest = layout
    table = Table(value)
    place_of = dict(zip(values, array("I", places)))
    words = array(FORMAT, bytes(2 * size * ctypes.sizeof(WORD)))
    for one, (_, address, hashed) in zip(_iterator(value), table.entries()):
        place = place_of.get(one)
        if place is None:  # a NaN, for one
            return
        words[2 * place], words[2 * place + 1] = address, hashed
    if _digest(array("q", (hashed for address, hashed in zip(words[::2], words[1::2]) if address))) != digest:
        return
    mark = _mark()
    for place in array("I", gone):
        words[2 * place], words[2 * place + 1] = mark, TAKEN_OUT
    table.replace(words, finger)


def constants(code):
    """The sets among the constants of code, such as that of a `for` over a literal, in an order."""
    for constant in code.co_consts:
        if type(constant) is frozenset:
            yield constant
        elif type(constant) is type(code):
            yield from constants(constant)


def _base(value):
    return set if issubclass(type(value), set) else frozenset


def _iterator(value):
    return _base(value).__iter__(value)


def _length(value):
    return _base(value).__len__(value)


def _digest(hashes):
    return hashlib.blake2b(hashes.tobytes(), digest_size=8).digest()


def _mark():
    """What CPython writes in the place of a value that was taken out."""
    one = {0}
    one.discard(0)
    return Table(one).words[0]
