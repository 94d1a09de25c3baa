"""Finds mistakes in a cell before it runs, so that a cell with a mistake has no effect.

Owns: which mistakes are certain, and their text. `hints.py` has the remedies for what shows only when code runs.
Boundary: reads the syntax tree and the variables of the session. It executes nothing of the cell.

1. A finding is certain: executed, the cell would reach its line and fail there, or drop a call that it forgot to
   await, unless the cell fails before. What can't be known is not reported.
2. The findings depend only on the source, the variables and the cells before: a rebuild finds the same.
3. The check never fails, and is bounded in time and text. A cell that is too large or nested too deeply is not checked.

Code is certain when each execution of the cell reaches it: the statements of the cell; the body of a function that is
defined once, without a decorator, and called there; a block under `if __name__ == "__main__"`, `while True` or
`with open(...)`; the first round of a loop over a literal. In them, only the operands that are always evaluated count.
Not certain, because another execution may pass by or catch the error: branches, `try`, other `with` blocks and loops,
code after a statement that may leave the block, bodies of classes and lambdas, annotations.

| mistake                      | certain where, in certain code                                                    |
|------------------------------|-----------------------------------------------------------------------------------|
| undefined name               | no scope of the cell binds the name, and it is neither a variable nor a builtin   |
| arguments of a tool          | the call is awaited, and neither `*` nor `**` nor a variable may hold the rest    |
| forgotten `await` of a tool, | the call is a statement, or an operand of something that can't use a coroutine    |
| or of an async function      |                                                                                   |

A name is that of a tool when nothing in the cell binds it, no variable hides it, and the builtin is the tool.

Some code can define names in ways that the source does not show, or can end the cell without an error (`STOP_WORDS`).
In a cell, the check ends in front of the first statement that contains such code. After a cell with such code, a
`global` statement, or no check, later cells of the session are not checked: functions of that cell may be called there.
Modules that are not Python's own may also define names, so names are not checked after they were imported.
"""

import ast
import builtins
import warnings
from builtins import compile, type, vars  # from here on: names that the program may replace
from sys import stdlib_module_names
from types import CoroutineType

from ..original_builtins import lazy_import
from .hints import await_hint
from .tools import bind_arguments

MAXIMUM_CHARACTERS = 64 * 1024  # takes about 50 ms
MAXIMUM_FINDINGS = 10
MAXIMUM_FINDING_CHARACTERS = 500
MAXIMUM_CANDIDATES = 2_000  # names among which the nearest one is looked for
NEAR = 0.75

