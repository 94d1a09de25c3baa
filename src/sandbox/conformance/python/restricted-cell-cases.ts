import assert from 'node:assert/strict'
import { expectResult } from '../expectations.js'
import type { CaseDefinition } from '../conformance-context.js'

const restricted = { restricted: true } as const

/** Cells of another run with fewer tools: see `program/restricted_cell.py` of the runner. */
export const restrictedCellCases: readonly CaseDefinition[] = [
  {
    name: 'end their tasks, timers and unsent calls, and leave those of the session',
    async run(context) {
      const harness = await context.newHarness()
      await harness.runCell(`
async def own():
    await asyncio.sleep(1)
    return await get("own")
mine = asyncio.ensure_future(own())
await asyncio.sleep(0)`)
      const left = `
import contextvars
free = contextvars.Context()
loop = asyncio.get_running_loop()
left = [asyncio.ensure_future(get("unsent"))]
async def stubborn(name):
    while True:
        try:
            await asyncio.sleep(0.1)
            await get(name)
            return
        except asyncio.CancelledError:
            pass
left.append(asyncio.ensure_future(stubborn("stubborn")))
left.append(loop.create_task(stubborn("another context"), context=contextvars.Context()))
async def respawn():
    try:
        await asyncio.sleep(100)
    finally:
        left.append(loop.create_task(stubborn("child"), context=contextvars.Context()))
        await get("cleanup")
left.append(asyncio.ensure_future(respawn()))
for where in {}, {"context": contextvars.Context()}:
    loop.call_later(0.1, lambda: left.append(asyncio.ensure_future(get("timer"))), **where)
    loop.call_soon(lambda: loop.call_soon(lambda: loop.call_soon(lambda: left.append(asyncio.ensure_future(get("soon"))))), **where)
print(await get("its own"))`
      const cell = await harness.runCell(left, undefined, restricted)
      assert.match(expectResult(cell.finalResult, 'completed').output, /its own/)
      const later = await harness.runCell('await asyncio.sleep(3)\nprint(await mine)')
      assert.deepEqual(
        later.calls.map((call) => call.arguments['a']),
        ['own'],
      )
      assert.match(later.output, /^\{'a': 'own'\}$/m)
    },
  },
  {
    name: 'leave the tasks of the session that ran meanwhile, with what these have begun',
    async run(context) {
      const harness = await context.newHarness()
      await harness.runCell(`
ticks = []
async def tick():
    for n in range(6):
        await asyncio.sleep(1.5)
        await asyncio.gather(asyncio.ensure_future(asyncio.sleep(0)), asyncio.sleep(0.1))
        try:
            async with asyncio.timeout(1.5):
                await asyncio.Event().wait()
        except TimeoutError:
            ticks.append(n)
task = asyncio.ensure_future(tick())
await asyncio.sleep(0)`)
      for (const seconds of [1, 2, 3, 4])
        await harness.runCell(`await asyncio.sleep(${seconds}.2)\nprint(await get(1))`, undefined, restricted)
      const { output } = await harness.runCell('await asyncio.wait([task], timeout=60)\nprint(ticks)')
      assert.equal(output, '[0, 1, 2, 3, 4, 5]\n')
    },
  },
  {
    name: 'leave threads that can call no tool, while threads of a later cell can',
    requires: 'supportsProcesses',
    async run(context) {
      const harness = await context.newHarness()
      const left = `
import threading
loop, stopped = asyncio.get_running_loop(), threading.Event()
def call(name):
    try:
        return asyncio.run_coroutine_threadsafe(get(name), loop).result()
    except ToolDenied as error:
        return str(error)
def wait():
    begin.wait()
    print(call("thread"))
    stopped.set()
begin = threading.Event()
threading.Thread(target=wait).start()
await asyncio.sleep(0)`
      expectResult((await harness.runCell(left, undefined, restricted)).finalResult, 'completed')
      const later = await harness.runCell(`
begin.set()
await asyncio.to_thread(stopped.wait)
print(await asyncio.to_thread(call, "own"))
print(await loop.run_in_executor(None, call, "pool"))`)
      assert.deepEqual(
        later.calls.map((each) => each.arguments['a']),
        ['own', 'pool'],
      )
      assert.match(later.output, /^get\(\) was called by code that another agent has left behind: its cell has ended$/m)
    },
  },
]
