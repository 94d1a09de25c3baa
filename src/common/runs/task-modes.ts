/*
 * Task modes: how an agent works on its question.
 */

/** The modes, by the names that a configuration, an agent and a run give them. */
export const taskModes = ['single-turn', 'answer', 'autonomous', 'plan'] as const

/**
 * - `single-turn`: one reply. A text is the answer; otherwise the results of its code and calls are.
 * - `answer` (default): turns until the model replies without a tool use.
 * - `autonomous`: turns until the model submits its answer, which a tool may check, or gives up.
 * - `plan`: the model submits a plan; each of its steps is worked on with turns of its own, then the model answers.
 */
export type TaskMode = (typeof taskModes)[number]

/** Undefined in its place: `answer`. A run that began before there were modes has none. */
export type RecordedMode = Exclude<TaskMode, 'answer'>

/** One step of a plan, as the model submits it. */
export interface PlanStep {
  /** Letters, digits, `_` and `-`, at most 64 characters. */
  readonly id: string
  /** What is to be done. */
  readonly task: string
  /** Ids of the steps whose results this one needs. */
  readonly dependsOn: readonly string[]
}

export type PlanStepStatus =
  | 'pending'
  | 'running'
  | 'done'
  /** The model gave it up. */
  | 'gave_up'
  /** It ended without a result: at its limit of turns, for example. */
  | 'failed'
  /** A step that it depends on has no result. */
  | 'skipped'

/** One step of a plan, and how far it is. */
export interface PlanStepResult extends PlanStep {
  readonly status: PlanStepStatus
  /** What the model replied at the end of the step, or why there is nothing; null before. The middle may be cut out. */
  readonly result: string | null
}
