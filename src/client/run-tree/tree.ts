import type { Caller, CallPosition } from '../../common/calls/calls.js'
import type { Requester } from '../../common/runs/requester.js'
import type { JsonObject, JsonValue } from '../../common/json/json.js'
import type { ToolUseCaller, Usage } from '../../common/runs/messages.js'
import type { CallStatus, CellStatus } from '../../common/calls/outcomes.js'
import type { AgentResult, ProgramResult, RunCounts } from '../../common/runs/runs.js'
import type { CallDecision, DeferredWait, RunWait } from './waits.js'
import type { ValueRef } from '../../common/json/external-value.js'
import type { Unserved } from './unserved.js'

/**
 * A run according to its history, over its continue-as-new chain. Times are in milliseconds since the epoch, by the
 * server's clock.
 */
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

/** A workflow that is not of this library. */
interface OtherTree extends RunTreeBase {
  readonly type: 'other'
  readonly result: JsonValue | undefined
}

interface RunTreeBase {
  readonly workflowId: string
  /** Run id of the first execution; it identifies the run. The last of `runIds` is the current one. */
  readonly runId: string
  /** Run ids of the continue-as-new chain, in order. */
  readonly runIds: readonly string[]
  /** The server no longer has the first executions (retention): the tree starts later. */
  readonly lacksBeginning: boolean
  readonly workflowType: string
  /** `failed` also for a run whose workflow completed without success; its `result` says why. */
  readonly status: RunStatus
  readonly startedAt: number
  readonly endedAt: number | undefined
  /** Backend of the session; before a session is open, the configured one. */
  readonly backend: string | undefined
  /** Description of the sandbox for display: container name, image, interpreter. */
  readonly sandbox: string | undefined
  readonly model: string | undefined
  /**
   * Of an ended run: why it failed. Of a running one: why its workflow task fails (`WORKFLOW_TASK_FAILED`, or that of a
   * missing key); the server retries it.
   */
  readonly failure: Failure | undefined
  /** Task queues on which the run waits and that no worker polls, and Nexus endpoints that do not start operations. */
  readonly unserved: readonly Unserved[]
  /** What the run waits for that comes from outside, such as from a person; the oldest wait first. */
  readonly waitsFor: readonly RunWait[]
  /** Who asks, as the context of the run says. Absent: it names nobody. */
  readonly requester?: Requester
  /** A program without a model has one turn, number 0. */
  readonly turns: readonly TurnNode[]
  readonly compactions: readonly CompactionNode[]
  /** Counts in the run's result; before there is one, counted from the history so far. */
  readonly totals: RunCounts
  readonly phase: Phase
}

export type RunStatus = 'running' | 'completed' | 'failed' | 'cancelled' | 'terminated' | 'timed_out'

export interface Failure {
  /** An error code of this library, or derived from Temporal's failure: `TIMED_OUT_HEARTBEAT`, `CANCELLED`. */
  readonly code: string
  readonly message: string
}

/** What a run currently does. */
export type Phase =
  | { readonly type: 'starting' }
  | { readonly type: 'model'; readonly turn: number }
  | { readonly type: 'opening_sandbox' }
  | { readonly type: 'rebuilding'; readonly cell: number | undefined }
  | { readonly type: 'waking'; readonly cell: number | undefined }
  | { readonly type: 'running_code'; readonly cell: number }
  | { readonly type: 'waiting_for_calls'; readonly open: number }
  /** The budget is spent. */
  | { readonly type: 'paused' }
  /** The work is not finished, and its calls are compensated. */
  | { readonly type: 'compensating' }
  /** Between two activities. */
  | { readonly type: 'deciding' }
  | { readonly type: 'ended' }

export interface TurnNode {
  readonly number: number
  /** Id of the plan step that the turn worked on. Absent outside of a plan step. */
  readonly planStep?: string
  /** Id of the message of a conversation that the turn worked on. Absent outside of conversations. */
  readonly message?: string
  readonly model: ModelNode | undefined
  readonly cells: readonly CellNode[]
  /** Calls that the model made directly, without code. */
  readonly directCalls: readonly CallNode[]
}

/** Start and end of a node. */
export interface Span {
  /** Scheduled time; includes waiting for a worker. */
  readonly startedAt: number
  readonly endedAt: number | undefined
}

/** A node of an activity, which Temporal retries. */
export interface Attempted extends Span {
  /** Attempts so far; 0 while no worker is known to have started it. */
  readonly attempts: number
  /** Why the attempt before the current one failed. */
  readonly lastFailure: Failure | undefined
  /** The last attempt that is made, of a call that is open: that of its tool. */
  readonly maxAttempts?: number
  /** When the next attempt begins, while the node waits for it. Milliseconds since the epoch. */
  readonly nextAttemptAt?: number
}

/** `waiting`: for a worker; `interrupted`: the run ended first. */
export type PendingStatus = 'waiting' | 'running' | 'interrupted'

/** Whether the node has not finished. */
export function isPending(status: string): status is PendingStatus {
  return isOpen(status) || status === 'interrupted'
}

/** Whether the node has not finished and can still finish. */
export function isOpen(status: string): status is 'waiting' | 'running' {
  return status === 'waiting' || status === 'running'
}

