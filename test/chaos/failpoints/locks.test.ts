import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import type { Failpoint } from '../../../src/common/failpoint.js'
import { limiterOf } from '../../../src/common/names.js'
import { temporaryFolder } from '../../support/folders.js'
import { answerResult, code, turn } from '../../support/script.js'
import { startCrashingWorkers } from '../support/crashing-workers.js'
import type { Crash } from '../support/failpoint-crashes.js'
import { expectLimitedRunsReplay } from '../support/limited-runs.js'

const config = fileURLToPath(new URL('../../fixtures/locks.config.ts', import.meta.url))

/** Two clones, and the agent itself, add lines to one file at the same time, and one of them to another file. */
const source = `
import asyncio
await asyncio.gather(
    subagent(task="a"), subagent(task="b"), *(add_line(path="shared", line=f"own {n}") for n in range(3)))
print(sorted(await read_lines(path="shared")), await read_lines(path="other"))`

const cloneTurns = (task: string, ...paths: readonly string[]) => [
  turn(
    code(paths.map((path, n) => `await add_line(path="${path}", line="${task} ${n}")`).join('\n') + '\nprint("done")'),
  ),
  answerResult,
]

const script = {
  conversations: [
    { match: { firstUserText: { equals: 'go' } }, turns: [turn(code(source)), answerResult] },
    { match: { firstUserText: { equals: 'a' } }, turns: cloneTurns('a', 'shared', 'shared') },
    { match: { firstUserText: { equals: 'b' } }, turns: cloneTurns('b', 'shared', 'other') },
  ],
}

async function expectSurvives(...crashes: readonly Crash[]): Promise<void> {
  const store = join(await temporaryFolder(), 'values')
  const { env, deaths } = await startCrashingWorkers(crashes, { config, script, store })
  const limiter = limiterOf(env.taskQueue, { name: 'add_line', lock: {} })
  const handle = await env.startAgent()
  const result = await env.agentResult(handle)
  expect(result).toMatchObject({
    status: 'answered',
    answer: "['a 0', 'a 1', 'b 0', 'own 0', 'own 1', 'own 2'] ['b 1']",
    toolCalls: 7,
    subagents: { runs: 2, toolCalls: 4 },
  })
  expect(deaths()).toBe(crashes.length)
  await expectLimitedRunsReplay(env, handle, limiter)
}

it('calls of an agent and its clones with one lock lose nothing without faults', () => expectSurvives())

it.each([
  ['config.loaded', 2],
  ['model.replied', 2],
  ['step.result', 1],
  ['step.ends', 2],
  ['tool.begins', 1],
  ['tool.begins', 4],
  ['tool.ran', 1],
  ['tool.ran', 3],
  ['tool.ends', 2],
] as const satisfies readonly (readonly [Failpoint, number])[])(
  'calls of an agent and its clones with one lock lose nothing when a worker is killed at %s, hit %i',
  (point, hit) => expectSurvives({ point, hit }),
)
