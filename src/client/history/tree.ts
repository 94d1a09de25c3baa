import type { Caller, CallPosition } from '../../common/calls.js'
import type { JsonObject, JsonValue } from '../../common/json.js'
import type { Usage } from '../../common/messages.js'
import type { Role } from '../../common/names.js'
import type { CallStatus, CellStatus } from '../../common/outcomes.js'
import type { AgentResult, ProgramResult, RunCounts } from '../../common/runs.js'
import type { ValueRef } from '../../common/values.js'

/** A run as its history tells it, over all the histories it went on in. Every time is in milliseconds since the epoch, by Temporal's clock. */
export type RunTree = AgentTree | ProgramTree | OtherTree

export interface AgentTree extends RunTreeBase {
  readonly type: 'agent'
  readonly question: string
  readonly result: AgentResult | undefined
}

export interface ProgramTree extends RunTreeBase {
  readonly type: 'program'
  readonly source: string
  readonly result: ProgramResult | undefined
}

/** A workflow that is not ours, or so new that this version does not know it. */
export interface OtherTree extends RunTreeBase {
  readonly type: 'other'
  readonly result: JsonValue | undefined
}

interface RunTreeBase {
  readonly workflowId: string
  /** The one it began as, and the same from then on; the last of `runIds` is the current one. */
  readonly runId: string
  /** Temporal's runs that it consists of: a long one goes on in a fresh history, again and again. */
  readonly runIds: readonly string[]
  /** Its first histories are gone from the server (retention): what they told is missing here. */
  readonly lacksBeginning: boolean
  readonly workflowType: string
  /** `failed` also for a run whose workflow completed without success; its `result` says why. */
  readonly status: RunStatus
  readonly startedAt: number
  readonly endedAt: number | undefined
  /** The backend of the session; until one is open, what was asked for. */
  readonly backend: string | undefined
  /** The sandbox, for people: container name, image, interpreter. */
  readonly sandbox: string | undefined
  readonly model: string | undefined
  /** Of a run that goes on: why its workflow does not (`WORKFLOW_TASK_FAILED`); the server tries again. */
  readonly failure: Failure | undefined
  /** Task queues on which the run waits while no worker polls them. */
  readonly unserved: readonly UnservedQueue[]
  /** A program without a model has one turn, number 0. */
  readonly turns: readonly TurnNode[]
  /** The run's own result when it has one; else counted from the history so far. */
  readonly totals: RunCounts
  readonly phase: Phase
}

export type RunStatus = 'running' | 'completed' | 'failed' | 'cancelled' | 'terminated' | 'timed_out'

export interface Failure {
  /** An error code of ours, or Temporal's word for it: `TIMED_OUT_HEARTBEAT`, `CANCELLED`. */
  readonly code: string
  readonly message: string
}

/** A task queue on which a task waits, and that no worker has polled since. Times are in milliseconds since the epoch. */
export interface UnservedQueue {
  readonly taskQueue: string
  /** What its workers are for; undefined for the queue of one sandbox host. */
  readonly role: Role | undefined
  /** When the oldest of the tasks was put there. */
  readonly waitingSince: number
  /** Undefined when there was no poll for minutes. */
  readonly lastPolledAt: number | undefined
}

/** What a run does right now. */
export type Phase =
  | { readonly type: 'starting' }
  | { readonly type: 'model'; readonly turn: number }
  | { readonly type: 'opening_sandbox' }
  | { readonly type: 'rebuilding'; readonly cell: number | undefined }
  | { readonly type: 'waking'; readonly cell: number | undefined }
  | { readonly type: 'running_code'; readonly cell: number }
  | { readonly type: 'waiting_for_calls'; readonly open: number }
  /** Between two activities: the workflow decides. */
  | { readonly type: 'deciding' }
  | { readonly type: 'ended' }

export interface TurnNode {
  readonly number: number
  readonly model: ModelNode | undefined
  readonly cells: readonly CellNode[]
  /** Calls that the model made itself. */
  readonly directCalls: readonly CallNode[]
}

/** What all that takes time has in common. */
export interface Span {
  /** When it was asked for, waiting for a worker included. */
  readonly startedAt: number
  readonly endedAt: number | undefined
}

/** Something Temporal retries. */
export interface Attempted extends Span {
  /** Attempts made so far; 0 while no worker is known to have it. */
  readonly attempts: number
  /** Why the attempt before the current one failed. */
  readonly lastFailure: Failure | undefined
}

/** `waiting`: for a worker, as far as is known; `interrupted`: the run ended under it. */
export type PendingStatus = 'waiting' | 'running' | 'interrupted'

/** Has not come to an end, and perhaps never will. */
export function isPending(status: string): status is PendingStatus {
  return isOpen(status) || status === 'interrupted'
}

/** Will still come to an end. */
export function isOpen(status: string): status is 'waiting' | 'running' {
  return status === 'waiting' || status === 'running'
}

export type ModelNode = (
  | { readonly status: PendingStatus }
  | { readonly status: 'failed'; readonly failure: Failure }
  | ({ readonly status: 'ok' } & ModelAnswer)
) &
  Attempted & {
    readonly summary: string
    /** UTF-8 bytes of the conversation it was given, system prompt and tools not counted; until it answers, of what is new. */
    readonly requestBytes: number
  }

export interface ModelAnswer {
  readonly model: string
  readonly text: string
  readonly stopReason: string
  readonly usage: Usage
  readonly costUsd: number | null
  /** UTF-8 bytes of what the model wrote. */
  readonly replyBytes: number
}

export interface CellNode extends Span {
  /** Of the run, from 1. */
  readonly number: number
  /** Of code that is kept elsewhere and was not fetched: its beginning, and how to get it. The same goes for output. */
  readonly code: string
  /** Where the code is, when it is not in the history. */
  readonly codeRef: ValueRef | undefined
  readonly status: PendingStatus | CellStatus
  readonly output: string
  /** Where pieces of the output are that are not in the history. */
  readonly outputRefs: readonly ValueRef[]
  readonly error: string | undefined
  /** Times the program ran on, from one suspension to the next. */
  readonly steps: number
  /** Times its sandbox was lost and made again. */
  readonly rebuilds: number
  /** Times it was parked, and given its sandbox again when something arrived. */
  readonly wakes: number
  readonly calls: readonly CallNode[]
}

export interface CallNode extends Attempted {
  readonly tool: string
  readonly summary: string
  /** Of arguments that are kept elsewhere and were not fetched: their reference, under the key `ptc.value`. */
  readonly arguments: JsonObject
  readonly caller: Caller
  readonly position: CallPosition
  /** Undefined for a call that was refused: it never ran. */
  readonly idempotencyKey: string | undefined
  /** The step that made it: calls with the same number were made together. 0 for direct calls. */
  readonly step: number
  readonly status: PendingStatus | CallStatus
  /** The beginning of the result as JSON. */
  readonly resultPreview: string | undefined
  /** Where the result is, when it is not in the history. */
  readonly resultRef: ValueRef | undefined
  /** UTF-8 bytes of the whole result as JSON; 0 when there is none. */
  readonly resultBytes: number
  /** Why it is not `ok`. */
  readonly message: string | undefined
  /** Which tool blocked the event loop of the worker during the call, and for how long; may be another call's tool. */
  readonly blocked?: string | undefined
}
