/*
 * Messages between a run and the workflow that limits a tool (`src/workflows/tool-limit`). A slot permits one call in
 * progress. The key of a slot is the idempotency key of the call that requested it. A slot may have a lock: then no other
 * call has a slot with the same lock.
 *
 * A run may keep a slot without a lock after a call, for its next calls, until the limiter recalls the slot, or `keepMs`
 * is over. Limiters and runs of earlier versions do not know this: without `keepMs`, a slot is for one call.
 */

import type { JsonObject } from '../json/json.js'
import type { CallIdentity } from './calls.js'

/** Signal `request` to the limiter: a call needs a slot. */
export interface SlotRequest {
  readonly key: string
  /** Workflow id of the run, which gets the answer. */
  readonly workflowId: string
  /** The limit: the total number of slots of the tool. The latest request decides. */
  readonly slots: number
  /** Digest of what `lockBy` of the tool returns for the call. Absent: the call excludes no other. */
  readonly lock?: string
  /** Milliseconds after the grant. The call ends before that, even when workers are lost. */
  readonly maxHoldMs: number
  /** The run can keep the slot after the call. Absent: it returns the slot. */
  readonly mayKeep?: true
}

/** Signal `release` to the limiter: the call has ended, or no longer wants a slot. */
export interface SlotRelease {
  readonly key: string
}

/** Signal to the run. A run that gets a slot for a call that it does not have gives the slot back. */
export interface SlotAnswer {
  readonly key: string
  /** Workflow id of the limiter. */
  readonly limiter: string
  /** `refused`: too many calls wait. */
  readonly answer: 'granted' | 'refused'
  /** Milliseconds after the grant, during which other calls of the run may begin with the slot. Absent: none may. */
  readonly keepMs?: number
  /** Others wait for the slot. So the run returns it as soon as none of its own calls waits for one. Absent: false. */
  readonly isRecalled?: true
}

/** A slot that its run may keep. */
export interface KeepableSlot extends Required<Pick<SlotAnswer, 'key' | 'keepMs'>>, Pick<SlotAnswer, 'isRecalled'> {
  /** Time of the grant, in milliseconds since the epoch. */
  readonly since: number
}

/** Input of activity `tool.slot`, which sends the request and starts the limiter if there is none. */
export interface RequestSlotInput {
  readonly tool: string
  readonly limiter: string
  /** Task queue of the limiter, which is the task queue of the run. */
  readonly taskQueue: string
  readonly request: SlotRequest
  /** Set for a tool with locks: the activity derives the lock from the arguments. */
  readonly locked?: CallIdentity & { readonly arguments: JsonObject }
}

/** A slot in use. Times are milliseconds since the epoch. */
export interface SlotHolder extends Pick<SlotRequest, 'key' | 'workflowId' | 'lock'> {
  /** From this time on the slot is free, even if its run has not released it. */
  readonly until: number
  /** Time at which the limiter asks the run whether it still has the call. */
  readonly checkAt: number
  readonly checkIntervalMs: number
  /** True when the server has delivered the grant. */
  readonly isDelivered: boolean
  /** Time at which the limiter recalls the slot, also when no call waits for it. Absent: the run can't keep it. */
  readonly recallAt?: number
  /** The limiter has recalled the slot. Absent: false. */
  readonly isRecalled?: true
}

/** The state of a limiter for its next execution. */
export interface ToolLimitState {
  readonly slots: number
  readonly holders: readonly SlotHolder[]
  /** The waiting requests. The first one is the next to get a slot. */
  readonly waiting: readonly Omit<SlotRequest, 'slots'>[]
}

export interface ToolLimitInput {
  readonly tool: string
  readonly state?: ToolLimitState
}

/** Maximum number of calls that wait for a slot of one tool. One more is refused. */
export const maxWaitingForSlot = 10_000

/** Maximum number of slots of one limiter: also those of a tool that has locks and no `concurrency`. */
export const maxSlots = 1_000
