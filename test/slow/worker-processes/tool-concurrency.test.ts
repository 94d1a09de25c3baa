import { expect, it } from 'vitest'
import { activityNames } from '../../../src/common/names.js'
import { startWithLedger } from '../../support/environment/ledger-environment.js'
import { expectReplays } from '../../support/environment/histories.js'
import { scheduledCount } from '../../support/environment/waits.js'
import { noModel } from '../../support/script.js'

it('a call keeps its lock when its worker is killed, and the next call with the same lock waits for its end', async () => {
  const { env, ledger } = await startWithLedger(noModel, { backend: 'wasm' })
  const limiter = env.limiter('charge_locked')
  ledger.holdReplies('a')
  const first = await env.startProgram('print(await charge_locked(name="a"))')
  await ledger.waitForRequests('a')
  const second = await env.startProgram('print(await charge_locked(name="a"))')
  await expect.poll(() => scheduledCount(second, activityNames.requestSlot)).toBe(1)
  await env.workers.replace()
  await ledger.waitForRequests('a', 2)
  const other = await env.startProgram('print(await charge_locked(name="b"))')
  expect(await other.result()).toMatchObject({ outcome: { status: 'ok' } })
  expect(ledger.requests.map(({ name }) => name)).toEqual(['a', 'a', 'b'])
  ledger.releaseReplies('a')
  for (const handle of [first, second]) {
    expect(await handle.result()).toMatchObject({ outcome: { status: 'ok' } })
    await expectReplays(env.client, handle)
  }
  expect(ledger.requests.map(({ name }) => name)).toEqual(['a', 'a', 'b', 'a'])
  await expectReplays(env.client, limiter)
})

it('a call keeps its slot when its worker is killed, and the next call waits for its end', async () => {
  const { env, ledger } = await startWithLedger(noModel, { backend: 'wasm' })
  const limiter = env.limiter('charge_singly')
  ledger.holdReplies('a')
  const first = await env.startProgram('print(await charge_singly(name="a"))')
  await ledger.waitForRequests('a')
  const second = await env.startProgram('print(await charge_singly(name="b"))')
  await expect.poll(() => scheduledCount(second, activityNames.requestSlot)).toBe(1)
  await env.workers.replace()
  await ledger.waitForRequests('a', 2)
  expect(ledger.appliedNames).toEqual(['a'])
  ledger.releaseReplies('a')
  for (const handle of [first, second]) {
    expect(await handle.result()).toMatchObject({ outcome: { status: 'ok' } })
    await expectReplays(env.client, handle)
  }
  expect(ledger.requests.map(({ name }) => name)).toEqual(['a', 'a', 'b'])
  await expectReplays(env.client, limiter)
})
