import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import type { Failpoint } from '../../../src/common/failpoint.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { killContainersOf } from '../../support/environment/containers.js'
import { temporaryFolder } from '../../support/folders.js'
import { answerResult, call, turn } from '../../support/script.js'
import { startCrashingWorkers } from '../support/crashing-workers.js'
import type { Crash } from '../support/failpoint-crashes.js'
import { checkEffects, corruptValues, remainingContainers, remainingProcesses } from '../support/oracle.js'

const config = fileURLToPath(new URL('../../fixtures/held-sessions.config.ts', import.meta.url))

const code = (source: string, session?: string) =>
  call('execute_code', { code: source, ...(session !== undefined && { session }) })

const script = [
  turn(code('done = [(await charge(name="a"))["done"]]')),
  turn(
    code('import os\ndone = [open("/tmp/in/f").read(), (await charge(name="b"))["done"]]', 'etl'),
    code('const done = [(await charge({ name: "c" })).done]', 'web'),
  ),
  turn(
    code(
      'done.append((await charge(name="d"))["done"])\nos.makedirs("/tmp/out", exist_ok=True)\nopen("/tmp/out/r", "w").write(str(done))',
      'etl',
    ),
    code('done.push((await charge({ name: "e" })).done); console.log(done.join())', 'web'),
  ),
  turn(code('print(",".join(done), open("/tmp/out/r").read())', 'etl')),
  answerResult,
]

/** @param lostWith the effect during which all containers of the session with that effect are killed */
async function expectSurvives(crashes: readonly Crash[], lostWith?: string): Promise<void> {
  const store = await temporaryFolder()
  const { env, ledger, deaths } = await startCrashingWorkers(crashes, { config, script, store })
  if (lostWith !== undefined) ledger.holdReplies(lostWith)
  const run = await env.ptc.startAgent({ agent: 'analyst', question: 'go', files: [{ data: 'up', path: 'f' }] })
  const owners = async (): Promise<readonly string[]> => {
    const { turns } = await run.tree()
    return [...new Set(turns.flatMap(({ cells }) => cells).flatMap(({ owner }) => owner?.workflowId ?? []))]
  }
  if (lostWith !== undefined) {
    await ledger.waitForRequests(lostWith)
    const killed = await Promise.all((await owners()).map((id) => killContainersOf(id)))
    expect(killed.reduce((sum, each) => sum + each, 0)).toBeGreaterThan(0)
    ledger.releaseReplies(lostWith)
  }
  const result = await run.result()
  const workflows = [run.workflowId, ...(await owners())]
  expect(workflows).toHaveLength(3)
  for (const id of workflows) await env.client.workflow.getHandle(id).result()
  const containers = (await Promise.all(workflows.map((id) => remainingContainers(id)))).flat()
  const last = await env.workers.endRestarts()
  await last.shutdown()
  expect(await last.waitForExit(), last.log).toBe(0)
  const verdict = {
    ...checkEffects(ledger.applied, ['a', 'b', 'c', 'd', 'e']),
    leaks: [...containers, ...remainingProcesses(env.taskQueue), ...corruptValues(store, deaths())],
  }
  expect(verdict, last.log).toMatchObject({ duplicates: [], lost: [], leaks: [] })
  expect(result).toMatchObject({ status: 'answered', answer: "up,b,d ['up', 'b', 'd']", cells: 6, toolCalls: 5 })
  expect(deaths()).toBe(crashes.length)
  for (const id of workflows) await env.expectCleanEnd(env.sessionHandle(id, id))
}

describeDocker('further sandboxes of a run', () => {
  it.each([
    ['session.started', 1],
    ['session.started', 2],
    ['config.loaded', 2],
    ['container.started', 2],
    ['tool.ran', 2],
    ['tool.ran', 4],
    ['step.result', 3],
    ['files.stored', 1],
    ['close.begins', 1],
    ['close.ends', 2],
  ] as const satisfies readonly (readonly [Failpoint, number])[])(
    'a run and its sandboxes survive kill -9 at %s, hit %i',
    (point, hit) => expectSurvives([{ point, hit }]),
  )

  it.each(['b', 'e'])('a run survives the loss of its sandboxes during effect %s', (effect) =>
    expectSurvives([], effect),
  )
})
