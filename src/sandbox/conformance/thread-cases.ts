import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import { expectAnswer, expectError } from './expectations.js'
import type { Notebook } from './notebook.js'
import type { CaseDefinition } from './scene.js'

/** Runs a cell whose tool calls are never answered: it ends by what happens inside the sandbox, or never. */
async function runUnanswered(notebook: Notebook, source: string): Promise<string> {
  let answer = await notebook.begin(source)
  while (answer.type === 'suspended') {
    assert.notEqual(answer.wakeInMs, null, 'the program does not ask to be woken')
    notebook.now += 1
    answer = await notebook.advance({ type: 'results', results: [] })
  }
  return expectAnswer(answer, 'completed').output
}

/** `waits` is what the program does beside an open call. */
const beside = (name: string, waits: string): CaseDefinition => ({
  name: `${name} while a tool call is open`,
  needs: 'hasProcesses',
  async run(scene) {
    const source = `
import asyncio, threading, time
from concurrent.futures import ThreadPoolExecutor
loop, happened, pool = asyncio.get_running_loop(), asyncio.Event(), ThreadPoolExecutor(1, "asyncio_")
async def local():
    ${waits}
    return "local work"
first = asyncio.create_task(local(), name="local work")
call = asyncio.create_task(get(1), name="tool call")
done, _ = await asyncio.wait({first, call}, return_when=asyncio.FIRST_COMPLETED)
print([task.get_name() for task in done])`
    const notebook = await scene.fresh()
    assert.match(await runUnanswered(notebook, source), /^\['local work'\]\n/)
    // The call is still open, and its result is used by the next cell.
    const { type, output } = expectAnswer(await answerFirst(notebook, 'print(await call)'), 'completed')
    assert.deepEqual([type, output], ['completed', 'late\n'])
  },
})

/** Begins a cell and gives it the result of the first call of the session. */
async function answerFirst(notebook: Notebook, source: string) {
  expectAnswer(await notebook.begin(source), 'suspended')
  const outcome = { status: 'ok' as const, value: 'late' }
  return notebook.advance({ type: 'results', results: [{ index: 1, outcome }] })
}

/** An alarm that is due a moment later. */
const setAlarm = `
import signal
def late(*_): raise TimeoutError("alarm")
signal.signal(signal.SIGALRM, late)
signal.setitimer(signal.ITIMER_REAL, 0.1)
`

