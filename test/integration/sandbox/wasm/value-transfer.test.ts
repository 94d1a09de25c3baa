import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { defaultLimits } from '../../../../src/common/run/limits.js'
import type { JsonValue } from '../../../../src/common/json/json.js'
import type { SandboxBackend, SandboxConnection } from '../../../../src/sandbox/backend.js'
import { helloMessage } from '../../../../src/sandbox/protocol/hello-message.js'
import type { Fence } from '../../../../src/sandbox/protocol/messages.js'
import { createWasmBackend } from '../../../../src/sandbox/wasm/backend.js'
import { harnessTools } from '../../../../src/sandbox/conformance/session-harness.js'
import { createSpec } from '../../../support/sandbox/create-spec.js'
import { ProtocolClient } from '../../../support/sandbox/protocol-client.js'

// Sequences of value pieces that the session driver never sends. Containers run the same runner.
const backend: SandboxBackend = createWasmBackend({ warm: 1 })
let connection: SandboxConnection
let client: ProtocolClient
let step = 0

beforeAll(async () => {
  connection = await backend.open(createSpec('values'), new AbortController().signal)
  client = new ProtocolClient(connection)
  await client.send(
    helloMessage({ session: 'values', seed: 1, startedAt: 0, tools: harnessTools, limits: defaultLimits }, [1, 0, 1]),
  )
  expect(await client.readResponse()).toMatchObject({ type: 'ready' })
})

afterAll(async () => backend.close())

/** Runs a cell that prints the JSON of one result, until it suspends; returns the number of its call. */
async function runUntilSuspended(): Promise<number> {
  step += 1
  const source = 'import json\nprint(json.dumps(await get(1)))'
  await client.send({ type: 'cell', fence: [1, step, 1], step, digest: digestOf(step), now: 0, cell: 1, source })
  const message = await client.readResponse()
  step += 1
  return message.type === 'suspended' ? (message.calls[0]?.call ?? 0) : 0
}

const digestOf = (number: number): string => `digest ${number}`

const sha256 = (text: string | Uint8Array): string => createHash('sha256').update(text).digest('hex')

function valueChunks(value: JsonValue, attempt = 1, fence: Fence = [1, step, attempt]) {
  const text = Buffer.from(JSON.stringify(value))
  const middle = Math.floor(text.length / 2)
  const part = { type: 'value', fence, value: sha256(text) } as const
  return {
    ref: part.value,
    first: () => client.send({ ...part, piece: 0, text: text.subarray(0, middle), last: false }),
    second: () => client.send({ ...part, piece: 1, text: text.subarray(middle), last: true }),
    other: () => client.send({ ...part, piece: 1, text: Buffer.alloc(text.length - middle, 'x'), last: true }),
    later: () => client.send({ ...part, piece: 2, text: Buffer.alloc(0), last: true }),
  }
}

const deliver = (call: number, ref: string, attempt = 1): Promise<void> =>
  client.send({
    type: 'resume',
    fence: [1, step, attempt],
    step,
    digest: digestOf(step),
    now: 0,
    waited: 0,
    results: [{ call, outcome: { status: 'ok', ref } }],
  })

test('the code gets a value that was sent in two pieces', async () => {
  const call = await runUntilSuspended()
  const { ref, first, second } = valueChunks({ a: [1, 'é'] })
  await first()
  await second()
  await deliver(call, ref)
  expect(await client.readResponse()).toMatchObject({ type: 'completed', output: '{"a": [1, "\\u00e9"]}\n' })
  // The repeated step gets the same response, although the runner no longer has the value.
  await deliver(call, ref, 2)
  expect(await client.readResponse()).toMatchObject({ type: 'completed', output: '{"a": [1, "\\u00e9"]}\n' })
})

