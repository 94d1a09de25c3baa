import type { JsonObject } from './json.js'

/** Who makes a call: the model by a `tool_use` block, or code that runs in a cell. */
export type Caller = 'direct' | 'code_execution'

/** What a tool does to the world; decides what happens when a call's outcome is unknown. */
export type Effect =
  /** Changes nothing: retried freely. */
  | 'read'
  /** Same key, same effect: retried with the same idempotency key. */
  | 'idempotent'
  /** Must not happen twice: never retried; a lost outcome is reported as `outcome_unknown`. */
  | 'once'

/** Attempts of a call beyond its tool's own, for workers that die under it. */
export const attemptsForLostWorkers = 5

/** Where in a run a call stands. Stable over retries, rebuilds, reset and continue-as-new. */
export interface CallPosition {
  /** Model turn, from 1; 0 for a program that runs without a model. */
  readonly turn: number
  /** Cell of the run, from 1; 0 for a direct call. */
  readonly cell: number
  /** Call within its cell (or within its turn, for direct calls), from 1. */
  readonly index: number
}

/** What a tool activity is given. */
export interface ToolCallInput {
  readonly tool: string
  readonly caller: Caller
  readonly position: CallPosition
  /** The call's one identity, made in the workflow; see {@link callKey}. */
  readonly idempotencyKey: string
  readonly arguments: JsonObject
}
