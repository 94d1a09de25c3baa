"""JSON for the runner, independent of changes of the module `json` by the program.

A program may replace `json.dumps`, a function of `json.encoder` or a method of its classes (`mock.patch`). The runner's
decoders are created before any program runs, with bound methods as attributes; its encoder is the one in C.
"""

import json
from json.encoder import c_make_encoder, encode_basestring_ascii

MAXIMUM_EXACT_INTEGER = 2**53  # the host reads numbers as 64-bit floats, which change most larger integers
EXPONENT_THRESHOLD = 10**21  # from here on the host writes an exponent, which Python reads as a float
MAXIMUM_DIGITS = len(str(-EXPONENT_THRESHOLD))  # longer texts are not converted at all


def _with_bound_methods(codec, *names):
    """Returns `codec` with these methods as attributes of the instance."""
    for name in names:
        setattr(codec, name, getattr(codec, name))
    return codec


def _parse_exact_integer(digits):
    value = int(digits) if len(digits) <= MAXIMUM_DIGITS else None
    if value is None or abs(value) > MAXIMUM_EXACT_INTEGER and not _round_trips_through_float(value):
        shown = digits if len(digits) <= 40 else f"of {len(digits)} digits"
        raise TypeError(f"the integer {shown} is beyond 2**53 and would lose digits, pass it as a string")
    return value


def _round_trips_through_float(value):
    """Does the host write the same digits for its float? JavaScript writes the shortest ones, then zeros."""
    shortest, _, _ = repr(float(value)).partition("e")
    return abs(value) < EXPONENT_THRESHOLD and shortest.replace(".", "").rstrip("0") == str(value).rstrip("0")


_reject = json.JSONEncoder().default  # raises TypeError


def dumps(value):
    """Returns JSON in ASCII. Raises TypeError, or ValueError for NaN, an infinity or a recursive container."""
    markers = {}  # the containers around the current value
    encoder = c_make_encoder(markers, _reject, encode_basestring_ascii, None, ": ", ", ", False, False, False)
    return "".join(encoder(value, 0))


loads = _with_bound_methods(json.JSONDecoder(), "raw_decode").decode  # text only
# Raises TypeError for an integer that the host can't read exactly.
loads_exact = _with_bound_methods(json.JSONDecoder(parse_int=_parse_exact_integer), "raw_decode").decode
