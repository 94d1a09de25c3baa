import type { ToolUseCaller } from '../common/runs/messages.js'
import type { BudgetItem } from '../common/runs/budget.js'
import type { ModelPhase } from '../common/runs/model-turn.js'

interface TurnFields {
  readonly turn: number
}

interface CompactionFields {
  /** Number of the turn that follows. */
  readonly turn: number
  /** Id of the message of a conversation that the turn is for. */
  readonly message?: string
  /** Estimated tokens of the request of that turn without the compaction. */
  readonly tokensBefore: number
}

interface CellFields {
  /** Number of the turn. Absent where the activity does not know the number. */
  readonly turn?: number
  readonly cell?: number
}

interface CallFields {
  /** The idempotency key of the call. */
  readonly call: string
  readonly tool: string
  /** `code_execution` for calls of code; `direct` for calls of the model. */
  readonly caller: string
  /** The caller in the form of the Messages API: `tool_id` is the tool use with the code. Only for code of a model. */
  readonly toolUseCaller?: Required<ToolUseCaller>
  readonly turn: number
  readonly cell: number
}

/** The data that an activity publishes. */
export type StreamData =
  | { readonly type: 'run.started'; readonly model: string; readonly agent?: string }
  /**
   * `messages`: number of messages of the conversation before this turn. `committedTurns`: number of turns that became
   * part of it; unchanged when the reply of the turn before did not. `message`: id of the message of a conversation
   * that the turn is for. `planStep`: id of the plan step that the turn works on.
   */
  | ({
      readonly type: 'turn.started'
      readonly model: string
      readonly messages: number
      readonly committedTurns?: number
      readonly message?: string
      readonly planStep?: string
    } & TurnFields)
  /** The current activity of the model. */
  | ({ readonly type: 'turn.progressed'; readonly phase: ModelPhase } & TurnFields)
  /** Text while the model writes it. `block` is the position of its block in the reply. */
  | ({ readonly type: 'text.delta'; readonly block: number; readonly text: string } & TurnFields)
  /** Code while the model writes it. */
  | ({ readonly type: 'code.delta'; readonly block: number; readonly text: string } & TurnFields)
  /** The reply is complete and stored. */
  | ({ readonly type: 'turn.completed'; readonly stopReason: string } & TurnFields)
  /** An attempt has failed. When Temporal retries it, a `retry` follows. */
  | ({ readonly type: 'turn.failed'; readonly code: string; readonly message?: string } & TurnFields)
  /** The messages are made shorter before a turn, because the context window is nearly full. */
  | ({ readonly type: 'compaction.started' } & CompactionFields)
  /**
   * `shortened`: number of tool results. `summarized`: number of messages. `problem`: why a needed summary is missing.
   */
  | ({
      readonly type: 'compaction.completed'
      readonly tokensAfter: number
      readonly shortened: number
      readonly summarized: number
      readonly problem?: string
    } & CompactionFields)
  /** An attempt has failed. Temporal may retry it. After the last attempt the run continues with unchanged messages. */
  | ({ readonly type: 'compaction.failed'; readonly code: string } & CompactionFields)
  | ({ readonly type: 'cell.started' } & CellFields)
  /** The end of the output of code since its step began. Void when `output.delta` or `cell.completed` follows. */
  | ({ readonly type: 'output.preview'; readonly text: string } & CellFields)
  /** The output of code in a step. */
  | ({ readonly type: 'output.delta'; readonly text: string } & CellFields)
  | ({ readonly type: 'cell.completed'; readonly status: string; readonly error?: string } & CellFields)
  /** The sandbox was lost before the step ended. */
  | { readonly type: 'step.failed' }
  /**
   * The run waits until its budget is raised. `amount`: that of the budget; absent when the cost is unknown. Later
   * `turn.started` follows.
   */
  | { readonly type: 'budget.spent'; readonly item: BudgetItem; readonly amount?: number }
  /** A call waits for the approval of a person. Later `call.started` follows, unless the call was denied. */
  | ({ readonly type: 'approval.requested'; readonly summary: string } & CallFields)
  | ({ readonly type: 'call.started'; readonly summary: string } & CallFields)
  /** Progress that the tool reports to people who watch. */
  | ({ readonly type: 'milestone.reached'; readonly text: string } & CallFields)
  /** `status`: as in outcomes, or `deferred` when the result comes later. */
  | ({ readonly type: 'call.completed'; readonly status: string } & CallFields)

/** A record of an attempt at a unit, in the form that a sink stores. */
export interface StreamRecord {
  /** Run id of the execution of the workflow. */
  readonly runId: string
  /** The unit that a retry repeats: `run`, `turn/N`, `step/SESSION/N` or `call/KEY`. */
  readonly unit: string
  /** Epoch of the sandbox for a step; otherwise 0. Epoch and attempt order the attempts at a unit. */
  readonly epoch: number
  /** Number of the attempt of the activity, from 1; 0 for records of the activity before it. */
  readonly attempt: number
  /** Number of the record within its attempt, from 1 without gaps. */
  readonly number: number
  /** Milliseconds since the epoch, by the clock of the worker. */
  readonly time: number
  readonly data: StreamData
}

interface EventFields {
  /** Value for `from`: the stream continues after this event. */
  readonly offset: string
  /** Milliseconds since the epoch. */
  readonly time: number
}

interface UnitFields {
  /** The unit that a retry repeats: a turn, a step or a call. */
  readonly unit: string
  readonly attempt: number
}

type PublishedData = Exclude<StreamData, { readonly type: 'step.failed' }>

type DistributeFields<Data> = Data extends unknown ? Data & UnitFields & EventFields : never

/** How a run ended. */
export interface RunEnd {
  readonly status: string
  /** Why a run whose workflow completed is `failed`: `turn_limit`, `code_error` and so on. */
  readonly outcome?: string
  /** Error of a run whose workflow failed, was cancelled, terminated or timed out. */
  readonly error?: { readonly code: string; readonly message: string }
}

/** An event of the live stream of a run. docs/guides/streaming.md describes each event. */
export type StreamEvent =
  | DistributeFields<PublishedData>
  /** Another attempt at a unit begins. */
  | ({ readonly type: 'retry' } & UnitFields & EventFields)
  /** The events of this unit so far are void. The first of them has the offset `since`. */
  | ({ readonly type: 'reset'; readonly unit: string; readonly since: string } & EventFields)
  /** Events of this unit, or of the whole run, are missing here. */
  | ({ readonly type: 'gap'; readonly unit?: string } & EventFields)
  /** The run has ended. Always the last event. */
  | ({ readonly type: 'end' } & RunEnd & EventFields)
