import { expect, it } from 'vitest'
import type { WorkflowHandle } from '@temporalio/client'
import type { Script } from '../../../src/testing/index.js'
import { WorkerClock } from '../../support/faults/worker-clock.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { code, faulty, text, turn } from '../../support/script.js'
import { expectReplays } from '../../support/environment/histories.js'
import { waitForHeartbeats, scheduledCount } from '../../support/environment/waits.js'
import { containerCount } from '../../support/environment/containers.js'
import { startWithLedger, type LedgerEnvironment } from '../../support/environment/ledger-environment.js'

const hour = 3_600_000

const faults = [
  ['jumps an hour ahead', (clock: WorkerClock) => clock.setOffset(hour), `the clock is ${hour}`],
  ['jumps an hour back', (clock: WorkerClock) => clock.setOffset(-hour), `the clock is -${hour}`],
  ['stands still', (clock: WorkerClock) => clock.freeze(), 'the clock is frozen'],
] as const

/** Two cells; one model reply is delayed. */
const script: Script = [
  turn(code('done = [(await charge(name="a"))["done"]]\ndone.append((await charge(name="b"))["done"])')),
  faulty(
    [{ type: 'delay', attempt: 1, ms: 4_000 }],
    turn(code('done.append((await charge(name="c"))["done"])\nprint(",".join(done))')),
  ),
  turn(text('charged {{last_tool_result}}')),
]

/** Expects that no timeout comes early, no call is repeated, and no sandbox is removed early. */
async function expectUndisturbed({ env, ledger }: LedgerEnvironment, handle: WorkflowHandle): Promise<void> {
  expect(await env.agentResult(handle)).toMatchObject({ status: 'answered', answer: 'charged a,b,c', toolCalls: 3 })
  expect(ledger.requests.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
  expect(env.api.requests).toHaveLength(3)
  expect(await scheduledCount(handle, 'session.open')).toBe(1)
  expect(await containerCount(handle)).toBe(0)
  await expectReplays(env.client, handle)
}

describeDocker('the clock of a worker', () => {
  it.each(faults)(
    'F34: the clock of a worker %s in the middle of a run: no timeout fires early and nothing is repeated',
    async (_how, disturb, logged) => {
      const clock = new WorkerClock()
      const { env, ledger } = await startWithLedger(script, { environment: clock.environment })
      ledger.holdReplies('b')
      const handle = await env.startAgent()
      await ledger.waitForRequests('b')
      disturb(clock)
      // Several heartbeats pass, so that everything that uses the wall clock has run.
      await waitForHeartbeats(handle, 'charge', 2)
      ledger.releaseReplies('b')
      await expectUndisturbed({ env, ledger }, handle)
      expect(env.workers.log).toContain(logged)
    },
  )

  it('F34: the clock jumps an hour ahead before a worker takes over: its reaper keeps the sandbox', async () => {
    const clock = new WorkerClock()
    const { env, ledger } = await startWithLedger(script, { environment: clock.environment })
    ledger.holdReplies('b')
    const handle = await env.startAgent()
    await ledger.waitForRequests('b')
    clock.setOffset(hour)
    await env.workers.replace()
    await ledger.waitForRequests('b', 2) // requests of the killed worker
    ledger.releaseReplies('b')
    expect(await env.agentResult(handle)).toMatchObject({ status: 'answered', answer: 'charged a,b,c', toolCalls: 3 })
    expect(ledger.appliedNames).toEqual(['a', 'b', 'c'])
    expect(await scheduledCount(handle, 'session.open')).toBe(1)
    expect(await containerCount(handle)).toBe(0)
    expect(env.workers.log.lastIndexOf(`the clock is ${hour}`)).toBeGreaterThan(0)
  })
})
