/*
 * Compensations: inverses of calls. A run executes them when its work is not finished.
 */

import type { CallerIdentity, ToolCallInput } from './calls.js'
import type { Externalizable, ExternalValue } from '../json/external-value.js'
import { pluralize } from '../text/text.js'

/** A call of a tool with `compensate`. The call has happened, or may have happened. */
export interface CompensableCall extends ToolCallInput {
  /** A description of the call for people, on one line. */
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
  /** The later calls, in the same order. */
  readonly latest: readonly CompensableCall[]
  readonly report: CompensationReport
}

/** The compensations of a run. */
export interface CompensationReport {
  /** Number of compensated calls. */
  readonly compensated: number
  /** Number of compensations that failed permanently: the effects of their calls still exist. */
  readonly failed: number
  /** The first {@link maxReportedFailures} failures. */
  readonly failures: readonly CompensationFailure[]
}

/** A call with an effect that still exists. */
export interface CompensationFailure {
  readonly tool: string
  /** Position of the call, such as `turn-1.cell-1.call-2`. */
  readonly call: string
  /** The idempotency key of the call. */
  readonly idempotencyKey: string
  readonly message: string
}

export const maxReportedFailures = 20

export const noCompensations: CompensationReport = { compensated: 0, failed: 0, failures: [] }

/** The idempotency key of the compensation of a call. */
export function compensationKey(idempotencyKey: string): string {
  return `${idempotencyKey}/compensate`
}

/** Minimum attempts. A call has fewer by default, but a compensation that fails leaves an effect behind. */
const minAttempts = 10

/** Returns the maximum attempts of a compensation that throws. */
export function compensationAttempts(attemptsOfTool: number): number {
  return Math.max(attemptsOfTool, minAttempts)
}

/** Returns a text such as `2 calls were compensated`. */
export function describeCompensated(calls: number): string {
  return `${pluralize(calls, 'call')} ${calls === 1 ? 'was' : 'were'} compensated`
}

/** Describes the report for people and the model, with the calls that could not be compensated. */
export function describeReport({ compensated, failed, failures }: CompensationReport): string {
  const done = describeCompensated(compensated)
  if (failed === 0) return done
  const named = failures.map(({ tool, call }) => `${tool} (${call})`).join(', ')
  return `${done}, ${failed} could not be: ${named}${failed > failures.length ? ' …' : ''}`
}
