import type { SampleUsage } from './observed-run.js'

/** One way to answer the tasks: a model, with or without a system prompt of its own. */
export interface EvalArm {
  /** Shown in tables: the model, and the file of the system prompt. */
  readonly name: string
  /** `PROVIDER/MODEL`, or `scripted` and `scripted:NAME` for the scripts of the tasks. */
  readonly model: string
  readonly system?: { readonly file: string; readonly text: string }
  /** Digest of everything but the tasks that decides on the answers: model, prompt, configuration, version. */
  readonly digest: string
}

/** `passed` and `failed` are scored. The other ends say nothing about the model. */
export const sampleStates = ['pending', 'running', 'passed', 'failed', 'error', 'judge_failed', 'not_run'] as const

export type SampleState = (typeof sampleStates)[number]

/** Why a sample ended as it did. */
export interface SampleEnd {
  readonly state: 'passed' | 'failed' | 'error' | 'judge_failed'
  /** `check`, `turn_limit`, `timed_out`, an error code and so on. Absent: the sample passed. */
  readonly kind?: string
  readonly reason?: string
  /** Absent: the run has no readable history. */
  readonly used?: SampleUsage
  /** US dollars of the judges. Null: unknown. */
  readonly judgeCostUsd: number | null
  /** Milliseconds from start to end. Absent: the harness was interrupted meanwhile, so the time is not that of the run. */
  readonly milliseconds?: number
  /** Whether the model checked its work. */
  readonly verified?: boolean
  /** Whether a provider may have charged more than `used` says. */
  readonly hasUnknownCost: boolean
}