# Names, attributes and texts that
STOP_WORDS = frozenset(
    # define names, or change what a name means
    "exec eval globals locals vars builtins __builtins__ __main__ __dict__ __globals__ __code__ __import__ "
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
FAIL_WITH_COROUTINE = frozenset(
    "len sum sorted reversed list tuple set frozenset dict int float any all enumerate".split()
)
COROUTINE_ATTRIBUTES = frozenset(dir(CoroutineType))
DISPLAYS = (ast.List, ast.Tuple, ast.Set)
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
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


class CellCheck:
    """The check of the cells of one session.

    `is_open`: cells of the session may define names in ways that are not seen. `has_packages`: they have imported
    modules that are not Python's own.
    """

    def __init__(self, variables):
        self.variables = variables
        self.tools, self.builtins = {}, {}
        self.is_open = self.has_packages = False

    def set_tools(self, signatures, original_builtins):
        self.tools = {signature["name"]: signature for signature in signatures}
        self.builtins = original_builtins

    def check(self, source, is_enabled):
        """Returns the text of the findings in a cell that can be compiled; "" when it may run."""
        try:
            scan = None
            if is_enabled and not self.is_open and len(source) <= MAXIMUM_CHARACTERS:
                scan = Scan(_parse(source))
                findings = CertainCode(self, scan).findings()
                if findings:
                    return _text(findings)
            self.is_open = scan is None or scan.is_open
            self.has_packages = self.has_packages or self.is_open or scan.has_packages
        except Exception:  # invariant 3: RecursionError, MemoryError, and what a program has done to the modules used
            self.is_open = True
        return ""

    def get_state(self):
        return self.is_open, self.has_packages

    def set_state(self, state):
        self.is_open, self.has_packages = state

    def is_original(self, name):
        """Is this builtin the one from before any cell, and not hidden by a variable?"""
        return name not in self.variables and vars(builtins).get(name) is self.builtins.get(name, self)

    def is_defined(self, name):
        return name in self.variables or name in vars(builtins)

    def defined_names(self):
        return {*self.variables, *vars(builtins)}


class Scan:
    """What the whole of a cell contains, in all of its scopes."""

    def __init__(self, tree):
        self.tree = tree
        self.bound = {}  # name -> number of bindings
        self.stops = []  # lines with code that ends the check
        self.has_packages = False
        self.has_global = False
        nodes = [tree]
        while nodes:
            node = nodes.pop()
            self._add(node)
            nodes.extend(_children(node))

    @property
    def is_open(self):
        return self.has_global or bool(self.stops)

    def _bind(self, name):
        if name is not None:
            self.bound[name] = self.bound.get(name, 0) + 1

    def _add(self, node):
        kind = type(node)
        if kind is ast.Name:
            if type(node.ctx) is not ast.Load:
                self._bind(node.id)
            word = node.id
        elif kind is ast.Attribute:
            word = node.attr
            if type(node.ctx) is not ast.Load and type(node.value) is ast.Name and node.value.id == "asyncio":
                self.stops.append(node.lineno)
        elif kind is ast.Constant:
            word = node.value
        elif kind in (ast.Import, ast.ImportFrom):
            self._add_import(node)
            return
        elif kind in (ast.Global, ast.Nonlocal):
            self.has_global = True
            for name in node.names:
                self._bind(name)
            return
        else:
            if field := BINDERS.get(kind):
                self._bind(getattr(node, field))
            return
        if type(word) is str and word in STOP_WORDS:
            self.stops.append(node.lineno)

    def _add_import(self, node):
        for alias in node.names:
            self._bind(alias.asname or alias.name.partition(".")[0])
            if alias.name == "*" or alias.name in STOP_WORDS:
                self.stops.append(node.lineno)
        modules = [node.module or ""] if type(node) is ast.ImportFrom else [alias.name for alias in node.names]
        packages = {module.partition(".")[0] for module in modules}
        if not STOP_MODULES.isdisjoint(packages):
            self.stops.append(node.lineno)
        if not packages <= KNOWN_PACKAGES:
            self.has_packages = True

    def may_stop(self, node):
        first = min((node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))))
        return any(first <= line <= node.end_lineno for line in self.stops)


class Stop(Exception):
    """Nothing after this place is certain."""


