"""Values that are too large for a frame. They arrive in pieces, one value after another, before their step."""

import re
from gc import disable, enable, isenabled  # names that the program may replace

from ..errors import CellStop
from ..original_builtins import lazy_import
from .json_codec import dumps, loads

# Python stores all characters of a string with the width of the widest: one emoji would make the text of a whole value
# four times as large. As a JSON escape it is ASCII.
NON_BMP = re.compile("[\U00010000-\U0010ffff]+")
OUT_OF_MEMORY = "it does not fit in the sandbox's memory"
DISCARDING = object()


class IncomingValue:
    """One value. `value` is set when all pieces have arrived, `problem` when the value can't be created here."""

    def __init__(self):
        self.pieces = []
        self.digest = new_sha256()
        self.count = 0
        self.characters = 0
        self.is_complete = False
        self.value = None
        self.is_taken = False
        self.problem = None

    def fail(self, problem):
        self.pieces, self.value, self.problem = [], None, problem

    def add(self, text, memory_bytes):
        self.count += 1
        self.characters += len(text)
        if self.problem is not None:
            return
        if 2 * self.characters > memory_bytes:  # the pieces and their joined text can't fit
            self.fail(OUT_OF_MEMORY)
            return
        try:
            self.digest.update(text.encode())
            self.pieces.append(text if text.isascii() else NON_BMP.sub(_escaped, text))
        except MemoryError:
            self.fail(OUT_OF_MEMORY)

    def finish(self, reference):
        """Parses the value. Returns False when the text has another SHA-256 than `reference`."""
        if self.problem is None and self.digest.hexdigest() != reference:
            return False
        self.is_complete = True
        try:
            if self.problem is None:
                self.value = _parse(self._take_text())
        except MemoryError:
            self.fail(OUT_OF_MEMORY)
        except (RecursionError, ValueError) as problem:
            self.fail(f"Python can't read it: {problem}")
        return True

    def _take_text(self):
        """Joins the pieces and drops them. Only the parser references the text, so it is freed with it."""
        pieces, self.pieces = self.pieces, []
        return "".join(pieces)


class IncomingValues:
    """The values that have arrived for the next step. Cleared when the fence changes.

    `receiving` is None (idle: piece 0 comes next), the reference of the value that arrives in pieces, or DISCARDING (an
    error was reported: pieces are ignored until a piece 0).
    """

    value_type = IncomingValue

    def __init__(self):
        self.memory_bytes = 1 << 62  # bytes the sandbox may use
        self.clear()

    def clear(self):
        self.values = {}
        self.receiving = None

    def add(self, reference, piece, text, last):
        """Adds one piece. Returns an error when the transfer must begin again, once: later pieces are discarded."""
        if piece == 0:
            self._start_value(reference)
        if self.receiving is DISCARDING:
            return None
        if self.receiving is None:
            self.receiving = DISCARDING
            return f"got piece {piece} of value {reference}, which did not begin"
        value = self.values[self.receiving]
        if (reference, piece) != (self.receiving, value.count):
            self._discard_value()
            return f"got piece {piece} of value {reference} where piece {value.count} was to come"
        value.add(text, self.memory_bytes)
        if last and not value.finish(reference):
            self._discard_value()
            return f"the text of value {reference} arrived damaged"
        if last:
            self.receiving = None
        return None

    def _discard_value(self):
        del self.values[self.receiving]
        self.receiving = DISCARDING

    def _start_value(self, reference):
        """Handles piece 0. An incomplete transfer, of this value or another, is dropped."""
        self.values.pop(self.receiving, None)
        self.receiving = reference
        self.values[reference] = self.value_type()

    def missing(self, frame):
        """Returns the reference of a value that this step needs and that is not complete; None when all are."""
        outcomes = (result["outcome"] for result in frame.get("results", ()))
        referencing = (frame, frame.get("input_data", {}), *outcomes)
        for reference in (container["ref"] for container in referencing if "ref" in container):
            if reference not in self.values or not self.values[reference].is_complete:
                return reference
        return None

    def take(self, reference):
        """Returns the value. Raises CellStop when it can't be created here."""
        value = self.values[reference]
        if value.problem is None and value.is_taken:
            self._copy(value)
        if value.problem is not None:
            rule = f"a value of {value.characters} characters can't be given to the code: {value.problem}"
            raise CellStop("limit_exceeded", f"{rule}. Ask the tool for less.")
        value.is_taken = True
        return value.value

    def _copy(self, value):
        """Returns a copy. Two calls may have the same result, and code that changes one must not change the other."""
        try:
            value.value = _parse(dumps(value.value))
        except MemoryError:
            value.fail("a second copy does not fit in the sandbox's memory")

    def release_memory(self):
        """Frees all values to recover from MemoryError. Returns False when there was nothing to free."""
        live = [value for value in self.values.values() if value.problem is None]
        for value in live:
            value.fail(OUT_OF_MEMORY)
        return bool(live)


def _parse(text):
    """Parses a value. The garbage collector would search the growing value again and again, and find nothing."""
    was_enabled = isenabled()
    disable()
    try:
        return loads(text)
    finally:
        if was_enabled:
            enable()


def new_sha256():
    """Does not use hashlib, because the program may replace its names. Imports OpenSSL late: it takes much memory."""
    try:
        return lazy_import("_hashlib").openssl_sha256()
    except ImportError:  # Pyodide
        return lazy_import("_sha2").sha256()


def _escaped(match):
    return dumps(match[0])[1:-1]
