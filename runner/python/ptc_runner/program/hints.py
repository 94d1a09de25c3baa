"""Hints for the author of a cell, where messages of Python do not contain a remedy."""

import os
import re
import sys
import warnings
import weakref
from atexit import _ncallbacks
from inspect import CORO_CREATED, getcoroutinestate, iscoroutine
from threading import enumerate as all_threads  # from here on: names that the program may replace
from time import monotonic, sleep
from weakref import ref

from ..protocol.json_codec import loads
from ..process import EMBEDDED
from .event_loop import running_threads

# The message of asyncio for code that starts a loop in a loop.
NESTED_LOOP_ERRORS = (
    "asyncio.run() cannot be called from a running event loop",
    "Runner.run() cannot be called from a running event loop",
    "This event loop is already running",
    "Cannot run the event loop while another loop is running",
)
# The message of a tool that is awaited in a loop of another thread, or of a policy that the program has set.
WRONG_LOOP_ERROR = (
    "{tool}() can't be awaited in this event loop: await it in the cell, as in `await main()`, which needs no thread. "
    "A function that needs one: `await asyncio.to_thread(function, asyncio.get_running_loop())` in the cell, and "
    "`asyncio.run_coroutine_threadsafe({tool}(...), loop).result()` in the function"
)
NO_PROCESSES = 138  # ENOTSUP of Emscripten
MAXIMUM_LISTED_PACKAGES = 50
_starts_install = re.compile(r"[%!]+ *(pip3?|conda|apt|apt-get|uv)\b|(python3? -m )?pip3? install\b").match
_starts_command = re.compile(r"(\w+ *= *)?[%!]+ *[A-Za-z]").match
_find_fence = re.compile(r"^[^\S\n]*(```|~~~)", re.MULTILINE).search
_find_long_string = re.compile(r"\"{3}|'{3}").search
_find_escape = re.compile(r"\\[nt\"]").search
_looks_like_code = re.compile(r"[(=\n]").search
MANY_CLOCK_READS = 100  # in one cell: a loop waits for the clock; code that only measures reads it less often
THREAD_EXIT_SECONDS = 0.05  # the cell may end with the result of a thread that is about to end


def await_hint(name):
    return f"write `await {name}(...)`."


def hint_for_error(error):
    text = error.args[0] if type(error) is RuntimeError and error.args else None
    if type(text) is str and text in NESTED_LOOP_ERRORS:
        return "\n[hint] The cell runs in an event loop already: write `await main()`, not `asyncio.run(main())`."
    if EMBEDDED and type(text) is str and text == "can't start new thread":
        return "\n[hint] This sandbox has no threads: call the function itself, and await tools with asyncio.gather()."
    if EMBEDDED and type(error) is OSError and error.errno == NO_PROCESSES:
        return "\n[hint] This sandbox can't start processes: use Python's own library."
    if type(error) is ModuleNotFoundError:
        packages = _installed_packages()
        others = f" and these packages: {', '.join(packages)}" if packages else ""
        return f"\n[hint] Packages can't be installed. This sandbox has Python's standard library{others}."
    return ""


def _installed_packages():
    names = set()
    for folder in sys.path:
        try:
            names.update(name.partition("-")[0] for name in os.listdir(folder) if name.endswith(".dist-info"))
        except (OSError, TypeError, ValueError):  # the program may have put anything there
            pass
    return sorted(names)[:MAXIMUM_LISTED_PACKAGES]


def hint_for_syntax(error, source):
    """Names the error in a text that a model has sent in place of a program. `error` comes from the compiler."""
    text = source if error.lineno == 1 else error.text or ""  # in front of the program there may be a sentence
    fence = _find_fence(text)
    has_fence = fence and not _find_long_string(text, 0, fence.start())  # a string may have the text of a document
    hint = _syntax_hint(error.msg, (error.text or "").strip(), has_fence)
    return f"\n[hint] {hint}" if hint else ""


def _syntax_hint(message, line, has_fence):
    if has_fence:
        return "The code has a Markdown fence: send it without the lines of ``` or ~~~."
    if _starts_install(line):
        return "Packages can't be installed in the sandbox: use the standard library, and what is installed."
    if _starts_command(line):
        return "Commands of IPython (`%name`, `!command`) do not work here: write plain Python."
    if message == "'return' outside function":
        return "A cell is not a function: print the result, or define a function and call it."
    if message in ("'yield' outside function", "'yield from' outside function"):
        return "A cell is not a function: append the values to a list, or define a generator function and call it."
    if message == "'await' outside async function":
        return "Only the cell itself and `async def` functions can await: write `async def`, and await its calls."
    if "line continuation" in message and _find_escape(line):
        return "The code was escaped twice: it has \\n where a line should end."
    return None


