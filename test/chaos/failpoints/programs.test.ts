import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import type { Failpoint } from '../../../src/common/failpoint.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { scheduledCount } from '../../support/environment/waits.js'
import { temporaryFolder } from '../../support/folders.js'
import { noModel } from '../../support/script.js'
import { backendEnvironment, startCrashingWorkers } from '../support/crashing-workers.js'
import type { Crash } from '../support/failpoint-crashes.js'
import { checkEffects, remainingContainers } from '../support/oracle.js'

const config = fileURLToPath(new URL('../../fixtures/ledger.config.ts', import.meta.url))

/** The activity that opens the session executes the first step, and the activity of the last call removes the sandbox. */
const program = 'print((await charge(name="a"))["done"], (await charge(name="b"))["done"])'

/** @param sandboxes how many sandboxes the run opens. Undefined: that depends on which worker gets what */
async function expectSurvives(crashes: readonly Crash[], sandboxes?: number): Promise<void> {
  const store = await temporaryFolder()
  const { env, ledger, deaths } = await startCrashingWorkers(crashes, {
    config,
    script: noModel,
    store,
    environment: backendEnvironment('docker', store),
  })
  const handle = await env.startProgram(program, { tools: ['charge'] })
  expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: 'a b\n' } })
  expect(checkEffects(ledger.applied, ['a', 'b'])).toMatchObject({ duplicates: [], lost: [] })
  expect(deaths()).toBe(crashes.length)
  if (sandboxes !== undefined) expect(await scheduledCount(handle, 'session.open')).toBe(sandboxes)
  if (crashes.length === 0)
    for (const merged of ['session.step', 'session.close']) expect(await scheduledCount(handle, merged)).toBe(0)
  expect(await remainingContainers(handle.workflowId)).toEqual([])
  await env.expectCleanEnd(handle)
}

const firstStep = ['open.begins', 'container.created', 'container.started', 'open.ends', 'step.begins'] as const
const begun = ['frame.sent', 'step.result', 'step.ends'] as const

describeDocker('the activities that open and close the session of a program', () => {
  it('a program without faults needs no other activity for its first step and its end', () => expectSurvives([], 1))

  it.each<Failpoint>([...firstStep, ...begun])(
    'the sandbox is used after a worker is killed at %s, hit 1, of the first step',
    (point) => expectSurvives([{ point, hit: 1 }], 1),
  )

  it.each<[Failpoint, number]>([
    ['step.result', 3],
    ['step.ends', 3],
    ['close.begins', 1],
  ])('the sandbox is removed after a worker is killed at %s, hit %i, of the last step', (point, hit) =>
    expectSurvives([{ point, hit }], 1),
  )

  it('the session is rebuilt when a worker has removed the sandbox and is killed before the result is recorded', () =>
    expectSurvives([{ point: 'close.ends', hit: 1 }], 2))

  it('the program survives when the next attempts die, too', () =>
    expectSurvives([
      { point: 'step.ends', hit: 1 },
      { point: 'open.ends', hit: 1 },
      { point: 'close.ends', hit: 1 },
      { point: 'step.repeated', hit: 1 },
    ]))
})
