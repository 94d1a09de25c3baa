import { fork } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { createWasmBackend } from '../../src/sandbox/wasm/backend.js'
import type { WasmBackendOptions } from '../../src/sandbox/wasm/backend.js'
import type { SandboxBackend } from '../../src/sandbox/backend.js'
import { patient } from '../support/patient.js'
import { Attacker, attackRunnerFolder, framesOf, processesWith, readyInterpreters, specOf } from './wasm-support.js'

const runner = attackRunnerFolder()
const backends: SandboxBackend[] = []
const signal = new AbortController().signal

function backend(options: WasmBackendOptions = {}): SandboxBackend {
  const made = createWasmBackend({ warm: 0, runner, ...options })
  backends.push(made)
  return made
}

afterEach(async () => {
  await Promise.all(backends.splice(0).map(async (each) => each.close()))
  expect(await processesWith(runner)).toEqual([])
})

afterAll(() => rmSync(runner, { recursive: true, force: true }))

test('check says what runs and what stands around it', async () => {
  const check = await backend().check()
  expect(check.usable).toBe(true)
  expect(check.summary).toMatch(/^Pyodide \d+\.\d+\.\d+ \(Python 3\.14\.\d+\) on Node \d+/)
  for (const problem of check.problems)
    expect(problem).toMatchObject({ severity: 'warning', remedy: expect.any(String) })
})

test('an interpreter loaded ahead is handed out, and only once', async () => {
  const warm = backend({ warm: 1 })
  await vi.waitUntil(async () => (await readyInterpreters(runner)).length > 0, patient)
  const [ready = 0] = await readyInterpreters(runner)
  const first = await warm.open(specOf('first'), signal)
  expect(await new Attacker(first).run('mark = 1; answer = 1')).toEqual({ answer: 1 })
  const second = await warm.open(specOf('second'), signal)
  expect(await new Attacker(second).run('answer = "mark" in globals()')).toEqual({ answer: false })
  // The first one is the one that was ready.
  process.kill(ready, 'SIGKILL')
  expect(await first.ended).toMatchObject({ reason: 'exited' })
})

test.each([
  ['while it was loading', async () => (await processesWith(runner, 'main.mjs')).length > 0],
  ['while it waited', async () => (await readyInterpreters(runner)).length > 0],
])('a warm interpreter that died %s is not handed out', async (_when, come) => {
  const warm = backend({ warm: 1 })
  await vi.waitUntil(come, patient)
  for (const id of await processesWith(runner, 'main.mjs')) killIfThere(id)
  await vi.waitUntil(async () => (await processesWith(runner)).length === 0, patient)
  const connection = await warm.open(specOf('after'), signal)
  expect(await new Attacker(connection).run('answer = 6 * 7')).toEqual({ answer: 42 })
})

/** One may take another with it. */
function killIfThere(id: number): void {
  try {
    process.kill(id, 'SIGKILL')
  } catch (thrown) {
    expect(thrown).toMatchObject({ code: 'ESRCH' })
  }
}

test('opening the same sandbox again connects to the same interpreter', async () => {
  const one = backend()
  const first = await one.open(specOf('same'), signal)
  await new Attacker(first).run('x = 5')
  const second = await one.open(specOf('same'), signal)
  expect(await first.ended).toMatchObject({ reason: 'disconnected' })
  expect(await new Attacker(second).run('answer = x')).toEqual({ answer: 5 })
  await expect(first.send(Buffer.from('x'))).rejects.toThrow('given up')
})

test('two opens at once make one interpreter', async () => {
  const one = backend({ maximum: 1 })
  const [, second] = await Promise.all([one.open(specOf('twin'), signal), one.open(specOf('twin'), signal)])
  expect(await new Attacker(second).run('answer = 1')).toEqual({ answer: 1 })
})

test('what was said while nobody was attached is there for the next connection', async () => {
  const one = backend()
  const first = await one.open(specOf('dropped'), signal)
  const attacker = new Attacker(first)
  await attacker.send('answer = "said to nobody"')
  await first.detach()
  const second = await one.attach(specOf('dropped'), signal)
  expect(second).toBeDefined()
  if (!second) return
  const frames = framesOf(second)
  expect((await frames.next()).value).toEqual({ answer: 'said to nobody' })
})

test('attach finds nothing that is not there, of another namespace, epoch or process', async () => {
  const one = backend()
  await one.open(specOf('mine'), signal)
  expect(await one.attach(specOf('other'), signal)).toBeUndefined()
  expect(await one.attach({ ...specOf('mine'), epoch: 2 }, signal)).toBeUndefined()
  expect(await one.attach({ ...specOf('mine'), namespace: 'else' }, signal)).toBeUndefined()
  expect(await backend().attach(specOf('mine'), signal)).toBeUndefined()
})

