import { setTimeout as delay } from 'node:timers/promises'
import { Connection } from '@temporalio/client'
import { expect, it, onTestFinished } from 'vitest'
import { startRateLimitedServer } from '../../support/temporal/rate-limited-server.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { NetworkProxy } from '../../support/faults/network-proxy.js'
import { answerResult, code, noModel, turn } from '../../support/script.js'
import { sharedServer } from '../../support/temporal/shared-server.js'
import { expectReplays } from '../../support/environment/histories.js'
import { waitForActivityFailure, retryingActivities } from '../../support/environment/waits.js'
import { containerCount } from '../../support/environment/containers.js'
import { startWithLedger } from '../../support/environment/ledger-environment.js'

const charges = (...names: string[]): string =>
  `import asyncio\nfor name in ${JSON.stringify(names)}:\n    print((await charge(name=name))["done"], end=" ")\n    await asyncio.sleep(3)`
const script = [turn(code(charges('a', 'b', 'c'))), turn(code(charges('d', 'e', 'f'))), answerResult]
const effects = ['a', 'b', 'c', 'd', 'e', 'f']

async function startNetworkProxy(): Promise<NetworkProxy> {
  const network = await NetworkProxy.start(sharedServer().address)
  onTestFinished(() => network.close())
  return network
}

/** Alternates between faults of five seconds, longer than the heartbeat timeout, and none, until the run ends. */
async function alternate(disrupt: () => void, restore: () => void, ended: Promise<unknown>): Promise<number> {
  let isOver = false
  void ended.finally(() => (isOver = true)).catch(() => undefined)
  for (let times = 0; ; times += 1) {
    await delay(3_000)
    if (isOver) return times
    disrupt()
    await delay(5_000)
    restore()
  }
}

describeDocker('an unreliable connection to the Temporal server', () => {
  it.each([
    {
      manner: 'stalls for five seconds',
      bad: (proxy: NetworkProxy) => proxy.stall(),
      good: (proxy: NetworkProxy) => proxy.resume(),
    },
    {
      manner: 'is cut for five seconds',
      bad: (proxy: NetworkProxy) => proxy.disconnect(),
      good: (proxy: NetworkProxy) => proxy.reconnect(),
    },
  ])('F19: a connection to the server that repeatedly $manner only delays the run', async ({ bad, good }) => {
    const proxy = await startNetworkProxy()
    const { env, ledger } = await startWithLedger(script, { environment: { TEMPORAL_ADDRESS: proxy.address } })
    const handle = await env.startAgent()
    const result = env.agentResult(handle)
    const times = await alternate(
      () => bad(proxy),
      () => good(proxy),
      result,
    )
    expect(await result).toMatchObject({ status: 'answered', answer: 'd e f', turns: 3, toolCalls: 6 })
    expect(times).toBeGreaterThanOrEqual(2)
    expect(proxy.stats.delayed + proxy.stats.connections).toBeGreaterThan(times)
    expect(ledger.appliedNames).toEqual(effects)
    expect(await containerCount(handle)).toBe(0)
    await expectReplays(env.client, handle)
  })

  it('F19: a limit of ten requests per second only delays runs', async () => {
    const address = await startRateLimitedServer(10)
    const { env, ledger } = await startWithLedger(script, { address })
    const agents = await Promise.all(Array.from({ length: 3 }, () => env.startAgent()))
    const refused = ledger.waitForRequests('b').then(() => countRejected(address, 100))
    const results = await Promise.all(agents.map(({ workflowId }) => env.ptc.handle(workflowId).result()))
    expect(await refused).toBeGreaterThan(10)
    for (const result of results) expect(result).toMatchObject({ status: 'answered', answer: 'd e f', turns: 3 })
    expect(ledger.appliedNames).toEqual(effects.flatMap((name) => [name, name, name]))
  })
})