def hint_for_stop(stop, clock_reads):
    """`clock_reads`: number of reads of the clock by the cell. The clock does not move while code computes."""
    if stop.kind == "timed_out" and clock_reads > MANY_CLOCK_READS:
        return "\n[hint] time.time() stands still while code computes: measure with time.perf_counter()."
    return ""


class CellHints:
    """The hints after the output of a cell. Each class has `begin_cell`, and `lines` for a cell that has ended."""

    def __init__(self, variables):
        self.unawaited, self.threads, self.atexit = UnawaitedHint(variables), ThreadHint(), AtexitHint()
        self.source = ""
        self.streams = []  # lines about streams that were restored when the cell began

    def begin_cell(self):
        self.unawaited.begin_cell()

    def set_source(self, source):
        self.source = source
        self.atexit.begin_cell(source)

    def end_cell(self):
        self.unawaited.end_cell()

    def text(self, pending_calls):
        lines = [
            *self.streams,
            *encoded_twice_lines(self.source),
            *self.unawaited.lines(),
            *pending_calls_lines(pending_calls),
            *self.threads.lines(),
            *self.atexit.lines(),
        ]
        return "".join(f"[hint] {line}\n" for line in lines)


def pending_calls_lines(count):
    return [f"{count} tool calls were still open when the cell ended: await them in the next cell."] if count else []


def encoded_twice_lines(source):
    """A cell that is JSON of a program is valid Python: one expression, which does nothing."""
    text = source.strip()
    if not text.startswith(('"', "{", "[")) or len(text) > 1_000_000:
        return []
    try:
        value = loads(text)
    except (ValueError, RecursionError):
        return []
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    program = value.get("code") if isinstance(value, dict) else value
    if not (isinstance(program, str) and _looks_like_code(program)):
        return []
    return ["Nothing ran: the code is a JSON text that contains a program. Send the program itself."]


class UnawaitedHint:
    """Finds tool calls that were made but never awaited, the most common mistake of model-written code."""

    def __init__(self, variables):
        self.variables = variables
        self.reported = weakref.WeakSet()
        self.names = []
        self.show_warning = warnings._showwarnmsg_impl
        warnings._showwarnmsg_impl = self._record_warning  # not called when the program shows warnings in its own way

    def begin_cell(self):
        self.names = []
        self.variables.pop("__warningregistry__", None)  # a warning is shown once for each line of each cell

    def end_cell(self):
        for value in list(self.variables.values()):
            if iscoroutine(value) and value not in self.reported:
                if getcoroutinestate(value) == CORO_CREATED:
                    self.reported.add(value)
                    self.names.append(value.__name__)

    def _record_warning(self, warning):
        if warning.category is RuntimeWarning and iscoroutine(warning.source):
            self.names.append(warning.source.__name__)
        else:
            self.show_warning(warning)

    def lines(self):
        return [f"{name}() was called but never awaited: {await_hint(name)}" for name in sorted(set(self.names))]


class ThreadHint:
    """Reports each thread that outlives its cell, once."""

    def __init__(self):
        self.reported = []  # weak references: another thread may get the number of a thread that has ended

    def lines(self):
        started = monotonic()
        while (new := self._new_threads()) and monotonic() - started < THREAD_EXIT_SECONDS:
            sleep(0.001)
        self.reported = [reference for reference in self.reported if reference() is not None] + list(map(ref, new))
        if not new:
            return []
        return [f"{len(new)} threads were still running when the cell ended: what they print comes with a later cell."]

    def _new_threads(self):
        busy = set(running_threads())
        reported = [reference() for reference in self.reported]
        return [
            thread
            for thread in all_threads()
            if thread.ident in busy and not any(thread is reported_thread for reported_thread in reported)
        ]


class AtexitHint:
    """Reports that a cell has registered functions with `atexit`."""

    def __init__(self):
        self.mentions_atexit, self.count = False, 0

    def begin_cell(self, source):
        # Modules of the library also register functions when they are imported.
        self.mentions_atexit, self.count = "atexit" in source, _ncallbacks()

    def lines(self):
        if not self.mentions_atexit or _ncallbacks() <= self.count:
            return []
        return ["what functions of `atexit` print is lost: they run when the session is over. Call them in a cell."]
