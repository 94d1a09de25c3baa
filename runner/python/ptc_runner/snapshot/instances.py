"""Reduces instances of classes that cells made, and exceptions, without running code of their class."""

import enum
import types

from . import constructors
from .classes import is_cell_class
from ..errors import UnsupportedState

HEAP_TYPE_FLAG = 1 << 9
# Written in Python: an instance consists of its attributes.
PURE_PYTHON_MODULES = frozenset(
    """
    abc _collections_abc collections.abc typing contextlib json.encoder json.decoder html.parser _markupbase string ast
    """.split()
)
PURE_PYTHON_CLASSES = ("UserDict", "UserList", "UserString", "Counter")

EXCEPTION_PARTS = ("args", "__cause__", "__context__", "__suppress_context__")

# The content of an instance of a subclass, as a value of the built-in class.
IMMUTABLE_BASES = {
    str: str.__str__,
    int: int.__int__,
    float: float.__float__,
    bytes: lambda value: bytes.__getitem__(value, slice(None)),
    tuple: lambda value: tuple.__getitem__(value, slice(None)),
    frozenset: lambda value: list(frozenset.__iter__(value)),
}
MUTABLE_BASES = {
    list: lambda value: list.__getitem__(value, slice(None)),
    dict: lambda value: list(dict.items(value)),
    set: lambda value: list(set.__iter__(value)),
    bytearray: lambda value: bytes(bytearray.__getitem__(value, slice(None))),
}


def reduce_instance(value):
    """Returns the reduction by which pickle restores an instance."""
    cls = type(value)
    if issubclass(cls, enum.Enum):
        return _reduce_member(value, cls)
    if issubclass(cls, BaseException):
        return reduce_exception(value, cls)
    base = _builtin_base(cls)
    if base in IMMUTABLE_BASES:
        arguments = cls, base, IMMUTABLE_BASES[base](value)
        return constructors.make_immutable, arguments, _state(value, cls), None, None, constructors.restore_state
    if base is object:
        return constructors.make_object, (cls, object), _state(value, cls), None, None, constructors.restore_state
    state = MUTABLE_BASES[base](value), base, _state(value, cls)
    return constructors.make_object, (cls, base), state, None, None, constructors.fill_container


def _builtin_base(cls):
    """Returns the built-in class that determines the content of an instance in addition to its attributes."""
    for base in cls.__mro__[1:]:
        if is_cell_class(base) or base.__module__ in PURE_PYTHON_MODULES or base.__qualname__ in PURE_PYTHON_CLASSES:
            continue
        if base is object or base in IMMUTABLE_BASES or base in MUTABLE_BASES:
            return base
        break
    raise UnsupportedState(f"a {cls.__qualname__}, which is based on {base.__module__}.{base.__qualname__}")


def _state(value, cls):
    """Returns attributes and slots. The attributes are the dict itself, because another object may reference it."""
    attributes, slots = None, []
    for base in cls.__mro__:
        members = type.__dict__["__dict__"].__get__(base)
        for name, member in members.items():
            if type(member) is types.GetSetDescriptorType and name == "__dict__" and attributes is None:
                attributes = member.__get__(value)
            elif type(member) is types.MemberDescriptorType and base.__flags__ & HEAP_TYPE_FLAG:
                try:
                    slots.append((base, name, member.__get__(value)))
                except AttributeError:
                    pass
    return attributes, slots


def _reduce_member(value, cls):
    name = vars(value).get("_name_")
    if issubclass(cls, enum.Flag) and cls._value2member_map_.get(value._value_) is value:
        return constructors.flag_combination, (cls, value._value_)
    if cls.__members__.get(name) is not value:
        raise UnsupportedState(f"a member of {cls.__name__} that is not one of its members")
    return constructors.enum_member, (cls, name)


def reduce_exception(value, cls):
    if BaseException.__traceback__.__get__(value) is not None:
        raise UnsupportedState(f"an exception with its traceback ({cls.__name__}); keep str(error) instead")
    built_in = next(base for base in cls.__mro__ if not base.__flags__ & HEAP_TYPE_FLAG)
    if built_in.__basicsize__ != BaseException.__basicsize__:
        raise UnsupportedState(f"an exception of a kind that keeps more than its arguments ({cls.__name__})")
    parts = {name: getattr(BaseException, name).__get__(value) for name in EXCEPTION_PARTS}
    state = parts, _state(value, cls)
    return constructors.make_object, (cls, BaseException), state, None, None, constructors.restore_exception
