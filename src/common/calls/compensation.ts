/*
 * Compensations: the inverse of a call, which a run executes when its work is not finished.
 */

import type { CallerIdentity, ToolCallInput } from './calls.js'
import type { Externalizable, ExternalValue } from '../json/external-value.js'
import { pluralize } from '../text/text.js'

/** A call that has happened, or may have happened, and whose tool has `compensate`. */
export interface CompensableCall extends ToolCallInput {
  /** One line for people. */
  readonly summary: string
  /** Absent: the outcome of the call is unknown. */
  readonly result?: Externalizable
}

/** Input of the activity that compensates a call. */
export interface CompensateInput extends CompensableCall, CallerIdentity {}

/** Calls in the value store, as the items of a segment of a value log. */
export interface StoredCalls {
  readonly value: ExternalValue
  readonly calls: number
}

/** The calls of a run that may have to be compensated, for the next execution of the continue-as-new chain. */
export interface CompensationsState {
  /** The first calls, in the order of their completion. */
  readonly stored: readonly StoredCalls[]
  /** Those after them. */
  readonly latest: readonly CompensableCall[]
  readonly report: CompensationReport
}

/** What a run has compensated. */
export interface CompensationReport {
  /** Number of calls. */
  readonly compensated: number
  /** Number of calls whose compensation failed for good: their effects are still there. */
  readonly failed: number
  /** The first {@link maxReportedFailures} of these. */
  readonly failures: readonly CompensationFailure[]
}

/** A call whose effect is still there. */
export interface CompensationFailure {
  readonly tool: string
  /** Position of the call, such as `turn-1.cell-1.call-2`. */
  readonly call: string
  /** Of the call. */
  readonly idempotencyKey: string
  readonly message: string
}

export const maxReportedFailures = 20

export const noCompensations: CompensationReport = { compensated: 0, failed: 0, failures: [] }

/** The idempotency key of the compensation of a call. */
export function compensationKey(idempotencyKey: string): string {
  return `${idempotencyKey}/compensate`
}

/** More than a call has by default: a compensation that fails leaves an effect behind. */
const minAttempts = 10

/** Attempts of a compensation that throws. */
export function compensationAttempts(attemptsOfTool: number): number {
  return Math.max(attemptsOfTool, minAttempts)
}

/** `2 calls were compensated`. */
export function describeCompensated(calls: number): string {
  return `${pluralize(calls, 'call')} ${calls === 1 ? 'was' : 'were'} compensated`
}

/** For people and the model: which calls could not be compensated, too. */
export function describeReport({ compensated, failed, failures }: CompensationReport): string {
  const done = describeCompensated(compensated)
  if (failed === 0) return done
  const named = failures.map(({ tool, call }) => `${tool} (${call})`).join(', ')
  return `${done}, ${failed} could not be: ${named}${failed > failures.length ? ' …' : ''}`
}
