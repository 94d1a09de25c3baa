"""Instances of classes made by cells, and exceptions: their parts, read without asking their class."""

import enum
import types

from .classes import is_made_here
from .errors import CantCopy

HEAP_TYPE = 1 << 9
# Written in Python, with nothing in an instance but its attributes.
TRANSPARENT = ("abc", "_collections_abc", "collections.abc", "typing", "contextlib", "json.encoder", "json.decoder",
               "html.parser", "_markupbase", "string", "ast")  # fmt: skip
TRANSPARENT_CLASSES = ("UserDict", "UserList", "UserString", "Counter")

# The content of what is built on a built-in class, as a plain value of it.
FIXED = {
    str: str.__str__,
    int: int.__int__,
    float: float.__float__,
    bytes: lambda value: bytes.__getitem__(value, slice(None)),
    tuple: lambda value: tuple.__getitem__(value, slice(None)),
    frozenset: lambda value: frozenset.__or__(value, frozenset()),
}
GROWING = {
    list: (lambda value: list.__getitem__(value, slice(None)), list.extend),
    dict: (lambda value: list(dict.items(value)), dict.update),
    set: (lambda value: list(set.__iter__(value)), set.update),
    bytearray: (lambda value: bytes(bytearray.__getitem__(value, slice(None))), bytearray.extend),
}


def reduce(value):
    """How pickle is to make an instance again."""
    kind = type(value)
    if issubclass(kind, enum.Enum):
        return _reduce_member(value, kind)
    if issubclass(kind, BaseException):
        return reduce_exception(value, kind)
    base = _built_in_base(kind)
    if base in FIXED:
        return make_fixed, (kind, base, FIXED[base](value)), _state(value, kind), None, None, set_state
    if base is object:
        return make_object, (kind, object), _state(value, kind), None, None, set_state
    content, _ = GROWING[base]
    return make_object, (kind, base), (content(value), base, _state(value, kind)), None, None, fill


def _built_in_base(kind):
    """The class that says what is in an instance beside its attributes."""
    for base in kind.__mro__[1:]:
        if is_made_here(base) or base.__module__ in TRANSPARENT or base.__qualname__ in TRANSPARENT_CLASSES:
            continue
        if base is object or base in FIXED or base in GROWING:
            return base
        break
    raise CantCopy(f"a {kind.__qualname__}, which is based on {base.__module__}.{base.__qualname__}")


def _state(value, kind):
    """Its attributes (the dict itself: somebody else may hold it) and its slots."""
    attributes, slots = None, []
    for base in kind.__mro__:
        members = type.__dict__["__dict__"].__get__(base)
        for name, member in members.items():
            if type(member) is types.GetSetDescriptorType and name == "__dict__" and attributes is None:
                attributes = member.__get__(value)
            elif type(member) is types.MemberDescriptorType and base.__flags__ & HEAP_TYPE:
                try:
                    slots.append((base, name, member.__get__(value)))
                except AttributeError:
                    pass
    return attributes, slots


def _reduce_member(value, kind):
    name = vars(value).get("_name_")
    if issubclass(kind, enum.Flag) and kind._value2member_map_.get(value._value_) is value:
        return combination, (kind, value._value_)
    if kind.__members__.get(name) is not value:
        raise CantCopy(f"a member of {kind.__name__} that it does not know")
    return member_named, (kind, name)


def reduce_exception(value, kind):
    if BaseException.__traceback__.__get__(value) is not None:
        raise CantCopy(f"an exception with its traceback ({kind.__name__}); keep str(error) instead")
    built_in = next(base for base in kind.__mro__ if not base.__flags__ & HEAP_TYPE)
    if built_in.__basicsize__ != BaseException.__basicsize__:
        raise CantCopy(f"an exception of a kind that keeps more than its arguments ({kind.__name__})")
    parts = {name: getattr(BaseException, name).__get__(value) for name in EXCEPTION_PARTS}
    return make_object, (kind, BaseException), (parts, _state(value, kind)), None, None, set_exception


EXCEPTION_PARTS = ("args", "__cause__", "__context__", "__suppress_context__")


# What a snapshot calls when it is read.


def make_object(kind, base):
    return base.__new__(kind)


def make_fixed(kind, base, content):
    return base.__new__(kind, content)


def member_named(kind, name):
    return kind.__members__[name]


def combination(kind, value):
    return kind(value)


def set_state(value, state):
    attributes, slots = state
    if attributes is not None:
        for base in type(value).__mro__:
            member = type.__dict__["__dict__"].__get__(base).get("__dict__")
            if type(member) is types.GetSetDescriptorType:
                member.__set__(value, attributes)
                break
    for base, name, content in slots:
        type.__dict__["__dict__"].__get__(base)[name].__set__(value, content)


def fill(value, state):
    content, base, rest = state
    _, extend = GROWING[base]
    extend(value, content)
    set_state(value, rest)


def set_exception(value, state):
    parts, rest = state
    for name, part in parts.items():
        getattr(BaseException, name).__set__(value, part)
    set_state(value, rest)
