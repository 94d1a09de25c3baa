import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { createPtcClient } from '../../../src/client/index.js'
import type { Failpoint } from '../../../src/common/failpoint.js'
import { EvalStore } from '../../../src/evals/index.js'
import type { RecordedRequest } from '../../../src/testing/scripted-messages-api/request-log.js'
import { EvalProject, task } from '../../support/evals/eval-project.js'
import { answerResult, call, code, text, turn } from '../../support/script.js'
import { connectClient } from '../../support/temporal/shared-server.js'
import { FailpointCrashes, killAtFailpoint } from '../support/failpoint-crashes.js'

const answered = {
  'computed.yaml': task('Question computed?'),
  'plain.yaml': task('Question plain?'),
}

/** A run that waits for its tool at its time limit needs no sandbox: a busy machine does not change its verdict. */
const endless = {
  'endless.yaml': task(
    'Question endless?',
    'setup: { module: endless.ts }\ncheck: [{ contains: 42 }]\nlimits: { seconds: 15 }',
  ),
  'endless.ts': `import { defineTool } from 'durable-ptc'
import { z } from 'zod'
export const tools = [defineTool({
  name: 'wait_forever', description: 'Waits.', input: z.object({}), output: z.string(), effect: 'read',
  allowedCallers: ['direct'],
  run: (_, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
})]
`,
}

const script = {
  conversations: [
    { match: { firstUserText: 'Question plain?' }, turns: [turn(text('It is 42.'))] },
    { match: { firstUserText: 'Question endless?' }, turns: [turn(call('wait_forever')), answerResult] },
    { turns: [turn(code('print(6 * 7)')), answerResult] },
  ],
}

/** Turns of the model in an eval without a crash. */
const turns = { computed: 2, plain: 1, endless: 1 }

const results = z.object({ counts: z.record(z.string(), z.number()), finishedAt: z.string() })

function turnOf({ body, assistantMessages }: RecordedRequest): string {
  const name = /Question (\w+)\?/.exec(JSON.stringify(body))?.[1] ?? ''
  return `${name} ${(assistantMessages ?? 0) + 1}`
}

/** The turns whose replies are in the histories of the runs of an eval. */
async function recordedTurns(path: string): Promise<readonly string[]> {
  using store = await EvalStore.open(path)
  const client = createPtcClient({ client: await connectClient() })
  const started = store.evals(1).flatMap(({ id }) => store.samples(id).filter((each) => each.workflow_id !== null))
  const recorded = started.map(async ({ task: name, workflow_id: id }) => {
    // A sample that is recorded may not have begun.
    const tree = await client
      .handle(id ?? '')
      .tree()
      .catch(() => undefined)
    return (tree?.turns ?? []).flatMap(({ number, model }) => (model?.status === 'ok' ? [`${name} ${number}`] : []))
  })
  return (await Promise.all(recorded)).flat()
}

it.concurrent.each([
  ['eval.reserved', 1],
  ['eval.reserved', 2],
  ['eval.started', 1],
  ['eval.started', 2],
  ['eval.ended', 1],
  ['eval.ended', 2],
  ['eval.timed_out', 1],
  ['step.ends', 1],
  ['model.replied', 1],
  ['model.replied', 3],
] satisfies [Failpoint, number][])(
  'an eval whose process is killed at %s, hit %i, has the same results, and requests exactly the missing replies',
  async (point, hit) => {
    const files = point === 'eval.timed_out' ? { ...answered, ...endless } : answered
    const names = (['computed', 'plain', 'endless'] as const).filter((name) => Object.hasOwn(files, `${name}.yaml`))
    const paths = names.map((name) => `${name}.yaml`)
    const folder = await mkdtemp(join(tmpdir(), 'ptc-failpoints-'))
    // Of this test: a folder of the file may be removed when another test that runs at the same time ends.
    await using _ = { [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) }
    const crashes = new FailpointCrashes([{ point, hit }], folder)
    const environment = Object.entries(crashes.environment(0)).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    )
    await using evals = await EvalProject.create(files, script, {
      ...Object.fromEntries(environment),
      NODE_OPTIONS: `--import ${killAtFailpoint}`,
    })
    const killed = await evals.run(...paths)
    expect(killed.code, killed.stderr).toBeUndefined()
    expect(crashes.hits.filter(({ crashed }) => crashed)).toHaveLength(1)
    const recorded = await recordedTurns(evals.results)
    const requestsBefore = evals.api.requests.length

    const resumed = await evals.runWith({ PTC_FAILPOINT: '' }, ...paths, '--json')
    const failed = names.includes('endless') ? 1 : 0
    expect(resumed.code, resumed.stderr).toBe(failed)
    expect(resumed.stderr).toContain('continuing ')
    const { counts } = results.parse(JSON.parse(resumed.stdout))
    expect(counts).toEqual({
      total: names.length,
      passed: 2,
      failed,
      errors: 0,
      judgeFailed: 0,
      notRun: 0,
      unfinished: 0,
    })
    // A reply on its way at the kill is requested again; one in a history is not, and none is requested twice.
    const all = names.flatMap((name) => Array.from({ length: turns[name] }, (_, index) => `${name} ${index + 1}`))
    const requested = evals.api.requests.slice(requestsBefore).map(turnOf)
    expect(requested.toSorted()).toEqual(all.filter((each) => !recorded.includes(each)).toSorted())

    using store = await EvalStore.open(evals.results)
    const [latest, ...others] = store.evals(2)
    expect(others).toEqual([])
    const samples = store.samples(latest?.id ?? '').map((each) => [each.task, [each.kind, each.attempt, each.turns]])
    expect(Object.fromEntries(samples)).toEqual(
      Object.fromEntries(names.map((name) => [name, [name === 'endless' ? 'timed_out' : null, 1, turns[name]]])),
    )
  },
)
