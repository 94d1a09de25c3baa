"""Runs the program: the cells of one session.

Owns compiling, the event loop, suspension, tools as functions, time limits, captured output, and hints.
Boundary: it calls only code of Python and of the user, and sends only through `protocol`.

1. Any exception in a cell ends the cell, never the session.
2. User code runs only while the cell timer runs. The timer never interrupts the runner's own work.
3. The host gets calls only when the program can't continue without it, in the order in which the code made them.
4. Captured output is bounded: memory and frames do not grow with the output of a program.
5. Functions that a program can replace are captured when the runner is imported, before any cell runs.
"""
