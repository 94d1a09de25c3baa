"""Objects of a program as bytes, by value: exactly as they are, or not at all.

Data goes through pickle. What pickle keeps by name, or through methods that the program may define, is taken apart here
instead: functions, classes and instances made by cells, and what holds them. So no code of the program runs while it is
copied; when it comes back, only `__hash__` and `__eq__` of keys do. Whatever is not known here raises `CantCopy`.
"""

import builtins
import copyreg
import enum
import functools
import gc
import inspect
import io
import itertools
import marshal
import pickle
import re
import sys
import types
import weakref

from . import classes, instances, sets
from .classes import is_made_here
from .errors import CantCopy
from .tools import TOOL_ATTRIBUTES, is_tool

TEXT_IN_MEMORY = (io.StringIO, io.BytesIO)  # iterators too, but whole

PLAIN = (type(None), bool, int, float, complex, str, bytes, tuple, frozenset, type, types.FunctionType,
         types.BuiltinFunctionType, types.ModuleType)  # fmt: skip
# Classes that have no name but in `types`.
BUILT_IN = {kind: name for name, kind in vars(types).items() if isinstance(kind, type) and kind.__module__ == "builtins"}
VIEWS = {type({}.keys()): dict.keys, type({}.values()): dict.values, type({}.items()): dict.items}


class Copier(pickle.Pickler):
    """Writes objects into a sink. `seen` has the ids of the functions, classes and instances of cells among them."""

    def __init__(self, sink, space, loop):
        super().__init__(sink, 5)
        self.space = space
        self.seen = set()
        self.files = set()  # of code: those whose lines a traceback may show
        self.sets = {}  # by id: what is written last are their tables
        self.codes = []  # with sets among their constants
        self.by_name = _by_name(space, loop)
        hooks = copyreg.dispatch_table.items()
        self.hooks = {kind: hook for kind, hook in hooks if is_importable(hook)}

    def persistent_id(self, value):
        name = self.by_name.get(id(value))
        if name is None and issubclass(type(value), (set, frozenset)):
            self.sets[id(value)] = value
        return name

    def reducer_override(self, value):
        kind = type(value)
        if issubclass(kind, type):
            return self._class(value)
        reduce = REDUCERS.get(kind)
        if reduce is not None:
            return reduce(self, value)
        if is_made_here(kind):
            self.seen.add(id(value))
            return instances.reduce(value)
        if issubclass(kind, BaseException):
            return instances.reduce_exception(value, kind)
        if kind.__module__.partition(".")[0] == "ptc_runner":
            raise CantCopy("a part of the runner")
        if kind not in TEXT_IN_MEMORY and (issubclass(kind, weakref.ref) or hasattr(kind, "__next__") or hasattr(kind, "__await__")):
            raise CantCopy(f"a {kind.__qualname__}")
        hook = self.hooks.get(kind)
        reduced = hook(value) if hook else value.__reduce_ex__(5)
        if type(reduced) is str and getattr(value, "__module__", None) == "__main__":
            raise CantCopy(f"a {kind.__qualname__}")  # by its name in the program, which is what is being copied
        return reduced

    def _class(self, value):
        if value in BUILT_IN and not is_made_here(value):
            return getattr, (types, BUILT_IN[value])
        if not is_made_here(value):
            return NotImplemented  # by name; pickle checks that the name leads to it
        self.seen.add(id(value))
        if issubclass(type(value), enum.EnumMeta):  # its members come with it
            self.seen.update(map(id, [*value.__members__.values(), *value._value2member_map_.values()]))
        members = gc.get_referents(value.__dict__)[0]
        self.by_name[id(members)] = ("members", value)  # annotations of newer Pythons are functions over it
        return classes.reduce(value)

    def function(self, value):
        if is_tool(value):
            if len(vars(value)) > TOOL_ATTRIBUTES:
                raise CantCopy(f"an attribute of the tool {value.__name__}")
            return getattr, (builtins, value.__name__)
        if is_importable(value):
            return NotImplemented
        self.seen.add(id(value))
        space = value.__globals__
        module = sys.modules.get(space.get("__name__")) if space is not self.space else None
        if space is not self.space and (module is None or vars(module) is not space):
            raise CantCopy("a function with global variables of its own")
        if value.__builtins__ is not vars(builtins):
            raise CantCopy("a function with builtins of its own")
        state = {name: getattr(value, name) for name in FUNCTION_STATE}
        state.update({name: getattr(value, name) for name in ("__annotate__", "__type_params__") if hasattr(value, name)})
        if state.get("__annotate__") is None:
            state["__annotations__"] = value.__annotations__
        arguments = value.__code__, space, value.__name__, None, value.__closure__
        return types.FunctionType, arguments, (state, value.__dict__), None, None, set_function

    def code(self, value):
        self.files.add(value.co_filename)
        if any(sets.constants(value)):
            self.codes.append(value)
        return marshal.loads, (marshal.dumps(value),)

    def cell(self, value):
        try:
            contents = (value.cell_contents,)
        except ValueError:  # a name that has no value yet
            return types.CellType, ()
        return types.CellType, (), contents, None, None, set_cell

    def method(self, value):
        return types.MethodType, (value.__func__, value.__self__)

    def property(self, value):
        return property, (value.fget, value.fset, value.fdel, value.__doc__)

    def wrapper(self, value):
        if set(vars(value)) - set(vars(type(value)(value.__func__))):
            raise CantCopy("a method with attributes of its own")
        return type(value), (value.__func__,)

    def cached_property(self, value):
        return make_cached_property, (value.func, value.attrname, value.__doc__)

    def cached(self, value):
        """functools.cache: what is in it can't be reached."""
        if is_importable(value):
            return NotImplemented
        if value.cache_info().misses:
            raise CantCopy(f"the cache of {value.__name__}()")
        return make_cached, (value.__wrapped__, *value.cache_parameters().values())

    def module(self, value):
        if sys.modules.get(value.__name__) is not value:
            raise CantCopy(f"the module {value.__name__}, which is no longer the one of this name")
        return module_named, (value.__name__,)

    def match(self, value):
        """The result of a search, if the same search gives the same."""
        arguments = value.string, value.pos, value.endpos
        again = value.re.search(*arguments) if type(value.string) in (str, bytes) else None
        if again is None or again.regs != value.regs:
            raise CantCopy("a match of a regular expression")
        return search, (value.re, *arguments)

    def view(self, value):
        return VIEWS[type(value)], (gc.get_referents(value)[0],)

    def counter(self, value):
        if sys.version_info >= (3, 14):
            raise CantCopy("an iterator (itertools.count)")
        return NotImplemented

    def proxy(self, value):
        """What annotations and dataclasses hold: a read-only view of a dict."""
        (target,) = gc.get_referents(value)
        if type(target) is not dict:
            raise CantCopy("a mappingproxy")
        return types.MappingProxyType, (target,)


