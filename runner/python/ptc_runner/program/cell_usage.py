"""Measures what a cell uses: the time for which its code ran, its CPU time, and the peak of its memory.

| member              | container                                                        | embedded                        |
|---------------------|------------------------------------------------------------------|---------------------------------|
| `run_ms`            | time of the cell timer: waiting for the host does not count      | the same                        |
| `cpu_ms`            | of this process, and of its children that it has waited for      | absent: there is no such clock  |
| `peak_memory_bytes` | highest resident memory of this process since the cell began;    | absent                          |
|                     | absent where the kernel can't reset the mark (gVisor)            |                                 |

What the runner itself uses in a cell is in the numbers. Threads and processes of earlier cells that still run are, too.
"""

from os import O_RDONLY, O_WRONLY, close, open as open_file, read, times, write

from ..process import EMBEDDED

RESET_PEAK = b"5"  # see proc(5), clear_refs
PEAK_LABEL = b"VmHWM:"


class CellUsage:
    def __init__(self, timer):
        self.timer = timer
        self.begin()

    def begin(self):
        self.run_seconds = self.timer.total_seconds
        self.cpu_seconds = _cpu_seconds()
        self.has_peak = not EMBEDDED and _reset_peak()

    def measure(self):
        """Returns the use of the cell since `begin`, for a result."""
        usage = {"run_ms": _milliseconds(self.timer.total_seconds - self.run_seconds)}
        if not EMBEDDED:
            usage["cpu_ms"] = _milliseconds(_cpu_seconds() - self.cpu_seconds)
        peak = _peak_bytes() if self.has_peak else None
        return usage if peak is None else {**usage, "peak_memory_bytes": peak}


def _milliseconds(seconds):
    return max(round(seconds * 1000), 0)


def _cpu_seconds():
    return sum(times()[:4])  # user and system time, of this process and of its children


def _reset_peak():
    try:
        file = open_file("/proc/self/clear_refs", O_WRONLY)
        try:
            return write(file, RESET_PEAK) == len(RESET_PEAK)
        finally:
            close(file)
    except OSError:
        return False


def _peak_bytes():
    try:
        file = open_file("/proc/self/status", O_RDONLY)
        try:
            _, _, rest = read(file, 4096).partition(PEAK_LABEL)
        finally:
            close(file)
        return int(rest.split()[0]) * 1024
    except (OSError, ValueError, IndexError):
        return None
