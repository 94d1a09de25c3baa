import type { ToolUseCaller } from '../common/runs/messages.js'
import type { BudgetItem } from '../common/runs/budget.js'
import type { ModelPhase } from '../common/runs/model-turn.js'

interface TurnFields {
  readonly turn: number
}

interface CompactionFields {
  /** The turn that follows. */
  readonly turn: number
  /** Id of the message of a conversation it is for. */
  readonly message?: string
  /** Estimated tokens of the request of that turn, as it would be. */
  readonly tokensBefore: number
}

interface CellFields {
  /** Number of the turn. Absent where the activity does not know it. */
  readonly turn?: number
  readonly cell?: number
}

interface CallFields {
  /** The idempotency key of the call. */
  readonly call: string
  readonly tool: string
  /** `code_execution`: code called it; `direct`: the model. */
  readonly caller: string
  /** The caller as the Messages API writes it: `tool_id` is the tool use with the code. Only of code of a model. */
  readonly toolUseCaller?: Required<ToolUseCaller>
  readonly turn: number
  readonly cell: number
}

/** What an activity publishes. */
export type StreamData =
  | { readonly type: 'run.begins'; readonly model: string; readonly agent?: string }
  /**
   * `messages`: of the conversation before this turn. `committedTurns`: how many turns became part of it; the same as
   * of the turn before, when the reply of that turn did not. `message`: id of the message of a conversation it is for.
   * `planStep`: id of the plan step that the turn works on.
   */
  | ({
      readonly type: 'turn.begins'
      readonly model: string
      readonly messages: number
      readonly committedTurns?: number
      readonly message?: string
      readonly planStep?: string
    } & TurnFields)
  /** What the model is doing. */
  | ({ readonly type: 'status'; readonly phase: ModelPhase } & TurnFields)
  /** Text as the model writes it. `block` tells the blocks of a reply apart, in their order. */
  | ({ readonly type: 'text'; readonly block: number; readonly text: string } & TurnFields)
  /** Code as the model writes it. */
  | ({ readonly type: 'code'; readonly block: number; readonly text: string } & TurnFields)
  /** The reply is complete and stored. */
  | ({ readonly type: 'turn.ends'; readonly stopReason: string } & TurnFields)
  /** An attempt has failed. Temporal may retry it: then a `retry` follows. */
  | ({ readonly type: 'turn.fails'; readonly code: string; readonly message?: string } & TurnFields)
  /** The messages are made shorter before a turn, because the context window gets full. */
  | ({ readonly type: 'compaction.begins' } & CompactionFields)
  /** `shortened`: results of tools. `summarized`: messages. `problem`: why there is no summary that was needed. */
  | ({
      readonly type: 'compaction.ends'
      readonly tokensAfter: number
      readonly shortened: number
      readonly summarized: number
      readonly problem?: string
    } & CompactionFields)
  /** An attempt has failed. Temporal may retry it; at last the run goes on with its messages as they are. */
  | ({ readonly type: 'compaction.fails'; readonly code: string } & CompactionFields)
  | ({ readonly type: 'cell.begins' } & CellFields)
  /** The end of what code has printed since its step began. Void when `output` or `cell.ends` follows. */
  | ({ readonly type: 'output.partial'; readonly text: string } & CellFields)
  /** What code has printed in a step. */
  | ({ readonly type: 'output'; readonly text: string } & CellFields)
  | ({ readonly type: 'cell.ends'; readonly status: string; readonly error?: string } & CellFields)
  /** The sandbox was lost before the step ended. */
  | { readonly type: 'step.lost' }
  /**
   * The run waits until its budget is raised. `amount`: of the budget; absent when the cost is unknown. After it
   * `turn.begins` follows.
   */
  | { readonly type: 'budget.spent'; readonly item: BudgetItem; readonly amount?: number }
  /** A call waits for the approval of a person. After it `call.begins` follows, unless the call was denied. */
  | ({ readonly type: 'approval.requested'; readonly summary: string } & CallFields)
  | ({ readonly type: 'call.begins'; readonly summary: string } & CallFields)
  /** What the tool tells people who watch. */
  | ({ readonly type: 'milestone'; readonly text: string } & CallFields)
  /** `status`: as in outcomes, or `deferred` when the result comes later. */
  | ({ readonly type: 'call.ends'; readonly status: string } & CallFields)

/** What an attempt at a unit has published, as a sink stores it. */
export interface StreamRecord {
  /** The execution of the workflow. */
  readonly runId: string
  /** What a retry repeats: `run`, `turn/N`, `step/SESSION/N` or `call/KEY`. */
  readonly unit: string
  /** Of the sandbox, for a step; otherwise 0. Together with the attempt it orders the attempts of a unit. */
  readonly epoch: number
  /** Of the activity, from 1; 0 for what was made in the activity before it. */
  readonly attempt: number
  /** Of the record among those of its attempt, from 1 without gaps. */
  readonly number: number
  /** Milliseconds since 1970, by the clock of the worker. */
  readonly time: number
  readonly data: StreamData
}

interface EventFields {
  /** For `from`: the stream continues after this event. */
  readonly offset: string
  /** Milliseconds since 1970. */
  readonly time: number
}

interface UnitFields {
  /** What a retry repeats: a turn, a step or a call. */
  readonly unit: string
  readonly attempt: number
}

type PublishedData = Exclude<StreamData, { readonly type: 'step.lost' }>

type DistributeFields<Data> = Data extends unknown ? Data & UnitFields & EventFields : never

/** How a run ended. */
export interface RunEnd {
  readonly status: string
  /** Why a run is `failed` whose workflow completed: `turn_limit`, `code_error` and so on. */
  readonly outcome?: string
  /** Of a run whose workflow failed, was cancelled, terminated or timed out. */
  readonly error?: { readonly code: string; readonly message: string }
}

/** An event of the live stream of a run. docs/guides/streaming.md describes each. */
export type StreamEvent =
  | DistributeFields<PublishedData>
  /** A further attempt at a unit begins. */
  | ({ readonly type: 'retry' } & UnitFields & EventFields)
  /** The events of this unit so far are void. The first of them has the offset `since`. */
  | ({ readonly type: 'reset'; readonly unit: string; readonly since: string } & EventFields)
  /** Events are missing here: of this unit, or of the whole run. */
  | ({ readonly type: 'gap'; readonly unit?: string } & EventFields)
  /** The run has ended. Always the last event. */
  | ({ readonly type: 'end' } & RunEnd & EventFields)
