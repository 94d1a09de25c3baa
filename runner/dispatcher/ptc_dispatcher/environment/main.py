"""Executes one use of a file tool. The program of the cell is on stdin.

  python3 main.py HOME [READABLE ...]

Exit code 0: the result is on stdout. 1: a failure is there.
"""

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from ptc_dispatcher.environment.arguments import check_arguments  # noqa: E402
from ptc_dispatcher.environment.failures import EnvironmentFailure, failure_of  # noqa: E402
from ptc_dispatcher.environment.files import edit_file, read_file, write_file  # noqa: E402
from ptc_dispatcher.environment.paths import Folders  # noqa: E402
from ptc_dispatcher.environment.search import grep, list_files  # noqa: E402

FILE_TOOLS = {tool.__name__: tool for tool in (read_file, write_file, edit_file, list_files, grep)}
MAXIMUM_CHARACTERS = 900_000  # less than a cell may print


class Tools:
    """What the tools need, besides their arguments. `is_raw`: for a program, which gets texts as they are."""

    def __init__(self, program, folders):
        self.folders = folders
        self.is_raw = program.get("raw") is True
        limit = program.get("characters")
        self.characters = min(limit, MAXIMUM_CHARACTERS) if type(limit) is int and limit > 0 else MAXIMUM_CHARACTERS
        self.refuses_sensitive = not self.is_raw and program.get("sensitiveFiles") != "mask"


def execute(program, folders):
    """Returns the text and the exit code."""
    tool, arguments = program["tool"], program["arguments"]
    try:
        check_arguments(tool, arguments)
        return FILE_TOOLS[tool](Tools(program, folders), **arguments), 0
    except EnvironmentFailure as failure:
        return str(failure), 1
    except OSError as error:
        return str(failure_of(error, arguments.get("path", "."))), 1


if __name__ == "__main__":
    text, status = execute(json.load(sys.stdin.buffer), Folders(sys.argv[1], sys.argv[2:]))
    sys.stdout.buffer.write(text.encode(errors="replace"))
    sys.stdout.buffer.flush()
    sys.exit(status)
