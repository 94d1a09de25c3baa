import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import { expectError, expectResult, fails, prints } from '../../expectations.js'
import type { SessionHarness } from '../../session-harness.js'
import type { CaseDefinition } from '../../conformance-context.js'

/** Runs a cell without results for its tool calls: only an event inside the sandbox can end it. */
async function runWithoutToolResults(harness: SessionHarness, source: string): Promise<string> {
  let result = await harness.startCell(source)
  while (result.type === 'suspended') {
    assert.notEqual(result.wakeInMs, null, 'the program does not ask to be woken')
    harness.now += 1
    result = await harness.executeStep({ type: 'results', results: [] })
  }
  return expectResult(result, 'completed').output
}

/** `waits` is the code that the program runs during a pending call. */
const whileCallIsOpen = (name: string, localWork: string): CaseDefinition => ({
  name: `${name} while a tool call is open`,
  requires: 'supportsProcesses',
  async run(context) {
    const source = `
import asyncio, threading, time
from concurrent.futures import ThreadPoolExecutor
loop, happened, pool = asyncio.get_running_loop(), asyncio.Event(), ThreadPoolExecutor(1, "asyncio_")
async def local():
    ${localWork}
    return "local work"
first = asyncio.create_task(local(), name="local work")
call = asyncio.create_task(get(1), name="tool call")
done, _ = await asyncio.wait({first, call}, return_when=asyncio.FIRST_COMPLETED)
print([task.get_name() for task in done])`
    const harness = await context.newHarness()
    assert.match(await runWithoutToolResults(harness, source), /^\['local work'\]\n/)
    // The call is still pending; the next cell uses its result.
    const { type, output } = expectResult(await completeFirstCall(harness, 'print(await call)'), 'completed')
    assert.deepEqual([type, output], ['completed', 'late\n'])
  },
})

/** Starts a cell and delivers the result of the first call of the session. */
async function completeFirstCall(harness: SessionHarness, source: string) {
  expectResult(await harness.startCell(source), 'suspended')
  const outcome = { status: 'ok' as const, value: 'late' }
  return harness.executeStep({ type: 'results', results: [{ index: 1, outcome }] })
}

/** Sets an alarm that is due shortly after. */
const setAlarm = `
import signal
def late(*_): raise TimeoutError("alarm")
signal.signal(signal.SIGALRM, late)
signal.setitimer(signal.ITIMER_REAL, 0.1)
`

