"""Values that are too large for a frame: they come in pieces, one value after the other, ahead of the step that needs them."""

import re

from .errors import CellStop
from .own_builtins import import_late
from .wire_json import dumps, loads

# Python gives all characters of a text the width of its widest: one emoji would make the text of a whole value four
# times as large. In JSON it can be written in ASCII instead.
WIDEST = re.compile("[\U00010000-\U0010ffff]+")
TOO_LARGE = "it does not fit in the sandbox's memory"


class Incoming:
    """One value on its way; `value` once all of it is here."""

    def __init__(self):
        self.pieces = []
        self.digest = _sha256()
        self.count = 0
        self.characters = 0
        self.whole = False
        self.value = None
        self.taken = False
        self.problem = None  # why it can't be made here

    def give_up(self, problem):
        self.pieces, self.value, self.problem = [], None, problem

    def add(self, text, memory):
        self.count += 1
        self.characters += len(text)
        if self.problem is not None:
            return
        if 2 * self.characters > memory:  # its pieces and the text they make: it is known now that they can't fit
            self.give_up(TOO_LARGE)
            return
        try:
            self.digest.update(text.encode())
            self.pieces.append(text if text.isascii() else WIDEST.sub(_escaped, text))
        except MemoryError:
            self.give_up(TOO_LARGE)

    def finish(self, reference):
        """Makes the value of its text; False when that is not the text it should be."""
        if self.problem is None and self.digest.hexdigest() != reference:
            return False
        self.whole = True
        try:
            if self.problem is None:
                self.value = loads(self._text())
        except MemoryError:
            self.give_up(TOO_LARGE)
        except (RecursionError, ValueError) as problem:
            self.give_up(f"Python can't read it: {problem}")
        return True

    def _text(self):
        """Joined once; nobody but the parser holds it, so it is gone before the program goes on."""
        pieces, self.pieces = self.pieces, []
        return "".join(pieces)


class Values:
    """What has arrived for the next step. Belongs to one fence: whoever is the next to drive begins anew."""

    def __init__(self):
        self.memory = 1 << 62  # bytes the sandbox may use
        self.forget()

    def forget(self):
        self.incoming = {}
        self.open = None  # the value whose pieces are coming
        self.broken = False  # and no longer do, until one begins

    def add(self, reference, piece, text, last):
        """Takes one piece; tells why when the transfer has to begin again, once: its other pieces are on their way already."""
        if piece == 0:
            self._begin(reference)
        if self.open is None:
            if self.broken:
                return None
            self.broken = True
            return f"got piece {piece} of value {reference}, which did not begin"
        incoming = self.incoming[self.open]
        if (reference, piece) != (self.open, incoming.count):
            self._break()
            return f"got piece {piece} of value {reference} where piece {incoming.count} was to come"
        incoming.add(text, self.memory)
        if last and not incoming.finish(reference):
            self._break()
            return f"the text of value {reference} arrived damaged"
        if last:
            self.open = None
        return None

    def _break(self):
        del self.incoming[self.open]
        self.open = None
        self.broken = True

    def _begin(self, reference):
        """The first piece, maybe not for the first time: a transfer that broke off begins again."""
        self.incoming.pop(self.open, None)
        self.open, self.broken = reference, False
        self.incoming[reference] = Incoming()

    def missing(self, frame):
        """A value that this step needs and that is not here; None when all are."""
        holders = (frame, *(result["outcome"] for result in frame.get("results", ())))
        for reference in (holder["ref"] for holder in holders if "ref" in holder):
            if reference not in self.incoming or not self.incoming[reference].whole:
                return reference
        return None

    def take(self, reference):
        """The value; raises CellStop when it can't be made here."""
        incoming = self.incoming[reference]
        if incoming.problem is None and incoming.taken:
            self._copy(incoming)
        if incoming.problem is not None:
            rule = f"a value of {incoming.characters} characters can't be given to the code: {incoming.problem}"
            raise CellStop("limit_exceeded", f"{rule}. Ask the tool for less.")
        incoming.taken = True
        return incoming.value

    def _copy(self, incoming):
        """Two calls had the same result: what the code does to one must not be seen in the other."""
        try:
            incoming.value = loads(dumps(incoming.value))
        except MemoryError:
            incoming.give_up("a second copy does not fit in the sandbox's memory")

    def relieve(self):
        """There is no memory left to read on: gives up all values. False when there was none to give up."""
        held = [incoming for incoming in self.incoming.values() if incoming.problem is None]
        for incoming in held:
            incoming.give_up(TOO_LARGE)
        return bool(held)


def _sha256():
    """Not by way of hashlib, whose names the program may replace. OpenSSL takes memory that most sandboxes never need."""
    try:
        return import_late("_hashlib").openssl_sha256()
    except ImportError:  # Pyodide
        return import_late("_sha2").sha256()


def _escaped(match):
    return dumps(match[0])[1:-1]
