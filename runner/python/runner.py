"""The Python runner: runs inside a sandbox, executes cells, and stops at every tool call.

Standard library only; the same files run on CPython in a container and on Pyodide.

1. The runner has no secret and no authority. User code can do everything that this process can, so the host checks
   every frame again.
2. A step has one result; a repeated request gets the same result. A host with an older fence is refused.
3. User code can't end the session, only its cell; and its output is never read as a frame.
4. A cell is bounded in time, in printed characters, in tool calls, and in the size of arguments.

  ptc_runner/session.py     the session: its program, its open tool calls, the result of each step
  ptc_runner/protocol/      the order of steps, frames on private descriptors, JSON, values that arrive in pieces
  ptc_runner/program/       runs cells: compiling, tools, event loop, suspension, output, hints
  ptc_runner/check/         finds mistakes in a cell before it runs
  ptc_runner/determinism/   the state that a rebuild must reproduce: time, random numbers, the order of tasks
  ptc_runner/snapshot/      the state of a program between two cells, as bytes; imported on request
  ptc_runner/files.py       uploads and artifacts, for the dispatcher, too
  ptc_runner/process.py     distinguishes the thread and process of the program from others
  ptc_runner/original_builtins.py
                            runs parts of the library with Python's own builtins
"""

import gc

# Everything that is imported here stays: the collector would search it again and again, and find nothing.
gc.disable()
import os  # noqa: E402
import sys  # noqa: E402

# A sandbox has no network. Without TLS asyncio takes 2 MB less. `import ssl` in user code still works.
sys.modules["ssl"] = None
import asyncio  # noqa: E402, F401

del sys.modules["ssl"]

# Python is started with -P, so this folder is not in `sys.path`. User code must not find it there either.
folder = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, folder)
from ptc_runner.session import Session  # noqa: E402

sys.path.remove(folder)

# Moves the imported objects to the oldest generation, where they would be after many collections.
gc.freeze()
gc.unfreeze()
gc.enable()

if __name__ == "__main__":
    Session().run()
