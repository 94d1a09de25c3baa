"""A cell that is a process. When it has ended, all processes that it has started end, too."""

import os
import signal
import subprocess

from ..processes import descendants, end_process
from .output import PipeOutput

MAXIMUM_PASSES = 20


class ProcessCell:
    """Subclasses start the process, and describe its end."""

    runner_pid = None
    seconds = None  # a time limit below that of all cells
    mask = None  # a function of the output
    stdin = subprocess.DEVNULL

    def __init__(self, session):
        self.session = session
        self.output = self.process = None  # until the process is started
        self.message = None
        self.was_stopped = False
        self.others = set(descendants([os.getpid()]))  # what earlier cells have left: processes of runners

    def fail(self, error, kind="code_error"):
        """The process could not be started."""
        self.message = {"type": "failed", "kind": kind, "error": error, "output": ""}

    def start_process(self, command, environment, cwd):
        """Starts the process. Raises OSError when it can't be started."""
        self.output = PipeOutput(self.session, self.mask)
        try:
            self.process = subprocess.Popen(
                command,
                stdin=self.stdin,
                stdout=self.output.stdout,
                stderr=self.output.stderr,
                env=environment,
                cwd=cwd,
                start_new_session=True,
            )
        finally:
            self.output.close_write_ends()
        self.session.reaper.on_end(self.process.pid, self._on_end)

    def _on_end(self, status, usage):
        self._kill()  # what it has started: it can hold the pipes open, and would call tools after the cell
        end = {**self.describe_end(status), "exit_code": status & 0xFF, "usage": self._usage(usage)}
        if self.was_stopped:
            end = {**end, "type": "failed", "kind": "stopped", "error": "Interrupted"}
        self.message = {**end, **self.output.take(self.note(status))}
        self.session.changed.set()

    def _usage(self, usage):
        return {
            "run_ms": int(1_000 * self.session.running_seconds),
            "cpu_ms": int(1_000 * (usage.ru_utime + usage.ru_stime)),
            "peak_memory_bytes": usage.ru_maxrss * 1_024,
        }

    def describe_end(self, status):
        if status == 0:
            return {"type": "completed"}
        return {"type": "failed", "kind": "code_error", "error": describe_status(status)}

    def note(self, status):
        return ""

    def take_message(self):
        message, self.message = self.message, None
        return message

    def take_output(self):
        return self.output.take()

    def resume(self, frame):
        pass  # the processes continue by the results of their calls

    def interrupt(self):
        self.session.on_interrupted()
        self.session.stop({"kind": "stopped", "error": "Interrupted"})

    def stop(self, is_last):
        """First as Ctrl-C in a terminal: a shell runs its traps."""
        self.was_stopped = True
        self._kill(signal.SIGKILL if is_last else signal.SIGINT)

    def _kill(self, number=signal.SIGKILL):
        """Signals what the cell has started; again for what was started meanwhile."""
        for _ in range(MAXIMUM_PASSES if number == signal.SIGKILL else 1):
            kept = self.others.union(descendants(runner.pid for runner in self.session.runners.values()))
            own = set(descendants([os.getpid()])) - kept
            if not own:
                break
            for pid in own:
                end_process(pid, number)

    def finish(self):
        if self.process is not None:
            self._kill()
        if self.output is not None:
            self.output.close()


def describe_status(status):
    if status <= 128:
        return f"exit code {status}"
    try:
        return f"exit code {status}: ended by {signal.Signals(status - 128).name}"
    except ValueError:
        return f"exit code {status}"
