import assert from 'node:assert/strict'
import type { RequestedCall } from '../../../common/session/steps.js'
import { echoTool, type SessionHarness } from '../session-harness.js'
import { prints } from '../expectations.js'
import type { CaseDefinition, ConformanceContext } from '../conformance-context.js'

interface CellTranscript {
  readonly output: string
  readonly calls: readonly RequestedCall[]
}

/** Runs cells in a sandbox of a new session, and in its rebuilt sandbox. Returns the output and the calls of both. */
async function runInTwoEpochs(
  context: ConformanceContext,
  ...cells: readonly string[]
): Promise<readonly [CellTranscript, CellTranscript]> {
  const first = await context.newHarness()
  const second = await context.newHarness({}, { ...first.session, epoch: first.session.epoch + 1 })
  return [await runCells(first, cells), await runCells(second, cells)]
}

async function runCells(harness: SessionHarness, cells: readonly string[]): Promise<CellTranscript> {
  let output = ''
  const calls: RequestedCall[] = []
  for (const source of cells) {
    const run = await harness.runCell(source, echoTool)
    assert.equal(run.finalResult.type, 'completed', JSON.stringify(run.finalResult))
    output += run.output
    calls.push(...run.calls)
    harness.now += 5_000
  }
  return { output, calls }
}

/** A program that is repeated in a fresh sandbox must behave the same. */
export const rebuildCases: readonly CaseDefinition[] = [
  prints(
    'sleeps for the requested time by all of its clocks',
    `
import asyncio, time
begun = time.time(), time.monotonic()
time.sleep(0.25)
await asyncio.sleep(0.25)
await asyncio.sleep(3600)
print(round(time.time() - begun[0], 2), time.monotonic() - begun[1] >= 3600)
while time.time() < begun[0] + 3601: pass
print('the loop has ended')`,
    '3600.5 True\nthe loop has ended\n',
    { isFresh: true },
  ),
  {
    name: 'has its own random numbers and clock: threads and children have real ones',
    requires: 'supportsProcesses',
    async run(context) {
      const source = `
import os, threading, time
drawn = []
reader, writer = os.pipe()
thread = threading.Thread(target=lambda: drawn.extend([os.urandom(8).hex(), time.time()]))
thread.start(); thread.join()
if os.fork() == 0:
    os.write(writer, os.urandom(8).hex().encode())
    os._exit(0)
os.wait()
drawn.append(os.read(reader, 16).decode())
mine = os.urandom(8).hex()
print(mine, time.time(), mine in drawn)`
      const [first, second] = await runInTwoEpochs(context, source)
      assert.deepEqual(second, first)
      assert.match(first.output, /^[0-9a-f]{16} [0-9.]+ False\n/)
    },
  },
  {
    name: 'makes its calls in the same order, with sets of tasks and timers that race with computing',
    async run(context) {
      const source = `
import asyncio
for done in asyncio.as_completed([get(n) for n in range(100)]): await done
tasks = {asyncio.ensure_future(get(n)) for n in range(100, 500)}
done, _ = await asyncio.wait(tasks)
for task in done: await get(task.result()['a'])
async def later(name, seconds):
    await asyncio.sleep(seconds)
    await get(name)
slow = asyncio.ensure_future(later('slow', 0.05))
await asyncio.sleep(0)
sum(range(3_000_000))
await asyncio.gather(slow, later('quick', 0.04))`
      const [first, second] = await runInTwoEpochs(context, source)
      assert.deepEqual(second, first)
      assert.deepEqual(
        first.calls.map(({ arguments: { a } }) => a),
        [...range(500), ...range(400, 100), 'quick', 'slow'],
      )
    },
  },
]

function range(length: number, from = 0): readonly number[] {
  return Array.from({ length }, (_, index) => from + index)
}
