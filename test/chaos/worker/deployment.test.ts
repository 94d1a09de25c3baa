import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { WorkflowHandle } from '@temporalio/client'
import type { Script } from '../../../src/testing/index.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { code, text, turn } from '../../support/script.js'
import { expectReplays } from '../../support/environment/histories.js'
import {
  waitForActivity,
  waitForAttempt,
  waitForActivityFailure,
  waitForHeartbeats,
  retryingActivities,
  scheduledCount,
} from '../../support/environment/waits.js'
import { containerCount, releaseCode } from '../../support/environment/containers.js'
import { startWithLedger, type LedgerEnvironment } from '../../support/environment/ledger-environment.js'

const answer = turn(text('it is {{last_tool_result}}'))

/** A script whose code prints its charges, and may run until it is released. */
const chargeScript = (busy = false): Script => [
  turn(
    code(`
import os
done = [(await charge(name="a"))["done"]]
while ${busy ? 'True' : 'False'} and not os.path.exists("/tmp/go"): pass
done.append((await charge(name="b"))["done"])
print(",".join(done))
`),
  ),
  answer,
]

const mailScript: Script = [
  turn(code('try:\n    print(await send_once(name="mail"))\nexcept ToolOutcomeUnknown as e:\n    print(e.status)')),
  answer,
]

/** Starts a run, waits until its tool requests this effect, whose reply is held, and starts another worker. */
async function startHeldAt(effect: string, script: Script, environment: Record<string, string> = {}) {
  const { env, ledger } = await startWithLedger(script, { environment })
  ledger.holdReplies(effect)
  const handle = await env.startAgent()
  await ledger.waitForRequests(effect)
  await env.workers.start()
  return { env, ledger, handle }
}

/** Starts a run, waits until its code is busy, and starts another worker. */
async function startBusy() {
  const { env, ledger } = await startWithLedger(chargeScript(true))
  const handle = await env.startAgent()
  await waitForActivity(handle, 'session.step')
  await env.workers.start()
  return { env, ledger, handle }
}

/** Expects that the sandbox was handed over, and each effect was applied once. */
async function expectHandedOver(
  { env, ledger }: LedgerEnvironment,
  handle: WorkflowHandle,
  answer: string,
  effects: readonly string[],
) {
  expect(await env.agentResult(handle)).toMatchObject({ status: 'answered', answer: `it is ${answer}`, turns: 2 })
  expect(ledger.appliedNames).toEqual(effects)
  expect(await scheduledCount(handle, 'session.open')).toBe(1)
  expect(await containerCount(handle)).toBe(0)
  await expectReplays(env.client, handle)
}

describeDocker('SIGTERM of a worker next to another one on its host', () => {
  it('F10: SIGTERM waits for a tool that finishes within the grace period, and the worker exits with 0', async () => {
    const { env, ledger, handle } = await startHeldAt('b', chargeScript())
    env.workers.first.sendSignal('SIGTERM')
    await env.workers.first.waitForOutput(/finishing running activities/)
    ledger.releaseReplies('b')
    await expectHandedOver({ env, ledger }, handle, 'a,b', ['a', 'b'])
    expect(ledger.requests).toHaveLength(2)
    await expect.poll(() => env.workers.first.exitCode).toBe(0)
  })

  it('F10: SIGTERM gives a tool the configured time, and hands running code over after a second', async () => {
    const { env, ledger } = await startWithLedger(chargeScript(), { environment: { TEST_SHUTDOWN: 'long' } })
    ledger.holdReplies('b')
    const handle = await env.startAgent()
    await ledger.waitForRequests('b')
    const busy = await env.startProgram('import os\nwhile not os.path.exists("/tmp/go"): pass\nprint(1)')
    await waitForActivity(busy, 'session.step')
    await env.workers.start()
    env.workers.first.sendSignal('SIGTERM')
    await env.workers.first.waitForOutput(/finishing running activities/)
    await waitForAttempt(busy, 'session.step', 2)
    // Longer than the default.
    await delay(12_000)
    expect(env.workers.first.exitCode).toBeNull()
    ledger.releaseReplies('b')
    await expectHandedOver({ env, ledger }, handle, 'a,b', ['a', 'b'])
    expect(ledger.requests).toHaveLength(2)
    await expect.poll(() => env.workers.first.exitCode).toBe(0)
    await releaseCode(busy)
    await busy.result()
  })

  it('F10: SIGTERM cancels a tool that runs longer than a short configured time', async () => {
    const { env, ledger, handle } = await startHeldAt('b', chargeScript(), { TEST_SHUTDOWN: 'short' })
    const sentAt = performance.now()
    await env.workers.first.kill('SIGTERM')
    expect(env.workers.first.exitCode).toBe(0)
    expect(performance.now() - sentAt).toBeLessThan(9_000)
    await ledger.waitForRequests('b', 2)
    ledger.releaseReplies('b')
    await expectHandedOver({ env, ledger }, handle, 'a,b', ['a', 'b'])
  })

  it('F10: SIGTERM leaves a tool beyond the grace period to the other worker, with the same key', async () => {
    const { env, ledger, handle } = await startHeldAt('b', chargeScript())
    await env.workers.first.kill('SIGTERM')
    expect(env.workers.first.exitCode).toBe(0)
    await ledger.waitForRequests('b', 2)
    ledger.releaseReplies('b')
    await expectHandedOver({ env, ledger }, handle, 'a,b', ['a', 'b'])
  })

  it("F10: SIGTERM does not repeat a 'once' tool beyond the grace period, and raises ToolOutcomeUnknown", async () => {
    const { env, ledger, handle } = await startHeldAt('mail', mailScript)
    await env.workers.first.kill('SIGTERM')
    expect(env.workers.first.exitCode).toBe(0)
    await expectHandedOver({ env, ledger }, handle, 'outcome_unknown', ['mail'])
    expect(ledger.requests).toHaveLength(1)
  })

  it('F10: SIGTERM leaves running code in its container, where the other worker attaches', async () => {
    const { env, ledger, handle } = await startBusy()
    await env.workers.first.kill('SIGTERM')
    expect(env.workers.first.exitCode).toBe(0)
    // The step was handed over at once, without a heartbeat timeout.
    await waitForAttempt(handle, 'session.step', 2)
    const [failure] = await retryingActivities(handle)
    expect(failure).toMatchObject({ activity: 'session.step', code: 'WorkerShutdown' })
    await releaseCode(handle)
    await expectHandedOver({ env, ledger }, handle, 'a,b', ['a', 'b'])
    expect(ledger.requests).toHaveLength(2)
  })

  it('F10: SIGTERM sent twice ends the worker at once, and the other worker continues', async () => {
    const { env, ledger, handle } = await startHeldAt('b', chargeScript())
    env.workers.first.sendSignal('SIGTERM')
    await env.workers.first.waitForOutput(/press Ctrl-C again to stop now/)
    await env.workers.first.kill('SIGTERM')
    expect(env.workers.first.exitCode).toBe(130)
    await ledger.waitForRequests('b', 2)
    ledger.releaseReplies('b')
    await expectHandedOver({ env, ledger }, handle, 'a,b', ['a', 'b'])
  })
})

