"""Replaces functions that are written in C."""

from types import BuiltinFunctionType

COPIED_ATTRIBUTES = "__name__", "__qualname__", "__module__", "__doc__", "__self__", "__text_signature__"


class BuiltinReplacement:
    """A function that behaves like the builtin function that it replaces.

    As the attribute of a class it does not become a method, pickle and copy save it by name, and `inspect` and
    `isinstance` report it as builtin. A function written in Python differs in all of these.
    """

    __class__ = property(lambda self: BuiltinFunctionType)

    def __init__(self, original, function):
        self.__func__ = function  # code that iterates over attributes, such as mock, skips such a name
        for name in COPIED_ATTRIBUTES:
            setattr(self, name, getattr(original, name, None))  # Pyodide has some in Python

    def __call__(self, *positional, **named):
        return self.__func__(*positional, **named)

    def __reduce__(self):
        return self.__qualname__

    def __repr__(self):
        return f"<built-in function {self.__name__}>"


def replace_builtin(module, name, function):
    """Replaces a builtin function of a module by `function`. Returns the replacement."""
    replacement = BuiltinReplacement(getattr(module, name), function)
    setattr(module, name, replacement)
    return replacement