class CertainCode:
    """Walks through the certain code of a cell in the order of its execution, and collects findings."""

    def __init__(self, check, scan):
        self.check, self.scan = check, scan
        self.has_packages = check.has_packages or scan.has_packages
        self.functions = {}  # name -> its definition, of functions that are certain to be what the name means
        self.entered = set()
        self.found = {}  # (line, text) -> None

    def findings(self):
        try:
            self._body(self.scan.tree.body)
        except Stop:
            pass
        return sorted(self.found)

    def _add(self, node, text):
        if len(text) > MAXIMUM_FINDING_CHARACTERS:
            text = text[:MAXIMUM_FINDING_CHARACTERS] + "..."
        self.found[node.lineno, text] = None

    # -- statements

    def _body(self, statements):
        for statement in statements:
            if self.scan.may_stop(statement):
                raise Stop
            method = STATEMENTS.get(type(statement))
            if method:
                method(self, statement)
            if _may_leave(statement):
                return

    def _expression_statement(self, node):
        call = node.value
        if self._is_coroutine(call):
            self._forgotten(call)
        self._expression(call)

    def _assign(self, node):
        if node.value is None:  # an annotation alone
            return
        targets = getattr(node, "targets", None) or [node.target]
        if any(type(target) in (ast.Tuple, ast.List) for target in targets):
            self._not_coroutine(node.value)
        self._expression(node.value)
        for target in targets:
            self._target(target)

    def _target(self, target):
        if type(target) in (ast.Tuple, ast.List):
            for each in target.elts:
                self._target(each)
        elif type(target) is not ast.Name:
            self._children(target)

    def _delete(self, node):
        for target in node.targets:
            self._target(target)

    def _raise(self, node):
        self._children(node)
        raise Stop

    def _if(self, node):
        self._not_coroutine(node.test)
        self._expression(node.test)
        if self._is_main_test(node.test):
            self._body(node.body)

    def _is_main_test(self, test):
        return (
            type(test) is ast.Compare
            and type(test.left) is ast.Name
            and test.left.id == "__name__"
            and "__name__" not in self.scan.bound
            and len(test.ops) == 1
            and type(test.ops[0]) is ast.Eq
            and type(test.comparators[0]) is ast.Constant
            and test.comparators[0].value == "__main__" == self.check.variables.get("__name__")
        )

    def _for(self, node):
        self._not_coroutine(node.iter)
        self._expression(node.iter)
        if type(node) is ast.For and self._is_not_empty(node.iter):
            self._target(node.target)
            self._body(node.body)

    def _while(self, node):
        self._not_coroutine(node.test)
        self._expression(node.test)
        if type(node.test) is ast.Constant and node.test.value:
            self._body(node.body)

    def _with(self, node):
        self._expression(node.items[0].context_expr)
        if len(node.items) == 1 and self._is_builtin_call(node.items[0].context_expr, ("open",)):
            self._body(node.body)

    def _function(self, node):
        self._expressions(node.decorator_list)
        self._expressions(node.args.defaults)
        self._expressions(node.args.kw_defaults)
        if not node.decorator_list and self.scan.bound[node.name] == 1:
            if not _contains(node, (ast.Yield, ast.YieldFrom)):
                self.functions[node.name] = node

    def _class(self, node):
        self._expressions(node.decorator_list)
        self._expressions(node.bases)
        self._expressions(keyword.value for keyword in node.keywords)

    def _match(self, node):
        self._expression(node.subject)

    # -- expressions

    def _expressions(self, nodes):
        for node in nodes:
            self._expression(node)

    def _expression(self, node):
        if node is not None:
            EXPRESSIONS.get(type(node), CertainCode._children)(self, node)

    def _children(self, node):
        self._expressions(_children(node))

    def _skip(self, node):
        pass

    def _name(self, node, is_called=False):
        name = node.id
        if type(node.ctx) is not ast.Load or name in self.scan.bound or self.check.is_defined(name):
            return
        if self.has_packages or (name.startswith("__") and name.endswith("__")):
            return
        self._add(node, f"NameError: name {name!r} is not defined.{self._name_hint(name, is_called)}")

    def _name_hint(self, name, is_called):
        if is_called and (tool := _nearest(name, self.check.tools)):
            return f" Did you mean the tool {tool}()?"
        if name in stdlib_module_names:
            return f" Write `import {name}`."
        if near := _nearest(name, {*self.check.defined_names(), *self.scan.bound}):
            return f" Did you mean {near!r}?"
        if is_called and self.check.tools:
            return f" The tools are: {', '.join(sorted(self.check.tools))}."
        return ""

    def _await(self, node):
        self._run(node.value)
        self._expression(node.value)

    def _run(self, value):
        """`value` is an expression that the event loop is certain to run, and whose errors are not caught."""
        if type(value) is not ast.Call:
            return
        if signature := self._tool(value):
            self._arguments(value, signature)
        elif self._is_asyncio_call(value, "gather") and not value.keywords:
            for argument in value.args:
                if type(argument) is ast.Starred:
                    argument = argument.value
                    argument = argument.elt if self._is_entered_comprehension(argument) else None
                self._run(argument)
        elif type(value.func) is ast.Name and type(self.functions.get(value.func.id)) is ast.AsyncFunctionDef:
            self._enter(value)

    def _enter(self, call):
        """Goes through the body of a function, the first time that it is called."""
        function = self.functions[call.func.id]
        if function.name not in self.entered:
            self.entered.add(function.name)
            self._expression(call)  # the arguments are evaluated before
            self._body(function.body)

    def _call(self, node):
        function = node.func
        if type(function) is ast.Name:
            self._name(function, is_called=True)
        else:
            self._expression(function)
        fails = self._is_builtin_call(node, FAIL_WITH_COROUTINE)
        for argument in node.args[:1] if fails else node.args if self._is_builtin_call(node, ("print",)) else ():
            self._not_coroutine(argument)
        for argument in node.args:
            if type(argument) is ast.Starred and type(argument.value) is ast.GeneratorExp:
                if self._is_entered_comprehension(argument.value):
                    self._expression(argument.value.elt)
            self._expression(argument)
        for keyword in node.keywords:
            if keyword.arg is None:
                self._not_coroutine(keyword.value)
            self._expression(keyword.value)
        if self._is_asyncio_call(node, "run") and node.args:
            self._run(node.args[0])
        if type(function) is ast.Name and type(self.functions.get(function.id)) is ast.FunctionDef:
            self._enter(node)

    def _starred(self, node):
        self._not_coroutine(node.value)
        self._expression(node.value)

    def _dict(self, node):
        for key, value in zip(node.keys, node.values):
            if key is None:
                self._not_coroutine(value)
            self._expression(key)
            self._expression(value)

    def _attribute(self, node):
        if node.attr not in COROUTINE_ATTRIBUTES:
            self._not_coroutine(node.value)
        self._expression(node.value)

    def _subscript(self, node):
        self._not_coroutine(node.value)
        self._children(node)

    def _formatted(self, node):
        self._not_coroutine(node.value)
        self._children(node)

    def _unary(self, node):
        self._not_coroutine(node.operand)
        self._expression(node.operand)

    def _binary(self, node):
        for one, other in ((node.left, node.right), (node.right, node.left)):
            may_format = one is node.left and type(node.op) is ast.Mod
            if (type(one) in (ast.Constant, ast.JoinedStr) and not may_format) or self._is_coroutine(one):
                self._not_coroutine(other)
        self._children(node)

    def _compare(self, node):
        first, second = node.left, node.comparators[0]
        for one, other in ((first, second), (second, first)):
            if type(one) is ast.Constant or self._is_coroutine(one):
                self._not_coroutine(other)
        self._expression(first)
        self._expression(second)

    def _choice(self, node):
        self._not_coroutine(node.test)
        self._expression(node.test)

    def _first_value(self, node):
        self._expression(node.values[0])

    def _lambda(self, node):
        self._expressions(node.args.defaults)
        self._expressions(node.args.kw_defaults)

    def _comprehension(self, node):
        first = node.generators[0]
        self._not_coroutine(first.iter)
        self._expression(first.iter)
        if type(node) in (ast.ListComp, ast.SetComp) and self._is_entered_comprehension(node):
            self._expression(node.elt)

    # -- what an expression is

    def _tool(self, node):
        """Returns the signature of the tool that this expression calls; None for every other expression."""
        if type(node) is not ast.Call or type(node.func) is not ast.Name:
            return None
        name = node.func.id
        signature = self.check.tools.get(name)
        return signature if signature and name not in self.scan.bound and self.check.is_original(name) else None

    def _is_coroutine(self, node):
        if self._tool(node):
            return True
        is_call = type(node) is ast.Call and type(node.func) is ast.Name
        return is_call and type(self.functions.get(node.func.id)) is ast.AsyncFunctionDef

    def _is_builtin_call(self, node, names):
        if type(node) is not ast.Call or type(node.func) is not ast.Name or node.func.id not in names:
            return False
        return node.func.id not in self.scan.bound and self.check.is_original(node.func.id)

    def _is_asyncio_call(self, node, name):
        function = node.func
        if type(function) is not ast.Attribute or function.attr != name or type(function.value) is not ast.Name:
            return False
        # `import asyncio` binds the name, too.
        asyncio = self.check.builtins.get("asyncio")
        is_module = self.check.variables.get("asyncio", asyncio) is asyncio
        return function.value.id == "asyncio" and is_module and self._is_only_imported("asyncio")

    def _is_only_imported(self, name):
        imports = sum(
            type(statement) is ast.Import and any(each.name == name and not each.asname for each in statement.names)
            for statement in self.scan.tree.body
        )
        return self.scan.bound.get(name, 0) == imports

    def _is_not_empty(self, node):
        if type(node) in DISPLAYS:
            return any(type(each) is not ast.Starred for each in node.elts)
        if type(node) is ast.Dict:
            return any(key is not None for key in node.keys)
        if type(node) is ast.Constant:
            return type(node.value) in (str, bytes) and len(node.value) > 0
        if self._is_builtin_call(node, ("range",)) and not node.keywords:
            numbers = [each.value for each in node.args if type(each) is ast.Constant and type(each.value) is int]
            return 0 < len(numbers) == len(node.args) <= 2 and bool(range(*numbers))
        return self._is_builtin_call(node, ("enumerate",)) and bool(node.args) and self._is_not_empty(node.args[0])

    def _is_entered_comprehension(self, node):
        if type(node) not in COMPREHENSIONS or type(node) is ast.DictComp or len(node.generators) > 1:
            return False
        (generator,) = node.generators
        return not generator.ifs and not generator.is_async and self._is_not_empty(generator.iter)

    # -- mistakes

    def _not_coroutine(self, node):
        """The value of this expression is used as something that a coroutine is not."""
        if self._is_coroutine(node):
            self._forgotten(node)

    def _forgotten(self, call):
        name = call.func.id
        self._add(call, f"{name}() is called but never awaited: {await_hint(name)}")
        if signature := self._tool(call):
            self._arguments(call, signature)

    def _arguments(self, call, signature):
        if any(type(each) is ast.Starred for each in call.args) or any(each.arg is None for each in call.keywords):
            return
        named = {keyword.arg: None for keyword in call.keywords}
        positional = [None] * len(call.args)
        if len(positional) == 1 and not named:
            (only,) = call.args
            if type(only) is ast.Dict:
                if not all(type(key) is ast.Constant and type(key.value) is str for key in only.keys):
                    return
                positional = [{key.value: None for key in only.keys}]
                named = positional[0]
            elif type(only) not in (ast.Constant, ast.JoinedStr, *DISPLAYS):
                return  # it may be a dict
        try:
            bind_arguments(signature, positional, {} if positional and named is positional[0] else named)
        except TypeError as problem:
            self._add(call, f"TypeError: {problem}")
        if signature.get("open"):
            return
        for name in named:
            if name not in signature["parameters"]:
                near = _nearest(name, signature["parameters"])
                hint = f" Did you mean {near!r}?" if near else ""
                takes = ", ".join(signature["parameters"])
                self._add(call, f"{signature['name']}() has no argument {name!r}; it takes ({takes}).{hint}")


