"""Classes made by cells, taken apart and put together again without running any of their code."""

import abc
import collections
import enum
import types

from .errors import CantCopy

# What a class has by itself, or gets when it is made.
OWN = ("__dict__", "__weakref__", "__slots__", "__slotnames__", "_abc_impl", "__annotations_cache__")
DESCRIPTORS = (types.MemberDescriptorType, types.GetSetDescriptorType)
ENUM_OWN = ("_member_names_", "_member_map_", "_value2member_map_", "_unhashable_values_", "_hashable_values_",
            "_member_type_", "_value_repr_", "_use_args_", "_new_member_", "__new__", "__new_member__",
            "_generate_next_value_", "_flag_mask_", "_singles_mask_", "_all_bits_", "_boundary_", "_inverted_",
            "_sort_order_", "_numeric_repr_", "_iter_member_", "_iter_member_by_value_")  # fmt: skip
PLAIN_VALUES = (int, str, bytes, float, bool, tuple, type(None))


def is_made_here(kind):
    """Is this a class of a cell? Any other is kept by its name, which must lead to it, or not at all."""
    return type.__getattribute__(kind, "__module__") == "__main__"


def reduce(value):
    """How pickle is to make a class again."""
    members = dict(type.__dict__["__dict__"].__get__(value))
    name = value.__name__
    for base in value.__mro__[1:]:
        if is_made_here(base) and "__init_subclass__" in vars(base):
            raise CantCopy(f"the class {name}: {base.__name__}.__init_subclass__ would run again")
    if issubclass(type(value), enum.EnumMeta):
        return _reduce_enum(value, name, members)
    if type(value) not in (type, abc.ABCMeta):
        raise CantCopy(f"the class {name}, which has a metaclass ({type(value).__name__})")
    if value.__bases__ == (tuple,) and "_fields" in members and "_make" in members:
        return _reduce_named_tuple(value, name, members)
    if type(value) is abc.ABCMeta and abc._get_dump(value)[0]:
        raise CantCopy(f"the class {name}, with which others are registered")
    slots = members.get("__slots__")
    if type(slots) not in (type(None), str, list, tuple, dict):
        raise CantCopy(f"the class {name}: its __slots__ can't be read again")
    kept = _attributes(members)
    is_annotated = "__annotations__" in kept
    return make_class, (type(value), name, value.__bases__, slots, is_annotated), _state(value, kept), None, None, finish


def _attributes(members):
    return {key: member for key, member in members.items() if key not in OWN and type(member) not in DESCRIPTORS}


def _state(value, attributes):
    """Methods first: whatever else a class refers to may be one of its own instances."""
    methods = {name: member for name, member in attributes.items() if type(member) is types.FunctionType}
    others = {name: member for name, member in attributes.items() if name not in methods}
    return Attributes(value, methods), Attributes(value, others), value.__qualname__, list(attributes)


class Attributes:
    """Attributes of a class; when a snapshot is read, here they are set."""

    def __init__(self, owner, attributes):
        self.owner, self.attributes = owner, attributes


def _reduce_named_tuple(value, name, members):
    defaults = [value._field_defaults[field] for field in value._fields if field in value._field_defaults]
    arguments = name, value._fields, defaults
    standard = vars(collections.namedtuple(name, value._fields, defaults=defaults))
    own = {key: member for key, member in members.items() if key not in standard or key in ("__doc__", "__module__")}
    own.pop("__slots__", None)
    if set(standard) - set(members) or any(_differs(members[key], standard[key]) for key in standard if key not in own):
        raise CantCopy(f"the class {name}, a changed named tuple")
    return make_named_tuple, arguments, _state(value, own)[:3] + ([],), None, None, finish


def _differs(member, standard):
    """Other than what namedtuple() makes, which is new each time."""
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
            raise CantCopy(f"the enumeration {name}: it is based on {base.__name__}")
    if any(key in members for key in ("__init__", "_missing_", "_ignore_")) or _own_values(value, members):
        raise CantCopy(f"the enumeration {name}: it makes its members in its own way")
    values = []
    for member_name, member in by_name.items():
        extra = set(vars(member)) - {"_name_", "_value_", "__objclass__", "_sort_order_"}
        plain = type(member._value_) in PLAIN_VALUES if mixin is object else type(member._value_) is mixin
        if extra or not plain:
            raise CantCopy(f"the enumeration {name}: its member {member_name} is more than a value")
        values.append((member_name, member._value_))
    own = {key: member for key, member in _attributes(members).items() if key not in ENUM_OWN and key not in by_name}
    standard = vars(make_enum(type(value), name, value.__bases__, values))
    if any(standard.get(key) != members.get(key) for key in ("_boundary_", "_flag_mask_", "_use_args_")):
        raise CantCopy(f"the enumeration {name}: it treats its values in its own way")
    own = {key: member for key, member in own.items() if standard.get(key) is not member}
    return make_enum, (type(value), name, value.__bases__, values), _state(value, own)[:3] + ([],), None, None, finish


def _own_values(value, members):
    new = members.get("__new_member__")
    if type(new.__func__ if type(new) is staticmethod else new) is types.FunctionType:
        return True
    generate = members.get("_generate_next_value_")
    generate = generate.__func__ if type(generate) is staticmethod else generate
    base = next(base for base in value.__mro__[1:] if "_generate_next_value_" in vars(base))
    return generate is not None and generate is not base._generate_next_value_


# What a snapshot calls when it is read.


def make_class(kind, name, bases, slots, is_annotated):
    space = {"__module__": "__main__"}
    if slots is not None:
        space["__slots__"] = slots
    if is_annotated:  # Python 3.14 keeps them under another name where they were not from the beginning
        space["__annotations__"] = {}
    return kind(name, bases, space)


def make_named_tuple(name, fields, defaults):
    return collections.namedtuple(name, fields, defaults=defaults, module="__main__")


def make_enum(kind, name, bases, values):
    space = kind.__prepare__(name, bases)
    space["__module__"] = "__main__"
    for member, value in values:
        space[member] = value
    made = kind.__new__(kind, name, bases, space)
    if [(member, found._value_) for member, found in made.__members__.items()] != values:
        raise CantCopy(f"the enumeration {name}: its members come out different")
    return made


def set_attributes(owner, attributes):
    for name, value in attributes.items():
        type.__setattr__(owner, name, value)


def finish(made, state):
    *_, made.__qualname__, expected = state
    lacking = set(expected) - set(vars(made))
    if lacking:
        raise CantCopy(f"the class {made.__name__} came out without {', '.join(sorted(lacking))}")
