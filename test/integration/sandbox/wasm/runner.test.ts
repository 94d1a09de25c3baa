import { afterAll, beforeAll, expect, test } from 'vitest'
import { capturedCharacters, defaultLimits } from '../../../../src/common/run/limits.js'
import type { SandboxBackend, SandboxConnection } from '../../../../src/sandbox/backend.js'
import { hostFrameBytes } from '../../../../src/sandbox/protocol/frames.js'
import { protocolVersion } from '../../../../src/sandbox/protocol/messages.js'
import type { RunnerMessage } from '../../../../src/sandbox/protocol/messages.js'
import { createWasmBackend } from '../../../../src/sandbox/wasm/backend.js'
import { createSpec } from '../../../support/sandbox/create-spec.js'
import { ProtocolClient } from '../../../support/sandbox/protocol-client.js'

const backend: SandboxBackend = createWasmBackend({ warm: 1 })
let connection: SandboxConnection
let client: ProtocolClient
let step = 0

beforeAll(async () => {
  connection = await backend.open(createSpec('runner'), new AbortController().signal)
  client = new ProtocolClient(connection)
})

afterAll(async () => backend.close())

async function runCell(source: string): Promise<RunnerMessage> {
  step += 1
  await client.send({ type: 'cell', fence: [1, step, 1], step, digest: `digest ${step}`, now: 0, cell: 1, source })
  return client.readResponse()
}

test('the runner of the Docker sandbox responds to hello', async () => {
  const { cellSeconds, callsPerCell, argumentBytes, memoryBytes } = defaultLimits
  await client.send({
    type: 'hello',
    protocol: protocolVersion,
    fence: [1, 0, 1],
    session: 'runner',
    seed: 1,
    started_at: 1_700_000_000_000,
    tools: [{ name: 'add', parameters: ['a', 'b'], required: ['a', 'b'], documentation: 'Adds.' }],
    limits: {
      cell_seconds: cellSeconds,
      calls_per_cell: callsPerCell,
      captured_characters: capturedCharacters,
      frame_bytes: hostFrameBytes,
      argument_bytes: argumentBytes,
      memory_bytes: memoryBytes,
    },
  })
  expect(await client.readResponse()).toMatchObject({ type: 'ready', session: 'runner', step: 0 })
})

test('code prints, and the next cell has its variables', async () => {
  expect(await runCell('x = 20\nprint("hello", x)')).toMatchObject({ type: 'completed', output: 'hello 20\n' })
  expect(await runCell('print(x + 1)')).toMatchObject({ type: 'completed', output: '21\n' })
})

test('code gets a hint that threads and processes are not available', async () => {
  expect(await runCell('import threading\nthreading.Thread(target=print).start()')).toMatchObject({
    error: expect.stringContaining('[hint] This sandbox has no threads'),
  })
  expect(await runCell('import subprocess\nsubprocess.run(["ls"])')).toMatchObject({
    error: expect.stringContaining("[hint] This sandbox can't start processes"),
  })
})

test('parallel calls suspend the program once, and it continues with their results', async () => {
  const source = 'import asyncio\nprint(await asyncio.gather(add(a=1, b=2), add(a=3, b=4)))'
  const suspended = await runCell(source)
  expect(suspended).toMatchObject({ type: 'suspended', calls: [{ tool: 'add' }, { tool: 'add' }] })
  if (suspended.type !== 'suspended') return
  step += 1
  const results = suspended.calls.map(({ call }) => ({ call, outcome: { status: 'ok', value: call * 10 } }))
  await client.send({ type: 'resume', fence: [1, step, 1], step, digest: `digest ${step}`, now: 0, waited: 0, results })
  expect(await client.readResponse()).toMatchObject({ type: 'completed', output: '[10, 20]\n' })
})

test('a sleep and an exception work as in CPython', async () => {
  expect(await runCell('await asyncio.sleep(0.01)\nprint("woke")')).toMatchObject({ output: 'woke\n' })
  expect(await runCell('1 / 0')).toMatchObject({
    type: 'failed',
    kind: 'code_error',
    error: expect.stringContaining('ZeroDivisionError'),
  })
})

test('os.system returns -1, and the session continues', async () => {
  expect(await runCell('import os\nprint(os.system("id"))')).toMatchObject({ type: 'completed', output: '-1\n' })
})

test("a thread can't be started", async () => {
  expect(await runCell('import threading\nthreading.Thread(target=print).start()')).toMatchObject({
    type: 'failed',
    error: expect.stringContaining("RuntimeError: can't start new thread"),
  })
})

test('signal.alarm is not available', async () => {
  const source = 'import signal\nprint(hasattr(signal, "setitimer"))\nsignal.alarm(1)'
  expect(await runCell(source)).toMatchObject({ type: 'failed', output: 'False\n' })
})

test('output that looks like a frame is not read as a frame', async () => {
  const forged = `import json, os, sys\nsys.stdout.write("\\0\\0\\0\\2{}")\nsys.stderr.write("\\0\\0\\0\\2{}")`
  const reply = await runCell(forged)
  expect(reply.type).toBe('completed')
})

test('a cell that exceeds the memory limit gets a MemoryError', async () => {
  const reply = await runCell('x = bytearray(10**9)')
  expect(reply).toMatchObject({ type: 'failed', error: expect.stringContaining('MemoryError') })
  expect(await runCell('print("still here")')).toMatchObject({ output: 'still here\n' })
})

test('a cell prints when nearly all memory is in use', async () => {
  const fill =
    'rows = []\nfor size in (4_000_000, 500_000):\n  try:\n    while True: rows.append(b"x" * size)\n  except MemoryError: pass'
  expect(await runCell(fill)).toMatchObject({ type: 'completed' })
  expect(await runCell('print("still here")')).toMatchObject({ output: 'still here\n' })
  expect(await runCell('del rows')).toMatchObject({ type: 'completed' })
})

test('an interrupt ends an endless loop as a failed cell, and the session continues', async () => {
  const looping = runCell('n = 0\nwhile True: n += 1')
  const interrupting = setInterval(() => void connection.interrupt(), 50)
  const reply = await looping
  clearInterval(interrupting)
  expect(reply).toMatchObject({ type: 'failed' })
  expect(await runCell('print(n > 0)')).toMatchObject({ type: 'completed', output: 'True\n' })
})

test('a named time zone is an error with a remedy, because there is no time zone data', async () => {
  expect(await runCell('import zoneinfo\nzoneinfo.ZoneInfo("Europe/Berlin")')).toMatchObject({
    type: 'failed',
    error: expect.stringMatching(
      /ZoneInfoNotFoundError: .*the embedded sandbox has no time zone data, use datetime\.timezone with a fixed offset/,
    ),
  })
})
