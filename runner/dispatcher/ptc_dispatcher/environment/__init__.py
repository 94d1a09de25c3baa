"""The tools of an environment: files, a search, and rules on names, commands and secrets.

Each use of a file tool is a process of its own (`main.py`): it may take long, or need much memory. Commands are cells
in bash (`../cells/environment.py`). Programs use the file tools by a command (`program.py`).

1. A path stays in the folders of the session after all links are resolved, also when another process changes a link
   meanwhile: each folder on the way is opened without following links.
2. Only regular files are read and written. Opening one never waits.
3. What is read, listed and searched is bounded. What was left out is said.
4. A write replaces the file at once, or leaves it as it was. An edit changes no byte outside of its place.
5. Each failure has a code. The codes are in `failures.py`.

None of this isolates anything: a command reads what the user of the sandbox may read. The sandbox is the guard.
"""
