import type { Column } from '../../behaviors/index.js'

const endless = 'import time\nkept = "kept"\nprint("begun", flush=True)\nwhile True:\n    print(".", flush=True)'

const limits: Column['limits'] = {
  'a cell ends after too many calls, even if its code catches the error':
    'while True:\n    try:\n        await get(1)\n    except Exception: pass',
  'a busy loop ends at the time limit, and variables stay': ['kept = "kept"\nwhile True: pass', 'print(kept)'],
  'an endless loop that lets other work run ends at the time limit': [
    'kept = "kept"\nwhile True: await asyncio.sleep(0)',
    'print(kept)',
  ],
  'output is sent while code runs': endless,
  'an interrupt ends running code, and variables stay': [endless, 'print(kept)'],
  'code that is ended can tidy up': [
    // Not `while True`: CPython 3.11 runs no `finally` when such a loop, first in its block, is interrupted.
    'tidied, n = False, 0\ntry:\n    while n < 1: pass\nfinally:\n    tidied = True',
    'print(json.dumps(tidied))',
  ],
  'a cell that is stopped while it waits loses its work, and variables stay': [
    'before = 1\nasync def more():\n    await get("slow")\n    await get("never")\nawait asyncio.gather(more(), get("other"))\nbefore = 2',
    'print(before, (await get(3))["a"])',
  ],
}

const repeatedSteps: Column['repeated steps'] = {
  'a repeated step returns its first result, and runs once': [
    'count = globals().get("count", 0) + 1\nprint(count)',
    'print(count)',
  ],
  'a step that is repeated later returns its first result, and the time of its execution':
    'import time\nprint(time.time())',
  'steps without a recorded result are answered again, in order, and the program continues':
    'for n in range(3):\n    print(await get(n))',
  'a step with other content than the one that ran is refused': ['await get(1)\nawait get(2)', 'pass'],
  'a stale worker runs nothing, and gets the result of a step that ran': ['print("mine")', 'print("theirs")'],
}

const clocks = `
import asyncio, time
from datetime import date, datetime, timezone
class Stamp(datetime): pass
def look(): return [
  time.time(), str(time.time_ns()), time.localtime()[:6], time.gmtime()[:6], time.ctime(), time.asctime(), time.strftime('%c'),
  datetime.now().isoformat(), datetime.now(timezone.utc).isoformat(), datetime.utcnow().isoformat(),
  datetime.today().isoformat(), date.today().isoformat(), Stamp.now().isoformat(), type(Stamp.now()).__name__]
`

const randomness = `
import os, random, secrets, tempfile, uuid
print(os.urandom(8).hex(), uuid.uuid4(), uuid.uuid1(), secrets.token_urlsafe(9), secrets.randbelow(10**9))
print(random.random(), random.SystemRandom().random(), random.Random().random(), os.path.basename(tempfile.mktemp()))
random.seed()
print(random.random(), hash('text'), list({str(n) for n in range(40)}))
`

const rebuiltPrograms: Column['rebuilt programs'] = {
  'a rebuilt program reads the same clocks, which follow the steps': [
    `${clocks}\nprint(look())`,
    'await get(look())\nprint(look())',
  ],
  'a rebuilt program gets the same random values of every source': [randomness, randomness],
  'another session gets other random values': 'import uuid\nprint(uuid.uuid4())',
  'a rebuilt program makes its calls in the same order, also those of parallel work with timers': `
for done in asyncio.as_completed([get(n) for n in range(100)]): await done
await asyncio.gather(*(get(n) for n in range(100, 200)))
async def later(name, seconds):
    await asyncio.sleep(seconds)
    await get(name)
slow = asyncio.ensure_future(later("slow", 0.05))
await asyncio.sleep(0)
sum(range(3_000_000))
await asyncio.gather(slow, later("quick", 0.04))`,
  'a rebuilt program catches the same errors of calls, in the same order': `
async def attempt(name):
    try:
        print(await get(name))
    except ToolDenied as error:
        print(f"{name}: {error}")
await asyncio.gather(attempt("good"), attempt("bad"))`,
  'a snapshot restores variables in a new sandbox, without repeated steps': [
    'import uuid\ndrawn = {"ids": [str(uuid.uuid4())]}\nprint(drawn)',
    'print(drawn)',
  ],
}

const subAgents: Column['sub-agents'] = {
  'a cell of another agent ends its timers and its calls, and leaves those of the session': [
    `
async def own():
    await asyncio.sleep(1)
    return (await get("own"))["a"]
mine = asyncio.ensure_future(own())
await asyncio.sleep(0)`,
    `
left = [asyncio.ensure_future(get("unsent"))]
async def stubborn():
    while True:
        try:
            await asyncio.sleep(0.1)
            await get("stubborn")
            return
        except asyncio.CancelledError: pass
left.append(asyncio.ensure_future(stubborn()))
asyncio.get_running_loop().call_later(0.1, lambda: left.append(asyncio.ensure_future(get("timer"))))
print((await get("its own"))["a"])`,
    'await asyncio.sleep(3)\nprint(await mine)',
  ],
}

