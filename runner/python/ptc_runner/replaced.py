"""What the runner puts in the place of functions that are written in C."""

from types import BuiltinFunctionType

LIKE = "__name__", "__qualname__", "__module__", "__doc__", "__self__", "__text_signature__"


class Replacement:
    """A function that behaves as the builtin function it stands for.

    As the attribute of a class it does not become a method, pickle and copy take it by its name, and `inspect` and
    `isinstance` tell it to be builtin. A function written in Python differs in all of these.
    """

    __class__ = property(lambda self: BuiltinFunctionType)

    def __init__(self, original, function):
        self.__func__ = function  # such a name is left alone by what goes through attributes, as mock does
        for name in LIKE:
            setattr(self, name, getattr(original, name, None))  # Pyodide has some in Python

    def __call__(self, *positional, **named):
        return self.__func__(*positional, **named)

    def __reduce__(self):
        return self.__qualname__

    def __repr__(self):
        return f"<built-in function {self.__name__}>"


def replace(module, name, function):
    """Puts `function` in the place of a builtin function of a module; gives what the module has now."""
    replacement = Replacement(getattr(module, name), function)
    setattr(module, name, replacement)
    return replacement
