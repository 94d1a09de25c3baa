"""The check of the cells of one session."""

import ast
import builtins
import warnings
from builtins import compile, vars  # from here on: names that the program may replace

from .certain_code import CertainCode
from .scan import Scan

MAXIMUM_CHARACTERS = 32 * 1024  # takes about 80 ms


class CellCheck:
    """`is_open`: cells of the session may define names in ways that are not seen. `has_packages`: they have imported
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
                findings, has_more = CertainCode(self, scan).findings()
                if findings:
                    return _text(findings, has_more)
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


def _parse(source):
    # Compiling has shown the warnings already.
    filters, warnings.filters = warnings.filters, [("ignore", None, Warning, None, 0)]
    try:
        return compile(source, "<cell>", "exec", flags=ast.PyCF_ONLY_AST, dont_inherit=True)
    finally:
        warnings.filters = filters


def _text(findings, has_more):
    lines = [f"line {line}: {text}" for line, text in findings]
    more = ["and more"] if has_more else []
    text = "\n".join(["The code was checked before it ran, and nothing of it was executed:", *lines, *more])
    return text.encode("utf-8", "backslashreplace").decode()  # lone surrogates
