import { expect, it } from 'vitest'
import type { SubmittedAnswer } from '../../common/agent/model-turn.js'
import type { RecordedMode } from '../../common/agent/task-modes.js'
import { acceptSubmission, turnGoal, type TurnStage } from './turn-goal.js'

const answer: SubmittedAnswer = { type: 'valid', output: 'x' }
const plan: SubmittedAnswer = { type: 'plan', steps: [] }
const gaveUp: SubmittedAnswer = { type: 'gave_up', reason: 'x' }
const stages = { plan: { type: 'plan' }, step: { type: 'step', id: 'a' }, answer: { type: 'answer' } } as const

function goal(mode: RecordedMode | undefined, stage: TurnStage = stages.answer, hasSchema = false) {
  return turnGoal({ ...(mode && { mode }), ...(hasSchema && { outputSchema: {} }) }, stage)
}

it.each([
  [undefined, 'answer', false, false],
  [undefined, 'answer', true, true],
  ['single-turn', 'answer', true, true],
  ['autonomous', 'answer', false, true],
  ['plan', 'plan', false, true],
  ['plan', 'step', true, false],
  ['plan', 'answer', false, false],
  ['plan', 'answer', true, true],
] as const)('mode %s, stage %s, with a schema: %s: the model is asked to continue after a text: %s', (...row) => {
  const [mode, stage, hasSchema, isAsked] = row
  expect(goal(mode, stages[stage], hasSchema).promptAfterText !== undefined).toBe(isAsked)
})

it.each([
  ['plan', [plan, gaveUp], [answer]],
  ['step', [gaveUp], [plan, answer]],
  ['answer', [answer, gaveUp], [plan]],
] as const)('stage %s of a plan accepts its own submissions', (stage, accepted, refused) => {
  for (const each of accepted) expect(acceptSubmission(goal('plan', stages[stage]), each)).toBe(each)
  for (const each of refused)
    expect(acceptSubmission(goal('plan', stages[stage]), each)).toMatchObject({ type: 'invalid' })
})

it('each goal has the status with which the turns end without an answer', () => {
  expect(goal(undefined).failure).toEqual({ text: 'invalid_answer', submission: 'invalid_answer' })
  expect(goal('autonomous').failure).toEqual({ text: 'no_answer', submission: 'invalid_answer' })
  expect(goal('plan', stages.plan).failure).toEqual({ text: 'invalid_plan', submission: 'invalid_plan' })
  expect(goal('single-turn').attempts).toBe(1)
})