STATEMENTS = {
    ast.Expr: CertainCode._expression_statement,
    ast.Assign: CertainCode._assign,
    ast.AnnAssign: CertainCode._assign,
    ast.AugAssign: CertainCode._assign,
    ast.Delete: CertainCode._delete,
    ast.Return: CertainCode._children,
    ast.Raise: CertainCode._raise,
    ast.If: CertainCode._if,
    ast.For: CertainCode._for,
    ast.AsyncFor: CertainCode._for,
    ast.While: CertainCode._while,
    ast.With: CertainCode._with,
    ast.AsyncWith: CertainCode._with,
    ast.FunctionDef: CertainCode._function,
    ast.AsyncFunctionDef: CertainCode._function,
    ast.ClassDef: CertainCode._class,
    ast.Match: CertainCode._match,
}
EXPRESSIONS = {
    ast.Name: CertainCode._name,
    ast.Await: CertainCode._await,
    ast.Call: CertainCode._call,
    ast.Starred: CertainCode._starred,
    ast.Dict: CertainCode._dict,
    ast.Attribute: CertainCode._attribute,
    ast.Subscript: CertainCode._subscript,
    ast.FormattedValue: CertainCode._formatted,
    ast.UnaryOp: CertainCode._unary,
    ast.BinOp: CertainCode._binary,
    ast.Compare: CertainCode._compare,
    ast.IfExp: CertainCode._choice,
    ast.BoolOp: CertainCode._first_value,
    ast.Lambda: CertainCode._lambda,
    **{kind: CertainCode._comprehension for kind in COMPREHENSIONS},
}


