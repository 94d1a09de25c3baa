"""Cells in the language `environment`: uses of the tools in `../environment`. The source is a JSON object.

  {"tool": "read_file", "arguments": {...}, "characters": 20000, "sensitiveFiles": "mask", "raw": true}

A command is a cell in bash, with the variables and the working directory of all cells in bash. A file tool is a
process, which gets the program by its stdin: it fits into no argument.
"""

import json
import os
import sys

from ptc_runner.errors import CellStop

from ..environment.arguments import check_arguments
from ..environment.commands import problem_of_command
from ..environment.failures import EnvironmentFailure
from ..environment.paths import HOME, READABLE
from ..environment.secret_texts import mask_secrets
from .bash import BashCell
from .command import cell_source
from .process import ProcessCell

FILE_TOOL_SECONDS = 20
PROGRAM = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "environment", "main.py")


def start_environment_cell(session, frame):
    cell = FileToolCell(session)
    try:
        source = cell_source(session, frame)
        program = parse_program(source)
        if program["tool"] == "execute_command":
            return start_command(session, frame, program)
        cell.start(source, program["tool"])
    except EnvironmentFailure as failure:
        cell.fail(str(failure))
    except CellStop as stop:
        cell.fail(str(stop), stop.kind)
    except OSError as problem:
        cell.fail(f"the tool could not be started: {problem}")
    return cell


def parse_program(source):
    """Returns a program whose arguments are those of its tool. Raises EnvironmentFailure."""
    try:
        program = json.loads(source)
    except (ValueError, RecursionError, TypeError) as problem:
        raise EnvironmentFailure("invalid_arguments", f"the program is not JSON: {problem}") from None
    if type(program) is not dict:
        raise EnvironmentFailure("invalid_arguments", "the program is a JSON object")
    check_arguments(program.get("tool"), program.get("arguments"))
    return program


def start_command(session, frame, program):
    arguments = program["arguments"]
    command = arguments["command"]
    problem = problem_of_command(command)
    if problem is not None:
        raise EnvironmentFailure("dangerous_command", problem)
    known = session.input_data if "bash" not in session.used_languages else None
    session.used_languages.add("bash")
    cell_frame = {key: frame[key] for key in ("cell", "checked") if key in frame}
    kind = BashCell if program.get("raw") is True else CommandToolCell
    cell = kind.start(session, {**cell_frame, "source": command}, known)
    cell.seconds = arguments.get("timeout_seconds")
    return cell


class CommandToolCell(BashCell):
    mask = staticmethod(mask_secrets)


class FileToolCell(ProcessCell):
    seconds = FILE_TOOL_SECONDS

    def start(self, source, tool):
        self.stdin = os.memfd_create("program")
        try:
            with open(self.stdin, "wb", closefd=False) as file:
                file.write(source.encode("utf-8", "replace"))
            os.lseek(self.stdin, 0, os.SEEK_SET)
            command = [sys.executable, "-I", "-S", "-X", "utf8", PROGRAM, HOME, *READABLE]
            self.start_process(command, {}, "/")
        finally:
            os.close(self.stdin)

    def _on_end(self, status, usage):
        super()._on_end(status, usage)
        if status == 1 and self.message["type"] == "failed":  # the failure is on stdout
            text = self.message.pop("output").strip()
            self.message = {**self.message, "error": text or self.message["error"], "output": ""}
            self.message.pop("stderr", None)
