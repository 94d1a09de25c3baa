import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import proto from '@temporalio/proto'
import { eraseRun } from '../../../src/client/run/erase-run.js'
import { gcRoots } from '../../../src/client/temporal/gc-roots.js'
import { startCodecServer } from '../../../src/codec-server/index.js'
import { ToolError } from '../../../src/index.js'
import { collectGarbage } from '../../../src/values/garbage/collect-garbage.js'
import { KeyRing } from '../../../src/values/encryption/key-ring.js'
import { encryptionKeyId } from '../../../src/values/encryption/payload-codec.js'
import { openStore } from '../../../src/values/open-store.js'
import { Values } from '../../../src/values/values.js'
import type { EncryptionOption } from '../../../src/values/encryption/option.js'
import { collectPayloads } from '../../../src/client/temporal/encrypted-payloads.js'
import { DeferredToolCalls } from '../../support/deferred-tool.js'
import { clientWith, randomKey, show } from '../../support/encryption.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { filesIn } from '../../support/folders.js'
import { fastPollOptions } from '../../support/poll-options.js'
import { call, code, text, turn } from '../../support/script.js'
import { connectClient, useOwnNamespace } from '../../support/temporal/shared-server.js'
import { tool } from '../../support/tools.js'

beforeEach(useOwnNamespace)

const { History } = proto.temporal.api.history.v1
const { DescribeWorkflowExecutionResponse } = proto.temporal.api.workflowservice.v1
const signal = new AbortController().signal
const secrets = { k1: randomKey(), k2: randomKey() }

/** The keys of a worker or client. The first key encrypts. */
function keysOf(currentKeyId: keyof typeof secrets, ...others: readonly (keyof typeof secrets)[]): EncryptionOption {
  const known = new Map([currentKeyId, ...others].map((id) => [id as string, secrets[id]]))
  return { currentKeyId, key: (id) => known.get(id) }
}

it('encrypts all payloads and values of a run, which client, ptc, UI and replay can read', async () => {
  const rows = Array.from({ length: 400 }, (_, row) => `marker row ${row}`)
  const env = await TestEnvironment.start({
    encryption: keysOf('k1'),
    tools: [
      tool('rows', () => rows),
      tool('refuse', () => {
        throw new ToolError('no: marker')
      }),
    ],
    script: [
      turn(
        code(
          'a = await rows(name="marker")\nprint("marker", len(a))\ntry: await refuse()\nexcept ToolError as e: print(e)',
        ),
      ),
      turn(call('rows', { name: 'marker' })),
      turn(code('raise ValueError("marker")')),
      turn(text('the marker is found')),
    ],
  })
  const question = `Where is the marker? ${'marker '.repeat(50_000)}`
  const handle = await env.startAgent({ question, context: { user: 'marker' } })
  expect(await env.agentResult(handle)).toMatchObject({ status: 'answered', answer: 'the marker is found' })

  const history = await env.history()
  const { raw } = await handle.describe()
  for (const bytes of [History.encode(history).finish(), DescribeWorkflowExecutionResponse.encode(raw).finish()]) {
    expect(Buffer.from(bytes).includes('binary/encrypted')).toBe(true)
    expect(Buffer.from(bytes).includes('marker')).toBe(false)
  }
  const files = await filesIn(env.valuesDirectory)
  expect(files.length).toBeGreaterThan(3)
  for (const file of files) expect((await readFile(file)).includes('marker')).toBe(false)

  const run = env.ptc.handle(handle.workflowId)
  expect(await run.describe()).toMatchObject({ summary: expect.stringMatching(/^Where is the marker/) })
  const tree = await run.tree()
  expect(tree).toMatchObject({ question, status: 'completed' })
  expect(tree.turns[0]?.cells[0]?.calls.map(({ tool, status }) => [tool, status])).toEqual([
    ['rows', 'ok'],
    ['refuse', 'tool_error'],
  ])
  await env.expectCleanEnd(handle)

  const shown = await show(env, handle.workflowId, secrets.k1)
  expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('marker row 0') })
  const withoutKeys = await show(env, handle.workflowId)
  expect(withoutKeys).toMatchObject({ code: 1, stderr: expect.stringContaining('encrypted with the key "k1"') })

  const started = history.events[0]?.workflowExecutionStartedEventAttributes
  const [memo, input] = await decodeAsUi(env, [
    raw.workflowExecutionInfo?.memo?.fields?.['summary'],
    started?.input?.payloads?.[0],
  ])
  expect(memo).toMatch(/^"Where is the marker/)
  expect(JSON.parse(input ?? '')).toMatchObject({ question })
})

it('a run continues with another key in the middle', async () => {
  const calls = new DeferredToolCalls()
  const rows = tool('rows', () => Array.from({ length: 400 }, (_, row) => `row ${row}`))
  const env = await TestEnvironment.start({ encryption: keysOf('k1', 'k2'), tools: [rows, calls.tool('approve')] })
  const source = 'a = await rows()\nawait approve(id=1)\nb = await rows()\nprint(len(a + b))'
  const handle = await env.startProgram(source)
  await calls.token(1)
  await env.workers.stop()
  await env.workers.start({ encryption: keysOf('k2', 'k1') })
  const rotated = await clientWith(env, keysOf('k2', 'k1'))
  await rotated.completeCall(await calls.token(1), { approved: true })
  expect(await rotated.handle(handle.workflowId).result()).toMatchObject({ outcome: { status: 'ok', output: '800\n' } })
  const payloads: Parameters<typeof collectPayloads>[1] = []
  collectPayloads(await env.history(), payloads)
  const ids = new Set(payloads.map(encryptionKeyId))
  expect(ids.has('k1') && ids.has('k2')).toBe(true)
  await env.expectCleanEnd(handle)
})