def _children(node):
    """Returns the nodes in this node, in the order of the source."""
    found = []
    for field in node._fields:
        value = getattr(node, field, None)
        for each in value if type(value) is list else (value,):
            if hasattr(each, "_fields"):
                found.append(each)
    return found


def _may_leave(statement):
    """May this statement leave the block that it is in, without an error?"""
    if type(statement) in SCOPES:
        return False
    jumps = (ast.Return,) if type(statement) in LOOPS else (ast.Return, ast.Break, ast.Continue)
    return _contains(statement, jumps)


def _contains(node, kinds):
    """Is a node of these kinds in this one, outside of functions and classes in it?"""
    nodes = [node]
    while nodes:
        each = nodes.pop()
        if type(each) in kinds:
            return True
        if each is node or type(each) not in SCOPES:
            nodes.extend(_children(each))
    return False


def _parse(source):
    # Compiling has shown the warnings already.
    filters, warnings.filters = warnings.filters, [("ignore", None, Warning, None, 0)]
    try:
        return compile(source, "<cell>", "exec", flags=ast.PyCF_ONLY_AST, dont_inherit=True)
    finally:
        warnings.filters = filters


def _nearest(name, candidates):
    near = [each for each in candidates if type(each) is str and abs(len(each) - len(name)) <= 3]
    close_matches = lazy_import("difflib").get_close_matches
    return next(iter(close_matches(name, sorted(near)[:MAXIMUM_CANDIDATES], 1, NEAR)), None)


def _text(findings):
    lines = [f"line {line}: {text}" for line, text in findings[:MAXIMUM_FINDINGS]]
    if len(findings) > MAXIMUM_FINDINGS:
        lines.append(f"and {len(findings) - MAXIMUM_FINDINGS} more")
    text = "\n".join(["The code was checked before it ran, and nothing of it was executed:", *lines])
    return text.encode("utf-8", "backslashreplace").decode()  # lone surrogates
