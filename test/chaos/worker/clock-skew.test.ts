import { expect, it } from 'vitest'
import type { WorkflowHandle } from '@temporalio/client'
import type { Script } from '../../../src/testing/index.js'
import { WorkerClock } from '../../support/faults/worker-clock.js'
import { WorkerProcessEnvironment } from '../../support/environment/worker-process-environment.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { code, faulty, text, turn } from '../../support/script.js'

const hour = 3_600_000

const faults = [
  ['jumps an hour ahead', (clock: WorkerClock) => clock.setOffset(hour), `the clock is ${hour}`],
  ['jumps an hour back', (clock: WorkerClock) => clock.setOffset(-hour), `the clock is -${hour}`],
  ['stands still', (clock: WorkerClock) => clock.freeze(), 'the clock is frozen'],
] as const

/** Two cells and what is between them; the model takes its time once. */
const script: Script = [
  turn(code('done = [(await charge(name="a"))["done"]]\ndone.append((await charge(name="b"))["done"])')),
  faulty(
    [{ type: 'delay', attempt: 1, ms: 4_000 }],
    turn(code('done.append((await charge(name="c"))["done"])\nprint(",".join(done))')),
  ),
  turn(text('charged {{last_tool_result}}')),
]

/** As if no clock had been touched: nothing was given up, repeated, or taken away too early. */
async function expectUndisturbed(env: WorkerProcessEnvironment, handle: WorkflowHandle): Promise<void> {
  expect(await env.agentResult(handle)).toMatchObject({ status: 'answered', answer: 'charged a,b,c', toolCalls: 3 })
  expect(env.ledger.requests.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
  expect(env.api.requests).toHaveLength(3)
  expect(await env.scheduledCount(handle, 'session.open')).toBe(1)
  expect(await env.containerCount(handle)).toBe(0)
  await env.expectReplays(handle)
}

describeDocker('the clock of a worker', () => {
  it.each(faults)(
    'F34: %s in the middle of a run: no timeout fires early, nothing is repeated',
    async (_how, disturb, told) => {
      const clock = new WorkerClock()
      const env = await WorkerProcessEnvironment.start(script, { environment: clock.environment })
      env.ledger.holdReplies('b')
      const handle = await env.startAgent()
      await env.ledger.waitForRequests('b')
      disturb(clock)
      // Whatever goes by the wall clock has had its chance: several heartbeats.
      await env.waitForHeartbeats(handle, 'charge', 2)
      env.ledger.releaseReplies('b')
      await expectUndisturbed(env, handle)
      expect(env.log).toContain(told)
    },
  )

  it('F34: jumps an hour ahead before the next worker takes a living sandbox over: its reaper leaves it alone', async () => {
    const clock = new WorkerClock()
    const env = await WorkerProcessEnvironment.start(script, { environment: clock.environment })
    env.ledger.holdReplies('b')
    const handle = await env.startAgent()
    await env.ledger.waitForRequests('b')
    clock.setOffset(hour)
    await env.replaceWorker()
    await env.ledger.waitForRequests('b', 2) // the killed one's
    env.ledger.releaseReplies('b')
    expect(await env.agentResult(handle)).toMatchObject({ status: 'answered', answer: 'charged a,b,c', toolCalls: 3 })
    expect(env.ledger.appliedNames).toEqual(['a', 'b', 'c'])
    expect(await env.scheduledCount(handle, 'session.open')).toBe(1)
    expect(await env.containerCount(handle)).toBe(0)
    expect(env.log.lastIndexOf(`the clock is ${hour}`)).toBeGreaterThan(0)
  })
})
