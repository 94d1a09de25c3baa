import { expect, it } from 'vitest'
import { checkPlan } from './check-plan.js'

const step = (id: string, ...dependsOn: readonly string[]) => ({ id, task: `Do ${id}.`, dependsOn })

it('a plan may have its steps in any order, and names each dependency once', () => {
  const steps = [step('d', 'b', 'c', 'b'), step('b', 'a'), step('c', 'a'), { id: 'a', task: 'Do a.' }]
  expect(checkPlan({ steps })).toEqual({
    type: 'plan',
    steps: [step('d', 'b', 'c'), step('b', 'a'), step('c', 'a'), step('a')],
  })
})

it.each([
  [{}, '- steps: expected array'],
  [{ steps: [] }, '- steps: Too small'],
  [{ steps: [{ id: 'a b', task: 'x' }] }, '- steps[0].id'],
  [{ steps: [{ id: 'a', task: '' }] }, '- steps[0].task'],
  [{ steps: [step('a'), step('a')] }, '- two steps have the id a'],
  [{ steps: [step('a', 'z')] }, '- step a depends on z, which is not a step'],
  [{ steps: [step('a', 'a')] }, '- these steps depend on each other in a circle: a'],
  [{ steps: [step('a'), step('b', 'a', 'c'), step('c', 'b')] }, '- these steps depend on each other in a circle: b, c'],
  [{ steps: Array.from({ length: 21 }, (_, n) => step(`s${n}`)) }, '- it has 21 steps; at most 20 are allowed'],
])('an invalid plan is refused with its problem: %j', (input, problem) => {
  expect(checkPlan(input)).toEqual({ type: 'invalid', problem: expect.stringContaining(problem) as string })
})