export type ModelNode = (
  | { readonly status: PendingStatus }
  | { readonly status: 'failed'; readonly failure: Failure }
  | ({ readonly status: 'ok' } & ModelReplySummary)
) &
  Attempted & {
    readonly summary: string
    /**
     * UTF-8 bytes of the conversation, without system prompt and tools. Before the reply: of the new content blocks
     * only.
     */
    readonly requestBytes: number
  }

/** The messages were made shorter before a turn, because the context window got full. */
export type CompactionNode = (
  | { readonly status: PendingStatus }
  /** The run went on with its messages as they were. */
  | { readonly status: 'failed'; readonly failure: Failure }
  | {
      readonly status: 'ok'
      readonly tokensAfter: number
      /** Results of tools. */
      readonly shortened: number
      /** Messages that a summary replaced. */
      readonly summarized: number
      /** Why there is no summary that was needed. */
      readonly problem?: string
    }
) &
  Attempted & {
    /** The turn that follows. */
    readonly turn: number
    /** Estimated tokens of the request of that turn, as it would have been. */
    readonly tokensBefore: number
  }

export interface ModelReplySummary {
  readonly model: string
  readonly text: string
  readonly stopReason: string
  /** The stop sequence at which the model stopped, of a provider that says it. Absent: none. */
  readonly stopSequence?: string
  readonly usage: Usage
  readonly costUsd: number | null
  /** UTF-8 bytes of the reply. */
  readonly replyBytes: number
  /** What the provider has cleared of the messages, as its API says it. Absent: nothing. */
  readonly contextEdits?: readonly JsonObject[]
}

export interface CellNode extends Span {
  /** Number in the run, from 1. */
  readonly number: number
  /** Id of the tool use with the code. Absent: no model wrote it, or the server no longer has its turn. */
  readonly toolUse?: string
  /** For external code that was not fetched: a description and the preview. The same applies to `output`. */
  readonly code: string
  /** Reference of external code. */
  readonly codeRef: ValueRef | undefined
  readonly status: PendingStatus | CellStatus
  readonly output: string
  /** References of external parts of the output. */
  readonly outputRefs: readonly ValueRef[]
  readonly error: string | undefined
  /** Number of steps, each from one suspension to the next. */
  readonly steps: number
  /** How often its sandbox was rebuilt. */
  readonly rebuilds: number
  /** How often it was resumed from parking. */
  readonly wakes: number
  readonly calls: readonly CallNode[]
  /** Only of a cell that the session of another workflow executes, in whose tree its calls are. */
  readonly owner?: CellOwner
}

/** The workflow whose session executes a cell: that of a named session, or the run of the parent. */
export interface CellOwner {
  readonly workflowId: string
  /** Calls that the cell has made; undefined before its end. */
  readonly toolCalls: number | undefined
}

/** The compensation of a call. */
export type CompensationNode = (
  | { readonly status: PendingStatus | 'ok' }
  /** The effect of the call is still there. */
  | { readonly status: 'failed'; readonly failure: Failure }
) &
  Attempted

export interface CallNode extends Attempted {
  readonly tool: string
  readonly summary: string
  /** For external arguments that were not fetched: their reference, under the key `ptc.value`. */
  readonly arguments: JsonObject
  readonly caller: Caller
  /**
   * The caller as the Messages API writes it: `tool_id` is the tool use with the code. Only of a call of code that a
   * model wrote.
   */
  readonly toolUseCaller?: ToolUseCaller
  /** Id of the tool use of a direct call. */
  readonly toolUse?: string
  readonly position: CallPosition
  /** Undefined for a call that was rejected before it ran, and for a local call. */
  readonly idempotencyKey: string | undefined
  /** Only of a call that is a child workflow: the workflow of a remote tool, or the run of a sub-agent. */
  readonly workflowId?: string
  /** Number of the step that made the call; 0 for direct calls. */
  readonly step: number
  readonly status: PendingStatus | CallStatus
  /** Only while a deferred call waits for its result; its status is `running`. */
  readonly deferred?: DeferredWait | undefined
  /** Only while a call waits for its approval; its status is `waiting`. */
  readonly approval?: DeferredWait
  /** Only of a call that waited for an approval or a result, after that. */
  readonly decision?: CallDecision
  /** What the tool last said of its progress, while the call is open: its milestone, else its heartbeat details. */
  readonly progress?: string
  /** Only of a call that waits because of the concurrency limit of its tool; its status is `waiting`. */
  readonly waitsForSlot?: true
  /** Only of a call whose effect is undone, or was. */
  readonly compensation?: CompensationNode
  /** The beginning of the result as JSON. */
  readonly resultPreview: string | undefined
  /** Reference of an external result. */
  readonly resultRef: ValueRef | undefined
  /** UTF-8 bytes of the whole result as JSON; 0 when there is none. */
  readonly resultBytes: number
  /** The reason when the status is not `ok`. */
  readonly message: string | undefined
  /**
   * Which tool blocked the event loop of the worker during the call, and for how long. It may be the tool of another
   * call.
   */
  readonly blocked?: string | undefined
}
