"""The functions of the runner that a snapshot calls when it is read: pickle saves them by name.

The pickler refers to no other function of the runner. In addition, a snapshot calls constructors of Python and
of its library.
"""

import collections
import functools
import sys
import types

from ..errors import UnsupportedState

EXTEND = {list: list.extend, dict: dict.update, set: set.update, bytearray: bytearray.extend}


# Functions and what holds them


def restore_function(function, state):
    members, attributes = state
    for name, value in members.items():
        setattr(function, name, value)
    function.__dict__ = attributes


def restore_cell(cell, contents):
    (cell.cell_contents,) = contents


def make_cached_property(function, name, documentation):
    result = functools.cached_property(function)
    result.attrname, result.__doc__ = name, documentation
    return result


def make_cached(function, maxsize, typed):
    return functools.lru_cache(maxsize, typed)(function)


# Classes


def make_class(metaclass, name, bases, slots, is_annotated):
    namespace = {"__module__": "__main__"}
    if slots is not None:
        namespace["__slots__"] = slots
    if is_annotated:  # Python 3.14 stores annotations that are added later under another name
        namespace["__annotations__"] = {}
    return metaclass(name, bases, namespace)


def make_named_tuple(name, fields, defaults):
    return collections.namedtuple(name, fields, defaults=defaults, module="__main__")


def make_enum(metaclass, name, bases, values):
    namespace = metaclass.__prepare__(name, bases)
    namespace["__module__"] = "__main__"
    for member, value in values:
        namespace[member] = value
    result = metaclass.__new__(metaclass, name, bases, namespace)
    if [(name, member._value_) for name, member in result.__members__.items()] != values:
        raise UnsupportedState(f"the enumeration {name}: its members come out different")
    return result


def set_attributes(owner, attributes):
    for name, value in attributes.items():
        type.__setattr__(owner, name, value)


def finish_class(cls, state):
    *_, cls.__qualname__, expected = state
    missing = set(expected) - set(vars(cls))
    if missing:
        raise UnsupportedState(f"the class {cls.__name__} came out without {', '.join(sorted(missing))}")


# Instances


def make_object(cls, base):
    return base.__new__(cls)


def make_immutable(cls, base, content):
    return base.__new__(cls, content)


def enum_member(cls, name):
    return cls.__members__[name]


def flag_combination(cls, value):
    return cls(value)


def restore_state(value, state):
    attributes, slots = state
    if attributes is not None:
        for base in type(value).__mro__:
            member = type.__dict__["__dict__"].__get__(base).get("__dict__")
            if type(member) is types.GetSetDescriptorType:
                member.__set__(value, attributes)
                break
    for base, name, content in slots:
        type.__dict__["__dict__"].__get__(base)[name].__set__(value, content)


def fill_container(value, state):
    content, base, rest = state
    EXTEND[base](value, content)
    restore_state(value, rest)


def restore_exception(value, state):
    parts, rest = state
    for name, part in parts.items():
        getattr(BaseException, name).__set__(value, part)
    restore_state(value, rest)


# Other values


def get_module(name):
    return sys.modules[name]


def repeat_search(pattern, *arguments):
    return pattern.search(*arguments)
