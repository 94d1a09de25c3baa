"""What is in the modules of the standard library: a program that changed them can't be told by its variables alone.

A digest for each is part of a snapshot, and must be that of the runner it is read in. Caches are left out, by name: what is
not known to be one counts.
"""

import abc
import enum
import functools
import hashlib
import sys
import types

DEPTH = 4
SIMPLE = (type(None), bool, int, float, complex, str, bytes, range)
NAMED = (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType, types.MethodWrapperType,
         types.ClassMethodDescriptorType, types.GetSetDescriptorType, types.MemberDescriptorType)  # fmt: skip
# As "module.name" or, in any module or object, "*.name".
CACHES = frozenset(
    """
    *._cache *._cache2 *._value2member_map_ *.__warningregistry__ *.__annotations_cache__ *.__slotnames__ *._abc_impl *.__builtins__
    sys.path_importer_cache sys.modules linecache.cache posix.environ urllib.parse._typeprog tempfile._name_sequence
    platform._platform_cache platform._uname_cache asyncio.coroutines._iscoroutine_typecache
    concurrent.futures.ThreadPoolExecutor concurrent.futures.ProcessPoolExecutor _strptime._TimeRE_cache _strptime._regex_cache uuid._last_timestamp uuid._node
    warnings.filters _warnings.filters _py_warnings.filters warnings.onceregistry _warnings._onceregistry _py_warnings.onceregistry
    *._handle *._cast_addr *._memmove_addr *._memset_addr *._string_at_addr *._wstring_at_addr *._memoryview_at_addr
    logging._startTime ptc_runner.own_process._thread threading._main_thread threading._active _frozen_importlib._module_locks _frozen_importlib._blocking_on
    """.split()
)


def digests(session):
    """The loaded modules by name, in the order they came."""
    describer = Describer(session)
    return {name: describer.digest(name, module) for name, module in list(sys.modules.items()) if name != "__main__"}


class Describer:
    def __init__(self, session):
        self.ends = {id(session.loop), id(session.namespace.variables), id(sys.modules)}
        self.seen = set()

    def digest(self, name, module):
        if not issubclass(type(module), (types.ModuleType, type)):  # such as a part of JavaScript
            return type(module).__name__
        self.seen.clear()
        digest = hashlib.blake2b(digest_size=8)
        for key, value in sorted(vars(module).items()):
            if f"{name}.{key}" not in CACHES and f"*.{key}" not in CACHES:
                digest.update(f"{key}={self.describe(value, 0, name)}\n".encode("utf8", "backslashreplace"))
        return digest.hexdigest()

    def describe(self, value, depth, home):
        kind = type(value)
        if kind in SIMPLE:
            return repr(value)
        if kind is types.ModuleType:
            return f"module {value.__name__}"
        if kind is types.FunctionType:
            place = f"{value.__code__.co_filename} {value.__code__.co_firstlineno}"
            own = self._members(value, vars(value), lambda item: self.describe(item, depth + 1, home)) if vars(value) else ""
            return f"function {value.__module__}.{value.__qualname__} {place}{own}"
        if kind in NAMED:
            return f"{kind.__name__} {value.__qualname__}"
        name = f"{kind.__module__}.{kind.__qualname__}"
        if issubclass(kind, enum.Enum):
            return f"{name} {value._name_} {value._value_}"
        is_ours = kind.__module__.startswith("ptc_runner.")  # such as what stands for stdout
        if is_ours or id(value) in self.ends or id(value) in self.seen or depth > DEPTH:
            return name
        self.seen.add(id(value))
        return f"{name} {self._inside(value, kind, depth + 1, home)}"

    def _inside(self, value, kind, depth, home):
        describe = functools.partial(self.describe, depth=depth, home=home)
        if issubclass(kind, type):
            own = f"{value.__module__}.{value.__qualname__}"
            members = vars(value) if value.__module__ == home else {}
            registered = abc._get_dump(value)[0] if issubclass(kind, abc.ABCMeta) else ()
            others = sorted(other().__qualname__ for other in registered if other() is not None)
            return own + self._members(value, members, describe) + "".join(others)
        if issubclass(kind, (list, tuple)):
            return f"[{', '.join(map(describe, value))}]"
        if issubclass(kind, (set, frozenset)):
            return f"{{{', '.join(sorted(self.describe(item, DEPTH, home) for item in value))}}}"  # in no order
        if issubclass(kind, dict):
            return f"{{{', '.join(sorted(f'{describe(key)}: {describe(item)}' for key, item in value.items()))}}}"
        if kind in (classmethod, staticmethod):
            return describe(value.__func__)
        if kind is property:
            return f"{describe(value.fget)} {describe(value.fset)}"
        return self._members(value, getattr(value, "__dict__", {}), describe)

    def _members(self, value, members, describe):
        if not isinstance(members, (dict, types.MappingProxyType)):
            return ""
        kept = sorted((key, item) for key, item in members.items() if type(key) is str and f"*.{key}" not in CACHES)
        return f"({', '.join(f'{key}={describe(item)}' for key, item in kept)})"
