import { expect, it } from 'vitest'
import { defaultLimits } from '../../../common/run/limits.js'
import { Progress } from '../../run/progress.js'
import type { Run } from '../../run/run.js'
import type { AgentTurns } from '../agent-turns.js'
import type { AnswerOutcome } from '../answer-outcome.js'
import { MessageHistory, type MessageHistoryState } from '../message-history.js'
import { PlanRun, type PlanState } from './plan-run.js'

const steps = [
  { id: 'a', task: 'Do a.', dependsOn: [] },
  { id: 'b', task: 'Do b.', dependsOn: ['a'] },
]
const planned: AnswerOutcome = { status: 'answered', answer: '', submittedPlan: { steps, toolUseId: 'p' } }
const answered = (answer: string): AnswerOutcome => ({ status: 'answered', answer })
const log = (length: number) =>
  ({ head: { sha256: 'x', bytes: 1 }, segments: 1, length }) as MessageHistoryState['history']

interface Stage {
  readonly stage: unknown
  readonly turnLimit: number
  readonly messages: MessageHistoryState
}

/** A plan with stages of three turns each, which end with the given outcomes. */
function planRun(outcomes: readonly (AnswerOutcome | 'continues')[], state?: PlanState) {
  const stages: Stage[] = []
  const messages = new MessageHistory(100)
  const run = { counts: { turns: 0 }, config: { limits: { ...defaultLimits, turns: 5 } }, progress: new Progress() }
  const turns = {
    messages,
    runToAnswer: (turnLimit: number, _: undefined, stage: unknown) => {
      stages.push({ stage, turnLimit, messages: messages.state })
      run.counts.turns += 3
      messages.rewind({ ...messages.state, history: log(stages.length), pending: [], rejectedAnswers: 2 })
      const outcome = outcomes[stages.length - 1]
      return outcome === 'continues' ? new Promise(() => undefined) : Promise.resolve(outcome)
    },
  }
  // The parts of a run and of its turns that a plan uses.
  return { plan: new PlanRun(run as unknown as Run, turns as unknown as AgentTurns, state), stages, run }
}

const text = ({ messages }: Stage): string => JSON.stringify(messages.pending)

it('each stage of a plan gets the messages of the planning, and its own turns', async () => {
  const { plan, stages, run } = planRun([planned, answered('A'), answered('B'), answered('Both.')])
  expect(await plan.runToAnswer()).toMatchObject({ answer: 'Both.', plan: [{ result: 'A' }, { result: 'B' }] })
  expect(stages.map(({ stage }) => stage)).toEqual([
    { type: 'plan' },
    { type: 'step', id: 'a' },
    { type: 'step', id: 'b' },
    { type: 'answer' },
  ])
  expect(stages.map(({ turnLimit }) => turnLimit)).toEqual([5, 8, 11, 14])
  const [, ...afterPlanning] = stages
  for (const { messages } of afterPlanning) {
    expect(messages).toMatchObject({ history: { length: 1 }, rejectedAnswers: 0 })
    expect(messages.pending).toMatchObject([{ type: 'tool_result', tool_use_id: 'p' }])
  }
  expect(afterPlanning.map(text)).toEqual([
    expect.stringContaining('Do step a now'),
    expect.stringContaining('[a: done]\\nA'),
    expect.stringContaining('The steps have ended'),
  ])
  expect(run.progress.plan).toMatchObject([{ status: 'done' }, { status: 'done' }])
})

it('a plan continues in the stage in which the run continued as new', async () => {
  const first = planRun([planned, answered('A'), 'continues'])
  void first.plan.runToAnswer()
  await expect.poll(() => first.stages.length).toBe(3)
  const second = planRun([answered('B'), 'continues'], first.plan.state)
  void second.plan.runToAnswer()
  await expect.poll(() => second.stages.length).toBe(2)
  expect(second.stages[0]).toMatchObject({ stage: { type: 'step', id: 'b' }, turnLimit: 11, messages: { pending: [] } })
  const third = planRun([answered('Both.')], second.plan.state)
  expect(await third.plan.runToAnswer()).toMatchObject({ answer: 'Both.', plan: [{ result: 'A' }, { result: 'B' }] })
  expect(third.stages).toMatchObject([{ stage: { type: 'answer' } }])
})

it.each(['gave_up', 'invalid_plan', 'turn_limit'] as const)(
  'a plan run ends with %s of the planning',
  async (status) => {
    const { plan, stages } = planRun([{ status, answer: 'x' }])
    expect(await plan.runToAnswer()).toEqual({ status, answer: 'x' })
    expect(stages).toHaveLength(1)
  },
)

it('a plan run ends with its budget, and not with a failed step', async () => {
  const failed = planRun([planned, { status: 'refused', answer: '' }, answered('Nothing.')])
  expect(await failed.plan.runToAnswer()).toMatchObject({ plan: [{ status: 'failed' }, { status: 'skipped' }] })
  const spent = planRun([planned, { status: 'budget_spent', answer: 'x' }])
  expect(await spent.plan.runToAnswer()).toMatchObject({
    status: 'budget_spent',
    plan: [{ status: 'running' }, { status: 'pending' }],
  })
})
