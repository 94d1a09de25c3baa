import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import type { Failpoint } from '../../../src/common/failpoint.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { killContainersOf } from '../../support/environment/containers.js'
import { temporaryFolder } from '../../support/folders.js'
import { noModel } from '../../support/script.js'
import { backendEnvironment, startCrashingWorkers } from '../support/crashing-workers.js'
import type { Crash } from '../support/failpoint-crashes.js'
import { checkEffects, remainingContainers } from '../support/oracle.js'

const config = fileURLToPath(new URL('../../fixtures/ledger.config.ts', import.meta.url))

/** Local calls of all three kinds: alone, in parallel, after an ordinary call, and before one. */
const program = `
import asyncio
done = []
async def once(name):
    try:
        return (await mark_once(name=name))["done"]
    except ToolOutcomeUnknown:
        return "unknown"
done.append((await mark(name="a"))["done"])
await look(name="look 1")
done.append(await once("b"))
done += [each["done"] for each in await asyncio.gather(mark(name="c"), mark(name="d"), look(name="look 2"))]
done.append((await charge(name="e"))["done"])
done.append((await mark(name="f"))["done"])
done.append(await once("g"))
done.append((await mark(name="h"))["done"])
print(",".join(done))`

const names = ['a', 'b', 'c', 'd', 'look 2', 'e', 'f', 'g', 'h']
const onceNames = ['b', 'g']

/** @param lostWith name of the effect during which the container is killed */
async function expectSurvives(crashes: readonly Crash[], lostWith?: string): Promise<void> {
  const store = await temporaryFolder()
  const { env, ledger, deaths } = await startCrashingWorkers(crashes, {
    config,
    script: noModel,
    store,
    environment: backendEnvironment('docker', store),
  })
  if (lostWith !== undefined) ledger.holdReplies(lostWith)
  const handle = await env.startProgram(program)
  if (lostWith !== undefined) {
    await ledger.waitForRequests(lostWith)
    expect(await killContainersOf(handle.workflowId)).toBe(1)
    ledger.releaseReplies(lostWith)
  }
  const { outcome } = (await handle.result()) as { outcome: { status: string; output: string } }
  expect(outcome.status).toBe('ok')
  const done = outcome.output.trim().split(',')
  const unknown = onceNames.filter((_, index) => done[[1, 7][index] ?? 0] === 'unknown')
  expect(done).toEqual(names.map((name) => (unknown.includes(name) ? 'unknown' : name)))
  // A call whose outcome is unknown has happened once, or not at all.
  const applied = ledger.applied.filter(({ name }) => !name.startsWith('look'))
  const happened = unknown.filter((name) => applied.some((each) => each.name === name))
  const certain = names.filter((name) => !name.startsWith('look') && !unknown.includes(name))
  expect(checkEffects(applied, [...certain, ...happened])).toMatchObject({ duplicates: [], lost: [] })
  if (crashes.length === 0 && lostWith === undefined) expect(unknown).toEqual([])
  expect(deaths()).toBe(crashes.length)
  expect(await remainingContainers(handle.workflowId)).toEqual([])
  await env.expectCleanEnd(handle)
}

const hits = {
  'effects.begin': [1, 2, 3, 4, 5, 6],
  'effects.stored': [1, 2, 3, 4, 5, 6],
  'tool.begins': [1, 3, 5, 8],
  'tool.ran': [1, 3, 5, 9],
  'step.begins': [2, 4, 6],
  'step.result': [2, 4, 6],
  'step.ends': [2, 4, 6],
} as const satisfies { readonly [Point in Failpoint]?: readonly number[] }

describeDocker('local calls with effects', () => {
  it('all effects happen once without faults', () => expectSurvives([]))

  it.each(Object.entries(hits).flatMap(([point, numbers]) => numbers.map((hit) => [point as Failpoint, hit] as const)))(
    'no effect is lost or doubled when a worker is killed at %s, hit %i',
    (point, hit) => expectSurvives([{ point, hit }]),
  )

  it.each(['a', 'c', 'g'])('no effect is lost or doubled when the container is killed during %s', (name) =>
    expectSurvives([], name),
  )

  it('no effect is lost or doubled when the next attempt dies, too', () =>
    expectSurvives([
      { point: 'tool.ran', hit: 3 },
      { point: 'step.begins', hit: 1 },
    ]))
})
