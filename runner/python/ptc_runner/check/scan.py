"""What the whole of a cell contains, in all of its scopes: bindings of names, and code that ends the check."""

import ast
from builtins import isinstance, type  # from here on: names that the program may replace
from sys import stdlib_module_names

# Names, attributes and texts that
STOP_WORDS = frozenset(
    # define names, or change what a name means
    "exec eval globals locals vars builtins __builtins__ __dict__ __globals__ __code__ __import__ "
    "_convert_ global_enum import_module run_path run_module modules meta_path path_hooks settrace setprofile _getframe _current_frames "
    "currentframe f_globals f_locals f_builtins f_back tb_frame cr_frame gi_frame ag_frame "
    # end the cell without an error
    "exit quit _exit SystemExit".split()
)
# Modules of Python that do the same.
STOP_MODULES = frozenset(
    "builtins __main__ importlib runpy imp pkgutil zipimport site gettext code pdb bdb cProfile profile trace ctypes "
    "gc inspect unittest".split()
)
# Packages that define no names in their callers and in the builtins.
KNOWN_PACKAGES = stdlib_module_names | {"numpy", "pandas", "scipy", "matplotlib", "requests"}
# Nodes that bind a name, with the field that has it.
BINDERS = {
    ast.FunctionDef: "name",
    ast.AsyncFunctionDef: "name",
    ast.ClassDef: "name",
    ast.arg: "arg",
    ast.ExceptHandler: "name",
    ast.MatchAs: "name",
    ast.MatchStar: "name",
    ast.MatchMapping: "rest",
    **{getattr(ast, kind): "name" for kind in ("TypeVar", "ParamSpec", "TypeVarTuple") if hasattr(ast, kind)},
}


class Scan:
    """`bound`: name -> number of its bindings. `stops`: statements with code in them that ends the check.

    `is_open`: later cells may have names that are not seen. `has_packages`: modules are imported that are not Python's.
    """

    def __init__(self, tree):
        self.tree = tree
        self.bound = {}
        self.stops = set()
        self.is_open = self.has_packages = False
        outer = {}  # statement -> the statement that it is in; of a statement of the cell: the cell
        nodes = [(tree, tree)]
        while nodes:
            node, statement = nodes.pop()
            if isinstance(node, ast.stmt):
                outer[node] = statement
                statement = node
            if self._add(node):
                self.is_open = True
                while statement is not tree and statement not in self.stops:
                    self.stops.add(statement)
                    statement = outer[statement]
            nodes.extend([(child, statement) for child in children_of(node)])

    def _bind(self, name):
        if name is not None:
            self.bound[name] = self.bound.get(name, 0) + 1

    def _add(self, node):
        """Returns True for code that ends the check."""
        kind = type(node)
        if kind is ast.Name:
            if type(node.ctx) is not ast.Load:
                self._bind(node.id)
            return node.id in STOP_WORDS
        if kind is ast.Attribute:
            is_set = type(node.ctx) is not ast.Load
            return node.attr in STOP_WORDS or (is_set and type(node.value) is ast.Name and node.value.id == "asyncio")
        if kind is ast.Constant:
            return type(node.value) is str and node.value in STOP_WORDS
        if kind is ast.Import or kind is ast.ImportFrom:
            return self._add_import(node)
        if kind is ast.Global or kind is ast.Nonlocal:
            self.is_open = self.is_open or kind is ast.Global
            for name in node.names:
                self._bind(name)
        elif kind is ast.Call:  # a function that may replace what is in the module
            return any(type(each) is ast.Name and each.id == "asyncio" for each in node.args)
        elif kind in BINDERS:
            self._bind(getattr(node, BINDERS[kind]))
        return False

    def _add_import(self, node):
        for alias in node.names:
            self._bind(alias.asname or alias.name.partition(".")[0])
        modules = [node.module or ""] if type(node) is ast.ImportFrom else [alias.name for alias in node.names]
        packages = {module.partition(".")[0] for module in modules}
        if not packages <= KNOWN_PACKAGES:
            self.has_packages = True
        names = {alias.name for alias in node.names}
        return "*" in names or not STOP_WORDS.isdisjoint(names) or not STOP_MODULES.isdisjoint(packages)


def children_of(node):
    """Returns the nodes in this node, in the order of the source."""
    found = []
    for field in node._fields:
        value = getattr(node, field, None)
        for each in value if type(value) is list else (value,):
            if hasattr(each, "_fields"):
                found.append(each)
    return found
