import { expect, it } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { TestProject } from '../../support/cli/ptc.js'
import { DeferredToolCalls } from '../../support/deferred-tool.js'
import { startedTimers } from '../../support/environment/histories.js'
import { startWithLedger } from '../../support/environment/ledger-environment.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { pendingActivities } from '../../support/environment/waits.js'
import { noModel } from '../../support/script.js'
import { sharedServer } from '../../support/temporal/shared-server.js'
import { tool } from '../../support/tools.js'

const calls = 300

/** Number of calls, each of which is completed by its own process. */
const processes = 15

describeDocker('300 deferred calls of a program', () => {
  it('300 deferred calls use no worker slot, survive kill -9 and continue-as-new, and are all completed', async () => {
    const { env, ledger } = await startWithLedger(noModel, {
      environment: { TEST_PARK: 'soon', TEST_HISTORY_EVENTS: '500' },
    })
    const source = `
import asyncio
results = await asyncio.gather(*(approve(id=n) for n in range(${calls})))
print(sum(result["approved"] for result in results))
`
    const handle = await env.startProgram(source, { limits: { callsInFlight: 50 } })
    const waiting = async () => (await handle.describe()).raw.pendingActivities ?? []
    while (ledger.applied.length < calls) await ledger.nextRequest()
    await expect.poll(waiting).toEqual([])
    await expect.poll(() => env.containers(handle)).toEqual([])
    await expect.poll(async () => (await env.executionHistories(handle)).length).toBeGreaterThan(1)

    await env.workers.kill()
    await env.workers.start()
    const tokens = ledger.applied.map(({ name }) => name)
    const complete = (token: string) => env.ptc.completeCall(token, { approved: true })
    // Temporal accepts ten updates of a run at once. The client repeats the others, even with other processes.
    const { address, namespace } = sharedServer()
    await using project = await TestProject.create({}, { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace })
    const result = JSON.stringify({ approved: true })
    const others = tokens
      .slice(0, processes)
      .map((token) => project.run('answer', token, '--result', result).then(({ stderr }) => stderr))
    for (let n = processes; n < calls; n += 30) await Promise.all(tokens.slice(n, n + 30).map(complete))
    expect(new Set(await Promise.all(others))).toEqual(new Set(['the call is completed\n']))
    expect(await handle.result()).toMatchObject({
      outcome: { status: 'ok', output: `${calls}\n` },
      toolCalls: calls,
    })
    // Each call ran once, with its own key.
    expect(ledger.requests).toHaveLength(calls)
    expect(new Set(tokens).size).toBe(calls)
    expect(await pendingActivities(handle)).toEqual([])
    await env.expectCleanEnd(handle)
  })
})

it('a deferred call whose run continued as new expires at its original time, and stays expired', async () => {
  const calls = new DeferredToolCalls()
  const env = await TestEnvironment.start({
    tools: [calls.tool('pay', { expires: '30s', effect: 'once' }), calls.tool('approve'), tool('count', () => null)],
    limits: { historyEvents: 100 },
  })
  const handle = await env.startProgram(`
import asyncio
paid = asyncio.ensure_future(pay(id=1))
for n in range(40): await count()
try: await paid
except ToolError as error: print(type(error).__name__, error)
await approve(id=2)
`)
  const complete = async (id: number) => env.ptc.completeCall(await calls.token(id), { approved: true })
  await calls.token(2)
  const chain = await env.executionHistories(handle)
  const waits = chain.map((history) =>
    startedTimers(history).filter(({ summary }) => summary === 'expiry of a deferred call'),
  )
  const last = waits.findIndex((timers) => timers.some(({ hasFired }) => hasFired))
  expect(last).toBeGreaterThan(0)
  // Each execution waits for the remaining time.
  expect(waits.slice(0, last + 1).map((timers) => timers.length)).toEqual(Array.from({ length: last + 1 }, () => 1))
  expect(waits[last]?.[0]?.seconds).toBeLessThan(30)
  await expect(complete(1)).rejects.toMatchObject({ code: 'CALL_EXPIRED' })
  await complete(2)
  const output = 'ToolOutcomeUnknown pay may or may not have happened: no result arrived within 30.0s. '
  expect(await handle.result()).toMatchObject({
    outcome: { output: `${output}It is not repeated by itself.\n` },
  })
  await env.expectCleanEnd(handle)
})
