/*
 * Events of runs: one table for the live stream, the audit log and their readers.
 *
 * Owns: the names of all events, their fields, and which sink gets them. Boundary: `observe` of src/activities
 * publishes events; src/stream and src/audit store them. docs/reference/events.md has the same table.
 *
 * Invariants:
 * 1. A name is `noun.verb`. The verb is `started`, `completed` or `failed`; where none of these fits, it is another
 *    past participle. A piece of a text is a `delta`, and a text that the next one replaces is a `preview`.
 * 2. One fact has one name. The live stream and the audit log do not name it differently.
 * 3. What only one sink gets is in the member with the name of this sink. The audit log gets digests, and the live
 *    stream gets texts.
 */
import type { CallDecision } from '../calls/calls.js'
import type { CallStatus, CellMeasures } from '../calls/outcomes.js'
import type { BudgetItem } from '../budget/budget.js'
import type { ToolUseCaller } from '../agent/messages.js'
import type { ModelPhase } from '../agent/model-turn.js'
import type { TextRange } from '../text/text-ranges.js'

export interface EventDefinition {
  /** The live stream gets the event. */
  readonly stream?: true
  /** When the audit log stores the event, seen from the effect that it reports. `attempt`: after each attempt at it. */
  readonly audit?: 'before' | 'after' | 'attempt'
}

export const eventTable = {
  'run.started': { stream: true },
  'turn.started': { stream: true },
  'turn.progressed': { stream: true },
  'text.delta': { stream: true },
  'code.delta': { stream: true },
  'turn.completed': { stream: true, audit: 'after' },
  'turn.failed': { stream: true },
  'compaction.started': { stream: true },
  'compaction.completed': { stream: true },
  'compaction.failed': { stream: true },
  'sampling.started': { stream: true },
  'sampling.completed': { stream: true, audit: 'after' },
  'sampling.failed': { stream: true },
  'cell.started': { stream: true, audit: 'before' },
  'output.preview': { stream: true },
  'output.delta': { stream: true },
  'cell.completed': { stream: true, audit: 'after' },
  'cell.failed': { stream: true, audit: 'after' },
  'step.failed': { stream: true, audit: 'after' },
  'request.refused': { stream: true, audit: 'after' },
  'request.started': { stream: true, audit: 'before' },
  'request.completed': { stream: true, audit: 'after' },
  'request.failed': { stream: true, audit: 'after' },
  'file.uploaded': { stream: true, audit: 'after' },
  'file.kept': { stream: true, audit: 'after' },
  'budget.spent': { stream: true },
  'approval.requested': { stream: true },
  'call.refused': { audit: 'after' },
  'call.started': { stream: true, audit: 'before' },
  'milestone.reached': { stream: true },
  'call.deferred': { stream: true, audit: 'attempt' },
  'call.decided': { audit: 'before' },
  'call.expired': { audit: 'after' },
  'call.completed': { stream: true, audit: 'attempt' },
  'call.failed': { stream: true, audit: 'attempt' },
  'compensation.started': { audit: 'before' },
  'compensation.completed': { audit: 'attempt' },
  'compensation.failed': { audit: 'attempt' },
} as const satisfies { readonly [Name in keyof EventFields]: EventDefinition }

interface TurnFields {
  readonly turn: number
}

interface PieceFields extends TurnFields {
  /** Position of the content block in the reply. */
  readonly block: number
  readonly text: string
}

interface CompactionFields {
  /** Number of the turn that follows. */
  readonly turn: number
  /** Id of the message of a conversation that the turn is for. */
  readonly message?: string
  /** Estimated tokens of the request of that turn without the compaction. */
  readonly tokensBefore: number
}

interface SamplingFields {
  readonly tool: string
  /** The position of the call. */
  readonly turn: number
  readonly cell: number
  readonly index: number
  /** In `sampling.completed`: as the provider names it. */
  readonly model: string
}

interface CellFields {
  /** Number of the turn. Absent where the activity does not know the number. */
  readonly turn?: number
  readonly cell?: number
}

interface StepFields {
  readonly session: string
  /** Number of the sandbox of the session. */
  readonly epoch: number
  readonly step: number
}

