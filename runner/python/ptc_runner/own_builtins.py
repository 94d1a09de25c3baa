"""Python's own builtins for what the runner has the library do: the program may have replaced `__import__`, for one.

The runner imports some modules when they are needed, and the library imports others where it makes a traceback.
"""

import builtins
from contextlib import contextmanager
from importlib import import_module as _import_module  # the program may replace it

_current = vars(builtins)
_own = dict(_current)


@contextmanager
def own_builtins():
    replaced = {name: _current[name] for name in _own if name in _current}
    _current.update(_own)
    try:
        yield
    finally:
        for name in _own.keys() - replaced.keys():  # the program has deleted it
            del _current[name]
        _current.update(replaced)


def import_late(name):
    """The module of this name. Raises ImportError when there is none."""
    with own_builtins():
        return _import_module(name)
