"""Reports the end of child processes, with what they have used."""

import os
import signal


class Reaper:
    def __init__(self):
        self.waiting = {}  # pid -> function that gets the status and the usage

    def start(self, loop):
        loop.add_signal_handler(signal.SIGCHLD, self._reap)

    def on_end(self, pid, callback):
        """Calls back once, with the exit code as a shell reports it, and the usage of the process and its children.

        Call it before the event loop runs again after the start: then no end is missed.
        """
        self.waiting[pid] = callback

    def _reap(self):
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            code = os.waitstatus_to_exitcode(status)
            callback = self.waiting.pop(pid, None)
            if callback is not None:  # not an orphan
                callback(code if code >= 0 else 128 - code, usage)
