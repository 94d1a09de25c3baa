"""Values that are too large for a frame: they come in pieces, one value after the other, ahead of the step that needs them."""

import json
import re

from .errors import CellStop

# Python gives all characters of a text the width of its widest: one emoji would make the text of a whole value four
# times as large. In JSON it can be written in ASCII instead.
WIDEST = re.compile("[\U00010000-\U0010ffff]+")


class Incoming:
    """One value on its way; `value` once all of it is here."""

    def __init__(self):
        self.pieces = []
        self.count = 0
        self.characters = 0
        self.whole = False
        self.value = None
        self.taken = False
        self.problem = None  # why it can't be made here

    def give_up(self, problem):
        self.pieces, self.value, self.problem = [], None, problem

    def add(self, text, last, memory):
        self.count += 1
        self.characters += len(text)
        self.whole = last
        if self.problem is not None:
            return
        if 2 * self.characters > memory:  # its pieces and the text they make: it is known now that they can't fit
            self.give_up("it does not fit in the sandbox's memory")
            return
        try:
            self.pieces.append(text if text.isascii() else WIDEST.sub(_escaped, text))
            if last:
                self.value = json.loads(self._text())
        except MemoryError:
            self.give_up("it does not fit in the sandbox's memory")
        except (RecursionError, ValueError) as problem:
            self.give_up(f"Python can't read it: {problem}")

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

    def add(self, reference, piece, text, last):
        """Takes one piece; tells why when it is not the one to come."""
        if piece == 0:
            self._begin(reference)
        expected = self.incoming[self.open].count if self.open is not None else 0
        if (reference, piece) != (self.open, expected):
            return f"expected piece {expected} of value {self.open}, got piece {piece} of {reference}"
        self.incoming[reference].add(text, last, self.memory)
        if last:
            self.open = None
        return None

    def _begin(self, reference):
        """The first piece, maybe not for the first time: a transfer that broke off begins again."""
        if self.open is not None:
            del self.incoming[self.open]
        self.open = reference
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
            incoming.value = json.loads(json.dumps(incoming.value))
        except MemoryError:
            incoming.give_up("a second copy does not fit in the sandbox's memory")

    def relieve(self):
        """There is no memory left to read on: gives up all values. False when there was none to give up."""
        held = [incoming for incoming in self.incoming.values() if incoming.problem is None]
        for incoming in held:
            incoming.give_up("it does not fit in the sandbox's memory")
        return bool(held)


def _escaped(match):
    return json.dumps(match[0])[1:-1]