it('reports at once which key is missing, and continues when the key is available', async () => {
  const env = await TestEnvironment.start({ encryption: keysOf('k1'), initialWorkers: [] })
  const handle = await env.startProgram('print("done")')
  const withoutKey = await env.workers.start({ encryption: keysOf('k2') })
  const run = env.ptc.handle(handle.workflowId)
  const failing = await vi.waitUntil(async () => (await run.tree()).failure, { ...fastPollOptions, timeout: 15_000 })
  expect(failing).toEqual({
    code: 'ENCRYPTION_KEY_UNAVAILABLE',
    message: expect.stringContaining('there is no encryption key "k1" here'),
  })
  const shown = await show(env, handle.workflowId, secrets.k1)
  expect(shown).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/workflow task keeps failing[^]*encryption key "k1"/),
  })
  for (const other of [await clientWith(env), await clientWith(env, keysOf('k2'))]) {
    const lost = other.handle(handle.workflowId)
    await expect(lost.tree()).rejects.toMatchObject({ code: 'ENCRYPTION_KEY_UNAVAILABLE' })
    expect(await lost.describe()).toMatchObject({ status: 'running', summary: '' })
  }
  await withoutKey.shutdown()
  await env.workers.start({ encryption: keysOf('k2', 'k1') })
  const both = (await clientWith(env, keysOf('k2', 'k1'))).handle(handle.workflowId)
  expect(await both.result()).toMatchObject({ outcome: { status: 'ok' } })
  const none = (await clientWith(env)).handle(handle.workflowId)
  await expect(none.result()).rejects.toMatchObject({ code: 'ENCRYPTION_KEY_UNAVAILABLE' })
})

it('does not start a worker or a run without the current key', async () => {
  const env = await TestEnvironment.start({ encryption: keysOf('k1'), initialWorkers: [] })
  const encryption = { currentKeyId: 'k9', key: () => undefined }
  const missing = { code: 'ENCRYPTION_KEY_UNAVAILABLE', message: expect.stringContaining('"k9"') }
  await expect(env.workers.start({ encryption })).rejects.toMatchObject(missing)
  await expect((await clientWith(env, encryption)).startProgram({ source: 'pass' })).rejects.toMatchObject(missing)
})

it('keeps the values of encrypted runs from garbage collection, and erases them with their run', async () => {
  const rows = tool('rows', () => Array.from({ length: 1_000 }, (_, row) => `row ${row}`))
  const env = await TestEnvironment.start({ encryption: keysOf('k1'), tools: [rows], backend: 'wasm' })
  const handle = await env.startProgram('print(len(await rows()))', { input: 'x'.repeat(300_000) })
  expect(await handle.result()).toMatchObject({ outcome: { status: 'ok' } })
  while ((await env.client.workflow.count(`WorkflowId = '${handle.workflowId}'`)).count === 0) await delay(100)
  const store = await openStore({ kind: 'local', directory: env.valuesDirectory }, new KeyRing(keysOf('k1')))
  const collect = (client = env.client) =>
    collectGarbage({
      store,
      roots: () => gcRoots(client, signal),
      unusedSince: Date.now() + 60_000,
      dryRun: false,
      signal,
    })
  const count = (await filesIn(env.valuesDirectory)).length
  expect(count).toBeGreaterThan(1)
  const unused = await store.put([Buffer.from('nobody refers to this')], signal)
  const withoutKeys = await connectClient()
  onTestFinished(() => withoutKeys.connection.close())
  await expect(collect(withoutKeys)).rejects.toMatchObject({ code: 'ENCRYPTION_KEY_UNAVAILABLE' })
  expect((await collect()).removed).toEqual({ count: 1, bytes: unused.stored?.bytes })
  expect((await filesIn(env.valuesDirectory)).length).toBe(count)
  await env.expectCleanEnd(handle)

  const now = Date.now
  vi.spyOn(Date, 'now').mockImplementation(() => now() + 61_000)
  onTestFinished(() => void vi.restoreAllMocks())
  await eraseRun(env.client, { store, workflowId: handle.workflowId, dryRun: false, signal })
  expect(await filesIn(env.valuesDirectory)).toEqual([join(env.valuesDirectory, 'key-check-k1')])
})

/** The payloads in the form that the Temporal UI shows. */
async function decodeAsUi(env: TestEnvironment, payloads: readonly unknown[]): Promise<readonly string[]> {
  const keys = new KeyRing(keysOf('k1'))
  const values = new Values({ store: await openStore({ kind: 'local', directory: env.valuesDirectory }, keys) })
  const server = await startCodecServer({ values, keys, port: 0, origins: [] })
  onTestFinished(() => server.close())
  const body = JSON.stringify({ payloads }, (_key, value: unknown) => (isBytes(value) ? toBase64(value) : value))
  const response = await fetch(`${server.url}/decode`, { method: 'POST', body })
  const result = (await response.json()) as { readonly payloads: readonly { readonly data: string }[] }
  return result.payloads.map(({ data }) => Buffer.from(data, 'base64').toString())
}

function isBytes(value: unknown): value is Uint8Array | { readonly type: 'Buffer'; readonly data: number[] } {
  if (value instanceof Uint8Array) return true
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer'
}

function toBase64(value: Uint8Array | { readonly data: number[] }): string {
  return Buffer.from(value instanceof Uint8Array ? value : value.data).toString('base64')
}
