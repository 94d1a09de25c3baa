import { expect, it } from 'vitest'
import type { Failpoint } from '../../../src/common/failpoint.js'
import { EvalProject, task } from '../../support/evals/eval-project.js'
import { temporaryFolder } from '../../support/folders.js'
import { answerResult, code, text, turn } from '../../support/script.js'
import { FailpointCrashes, killAtFailpoint } from '../support/failpoint-crashes.js'

const files = {
  'computed.yaml': task('Question computed?'),
  'plain.yaml': task('Question plain?'),
  'endless.yaml': task('Question endless?', 'check: [{ contains: 42 }]\nlimits: { seconds: 8 }'),
}

const script = {
  conversations: [
    { match: { firstUserText: 'Question plain?' }, turns: [turn(text('It is 42.'))] },
    {
      match: { firstUserText: 'Question endless?' },
      turns: [turn(code('import asyncio\nwhile True: await asyncio.sleep(1)')), answerResult],
    },
    { turns: [turn(code('print(6 * 7)')), answerResult] },
  ],
}

/** Requests of an eval without a crash. */
const requests = 4

/** A reply that is on its way when the process is killed is requested again: at most one of each run. */
const repeated = Object.keys(files).length

it.each([
  ['eval.reserved', 1],
  ['eval.reserved', 3],
  ['eval.started', 1],
  ['eval.started', 3],
  ['eval.ended', 1],
  ['eval.ended', 3],
  ['eval.timed_out', 1],
  ['step.ends', 1],
  ['model.replied', 1],
  ['model.replied', 3],
] satisfies [Failpoint, number][])(
  'an eval whose process is killed at %s, hit %i, has the same results, and repeats no recorded reply',
  async (point, hit) => {
    const crashes = new FailpointCrashes([{ point, hit }], await temporaryFolder())
    const environment = Object.entries(crashes.environment(0)).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    )
    await using evals = await EvalProject.create(files, script, {
      ...Object.fromEntries(environment),
      NODE_OPTIONS: `--import ${killAtFailpoint}`,
    })
    const paths = Object.keys(files)
    const killed = await evals.run(...paths)
    expect(killed.code, killed.stderr).toBeUndefined()
    expect(crashes.hits.filter(({ crashed }) => crashed)).toHaveLength(1)

    const resumed = await evals.runWith({ PTC_FAILPOINT: '' }, ...paths)
    expect(resumed.code, resumed.stderr).toBe(1)
    expect(resumed.stderr).toContain('continuing ')
    const { counts, samples, finishedAt } = await evals.latest()
    expect(counts).toEqual({ total: 3, passed: 2, failed: 1, errors: 0, judgeFailed: 0, notRun: 0, unfinished: 0 })
    expect(finishedAt).not.toBeNull()
    expect(samples.find(({ state }) => state === 'failed')).toMatchObject({ task: 'endless', kind: 'timed_out' })
    expect(samples.every(({ attempt }) => attempt === 1)).toBe(true)
    expect(evals.api.requests.length).toBeGreaterThanOrEqual(requests)
    expect(evals.api.requests.length).toBeLessThanOrEqual(requests + repeated)
  },
)
