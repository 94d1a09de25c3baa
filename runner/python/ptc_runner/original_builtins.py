"""Runs parts of the library with Python's own builtins: the program may have replaced them, for example `__import__`.

The runner imports some modules when they are needed, and the library imports others when it formats a traceback.
"""

import builtins
from contextlib import contextmanager
from importlib import import_module as _import_module  # the program may replace it

_builtins = vars(builtins)
_originals = dict(_builtins)


@contextmanager
def original_builtins():
    replaced = {name: _builtins[name] for name in _originals if name in _builtins}
    _builtins.update(_originals)
    try:
        yield
    finally:
        for name in _originals.keys() - replaced.keys():  # the program has deleted it
            del _builtins[name]
        _builtins.update(replaced)


def lazy_import(name):
    """Returns the module of this name. Raises ImportError when there is none."""
    with original_builtins():
        return _import_module(name)
