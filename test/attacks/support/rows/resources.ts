import { afterAll, beforeAll, expect, it } from 'vitest'
import type { AttackedSandbox, AttackEnvironment, StartAttacks } from '../attack-environment.js'
import { runnerTakeover } from '../hostile-code.js'

const megabyte = 1024 * 1024

/** Bytes by which this process may grow during an attack; most of them are garbage from reading histories. */
const maxMemoryGrowthBytes = 120 * megabyte

/** A01 to A08: a hostile program that exhausts resources. */
export function resourceRows(start: StartAttacks, sandbox: AttackedSandbox = 'container'): void {
  let attackEnv: AttackEnvironment
  beforeAll(async () => {
    attackEnv = await start({ limits: { cellSeconds: 1 } })
  })
  afterAll(() => attackEnv.close())

  it('A01 a fork bomb stops at the process limit, or is killed at its timeout', async () => {
    const bounded = await attackEnv.probe(
      `
import os, signal
children = []
try:
    while True:
        pid = os.fork()
        if pid == 0: signal.pause()
        children.append(pid)
except BlockingIOError: pass
for pid in children: os.kill(pid, 9); os.waitpid(pid, 0)
print(len(children))
`,
      { processes: 32, cellSeconds: 60 },
    )
    expect(Number(bounded[0])).toBeLessThan(32)
    const { outcome } = await attackEnv.attack(
      'import os\nwhile True:\n    try: os.fork()\n    except BaseException: pass',
    )
    expect(outcome).toMatchObject({ status: 'timed_out' })
  })

  it('A02 unlimited allocation ends the cell with a typed outcome; in a child process it ends the child', async () => {
    const limits = { memoryBytes: 96 * megabyte, cellSeconds: 60 }
    const main = await attackEnv.attack('rows = []\nwhile True: rows.append(b"x" * 8_000_000)', limits)
    expect(main.outcome).toMatchObject({ status: 'limit_exceeded', error: expect.stringContaining('memory') })
    const child = await attackEnv.probe(
      `
import os
pid = os.fork()
if pid == 0:
    open("/proc/self/oom_score_adj", "w").write("1000")
    rows = []
    while True: rows.append(b"x" * 8_000_000)
print(os.waitpid(pid, 0)[1])
`,
      limits,
    )
    expect(child).toEqual(['9'])
  })

  it('A03 /tmp has limits for bytes, files, and bytes of a file', async () => {
    const report = await attackEnv.probe(
      `
import errno, os, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
def fill(name, size):
    try:
        with open("/tmp/" + name, "wb") as file:
            for _ in range(size >> 20): file.write(bytes(1 << 20))
    except OSError as error: return errno.errorcode[error.errno]
    return "done"
print(fill("one", 65 << 20))
os.remove("/tmp/one")
print(fill("a", 40 << 20), fill("b", 40 << 20))
for name in ("a", "b"): os.remove("/tmp/" + name)
made = 0
try:
    for made in range(100_000): os.mknod(f"/tmp/{made}")
except OSError as error: print(errno.errorcode[error.errno], made < 4_096)
`,
      { cellSeconds: 60 },
    )
    expect(report[0]).toMatch(/^(EFBIG|ENOSPC)$/)
    expect(report[1]).toBe('done ENOSPC')
    // Kubernetes has no limit on the number of files of a volume. Their memory counts.
    if (sandbox === 'container') expect(report[2]).toBe('ENOSPC True')
  })

  it('A04 files and memory share one limit', async () => {
    const source = `
kept = open("/tmp/half", "wb")
for _ in range(60): kept.write(bytes(1 << 20))
rows = []
while True: rows.append(b"x" * 4_000_000)
`
    const { outcome, memoryGrowthBytes } = await attackEnv.attack(source, {
      memoryBytes: 96 * megabyte,
      cellSeconds: 60,
    })
    expect(outcome).toMatchObject({ status: 'limit_exceeded', error: expect.stringContaining('memory') })
    expect(memoryGrowthBytes).toBeLessThan(maxMemoryGrowthBytes)
  })

  it.each([
    ['a child that prints endlessly', 'import subprocess\nsubprocess.run(["yes"])'],
    ['one byte at a time', 'import os\nfor _ in range(300_000): os.write(1, b"x")'],
    ['a line of 100 MB', 'print("x" * 50_000_000, end="")\nprint("x" * 50_000_000)'],
    ['print without end', 'while True: print("x" * 1_000)'],
  ])('A06 %s is truncated, and does not grow the worker process', async (_what, source) => {
    const { outcome, history, memoryGrowthBytes } = await attackEnv.attack(source, { cellSeconds: 4 })
    expect(['ok', 'timed_out', 'code_error', 'limit_exceeded']).toContain(outcome.status)
    expect(outcome.output).toMatch(/^[xy\n]*\[\.\.\. \d+ characters cut \.\.\.\]\n[xy\n]*$|^[xy\n]*$/)
    expect(outcome.output.length).toBeLessThan(20_100)
    expect(history.length).toBeLessThan(600_000)
    expect(memoryGrowthBytes).toBeLessThan(maxMemoryGrowthBytes)
  })

  it('A06 the number of truncated characters is correct', async () => {
    const lines = await attackEnv.probe('print("x" * 999_999)', { cellSeconds: 60 })
    const cut = Number(/(\d+) characters cut/.exec(lines.join(' '))?.[1])
    expect(cut + lines.filter((line) => line.startsWith('x')).join('').length).toBe(999_999)
  })

  it('A06 invalid UTF-8 and text without a line end are captured as output', async () => {
    const [line] = await attackEnv.probe(
      String.raw`import os; os.write(1, b"\x00\xff\xfe\x1b[2J\x1b]0;title\x07\xe2\x80\xae" + "\ud800".encode("utf8", "surrogatepass"))`,
    )
    expect(line).toContain('\u0000\uFFFD\uFFFD\u001B[2J')
  })

  it('A06 writing to the real stdout does not flood the worker', async () => {
    const flood = `${runnerTakeover}\nwhile True: raw(b"x" * 65_536)`
    const { outcome, memoryGrowthBytes } = await attackEnv.attack(flood, { cellSeconds: 60 })
    expect(outcome).toMatchObject({ status: 'lost' })
    expect(memoryGrowthBytes).toBeLessThan(maxMemoryGrowthBytes)
    // No process of the sandbox but process 1 has the real stderr.
    const [answer] = await attackEnv.probe(`
try: open("/proc/1/fd/2", "w")
except OSError as error: print(type(error).__name__)
`)
    expect(answer).toBe('PermissionError')
  })

  it.each([
    ['a busy loop', 'while True: pass', true],
    ['a sleep in C', 'import time\ntime.sleep(1e9)', true],
    ['a wait for a child', 'import subprocess\nsubprocess.run(["sleep", "1000000"])', true],
    [
      'code that ignores signals',
      'import signal\nfor n in range(1, 65):\n    try: signal.signal(n, signal.SIG_IGN)\n    except (OSError, ValueError): pass\nwhile True: pass',
      false,
    ],
    ['code that blocks signals', 'import signal\nsignal.pthread_sigmask(0, range(1, 65))\nwhile True: pass', false],
    ['code that stops itself', 'import os\nos.kill(os.getpid(), 19)', false],
  ])('A08 %s ends at its timeout', async (_what, source, sessionKept) => {
    const { outcome, milliseconds } = await attackEnv.attack(source)
    expect(outcome).toMatchObject({ status: 'timed_out', sessionKept })
    expect(milliseconds).toBeLessThan(90_000)
  })

  it('A08 kill -9 -1 ends only processes of the sandbox', async () => {
    expect(await attackEnv.probe('import os\ntry: os.kill(-1, 9)\nexcept OSError: pass\nprint("alone")')).toEqual([
      'alone',
    ])
    const source = 'import os\nif os.fork() == 0: os.kill(-1, 9)\nwhile True: pass'
    const child = await attackEnv.attack(source, { cellSeconds: 60 })
    expect(child.outcome).toMatchObject({ status: 'lost' })
  })
}
