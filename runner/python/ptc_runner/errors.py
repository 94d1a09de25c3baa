"""Exceptions of the runner: those that code can catch, and those that end a cell, a snapshot or the runner."""


class ToolError(Exception):
    """A tool call failed. `status` says how: tool_error, invalid_arguments, cancelled, or that of a subclass."""

    def __init__(self, message, tool="", status="tool_error"):
        super().__init__(message)
        self.tool = tool
        self.status = status


class ToolDenied(ToolError):
    """There is no such tool, or code may not call it. Nothing ran."""


class ToolTimedOut(ToolError):
    """The tool did not answer within its time."""


class ToolOutcomeUnknown(ToolError):
    """The call was interrupted: its effect may or may not have happened. It will not be repeated by itself."""


BY_STATUS = {"denied": ToolDenied, "timed_out": ToolTimedOut, "outcome_unknown": ToolOutcomeUnknown}


class CellStop(KeyboardInterrupt):
    """Ends a cell from outside. A KeyboardInterrupt, because asyncio lets only that and SystemExit through."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind


class Interrupt(CellStop):
    """Ends a cell on request of a user. Tracebacks show it as KeyboardInterrupt, as after Ctrl-C."""

    def __init__(self):
        super().__init__("stopped", "")


Interrupt.__qualname__ = "KeyboardInterrupt"


class UnsupportedState(Exception):
    """A part of the program can't be saved in a snapshot. The message names it in a few words."""


class HostDisconnected(BaseException):
    """The host has closed the connection."""


for _class in (ToolError, ToolDenied, ToolTimedOut, ToolOutcomeUnknown, CellStop, Interrupt):
    _class.__module__ = "builtins"  # so that tracebacks show the plain name
