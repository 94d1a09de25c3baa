"""The process of the runner, as a child of the relay."""

import json
import os
import resource
import signal

DIAGNOSTICS = 2 * 1024  # bytes of the end of its stderr
END_BYTES = 4096  # of a termination message of Kubernetes
OOM_COUNTERS = ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control")
LIMITS = {
    "processes": resource.RLIMIT_NPROC,  # of the user, whom only this sandbox has
    "openFiles": resource.RLIMIT_NOFILE,
    "fileBytes": resource.RLIMIT_FSIZE,
    "coreBytes": resource.RLIMIT_CORE,
    "lockedBytes": resource.RLIMIT_MEMLOCK,
    "messageQueueBytes": resource.RLIMIT_MSGQUEUE,
}


class Runner:
    def __init__(self, command, limits, environment):
        self.oom_kills = oom_kills()
        inputs, outputs, errors = os.pipe(), os.pipe(), os.pipe()
        # The relay ignores SIGINT. An interrupt that comes before the child has its own handler waits until then.
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        self.pid = os.fork()
        if self.pid == 0:
            self._exec(command, limits, environment, (inputs[0], outputs[1], errors[1]))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        for descriptor in (inputs[0], outputs[1], errors[1]):
            os.close(descriptor)
        self.input, self.output, self.errors = inputs[1], outputs[0], errors[0]
        for descriptor in (self.input, self.output, self.errors):
            os.set_blocking(descriptor, False)
        self.diagnostics = b""
        self.code = None

    def _exec(self, command, limits, environment, descriptors):
        try:
            os.setpgid(0, 0)
            for handled in (signal.SIGINT, signal.SIGPIPE):
                signal.signal(handled, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, [])
            for target, descriptor in enumerate(descriptors):
                os.dup2(descriptor, target)
            for name, value in limits.items():
                resource.setrlimit(LIMITS[name], (value, value))
            os.execve(command[0], command, environment)
        finally:
            os._exit(127)

    def interrupt(self):
        if self.code is None:
            os.kill(self.pid, signal.SIGINT)

    def reap(self):
        """Reaps all ended processes. With the runner, all others end."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self.pid:
                self.code = 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
                kill_others(self.pid)

    def add_diagnostics(self, text):
        self.diagnostics = (self.diagnostics + text)[-DIAGNOSTICS:]

    def end(self):
        """Returns what the owner gets to know about the end, as JSON."""
        is_out_of_memory = self.code == 128 + signal.SIGKILL and oom_kills() > self.oom_kills
        diagnostics = self.diagnostics.decode(errors="replace")
        while True:
            end = {"code": self.code, "outOfMemory": is_out_of_memory, "diagnostics": diagnostics}
            encoded = json.dumps(end).encode()
            if len(encoded) <= END_BYTES:
                return encoded
            diagnostics = diagnostics[len(diagnostics) // 2 + 1 :]


def kill_others(group):
    try:
        if os.getpid() == 1:
            os.kill(-1, signal.SIGKILL)
        else:
            os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def oom_kills():
    """How many processes of this sandbox the kernel has killed for memory; 0 where it does not tell."""
    for path in OOM_COUNTERS:
        try:
            with open(path) as counters:
                for line in counters:
                    name, _, count = line.partition(" ")
                    if name == "oom_kill":
                        return int(count)
        except (OSError, ValueError):
            pass
    return 0
