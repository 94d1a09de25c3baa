import { describe, expect, it } from 'vitest'
import type { CellOutcome } from '../../../../src/common/calls/outcomes.js'
import type { Limits, LoweredLimits } from '../../../../src/common/run/limits.js'
import { tool } from '../../../support/tools.js'
import { type Backend, backends } from '../../../support/environment/backends.js'
import { TestSession } from '../../../support/environment/test-session.js'

interface LimitCase {
  /** An option, or a fixed limit. */
  readonly limit: keyof Limits | 'wakes' | 'files' | 'open files' | 'captured characters'
  readonly cause: string
  readonly limits?: Partial<Limits> & LoweredLimits
  readonly source: string
  readonly status: CellOutcome['status']
  /** Matches the text that the model reads: the output, or the error. */
  readonly message: RegExp
  /** Default: true. */
  readonly keepsVariables?: boolean
  /** Default: both. */
  readonly onlyBackend?: Backend
}

const megabyte = 1024 * 1024

const fill = (bytes: number) => `
with open("/tmp/file", "wb", buffering=0) as file:
    for _ in range(${bytes} >> 16): file.write(bytes(1 << 16))
`

/** One row per limit of a cell: code that exceeds it, and the reported error. Cited by docs/reference/limits.md. */
const table: readonly LimitCase[] = [
  {
    limit: 'cellSeconds',
    cause: 'code that runs on',
    limits: { cellSeconds: 2 },
    source: 'while True: pass',
    status: 'timed_out',
    message: /it may run 2 seconds/,
  },
  {
    limit: 'cellSeconds',
    cause: 'code that can not be interrupted',
    limits: { cellSeconds: 2 },
    source: 'import signal\nfor s in (14, signal.SIGINT): signal.signal(s, signal.SIG_IGN)\nwhile True: pass',
    status: 'timed_out',
    message: /did not stop at its limit of 2 seconds/,
    keepsVariables: false,
  },
  {
    limit: 'cellTotalSeconds',
    cause: 'a timer',
    limits: { cellTotalSeconds: 4 },
    source: 'import asyncio\nawait asyncio.sleep(3600)',
    status: 'timed_out',
    message: /a cell may take 4 seconds, waiting included\. Wait for less/,
  },
  {
    limit: 'cellTotalSeconds',
    cause: 'a tool that does not return',
    limits: { cellTotalSeconds: 4 },
    source: 'await never()',
    status: 'timed_out',
    message: /a cell may take 4 seconds, waiting included\. Wait for less/,
  },
  {
    limit: 'cellTotalSeconds',
    cause: 'code that can not be interrupted',
    limits: { cellTotalSeconds: 4 },
    source: `
import asyncio
async def wait():
    await never()
def wait_for_ever():
    while True: # signals arrive here, outside of the inner try
        try: asyncio.run(wait())
        except BaseException: pass
while True:
    try: wait_for_ever()
    except BaseException: pass
`,
    status: 'timed_out',
    message: /a cell may take 4 seconds, waiting included\. Wait for less/,
    keepsVariables: false,
  },
  {
    limit: 'wakes',
    cause: 'a loop of sleeps',
    limits: { wakesPerCell: 3 },
    source: 'import asyncio\nwhile True: await asyncio.sleep(1.1)',
    status: 'limit_exceeded',
    message: /woken 3 times with nothing new\. Sleep longer/,
  },
  {
    limit: 'memoryBytes',
    cause: 'a growing list',
    limits: { memoryBytes: 96 * megabyte, cellSeconds: 20 },
    source: 'rows = []\nwhile True: rows.append(b"x" * 4_000_000)',
    status: 'limit_exceeded',
    message: /memory/,
    keepsVariables: false,
    onlyBackend: 'docker',
  },
  {
    limit: 'memoryBytes',
    cause: 'a growing list',
    limits: { memoryBytes: 96 * megabyte, cellSeconds: 20 },
    source: 'rows = []\nwhile True: rows.append(b"x" * 4_000_000)',
    status: 'code_error',
    message: /MemoryError/,
    onlyBackend: 'wasm',
  },
  {
    limit: 'processes',
    cause: 'endless threads',
    limits: { processes: 16 },
    source:
      'import threading\nfor _ in range(100): threading.Thread(target=threading.Event().wait, daemon=True).start()',
    status: 'code_error',
    message: /can't start new thread/,
    onlyBackend: 'docker',
  },
  {
    limit: 'tmpBytes',
    cause: 'one large file',
    limits: { tmpBytes: megabyte },
    source: 'open("/tmp/file", "wb").truncate(2_000_000)',
    status: 'code_error',
    message: /OSError: \[Errno 2[27]\] File too large/,
  },
  {
    limit: 'tmpBytes',
    cause: 'files larger than /tmp',
    limits: { tmpBytes: megabyte },
    source: `with open("/tmp/first", "wb") as file: file.write(bytes(65_536))\n${fill(2 * megabyte)}`,
    status: 'code_error',
    message: /OSError: \[Errno \d+\] No space left on device/,
  },
  {
    limit: 'files',
    cause: 'endless files',
    source: 'for n in range(5_000): open(f"/tmp/{n}", "w").close()',
    status: 'code_error',
    message: /OSError: \[Errno \d+\] No space left on device/,
  },
  {
    limit: 'open files',
    cause: 'files that stay open',
    source: 'files = [open("/tmp/one", "w") for _ in range(1_100)]',
    status: 'code_error',
    message: /OSError: \[Errno \d+\] (Too many open files|No file descriptors available)/,
  },
  {
    limit: 'captured characters',
    cause: 'endless output',
    source: 'print("x" * 900_000)',
    status: 'ok',
    message: /^x{99000}x{0,1000}\n\[\.\.\. 70\d\d\d\d characters cut \.\.\.\]\nx{99000}x{0,1000}\n$/,
  },
  {
    limit: 'argumentBytes',
    cause: 'a large argument',
    limits: { argumentBytes: 1_000 },
    source: 'await echo(value="x" * 2_000)',
    status: 'code_error',
    message: /ValueError: the arguments of echo\(\) are \d+ bytes, the limit is 1000/,
  },
  {
    limit: 'argumentBytes',
    cause: 'many small values under a raised limit',
    limits: { argumentBytes: 4_000_000 },
    source: `await echo(value='"' * 500_000)\nawait echo(value=[0.5] * 80_000)`,
    status: 'code_error',
    message: /ValueError: the arguments of echo\(\) are \d+ bytes outside of strings, the limit is 262144/,
  },
  {
    limit: 'resultBytes',
    cause: 'a large result',
    limits: { resultBytes: 1_000 },
    source: 'await long()',
    status: 'code_error',
    message: /ToolError: the result of long has 2002 bytes; the limit is 1000/,
  },
  {
    limit: 'callsPerCell',
    cause: 'endless calls whose errors are caught',
    limits: { callsPerCell: 3 },
    source: 'while True:\n    try: await echo(value=1)\n    except Exception: pass',
    status: 'limit_exceeded',
    message: /more than 3 tool calls in one cell/,
  },
  {
    limit: 'callsPerRun',
    cause: 'calls of several cells',
    limits: { callsPerRun: 2 },
    source: 'for n in range(3): await echo(value=n)',
    status: 'code_error',
    message: /ToolDenied: the run has used up its 2 tool calls/,
  },
  {
    limit: 'sourceBytes',
    cause: 'a large program',
    limits: { sourceBytes: 100 },
    source: `x = "${'é'.repeat(100)}"`,
    status: 'limit_exceeded',
    message: /the code has 206 bytes, the limit is 100/,
  },
]

describe.each(backends)('code over a limit, in %s', (backend) => {
  const rows = table.filter(({ onlyBackend = backend }) => onlyBackend === backend)

  it.each(rows)('code over the limit $limit, by $cause', async (row) => {
    const { limits = {}, source, status, message, keepsVariables = true } = row
    const stopped: unknown[] = []
    const never = tool('never', async (_input, { signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      stopped.push(signal.reason)
    })
    const tools = [tool('echo', ({ value }) => value), tool('long', () => 'x'.repeat(2_000)), never]
    const session = await TestSession.start({ backend, limits, tools })
    await session.outputOf('kept = "of an earlier cell"')
    const { outcome } = await session.execute(source)
    expect(outcome).toMatchObject({ status })
    expect(outcome.status === 'ok' ? outcome.output : outcome.error).toMatch(message)
    if ('sessionKept' in outcome) expect(outcome.sessionKept).toBe(keepsVariables)
    expect(await session.outputOf('print(kept)')).toBe('of an earlier cell\n')
    if (source.includes('never()')) await expect.poll(() => stopped.length).toBeGreaterThan(0)
    await session.close()
  })
})
