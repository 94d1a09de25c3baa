import { expect, test } from 'vitest'
import { planEval, workflowIdOf } from './run-eval.js'
import type { EvalArm } from './samples/sample.js'
import type { EvalTask } from './tasks/load-tasks.js'

const tasks = ['a', 'b', 'c', 'd'].map((name) => ({ name, digest: `digest of ${name}` }) as EvalTask)
const arm: EvalArm = { name: 'm', model: 'm', digest: 'c1' }
const plan = { label: '', version: 'v1', repeats: 3, maxCostUsd: undefined, arms: [arm, { ...arm, model: 'n' }] }

test('each repeat of each task and model is a sample with a key and a run of its own', () => {
  const { samples } = planEval(plan, tasks)
  expect(samples).toHaveLength(4 * 2 * 3)
  expect(new Set(samples.map(({ key }) => key)).size).toBe(samples.length)
  const ids = samples.flatMap((sample) => [1, 2].map((attempt) => workflowIdOf('e-1', sample, attempt)))
  expect(new Set(ids).size).toBe(2 * samples.length)
})

test('the order follows neither tasks nor models, and is the same each time', () => {
  const orderOf = () => planEval(plan, tasks).samples.map(({ task, arm: number }) => `${task}${number}`)
  expect(orderOf()).toEqual(orderOf())
  expect(orderOf()).not.toEqual(orderOf().toSorted())
  expect(new Set(orderOf().slice(0, 12)).size).toBeGreaterThan(4)
})

test('everything that decides on results is in the key of an eval, and the maximum cost is not', () => {
  const keyOf = (changes: Partial<typeof plan>, of = tasks) => planEval({ ...plan, ...changes }, of).key
  expect(keyOf({ maxCostUsd: undefined })).toBe(keyOf({}))
  const others = [
    keyOf({ label: 'other' }),
    keyOf({ version: 'v2' }),
    keyOf({ repeats: 2 }),
    keyOf({ arms: [arm] }),
    keyOf({
      arms: [
        { ...arm, digest: 'c2' },
        { ...arm, model: 'n' },
      ],
    }),
    keyOf({}, tasks.slice(1)),
    keyOf({}, [{ name: 'a', digest: 'changed' } as EvalTask, ...tasks.slice(1)]),
  ]
  expect(new Set([keyOf({}), ...others]).size).toBe(others.length + 1)
})
