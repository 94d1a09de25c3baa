"""Objects of a program as bytes, by value: an exact copy or none.

pickle saves some objects by name, or through methods that the program may define. The reducers here replace that for
functions, classes and instances that cells made, and for objects that contain them.

1. While a program is copied, only those of its methods run that it has set on instances of library classes, and
   `__hash__` and `__eq__` of the values of its sets.
2. When a snapshot is read, only `__hash__` and `__eq__` of keys run.
3. Every object that no rule here or of pickle covers raises `UnsupportedState`.
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

from . import classes, constructors, instances, set_order
from .classes import is_cell_class
from ..errors import UnsupportedState
from ..program.tools import TOOL_ATTRIBUTE_COUNT, is_tool

IN_MEMORY_STREAMS = (io.StringIO, io.BytesIO)  # iterators, but pickle saves their complete state

NAMELESS_VALUES = (type(None), bool, int, float, complex, str, bytes, tuple, frozenset, type, types.FunctionType,
         types.BuiltinFunctionType, types.ModuleType)  # fmt: skip
# Classes that can be found by name only in `types`.
UNNAMED_BUILTIN_TYPES = {
    cls: name for name, cls in vars(types).items() if isinstance(cls, type) and cls.__module__ == "builtins"
}
VIEWS = {type({}.keys()): dict.keys, type({}.values()): dict.values, type({}.items()): dict.items}


class ProgramPickler(pickle.Pickler):
    """Writes objects to `writer`.

    `copied_ids` contains the ids of all functions, classes and instances of cells that were written.
    """

    def __init__(self, writer, namespace, loop):
        super().__init__(writer, 5)
        self.namespace = namespace
        self.copied_ids = set()
        self.source_files = set()  # file names of code: a traceback may show their lines
        self.sets = {}  # by id
        self.persistent_names = _persistent_names(namespace, loop)
        reducers = copyreg.dispatch_table.items()
        self.reducers = {cls: reducer for cls, reducer in reducers if is_importable(reducer)}

    def persistent_id(self, value):
        name = self.persistent_names.get(id(value))
        if name is None and issubclass(type(value), (set, frozenset)):
            self.sets[id(value)] = value
        return name

    def reducer_override(self, value):
        cls = type(value)
        if issubclass(cls, type):
            return self._reduce_class(value)
        reduce = REDUCERS.get(cls)
        if reduce is not None:
            return reduce(self, value)
        if is_cell_class(cls):
            self.copied_ids.add(id(value))
            return instances.reduce_instance(value)
        if issubclass(cls, BaseException):
            return instances.reduce_exception(value, cls)
        if cls.__module__.partition(".")[0] == "ptc_runner":
            raise UnsupportedState("a part of the runner")
        is_iterator = hasattr(cls, "__next__") and cls not in IN_MEMORY_STREAMS
        if is_iterator or issubclass(cls, weakref.ref) or hasattr(cls, "__await__"):
            raise UnsupportedState(f"a {cls.__qualname__}")
        reducer = self.reducers.get(cls)
        reduced = reducer(value) if reducer else value.__reduce_ex__(5)
        if type(reduced) is str and getattr(value, "__module__", None) == "__main__":
            raise UnsupportedState(f"a {cls.__qualname__}")  # saved by its name in the program itself
        return reduced

    def _reduce_class(self, value):
        if value in UNNAMED_BUILTIN_TYPES and not is_cell_class(value):
            return getattr, (types, UNNAMED_BUILTIN_TYPES[value])
        if not is_cell_class(value):
            return NotImplemented  # saved by name; pickle checks that the name leads to it
        self.copied_ids.add(id(value))
        if issubclass(type(value), enum.EnumMeta):  # the members are restored with the class
            self.copied_ids.update(map(id, [*value.__members__.values(), *value._value2member_map_.values()]))
        members = gc.get_referents(value.__dict__)[0]
        self.persistent_names[id(members)] = (
            "members",
            value,
        )  # from Python 3.14 on, annotations are functions that reference it
        return classes.reduce_class(value)

    def reduce_function(self, value):
        if is_tool(value):
            if len(vars(value)) > TOOL_ATTRIBUTE_COUNT:
                raise UnsupportedState(f"an attribute of the tool {value.__name__}")
            return getattr, (builtins, value.__name__)
        if is_importable(value):
            return NotImplemented
        self.copied_ids.add(id(value))
        namespace = value.__globals__
        module = sys.modules.get(namespace.get("__name__")) if namespace is not self.namespace else None
        if namespace is not self.namespace and (module is None or vars(module) is not namespace):
            raise UnsupportedState("a function with global variables of its own")
        if value.__builtins__ is not vars(builtins):
            raise UnsupportedState("a function with builtins of its own")
        state = {name: getattr(value, name) for name in FUNCTION_STATE}
        state.update(
            {name: getattr(value, name) for name in ("__annotate__", "__type_params__") if hasattr(value, name)}
        )
        if state.get("__annotate__") is None:
            state["__annotations__"] = value.__annotations__
        arguments = value.__code__, namespace, value.__name__, None, value.__closure__
        return types.FunctionType, arguments, (state, value.__dict__), None, None, constructors.restore_function

    def reduce_code(self, value):
        self.source_files.add(value.co_filename)
        data = marshal.dumps(value)
        set_order.check_constants(value, marshal.loads(data))
        return marshal.loads, (data,)

    def reduce_cell(self, value):
        try:
            contents = (value.cell_contents,)
        except ValueError:  # the variable has no value yet
            return types.CellType, ()
        return types.CellType, (), contents, None, None, constructors.restore_cell

    def reduce_method(self, value):
        return types.MethodType, (value.__func__, value.__self__)

    def reduce_property(self, value):
        return property, (value.fget, value.fset, value.fdel, value.__doc__)

    def reduce_wrapper(self, value):
        if set(vars(value)) - set(vars(type(value)(value.__func__))):
            raise UnsupportedState("a method with attributes of its own")
        return type(value), (value.__func__,)

    def reduce_cached_property(self, value):
        return constructors.make_cached_property, (value.func, value.attrname, value.__doc__)

    def reduce_cached(self, value):
        """Reduces functools.cache. Its entries can't be read, so only an empty cache is saved."""
        if is_importable(value):
            return NotImplemented
        if value.cache_info().misses:
            raise UnsupportedState(f"the cache of {value.__name__}()")
        return constructors.make_cached, (value.__wrapped__, *value.cache_parameters().values())

    def reduce_module(self, value):
        if sys.modules.get(value.__name__) is not value:
            raise UnsupportedState(f"the module {value.__name__}, which is no longer the one of this name")
        return constructors.get_module, (value.__name__,)

    def reduce_match(self, value):
        """Reduces a match to its search, if repeating the search gives an equal match."""
        arguments = value.string, value.pos, value.endpos
        again = value.re.search(*arguments) if type(value.string) in (str, bytes) else None
        if again is None or again.regs != value.regs:
            raise UnsupportedState("a match of a regular expression")
        return constructors.repeat_search, (value.re, *arguments)

    def reduce_view(self, value):
        return VIEWS[type(value)], (gc.get_referents(value)[0],)

    def reduce_counter(self, value):
        if sys.version_info >= (3, 14):
            raise UnsupportedState("an iterator (itertools.count)")
        return NotImplemented

    def reduce_proxy(self, value):
        """Reduces a read-only view of a dict. Annotations and dataclasses contain such views."""
        (target,) = gc.get_referents(value)
        if type(target) is not dict:
            raise UnsupportedState("a mappingproxy")
        return types.MappingProxyType, (target,)