describeDocker('SIGSTOP of a worker for longer than the heartbeat timeout, then SIGCONT', () => {
  it('F10: SIGSTOP while a tool runs: another worker takes the call over, and the effect happens once', async () => {
    const { env, ledger, handle } = await startHeldAt('b', chargeScript())
    env.workers.first.sendSignal('SIGSTOP')
    await ledger.waitForRequests('b', 2)
    env.workers.first.sendSignal('SIGCONT')
    ledger.releaseReplies('b')
    await expectHandedOver({ env, ledger }, handle, 'a,b', ['a', 'b'])
  })

  it("F10: SIGSTOP while a 'once' tool runs: the code gets ToolOutcomeUnknown, and the tool runs once", async () => {
    const { env, ledger, handle } = await startHeldAt('mail', mailScript)
    env.workers.first.sendSignal('SIGSTOP')
    await waitForActivityFailure(handle, 'send_once')
    env.workers.first.sendSignal('SIGCONT')
    ledger.releaseReplies('mail')
    await expectHandedOver({ env, ledger }, handle, 'outcome_unknown', ['mail'])
    expect(ledger.requests).toHaveLength(1)
  })

  it('F10: SIGSTOP while code runs: another worker continues it, and the returning worker is fenced', async () => {
    const { env, ledger, handle } = await startBusy()
    env.workers.first.sendSignal('SIGSTOP')
    await waitForAttempt(handle, 'session.step', 2)
    env.workers.first.sendSignal('SIGCONT')
    await releaseCode(handle)
    await expectHandedOver({ env, ledger }, handle, 'a,b', ['a', 'b'])
  })
})

describeDocker('a rolling deployment with workers that lack a tool', () => {
  it.each(['charge', 'send_once'] as const)(
    'F10: workers without the tool hand calls of %s back until one has it, and each effect happens once',
    async (lacking) => {
      const calls = [1, 2, 3, 4].map((number) => `${lacking}(name="effect-${number}")`).join(', ')
      const script: Script = [
        turn(code(`import asyncio\nawait charge(name="first")\nawait asyncio.gather(${calls})\nprint("done")`)),
        answer,
      ]
      const { env, ledger } = await startWithLedger(script)
      ledger.holdReplies('first')
      const handle = await env.startAgent()
      await ledger.waitForRequests('first')
      await env.workers.start({ environment: { TEST_LACKS_TOOL: lacking } })
      ledger.releaseReplies('first')
      await env.workers.first.kill()
      await expect
        .poll(() => retryingActivities(handle))
        .toContainEqual(expect.objectContaining({ activity: lacking, code: 'TOOL_NOT_REGISTERED' }))
      await env.workers.start()
      expect(await env.agentResult(handle)).toMatchObject({ status: 'answered', answer: 'it is done', turns: 2 })
      expect(ledger.appliedNames.toSorted()).toEqual(['effect-1', 'effect-2', 'effect-3', 'effect-4', 'first'])
      expect(await containerCount(handle)).toBe(0)
      await expectReplays(env.client, handle)
    },
  )
})

describeDocker('kill -9 of a worker during a tool that reports its progress', () => {
  it('F06: the next attempt of a tool starts at the progress that it reported before kill -9', async () => {
    const { env, ledger } = await startWithLedger([turn(code('print(await copy_pages())')), answer])
    ledger.holdReplies('page-2')
    const handle = await env.startAgent()
    await ledger.waitForRequests('page-2')
    await waitForHeartbeats(handle, 'copy_pages', 2)
    await env.workers.replace()
    await ledger.waitForRequests('page-2', 2)
    ledger.releaseReplies('page-2')
    expect(await env.agentResult(handle)).toMatchObject({ answer: "it is ['page-2', 'page-3']" })
    expect(ledger.appliedNames).toEqual(['page-1', 'page-2', 'page-3'])
    await expectReplays(env.client, handle)
  })
})
