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

  cell_check.py     the check of the cells of a session, and what it keeps from cell to cell
  scan.py           what the whole of a cell contains: names, and code that ends the check
  certain_code.py   walks through the certain code, and finds mistakes
  arguments.py      mistakes in the arguments of one call of a tool
"""
