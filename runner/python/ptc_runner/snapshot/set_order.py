"""Checks that a restore keeps the order of sets.

Iterating over a set follows its hash table, which depends on collisions, on growth and on removed values. A snapshot
contains the values only. A program that calls tools in the order of a set would make other calls after a restore than
after a rebuild. So a snapshot is refused when a restore would change the order of a set or the size of its table.

Not detected: entries of removed values, which no function of Python shows. They can change the order of values that
the program adds later. The decision record on the order of sets has the consequences.
"""

import dis

from ..errors import UnsupportedState


def check(values):
    """Raises UnsupportedState if the restore changes one of these sets. Hashes and compares the values of the sets."""
    for value in values:
        base = set if issubclass(type(value), set) else frozenset
        if not _is_same(value, base(base.__iter__(value)), base):  # pickle adds the values one by one, too
            raise UnsupportedState("a set whose order would change")


def check_constants(code, restored):
    """Raises UnsupportedState if a set among the constants of code, such as a literal in a `for`, was changed."""
    for value, other in zip(_constants(code), _constants(restored), strict=True):
        if not _is_same(value, other, frozenset):
            raise UnsupportedState(f"a set in {code.co_name} whose order would change")
    for value, other in zip(code.co_consts, restored.co_consts, strict=True):
        if type(value) is type(code):
            check_constants(value, other)


def _constants(code):
    """Yields the sets among the constants, without those of `x in {...}`, whose order has no effect."""
    if any(type(constant) is frozenset for constant in code.co_consts):
        instructions = list(dis.get_instructions(code))
        for instruction, following in zip(instructions, instructions[1:]):
            if type(instruction.argval) is frozenset and following.opname != "CONTAINS_OP":
                yield instruction.argval


def _is_same(value, other, base):
    return list(base.__iter__(value)) == list(other) and _table_size(value, base) == _table_size(other, base)


def _table_size(value, base):
    return base.__sizeof__(value) - type(value).__basicsize__
