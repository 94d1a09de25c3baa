import assert from 'node:assert/strict'
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
loop = asyncio.get_running_loop()
with ThreadPoolExecutor(1) as pool:
    print(pool.submit(asyncio.run, main(1)).result(), await asyncio.to_thread(asyncio.run, main(2)))
    try:
        pool.submit(asyncio.run, main(3)).result()
    except RuntimeError as error:
        print("run_coroutine_threadsafe" in str(error))
    print(await asyncio.to_thread(lambda: asyncio.run_coroutine_threadsafe(main(4), loop).result()))`
      assert.equal((await notebook.run(source)).output, "1 2\nTrue\n{'a': 4}\n")
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
]
