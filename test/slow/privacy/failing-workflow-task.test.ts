import { expect, it } from 'vitest'
import type { EncryptionOption } from '../../../src/values/encryption/option.js'
import { DeferredToolCalls } from '../../support/deferred-tool.js'
import { randomKey } from '../../support/encryption.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { TestSession } from '../../support/environment/test-session.js'
import { pollOptions } from '../../support/poll-options.js'

const secrets = { k1: randomKey(), k2: randomKey() }

/** The keys of a worker that knows only one of them: its workflow tasks fail for runs with the other key. */
function keysOf(currentKeyId: keyof typeof secrets): EncryptionOption {
  return { currentKeyId, key: (id) => (id === currentKeyId ? secrets[currentKeyId] : undefined) }
}

it('accepts the result of a deferred call whose run has a failing workflow task for a while', async () => {
  const calls = new DeferredToolCalls()
  const env = await TestEnvironment.start({ encryption: keysOf('k1'), tools: [calls.tool('approve')] })
  const handle = await env.startProgram('print((await approve(id=1))["approved"])')
  const token = await calls.token(1)
  await env.workers.stop()
  const withoutKey = await env.workers.start({ encryption: keysOf('k2') })
  const completed = env.ptc.completeCall(token, { approved: true })
  const attempts = async () => (await handle.describe()).raw.pendingWorkflowTask?.attempt ?? 0
  await expect.poll(attempts, pollOptions).toBeGreaterThan(3)
  await withoutKey.shutdown()
  await env.workers.start({ encryption: keysOf('k1') })
  await completed
  expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: 'True\n' } })
})

it('executes the code of a session whose workflow task fails for a while', async () => {
  const session = TestSession.create(await TestEnvironment.start({ encryption: keysOf('k1') }))
  await session.outputOf('x = 1')
  await session.env.workers.stop()
  const withoutKey = await session.env.workers.start({ encryption: keysOf('k2') })
  const output = session.outputOf('print(x)')
  const attempts = async () => (await session.handle.describe()).raw.pendingWorkflowTask?.attempt ?? 0
  await expect.poll(attempts, pollOptions).toBeGreaterThan(3)
  await withoutKey.shutdown()
  await session.env.workers.start({ encryption: keysOf('k1') })
  expect(await output).toBe('1\n')
  await session.close()
})
