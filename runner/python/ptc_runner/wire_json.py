"""JSON as the runner reads and writes it, whatever the program does to the module `json`.

A program may replace `json.dumps`, a function of `json.encoder` or a method of its classes (`mock.patch`). The runner's
decoders are made before any program runs, and hold their methods themselves; its encoder is the one in C below them all.
"""

import json
from json.encoder import c_make_encoder, encode_basestring_ascii

EXACT = 2**53  # the host reads numbers as 64-bit floats: most larger integers arrive as another one
EXPONENT = 10**21  # from here on the host writes an exponent: the integer would come back as a float
LONGEST = len(str(-EXPONENT))  # so that no text of many digits is converted


def _bound(maker, *names):
    """`maker`, with these methods of its class as attributes of its own."""
    for name in names:
        setattr(maker, name, getattr(maker, name))
    return maker


def _exact(digits):
    value = int(digits) if len(digits) <= LONGEST else None
    if value is None or abs(value) > EXACT and not _is_written_alike(value):
        shown = digits if len(digits) <= 40 else f"of {len(digits)} digits"
        raise TypeError(f"the integer {shown} is beyond 2**53 and would lose digits, pass it as a string")
    return value


def _is_written_alike(value):
    """Does the host write these digits for its float, as in a result? JavaScript writes the shortest, then zeros."""
    shortest, _, _ = repr(float(value)).partition("e")
    return abs(value) < EXPONENT and shortest.replace(".", "").rstrip("0") == str(value).rstrip("0")


_refuse = json.JSONEncoder().default  # raises TypeError for what is no JSON


def dumps(value):
    """JSON in ASCII. Raises TypeError, or ValueError for a NaN, an infinity and what contains itself."""
    containers = {}  # that are being written
    encoder = c_make_encoder(containers, _refuse, encode_basestring_ascii, None, ": ", ", ", False, False, False)
    return "".join(encoder(value, 0))


loads = _bound(json.JSONDecoder(), "raw_decode").decode  # text only
loads_exact = _bound(json.JSONDecoder(parse_int=_exact), "raw_decode").decode  # refuses what the host can't read exactly
