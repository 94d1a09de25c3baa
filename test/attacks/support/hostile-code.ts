/** The root folder of process 1, as a program in the sandbox names it. */
export const rootOfInit = '/proc/1/root'

/** Files by which a process of root gets out of a container, or reads and stops the host. */
export const kernelFiles = [
  '/proc/sys/kernel/core_pattern',
  '/proc/sys/kernel/modprobe',
  '/sys/kernel/uevent_helper',
  '/sys/fs/cgroup/release_agent',
  '/sys/fs/cgroup/memory/release_agent',
  '/sys/fs/cgroup/memory/memory.limit_in_bytes',
  '/proc/sysrq-trigger',
  '/dev/mem',
  '/dev/kmsg',
  '/dev/port',
  `${rootOfInit}/etc/passwd`,
  '/proc/sys/vm/drop_caches',
  '/proc/sys/fs/binfmt_misc/register',
] as const

/** Sets `names` to the targets of the open descriptors of all processes. */
export const findDescriptors = `
names = {}
for pid in (each for each in os.listdir("/proc") if each.isdigit()):
    for each in os.listdir(f"/proc/{pid}/fd") if os.access(f"/proc/{pid}/fd", os.R_OK) else ():
        try: names[f"{pid}/{each}"] = os.readlink(f"/proc/{pid}/fd/{each}")
        except OSError: pass
`

/** Helpers of attacks on the kernel: a call that returns its error name, and system calls by number. */
export const syscallHelpers = `
import ctypes, errno, os, socket, subprocess
libc = ctypes.CDLL(None, use_errno=True)
def attempt(what, *arguments):
    try: what(*arguments)
    except OSError as error: return errno.errorcode.get(error.errno, str(error))
    return "done"
def write(path): return attempt(lambda: os.close(os.open(path, os.O_WRONLY | os.O_CREAT)))
def read(path):
    try:
        with open(path, "rb") as file: return file.read(1 << 16)
    except OSError: return b""
def syscall(number, *arguments):
    return "done" if libc.syscall(number, *arguments) >= 0 else errno.errorcode[ctypes.get_errno()]
`

/**
 * Takes over the runner: code and runner share a process, so code can send every message that the runner can.
 * `suspend` sends calls and returns the host's results, `say` sends any message, `raw` sends any bytes, and `resume`
 * returns control to the runner.
 */
export const runnerTakeover = `
import gc, os, time
runner = next(each for each in gc.get_objects() if type(each).__name__ == "Session")
step = runner.protocol.number
def raw(data): return os.write(runner.channel.output_fd, data)
def say(**message): runner.channel.send({"step": step, **message})
def call(number, tool, **arguments): return {"call": number, "tool": tool, "arguments": arguments}
def take(frame):
    global step
    runner.protocol.begin_step(frame)
    step = runner.protocol.number
def suspend(*calls, wake_in=None):
    while True:
        say(type="suspended", calls=list(calls), wake_in=wake_in, output="")
        frame = runner.channel.receive()
        if frame["step"] != step: break  # else the host repeats the step
    take(frame)
    return [(each["outcome"]["status"], each["outcome"].get("value", each["outcome"].get("message"))) for each in frame["results"]]
`

/** A runner that replies to a repeated step with a chosen result, and does not truncate errors. */
export const repeatingRunner = `
import sys
session = sys.modules["ptc_runner.session"]
CellStop = session.CellStop
session.format_error = str
def suspend(*calls):
    runner.protocol.result = {"type": "suspended", "step": step, "calls": list(calls), "wake_in": None, "output": ""}
    runner.channel.send(runner.protocol.result)
    runner.protocol.next_step("resume")
`
