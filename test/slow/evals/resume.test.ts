import { expect, test, vi } from 'vitest'
import { createPtcClient } from '../../../src/client/index.js'
import { EvalStore } from '../../../src/evals/index.js'
import { EvalProject, task } from '../../support/evals/eval-project.js'
import { pollOptions } from '../../support/poll-options.js'
import { code, text, turn } from '../../support/script.js'
import { connectClient } from '../../support/temporal/shared-server.js'

const script = [
  turn(code('import asyncio\nawait asyncio.sleep(20)\nprint(42)')),
  turn(text('It is {{last_tool_result}}')),
]

const names = ['a', 'b', 'c', 'd']
const files = Object.fromEntries(names.map((name) => [`${name}.yaml`, task(`Question ${name}?`)]))

test('after kill -9 the same command attaches to the runs: the same totals, and no model turn is repeated', async () => {
  await using evals = await EvalProject.create(files, script)
  const paths = names.map((name) => `${name}.yaml`)
  const killed = evals.start(...paths, '--concurrency', '3')
  await killed.waitForOutput(/4 samples/)
  const client = createPtcClient({ client: await connectClient() })
  // Three runs wait in their code: each has its first reply in its history.
  const isWaiting = async (workflowId: string) => {
    const tree = await client.handle(workflowId).tree()
    return tree.turns[0]?.model?.status === 'ok' && tree.turns[0].cells.length === 1
  }
  using store = await EvalStore.open(evals.results)
  const running = () => store.evals(1).flatMap(({ id }) => store.samples(id).flatMap((each) => each.workflow_id ?? []))
  await vi.waitUntil(async () => {
    const ids = running()
    return ids.length === 3 && (await Promise.all(ids.map((id) => isWaiting(id).catch(() => false)))).every(Boolean)
  }, pollOptions)
  killed.signal('SIGKILL')
  await killed.result
  expect(evals.api.requests).toHaveLength(3)
  const interrupted = await evals.latest()
  expect(interrupted.counts).toMatchObject({ passed: 0, unfinished: 4 })

  const resumed = await evals.run(...paths, '--concurrency', '3')
  expect(resumed, resumed.stderr).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(`continuing ${interrupted.id}`),
  })
  expect(evals.api.requests).toHaveLength(2 * names.length)
  const { counts, samples, finishedAt } = await evals.show(interrupted.id)
  expect(counts).toMatchObject({ total: 4, passed: 4, failed: 0, errors: 0, unfinished: 0 })
  expect(finishedAt).not.toBeNull()
  expect(samples.every(({ attempt }) => attempt === 1)).toBe(true)
  expect(samples.filter((each) => each.interrupted === 1).map(({ milliseconds }) => milliseconds)).toEqual([
    null,
    null,
    null,
  ])
  expect(new Set(samples.map(({ cost_usd: cost }) => cost)).size).toBe(1)
})