/** Threads, child processes and alarms in parallel with the event loop of a program. */
export const threadCases: readonly CaseDefinition[] = [
  whileCallIsOpen('notices a thread', 'await asyncio.to_thread(time.sleep, 0.2)'),
  whileCallIsOpen('notices a child process', 'await (await asyncio.create_subprocess_exec("sleep", "0.2")).wait()'),
  whileCallIsOpen(
    'notices call_soon_threadsafe',
    'threading.Timer(0.2, loop.call_soon_threadsafe, [happened.set]).start(); await happened.wait()',
  ),
  whileCallIsOpen(
    'notices a thread of a pool, whatever its name',
    'await asyncio.wrap_future(pool.submit(time.sleep, 0.2))',
  ),
  {
    name: 'repeats the time that a thread had during a pending call',
    requires: 'supportsProcesses',
    async run(context) {
      const harness = await context.newHarness()
      const source = `
import asyncio, time
async def item():
    await get("item")
    await asyncio.to_thread(time.sleep, 0.3)
    await get("after the thread")
await asyncio.gather(get("open"), item())`
      const { calls } = expectResult(await harness.startCell(source), 'suspended')
      const { index = 0 } = calls.find(({ arguments: { a } }) => a === 'item') ?? {}
      const results = [{ index, outcome: { status: 'ok' as const, value: null } }]
      assert.deepEqual(expectResult(await harness.executeStep({ type: 'results', results }), 'suspended').calls, [])
      harness.now += 4_000 // in a rebuild no time is left, and the next step begins at once
      const next = expectResult(await harness.executeStep({ type: 'results', results: [] }), 'suspended')
      assert.deepEqual(
        next.calls.map(({ arguments: { a } }) => a),
        ['after the thread'],
      )
    },
  },
  {
    name: 'waits for a busy thread of a pool, not for an idle one',
    requires: 'supportsProcesses',
    async run(context) {
      const source = `
import asyncio, time
from concurrent.futures import ThreadPoolExecutor
pool, happened, loop = ThreadPoolExecutor(2), asyncio.Event(), asyncio.get_running_loop()
print(await asyncio.wrap_future(pool.submit(lambda: time.sleep(0.1) or 42)))
pool.submit(lambda: time.sleep(0.1) or loop.call_soon_threadsafe(happened.set))
await happened.wait()
await asyncio.sleep(3600)
print("parked")
await loop.create_future()`
      const { finalResult, stepResults } = await (await context.newHarness()).runCell(source)
      assert.equal(expectResult(finalResult, 'failed').output, 'parked\n')
      expectError(finalResult, 'can never happen')
      const [parked] = stepResults
      assert.ok(parked && (expectResult(parked, 'suspended').wakeInMs ?? 0) > 3_000_000)
      assert.equal(stepResults.length, 2)
    },
  },
  {
    name: 'works in another thread with asyncio.run; tools can only be called from the thread of the cell',
    requires: 'supportsProcesses',
    async run(context) {
      const harness = await context.newHarness()
      const source = `
import asyncio
from concurrent.futures import ThreadPoolExecutor
async def main(n):
    await asyncio.sleep(0.01)
    return n if n < 3 else await get(n)
with ThreadPoolExecutor(1) as pool:
    print(pool.submit(asyncio.run, main(1)).result(), await asyncio.to_thread(asyncio.run, main(2)))
    try:
        pool.submit(asyncio.run, main(3)).result()
    except RuntimeError as error:
        print(error)
def function(loop):
    return asyncio.run_coroutine_threadsafe(get(4), loop).result()
print(await main(5), await asyncio.to_thread(function, asyncio.get_running_loop()))`
      const advice = [
        "get() can't be awaited in this event loop: await it in the cell, as in `await main()`, which needs no thread. ",
        'A function that needs one: `await asyncio.to_thread(function, asyncio.get_running_loop())` in the cell, and ',
        '`asyncio.run_coroutine_threadsafe(get(...), loop).result()` in the function',
      ]
      assert.equal((await harness.runCell(source)).output, `1 2\n${advice.join('')}\n{'a': 5} {'a': 4}\n`)
    },
  },
  fails(
    'runs the handler of an alarm that is due during a tool call when the call returns',
    `${setAlarm}for n in range(500):\n    await get(n)`,
    /TimeoutError: alarm$/,
    { isFresh: true, requires: 'supportsProcesses' },
  ),
  {
    name: 'gives a hint about threads that outlive their cell, and returns their output later',
    requires: 'supportsProcesses',
    async run(context) {
      const harness = await context.newHarness()
      const source = `
import threading
go = threading.Event()
thread = threading.Thread(target=lambda: go.wait() and print("from the thread"))
thread.start()`
      const { output } = await harness.runCell(source)
      assert.match(output, /^\[hint\] 1 threads were still running/)
      assert.equal((await harness.runCell('go.set()\nthread.join()\nprint("end")')).output, 'from the thread\nend\n')
    },
  },
  {
    name: 'gives a hint about a thread that outlives its cell also when another thread has ended',
    requires: 'supportsProcesses',
    async run(context) {
      const harness = await context.newHarness()
      const begin = (name: string) => `${name} = threading.Event()\nthreading.Thread(target=${name}.wait).start()\n`
      const hint = /^\[hint\] 1 threads were still running/
      assert.match((await harness.runCell(`import threading\n${begin('first')}`)).output, hint)
      assert.equal((await harness.runCell('print("nothing new")')).output, 'nothing new\n')
      const join = '[thread.join() for thread in threading.enumerate()[1:]]\n'
      assert.match((await harness.runCell(`first.set()\n${join}${begin('second')}`)).output, hint)
      assert.equal((await harness.runCell(`second.set()\n${join}`)).output, '')
    },
  },
  {
    name: 'returns what a pool without shutdown and a timer print after their cell',
    requires: 'supportsProcesses',
    async run(context) {
      const harness = await context.newHarness()
      const source = `
import threading
from concurrent.futures import ThreadPoolExecutor
go, pool = threading.Event(), ThreadPoolExecutor(1)
def work(name):
    go.wait()
    print(name + "\\n", end="")  # in one piece
job = pool.submit(work, "pool")
timer = threading.Timer(0, work, ["timer"])
timer.start()`
      assert.match((await harness.runCell(source)).output, /^\[hint\] 2 threads were still running/)
      const { output } = await harness.runCell('go.set()\njob.result()\ntimer.join()\nprint("end")')
      assert.match(output, /^(pool\ntimer|timer\npool)\nend\n$/)
    },
  },
  {
    name: 'counts a long sleep next to a thread or a server as running time',
    requires: 'supportsProcesses',
    async run(context) {
      const harness = await context.newHarness({ cellSeconds: 2 })
      const source = `
import asyncio, threading
go = threading.Event()
threading.Thread(target=go.wait).start()
await asyncio.sleep(3600)`
      const { finalResult } = await harness.runCell(source)
      assert.equal(expectResult(finalResult, 'failed').kind, 'timed_out')
      await harness.runCell('go.set()\nserver = await asyncio.start_server(print, "localhost", 0)')
      assert.equal(
        expectResult((await harness.runCell('await asyncio.sleep(3600)')).finalResult, 'failed').kind,
        'timed_out',
      )
      const { stepResults, output } = await harness.runCell('server.close()\nawait asyncio.sleep(3600)\nprint("woke")')
      assert.deepEqual([stepResults.length, output], [2, 'woke\n'])
    },
  },
  {
    name: 'waits for a job that no thread of a pool has started',
    requires: 'supportsProcesses',
    async run(context) {
      const harness = await context.newHarness()
      // No thread has started the job: only the queue of the pool shows that it exists.
      const source = `
from concurrent.futures import thread, ThreadPoolExecutor
import asyncio
pool = ThreadPoolExecutor(1)
await asyncio.wrap_future(pool.submit(int))
selector = asyncio.get_running_loop()._selector
print(selector._has_local_work())
(queue,) = thread._threads_queues.values()
class Waiting:
    def qsize(self): return 1
(worker,) = pool._threads
thread._threads_queues[worker] = Waiting()
print(selector._has_local_work())
thread._threads_queues[worker] = queue
pool.shutdown()
print(selector._has_local_work())`
      assert.equal((await harness.runCell(source)).output, 'False\nTrue\nFalse\n')
    },
  },
  {
    name: 'runs the handler of an alarm in the middle of code, and not after the end of its cell',
    requires: 'supportsProcesses',
    async run(context) {
      const harness = await context.newHarness()
      const source = `${setAlarm}while True: pass`
      expectError((await harness.runCell(source)).finalResult, /TimeoutError: alarm$/)
      await harness.runCell('signal.setitimer(signal.ITIMER_REAL, 0.1)')
      assert.equal((await harness.runCell('import time\ntime.sleep(0.3)\nprint("no alarm")')).output, 'no alarm\n')
    },
  },
  {
    name: 'runs the handler of an alarm that was due during one call when that call returns',
    requires: 'supportsProcesses',
    async run(context) {
      const harness = await context.newHarness()
      const source = `${setAlarm}await get(1)
print("answered")`
      expectResult(await harness.startCell(source), 'suspended')
      await setTimeout(300)
      const outcome = { status: 'ok' as const, value: 1 }
      const end = await harness.executeStep({ type: 'results', results: [{ index: 1, outcome }] })
      expectError(end, /TimeoutError: alarm$/)
      assert.equal(expectResult(end, 'failed').output, '')
    },
  },
  prints(
    'asyncio.as_completed needs a running loop on its first next(), not when called',
    `
def first():
    iterator = asyncio.as_completed([future])
    try:
        next(iterator)
    except RuntimeError as error:
        return error
future = asyncio.get_running_loop().create_future()
print(await asyncio.to_thread(first))`,
    /^There is no current event loop in thread/,
    { isFresh: true, requires: 'supportsProcesses' },
  ),
]
