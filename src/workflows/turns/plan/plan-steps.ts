import type { PlanStep, PlanStepResult } from '../../../common/agent/task-modes.js'
import { truncateMiddle } from '../../../common/text/text.js'
import type { AnswerOutcome } from '../answer-outcome.js'

/** Maximum characters of the result of a step. The results of all steps are part of one message. */
const maxResultCharacters = 8_000

export function newPlan(steps: readonly PlanStep[]): readonly PlanStepResult[] {
  return steps.map((step) => ({ ...step, status: 'pending', result: null }))
}

/** Returns the step in progress. Undefined: all steps have ended. */
export function runningStep(steps: readonly PlanStepResult[]): PlanStepResult | undefined {
  return steps.find(({ status }) => status === 'running')
}

/**
 * Begins the first step with only finished dependencies, in the order of the plan. Skips steps that can no longer be
 * done.
 */
export function beginNextStep(steps: readonly PlanStepResult[]): readonly PlanStepResult[] {
  const settled = skipBlocked(steps)
  const isDone = (id: string): boolean => settled.some((step) => step.id === id && step.status === 'done')
  const next = settled.find(({ status, dependsOn }) => status === 'pending' && dependsOn.every(isDone))
  return settled.map((step) => (step === next ? { ...step, status: 'running' } : step))
}

export function endStep(
  steps: readonly PlanStepResult[],
  { status, answer }: AnswerOutcome,
): readonly PlanStepResult[] {
  const running = runningStep(steps)
  const result = truncateMiddle(
    status === 'answered' || status === 'gave_up' ? answer : `[${status}] ${answer}`.trim(),
    maxResultCharacters,
  )
  const ended = status === 'answered' ? 'done' : status === 'gave_up' ? 'gave_up' : 'failed'
  return steps.map((step) => (step === running ? { ...step, status: ended, result } : step))
}

/** Skips each step that depends on a step without a result, and then the steps that depend on the skipped ones. */
function skipBlocked(steps: readonly PlanStepResult[]): readonly PlanStepResult[] {
  const blockerOf = ({ dependsOn }: PlanStepResult): PlanStepResult | undefined =>
    steps.find(({ id, status }) => dependsOn.includes(id) && ['gave_up', 'failed', 'skipped'].includes(status))
  const blocked = steps.find((step) => step.status === 'pending' && blockerOf(step) !== undefined)
  if (!blocked) return steps
  const result = `step ${blockerOf(blocked)?.id ?? ''} has no result`
  return skipBlocked(steps.map((step) => (step === blocked ? { ...step, status: 'skipped', result } : step)))
}

/** Describes the current step for the model, with the results that the step needs. */
export function describeStep(steps: readonly PlanStepResult[], { id, task, dependsOn }: PlanStepResult): string {
  const needed = steps.filter((step) => dependsOn.includes(step.id))
  const results = needed.length === 0 ? '' : `\n\nThe results that it needs:\n\n${describeResults(needed)}`
  return `Do step ${id} now, and only this step: ${task}${results}`
}

/** Describes for the model how all steps have ended. */
export function describeEnd(steps: readonly PlanStepResult[]): string {
  return `The steps have ended. Give your final answer; say what is missing.\n\n${describeResults(steps)}`
}

function describeResults(steps: readonly PlanStepResult[]): string {
  return steps.map(({ id, status, result }) => `[${id}: ${status.replace('_', ' ')}]\n${result ?? ''}`).join('\n\n')
}
