"""The processes that the dispatcher has started, directly or not; and whether all of them wait.

A process waits when it has an open call; when it waits for a child or reads a pipe; and when it waits for events, if
it is the process of a runner, whose timers are the host's. So code that computes, sleeps or uses a socket does not
wait: this is local work, and may go on while a call is open. Two scans with the same states and the same used time count; EVENT_SECONDS apart when a runner waits for events,
because it may be about to suspend by itself, with calls of its own.

| /proc/PID/syscall                                | all processes wait                                               |
|--------------------------------------------------|------------------------------------------------------------------|
| can be read                                      | by the rule above                                                |
| can't be read: gVisor, and some hardened kernels | when no call has come for QUIET_SECONDS                          |

An orphan becomes a child of the dispatcher (PR_SET_CHILD_SUBREAPER), so it is found, too.
"""

import ctypes
import os
import platform
from time import monotonic

QUIET_SECONDS = 0.05
EVENT_SECONDS = 0.06  # the runner of JavaScript looks every 20 ms whether its event loop sleeps
PR_SET_CHILD_SUBREAPER = 36
LOCAL_SECONDS = 0.2  # local work that only sleeps, or waits for something else
RUNNING_SECONDS = 2.0  # local work that computes: a process that is about to call a tool is starting, or in line
RUNNING, ELSEWHERE = "running", "elsewhere"  # states of a process that does not wait as above

# Numbers of system calls by machine: waiting for a child, reading, waiting for events or another thread.
_NUMBERS = {
    "x86_64": ({61, 247}, {0}, {7, 23, 202, 232, 270, 271, 281}),
    "aarch64": ({95, 260}, {63}, {22, 72, 73, 98}),
}
WAITS, READS, EVENTS = _NUMBERS.get(platform.machine(), (set(), set(), set()))


def adopt_orphans():
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def descendants(roots):
    """Returns the living processes below these, without them."""
    children = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                status, parent = _stat(name)[:2]
            except OSError:  # it has ended
                continue
            if status not in "ZX":
                children.setdefault(int(parent), []).append(int(name))
    found, pending = [], list(roots)
    while pending:
        below = children.get(pending.pop(), ())
        found += below
        pending += below
    return found


def end_process(pid, number):
    """Sends a signal. The process may have ended."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


class QuietCheck:
    def __init__(self, session):
        self.session = session
        self.shows_system_calls = os.path.exists("/proc/self/syscall")
        self.reset()

    def reset(self):
        """Called when a step begins, and when a call arrives."""
        self.since = monotonic()
        self.last_scan = None
        self.scan_since = self.since

    @property
    def has_local_work(self):
        """Whether some process has not waited for so long that calls are sent all the same."""
        if self.last_scan not in (RUNNING, ELSEWHERE):
            return False
        limit = LOCAL_SECONDS if self.last_scan is ELSEWHERE else RUNNING_SECONDS
        return monotonic() - self.scan_since >= limit

    def check(self):
        """Returns whether all processes wait, after two equal scans."""
        if not self.shows_system_calls:
            return monotonic() - self.since >= QUIET_SECONDS
        try:
            scan = self._scan()
        except PermissionError:  # a process that can't be traced
            return monotonic() - self.since >= QUIET_SECONDS
        if scan != self.last_scan:
            self.last_scan, self.scan_since = scan, monotonic()
            return False
        if scan in (RUNNING, ELSEWHERE):
            return False
        return not self.waits_for_events or monotonic() - self.scan_since >= EVENT_SECONDS

    def _scan(self):
        session = self.session
        active = session.cell.runner_pid
        idle = {runner.pid for runner in session.runners.values() if runner.pid != active}
        calling = session.requests.pids
        self.waits_for_events = False
        states = []
        for pid in descendants([os.getpid()]):
            if pid in idle:
                continue
            try:
                state = self._state_of(pid, pid in calling, pid == active)
            except (FileNotFoundError, ProcessLookupError):
                return RUNNING  # it has just ended
            if state is RUNNING:
                return RUNNING
            states.append((pid, state))
        return ELSEWHERE if any(state is ELSEWHERE for _, state in states) else states


    def _state_of(self, pid, has_call, is_runner):
        """Returns what has to be equal in two scans, or that the process does not wait."""
        threads = os.listdir(f"/proc/{pid}/task") if is_runner else [str(pid)]
        states = []
        for thread in threads:
            fields = _stat(pid, thread)
            status, used = fields[0], fields[11:15]
            if status in "ZX":
                continue
            if status != "S":
                return RUNNING
            if has_call:
                return "call"
            if is_runner and int(thread) != pid:
                states.append((thread, used))
                continue
            with open(f"/proc/{pid}/task/{thread}/syscall") as file:
                call = file.read().split()
            if is_runner and call[0].isdigit() and int(call[0]) in EVENTS:
                self.waits_for_events = True
            elif not _waits_for_process(pid, call):
                return RUNNING if call[0] == "running" else ELSEWHERE
            states.append((thread, call[0], used))
        return states


def _stat(pid, thread=None):
    """Returns the fields of a process or thread from the state on: state, parent, group, session ..."""
    with open(f"/proc/{pid}/task/{thread}/stat" if thread else f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()


def _waits_for_process(pid, call):
    """Whether this is the system call of a thread that waits for a child, or reads a pipe. `call` may be `running`."""
    if not call[0].isdigit():
        return False
    number = int(call[0])
    return number in WAITS or (
        number in READS and os.readlink(f"/proc/{pid}/fd/{int(call[1], 16)}").startswith("pipe:")
    )
