"""Mistakes in the arguments of one call of a tool."""

import ast
from builtins import type  # a name that the program may replace

from ..original_builtins import lazy_import
from ..program.tools import bind_arguments

MAXIMUM_CANDIDATES = 2_000  # names among which the nearest one is looked for
MAXIMUM_NAME_CHARACTERS = 100
NEAR = 0.75


def problems_of_arguments(call, signature):
    """Returns what the tool would refuse, as texts. Nothing of arguments that are not known."""
    if any(type(each) is ast.Starred for each in call.args) or any(each.arg is None for each in call.keywords):
        return []
    positional, named = [None] * len(call.args), {keyword.arg: None for keyword in call.keywords}
    passed = named
    if len(positional) == 1 and not named:
        (only,) = call.args
        if type(only) is ast.Dict:
            if not all(type(key) is ast.Constant and type(key.value) is str for key in only.keys):
                return []
            passed = {key.value: None for key in only.keys}
            positional = [passed]
        elif type(only) not in (ast.Constant, ast.JoinedStr, ast.List, ast.Tuple, ast.Set):
            return []  # it may be a dict
    try:
        bind_arguments(signature, positional, named)
        problems = []
    except TypeError as problem:
        problems = [f"TypeError: {problem}"]
    name, parameters = signature["name"], signature["parameters"]
    if not signature.get("open"):
        for unknown in passed:
            if unknown not in parameters:
                near = nearest(unknown, parameters)
                hint = f" Did you mean {near!r}?" if near else ""
                takes = ", ".join(parameters)
                problems.append(f"{name}() has no argument {unknown!r}; it takes ({takes}).{hint}")
    return problems


def nearest(name, candidates):
    """Returns the candidate that is most like the name; None when none is."""
    if len(name) > MAXIMUM_NAME_CHARACTERS:
        return None
    near = [each for each in candidates if type(each) is str and abs(len(each) - len(name)) <= 3]
    close_matches = lazy_import("difflib").get_close_matches
    return next(iter(close_matches(name, sorted(near)[:MAXIMUM_CANDIDATES], 1, NEAR)), None)
