/* Another key under the id of a key: k1 has two secrets here. Runs begin with `right`. */
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { gcRoots } from '../../../src/client/temporal/gc-roots.js'
import { createDataConverter } from '../../../src/client/index.js'
import { DeferredToolCalls } from '../../support/deferred-tool.js'
import { clientWith, projectWith, randomKey, show } from '../../support/encryption.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { temporaryFolder } from '../../support/folders.js'
import { fastPollOptions } from '../../support/poll-options.js'
import { connectClient, useOwnNamespace } from '../../support/temporal/shared-server.js'
import { tool } from '../../support/tools.js'

beforeEach(useOwnNamespace)

const secrets = { right: randomKey(), wrong: randomKey() }
const right = { currentKeyId: 'k1', key: () => secrets.right }
const wrong = { currentKeyId: 'k1', key: () => secrets.wrong }
const refused = {
  code: 'DECRYPTION_FAILED',
  retryable: false,
  message: expect.stringMatching(/^the encryption key "k1" here is not the one that .* knows under this id$/),
}
const undecryptable = {
  code: 'DECRYPTION_FAILED',
  message: expect.stringMatching(/(a payload|a value of the store) can't be decrypted with the key "k1"/),
}

it('a worker with another key than that of its runs does not start, and the runs continue with theirs', async () => {
  const calls = new DeferredToolCalls()
  const env = await TestEnvironment.start({ encryption: right, tools: [calls.tool('approve')] })
  const handle = await env.startProgram('print((await approve(id=1))["approved"])')
  const token = await calls.token(1)
  await env.workers.stop()
  await expect(env.workers.start({ encryption: wrong })).rejects.toMatchObject(refused)
  await using project = await projectWith(env, secrets.wrong)
  expect(await project.run('worker')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/the encryption key "k1" here is not the one[^]*a new key needs a new id/),
  })
  await env.workers.start()
  await env.ptc.completeCall(token, { approved: true })
  expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: 'True\n' } })
  await env.expectCleanEnd(handle)
})

it('a worker whose store is read-only starts', async () => {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'file'), '')
  const store = { kind: 'local', directory: join(folder, 'file', 'values') } as const
  const env = await TestEnvironment.start({ encryption: right, values: { store }, tools: [], backend: 'wasm' })
  expect(await env.runProgram('print("done")')).toMatchObject({ outcome: { status: 'ok' } })
})

it('reports DECRYPTION_FAILED to clients, ptc and garbage collection with another key', async () => {
  const env = await TestEnvironment.start({ encryption: right, tools: [] })
  const handle = await env.startProgram('print("done")')
  await handle.result()
  const run = (await clientWith(env, wrong)).handle(handle.workflowId)
  await expect(run.tree()).rejects.toMatchObject(undecryptable)
  await expect(run.result()).rejects.toMatchObject(undecryptable)
  expect(await run.describe()).toMatchObject({ status: 'completed', summary: '' })
  expect(await show(env, handle.workflowId, secrets.wrong)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('can\'t be decrypted with the key "k1"'),
  })
  const store = { kind: 'local', directory: env.valuesDirectory } as const
  const client = await connectClient(await createDataConverter(store, { encryption: wrong }))
  onTestFinished(() => client.connection.close())
  const search = async () => {
    for await (const _ of gcRoots(client, new AbortController().signal));
  }
  await expect(search()).rejects.toMatchObject(undecryptable)
})

// A large input is not in the history, but in the value store.
it.each([
  ['small', 1],
  ['large', 300_000],
])(
  "a run with a %s input waits while a worker with another key can't read it, and then continues",
  async (_size, size) => {
    const env = await TestEnvironment.start({ encryption: right, tools: [], initialWorkers: [] })
    const handle = await env.startProgram('print("done")', { input: 'x'.repeat(size) })
    // The store has not received the right key, so it accepts this one.
    const mistaken = await env.workers.start({ encryption: wrong })
    const run = env.ptc.handle(handle.workflowId)
    const failure = await vi.waitUntil(async () => (await run.tree()).failure, { ...fastPollOptions, timeout: 15_000 })
    expect(failure).toEqual(undecryptable)
    expect(await show(env, handle.workflowId, secrets.right)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/workflow task keeps failing[^]*with the key "k1"/),
    })
    await mistaken.shutdown()
    await expect(env.workers.start()).rejects.toMatchObject({
      ...refused,
      hint: expect.stringContaining('If the earlier key was wrong, remove key-check-k1 there.'),
    })
    await forgetKeys(env)
    await env.workers.start()
    expect(await run.result()).toMatchObject({ outcome: { status: 'ok', output: 'done\n' } })
    await env.expectCleanEnd(handle)
  },
)

it('a call on a worker with another key fails as a ToolError, without a retry, and the run continues', async () => {
  const source = `import asyncio
problems = []
while True:
    try:
        print(await rows())
        break
    except ToolError as error:
        problems.append(str(error))
        await asyncio.sleep(1)
print(problems[0])
`
  let effects = 0
  const rows = tool('rows', () => (effects += 1))
  const env = await TestEnvironment.start({
    encryption: right,
    tools: [rows],
    initialWorkers: [{ roles: ['workflow', 'sandbox'] }],
  })
  await forgetKeys(env)
  const mistaken = await env.workers.start({ roles: ['tools'], encryption: wrong })
  const handle = await env.startProgram(source)
  const failedCall = async () => {
    const calls = (await env.ptc.handle(handle.workflowId).tree()).turns.flatMap(({ cells }) => cells[0]?.calls ?? [])
    return calls.find(({ status }) => status === 'tool_error')
  }
  expect(await vi.waitUntil(failedCall, { ...fastPollOptions, timeout: 30_000 })).toMatchObject({ attempts: 1 })
  expect(effects).toBe(0)
  await mistaken.shutdown()
  await forgetKeys(env)
  await env.workers.start({ roles: ['tools'] })
  expect(await handle.result()).toMatchObject({
    outcome: { status: 'ok', output: expect.stringMatching(/^1\n.*can't be decrypted with the key "k1"/) },
  })
  expect(effects).toBe(1)
  await env.expectCleanEnd(handle)
})

it('a run with a step of code on a worker with another key fails without a retry', async () => {
  const env = await TestEnvironment.start({ encryption: right, tools: [], initialWorkers: [{ roles: ['workflow'] }] })
  await forgetKeys(env)
  await env.workers.start({ roles: ['sandbox'], encryption: wrong })
  const handle = await env.startProgram('print("done")')
  await expect(env.ptc.handle(handle.workflowId).result()).rejects.toMatchObject(undecryptable)
})

/** The next worker that starts defines k1. */
async function forgetKeys(env: TestEnvironment): Promise<void> {
  await rm(join(env.valuesDirectory, 'key-check-k1'))
}
