import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import type { Failpoint } from '../../../src/common/failpoint.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { childWorkflowIds, executionHistories, expectReplays } from '../../support/environment/histories.js'
import { temporaryFolder } from '../../support/folders.js'
import { answerResult, call, code, turn } from '../../support/script.js'
import { startCrashingWorkers } from '../support/crashing-workers.js'
import type { Crash } from '../support/failpoint-crashes.js'
import { checkEffects, corruptValues, remainingContainers, remainingProcesses } from '../support/oracle.js'

const config = fileURLToPath(new URL('../../fixtures/subagents.config.ts', import.meta.url))

/** Two parallel sub-agents from code, then one together with a direct call. Each charges in code and directly. */
const chiefTurns = [
  turn(
    code(`
import asyncio
await charge(name="begin")
done = await asyncio.gather(clerk(task="a"), clerk(task="b"))
await charge(name="end")
print(",".join(done))`),
  ),
  turn(call('clerk', { task: 'c' }), call('charge', { name: 'direct' })),
  turn(code('print(",".join(done))')),
  answerResult,
]

const clerkTurns = (task: string) => [
  turn(code(`print((await charge(name="${task}1"))["done"])`)),
  turn(call('charge', { name: `${task}2` })),
  turn(code(`print("${task} is done")`)),
  answerResult,
]

const script = {
  conversations: [
    { match: { firstUserText: { equals: 'go' } }, turns: chiefTurns },
    ...['a', 'b', 'c'].map((task) => ({ match: { firstUserText: { equals: task } }, turns: clerkTurns(task) })),
  ],
}

const effects = ['begin', 'end', 'direct', 'a1', 'a2', 'b1', 'b2', 'c1', 'c2']

/** Runs the scenario. Expects the same answer, each effect and each sub-agent once, and no remains. */
async function expectSurvives(...crashes: readonly Crash[]): Promise<void> {
  const store = await temporaryFolder()
  const { env, ledger, deaths } = await startCrashingWorkers(crashes, { config, script, store })
  const handle = await env.startAgent({ agent: 'chief', budget: { turns: 60 } })
  const result = await env.agentResult(handle)
  const chain = await executionHistories(env.client, handle)
  const children = childWorkflowIds(chain)
  const containers = (await Promise.all([handle.workflowId, ...children].map(remainingContainers))).flat()
  const last = await env.workers.endRestarts()
  await last.shutdown()
  expect(await last.waitForExit(), last.log).toBe(0)

  const verdict = {
    ...checkEffects(ledger.applied, effects),
    leaks: [...containers, ...remainingProcesses(env.taskQueue), ...corruptValues(store, deaths())],
  }
  expect(verdict, last.log).toMatchObject({ duplicates: [], lost: [], leaks: [] })
  expect(result).toMatchObject({ status: 'answered', answer: 'a is done,b is done', turns: 4, cells: 2, toolCalls: 6 })
  expect(result.subagents).toEqual({ runs: 3, turns: 12, cells: 6, toolCalls: 6 })
  expect(new Set(children).size).toBe(3)
  expect(children).toHaveLength(3)
  expect(deaths()).toBe(crashes.length)
  for (const workflowId of [handle.workflowId, ...children])
    await expectReplays(env.client, env.client.workflow.getHandle(workflowId))
}

describeDocker('sub-agents', () => {
  it('sub-agents answer without faults', () => expectSurvives())

  it.each([
    ['config.loaded', 2],
    ['model.begins', 3],
    ['model.replied', 4],
    ['turn.stored', 5],
    ['container.started', 2],
    ['tool.ran', 3],
    ['step.result', 4],
    ['close.begins', 1],
    ['close.ends', 2],
  ] as const satisfies readonly (readonly [Failpoint, number])[])(
    'sub-agents survive kill -9 at %s, hit %i',
    (point, hit) => expectSurvives({ point, hit }),
  )
})