/** Threads, child processes and alarms beside the event loop of the program. */
export const threadCases: readonly CaseDefinition[] = [
  beside('notices a thread', 'await asyncio.to_thread(time.sleep, 0.2)'),
  beside('notices a child process', 'await (await asyncio.create_subprocess_exec("sleep", "0.2")).wait()'),
  beside(
    'notices call_soon_threadsafe',
    'threading.Timer(0.2, loop.call_soon_threadsafe, [happened.set]).start(); await happened.wait()',
  ),
  beside('notices a thread of a pool, whatever its name', 'await asyncio.wrap_future(pool.submit(time.sleep, 0.2))'),
  {
    name: 'gives a thread beside an open call the time that it had, when the program is run again',
    needs: 'hasProcesses',
    async run(scene) {
      const notebook = await scene.fresh()
      const source = `
import asyncio, time
async def item():
    await get("item")
    await asyncio.to_thread(time.sleep, 0.3)
    await get("after the thread")
await asyncio.gather(get("open"), item())`
      const { calls } = expectAnswer(await notebook.begin(source), 'suspended')
      const { index = 0 } = calls.find(({ arguments: { a } }) => a === 'item') ?? {}
      const results = [{ index, outcome: { status: 'ok' as const, value: null } }]
      assert.deepEqual(expectAnswer(await notebook.advance({ type: 'results', results }), 'suspended').calls, [])
      notebook.now += 4_000 // of which nothing is left in a rebuild: the next step comes at once
      const next = expectAnswer(await notebook.advance({ type: 'results', results: [] }), 'suspended')
      assert.deepEqual(
        next.calls.map(({ arguments: { a } }) => a),
        ['after the thread'],
      )
    },
  },
  {
    name: 'waits for a thread of a pool with nothing else to wait for, and no longer for one that is idle',
    needs: 'hasProcesses',
    async run(scene) {
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
      const { final, answers } = await (await scene.fresh()).run(source)
      assert.equal(expectAnswer(final, 'failed').output, 'parked\n')
      expectError(final, 'can never happen')
      const [parked] = answers
      assert.ok(parked && (expectAnswer(parked, 'suspended').wakeInMs ?? 0) > 3_000_000)
      assert.equal(answers.length, 2)
    },
  },
  {
    name: 'of asyncio.run works in another thread; tools can only be called from that of the cell',
    needs: 'hasProcesses',
    async run(scene) {
      const notebook = await scene.fresh()
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
      assert.equal((await notebook.run(source)).output, `1 2\n${advice.join('')}\n{'a': 5} {'a': 4}\n`)
    },
  },
  {
    name: 'runs the handler of an alarm that is due while a tool call is open when the call is answered',
    needs: 'hasProcesses',
    async run(scene) {
      const source = `
import signal
def late(*_): raise TimeoutError("alarm")
signal.signal(signal.SIGALRM, late)
signal.setitimer(signal.ITIMER_REAL, 0.1)
for n in range(500):
    await get(n)`
      expectError((await (await scene.fresh()).run(source)).final, /TimeoutError: alarm$/)
    },
  },
  {
    name: 'says of threads that outlive their cell where their output is, and brings it',
    needs: 'hasProcesses',
    async run(scene) {
      const notebook = await scene.fresh()
      const source = `
import threading
go = threading.Event()
thread = threading.Thread(target=lambda: go.wait() and print("from the thread"))
thread.start()`
      const { output } = await notebook.run(source)
      assert.match(output, /^\[hint\] 1 threads were still running/)
      assert.equal((await notebook.run('go.set()\nthread.join()\nprint("end")')).output, 'from the thread\nend\n')
    },
  },
  {
    name: 'says of a thread that it outlives its cell also when another has ended meanwhile',
    needs: 'hasProcesses',
    async run(scene) {
      const notebook = await scene.fresh()
      const begin = (name: string) => `${name} = threading.Event()\nthreading.Thread(target=${name}.wait).start()\n`
      const hint = /^\[hint\] 1 threads were still running/
      assert.match((await notebook.run(`import threading\n${begin('first')}`)).output, hint)
      assert.equal((await notebook.run('print("nothing new")')).output, 'nothing new\n')
      const join = '[thread.join() for thread in threading.enumerate()[1:]]\n'
      assert.match((await notebook.run(`first.set()\n${join}${begin('second')}`)).output, hint)
      assert.equal((await notebook.run(`second.set()\n${join}`)).output, '')
    },
  },
  {
    name: 'brings what a pool that is never shut down and a timer print after their cell',
    needs: 'hasProcesses',
    async run(scene) {
      const notebook = await scene.fresh()
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
      assert.match((await notebook.run(source)).output, /^\[hint\] 2 threads were still running/)
      const { output } = await notebook.run('go.set()\njob.result()\ntimer.join()\nprint("end")')
      assert.match(output, /^(pool\ntimer|timer\npool)\nend\n$/)
    },
  },
  {
    name: 'counts a long sleep beside a thread or a server as time that the code runs',
    needs: 'hasProcesses',
    async run(scene) {
      const notebook = await scene.fresh({ cellSeconds: 2 })
      const source = `
import asyncio, threading
go = threading.Event()
threading.Thread(target=go.wait).start()
await asyncio.sleep(3600)`
      const { final } = await notebook.run(source)
      assert.equal(expectAnswer(final, 'failed').kind, 'timed_out')
      await notebook.run('go.set()\nserver = await asyncio.start_server(print, "localhost", 0)')
      assert.equal(expectAnswer((await notebook.run('await asyncio.sleep(3600)')).final, 'failed').kind, 'timed_out')
      const { answers, output } = await notebook.run('server.close()\nawait asyncio.sleep(3600)\nprint("woke")')
      assert.deepEqual([answers.length, output], [2, 'woke\n'])
    },
  },
  {
    name: 'waits for a job that no thread of a pool has taken yet',
    needs: 'hasProcesses',
    async run(scene) {
      const notebook = await scene.fresh()
      // Without a thread there is nothing to take it: as long as that is so, its queue is what tells of it.
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
      assert.equal((await notebook.run(source)).output, 'False\nTrue\nFalse\n')
    },
  },
  {
    name: 'runs the handler of an alarm in the middle of code, and none after the end of its cell',
    needs: 'hasProcesses',
    async run(scene) {
      const notebook = await scene.fresh()
      const source = `${setAlarm}while True: pass`
      expectError((await notebook.run(source)).final, /TimeoutError: alarm$/)
      await notebook.run('signal.setitimer(signal.ITIMER_REAL, 0.1)')
      assert.equal((await notebook.run('import time\ntime.sleep(0.3)\nprint("no alarm")')).output, 'no alarm\n')
    },
  },
  {
    name: 'runs the handler of an alarm that was due during one call when that is answered',
    needs: 'hasProcesses',
    async run(scene) {
      const notebook = await scene.fresh()
      const source = `${setAlarm}await get(1)
print("answered")`
      expectAnswer(await notebook.begin(source), 'suspended')
      await setTimeout(300)
      const outcome = { status: 'ok' as const, value: 1 }
      const end = await notebook.advance({ type: 'results', results: [{ index: 1, outcome }] })
      expectError(end, /TimeoutError: alarm$/)
      assert.equal(expectAnswer(end, 'failed').output, '')
    },
  },
  {
    name: 'is what asyncio.as_completed asks for at its first step, not when it is called',
    needs: 'hasProcesses',
    async run(scene) {
      const source = `
def first():
    iterator = asyncio.as_completed([future])
    try:
        next(iterator)
    except RuntimeError as error:
        return error
future = asyncio.get_running_loop().create_future()
print(await asyncio.to_thread(first))`
      assert.match((await (await scene.fresh()).run(source)).output, /^There is no current event loop in thread/)
    },
  },
]