interface RequestFields extends CellFields {
  /** Number of the request in the session's step, from 1. */
  readonly request: number
  /** Empty when the request names no host. */
  readonly host: string
  readonly port: number
  /** CONNECT for a connection by TLS, which nobody but the program and the server can read. */
  readonly method: string
}

interface TransferFields {
  /** Bytes of the bodies of request and response, or of a whole connection. */
  readonly bytesSent: number
  readonly bytesReceived: number
  readonly durationMs: number
}

interface FileFields {
  readonly path: string
  readonly bytes: number
  readonly sha256: string
  readonly mediaType: string
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
  /** Number of the call in its cell, or in its turn, from 1. */
  readonly index: number
}

/** A description of the call on one line, after the redaction hook. */
interface Summary {
  readonly summary: string
}

/** The fields of each event: those of all its sinks (`all`), and those that only one sink gets. */
interface EventFields {
  'run.started': { readonly all: { readonly model: string; readonly agent?: string } }
  /** The model is asked. */
  'turn.started': {
    readonly all: TurnFields & {
      readonly model: string
      /** Number of messages of the conversation before this turn. */
      readonly messages: number
      /**
       * Number of turns that became part of the conversation; unchanged when the reply of the turn before did not.
       */
      readonly committedTurns: number
      /** Id of the message of a conversation that the turn is for. */
      readonly message?: string
      /** Id of the plan step that the turn works on. */
      readonly planStep?: string
    }
  }
  /** The model does something else than before. */
  'turn.progressed': { readonly all: TurnFields & { readonly phase: ModelPhase } }
  /** Text while the model writes it. */
  'text.delta': { readonly all: PieceFields }
  /** Code while the model writes it. */
  'code.delta': { readonly all: PieceFields }
  /** The reply is complete and stored. `model`: as the provider names it. */
  'turn.completed': { readonly all: TurnFields & { readonly model: string; readonly stopReason: string } }
  /** An attempt has failed. When Temporal retries it, a `retry` follows. */
  'turn.failed': { readonly all: TurnFields & { readonly code: string; readonly message?: string } }
  /** The messages are made shorter before a turn, because the context window is nearly full. */
  'compaction.started': { readonly all: CompactionFields }
  'compaction.completed': {
    readonly all: CompactionFields & {
      readonly tokensAfter: number
      /** Number of tool results. */
      readonly shortened: number
      /** Number of messages. */
      readonly summarized: number
      /** Why a needed summary is missing. */
      readonly problem?: string
    }
  }
  /** An attempt has failed. Temporal may retry it. After the last attempt the run continues with unchanged messages. */
  'compaction.failed': { readonly all: CompactionFields & { readonly code: string } }
  /** The service of a tool asks the model during a call, as an MCP server does by sampling. */
  'sampling.started': { readonly all: SamplingFields }
  /** The reply is complete and stored. */
  'sampling.completed': { readonly all: SamplingFields & { readonly stopReason: string } }
  /** An attempt has failed. Temporal may retry it. After the last attempt the service gets an error. */
  'sampling.failed': { readonly all: SamplingFields & { readonly code: string } }
  'cell.started': {
    /** `language`: that of the code. Absent: the first language of the run. */
    readonly all: CellFields & { readonly language?: string }
    readonly audit: StepFields & {
      readonly codeSha256: string
      readonly codeBytes: number
      /** Only with `includesCode`. */
      readonly code?: string
    }
  }
  /** The end of the output of code since its step began. Void when another one, or `output.delta`, follows. */
  'output.preview': { readonly all: CellFields & { readonly text: string } }
  /** The output of code in a step. `stderr`: the parts of `text` that were printed to stderr. Absent: none. */
  'output.delta': { readonly all: CellFields & { readonly text: string; readonly stderr?: readonly TextRange[] } }
  'cell.completed': { readonly all: CellFields & CellMeasures; readonly audit: StepFields }
  /** `status`: `code_error`, or the limit that the code reached. */
  'cell.failed': {
    readonly all: CellFields & CellMeasures & { readonly status: string }
    readonly stream: { readonly error: string }
    readonly audit: StepFields
  }
  /** The sandbox was lost before the step ended. Readers of the live stream get a `reset` in its place. */
  'step.failed': { readonly all: CellFields; readonly audit: StepFields }
  /** Code wants to reach something that it may not. `rule`: docs/guides/network.md lists the rules. */
  'request.refused': { readonly all: RequestFields & { readonly rule: string }; readonly audit: StepFields }
  /** Code sends a request to a host, or opens a connection. */
  'request.started': { readonly all: RequestFields; readonly audit: StepFields }
  /** `status`: of the response, or 200 for a connection. */
  'request.completed': {
    readonly all: RequestFields & TransferFields & { readonly status: number }
    readonly audit: StepFields
  }
  /** `reason`: the connection broke, was silent for too long, or had too many bytes. */
  'request.failed': {
    readonly all: RequestFields & TransferFields & { readonly reason: string }
    readonly audit: StepFields
  }
  /** The sandbox has a file of a client. */
  'file.uploaded': { readonly all: FileFields; readonly audit: StepFields }
  /**
   * An artifact of a cell, or a file that a tool has returned, is in the value store. `step`: the last one of the cell.
   * `call`, `tool`: only of a tool.
   */
  'file.kept': { readonly all: FileFields; readonly audit: StepFields | Pick<CallFields, 'call' | 'tool'> }
  /**
   * The run waits until its budget is raised. `amount`: that of the budget; absent when the cost is unknown. Later
   * `turn.started` follows.
   */
  'budget.spent': { readonly all: { readonly item: BudgetItem; readonly amount?: number } }
  /** A call waits for the approval of a person. Later `call.started` follows, unless the call was denied. */
  'approval.requested': { readonly all: CallFields & Summary }
  /** The call never starts. `call`: its number. `reason`: what data would flow where; only when a rule refused it. */
  'call.refused': {
    readonly all: Pick<CallFields, 'tool' | 'index'> & {
      readonly status: string
      readonly digest: string
      readonly reason?: string
    }
  }
  /** `digest`: of the tool and the arguments. */
  'call.started': { readonly all: CallFields; readonly stream: Summary; readonly audit: { readonly digest: string } }
  /** The tool reports its progress to people who watch. */
  'milestone.reached': { readonly all: CallFields & { readonly text: string } }
  /** The tool has started its work. The result comes later, from outside. */
  'call.deferred': { readonly all: CallFields }
  /** A deferred call got its outcome, or a call its approval. */
  'call.decided': { readonly all: CallFields & CallDecision }
  /** The time for the decision is over. */
  'call.expired': { readonly all: CallFields }
  'call.completed': { readonly all: CallFields }
  /** An attempt has failed. `status`: that of the outcome. */
  'call.failed': { readonly all: CallFields & { readonly status: CallStatus } }
  /** The effect of a call is undone. */
  'compensation.started': { readonly all: CallFields }
  'compensation.completed': { readonly all: CallFields }
  'compensation.failed': { readonly all: CallFields & { readonly status: CallStatus } }
}

export type EventName = keyof EventFields

type Sink = keyof EventDefinition

/** What only one sink gets. It is made only for a worker that has the sink. */
type OwnFields<Row> = {
  readonly [To in Exclude<keyof Row, 'all'>]: () => Row[To] | (To extends 'audit' ? Promise<Row[To]> : never)
}

/** An event in the form in which an activity publishes it. */
export type RunEvent = {
  readonly [Name in EventName]: { readonly type: Name } & EventFields[Name]['all'] & OwnFields<EventFields[Name]>
}[EventName]

type NamesOf<To extends Sink> = {
  readonly [Name in EventName]: (typeof eventTable)[Name] extends { readonly [Key in To]: unknown } ? Name : never
}[EventName]

/** The events of a sink, in the form in which the sink gets them. */
export type EventOf<To extends Sink> = {
  readonly [Name in NamesOf<To>]: { readonly type: Name } & EventFields[Name]['all'] &
    (EventFields[Name] extends { readonly [Key in To]: infer Own } ? Own : unknown)
}[NamesOf<To>]
