"""The state of a program between two cells, as bytes. Imported on request only: it needs pickle and zlib.

Owns the format of a snapshot, and the decision whether a program can be copied.
Boundary: `snapshot_protocol` is called by `protocol.step_protocol`. Nothing else is called from outside.

1. A snapshot is complete, or it is refused with a reason. Nothing is left out.
2. Making a snapshot changes nothing of the program. User code that runs meanwhile can call no tool, and is stopped in
   time.
3. A snapshot is read only by a fresh runner of the same Python, and only in a sandbox. Reading it can run any code that
   its author put into it. That code has no more authority than a cell.
4. A restore that fails makes the runner unusable. No cell runs in a partly restored program.
"""