FUNCTION_STATE = ("__defaults__", "__kwdefaults__", "__doc__", "__module__", "__qualname__")

REDUCERS = {
    classes.ClassAttributes: lambda _, value: (constructors.set_attributes, (value.owner, value.attributes)),
    types.FunctionType: ProgramPickler.reduce_function,
    types.CodeType: ProgramPickler.reduce_code,
    types.CellType: ProgramPickler.reduce_cell,
    types.MethodType: ProgramPickler.reduce_method,
    types.ModuleType: ProgramPickler.reduce_module,
    types.MappingProxyType: ProgramPickler.reduce_proxy,
    property: ProgramPickler.reduce_property,
    classmethod: ProgramPickler.reduce_wrapper,
    staticmethod: ProgramPickler.reduce_wrapper,
    functools.cached_property: ProgramPickler.reduce_cached_property,
    functools._lru_cache_wrapper: ProgramPickler.reduce_cached,
    itertools.count: ProgramPickler.reduce_counter,
    re.Match: ProgramPickler.reduce_match,
    **dict.fromkeys(VIEWS, ProgramPickler.reduce_view),
}


class ProgramUnpickler(pickle.Unpickler):
    """Reads what a ProgramPickler has written, in a runner of the same Python. `persistent_load` accepts five names."""

    def __init__(self, source, namespace, loop):
        super().__init__(source)
        self.namespace, self.loop = namespace, loop

    def persistent_load(self, name):
        match name:
            case ("variables",):
                return self.namespace
            case ("loop",):
                return self.loop
            case ("module", module):
                return vars(sys.modules[module])
            case ("attribute", module, attribute):
                return vars(sys.modules[module])[attribute]
            case ("members", owner):
                return gc.get_referents(owner.__dict__)[0]
        raise pickle.UnpicklingError(f"nothing has the name {name}")


def _persistent_names(namespace, loop):
    """Returns the names, by id, of objects that every runner has. A restored program gets those of its runner."""
    names = {}
    for name, module in list(sys.modules.items()):
        if type(module) is not types.ModuleType or vars(module) is namespace:
            continue
        for attribute, value in vars(module).items():
            if type(value) is types.FunctionType and value.__globals__["__name__"].startswith("ptc_runner."):
                names.setdefault(id(value), ("attribute", name, attribute))  # a replaced function of Python
            if type(value) not in NAMELESS_VALUES and not issubclass(type(value), type):
                names.setdefault(id(value), ("attribute", name, attribute))
        names[id(vars(module))] = ("module", name)
    names[id(namespace)] = ("variables",)
    names[id(loop)] = ("loop",)
    return names


def is_importable(value):
    """Does the name of a function lead to it, outside of cells?"""
    module = value.__module__
    target = sys.modules.get(module) if type(module) is str and module != "__main__" else None
    try:
        for part in value.__qualname__.split("."):
            target = inspect.getattr_static(target, part)
    except AttributeError:
        return False
    return target is value