FUNCTION_STATE = ("__defaults__", "__kwdefaults__", "__doc__", "__module__", "__qualname__")

REDUCERS = {
    classes.Attributes: lambda _, value: (classes.set_attributes, (value.owner, value.attributes)),
    types.FunctionType: Copier.function,
    types.CodeType: Copier.code,
    types.CellType: Copier.cell,
    types.MethodType: Copier.method,
    types.ModuleType: Copier.module,
    types.MappingProxyType: Copier.proxy,
    property: Copier.property,
    classmethod: Copier.wrapper,
    staticmethod: Copier.wrapper,
    functools.cached_property: Copier.cached_property,
    functools._lru_cache_wrapper: Copier.cached,
    itertools.count: Copier.counter,
    re.Match: Copier.match,
    **dict.fromkeys(VIEWS, Copier.view),
}


class Restorer(pickle.Unpickler):
    """Reads what a Copier has written, in a runner of the same Python."""

    def __init__(self, source, space, loop):
        super().__init__(source)
        self.space, self.loop = space, loop

    def persistent_load(self, name):
        match name:
            case ("variables",):
                return self.space
            case ("loop",):
                return self.loop
            case ("module", module):
                return vars(sys.modules[module])
            case ("attribute", module, attribute):
                return vars(sys.modules[module])[attribute]
            case ("members", owner):
                return gc.get_referents(owner.__dict__)[0]
        raise pickle.UnpicklingError(f"nothing has the name {name}")


def _by_name(space, loop):
    """Objects that every runner has, by identity: variables that lead to them lead to those of the new runner."""
    names = {}
    for name, module in list(sys.modules.items()):
        if type(module) is not types.ModuleType or vars(module) is space:
            continue
        for attribute, value in vars(module).items():
            if type(value) is types.FunctionType and value.__globals__["__name__"].startswith("ptc_runner."):
                names.setdefault(id(value), ("attribute", name, attribute))  # in the place of one of Python's own
            if type(value) not in PLAIN and not issubclass(type(value), type):
                names.setdefault(id(value), ("attribute", name, attribute))
        names[id(vars(module))] = ("module", name)
    names[id(space)] = ("variables",)
    names[id(loop)] = ("loop",)
    return names


def is_importable(value):
    """Does the name of a function lead to it, outside of the cells?"""
    module = value.__module__
    found = sys.modules.get(module) if type(module) is str and module != "__main__" else None
    try:
        for part in value.__qualname__.split("."):
            found = inspect.getattr_static(found, part)
    except AttributeError:
        return False
    return found is value


# What a snapshot calls when it is read.


def set_function(function, state):
    attributes, own = state
    for name, value in attributes.items():
        setattr(function, name, value)
    function.__dict__ = own


def set_cell(cell, contents):
    (cell.cell_contents,) = contents


def make_cached_property(function, name, documentation):
    made = functools.cached_property(function)
    made.attrname, made.__doc__ = name, documentation
    return made


def make_cached(function, maxsize, typed):
    return functools.lru_cache(maxsize, typed)(function)


def module_named(name):
    return sys.modules[name]


def search(pattern, *arguments):
    return pattern.search(*arguments)
