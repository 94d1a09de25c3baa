import { fork } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { createWasmBackend } from '../../../../src/sandbox/wasm/backend.js'
import type { WasmBackendOptions } from '../../../../src/sandbox/wasm/backend.js'
import type { SandboxBackend } from '../../../../src/sandbox/backend.js'
import { pollOptions } from '../../../support/poll-options.js'
import { createSpec } from '../../../support/sandbox/create-spec.js'
import { readFrames } from '../../../support/sandbox/protocol-client.js'
import {
  AttackClient,
  createAttackRunner,
  findProcesses,
  killIfRunning,
  findIdleInterpreters,
} from '../../../support/sandbox/wasm-sandbox.js'

const runner = createAttackRunner()
const backends: SandboxBackend[] = []
const signal = new AbortController().signal

function createBackend(options: WasmBackendOptions = {}): SandboxBackend {
  const backend = createWasmBackend({ warm: 0, runner, ...options })
  backends.push(backend)
  return backend
}

afterEach(async () => {
  await Promise.all(backends.splice(0).map(async (each) => each.close()))
  expect(await findProcesses(runner)).toEqual([])
})

afterAll(() => rmSync(runner, { recursive: true, force: true }))

test('the check of the embedded sandbox reports the interpreter, and each missing layer with a remedy', async () => {
  const check = await createBackend().check()
  expect(check.usable).toBe(true)
  expect(check.summary).toMatch(/^Pyodide \d+\.\d+\.\d+ \(Python 3\.14\.\d+\) on Node \d+/)
  for (const problem of check.problems)
    expect(problem).toMatchObject({ severity: 'warning', remedy: expect.any(String) })
})

test('an idle interpreter is handed out, and only once', async () => {
  const warm = createBackend({ warm: 1 })
  await vi.waitUntil(async () => (await findIdleInterpreters(runner)).length > 0, pollOptions)
  const [ready = 0] = await findIdleInterpreters(runner)
  const first = await warm.open(createSpec('first'), signal)
  expect(await new AttackClient(first).run('mark = 1; answer = 1')).toEqual({ answer: 1 })
  const second = await warm.open(createSpec('second'), signal)
  expect(await new AttackClient(second).run('answer = "mark" in globals()')).toEqual({ answer: false })
  // The first session has the interpreter that was ready.
  process.kill(ready, 'SIGKILL')
  expect(await first.ended).toMatchObject({ reason: 'exited' })
})

test.each([
  ['while it was loading', async () => (await findProcesses(runner, 'main.mjs')).length > 0],
  ['while it waited', async () => (await findIdleInterpreters(runner)).length > 0],
])('a warm interpreter that died %s is not handed out', async (_when, condition) => {
  const warm = createBackend({ warm: 1 })
  await vi.waitUntil(condition, pollOptions)
  for (const id of await findProcesses(runner, 'main.mjs')) killIfRunning(id, 'SIGKILL')
  await vi.waitUntil(async () => (await findProcesses(runner)).length === 0, pollOptions)
  const connection = await warm.open(createSpec('after'), signal)
  expect(await new AttackClient(connection).run('answer = 6 * 7')).toEqual({ answer: 42 })
})

/** Kills a process, which may have exited together with another killed one. */

test('opening the same sandbox again connects to the same interpreter', async () => {
  const one = createBackend()
  const first = await one.open(createSpec('same'), signal)
  await new AttackClient(first).run('x = 5')
  const second = await one.open(createSpec('same'), signal)
  expect(await first.ended).toMatchObject({ reason: 'disconnected' })
  expect(await new AttackClient(second).run('answer = x')).toEqual({ answer: 5 })
  await expect(first.send(Buffer.from('x'))).rejects.toThrow('is detached')
})

test('two opens at the same time create one interpreter', async () => {
  const one = createBackend({ maximum: 1 })
  const [, second] = await Promise.all([one.open(createSpec('twin'), signal), one.open(createSpec('twin'), signal)])
  expect(await new AttackClient(second).run('answer = 1')).toEqual({ answer: 1 })
})

test('attach delivers output that was written while detached', async () => {
  const one = createBackend()
  const first = await one.open(createSpec('dropped'), signal)
  const attacker = new AttackClient(first)
  await attacker.send('answer = "written while detached"')
  await first.detach()
  const second = await one.attach(createSpec('dropped'), signal)
  expect(second).toBeDefined()
  if (!second) return
  const frames = readFrames(second)
  expect((await frames.next()).value).toEqual({ answer: 'written while detached' })
})

test('attach finds no sandbox of another session, namespace, epoch or process', async () => {
  const one = createBackend()
  await one.open(createSpec('mine'), signal)
  expect(await one.attach(createSpec('other'), signal)).toBeUndefined()
  expect(await one.attach({ ...createSpec('mine'), epoch: 2 }, signal)).toBeUndefined()
  expect(await one.attach({ ...createSpec('mine'), namespace: 'else' }, signal)).toBeUndefined()
  expect(await createBackend().attach(createSpec('mine'), signal)).toBeUndefined()
})

