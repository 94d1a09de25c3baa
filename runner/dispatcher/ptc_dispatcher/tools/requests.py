"""Open requests of processes: calls of tools, and sleeps.

A sleep is like a timer of a program: the host is asked to send the next step when it is due, so it survives the sandbox.
"""

import asyncio
from difflib import get_close_matches

from ptc_runner.protocol.floats import float_mask, with_floats
from ptc_runner.protocol.json_codec import dumps
from ptc_runner.program.tools import encode_arguments

MAXIMUM_OPEN = 256
MAXIMUM_NAME_CHARACTERS = 64  # of tools
MAXIMUM_CALL_BYTES = 256 * 1024  # of the calls in one suspension: the next one follows at once, and sends the rest


class ToolFailure(Exception):
    """The answer to a call that failed. `status` is that of an outcome, or one of those in `server.STATUSES`."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status, self.message = status, message


class Request:
    """`due`: of a sleep, in the time that the session has waited. `index`: of a call that the host has."""

    def __init__(self, pid, tool="", arguments=None, due=None):
        self.pid, self.tool, self.arguments, self.due = pid, tool, arguments, due
        self.text = dumps(arguments)  # for the order, and the size
        self.index = None
        self.answer = asyncio.get_running_loop().create_future()

    @property
    def order(self):
        return self.tool, self.text


class OpenRequests:
    def __init__(self, session):
        self.session = session
        self.tools = {}  # name -> signature, by the names in code and those of the tools
        self.open = []
        self.accepts = False  # a cell runs
        self.is_sleep_next = False  # the host sends the next step, at the latest, when the first sleep is due

    def set_tools(self, signatures):
        self.tools = {signature.get("tool", signature["name"]): signature for signature in signatures}
        self.tools.update((signature["name"], signature) for signature in signatures)

    def begin_cell(self):
        self.accepts = True

    def end_cell(self):
        self.accepts = False
        for request in self.open:
            if not request.answer.done():
                request.answer.set_exception(ToolFailure("cancelled", "the cell has ended"))
        self.open = []

    @property
    def any_open(self):
        return bool(self.open)

    @property
    def pids(self):
        return {request.pid for request in self.open}

    async def call(self, pid, name, arguments):
        """Makes a call, and waits for its result: the value, or the pieces of its JSON text."""
        signature = self.tools.get(name)
        if signature is None:
            raise ToolFailure("not_found", unknown_tool(name, self.tools))
        self._check_open()
        session = self.session
        try:
            checked = encode_arguments(name, arguments, session.limits["argument_bytes"])
        except (TypeError, ValueError) as problem:
            raise ToolFailure("invalid_arguments", str(problem)) from None
        missing = [parameter for parameter in signature["required"] if parameter not in checked]
        if missing:
            takes = ", ".join(signature["parameters"])
            raise ToolFailure("invalid_arguments", f"{name} is missing {', '.join(missing)}; it takes {takes}")
        session.calls_in_cell += 1
        if session.calls_in_cell > (limit := session.limits["calls_per_cell"]):
            problem = f"more than {limit} tool calls in one cell. Make the rest in the next cell."
            session.stop({"kind": "limit_exceeded", "error": problem})
            raise ToolFailure("cancelled", problem)
        return await self._wait(Request(pid, signature.get("tool", signature["name"]), checked))

    async def sleep(self, pid, seconds):
        self._check_open()
        await self._wait(Request(pid, due=self.session.waited + 1_000 * seconds))

    def _check_open(self):
        if not self.accepts:
            raise ToolFailure("denied", "no cell is running: calls can be made only while one is")
        if len(self.open) >= MAXIMUM_OPEN:
            raise ToolFailure("busy", f"more than {MAXIMUM_OPEN} calls at once")

    async def _wait(self, request):
        self.open.append(request)
        self.session.quiet.reset()
        self.session.changed.set()
        try:
            return await request.answer
        finally:
            if request in self.open:  # the process has closed its connection
                self.open.remove(request)
                self.session.changed.set()

    # -- called by the session

    def take_new(self):
        """Numbers the new calls. Returns those that fit, the seconds until the first sleep is due, and if there are more."""
        session = self.session
        calls, size = [], 0
        new = sorted((request for request in self.open if request.index is None and request.due is None), key=lambda r: r.order)
        for request in new:
            size += len(request.text) + 2
            if calls and size > MAXIMUM_CALL_BYTES:
                break
            request.index = session.next_call_index()
            mask = float_mask(request.arguments)
            floats = {} if mask is None else {"floats": mask}
            calls.append({"call": request.index, "tool": request.tool, "arguments": request.arguments, **floats})
        due = [request.due for request in self.open if request.due is not None]
        seconds = max(0, (min(due) - session.waited) / 1_000) if due else None
        return calls, seconds, len(calls) < len(new)

    def deliver(self, results):
        """Answers calls, and the sleeps that are due. A step without results comes when the first sleep is due."""
        by_index = {request.index: request for request in self.open if request.index is not None}
        for result in results:
            request = by_index.get(result["call"])
            if request is not None:
                self.open.remove(request)
                _answer(request, result["outcome"], self.session.host.values)
        sleeping = [request for request in self.open if request.due is not None]
        if sleeping and not results and self.is_sleep_next:
            first = min(request.due for request in sleeping)
            for request in sleeping:
                if request.due <= max(first, self.session.waited):
                    self.open.remove(request)
                    request.answer.set_result((None, None))
        self.session.quiet.reset()


def _answer(request, outcome, values):
    if request.answer.done():
        return
    if outcome["status"] != "ok":
        request.answer.set_exception(ToolFailure(outcome["status"], outcome.get("message", outcome["status"])))
    elif "ref" in outcome:
        request.answer.set_result((None, values.pieces_of(outcome["ref"])))
    else:
        value = with_floats(outcome["value"], outcome["floats"]) if "floats" in outcome else outcome["value"]
        request.answer.set_result((value, None))


def unknown_tool(name, tools):
    near = get_close_matches(name, tools, 3) if len(name) <= MAXIMUM_NAME_CHARACTERS else []
    hint = f"; did you mean {' or '.join(near)}?" if near else "; `tool --help` lists all"
    return f"there is no tool {name[:100]}{hint}"
