"""Walks through the certain code of a cell in the order of its execution, and collects findings."""

import ast
from builtins import type  # from here on: names that the program may replace
from sys import stdlib_module_names
from types import CoroutineType

from ..program.hints import await_hint
from .arguments import nearest, problems_of_arguments
from .scan import children_of

MAXIMUM_FINDINGS = 10
MAXIMUM_FINDING_CHARACTERS = 500
FAIL_WITH_COROUTINE = frozenset(
    "len sum sorted reversed list tuple set frozenset dict int float any all enumerate".split()
)
COROUTINE_ATTRIBUTES = frozenset(dir(CoroutineType))
DISPLAYS = (ast.List, ast.Tuple, ast.Set)
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


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
        """Returns pairs of a line and a text, and whether there may be more of them."""
        try:
            self._body(self.scan.tree.body)
        except Stop:
            pass
        found = sorted(list(self.found)[:MAXIMUM_FINDINGS], key=lambda finding: finding[0])
        return found, len(self.found) > MAXIMUM_FINDINGS

    def _add(self, node, text):
        if len(text) > MAXIMUM_FINDING_CHARACTERS:
            text = text[:MAXIMUM_FINDING_CHARACTERS] + "..."
        self.found[node.lineno, text] = None
        if len(self.found) > MAXIMUM_FINDINGS:
            raise Stop

    # -- statements

    def _body(self, statements):
        for statement in statements:
            if statement in self.scan.stops:
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
        self._expressions(children_of(node))

    def _name(self, node, is_called=False):
        name = node.id
        if type(node.ctx) is not ast.Load or name in self.scan.bound or self.check.is_defined(name):
            return
        if self.has_packages or (name.startswith("__") and name.endswith("__")):
            return
        self._add(node, f"NameError: name {name!r} is not defined.{self._name_hint(name, is_called)}")

    def _name_hint(self, name, is_called):
        if is_called and (tool := nearest(name, self.check.tools)):
            return f" Did you mean the tool {tool}()?"
        if name in stdlib_module_names:
            return f" Write `import {name}`."
        if near := nearest(name, {*self.check.defined_names(), *self.scan.bound}):
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
        for problem in problems_of_arguments(call, signature):
            self._add(call, problem)


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
            nodes.extend(children_of(each))
    return False
