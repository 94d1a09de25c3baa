"""Reduces classes that cells made, without running any of their code."""

import abc
import collections
import enum
import types

from . import constructors
from ..errors import UnsupportedState

# Members that Python creates for every class.
IMPLICIT_MEMBERS = ("__dict__", "__weakref__", "__slots__", "__slotnames__", "_abc_impl", "__annotations_cache__")
DESCRIPTORS = (types.MemberDescriptorType, types.GetSetDescriptorType)
IMPLICIT_ENUM_MEMBERS = frozenset(
    """
    _member_names_ _member_map_ _value2member_map_ _unhashable_values_ _hashable_values_ _member_type_ _value_repr_
    _use_args_ _new_member_ __new__ __new_member__ _generate_next_value_ _flag_mask_ _singles_mask_ _all_bits_
    _boundary_ _inverted_ _sort_order_ _numeric_repr_ _iter_member_ _iter_member_by_value_
    """.split()
)
ENUM_VALUE_TYPES = (int, str, bytes, float, bool, tuple, type(None))


def is_cell_class(cls):
    """Did a cell create this class? Every other class is saved by its name, which must lead to it, or is refused."""
    return type.__getattribute__(cls, "__module__") == "__main__"


def reduce_class(value):
    """Returns the reduction by which pickle restores a class."""
    members = dict(type.__dict__["__dict__"].__get__(value))
    name = value.__name__
    for base in value.__mro__[1:]:
        if is_cell_class(base) and "__init_subclass__" in vars(base):
            raise UnsupportedState(f"the class {name}: {base.__name__}.__init_subclass__ would run again")
    if issubclass(type(value), enum.EnumMeta):
        return _reduce_enum(value, name, members)
    if type(value) not in (type, abc.ABCMeta):
        raise UnsupportedState(f"the class {name}, which has a metaclass ({type(value).__name__})")
    if value.__bases__ == (tuple,) and "_fields" in members and "_make" in members:
        return _reduce_named_tuple(value, name, members)
    if type(value) is abc.ABCMeta and abc._get_dump(value)[0]:
        raise UnsupportedState(f"the class {name}, with which others are registered")
    slots = members.get("__slots__")
    if type(slots) not in (type(None), str, list, tuple, dict):
        raise UnsupportedState(f"the class {name}: its __slots__ can't be read again")
    attributes = _attributes(members)
    arguments = type(value), name, value.__bases__, slots, "__annotations__" in attributes
    return constructors.make_class, arguments, _state(value, attributes), None, None, constructors.finish_class


def _attributes(members):
    return {
        key: member
        for key, member in members.items()
        if key not in IMPLICIT_MEMBERS and type(member) not in DESCRIPTORS
    }


def _state(value, attributes):
    """Methods come first: other attributes may be instances of the class."""
    methods = {name: member for name, member in attributes.items() if type(member) is types.FunctionType}
    others = {name: member for name, member in attributes.items() if name not in methods}
    return ClassAttributes(value, methods), ClassAttributes(value, others), value.__qualname__, list(attributes)


class ClassAttributes:
    """Attributes of a class. Reading them from a snapshot sets them (`constructors.set_attributes`)."""

    def __init__(self, owner, attributes):
        self.owner, self.attributes = owner, attributes


def _reduce_named_tuple(value, name, members):
    defaults = [value._field_defaults[field] for field in value._fields if field in value._field_defaults]
    arguments = name, value._fields, defaults
    standard = vars(collections.namedtuple(name, value._fields, defaults=defaults))
    own = {key: member for key, member in members.items() if key not in standard or key in ("__doc__", "__module__")}
    own.pop("__slots__", None)
    replaceable = standard.keys() - own.keys()
    if set(standard) - set(members) or any(_differs(members[key], standard[key]) for key in replaceable):
        raise UnsupportedState(f"the class {name}, a changed named tuple")
    state = _state(value, own)[:3] + ([],)
    return constructors.make_named_tuple, arguments, state, None, None, constructors.finish_class


def _differs(member, standard):
    """Does `member` differ from what namedtuple() makes? Its functions are new objects each time."""
    if type(member) is types.FunctionType:
        return type(standard) is not types.FunctionType or member.__code__ != standard.__code__
    if type(member) is classmethod:
        return type(standard) is not classmethod or member.__func__.__code__ != standard.__func__.__code__
    return type(member) is not type(standard)


def _reduce_enum(value, name, members):
    by_name = value.__members__
    mixin = members["_member_type_"]
    for base in value.__mro__[1:]:
        if base.__module__ not in ("enum", "builtins"):
            raise UnsupportedState(f"the enumeration {name}: it is based on {base.__name__}")
    if any(key in members for key in ("__init__", "_missing_", "_ignore_")) or _has_custom_values(value, members):
        raise UnsupportedState(f"the enumeration {name}: it makes its members in its own way")
    values = []
    for member_name, member in by_name.items():
        extra = set(vars(member)) - {"_name_", "_value_", "__objclass__", "_sort_order_"}
        plain = type(member._value_) in ENUM_VALUE_TYPES if mixin is object else type(member._value_) is mixin
        if extra or not plain:
            raise UnsupportedState(f"the enumeration {name}: its member {member_name} is more than a value")
        values.append((member_name, member._value_))
    own = _attributes(members)
    own = {key: member for key, member in own.items() if key not in IMPLICIT_ENUM_MEMBERS and key not in by_name}
    standard = vars(constructors.make_enum(type(value), name, value.__bases__, values))
    if any(standard.get(key) != members.get(key) for key in ("_boundary_", "_flag_mask_", "_use_args_")):
        raise UnsupportedState(f"the enumeration {name}: it treats its values in its own way")
    own = {key: member for key, member in own.items() if standard.get(key) is not member}
    arguments, state = (type(value), name, value.__bases__, values), _state(value, own)[:3] + ([],)
    return constructors.make_enum, arguments, state, None, None, constructors.finish_class


def _has_custom_values(value, members):
    new = members.get("__new_member__")
    if type(new.__func__ if type(new) is staticmethod else new) is types.FunctionType:
        return True
    generate = members.get("_generate_next_value_")
    generate = generate.__func__ if type(generate) is staticmethod else generate
    base = next(base for base in value.__mro__[1:] if "_generate_next_value_" in vars(base))
    return generate is not None and generate is not base._generate_next_value_
