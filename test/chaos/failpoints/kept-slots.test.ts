import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import type { Failpoint } from '../../../src/common/failpoint.js'
import { activityNames, limiterOf } from '../../../src/common/names.js'
import { scheduledCount } from '../../support/environment/waits.js'
import { temporaryFolder } from '../../support/folders.js'
import { answerResult, code, turn } from '../../support/script.js'
import { startCrashingWorkers } from '../support/crashing-workers.js'
import type { Crash } from '../support/failpoint-crashes.js'
import { expectLimitedRunsReplay } from '../support/limited-runs.js'

const config = fileURLToPath(new URL('../../fixtures/locks.config.ts', import.meta.url))

const loop = (name: string, count: number) => `
for n in range(${count}):
    await add_singly(path="lines", line=f"${name} {n}")`

/** Loops in an agent alone, which keeps its slot, then in the agent and two clones, which take turns. */
const source = `
import asyncio
${loop('first', 3)}
await asyncio.gather(
    subagent(task="a"), subagent(task="b"), *(add_singly(path="lines", line=f"own {n}") for n in range(4)))
${loop('last', 3)}
print(len(await read_lines(path="lines")))`

const cloneTurns = (task: string) => [turn(code(`${loop(task, 3)}\nprint("done")`)), answerResult]

const script = {
  conversations: [
    { match: { firstUserText: { equals: 'go' } }, turns: [turn(code(source)), answerResult] },
    { match: { firstUserText: { equals: 'a' } }, turns: cloneTurns('a') },
    { match: { firstUserText: { equals: 'b' } }, turns: cloneTurns('b') },
  ],
}

/** The tool loses lines when two of its calls run at once. */
async function expectSurvives(...crashes: readonly Crash[]): Promise<void> {
  const store = join(await temporaryFolder(), 'values')
  const { env, deaths } = await startCrashingWorkers(crashes, { config, script, store })
  const limiter = limiterOf(env.taskQueue, { name: 'add_singly' })
  const handle = await env.startAgent()
  expect(await env.agentResult(handle)).toMatchObject({ status: 'answered', answer: '16', toolCalls: 13 })
  expect(deaths()).toBe(crashes.length)
  expect(await scheduledCount(handle, activityNames.requestSlot)).toBeLessThan(10)
  await expectLimitedRunsReplay(env, handle, limiter)
}

it('calls of an agent and its clones with kept slots lose nothing without faults', () => expectSurvives())

it.each([
  ['tool.begins', 2],
  ['tool.ran', 2],
  ['tool.ends', 3],
  ['step.begins', 3],
  ['step.ends', 3],
  ['tool.begins', 7],
  ['tool.ran', 8],
  ['tool.ends', 13],
] as const satisfies readonly (readonly [Failpoint, number])[])(
  'calls of an agent and its clones with kept slots lose nothing when a worker is killed at %s, hit %i',
  (point, hit) => expectSurvives({ point, hit }),
)
