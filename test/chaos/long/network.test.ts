import { setTimeout as passing } from 'node:timers/promises'
import { Connection } from '@temporalio/client'
import { expect, it, onTestFinished } from 'vitest'
import { startBusyServer } from '../../support/busy-server.js'
import { CrashScene } from '../../support/crash-scene.js'
import { describeDocker } from '../../support/docker.js'
import { Network } from '../../support/network.js'
import { answerResult, code, noModel, turn } from '../../support/script.js'
import { testTemporal } from '../../support/temporal.js'

const charges = (...names: string[]): string =>
  `import asyncio\nfor name in ${JSON.stringify(names)}:\n    print((await charge(name=name))["done"], end=" ")\n    await asyncio.sleep(3)`
const script = [turn(code(charges('a', 'b', 'c'))), turn(code(charges('d', 'e', 'f'))), answerResult]
const effects = ['a', 'b', 'c', 'd', 'e', 'f']

async function behindNetwork(): Promise<Network> {
  const network = await Network.start(testTemporal().address)
  onTestFinished(() => network.close())
  return network
}

/** Bad for five seconds, longer than a heartbeat may be late, then good for a while, until the run has ended. */
async function often(bad: () => void, good: () => void, ended: Promise<unknown>): Promise<number> {
  let isOver = false
  void ended.finally(() => (isOver = true)).catch(() => undefined)
  for (let times = 0; ; times += 1) {
    await passing(3_000)
    if (isOver) return times
    bad()
    await passing(5_000)
    good()
  }
}

describeDocker('a Temporal server that is there, but hard to reach', () => {
  it.each([
    { manner: 'stalls for five seconds', bad: (way: Network) => way.stall(), good: (way: Network) => way.goOn() },
    { manner: 'is cut for five seconds', bad: (way: Network) => way.cut(), good: (way: Network) => way.mend() },
  ])('F19: the way to it $manner, again and again: the run is late, and nothing else', async ({ bad, good }) => {
    const way = await behindNetwork()
    const scene = await CrashScene.begin(script, { environment: { TEMPORAL_ADDRESS: way.address } })
    const handle = await scene.startAgent()
    const result = scene.result(handle)
    const times = await often(
      () => bad(way),
      () => good(way),
      result,
    )
    expect(await result).toMatchObject({ status: 'answered', answer: 'd e f', turns: 3, toolCalls: 6 })
    expect(times).toBeGreaterThanOrEqual(2)
    expect(way.seen.delayed + way.seen.connections).toBeGreaterThan(times)
    expect(scene.ledger.names).toEqual(effects)
    expect(await scene.containersLeft(handle)).toBe(0)
    await scene.replays(handle)
  })

  it('F19: it refuses what is more than ten requests a second: runs are slow, and nothing else', async () => {
    const address = await startBusyServer(10)
    const scene = await CrashScene.begin(script, { address })
    const agents = await Promise.all(Array.from({ length: 3 }, () => scene.startAgent()))
    const refused = scene.ledger.askedFor('b').then(() => refusals(address, 100))
    const results = await Promise.all(agents.map(({ workflowId }) => scene.ptc.handle(workflowId).result()))
    expect(await refused).toBeGreaterThan(10)
    for (const result of results) expect(result).toMatchObject({ status: 'answered', answer: 'd e f', turns: 3 })
    expect(scene.ledger.names).toEqual(effects.flatMap((name) => [name, name, name]))
  })
})

/** How many of so many requests at once the server refuses with RESOURCE_EXHAUSTED. */
async function refusals(address: string, count: number): Promise<number> {
  const resourceExhausted = 8
  // The interceptors of the SDK would try again.
  const connection = Connection.lazy({ address, interceptors: [] })
  const { namespace } = testTemporal()
  const ask = () => connection.workflowService.describeNamespace({ namespace })
  const answers = await Promise.allSettled(Array.from({ length: count }, ask))
  await connection.close()
  return answers.filter((answer) => answer.status === 'rejected' && answer.reason.code === resourceExhausted).length
}

const unsure = `
import asyncio
charged, mailed = await asyncio.gather(charge(name="b"), send_once(name="mail"), return_exceptions=True)
print(charged["done"], getattr(mailed, "status", mailed))
`

/** Runs it until both effects have been asked for; their replies wait for `answer`. */
async function startUnsure(way: Network) {
  const scene = await CrashScene.begin(noModel, { environment: { TEMPORAL_ADDRESS: way.address } })
  const both = ['b', 'mail']
  for (const effect of both) scene.ledger.hold(effect)
  const handle = await scene.startProgram(unsure)
  await Promise.all(both.map((effect) => scene.ledger.askedFor(effect)))
  const answer = (): void => both.forEach((effect) => scene.ledger.release(effect))
  return { scene, handle, answer }
}

const notKnown = { outcome: { status: 'ok', output: 'b outcome_unknown\n' }, toolCalls: 2 }

describeDocker('a worker that loses the network for longer than its heartbeats may be late', () => {
  it.each([
    { manner: 'silently', lose: (way: Network) => way.stall(), find: (way: Network) => way.goOn() },
    { manner: 'by resets', lose: (way: Network) => way.cut(), find: (way: Network) => way.mend() },
  ])('F25: $manner, and is alone: its tools go on meanwhile, and no effect happens twice', async ({ lose, find }) => {
    const way = await behindNetwork()
    const { scene, handle, answer } = await startUnsure(way)
    lose(way)
    // Believed dead: one call is given up, and the server waits for somebody to take the next attempt of the other.
    await scene.told(handle, 'send_once')
    await expect.poll(() => scene.retried(handle)).toMatchObject([{ activity: 'charge', code: 'timeout', attempt: 2 }])
    answer()
    find(way)
    expect(await handle.result()).toMatchObject(notKnown)
    expect(scene.ledger.names).toEqual(['b', 'mail'])
    expect(scene.ledger.asked.filter(({ name }) => name === 'mail')).toHaveLength(1)
    expect(await scene.containersLeft(handle)).toBe(0)
    await scene.replays(handle)
  })

  it('F25: and another worker of its host takes over: what the first says late changes nothing', async () => {
    const way = await behindNetwork()
    const { scene, handle, answer } = await startUnsure(way)
    way.stall()
    const other = await scene.startWorker('test-host', { TEMPORAL_ADDRESS: testTemporal().address })
    await scene.ledger.askedFor('b', 2)
    answer()
    expect(await handle.result()).toMatchObject(notKnown)
    way.goOn()
    await other.kill()
    // The first one is at work again, alone.
    const next = await scene.startProgram('print((await charge(name="next"))["done"])')
    expect(await next.result()).toMatchObject({ outcome: { status: 'ok', output: 'next\n' } })
    expect(scene.ledger.names).toEqual(['b', 'mail', 'next'])
    expect(scene.ledger.asked.filter(({ name }) => name === 'mail')).toHaveLength(1)
    expect(await scene.containersLeft(handle)).toBe(0)
    await scene.replays(handle)
  })
})
