import { z } from 'zod'
import type { JsonObject } from '../../common/json/json.js'
import type { SubmittedAnswer } from '../../common/agent/model-turn.js'
import { maxPlanSteps, type PlanStep } from '../../common/agent/task-modes.js'
import { planSchema } from '../../models/prompt/task-tools.js'
import { describeIssues } from '../../tools/validation/describe-issues.js'

/** Input of `submit_plan` that matches its schema. */
interface SubmittedPlan {
  readonly steps: readonly (Omit<PlanStep, 'dependsOn'> & Partial<Pick<PlanStep, 'dependsOn'>>)[]
}

/** Returns the plan in the input of a tool use, or the problem of the plan. */
export function checkPlan(input: JsonObject): SubmittedAnswer {
  const { error } = z.safeParse(z.fromJSONSchema(planSchema), input)
  if (error !== undefined) return invalid(describeIssues(error))
  // The schema has accepted it.
  const { steps: submitted } = input as unknown as SubmittedPlan
  const steps = submitted.map(({ id, task, dependsOn = [] }) => ({ id, task, dependsOn: [...new Set(dependsOn)] }))
  const problems =
    steps.length > maxPlanSteps
      ? [`it has ${steps.length} steps; at most ${maxPlanSteps} are allowed`]
      : problemsOf(steps)
  return problems.length === 0 ? { type: 'plan', steps } : invalid(problems.map((line) => `- ${line}`).join('\n'))
}

function invalid(issues: string): SubmittedAnswer {
  return { type: 'invalid', problem: `The plan is not valid:\n${issues}\nSubmit it again, corrected.` }
}

function problemsOf(steps: readonly PlanStep[]): readonly string[] {
  const ids = steps.map(({ id }) => id)
  const twice = [...new Set(ids.filter((id, index) => ids.indexOf(id) !== index))]
  const unknown = steps.flatMap(({ id, dependsOn }) =>
    dependsOn
      .filter((other) => !ids.includes(other))
      .map((other) => `step ${id} depends on ${other}, which is not a step`),
  )
  const problems = [...twice.map((id) => `two steps have the id ${id}`), ...unknown]
  return problems.length > 0 ? problems : cycleOf(steps)
}

/**
 * Repeatedly removes the steps that depend only on removed steps. The remaining steps are on a cycle, or depend on one.
 */
function cycleOf(steps: readonly PlanStep[]): readonly string[] {
  let left = steps
  for (;;) {
    const ids = left.map(({ id }) => id)
    const next = left.filter(({ dependsOn }) => dependsOn.some((id) => ids.includes(id)))
    if (next.length === 0) return []
    if (next.length === left.length) return [`these steps depend on each other in a circle: ${ids.join(', ')}`]
    left = next
  }
}
