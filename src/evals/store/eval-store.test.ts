import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { SampleEnd } from '../samples/sample.js'
import { EvalStore, type PlannedEval } from './eval-store.js'
import { openDatabase } from './open-database.js'

const planned: PlannedEval = {
  key: 'f'.repeat(32),
  label: '',
  version: 'v1',
  repeats: 1,
  maxCostUsd: 1,
  arms: [{ name: 'm', model: 'm', digest: 'd' }],
  samples: ['a', 'b', 'c'].map((key) => ({ key, task: key, taskDigest: key, arm: 0, repeat: 1 })),
}

async function fileOfResults(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ptc-evals-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return join(folder, 'evals.db')
}

const usage = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4 }

function endWith(costUsd: number | null, changes: Partial<SampleEnd> = {}): SampleEnd {
  const used = { turns: 1, cells: 1, toolCalls: 1, usage, costUsd }
  return {
    state: 'passed',
    used,
    judgeCostUsd: 0,
    hasUnknownCost: costUsd === null,
    milliseconds: 5,
    verified: true,
    ...changes,
  }
}

const run = (reservedUsd: number) => ({ attempt: 1, workflowId: 'w', reservedUsd })

test('a sample starts only when its reservation fits beside what is spent and reserved', async () => {
  using store = await EvalStore.open(':memory:')
  const { id } = store.begin(planned, false)
  expect(store.start(id, 'a', run(0.6))).toBe(true)
  expect(store.start(id, 'b', run(0.6))).toBe(false)
  store.finish(id, 'a', endWith(0.1))
  expect(store.start(id, 'b', run(0.6))).toBe(true)
  expect(store.start(id, 'c', run(0.4))).toBe(false)
  store.refuse(id, 'c')
  expect(store.samples(id).map(({ state, kind }) => [state, kind])).toEqual([
    ['passed', null],
    ['running', null],
    ['not_run', 'budget'],
  ])
})

test('an unknown cost counts as the whole reservation, and each attempt counts', async () => {
  using store = await EvalStore.open(':memory:')
  const { id } = store.begin(planned, false)
  store.start(id, 'a', run(0.4))
  store.finish(id, 'a', endWith(null, { state: 'error', kind: 'MODEL_TIMEOUT' }))
  store.start(id, 'a', { ...run(0.4), attempt: 2 })
  store.finish(id, 'a', endWith(0.25, { judgeCostUsd: 0.05 }))
  const [sample] = store.samples(id)
  expect(sample).toMatchObject({ state: 'passed', attempt: 2, cost_usd: 0.25, reserved_usd: 0 })
  expect(sample?.spent_usd).toBeCloseTo(0.7, 10)
})

test('an eval that was interrupted continues under its id, and one that is finished does not', async () => {
  const path = await fileOfResults()
  const first = await EvalStore.open(path)
  const { id, isResumed } = first.begin(planned, false)
  expect(isResumed).toBe(false)
  first.start(id, 'a', run(0.1))
  first.timeOut(id, 'a')
  // As after a kill -9 of another process: the lease names a process that has ended.
  const database = await openDatabase(path)
  database.prepare('UPDATE evals SET owner_pid = ?').run(2 ** 22 + 1)
  database.close()
  first[Symbol.dispose]()
  using second = await EvalStore.open(path)
  expect(second.begin(planned, false)).toEqual({ id, isResumed: true })
  const [sample] = second.samples(id)
  expect(sample).toMatchObject({ state: 'running', interrupted: 1, workflow_id: 'w', timed_out_at: expect.any(Number) })
  second.finish(id, 'a', endWith(0.1))
  expect(second.samples(id)[0]).toMatchObject({ state: 'passed', milliseconds: null })
  for (const key of ['b', 'c']) {
    second.start(id, key, run(0.1))
    second.finish(id, key, endWith(0.1))
  }
  second.end(id)
  expect(second.requireEval(id.slice(0, 8)).finished_at).toEqual(expect.any(Number))
  const next = second.begin(planned, false)
  expect(next).toEqual({ id: expect.stringMatching(/^[0-9a-f]{10}$/), isResumed: false })
  expect(next.id).not.toBe(id)
})

test('two processes never work on one eval', async () => {
  const path = await fileOfResults()
  using first = await EvalStore.open(path)
  using second = await EvalStore.open(path)
  const { id } = first.begin(planned, false)
  expect(() => second.begin(planned, false)).toThrow(expect.objectContaining({ code: 'EVAL_BUSY' }))
  expect(() => second.keepAlive(id)).toThrow(expect.objectContaining({ code: 'EVAL_BUSY' }))
  first.keepAlive(id)
  const other = second.begin(planned, true)
  expect(other.isResumed).toBe(false)
  first.end(id)
  expect(new Set(first.evals(10).map(({ id: each }) => each))).toEqual(new Set([other.id, id]))
})

test('results of a newer version are refused, and a file that is no database too', async () => {
  const path = await fileOfResults()
  const database = await openDatabase(path)
  database.pragma('user_version = 99')
  database.close()
  await expect(EvalStore.open(path)).rejects.toMatchObject({
    code: 'EVAL_STORE_UNAVAILABLE',
    message: expect.stringContaining('newer version'),
  })
  await expect(EvalStore.open(import.meta.filename)).rejects.toMatchObject({ code: 'EVAL_STORE_UNAVAILABLE' })
  using store = await EvalStore.open(':memory:')
  expect(() => store.requireEval('%')).toThrow(expect.objectContaining({ code: 'EVAL_NOT_FOUND' }))
})

test('the same eval in two databases has two ids: on one server, their runs never meet', async () => {
  using first = await EvalStore.open(':memory:')
  using second = await EvalStore.open(':memory:')
  expect(first.begin(planned, false).id).not.toBe(second.begin(planned, false).id)
})
