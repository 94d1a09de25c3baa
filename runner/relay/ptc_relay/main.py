"""The loop of the relay: reads and writes whatever descriptor is ready, and never waits for one of them."""

import argparse
import ctypes
import errno
import json
import os
import select
import signal
import time

from .packets import PacketReader
from .runner import Runner, kill_others
from .stream import Stream

ORPHANED = 124  # the exit code when no owner lived
KILLED = 128 + signal.SIGKILL
LINGER_SECONDS = 10  # that a relay waits for its owner to take the end of the runner
DRAIN_SECONDS = 2  # for output after the end of the runner
CHUNK = 64 * 1024
PR_SET_DUMPABLE = 4
TERMINATION_LOG = "/dev/termination-log"
STDIN, STDOUT = 0, 1


def main(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("--lease", type=float, required=True)
    parser.add_argument("--idle-lease", type=float)
    parser.add_argument("--limits", type=json.loads, default={})
    parser.add_argument("command", nargs="+")
    options = parser.parse_args(arguments)
    if ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        raise OSError("this process can't be made undumpable")
    # Kubernetes names its servers in each container.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("KUBERNETES_")}
    wakeup, wakeup_write = os.pipe()
    for descriptor in (wakeup, wakeup_write, STDIN, STDOUT):
        os.set_blocking(descriptor, False)
    signal.set_wakeup_fd(wakeup_write, warn_on_full_buffer=False)
    ends = []
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # code may send it; the owner interrupts by a packet
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGTERM, lambda *_: ends.append(128 + signal.SIGTERM))
    idle_lease = options.lease if options.idle_lease is None else options.idle_lease
    relay = Relay(Runner(options.command, options.limits, environment), wakeup, options.lease, idle_lease)
    os._exit(relay.run(ends))


class Relay:
    def __init__(self, runner, wakeup, lease_seconds, idle_lease_seconds):
        self.runner = runner
        self.wakeup = wakeup
        self.lease_seconds = lease_seconds
        self.idle_lease_seconds = idle_lease_seconds
        self.stream = Stream(time.monotonic())
        self.reader = PacketReader()
        self.out = b""
        self.opened = {STDIN, runner.output, runner.errors, runner.input}
        self.exited_at = None

    def run(self, ends):
        """Returns the exit code of the sandbox."""
        while True:
            now = time.monotonic()
            stream, runner = self.stream, self.runner
            if ends:
                return self._kill(ends[0])
            if stream.is_killed:
                return self._kill(KILLED)
            # A runner that has got nothing has no state: a sandbox of a warm pool, or one of a session without a step.
            if now - stream.heard_at > (self.lease_seconds if stream.received > 0 else self.idle_lease_seconds):
                return self._kill(ORPHANED)
            self._note_exit(now)
            if stream.exit is not None and (stream.is_ended or now - self.exited_at > LINGER_SECONDS):
                return runner.code
            if stream.wants_interrupt:
                stream.wants_interrupt = False
                runner.interrupt()
            self._fill(now)
            self._wait()

    def _kill(self, code):
        kill_others(self.runner.pid)
        return code

    def _note_exit(self, now):
        runner, stream = self.runner, self.stream
        runner.reap()
        if runner.code is None or stream.exit is not None:
            return
        self.exited_at = self.exited_at or now
        # No other process is left that could write, so both end at once; a process of the host's tests may be.
        if {runner.output, runner.errors} & self.opened and now - self.exited_at < DRAIN_SECONDS:
            return
        stream.exit = runner.end()
        try:
            with open(TERMINATION_LOG, "wb") as log:  # kept by the cluster after the end of this process
                log.write(stream.exit)
        except OSError:
            pass

    def _fill(self, now):
        while len(self.out) < CHUNK:
            packet = self.stream.next_packet(now)
            if packet is None:
                return
            self.out += packet

    def _wait(self):
        runner, stream = self.runner, self.stream
        poll = select.poll()
        poll.register(self.wakeup, select.POLLIN)
        if STDIN in self.opened:
            poll.register(STDIN, select.POLLIN)
        if self.out:
            poll.register(STDOUT, select.POLLOUT)
        if runner.output in self.opened and stream.room > 0:
            poll.register(runner.output, select.POLLIN)
        if runner.errors in self.opened:
            poll.register(runner.errors, select.POLLIN)
        if runner.input in self.opened and stream.input:
            poll.register(runner.input, select.POLLOUT)
        for descriptor, _ in poll.poll(500):
            self._handle(descriptor)

    def _handle(self, descriptor):
        runner, stream = self.runner, self.stream
        try:
            if descriptor == STDOUT:
                self.out = self.out[os.write(STDOUT, self.out) :]
            elif descriptor == runner.input:
                del stream.input[: os.write(descriptor, stream.input[:CHUNK])]
            elif descriptor == runner.output:
                stream.output += self._read(descriptor, min(CHUNK, stream.room))
            elif descriptor == runner.errors:
                runner.add_diagnostics(self._read(descriptor, CHUNK))
            elif descriptor == STDIN:
                for packet in self.reader.push(self._read(STDIN, CHUNK)):
                    stream.receive(packet, time.monotonic())
                # Mostly the runner waits for input: then one acknowledgement tells that all was read.
                if stream.input and runner.input in self.opened:
                    self._handle(runner.input)
            else:
                os.read(self.wakeup, CHUNK)
        except BlockingIOError:
            pass
        except OSError as error:
            if descriptor == STDOUT or error.errno not in (errno.EPIPE, errno.EIO, errno.ECONNRESET):
                raise
            self._close(descriptor)

    def _read(self, descriptor, size):
        data = os.read(descriptor, size)
        if not data:
            self._close(descriptor)
        return data

    def _close(self, descriptor):
        self.opened.discard(descriptor)
        if descriptor == self.runner.input:
            self.stream.input.clear()
        if descriptor != STDIN:
            os.close(descriptor)
