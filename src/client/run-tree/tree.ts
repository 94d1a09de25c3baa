import type { LostFile, StoredFile } from '../../common/files/files.js'
import type { Caller, CallPosition } from '../../common/calls/calls.js'
import type { Requester } from '../../common/run/requester.js'
import type { JsonObject, JsonValue } from '../../common/json/json.js'
import type { ToolUseCaller, Usage } from '../../common/agent/messages.js'
import type { CallStatus, CellStatus, CellUsage } from '../../common/calls/outcomes.js'
import type { AgentResult, ProgramResult, RunCounts } from '../../common/run/runs.js'
import type { TextRange } from '../../common/text/text-ranges.js'
import type { CallDecision, DeferredWait, QuestionWait, RunWait } from './waits.js'
import type { ValueRef } from '../../common/json/external-value.js'
import type { Failure } from '../temporal/payload-reader.js'
import type { Unserved } from '../workers/unserved.js'

export type { Failure }

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

/** A workflow that does not belong to this library. */
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
  /** True when the server no longer has the first executions (retention), so that the tree starts later. */
  readonly lacksBeginning: boolean
  readonly workflowType: string
  /** `failed` also for a run that completed without success; its `result` has the reason. */
  readonly status: RunStatus
  readonly startedAt: number
  readonly endedAt: number | undefined
  /** Backend of the session; before a session is open, the configured one. */
  readonly backend: string | undefined
  /** Description of the sandbox for display: container name, image, interpreter. */
  readonly sandbox: string | undefined
  readonly model: string | undefined
  /**
   * For an ended run: why it failed. For a running run: why its workflow task fails (`WORKFLOW_TASK_FAILED`, or the
   * code of a missing key); the server retries the task.
   */
  readonly failure: Failure | undefined
  /** Task queues without a worker on which the run waits, and Nexus endpoints that do not start operations. */
  readonly unserved: readonly Unserved[]
  /** The waits of the run for something from outside, such as a decision of a person; the oldest first. */
  readonly waitsFor: readonly RunWait[]
  /** The requester in the context of the run. Absent: the context has none. */
  readonly requester?: Requester
  /** The uploads and the artifacts, the latest of each path. Absent: none. */
  readonly files?: readonly StoredFile[]
  /** The turns. A program without a model has one turn, with number 0. */
  readonly turns: readonly TurnNode[]
  readonly compactions: readonly CompactionNode[]
  /** Counts in the run's result; before there is one, counted from the history so far. */
  readonly totals: RunCounts
  readonly phase: Phase
}

export type RunStatus = 'running' | 'completed' | 'failed' | 'cancelled' | 'terminated' | 'timed_out'

/** The current activity of a run. */
export type Phase =
  | { readonly type: 'starting' }
  | { readonly type: 'model'; readonly turn: number }
  | { readonly type: 'opening_sandbox' }
  | { readonly type: 'rebuilding'; readonly cell: number | undefined }
  | { readonly type: 'waking'; readonly cell: number | undefined }
  | { readonly type: 'running_code'; readonly cell: number }
  /** Uploads are written into the sandbox, or artifacts are stored. */
  | { readonly type: 'moving_files' }
  | { readonly type: 'waiting_for_calls'; readonly open: number }
  /** The budget is spent. */
  | { readonly type: 'paused' }
  /** The work was not finished, and its calls are being compensated. */
  | { readonly type: 'compensating' }
  /** The run is between two activities. */
  | { readonly type: 'deciding' }
  | { readonly type: 'ended' }

export interface TurnNode {
  readonly number: number
  /** Id of the plan step of the turn. Absent outside of a plan step. */
  readonly planStep?: string
  /** Id of the message of the turn. Absent outside of conversations. */
  readonly message?: string
  readonly model: ModelNode | undefined
  readonly cells: readonly CellNode[]
  /** Calls that the model made directly, without code. */
  readonly directCalls: readonly CallNode[]
}

/** Start and end of a node. */
export interface Span {
  /** Time of scheduling, before a possible wait for a worker. */
  readonly startedAt: number
  readonly endedAt: number | undefined
}

/** The node of an activity, which Temporal retries. */
export interface Attempted extends Span {
  /** Attempts so far; 0 until a worker has started the activity. */
  readonly attempts: number
  /** Why the previous attempt failed. */
  readonly lastFailure: Failure | undefined
  /** Maximum attempts of the tool. Set only for an open call. */
  readonly maxAttempts?: number
  /** Start of the next attempt, while the node waits for it. Milliseconds since the epoch. */
  readonly nextAttemptAt?: number
}

/** `waiting`: the node waits for a worker. `interrupted`: the run ended first. */
export type PendingStatus = 'waiting' | 'running' | 'interrupted'

/** Returns whether the node has not finished. */
export function isPending(status: string): status is PendingStatus {
  return isOpen(status) || status === 'interrupted'
}

/** Returns whether the node has not finished and can still finish. */
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
     * UTF-8 bytes of the conversation, without system prompt and tools. Before the reply: only of the new content
     * blocks.
     */
    readonly requestBytes: number
  }

/** A compaction of the messages before a turn, because the context window was almost full. */
export type CompactionNode = (
  | { readonly status: PendingStatus }
  /** The compaction failed, and the run continued with the unchanged messages. */
  | { readonly status: 'failed'; readonly failure: Failure }
  | {
      readonly status: 'ok'
      readonly tokensAfter: number
      /** Number of shortened results of tools. */
      readonly shortened: number
      /** Number of messages that a summary replaced. */
      readonly summarized: number
      /** Why a summary that was needed is missing. */
      readonly problem?: string
    }
) &
  Attempted & {
    /** Number of the next turn. */
    readonly turn: number
    /** Estimated tokens of the request of this turn without the compaction. */
    readonly tokensBefore: number
  }