test('an interpreter that crashed is reported as exited, and the same sandbox opens anew', async () => {
  const one = backend()
  const connection = await one.open(specOf('crash'), signal)
  const attacker = new Attacker(connection)
  expect(await attacker.run('import os; os.abort()')).toBeUndefined()
  const end = await connection.ended
  expect(end).toMatchObject({ reason: 'exited', exitCode: 70 })
  expect(end.diagnostics).toContain('Aborted')
  await expect(connection.send(Buffer.from('x'))).rejects.toMatchObject({ code: 'SANDBOX_LOST' })
  expect(await one.attach(specOf('crash'), signal)).toBeUndefined()
  const again = await one.open(specOf('crash'), signal)
  expect(await new Attacker(again).run('answer = 1')).toEqual({ answer: 1 })
})

test('a list nested 200,000 deep ends the child, not this process', async () => {
  const connection = await backend().open(specOf('deep'), signal)
  const source = 'import json\nx = []\nfor i in range(200000): x = [x]\nanswer = len(json.dumps(x))'
  const reply = await new Attacker(connection).run(source)
  if (reply === undefined) expect(await connection.ended).toMatchObject({ reason: 'exited' })
  else expect(reply.error).toContain('RecursionError')
})

test('a program may have its memory and no more: Python is told, and lives on', async () => {
  const connection = await backend().open(specOf('memory', { memoryBytes: 128 * 1024 * 1024 }), signal)
  const attacker = new Attacker(connection)
  expect(await attacker.run('answer = len(bytearray(60_000_000))')).toEqual({ answer: 60_000_000 })
  expect(await attacker.run('x = bytearray(150_000_000)')).toEqual({ error: 'MemoryError: ' })
  expect(await attacker.run('x = []\nwhile True: x.append("a" * 1_000_000)')).toEqual({ error: 'MemoryError: ' })
  expect(await attacker.run('x = None; answer = ",".join(["ab"] * 100)[:2]')).toEqual({ answer: 'ab' })
})

test('an interpreter that has no memory left for its runner ends as out of memory', async () => {
  const connection = await backend().open(specOf('memory-of-runner', { memoryBytes: 128 * 1024 * 1024 }), signal)
  const source = 'import os\ndef write(*_): raise MemoryError\nos.write = write'
  expect(await new Attacker(connection).run(source)).toBeUndefined()
  expect(await connection.ended).toMatchObject({ reason: 'out_of_memory' })
})

test('memory that JavaScript takes is bounded too', async () => {
  const connection = await backend().open(specOf('javascript-memory'), signal)
  const attacker = new Attacker(connection)
  const buffers = await attacker.run('import js\nx = []\nwhile len(x) < 100: x.append(js.Uint8Array.new(50_000_000))')
  // Where V8 itself is the one that gets no more, it gives up at once.
  if (buffers !== undefined) {
    expect(buffers.error).toContain('allocation failed')
    await attacker.run('x = None')
    const heap = 'x = js.Array.new()\nwhile True: x.push(js.Array.new(100_000).fill(1.5))'
    expect(await attacker.run(heap)).toBeUndefined()
  }
  expect(await connection.ended).toMatchObject({ reason: 'out_of_memory' })
})

test('files have quotas, and deleting makes room', async () => {
  const limits = { tmpBytes: 4_000_000, fileBytes: 2_000_000, tmpInodes: 50, openFiles: 20 }
  const connection = await backend().open(specOf('files', limits), signal)
  const attacker = new Attacker(connection)
  const tooLarge = await attacker.run('open("/tmp/large", "wb").write(bytes(2_500_000))')
  expect(tooLarge?.error).toContain('File too large')
  const full = await attacker.run('for i in range(9): open(f"/tmp/{i}", "wb").write(bytes(1_000_000))')
  expect(full?.error).toContain('No space left')
  const room =
    'import os\nfor each in os.listdir("/tmp"): os.remove(f"/tmp/{each}")\nanswer = open("/tmp/a", "wb").write(bytes(1_500_000))'
  expect(await attacker.run(room)).toEqual({ answer: 1_500_000 })
  const many = await attacker.run('for i in range(99): open(f"/tmp/n{i}", "w").close()')
  expect(many?.error).toContain('No space left')
  const truncated = await attacker.run('os.truncate("/tmp/a", 3_000_000)')
  expect(truncated?.error).toContain('File too large')
  const open = await attacker.run('held = []\nwhile True: held.append(open("/tmp/a"))')
  expect(open?.error).toContain('No file descriptors')
})

test('an endless loop is killed, and takes nothing with it', async () => {
  const connection = await backend().open(specOf('loop'), signal)
  await new Attacker(connection).send('while True:\n  try:\n    while True: pass\n  except BaseException: pass')
  await connection.kill()
  expect(await connection.ended).toMatchObject({ reason: 'exited' })
})