/** The number of concurrent requests that the server refuses with RESOURCE_EXHAUSTED. */
async function countRejected(address: string, count: number): Promise<number> {
  const resourceExhausted = 8
  // The interceptors of the SDK would retry.
  const connection = Connection.lazy({ address, interceptors: [] })
  const { namespace } = sharedServer()
  const ask = () => connection.workflowService.describeNamespace({ namespace })
  const answers = await Promise.allSettled(Array.from({ length: count }, ask))
  await connection.close()
  return answers.filter((answer) => answer.status === 'rejected' && answer.reason.code === resourceExhausted).length
}

const unknownOutcomeProgram = `
import asyncio
charged, mailed = await asyncio.gather(charge(name="b"), send_once(name="mail"), return_exceptions=True)
print(charged["done"], getattr(mailed, "status", mailed))
`

/** Runs the program until both effects have been requested; their replies wait for `releaseBoth`. */
async function startUnknownOutcomeRun(proxy: NetworkProxy) {
  const { env, ledger } = await startWithLedger(noModel, { environment: { TEMPORAL_ADDRESS: proxy.address } })
  const both = ['b', 'mail']
  for (const effect of both) ledger.holdReplies(effect)
  const handle = await env.startProgram(unknownOutcomeProgram)
  await Promise.all(both.map((effect) => ledger.waitForRequests(effect)))
  const releaseBoth = (): void => both.forEach((effect) => ledger.releaseReplies(effect))
  return { env, ledger, handle, releaseBoth }
}

const unknownOutcomeResult = { outcome: { status: 'ok', output: 'b outcome_unknown\n' }, toolCalls: 2 }

describeDocker('a worker that loses the network for longer than the heartbeat timeout', () => {
  it.each([
    { manner: 'silently', lose: (proxy: NetworkProxy) => proxy.stall(), find: (proxy: NetworkProxy) => proxy.resume() },
    {
      manner: 'by resets',
      lose: (proxy: NetworkProxy) => proxy.disconnect(),
      find: (proxy: NetworkProxy) => proxy.reconnect(),
    },
  ])(
    'F25: a worker that loses the network $manner continues its tools, and no effect happens twice',
    async ({ lose, find }) => {
      const proxy = await startNetworkProxy()
      const { env, ledger, handle, releaseBoth } = await startUnknownOutcomeRun(proxy)
      lose(proxy)
      // The server considers the worker dead: one call fails, and the next attempt of the other waits for a worker.
      await waitForActivityFailure(handle, 'send_once')
      await expect
        .poll(() => retryingActivities(handle))
        .toMatchObject([{ activity: 'charge', code: 'timeout', attempt: 2 }])
      releaseBoth()
      find(proxy)
      expect(await handle.result()).toMatchObject(unknownOutcomeResult)
      expect(ledger.appliedNames).toEqual(['b', 'mail'])
      expect(ledger.requests.filter(({ name }) => name === 'mail')).toHaveLength(1)
      expect(await containerCount(handle)).toBe(0)
      await expectReplays(env.client, handle)
    },
  )

  it("F25: after another worker of the host took over, the first worker's late results are ignored", async () => {
    const proxy = await startNetworkProxy()
    const { env, ledger, handle, releaseBoth } = await startUnknownOutcomeRun(proxy)
    proxy.stall()
    const other = await env.workers.start({ environment: { TEMPORAL_ADDRESS: sharedServer().address } })
    await ledger.waitForRequests('b', 2)
    releaseBoth()
    expect(await handle.result()).toMatchObject(unknownOutcomeResult)
    proxy.resume()
    await other.kill()
    // The first worker works again, without the other.
    const next = await env.startProgram('print((await charge(name="next"))["done"])')
    expect(await next.result()).toMatchObject({ outcome: { status: 'ok', output: 'next\n' } })
    expect(ledger.appliedNames).toEqual(['b', 'mail', 'next'])
    expect(ledger.requests.filter(({ name }) => name === 'mail')).toHaveLength(1)
    expect(await containerCount(handle)).toBe(0)
    await expectReplays(env.client, handle)
  })
})
