import { expect, it } from 'vitest'
import type { PlanStepResult } from '../../../common/agent/task-modes.js'
import type { AnswerOutcome } from '../answer-outcome.js'
import { beginNextStep, describeEnd, describeStep, endStep, newPlan, runningStep } from './plan-steps.js'

const step = (id: string, ...dependsOn: readonly string[]) => ({ id, task: `Do ${id}.`, dependsOn })
const diamond = newPlan([step('join', 'left', 'right'), step('left', 'root'), step('right', 'root'), step('root')])

/**
 * Ends each step with its outcome in `outcomes`; the others are answered. Returns the steps, and the order of their
 * work.
 */
function work(steps: readonly PlanStepResult[], outcomes: Readonly<Record<string, AnswerOutcome>> = {}) {
  const order: string[] = []
  let now = beginNextStep(steps)
  for (let running = runningStep(now); running; running = runningStep(now)) {
    order.push(running.id)
    now = beginNextStep(endStep(now, outcomes[running.id] ?? { status: 'answered', answer: `${running.id} is done.` }))
  }
  return { order, steps: now }
}

it('steps of a plan are done after the steps on which they depend, in the order of the plan', () => {
  const { order, steps } = work(diamond)
  expect(order).toEqual(['root', 'left', 'right', 'join'])
  expect(steps.map(({ status }) => status)).toEqual(['done', 'done', 'done', 'done'])
})

it('steps that depend on a step without a result are skipped, and others are done', () => {
  const { order, steps } = work([...diamond, ...newPlan([step('after', 'join'), step('other')])], {
    left: { status: 'gave_up', answer: 'No access.' },
  })
  expect(order).toEqual(['root', 'left', 'right', 'other'])
  expect(Object.fromEntries(steps.map(({ id, status, result }) => [id, `${status}: ${result}`]))).toEqual({
    root: 'done: root is done.',
    left: 'gave_up: No access.',
    right: 'done: right is done.',
    join: 'skipped: step left has no result',
    after: 'skipped: step join has no result',
    other: 'done: other is done.',
  })
})

it('a step with any other end has failed, with the reason', () => {
  const { steps } = work(newPlan([step('a')]), { a: { status: 'turn_limit', answer: 'Half.' } })
  expect(steps).toMatchObject([{ status: 'failed', result: '[turn_limit] Half.' }])
})

it('the middle of long results of steps is left out', () => {
  const { steps } = work(newPlan([step('a')]), { a: { status: 'answered', answer: 'x'.repeat(10_000) } })
  expect(steps[0]?.result).toHaveLength(8_000 + '\n[... 2000 characters cut ...]\n'.length)
})

it('the model reads the results that a step needs, and at the end all results', () => {
  const { steps } = work(diamond)
  const [join, , right] = steps
  expect(describeStep(steps, join as PlanStepResult)).toBe(
    'Do step join now, and only this step: Do join.\n\nThe results that it needs:\n\n' +
      '[left: done]\nleft is done.\n\n[right: done]\nright is done.',
  )
  expect(describeStep(steps, { ...(right as PlanStepResult), dependsOn: [] })).toBe(
    'Do step right now, and only this step: Do right.',
  )
  for (const { id } of diamond) expect(describeEnd(steps)).toContain(`[${id}: done]\n${id} is done.`)
})
