/*
 * Messages between a run and the workflow that limits a tool (`src/workflows/tool-limit`). A slot permits one call in
 * progress. The key of a slot is the idempotency key of its call.
 */

/** Signal `request` to the limiter: a call needs a slot. */
export interface SlotRequest {
  readonly key: string
  /** Workflow id of the run, which gets the answer. */
  readonly workflowId: string
  /** The limit: the total number of slots of the tool. The latest request decides. */
  readonly slots: number
  /** Milliseconds after the grant. The call ends before that, even when workers are lost. */
  readonly maxHoldMs: number
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
}

/** Input of activity `tool.slot`, which sends the request and starts the limiter if there is none. */
export interface RequestSlotInput {
  readonly tool: string
  readonly limiter: string
  /** Task queue of the limiter, which is the task queue of the run. */
  readonly taskQueue: string
  readonly request: SlotRequest
}

/** A slot in use. Times are milliseconds since the epoch. */
export interface SlotHolder extends Pick<SlotRequest, 'key' | 'workflowId'> {
  /** From this time on the slot is free, even if its run has not released it. */
  readonly until: number
  /** Time at which the limiter asks the run whether it still has the call. */
  readonly checkAt: number
  readonly checkIntervalMs: number
  /** True when the server has delivered the grant. */
  readonly isDelivered: boolean
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
