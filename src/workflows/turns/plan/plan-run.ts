/*
 * Mode `plan`: the model submits a plan, does its steps one after the other, and answers.
 *
 * Owns: the plan, the order of its steps, and the first messages of each step.
 * Boundary: `turns/` takes the turns of the planning, of a step, and of the answer. `plan-steps.ts` is the plan as
 * data.
 *
 * Invariants:
 * 1. Every step, and the answer, continue the messages after which the model submitted the plan: they refer to the same
 *    stored history. A step does not get the messages of other steps, only the results of the steps that it depends on.
 * 2. A step begins when all steps that it depends on are done. It is skipped when one of them has no result.
 * 3. A run continues as new within the turns of a stage, and never between two of them. So the plan alone determines
 *    the current stage.
 */

import type { AgentResult } from '../../../common/run/runs.js'
import type { PlanStepResult } from '../../../common/agent/task-modes.js'
import type { Run } from '../../run/run.js'
import type { AgentTurns } from '../agent-turns.js'
import type { AnswerOutcome, SubmittedPlan } from '../answer-outcome.js'
import type { MessageHistoryState } from '../message-history.js'
import { beginNextStep, describeEnd, describeStep, endStep, newPlan, runningStep } from './plan-steps.js'

export interface PlanState {
  readonly steps: readonly PlanStepResult[]
  /** Id of the tool use that submitted the plan. Its result tells the model what to do next. */
  readonly toolUseId: string
  readonly messages: MessageHistoryState
  readonly turnsBefore: number
}

export class PlanRun {
  readonly #run: Run
  readonly #turns: AgentTurns
  #state: PlanState | undefined

  constructor(run: Run, turns: AgentTurns, state: PlanState | undefined) {
    this.#run = run
    this.#turns = turns
    this.#update(state)
  }

  get state(): PlanState | undefined {
    return this.#state
  }

  /** @returns the answer; undefined when the turns were interrupted */
  async runToAnswer(): Promise<(AnswerOutcome & Pick<AgentResult, 'plan'>) | undefined> {
    const { limits } = this.#run.config
    if (!this.#state) {
      const planned = await this.#turns.runToAnswer(limits.turns, undefined, { type: 'plan' })
      if (!planned?.submittedPlan) return planned
      this.#begin(planned.submittedPlan)
    }
    for (let state = this.#state; state; state = this.#state) {
      const step = runningStep(state.steps) // invariant 3
      const stage = step ? ({ type: 'step', id: step.id } as const) : ({ type: 'answer' } as const)
      const outcome = await this.#turns.runToAnswer(state.turnsBefore + limits.turns, undefined, stage)
      if (!outcome || !step || outcome.status === 'budget_spent') return outcome && { ...outcome, plan: state.steps }
      this.#beginStage({ ...state, steps: endStep(state.steps, outcome) })
    }
    return undefined
  }

  #begin({ steps, toolUseId }: SubmittedPlan): void {
    // The counters of the planning start at 0 again for each stage.
    const messages = { ...this.#turns.messages.state, promptsAgain: 0, rejectedAnswers: 0, lastReplyText: '' }
    this.#beginStage({ steps: newPlan(steps), toolUseId, messages, turnsBefore: 0 })
  }

  #beginStage(state: PlanState): void {
    const steps = beginNextStep(state.steps) // invariant 2
    const { toolUseId: tool_use_id, messages } = state
    const step = runningStep(steps)
    const content = step ? describeStep(steps, step) : describeEnd(steps)
    this.#turns.messages.rewind(messages) // invariant 1
    this.#turns.messages.addToolResults([{ type: 'tool_result', tool_use_id, content }])
    this.#update({ ...state, steps, turnsBefore: this.#run.counts.turns })
  }

  #update(state: PlanState | undefined): void {
    this.#state = state
    this.#run.progress.plan = state?.steps
  }
}
