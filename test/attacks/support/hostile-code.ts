/** The root folder of process 1, as a program in the sandbox names it. */
export const rootOfInit = '/proc/1/root'

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
    say(type="suspended", calls=list(calls), wake_in=wake_in, output="")
    frame = runner.channel.receive()
    take(frame)
    return [(each["outcome"]["status"], each["outcome"].get("value", each["outcome"].get("message"))) for each in frame["results"]]
`

/** Unpacks archive bombs and archives with path traversal; prints a line for the result of each. */
export const hostileArchives = `
import errno, io, os, tarfile, zipfile
def attempt(what):
    try: what()
    except OSError as error: return errno.errorcode.get(error.errno, str(error))
    except Exception as error: return type(error).__name__
    return "done"
bomb = io.BytesIO()
with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
    with archive.open("zeros", "w", force_zip64=True) as file:
        for _ in range(100): file.write(bytes(1 << 20))
print(attempt(lambda: zipfile.ZipFile(bomb).extractall("/tmp/bomb")))
__import__("shutil").rmtree("/tmp/bomb")
def tar(name, kind, **fields):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        info = tarfile.TarInfo(name)
        info.type = kind
        for key, value in fields.items(): setattr(info, key, value)
        archive.addfile(info)
    made.seek(0)
    return attempt(lambda: tarfile.open(fileobj=made).extractall("/tmp/tar"))
print(tar("../../etc/cron.d/evil", tarfile.REGTYPE), os.path.exists("/etc/cron.d/evil"))
print(tar("/usr/evil", tarfile.REGTYPE), os.path.exists("/usr/evil"))
tar("link", tarfile.SYMTYPE, linkname="/etc/passwd")
print(attempt(lambda: open("/tmp/tar/link", "a")))
tar("device", tarfile.BLKTYPE, devmajor=8, devminor=0)
print(attempt(lambda: open("/tmp/tar/device", "rb")))
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