test('an interrupt stops running code, and the interpreter lives on', async () => {
  const connection = await backend().open(specOf('interrupt'), signal)
  const attacker = new Attacker(connection)
  const running = attacker.run('import os; os.write(2, b"started"); n = 0\nwhile True: n += 1')
  const interrupting = setInterval(() => void connection.interrupt(), 50)
  const reply = await running
  clearInterval(interrupting)
  expect(reply?.error).toContain('KeyboardInterrupt')
})

test('an interrupt that comes too late does not hit the next program', async () => {
  const connection = await backend().open(specOf('late'), signal)
  const attacker = new Attacker(connection)
  await attacker.run('answer = 1')
  // It has answered, but may be on its way to where it waits.
  await vi.waitUntil(async () => (await readyInterpreters(runner)).length > 0, patient)
  expect(await connection.interrupt()).toBe(true)
  expect(await attacker.run('answer = sum(range(1_000_000))')).toEqual({ answer: 499_999_500_000 })
})

test('endless output waits in the pipe: this process does not grow', async () => {
  const connection = await backend().open(specOf('flood'), signal)
  const flood =
    'import os\nblock = bytes(65536)\nfor i in range(1600):\n  view = block\n  while view: view = view[os.write(1, view):]'
  await new Attacker(connection).send(flood)
  let before = process.memoryUsage.rss()
  let received = 0
  let largest = 0
  for await (const chunk of connection.received) {
    if (received === 0) {
      // Unread for a while: the child must be the one that waits.
      await new Promise((resolve) => setTimeout(resolve, 1_000))
      global.gc?.()
      before = process.memoryUsage.rss()
    }
    received += chunk.length
    largest = Math.max(largest, process.memoryUsage.rss() - before)
    if (received >= 100_000_000) break
  }
  expect(received).toBeGreaterThanOrEqual(100_000_000)
  expect(largest).toBeLessThan(150_000_000)
})

test('noise on standard error is drained and only its end is kept', async () => {
  const connection = await backend().open(specOf('noise'), signal)
  const noise = 'import os\nfor i in range(100): os.write(2, b"x" * 65536)\nos.write(2, b"the end")\nos._exit(3)'
  expect(await new Attacker(connection).run(noise)).toBeUndefined()
  const end = await connection.ended
  expect(end).toMatchObject({ reason: 'exited', exitCode: 3 })
  expect(end.diagnostics.length).toBeLessThan(10_000)
  expect(end.diagnostics).toContain('the end')
})

test('10 MB go in and out', async () => {
  const attacker = new Attacker(await backend().open(specOf('large'), signal))
  const reply = await attacker.run(`answer = len("${'x'.repeat(10_000_000)}")`)
  expect(reply).toEqual({ answer: 10_000_000 })
})

test('one too many is refused with a clear error, and there is room again after a remove', async () => {
  const one = backend({ maximum: 1 })
  await one.open(specOf('one'), signal)
  await expect(one.open(specOf('two'), signal)).rejects.toMatchObject({
    code: 'SANDBOX_UNAVAILABLE',
    message: '1 embedded interpreters are running, which is the most allowed',
  })
  await one.remove(specOf('one'))
  await one.remove(specOf('one'))
  expect(await new Attacker(await one.open(specOf('two'), signal)).run('answer = 1')).toEqual({ answer: 1 })
})

test('an abandoned open does not reject later, and its sandbox is still removed', async () => {
  const one = backend()
  const abort = new AbortController()
  const opening = one.open(specOf('abandoned'), abort.signal)
  abort.abort(new Error('never mind'))
  await expect(opening).rejects.toThrow('never mind')
  await one.remove(specOf('abandoned'))
})

test('after close nothing opens', async () => {
  const one = backend({ warm: 1 })
  await one.close()
  await one.close()
  await expect(one.open(specOf('closed'), signal)).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' })
})

test('options that make no sense are refused at once', () => {
  expect(() => createWasmBackend({ warm: -1 })).toThrow('embedded sandbox: warm must be 0 or more, not -1')
  expect(() => createWasmBackend({ maximum: 0 })).toThrow('embedded sandbox: maximum must be 1 or more, not 0')
})

test.runIf(process.platform === 'linux')('a sandbox in an endless loop dies with a worker that is killed', async () => {
  const script = fileURLToPath(new URL('wasm-worker-process.ts', import.meta.url))
  const worker = fork(script, [runner], { execArgv: ['--import', 'jiti/register'], stdio: 'inherit' })
  const left = once(worker, 'exit').then(([code]) => Promise.reject(new Error(`the worker left with ${code}`)))
  await Promise.race([once(worker, 'message'), left])
  expect((await processesWith(runner)).length).toBeGreaterThan(1)
  worker.kill('SIGKILL')
  await expect(left).rejects.toThrow('null')
  await vi.waitUntil(async () => (await processesWith(runner)).length === 0, patient)
})
