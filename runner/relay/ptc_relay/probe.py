"""Finds out what a sandbox of this cluster could reach and do. Runs as the only program of a sandbox of its own.

It writes JSON to the termination message of its container, which the cluster returns with the state of the pod:
`reached` lists the addresses that answered, in any way: a refused connection has reached a host, too.
"""

import errno
import json
import os
import resource
import select
import socket
import struct
import time

SECONDS = 2
# Servers that are there or answer for others: a metadata service of clouds, and public resolvers.
ADDRESSES = (("169.254.169.254", 80), ("1.1.1.1", 443), ("8.8.8.8", 53), ("2606:4700:4700::1111", 443))
KUBELET_PORTS = (10250, 22)
DNS_QUERY = struct.pack(">HHHHHH", 0x7074, 0x0100, 1, 0, 0, 0) + b"\7example\3com\0" + struct.pack(">HH", 1, 1)
ANSWERS = (0, errno.ECONNREFUSED, errno.ECONNRESET)
TERMINATION_LOG = "/dev/termination-log"
RELAY_VERSION = 1


def main(arguments):
    options = json.loads(arguments[1])
    report = {
        "relay": RELAY_VERSION,
        "runner": _text("/opt/durable-ptc/image/runner-digest"),
        "reached": _reached(options.get("addresses", [])),
        "status": _status("Uid", "CapEff", "CapBnd", "NoNewPrivs", "Seccomp"),
        "memoryBytes": _memory_bytes(),
        "canLimitProcesses": _can_limit_processes(),
        "canWriteRoot": _can_write("/opt/durable-ptc") or _can_write("/"),
        "hasToken": os.path.exists("/var/run/secrets/kubernetes.io/serviceaccount/token"),
    }
    with open(TERMINATION_LOG, "w") as log:
        json.dump(report, log)


def _reached(more):
    targets = [*ADDRESSES, *((host, port) for host, port in more)]
    api = os.environ.get("KUBERNETES_SERVICE_HOST"), os.environ.get("KUBERNETES_SERVICE_PORT")
    if all(api):
        targets.append((api[0], int(api[1])))
    node = os.environ.get("PTC_NODE_ADDRESS")
    if node:
        targets += [(node, port) for port in KUBELET_PORTS]
    resolvers = _resolvers()
    targets += [(resolver, 53) for resolver in resolvers]
    waiting, reached = {}, []
    for kind, addresses in ((socket.SOCK_STREAM, targets), (socket.SOCK_DGRAM, [(each, 53) for each in resolvers])):
        for host, port in addresses:
            name = f"{host}:{port}" + ("/udp" if kind == socket.SOCK_DGRAM else "")
            try:
                opened = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, kind)
                opened.setblocking(False)
                error = opened.connect_ex((host, port))
                if kind == socket.SOCK_DGRAM and error == 0:
                    opened.send(DNS_QUERY)
                    error = errno.EINPROGRESS
            except OSError:
                continue
            if error == errno.EINPROGRESS:
                waiting[opened.fileno()] = opened, kind, name
            elif error in ANSWERS:
                reached.append(name)
    poll = select.poll()
    for number, (_, kind, _) in waiting.items():
        poll.register(number, select.POLLOUT if kind == socket.SOCK_STREAM else select.POLLIN)
    deadline = time.monotonic() + SECONDS
    while waiting and (left := deadline - time.monotonic()) > 0:
        for number, _ in poll.poll(left * 1000):
            poll.unregister(number)
            opened, _, name = waiting.pop(number)
            if opened.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) in ANSWERS:
                reached.append(name)
    return sorted(reached)


def _resolvers():
    lines = _text("/etc/resolv.conf").splitlines()
    found = [words[1] for words in map(str.split, lines) if words[:1] == ["nameserver"] and len(words) > 1]
    # The loopback interface of the pod is no network.
    return [address for address in found if not address.startswith("127.") and address != "::1"]


def _status(*names):
    lines = dict(line.split(":", 1) for line in _text("/proc/self/status").splitlines() if ":" in line)
    return {name: " ".join(lines.get(name, "").split()) for name in names}


def _memory_bytes():
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        text = _text(path).strip()
        if text.isdigit() and int(text) < 1 << 60:
            return int(text)
    return None


def _can_limit_processes():
    """Whether the kernel refuses a process over the limit of a user."""
    pid = os.fork()
    if pid == 0:
        try:
            resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
            child = os.fork()
            if child == 0:
                os._exit(0)
            os._exit(1)
        except OSError:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def _can_write(folder):
    path = os.path.join(folder, ".ptc-probe")
    try:
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
        os.unlink(path)
        return True
    except OSError:
        return False


def _text(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""
