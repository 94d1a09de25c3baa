"""The state that a rebuild must reproduce: time, random numbers, and the order of tasks.

Owns the replacements of functions of `time`, `datetime`, `os`, `random` and `asyncio`.
Boundary: it patches Python once, on import and at `hello`, and does not depend on the protocol.

1. Only the thread and the process of the program see replaced time and randomness (see process.py).
2. The complete state is the clock, `random`, the position in the random stream, and the next task numbers.
   `snapshot.settings` saves exactly this state.
3. The random stream is not secret: a reader of the history of a run can compute it.
"""