test('a crashed interpreter is reported as exited, and the same sandbox can be opened again', async () => {
  const one = createBackend()
  const connection = await one.open(createSpec('crash'), signal)
  const attacker = new AttackClient(connection)
  expect(await attacker.run('import os; os.abort()')).toBeUndefined()
  const end = await connection.ended
  expect(end).toMatchObject({ reason: 'exited', exitCode: 70 })
  expect(end.diagnostics).toContain('Aborted')
  await expect(connection.send(Buffer.from('x'))).rejects.toMatchObject({ code: 'SANDBOX_LOST' })
  expect(await one.attach(createSpec('crash'), signal)).toBeUndefined()
  const again = await one.open(createSpec('crash'), signal)
  expect(await new AttackClient(again).run('answer = 1')).toEqual({ answer: 1 })
})

test('a list that is nested 200,000 deep ends the child, not this process', async () => {
  const connection = await createBackend().open(createSpec('deep'), signal)
  const source = 'import json\nx = []\nfor i in range(200000): x = [x]\nanswer = len(json.dumps(x))'
  const reply = await new AttackClient(connection).run(source)
  if (reply === undefined) expect(await connection.ended).toMatchObject({ reason: 'exited' })
  else expect(reply.error).toContain('RecursionError')
})

test('a program that exceeds its memory limit gets a MemoryError, and continues', async () => {
  const connection = await createBackend().open(createSpec('memory', { memoryBytes: 128 * 1024 * 1024 }), signal)
  const attacker = new AttackClient(connection)
  expect(await attacker.run('answer = len(bytearray(60_000_000))')).toEqual({ answer: 60_000_000 })
  expect(await attacker.run('x = bytearray(150_000_000)')).toEqual({ error: 'MemoryError: ' })
  expect(await attacker.run('x = []\nwhile True: x.append("a" * 1_000_000)')).toEqual({ error: 'MemoryError: ' })
  expect(await attacker.run('x = None; answer = ",".join(["ab"] * 100)[:2]')).toEqual({ answer: 'ab' })
})

test('an interpreter without memory for its runner ends as out of memory', async () => {
  const connection = await createBackend().open(
    createSpec('memory-of-runner', { memoryBytes: 128 * 1024 * 1024 }),
    signal,
  )
  const source = 'import os\ndef write(*_): raise MemoryError\nos.write = write'
  expect(await new AttackClient(connection).run(source)).toBeUndefined()
  expect(await connection.ended).toMatchObject({ reason: 'out_of_memory' })
})

test('memory of JavaScript is limited, too', async () => {
  const connection = await createBackend().open(createSpec('javascript-memory'), signal)
  const attacker = new AttackClient(connection)
  const buffers = await attacker.run('import js\nx = []\nwhile len(x) < 100: x.append(js.Uint8Array.new(50_000_000))')
  // V8 itself aborts at once when it gets no more memory.
  if (buffers !== undefined) {
    expect(buffers.error).toContain('allocation failed')
    await attacker.run('x = None')
    const heap = 'x = js.Array.new()\nwhile True: x.push(js.Array.new(100_000).fill(1.5))'
    expect(await attacker.run(heap)).toBeUndefined()
  }
  expect(await connection.ended).toMatchObject({ reason: 'out_of_memory' })
})

test('files have quotas, and a deletion frees space', async () => {
  const limits = { tmpBytes: 4_000_000 }
  const connection = await createBackend().open(createSpec('files', limits), signal)
  const attacker = new AttackClient(connection)
  const tooLarge = await attacker.run('open("/tmp/large", "wb").write(bytes(4_500_000))')
  expect(tooLarge?.error).toContain('File too large')
  const full = await attacker.run('for i in range(9): open(f"/tmp/{i}", "wb").write(bytes(1_000_000))')
  expect(full?.error).toContain('No space left')
  const room =
    'import os\nfor each in os.listdir("/tmp"): os.remove(f"/tmp/{each}")\nanswer = open("/tmp/a", "wb").write(bytes(1_500_000))'
  expect(await attacker.run(room)).toEqual({ answer: 1_500_000 })
  const many = await attacker.run('for i in range(5_000): open(f"/tmp/n{i}", "w").close()')
  expect(many?.error).toContain('No space left')
  const truncated = await attacker.run('os.truncate("/tmp/a", 4_500_000)')
  expect(truncated?.error).toContain('File too large')
  const open = await attacker.run('held = []\nwhile True: held.append(open("/tmp/a"))')
  expect(open?.error).toContain('No file descriptors')
})

