import type { Caller } from '../common/calls/calls.js'
import type { JsonObject } from '../common/json/json.js'

/** The worker's log. The model never sees it. */
export interface ToolLog {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void
  info(message: string, fields?: Readonly<Record<string, unknown>>): void
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void
  error(message: string, fields?: Readonly<Record<string, unknown>>): void
}

/** The run that a call belongs to. */
export interface CallingRun {
  readonly namespace: string
  readonly workflowId: string
  /** Run id of the current execution. It changes when the run continues as new; `workflowId` does not. */
  readonly runId: string
  /** The agent with which the run began; undefined without one, and for programs and sessions. */
  readonly agent: string | undefined
}

/** Second argument of a tool's `run`. */
export interface ToolContext {
  /** Aborted when the call is cancelled or times out. */
  readonly signal: AbortSignal
  /**
   * Identity of the call: the same in every attempt, after a crash and after a rebuild. Pass it to services that
   * deduplicate requests by such a key.
   */
  readonly idempotencyKey: string
  /**
   * Stores `details` (JSON) for the next attempt and for the Temporal UI. Without `details`, the previous details
   * remain.
   */
  readonly heartbeat: (details?: unknown) => void
  /** The last details that an earlier attempt passed to `heartbeat`, as JSON; undefined without any. */
  readonly heartbeatDetails?: unknown
  /**
   * Reports the progress of the call to people who watch the run or its live stream: `copied 3 of 10 pages`. One line,
   * cut at 200 characters. It is not recorded, and has no effect in a local tool.
   */
  readonly milestone: (text: string) => void
  readonly log: ToolLog
  /**
   * The value of a credential that the tool declares. Pass it to the other service, and keep it out of files. A marker
   * replaces it in results, errors, heartbeat details and log entries of the tool.
   *
   * @throws Error when the tool does not declare a credential of this name
   */
  readonly credential: (name: string) => string
  readonly caller: Caller
  /** Number from 1. */
  readonly attempt: number
  readonly run: CallingRun
  /** The `context` with which the run was started, such as user and tenant. `{}` for a run without one. */
  readonly context: JsonObject
}

/** Second argument of a deferred tool's `run`. */
export interface DeferredToolContext extends ToolContext {
  /**
   * Completes this call: `ptc.completeCall(token, value)`, `ptc answer TOKEN --result JSON`. The same in every attempt.
   * Its holder can complete this call, and no other.
   */
  readonly completionToken: string
}
