"""The order of sets.

Iterating over a set follows its hash table, which depends on collisions, on growth and on removed values. pickle
inserts the values into a new table, and every third set of four words gets another order. Code that makes
its calls in that order would make other calls than a rebuild. So a snapshot contains the tables, and `write` restores
them in place by ctypes: no function of Python reads or sets them. The decision record on the order of sets has the
alternatives.

1. A table is read only if its header agrees with the length of the set. Otherwise the snapshot is refused.
2. A table is written only if the restored set has the same values with the same hashes. Otherwise the set keeps the
   order that pickle gave it: its values are hashed by address, so their order is not reproducible anyway.
3. Reading changes nothing. Writing happens only in a fresh runner, before a cell runs in it.
"""

import ctypes
import hashlib
from array import array

from ..errors import UnsupportedState

Word = ctypes.c_ssize_t
FORMAT = "q" if ctypes.sizeof(Word) == 8 else "i"
HEADER_OFFSET = object.__basicsize__
DUMMY_HASH = -1  # hash of an entry with a removed value; no value has this hash
MINIMUM_ENTRIES = 8  # a table of this size is part of the set object


class SetHeader(ctypes.Structure):
    """The fields of a set in CPython, after the header of every object. `fill` also counts removed entries."""

    _fields_ = [(name, Word) for name in ("fill", "used", "mask", "table", "hash", "pop_index")]


class SetTable:
    """The hash table of a set: two words for each entry, the address of the value and its hash."""

    def __init__(self, value):
        self.head = SetHeader.from_address(id(value) + HEADER_OFFSET)
        self.inline_table = id(value) + HEADER_OFFSET + ctypes.sizeof(SetHeader)
        self.size = self.head.mask + 1
        if self.head.used != _length(value) or self.size < MINIMUM_ENTRIES or self.size & self.head.mask:
            raise UnsupportedState("a set of an unknown build")
        self.memory = (Word * (2 * self.size)).from_address(self.head.table)
        self.words = memoryview(self.memory).cast("B").cast(FORMAT)

    def entries(self):
        """Yields (slot, address, hash) of all entries that are not empty."""
        numbered = enumerate(zip(self.words[::2], self.words[1::2]))
        return ((slot, address, hashed) for slot, (address, hashed) in numbered if address)

    def replace(self, words, pop_index):
        """Replaces the table by these words: the same values, in a table of the same or another size."""
        if len(words) != len(self.words):
            self._resize(len(words) // 2)
        self.words[:] = memoryview(words)
        self.head.fill, self.head.pop_index = sum(1 for address in words[::2] if address), pop_index

    def _resize(self, size):
        """Swaps the table with that of a new set of the right size, which is freed afterwards."""
        count = size // 4 + 1
        donor = set()
        donor.update(dict.fromkeys(range(count)))  # for a dict the table is allocated once, for twice its length
        for number in range(count):
            donor.discard(number)
        donor_table = SetTable(donor)
        if donor_table.size != size:
            raise UnsupportedState("a set of a size that can't be made")
        own_table = self.head.table
        ctypes.memset(own_table, 0, ctypes.sizeof(self.memory))  # `replace` writes the references to the new table
        self.head.table, self.memory, self.words = donor_table.head.table, donor_table.memory, donor_table.words
        if own_table == self.inline_table:
            donor_table.head.table, donor_table.head.mask = donor_table.inline_table, MINIMUM_ENTRIES - 1
        else:
            donor_table.head.table, donor_table.head.mask = own_table, self.head.mask
        donor_table.head.fill = 0
        self.head.mask = size - 1


def read_all(values, limit):
    """Returns for each set the data with which `write` restores its table. `limit`: maximum bytes of all tables."""
    tables = []
    for value in values:
        table = SetTable(value)
        limit -= ctypes.sizeof(table.memory)
        if limit < 0:
            raise UnsupportedState("sets of too many values")
        slots, dummies, hashes = array("I"), array("I"), array("q")
        for slot, _, hashed in table.entries():
            if hashed == DUMMY_HASH:
                dummies.append(slot)
            else:
                slots.append(slot)
                hashes.append(hashed)
        layout = table.size, table.head.pop_index, slots.tobytes(), dummies.tobytes(), _digest(hashes)
        tables.append((list(_iterator(value)), layout))
    return tables


def write(value, values, layout):
    """Restores the table of a set. A set with values that are hashed by address stays unchanged."""
    size, pop_index, slots, dummies, digest = layout
    table = SetTable(value)
    slot_of = dict(zip(values, array("I", slots)))
    words = array(FORMAT, bytes(2 * size * ctypes.sizeof(Word)))
    for item, (_, address, hashed) in zip(_iterator(value), table.entries()):
        slot = slot_of.get(item)
        if slot is None:  # for example a NaN
            return
        words[2 * slot], words[2 * slot + 1] = address, hashed
    if _digest(array("q", (hashed for address, hashed in zip(words[::2], words[1::2]) if address))) != digest:
        return
    dummy = _dummy_address()
    for slot in array("I", dummies):
        words[2 * slot], words[2 * slot + 1] = dummy, DUMMY_HASH
    table.replace(words, pop_index)


def constants(code):
    """Yields the sets among the constants of code, for example of a `for` over a literal, in a fixed order."""
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


def _dummy_address():
    """Returns the address that CPython writes into the entry of a removed value."""
    probe = {0}
    probe.discard(0)
    return SetTable(probe).words[0]
