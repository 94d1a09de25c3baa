"""The Python runner: runs inside a sandbox, executes cells, and stops at every tool call.

Standard library only; the same files run on CPython in a container and on Pyodide. The runner holds no secret and no
authority: whatever it says is checked again by the host, because the code it runs can do anything this process can.

  channel.py   frames over descriptors that were stdin and stdout, taken away from user code
  output.py    what user code prints, captured and bounded
  loop.py      asyncio loops that suspend when nothing but tool calls and long sleeps are left; suspension.py does it
  clock.py, program_time.py, randomness.py, tasks.py, own_process.py
               what is the same when a program is run again: time, random numbers, the order of sets of tasks
  replaced.py  what stands for functions of `time` and `os`, and behaves as builtin functions do
  wire_json.py JSON that the program can't change
  own_builtins.py
               Python's own builtins where the library needs them
  tools.py     the tools as async functions
  values.py    values that come in pieces
  cell.py      compile and run one cell, readable tracebacks, hints; more of those in hints.py
  session.py   the step protocol: idempotent by step number, fenced
  saving.py    snapshots of a session between two cells, on request; snapshot.py tells how
"""

import os
import sys

# A sandbox has no network. Without TLS asyncio takes 2 MB less in each; `import ssl` in user code works all the same.
sys.modules["ssl"] = None
import asyncio  # noqa: E402, F401

del sys.modules["ssl"]

# Python is started isolated (-I), so this folder is not on the path; user code must not find it there either.
folder = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, folder)
from ptc_runner.session import Session  # noqa: E402

sys.path.remove(folder)

if __name__ == "__main__":
    Session().serve()