test('a missing piece is refused once, and the transfer can be repeated', async () => {
  const call = await runUntilSuspended()
  const { ref, first, second, later } = valueChunks([1, 2, 3])
  await first()
  await later()
  await later()
  await deliver(call, ref)
  expect(await client.readResponse()).toMatchObject({ type: 'refused', kind: 'incomplete', fence: [1, step, 1] })
  expect(await client.readResponse()).toMatchObject({
    kind: 'incomplete',
    reason: expect.stringContaining('did not arrive'),
  })
  await first()
  await first()
  await second()
  await deliver(call, ref)
  expect(await client.readResponse()).toMatchObject({ type: 'completed', output: '[1, 2, 3]\n' })
})

test('a value that does not match its hash is refused', async () => {
  const call = await runUntilSuspended()
  const { ref, first, second, other } = valueChunks('what it should be')
  await first()
  await other()
  expect(await client.readResponse()).toMatchObject({ kind: 'incomplete', reason: expect.stringContaining('damaged') })
  await first()
  await second()
  await deliver(call, ref)
  expect(await client.readResponse()).toMatchObject({ type: 'completed', output: '"what it should be"\n' })
})

test('pieces of a stale worker are refused, and the next worker starts a new transfer', async () => {
  const call = await runUntilSuspended()
  const stale = valueChunks('mine', 1)
  await stale.first()
  const next = valueChunks('mine', 2)
  await next.first()
  await stale.second()
  expect(await client.readResponse()).toMatchObject({ type: 'refused', kind: 'fenced', fence: [1, step, 1] })
  await next.second()
  await deliver(call, next.ref, 2)
  expect(await client.readResponse()).toMatchObject({ type: 'completed', output: '"mine"\n' })
})

test('values of an earlier attempt are dropped', async () => {
  const call = await runUntilSuspended()
  const before = valueChunks('before', 1)
  await before.first()
  await before.second()
  await deliver(call, before.ref, 2)
  expect(await client.readResponse()).toMatchObject({ type: 'refused', kind: 'incomplete', fence: [1, step, 2] })
  const results = [{ call, outcome: { status: 'ok', value: 'in its place' } }]
  await client.send({ type: 'resume', fence: [1, step, 2], step, digest: digestOf(step), now: 0, results })
  expect(await client.readResponse()).toMatchObject({ type: 'completed', output: '"in its place"\n' })
})

test('mixed parts of two frames are skipped', async () => {
  const call = await runUntilSuspended()
  const { ref, first, second } = valueChunks([true])
  await connection.send(Buffer.from([0, 0, 0, 9, ...Buffer.from('{"type":"')]))
  await connection.send(Buffer.from([0, 0, 0, 0, 0, 1, ...Buffer.from('rest of a frame')]))
  // Two long frames that end early. The runner has searched the start of the first one when the second one begins.
  for (const rest of ['value"', 'x'.repeat(100_000)]) {
    await connection.send(Buffer.from([0, 16, 0, 0, ...Buffer.from('{"type":"')]))
    await connection.send(Buffer.from(rest))
  }
  await first()
  await second()
  await deliver(call, ref)
  expect(await client.readResponse()).toMatchObject({ type: 'completed', output: '[true]\n' })
})

test('a value that is not JSON ends the cell, and the session continues', async () => {
  const call = await runUntilSuspended()
  const text = '[1,'
  const part = { type: 'value', fence: [1, step, 1], value: sha256(text) } as const
  await client.send({ ...part, piece: 0, text: Buffer.from(text), last: true })
  await deliver(call, part.value)
  expect(await client.readResponse()).toMatchObject({ type: 'failed', kind: 'limit_exceeded' })
  const next = await runUntilSuspended()
  await client.send({
    type: 'resume',
    fence: [1, step, 1],
    step,
    digest: digestOf(step),
    now: 0,
    waited: 0,
    results: [{ call: next, outcome: { status: 'ok', value: 1 } }],
  })
  expect(await client.readResponse()).toMatchObject({ type: 'completed', output: '1\n' })
})
