import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { defaultLimits } from '../../src/common/limits.js'
import type { JsonValue } from '../../src/common/json.js'
import type { SandboxBackend, SandboxConnection } from '../../src/sandbox/backend.js'
import { encodeFrame } from '../../src/sandbox/protocol/frames.js'
import { helloMessage } from '../../src/sandbox/protocol/hello.js'
import { type Fence, type HostMessage, type RunnerMessage, runnerMessage } from '../../src/sandbox/protocol/messages.js'
import { createWasmBackend } from '../../src/sandbox/wasm/backend.js'
import { notebookTools } from '../../src/sandbox/conformance/notebook.js'
import { framesOf, specOf } from './wasm-support.js'

// What the runner makes of pieces that no driver of ours sends, or not in this order. The same files run in a container.
const backend: SandboxBackend = createWasmBackend({ warm: 1 })
let connection: SandboxConnection
let frames: AsyncGenerator
let step = 0

beforeAll(async () => {
  connection = await backend.open(specOf('values'), new AbortController().signal)
  frames = framesOf(connection)
  await send(helloMessage({ session: 'values', seed: 1, tools: notebookTools, limits: defaultLimits }, [1, 0, 1]))
  expect(await answer()).toMatchObject({ type: 'ready' })
})

afterAll(async () => backend.close())

async function send(message: HostMessage): Promise<void> {
  await connection.send(encodeFrame(message, defaultLimits.frameBytes))
}

async function answer(): Promise<RunnerMessage> {
  const { value, done } = await frames.next()
  if (done) throw new Error(`the sandbox ended: ${JSON.stringify(await connection.ended)}`)
  return runnerMessage.parse(value)
}

/** A cell that prints the JSON of one result; gives the number of its call. */
async function suspended(): Promise<number> {
  step += 1
  const source = 'import json\nprint(json.dumps(await get(1)))'
  await send({ type: 'cell', fence: [1, step, 1], step, now: 0, cell: 1, source })
  const message = await answer()
  step += 1
  return message.type === 'suspended' ? (message.calls[0]?.call ?? 0) : 0
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

function pieces(value: JsonValue, attempt = 1, fence: Fence = [1, step, attempt]) {
  const text = JSON.stringify(value)
  const middle = Math.floor(text.length / 2)
  const part = { type: 'value', fence, value: hashOf(text) } as const
  return {
    ref: part.value,
    first: () => send({ ...part, piece: 0, text: text.slice(0, middle), last: false }),
    second: () => send({ ...part, piece: 1, text: text.slice(middle), last: true }),
    other: () => send({ ...part, piece: 1, text: 'x'.repeat(text.length - middle), last: true }),
    later: () => send({ ...part, piece: 2, text: '', last: true }),
  }
}

const deliver = (call: number, ref: string, attempt = 1): Promise<void> =>
  send({
    type: 'advance',
    fence: [1, step, attempt],
    step,
    now: 0,
    results: [{ call, outcome: { status: 'ok', ref } }],
  })

test('a value in two pieces is given to the code', async () => {
  const call = await suspended()
  const { ref, first, second } = pieces({ a: [1, 'é'] })
  await first()
  await second()
  await deliver(call, ref)
  expect(await answer()).toMatchObject({ type: 'completed', output: '{"a": [1, "\\u00e9"]}\n' })
  // Repeated, with nothing left of the value.
  await deliver(call, ref, 2)
  expect(await answer()).toMatchObject({ type: 'completed', output: '{"a": [1, "\\u00e9"]}\n' })
})

test('a gap is refused once, and the transfer can begin again', async () => {
  const call = await suspended()
  const { ref, first, second, later } = pieces([1, 2, 3])
  await first()
  await later()
  await later()
  await deliver(call, ref)
  expect(await answer()).toMatchObject({ type: 'refused', kind: 'incomplete', fence: [1, step, 1] })
  expect(await answer()).toMatchObject({ kind: 'incomplete', reason: expect.stringContaining('did not arrive') })
  await first()
  await first()
  await second()
  await deliver(call, ref)
  expect(await answer()).toMatchObject({ type: 'completed', output: '[1, 2, 3]\n' })
})

test('a text that is not that of the hash is refused', async () => {
  const call = await suspended()
  const { ref, first, second, other } = pieces('what it should be')
  await first()
  await other()
  expect(await answer()).toMatchObject({ kind: 'incomplete', reason: expect.stringContaining('damaged') })
  await first()
  await second()
  await deliver(call, ref)
  expect(await answer()).toMatchObject({ type: 'completed', output: '"what it should be"\n' })
})

test('pieces of a stale worker are refused, and the next begins anew', async () => {
  const call = await suspended()
  const stale = pieces('mine', 1)
  await stale.first()
  const next = pieces('mine', 2)
  await next.first()
  await stale.second()
  expect(await answer()).toMatchObject({ type: 'refused', kind: 'fenced', fence: [1, step, 1] })
  await next.second()
  await deliver(call, next.ref, 2)
  expect(await answer()).toMatchObject({ type: 'completed', output: '"mine"\n' })
})

test('what came for an attempt that gave up is forgotten with it', async () => {
  const call = await suspended()
  const before = pieces('before', 1)
  await before.first()
  await before.second()
  await deliver(call, before.ref, 2)
  expect(await answer()).toMatchObject({ type: 'refused', kind: 'incomplete', fence: [1, step, 2] })
  const results = [{ call, outcome: { status: 'ok', value: 'in its place' } }]
  await send({ type: 'advance', fence: [1, step, 2], step, now: 0, results })
  expect(await answer()).toMatchObject({ type: 'completed', output: '"in its place"\n' })
})

test('parts of two frames that got mixed up are skipped', async () => {
  const call = await suspended()
  const { ref, first, second } = pieces([true])
  await connection.send(Buffer.from([0, 0, 0, 9, ...Buffer.from('{"type":"')]))
  await connection.send(Buffer.from([0, 0, 0, 0, 0, 1, ...Buffer.from('rest of a frame')]))
  await first()
  await second()
  await deliver(call, ref)
  expect(await answer()).toMatchObject({ type: 'completed', output: '[true]\n' })
})

test('a text that Python can not read ends the cell, and the session goes on', async () => {
  const call = await suspended()
  const text = '[1,'
  const part = { type: 'value', fence: [1, step, 1], value: hashOf(text) } as const
  await send({ ...part, piece: 0, text, last: true })
  await deliver(call, part.value)
  expect(await answer()).toMatchObject({ type: 'failed', kind: 'limit_exceeded' })
  const next = await suspended()
  await send({
    type: 'advance',
    fence: [1, step, 1],
    step,
    now: 0,
    results: [{ call: next, outcome: { status: 'ok', value: 1 } }],
  })
  expect(await answer()).toMatchObject({ type: 'completed', output: '1\n' })
})
