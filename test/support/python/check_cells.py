"""Checks cells without running them. Standard input: sessions as JSON, each a list of cells. Prints the findings of the
last cell of each session. Cells that are no text are variables, which an earlier cell has made."""

import asyncio
import builtins
import json
import sys

sys.path.insert(0, sys.argv[1])
from ptc_runner.program import tools  # noqa: E402
from ptc_runner.check.cell_check import CellCheck  # noqa: E402

SIGNATURES = [
    {"name": "get", "parameters": ["a", "b"], "required": ["a"], "documentation": ""},
    {"name": "rent", "parameters": ["from"], "required": ["from"], "documentation": ""},
    {"name": "store", "parameters": ["key"], "required": ["key"], "open": True, "documentation": ""},
]


class Session:
    builtins = {**vars(builtins), "asyncio": asyncio, "json": json}


tools.install(Session, SIGNATURES)


def check(cells):
    variables = {"__name__": "__main__", "__builtins__": builtins}
    cell_check = CellCheck(variables)
    cell_check.set_tools(SIGNATURES, Session.builtins)
    text = ""
    for cell in cells:
        if isinstance(cell, dict):
            variables.update(cell)
        else:
            text = cell_check.check(cell, True)
    return text


if __name__ == "__main__":
    print(json.dumps([check(session) for session in json.load(sys.stdin)]))