export interface ModelReplySummary {
  readonly model: string
  readonly text: string
  readonly stopReason: string
  /** The stop sequence at which the model stopped, if the provider reports it. Absent: none. */
  readonly stopSequence?: string
  readonly usage: Usage
  readonly costUsd: number | null
  /** UTF-8 bytes of the reply. */
  readonly replyBytes: number
  /** The parts of the messages that the provider has removed, in the format of its API. Absent: none. */
  readonly contextEdits?: readonly JsonObject[]
}

export interface CellNode extends Span {
  /** Number in the run, from 1. */
  readonly number: number
  /** Id of the tool use with the code. Absent: the code is not from a model, or the server no longer has its turn. */
  readonly toolUse?: string
  /**
   * The code. External code that was not fetched is replaced by a description and the preview. The same applies to
   * `output`.
   */
  readonly code: string
  /** The language of the code. Absent: the first language of the run. */
  readonly language?: string
  /** Reference of external code. */
  readonly codeRef: ValueRef | undefined
  readonly status: PendingStatus | CellStatus
  readonly output: string
  /** The parts of `output` that were printed to stderr. */
  readonly stderr: readonly TextRange[]
  /** References of external parts of the output. */
  readonly outputRefs: readonly ValueRef[]
  readonly error: string | undefined
  /** The exit code. Absent: 0 after `ok`, 1 after `code_error`, and else none. */
  readonly exitCode?: number
  /** Absent: the cell has not ended, its sandbox was lost, or Anthropic has executed it. */
  readonly usage?: CellUsage
  /** Number of steps, each from one suspension to the next. */
  readonly steps: number
  /** Number of rebuilds of the sandbox during the cell. */
  readonly rebuilds: number
  /** Number of times that the cell was resumed after parking. */
  readonly wakes: number
  readonly calls: readonly CallNode[]
  /** The artifacts that the cell has left. Absent: none. */
  readonly files?: readonly StoredFile[]
  /** Its artifacts that could not be kept, and the uploads that could not be written before it. Absent: none. */
  readonly lostFiles?: readonly LostFile[]
  /** Set only for a cell in the session of another workflow. The tree of that workflow has the calls. */
  readonly owner?: CellOwner
}

/** The workflow that executes a cell in its session: a named session, or the run of the parent. */
export interface CellOwner {
  readonly workflowId: string
  /** The name of the session for the run that holds it. Absent: the run holds none of this name. */
  readonly session?: string | undefined
  /** Calls that the cell has made; undefined before its end. */
  readonly toolCalls: number | undefined
}

/** The compensation of a call. */
export type CompensationNode = (
  | { readonly status: PendingStatus | 'ok' }
  /** The effect of the call still exists. */
  | { readonly status: 'failed'; readonly failure: Failure }
) &
  Attempted

export interface CallNode extends Attempted {
  readonly tool: string
  readonly summary: string
  /**
   * The arguments. External arguments that were not fetched are replaced by their reference, under the key `ptc.value`.
   */
  readonly arguments: JsonObject
  readonly caller: Caller
  /**
   * The caller in the format of the Messages API: `tool_id` is the tool use with the code. Set only for a call of code
   * that a model wrote.
   */
  readonly toolUseCaller?: ToolUseCaller
  /** Id of the tool use of a direct call. */
  readonly toolUse?: string
  readonly position: CallPosition
  /** The idempotency key. Undefined for a call that was rejected before it ran, and for a local call. */
  readonly idempotencyKey: string | undefined
  /** Id of the child workflow: the workflow of a remote tool, or the run of a sub-agent. Set only for such calls. */
  readonly workflowId?: string
  /** Number of the step that made the call; 0 for direct calls. */
  readonly step: number
  readonly status: PendingStatus | CallStatus
  /** Set only while a deferred call waits for its result. Its status is `running`. */
  readonly deferred?: DeferredWait | undefined
  /** Set only while a call waits for its approval. Its status is `waiting`. */
  readonly approval?: DeferredWait
  /** Set only while a call waits for the answer to a question of its tool. Its status is `running`. */
  readonly question?: QuestionWait
  /** Set only for a call that has waited for an approval, an answer or a result. */
  readonly decision?: CallDecision
  /** The latest reported progress of the tool, while the call is open: its milestone, else its heartbeat details. */
  readonly progress?: string
  /** Set only while a call waits because of the concurrency limit of its tool. Its status is `waiting`. */
  readonly waitsForSlot?: true
  /** Set only while a call waits for its lock: another call has it, or the locks of its tool. Its status is `waiting`. */
  readonly waitsForLock?: true
  /** The compensation of the call. Set only if it has begun. */
  readonly compensation?: CompensationNode
  /** The start of the result as JSON. */
  readonly resultPreview: string | undefined
  /** Reference of an external result. */
  readonly resultRef: ValueRef | undefined
  /** UTF-8 bytes of the whole result as JSON; 0 when there is none. */
  readonly resultBytes: number
  /** The file that the tool has returned: the result is its path. Absent: the tool returns none, or has failed. */
  readonly file?: StoredFile
  /** The reason when the status is not `ok`. */
  readonly message: string | undefined
  /**
   * Names the tool that blocked the event loop of the worker during the call, and the duration. It may be the tool of
   * another call.
   */
  readonly blocked?: string | undefined
}