test('an endless loop can be killed', async () => {
  const connection = await createBackend().open(createSpec('loop'), signal)
  await new AttackClient(connection).send('while True:\n  try:\n    while True: pass\n  except BaseException: pass')
  await connection.kill()
  expect(await connection.ended).toMatchObject({ reason: 'exited' })
})

test('an interrupt stops running code, and the interpreter continues', async () => {
  const connection = await createBackend().open(createSpec('interrupt'), signal)
  const attacker = new AttackClient(connection)
  const running = attacker.run('import os; os.write(2, b"started"); n = 0\nwhile True: n += 1')
  const interrupting = setInterval(() => void connection.interrupt(), 50)
  const reply = await running
  clearInterval(interrupting)
  expect(reply?.error).toContain('KeyboardInterrupt')
})

test('a late interrupt does not reach the next program', async () => {
  const connection = await createBackend().open(createSpec('late'), signal)
  const attacker = new AttackClient(connection)
  await attacker.run('answer = 1')
  // The runner may not yet wait for input after its reply.
  await vi.waitUntil(async () => (await findIdleInterpreters(runner)).length > 0, pollOptions)
  expect(await connection.interrupt()).toBe(true)
  expect(await attacker.run('answer = sum(range(1_000_000))')).toEqual({ answer: 499_999_500_000 })
})

test('endless output waits in the pipe, not in the memory of this process', async () => {
  const connection = await createBackend().open(createSpec('flood'), signal)
  const flood =
    'import os\nblock = bytes(65536)\nfor i in range(1600):\n  view = block\n  while view: view = view[os.write(1, view):]'
  await new AttackClient(connection).send(flood)
  let before = process.memoryUsage.rss()
  let received = 0
  let largest = 0
  for await (const chunk of connection.received) {
    if (received === 0) {
      // Does not read for a while, so that the child has to wait.
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

test('stderr is drained, and only its tail is kept', async () => {
  const connection = await createBackend().open(createSpec('noise'), signal)
  const noise = 'import os\nfor i in range(100): os.write(2, b"x" * 65536)\nos.write(2, b"the end")\nos._exit(3)'
  expect(await new AttackClient(connection).run(noise)).toBeUndefined()
  const end = await connection.ended
  expect(end).toMatchObject({ reason: 'exited', exitCode: 3 })
  expect(end.diagnostics.length).toBeLessThan(10_000)
  expect(end.diagnostics).toContain('the end')
})

test('the embedded sandbox transfers 10 MB in and out', async () => {
  const attacker = new AttackClient(await createBackend().open(createSpec('large'), signal))
  const reply = await attacker.run(`answer = len("${'x'.repeat(10_000_000)}")`)
  expect(reply).toEqual({ answer: 10_000_000 })
})

test('opening a sandbox over the maximum is refused, and succeeds after a remove', async () => {
  const one = createBackend({ maximum: 1 })
  await one.open(createSpec('one'), signal)
  await expect(one.open(createSpec('two'), signal)).rejects.toMatchObject({
    code: 'SANDBOX_UNAVAILABLE',
    message: '1 embedded interpreters are running, which is the maximum',
  })
  await one.remove(createSpec('one'))
  await one.remove(createSpec('one'))
  expect(await new AttackClient(await one.open(createSpec('two'), signal)).run('answer = 1')).toEqual({ answer: 1 })
})

test('an aborted open does not reject later, and its sandbox can be removed', async () => {
  const one = createBackend()
  const abort = new AbortController()
  const opening = one.open(createSpec('abandoned'), abort.signal)
  abort.abort(new Error('never mind'))
  await expect(opening).rejects.toThrow('never mind')
  await one.remove(createSpec('abandoned'))
})

test('opening a sandbox after close is refused', async () => {
  const one = createBackend({ warm: 1 })
  await one.close()
  await one.close()
  await expect(one.open(createSpec('closed'), signal)).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' })
})

test('createWasmBackend rejects invalid options', () => {
  expect(() => createWasmBackend({ warm: -1 })).toThrow('embedded sandbox: warm must be 0 or more, not -1')
  expect(() => createWasmBackend({ maximum: 0 })).toThrow('embedded sandbox: maximum must be 1 or more, not 0')
})

test.runIf(process.platform === 'linux')('a sandbox in an endless loop dies with a worker that is killed', async () => {
  const script = fileURLToPath(new URL('worker-process.ts', import.meta.url))
  const worker = fork(script, [runner], { execArgv: ['--import', 'jiti/register'], stdio: 'inherit' })
  const exited = once(worker, 'exit').then(([code]) => Promise.reject(new Error(`the worker exited with ${code}`)))
  await Promise.race([once(worker, 'message'), exited])
  expect((await findProcesses(runner)).length).toBeGreaterThan(1)
  worker.kill('SIGKILL')
  await expect(exited).rejects.toThrow('null')
  await vi.waitUntil(async () => (await findProcesses(runner)).length === 0, pollOptions)
})
