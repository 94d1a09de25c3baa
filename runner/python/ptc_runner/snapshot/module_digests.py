"""Digests of the loaded modules: a program may have changed them, which its variables do not show.

A snapshot contains a digest of each module. The runner that reads it must have the same digests. Attributes that are
known caches are ignored, by name; every other attribute counts.
"""

import abc
import enum
import functools
import hashlib
import sys
import types

MAXIMUM_DEPTH = 4
DESCRIBED_BY_REPR = (type(None), bool, int, float, complex, str, bytes, range)
DESCRIBED_BY_NAME = (
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.MethodWrapperType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
)
# As "module.name" or, in any module or object, "*.name".
IGNORED_ATTRIBUTES = frozenset(
    """
    *._cache *._cache2 *._value2member_map_ *.__warningregistry__ *.__annotations_cache__ *.__slotnames__ *._abc_impl
    *.__builtins__ sys.path_importer_cache sys.modules linecache.cache posix.environ urllib.parse._typeprog
    tempfile._name_sequence platform._platform_cache platform._uname_cache asyncio.coroutines._iscoroutine_typecache
    concurrent.futures.ThreadPoolExecutor concurrent.futures.ProcessPoolExecutor _strptime._TimeRE_cache
    _strptime._regex_cache uuid._last_timestamp uuid._node warnings.filters _warnings.filters _py_warnings.filters
    warnings.onceregistry _warnings._onceregistry _py_warnings.onceregistry *._handle *._cast_addr *._memmove_addr
    *._memset_addr *._string_at_addr *._wstring_at_addr *._memoryview_at_addr logging._startTime
    ptc_runner.process._program_thread ptc_runner.program.restricted_cell.thread_objects threading._main_thread threading._active
    _frozen_importlib._module_locks _frozen_importlib._blocking_on
    """.split()
)


def digest_modules(session):
    """Returns the digests of the loaded modules by name, in the order in which they were loaded."""
    describer = ModuleDescriber(session)
    return {name: describer.digest(name, module) for name, module in list(sys.modules.items()) if name != "__main__"}


class ModuleDescriber:
    def __init__(self, session):
        self.leaf_ids = {id(session.loop), id(session.namespace.variables), id(sys.modules)}
        self.seen = set()

    def digest(self, name, module):
        if not issubclass(type(module), (types.ModuleType, type)):  # Pyodide has modules of JavaScript
            return type(module).__name__
        self.seen.clear()
        digest = hashlib.blake2b(digest_size=8)
        for key, value in sorted(vars(module).items()):
            if f"{name}.{key}" not in IGNORED_ATTRIBUTES and f"*.{key}" not in IGNORED_ATTRIBUTES:
                digest.update(f"{key}={self.describe(value, 0, name)}\n".encode("utf8", "backslashreplace"))
        return digest.hexdigest()

    def describe(self, value, depth, module_name):
        cls = type(value)
        if cls in DESCRIBED_BY_REPR:
            return repr(value)
        if cls is types.ModuleType:
            return f"module {value.__name__}"
        if cls is types.FunctionType:
            describe = functools.partial(self.describe, depth=depth + 1, module_name=module_name)
            position = f"{value.__code__.co_filename} {value.__code__.co_firstlineno}"
            attributes = self._describe_members(value, vars(value), describe) if vars(value) else ""
            return f"function {value.__module__}.{value.__qualname__} {position}{attributes}"
        if cls in DESCRIBED_BY_NAME:
            return f"{cls.__name__} {value.__qualname__}"
        name = f"{cls.__module__}.{cls.__qualname__}"
        if issubclass(cls, enum.Enum):
            return f"{name} {value._name_} {value._value_}"
        is_ours = cls.__module__.startswith("ptc_runner.")  # for example the class of the file behind sys.stdout
        if is_ours or id(value) in self.leaf_ids or id(value) in self.seen or depth > MAXIMUM_DEPTH:
            return name
        self.seen.add(id(value))
        return f"{name} {self._describe_contents(value, cls, depth + 1, module_name)}"

    def _describe_contents(self, value, cls, depth, module_name):
        describe = functools.partial(self.describe, depth=depth, module_name=module_name)
        if issubclass(cls, type):
            full_name = f"{value.__module__}.{value.__qualname__}"
            members = vars(value) if value.__module__ == module_name else {}
            registered = abc._get_dump(value)[0] if issubclass(cls, abc.ABCMeta) else ()
            classes = sorted(reference().__qualname__ for reference in registered if reference() is not None)
            return full_name + self._describe_members(value, members, describe) + "".join(classes)
        if issubclass(cls, (list, tuple)):
            return f"[{', '.join(map(describe, value))}]"
        if issubclass(cls, (set, frozenset)):
            return f"{{{', '.join(sorted(self.describe(item, MAXIMUM_DEPTH, module_name) for item in value))}}}"
        if issubclass(cls, dict):
            return f"{{{', '.join(sorted(f'{describe(key)}: {describe(item)}' for key, item in value.items()))}}}"
        if cls in (classmethod, staticmethod):
            return describe(value.__func__)
        if cls is property:
            return f"{describe(value.fget)} {describe(value.fset)}"
        return self._describe_members(value, getattr(value, "__dict__", {}), describe)

    def _describe_members(self, value, members, describe):
        if not isinstance(members, (dict, types.MappingProxyType)):
            return ""
        kept = sorted(
            (key, item) for key, item in members.items() if type(key) is str and f"*.{key}" not in IGNORED_ATTRIBUTES
        )
        return f"({', '.join(f'{key}={describe(item)}' for key, item in kept)})"
