import { describe, expect, it } from 'vitest'
import type { WorkflowHandle } from '@temporalio/client'
import type { Script } from '../../../src/testing/index.js'
import { pollSignal } from '../../support/poll-options.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { code, text, turn } from '../../support/script.js'
import { expectReplays } from '../../support/environment/histories.js'
import { waitForActivity, waitForNoPendingActivity, scheduledCount } from '../../support/environment/waits.js'
import { containerCount, killContainer, releaseCode } from '../../support/environment/containers.js'
import { startWithLedger, type LedgerEnvironment } from '../../support/environment/ledger-environment.js'
import { completedReplies } from '../../support/environment/completed-replies.js'

/** Sequential and parallel calls, code that runs until it is released, and variables shared by cells. */
const firstCell = `
import asyncio, os
done = [(await charge(name="a"))["done"]]
while BUSY and not os.path.exists("/tmp/go"): pass
done += [r["done"] for r in await asyncio.gather(charge(name="b"), charge(name="c"))]
print(done)
`
const secondCell = 'done.append((await charge(name="d"))["done"])\nprint(",".join(done))'

function script({ busy = false, secondTurnDelayMs = 0 } = {}): Script {
  return [
    turn(code(firstCell.replace('BUSY', busy ? 'True' : 'False'))),
    {
      ...turn(code(secondCell)),
      faults: secondTurnDelayMs ? [{ type: 'delay', attempt: 1, ms: secondTurnDelayMs }] : [],
    },
    turn(text('charged {{last_tool_result}}')),
  ]
}

const javascriptScript: Script = [
  turn(
    code(`
const done = [(await charge({ name: 'a' })).done, Math.random()]
done.push(...(await Promise.all(['b', 'c'].map((name) => charge({ name })))).map((each) => each.done))
done.splice(1, 1)
console.log(done)`),
  ),
  turn(code("done.push((await charge({ name: 'd' })).done)\nconsole.log(done.join())")),
  turn(text('charged {{last_tool_result}}')),
]

/** Invariants after any kill: same answer, each effect once, each turn paid once, no remains, histories replay. */
async function expectNothingLost({ env, ledger }: LedgerEnvironment, handle: WorkflowHandle): Promise<void> {
  expect(await env.agentResult(handle)).toMatchObject({
    status: 'answered',
    answer: 'charged a,b,c,d',
    turns: 3,
    cells: 2,
    toolCalls: 4,
  })
  expect(ledger.appliedNames).toEqual(['a', 'b', 'c', 'd'])
  expect(completedReplies(env.api)).toBe(3)
  expect(await containerCount(handle)).toBe(0)
  await expectReplays(env.client, handle)
}

