import { expect, test } from 'vitest'
import type { SampleRecord } from '../store/records.js'
import { compareArms, summarizeArm, summarizeEval } from './summarize.js'

const arm = { number: 0, name: 'm', model: 'm', system_file: null, digest: 'd' }

let position = 0

function sample(changes: Partial<SampleRecord>): SampleRecord {
  position += 1
  return {
    key: `k${position}`,
    position,
    task: 'a',
    task_digest: 'a1',
    arm: 0,
    repeat: 1,
    state: 'passed',
    attempt: 1,
    workflow_id: 'w',
    kind: null,
    reason: null,
    turns: 2,
    cells: 1,
    tool_calls: 1,
    input_tokens: 100,
    output_tokens: 10,
    cache_read_tokens: 50,
    cache_write_tokens: 5,
    cost_usd: 0.01,
    judge_cost_usd: 0,
    spent_usd: 0.01,
    reserved_usd: 0,
    milliseconds: 1_000,
    verified: 1,
    interrupted: 0,
    timed_out_at: null,
    started_at: 1,
    ended_at: 2,
    ...changes,
  }
}

test('only passed and failed samples are in rates and means, and every state is counted', () => {
  const summary = summarizeArm(arm, [
    sample({}),
    sample({ state: 'failed', kind: 'check', turns: 4, verified: 0, milliseconds: null, cost_usd: null }),
    sample({ state: 'error', kind: 'MODEL_AUTH', turns: 100, spent_usd: 0.5 }),
    sample({ state: 'judge_failed', kind: 'judge', turns: 100 }),
    sample({ state: 'not_run', kind: 'budget', turns: null }),
    sample({ state: 'running', turns: null, reserved_usd: 0.25, spent_usd: 0 }),
  ])
  expect(summary).toMatchObject({
    counts: { total: 6, passed: 1, failed: 1, errors: 1, judgeFailed: 1, notRun: 1, unfinished: 1 },
    passRate: 0.5,
    verifiedRate: 0.5,
    failures: { check: 1, MODEL_AUTH: 1, judge: 1, budget: 1 },
    metrics: {
      turns: { count: 2, mean: 3, total: 6 },
      inputTokens: { mean: 155 },
      // A sample that was interrupted has no time, and one with an unknown cost no cost.
      seconds: { count: 1, mean: 1, interval: null },
      costUsd: { count: 1, mean: 0.01 },
    },
  })
  expect(summary.passInterval?.low).toBeCloseTo(0.0945, 4)
  expect(summary.spentUsd).toBeCloseTo(0.01 + 0.01 + 0.5 + 0.01 + 0.01 + 0.25, 10)
})

test('an arm without a scored sample has no rate', () => {
  expect(summarizeArm(arm, [sample({ state: 'error', kind: 'INTERNAL' })])).toMatchObject({
    passRate: null,
    passInterval: null,
    verifiedRate: null,
    metrics: { turns: null, costUsd: null },
  })
})

test('a summary has a row for each task, with up to three reasons', () => {
  const record = {
    id: 'e',
    key: 'k',
    number: 1,
    label: '',
    version: 'v',
    repeats: 1,
    max_cost_usd: null,
    created_at: 0,
    finished_at: null,
    owner: null,
    owner_pid: null,
    owner_host: null,
    alive_at: null,
  }
  const failed = [1, 2, 3, 4].map((n) => sample({ state: 'failed', kind: 'check', reason: `reason ${n}` }))
  const { tasks, finishedAt } = summarizeEval(record, [arm], [...failed, sample({ task: 'b' })])
  expect(finishedAt).toBeNull()
  expect(tasks.map(({ task, reasons }) => [task, reasons.length])).toEqual([
    ['a', 3],
    ['b', 0],
  ])
})

function side(evalId: string, samples: readonly SampleRecord[]) {
  return { evalId, arm, samples }
}

test('a comparison covers the common tasks with equal files, and pairs means by task', () => {
  const first = side('1', [
    ...['a', 'b', 'c'].map((task, index) => sample({ task, task_digest: task, turns: index })),
    sample({ task: 'changed', task_digest: 'x1' }),
  ])
  const second = side('2', [
    ...['a', 'b', 'c'].map((task, index) => sample({ task, task_digest: task, turns: 2 * index + 1 })),
    sample({ task: 'changed', task_digest: 'x2' }),
    sample({ task: 'other', task_digest: 'o' }),
  ])
  const { tasks, leftOut, differences } = compareArms(first, second)
  expect([tasks, leftOut]).toEqual([
    ['a', 'b', 'c'],
    ['changed', 'other'],
  ])
  const turns = differences.find(({ metric }) => metric === 'turns')
  // The differences 1, 2 and 3 have the mean 2 and the standard deviation 1: 2 ± 4.302653 / √3.
  expect(turns).toMatchObject({ first: 1, second: 3, difference: 2, method: 'paired', isSignificant: false })
  expect(turns?.interval?.low).toBeCloseTo(2 - 4.302_653 / Math.sqrt(3), 5)
})

test('a difference is significant when its interval excludes zero', () => {
  const of = (passes: number) =>
    Array.from({ length: 30 }, (_, index) => sample({ state: index < passes ? 'passed' : 'failed', kind: 'check' }))
  const rateOf = (a: number, b: number) =>
    compareArms(side('1', of(a)), side('2', of(b))).differences.find(({ metric }) => metric === 'passRate')
  expect(rateOf(10, 25)).toMatchObject({ difference: 0.5, isSignificant: true, method: 'newcombe' })
  expect(rateOf(14, 16)).toMatchObject({ isSignificant: false })
  expect(rateOf(25, 10)?.interval?.high).toBeLessThan(0)
})
