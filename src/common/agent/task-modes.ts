/*
 * Task modes: how an agent works on its question.
 */

/** The names of the modes in a configuration, an agent and a run. */
export const taskModes = ['single-turn', 'answer', 'autonomous', 'plan'] as const

/**
 * - `single-turn`: one reply. A text is the answer; otherwise the results of its code and calls are.
 * - `answer` (default): turns until the model replies without a tool use.
 * - `autonomous`: turns until the model submits its answer, which a tool may check, or gives up.
 * - `plan`: the model submits a plan; each step has its own turns, and then the model answers.
 */
export type TaskMode = (typeof taskModes)[number]

/** The mode in a recorded configuration. Undefined: `answer`. */
export type RecordedMode = Exclude<TaskMode, 'answer'>

/** Steps of a plan. The results of all steps are part of one message. The model is asked for a shorter plan. */
export const maxPlanSteps = 20

/** One step of a plan, as the model submits it. */
export interface PlanStep {
  /** Letters, digits, `_` and `-`, at most 64 characters. */
  readonly id: string
  /** The task of the step. */
  readonly task: string
  /** Ids of the steps that must have a result first. */
  readonly dependsOn: readonly string[]
}

export type PlanStepStatus =
  | 'pending'
  | 'running'
  | 'done'
  /** The model gave up the step. */
  | 'gave_up'
  /** The step ended without a result, for example at its limit of turns. */
  | 'failed'
  /** A step on which it depends has no result. */
  | 'skipped'

/** One step of a plan with its status. */
export interface PlanStepResult extends PlanStep {
  readonly status: PlanStepStatus
  /**
   * The reply of the model at the end of the step, or the reason why there is none; null before the end. The middle may
   * be omitted.
   */
  readonly result: string | null
}
