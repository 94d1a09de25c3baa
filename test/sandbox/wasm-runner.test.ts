import { afterAll, beforeAll, expect, test } from 'vitest'
import { defaultLimits } from '../../src/common/limits.js'
import type { SandboxBackend, SandboxConnection } from '../../src/sandbox/backend.js'
import { encodeFrame } from '../../src/sandbox/protocol/frames.js'
import { protocolVersion, runnerMessage } from '../../src/sandbox/protocol/messages.js'
import type { HostMessage, RunnerMessage } from '../../src/sandbox/protocol/messages.js'
import { createWasmBackend } from '../../src/sandbox/wasm/backend.js'
import { framesOf, specOf } from './wasm-support.js'

const backend: SandboxBackend = createWasmBackend({ warm: 1 })
let connection: SandboxConnection
let frames: AsyncGenerator
let step = 0

beforeAll(async () => {
  connection = await backend.open(specOf('runner'), new AbortController().signal)
  frames = framesOf(connection)
})

afterAll(async () => backend.close())

async function send(message: HostMessage): Promise<void> {
  await connection.send(encodeFrame(message, defaultLimits.frameBytes))
}

async function answer(): Promise<RunnerMessage> {
  for (;;) {
    const { value, done } = await frames.next()
    if (done) throw new Error(`the sandbox ended: ${JSON.stringify(await connection.ended)}`)
    const message = runnerMessage.parse(value)
    if (message.type !== 'output' && message.type !== 'interrupted') return message
  }
}

async function cell(source: string): Promise<RunnerMessage> {
  step += 1
  await send({ type: 'cell', fence: [1, step, 1], step, now: 0, cell: 1, source })
  return answer()
}

test('the runner of the Docker sandbox greets from the embedded one', async () => {
  const { cellSeconds, callsPerCell, capturedCharacters, frameBytes, argumentBytes, memoryBytes } = defaultLimits
  await send({
    type: 'hello',
    protocol: protocolVersion,
    fence: [1, 0, 1],
    session: 'runner',
    seed: 1,
    tools: [{ name: 'add', parameters: ['a', 'b'], required: ['a', 'b'], documentation: 'Adds.' }],
    limits: {
      cell_seconds: cellSeconds,
      calls_per_cell: callsPerCell,
      captured_characters: capturedCharacters,
      frame_bytes: frameBytes,
      argument_bytes: argumentBytes,
      memory_bytes: memoryBytes,
    },
  })
  expect(await answer()).toMatchObject({ type: 'ready', session: 'runner', step: 0 })
})

test('code prints, and variables live on in the next cell', async () => {
  expect(await cell('x = 20\nprint("hello", x)')).toMatchObject({ type: 'completed', output: 'hello 20\n' })
  expect(await cell('print(x + 1)')).toMatchObject({ type: 'completed', output: '21\n' })
})

test('parallel calls stop the program once, and their results go on with it', async () => {
  const source = 'import asyncio\nprint(await asyncio.gather(add(a=1, b=2), add(a=3, b=4)))'
  const suspended = await cell(source)
  expect(suspended).toMatchObject({ type: 'suspended', calls: [{ tool: 'add' }, { tool: 'add' }] })
  if (suspended.type !== 'suspended') return
  step += 1
  const results = suspended.calls.map(({ call }) => ({ call, outcome: { status: 'ok', value: call * 10 } }))
  await send({ type: 'advance', fence: [1, step, 1], step, now: 0, results })
  expect(await answer()).toMatchObject({ type: 'completed', output: '[10, 20]\n' })
})

test('a sleep and an exception work as they do outside', async () => {
  expect(await cell('await asyncio.sleep(0.01)\nprint("woke")')).toMatchObject({ output: 'woke\n' })
  expect(await cell('1 / 0')).toMatchObject({
    type: 'failed',
    kind: 'code_error',
    error: expect.stringContaining('ZeroDivisionError'),
  })
})

test('os.system answers that there is no such thing, and the session goes on', async () => {
  expect(await cell('import os\nprint(os.system("id"))')).toMatchObject({ type: 'completed', output: '-1\n' })
})

test('a thread can not be started', async () => {
  expect(await cell('import threading\nthreading.Thread(target=print).start()')).toMatchObject({
    type: 'failed',
    error: expect.stringContaining("RuntimeError: can't start new thread"),
  })
})

test('there is no alarm', async () => {
  const source = 'import signal\nprint(hasattr(signal, "setitimer"))\nsignal.alarm(1)'
  expect(await cell(source)).toMatchObject({ type: 'failed', output: 'False\n' })
})

test('what is printed to the descriptors themselves never reads as a frame', async () => {
  const forged = `import json, os, sys\nsys.stdout.write("\\0\\0\\0\\2{}")\nsys.stderr.write("\\0\\0\\0\\2{}")`
  const reply = await cell(forged)
  expect(reply.type).toBe('completed')
})

test('more memory than allowed is a MemoryError of the cell', async () => {
  const reply = await cell('x = bytearray(10**9)')
  expect(reply).toMatchObject({ type: 'failed', error: expect.stringContaining('MemoryError') })
  expect(await cell('print("still here")')).toMatchObject({ output: 'still here\n' })
})

test('a cell prints when nearly all memory is in use', async () => {
  const fill =
    'rows = []\nfor size in (4_000_000, 500_000):\n  try:\n    while True: rows.append(b"x" * size)\n  except MemoryError: pass'
  expect(await cell(fill)).toMatchObject({ type: 'completed' })
  expect(await cell('print("still here")')).toMatchObject({ output: 'still here\n' })
  expect(await cell('del rows')).toMatchObject({ type: 'completed' })
})

test('an interrupt ends an endless loop as a failed cell, and the session goes on', async () => {
  const looping = cell('n = 0\nwhile True: n += 1')
  const interrupting = setInterval(() => void connection.interrupt(), 50)
  const reply = await looping
  clearInterval(interrupting)
  expect(reply).toMatchObject({ type: 'failed' })
  expect(await cell('print(n > 0)')).toMatchObject({ type: 'completed', output: 'True\n' })
})

test('a named time zone says what to use instead: there is no data', async () => {
  expect(await cell('import zoneinfo\nzoneinfo.ZoneInfo("Europe/Berlin")')).toMatchObject({
    type: 'failed',
    error: expect.stringMatching(
      /ZoneInfoNotFoundError: .*the embedded sandbox has no time zone data, use datetime\.timezone with a fixed offset/,
    ),
  })
})

test('the interpreter ends by itself when its host says close', async () => {
  step += 1
  await send({ type: 'close', fence: [1, step, 1] })
  expect(await connection.ended).toMatchObject({ reason: 'exited', exitCode: 0 })
})
