import { setTimeout as delay } from 'node:timers/promises'
import { Connection } from '@temporalio/client'
import { expect, it, onTestFinished } from 'vitest'
import { startRateLimitedServer } from '../../support/temporal/rate-limited-server.js'
import { WorkerProcessEnvironment } from '../../support/environment/worker-process-environment.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { NetworkProxy } from '../../support/faults/network-proxy.js'
import { answerResult, code, noModel, turn } from '../../support/script.js'
import { sharedServer } from '../../support/temporal/shared-server.js'

const charges = (...names: string[]): string =>
  `import asyncio\nfor name in ${JSON.stringify(names)}:\n    print((await charge(name=name))["done"], end=" ")\n    await asyncio.sleep(3)`
const script = [turn(code(charges('a', 'b', 'c'))), turn(code(charges('d', 'e', 'f'))), answerResult]
const effects = ['a', 'b', 'c', 'd', 'e', 'f']

async function startNetworkProxy(): Promise<NetworkProxy> {
  const network = await NetworkProxy.start(sharedServer().address)
  onTestFinished(() => network.close())
  return network
}

/** Bad for five seconds, longer than a heartbeat may be late, then good for a while, until the run has ended. */
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

describeDocker('a Temporal server that is there, but hard to reach', () => {
  it.each([
    {
      manner: 'stalls for five seconds',
      bad: (way: NetworkProxy) => way.stall(),
      good: (way: NetworkProxy) => way.resume(),
    },
    {
      manner: 'is cut for five seconds',
      bad: (way: NetworkProxy) => way.disconnect(),
      good: (way: NetworkProxy) => way.reconnect(),
    },
  ])('F19: the way to it $manner, again and again: the run is late, and nothing else', async ({ bad, good }) => {
    const way = await startNetworkProxy()
    const env = await WorkerProcessEnvironment.start(script, { environment: { TEMPORAL_ADDRESS: way.address } })
    const handle = await env.startAgent()
    const result = env.agentResult(handle)
    const times = await alternate(
      () => bad(way),
      () => good(way),
      result,
    )
    expect(await result).toMatchObject({ status: 'answered', answer: 'd e f', turns: 3, toolCalls: 6 })
    expect(times).toBeGreaterThanOrEqual(2)
    expect(way.stats.delayed + way.stats.connections).toBeGreaterThan(times)
    expect(env.ledger.appliedNames).toEqual(effects)
    expect(await env.containerCount(handle)).toBe(0)
    await env.expectReplays(handle)
  })

  it('F19: it refuses what is more than ten requests a second: runs are slow, and nothing else', async () => {
    const address = await startRateLimitedServer(10)
    const env = await WorkerProcessEnvironment.start(script, { address })
    const agents = await Promise.all(Array.from({ length: 3 }, () => env.startAgent()))
    const refused = env.ledger.waitForRequests('b').then(() => countRejected(address, 100))
    const results = await Promise.all(agents.map(({ workflowId }) => env.ptc.handle(workflowId).result()))
    expect(await refused).toBeGreaterThan(10)
    for (const result of results) expect(result).toMatchObject({ status: 'answered', answer: 'd e f', turns: 3 })
    expect(env.ledger.appliedNames).toEqual(effects.flatMap((name) => [name, name, name]))
  })
})

/** How many of so many requests at once the server refuses with RESOURCE_EXHAUSTED. */
async function countRejected(address: string, count: number): Promise<number> {
  const resourceExhausted = 8
  // The interceptors of the SDK would try again.
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

/** Runs it until both effects have been asked for; their replies wait for `answer`. */
async function startUnknownOutcomeRun(way: NetworkProxy) {
  const env = await WorkerProcessEnvironment.start(noModel, { environment: { TEMPORAL_ADDRESS: way.address } })
  const both = ['b', 'mail']
  for (const effect of both) env.ledger.holdReplies(effect)
  const handle = await env.startProgram(unknownOutcomeProgram)
  await Promise.all(both.map((effect) => env.ledger.waitForRequests(effect)))
  const releaseBoth = (): void => both.forEach((effect) => env.ledger.releaseReplies(effect))
  return { env, handle, answer: releaseBoth }
}

const unknownOutcomeResult = { outcome: { status: 'ok', output: 'b outcome_unknown\n' }, toolCalls: 2 }

describeDocker('a worker that loses the network for longer than its heartbeats may be late', () => {
  it.each([
    { manner: 'silently', lose: (way: NetworkProxy) => way.stall(), find: (way: NetworkProxy) => way.resume() },
    {
      manner: 'by resets',
      lose: (way: NetworkProxy) => way.disconnect(),
      find: (way: NetworkProxy) => way.reconnect(),
    },
  ])('F25: $manner, and is alone: its tools go on meanwhile, and no effect happens twice', async ({ lose, find }) => {
    const way = await startNetworkProxy()
    const { env, handle, answer } = await startUnknownOutcomeRun(way)
    lose(way)
    // Believed dead: one call is given up, and the server waits for somebody to take the next attempt of the other.
    await env.waitForActivityFailure(handle, 'send_once')
    await expect
      .poll(() => env.retryingActivities(handle))
      .toMatchObject([{ activity: 'charge', code: 'timeout', attempt: 2 }])
    answer()
    find(way)
    expect(await handle.result()).toMatchObject(unknownOutcomeResult)
    expect(env.ledger.appliedNames).toEqual(['b', 'mail'])
    expect(env.ledger.requests.filter(({ name }) => name === 'mail')).toHaveLength(1)
    expect(await env.containerCount(handle)).toBe(0)
    await env.expectReplays(handle)
  })

  it('F25: and another worker of its host takes over: what the first says late changes nothing', async () => {
    const way = await startNetworkProxy()
    const { env, handle, answer } = await startUnknownOutcomeRun(way)
    way.stall()
    const other = await env.startWorker('test-host', { TEMPORAL_ADDRESS: sharedServer().address })
    await env.ledger.waitForRequests('b', 2)
    answer()
    expect(await handle.result()).toMatchObject(unknownOutcomeResult)
    way.resume()
    await other.kill()
    // The first one is at work again, alone.
    const next = await env.startProgram('print((await charge(name="next"))["done"])')
    expect(await next.result()).toMatchObject({ outcome: { status: 'ok', output: 'next\n' } })
    expect(env.ledger.appliedNames).toEqual(['b', 'mail', 'next'])
    expect(env.ledger.requests.filter(({ name }) => name === 'mail')).toHaveLength(1)
    expect(await env.containerCount(handle)).toBe(0)
    await env.expectReplays(handle)
  })
})