describeDocker('kill -9', () => {
  it('after kill -9 of the worker while code waits for a tool, another worker attaches', async () => {
    const { env, ledger } = await startWithLedger(script())
    ledger.holdReplies('b')
    const handle = await env.startAgent()
    await ledger.waitForRequests('b')
    await env.workers.replace()
    await ledger.waitForRequests('b', 2) // requested again with the same key
    ledger.releaseReplies('b')
    await expectNothingLost({ env, ledger }, handle)
    expect(await scheduledCount(handle, 'session.open')).toBe(1)
    expect(env.api.requests).toHaveLength(3)
  })

  it('after kill -9 of the worker during a model turn, only the request in progress is repeated', async () => {
    const { env, ledger } = await startWithLedger(script({ secondTurnDelayMs: 60_000 }))
    const handle = await env.startAgent()
    await env.api.waitForRequest(({ assistantMessages }) => assistantMessages === 1, pollSignal())
    await env.workers.replace()
    await expectNothingLost({ env, ledger }, handle)
    expect(await scheduledCount(handle, 'session.open')).toBe(1)
    expect(env.api.requests).toHaveLength(4)
  })

  it('after kill -9 of the worker while code runs, the program continues in its container', async () => {
    const { env, ledger } = await startWithLedger(script({ busy: true }))
    const handle = await env.startAgent()
    await waitForActivity(handle, 'session.step')
    await env.workers.replace()
    await releaseCode(handle)
    await expectNothingLost({ env, ledger }, handle)
    expect(await scheduledCount(handle, 'session.open')).toBe(1)
    expect(ledger.requests).toHaveLength(4)
    expect(env.api.requests).toHaveLength(3)
  })

  it('after kill -9 of the container while code waits for a tool, the session is rebuilt from the journal', async () => {
    const { env, ledger } = await startWithLedger(script())
    ledger.holdReplies('b')
    const handle = await env.startAgent()
    await ledger.waitForRequests('b')
    await killContainer(handle)
    ledger.releaseReplies('b')
    await expectNothingLost({ env, ledger }, handle)
    expect(await scheduledCount(handle, 'session.open')).toBe(2)
    expect(ledger.requests).toHaveLength(4)
    expect(env.api.requests).toHaveLength(3)
  })

  it('after kill -9 of the container during a model turn, the next cell has the earlier variables', async () => {
    const { env, ledger } = await startWithLedger(script({ secondTurnDelayMs: 15_000 }))
    const handle = await env.startAgent()
    await env.api.waitForRequest(({ assistantMessages }) => assistantMessages === 1, pollSignal())
    await killContainer(handle)
    await expectNothingLost({ env, ledger }, handle)
    expect(await scheduledCount(handle, 'session.open')).toBe(2)
    expect(ledger.requests).toHaveLength(4)
  })

  it('after kill -9 of the container while code runs, the cell runs again with its recorded results', async () => {
    const { env, ledger } = await startWithLedger(script({ busy: true }))
    const handle = await env.startAgent()
    await waitForActivity(handle, 'session.step')
    await killContainer(handle)
    await releaseCode(handle)
    await expectNothingLost({ env, ledger }, handle)
    expect(await scheduledCount(handle, 'session.open')).toBe(2)
    expect(ledger.requests).toHaveLength(4)
    expect(env.api.requests).toHaveLength(3)
  })

  it('F09: after kill -9 of the worker of a parked run, another host continues when the result arrives', async () => {
    const { env, ledger } = await startWithLedger(script(), { environment: { TEST_PARK: 'soon' } })
    // Waits for both requests: a result now would wake the sandbox on the host that is about to be lost.
    const both = ['b', 'c']
    for (const effect of both) ledger.holdReplies(effect)
    const handle = await env.startAgent()
    await Promise.all(both.map((effect) => ledger.waitForRequests(effect)))
    await expect.poll(() => containerCount(handle)).toBe(0)
    await waitForNoPendingActivity(handle, 'session.close')
    await env.workers.replace({ hostId: 'another-host' })
    await Promise.all(both.map((effect) => ledger.waitForRequests(effect, 2)))
    for (const effect of both) ledger.releaseReplies(effect)
    await expectNothingLost({ env, ledger }, handle)
    expect(await scheduledCount(handle, 'session.open')).toBeGreaterThan(1)
  })

  it('after kill -9 of worker and container together, the session is rebuilt from the journal', async () => {
    const { env, ledger } = await startWithLedger(script())
    ledger.holdReplies('c')
    const handle = await env.startAgent()
    await ledger.waitForRequests('c')
    await killContainer(handle)
    await env.workers.replace()
    await ledger.waitForRequests('c', 2)
    ledger.releaseReplies('c')
    await expectNothingLost({ env, ledger }, handle)
    expect(env.api.requests).toHaveLength(3)
  })

  it('after kill -9 of the worker during a `once` tool, the code gets ToolOutcomeUnknown', async () => {
    const source = 'try:\n    await send_once(name="mail")\nexcept ToolOutcomeUnknown as e:\n    print(e.status)'
    const { env, ledger } = await startWithLedger([turn(code(source)), turn(text('it is {{last_tool_result}}'))])
    ledger.holdReplies('mail')
    const handle = await env.startAgent()
    await ledger.waitForRequests('mail')
    await env.workers.replace()
    expect(await env.agentResult(handle)).toMatchObject({ answer: 'it is outcome_unknown' })
    expect(ledger.requests).toHaveLength(1)
  })

  it('F09: after kill -9 of the whole host, the session is rebuilt on another one', async () => {
    const { env, ledger } = await startWithLedger(script(), { environment: { TEST_HOST_TIMEOUT: 'short' } })
    ledger.holdReplies('b')
    const handle = await env.startAgent()
    await ledger.waitForRequests('b')
    await env.workers.replace({ hostId: 'another-host' })
    await ledger.waitForRequests('b', 2)
    ledger.releaseReplies('b')
    expect(await env.agentResult(handle)).toMatchObject({ status: 'answered', answer: 'charged a,b,c,d' })
    expect(ledger.appliedNames).toEqual(['a', 'b', 'c', 'd'])
    expect(env.api.requests).toHaveLength(3)
    expect(await scheduledCount(handle, 'session.open')).toBe(2)
    await expectReplays(env.client, handle)
  })
})

describe('kill -9 with the embedded sandbox', () => {
  it.each([
    ['python', script()],
    ['javascript', javascriptScript],
  ])('after kill -9 of the worker and its embedded sandbox in %s, the session is rebuilt', async (language, model) => {
    const { env, ledger } = await startWithLedger(model, { backend: 'wasm' })
    ledger.holdReplies('b')
    const handle = await env.startAgent({ language })
    await ledger.waitForRequests('b')
    await env.workers.replace()
    await ledger.waitForRequests('b', 2)
    ledger.releaseReplies('b')
    expect(await env.agentResult(handle)).toMatchObject({ status: 'answered', answer: 'charged a,b,c,d' })
    expect(ledger.appliedNames).toEqual(['a', 'b', 'c', 'd'])
    expect(env.api.requests).toHaveLength(3)
    expect(await scheduledCount(handle, 'session.open')).toBe(2)
    await expectReplays(env.client, handle)
  })
})