const token = 'import uuid\ntoken = uuid.uuid4().hex\nprint(token)'
const beginsCell = `${token}\nr = await get(1)\nprint(r, token)`

const sandboxes: Column['sandboxes'] = {
  'a sandbox that is opened again is the same one': [token, 'print(token)'],
  'another epoch of a session has a new sandbox': ['mine = 1', 'print(json.dumps("mine" in globals()))'],
  'code that ends its process loses its step': 'import os\nos._exit(7)',
  'a removed sandbox is gone': 'pass',
  'the next worker continues in the middle of a cell': beginsCell,
  'a checkpoint keeps the state for the next worker': beginsCell,
  'local work goes on while a call is open': [
    `
import time
call = asyncio.create_task(get(1))
await asyncio.sleep(0)
await asyncio.to_thread(time.sleep, 0.2)
print("local work")`,
    'print(await call)',
  ],
  'child processes print between the lines of code':
    'import subprocess\nprint(1)\nsubprocess.run(["echo", "child"])\nprint(2)',
}

/** Makes code say that it was refused. */
const guarded = (body: string): string =>
  `try:\n    ${body.replaceAll('\n', '\n    ')}\nexcept BaseException as e:\n    print("refused:", type(e).__name__)`

const isolation: Column['isolation'] = {
  'the environment of the worker is not there': 'import os\nprint(sorted(os.environ), os.environ)',
  'files of the host are not there': guarded('print(open(PATH).read())'),
  'the network of the host is not there': guarded(
    'import socket\nsocket.create_connection(("127.0.0.1", PORT), timeout=5)\nprint("connected")',
  ),
  'each sandbox has a /tmp of its own': [
    'open("/tmp/mine", "w").write("x")',
    'import os\nprint(json.dumps(os.path.exists("/tmp/mine")))',
  ],
  'the size of /tmp is limited': `
import os
written = 0
try:
    for i in range(64):
        with open(f"/tmp/{i}", "wb") as f: written += f.write(b"x" * 4_000_000)
except OSError: pass
for i in range(64):
    if os.path.exists(f"/tmp/{i}"): os.remove(f"/tmp/{i}")
print(written)`,
  'a cell that takes four times the memory limit does not get it, and other sandboxes go on': [
    'x = bytearray(BYTES)\nprint("had it")',
    'print("fine")',
  ],
}

const greet = '/skills/greet/empty.txt'

const changes: readonly string[] = [
  'open(target, "w").write("x")',
  'open(target, "a").write("x")',
  'open(target, "r+").write("x")',
  'os.truncate(target, 0)',
  'os.remove(target)',
  'os.chmod(target, 0o777); open(target, "w").write("x")',
  'os.chmod(os.path.dirname(target), 0o777); os.remove(target)',
  'os.rename(target, target + ".old")',
  'os.rename(target, "/tmp/moved")',
  'os.rename("/skills/greet", "/tmp/greet")',
  'os.rename("/skills", "/tmp/skills")',
  'open("/tmp/new", "w").close(); os.replace("/tmp/new", target)',
  'os.symlink("/tmp", "/skills/link")',
  'os.symlink("/tmp", "/skills/greet/link")',
  'os.mkdir("/skills/mine")',
  'open("/skills/greet/new.txt", "w")',
  'open("/skills/new.txt", "w")',
  'os.rmdir("/skills/data/deep/er")',
  'os.utime(target, (1, 1))',
  'm = mmap.mmap(os.open("/skills/data/deep/er/table.bin", os.O_RDWR), 0); m[0:1] = b"x"; m.flush()',
]

const files: Column['files'] = {
  'files have their bytes and modes': `
import os, stat
mode = lambda path: oct(stat.S_IMODE(os.stat(path).st_mode))[2:]
print(mode("/skills/greet/scripts/greet.sh"), mode("${greet}"), open("/skills/greet/Ünïcode name.txt").read(), end="")
print(os.path.getsize("${greet}"))
data = open("/skills/data/deep/er/table.bin", "rb").read()
print(len(data), json.dumps(data == bytes(i * 7 % 256 for i in range(len(data)))))
print(open(f"/skills/data/{'long-' * 15}/{'name-' * 15}/x.txt").read())`,
  'files can not be changed, and no file can be added': changes.map(
    (change) =>
      `import mmap, os\ntarget = "${greet}"\ntry:\n  ${change}\n  print("changed")\nexcept (OSError, ValueError): print("refused")`,
  ),
  'a rebuilt sandbox has the same files, and another session has none':
    'import os\nprint(json.dumps(os.path.exists("/skills/greet/empty.txt")))',
}

/** What happens to sessions of Python. */
export const pythonSessions = {
  limits,
  'repeated steps': repeatedSteps,
  'rebuilt programs': rebuiltPrograms,
  'sub-agents': subAgents,
  sandboxes,
  isolation,
  files,
}
