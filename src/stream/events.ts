import type { EventOf } from '../common/telemetry/event-table.js'

/** The data that an activity publishes. */
export type StreamData = EventOf<'stream'>

/** A record of an attempt at a unit, in the form that a sink stores. */
export interface StreamRecord {
  /** Run id of the execution of the workflow. */
  readonly runId: string
  /** The unit that a retry repeats: `run`, `turn/N`, `step/SESSION/N`, `call/KEY` or `request/SESSION/STEP/ATTEMPT/N`. */
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

type WithFields<Data> = Data extends unknown ? Data & UnitFields & EventFields : never

/** How a run ended. */
export interface RunEnd {
  readonly status: string
  /** Why a run whose workflow completed is `failed`: `turn_limit`, `code_error` and so on. */
  readonly outcome?: string
  /** Error of a run whose workflow failed, was cancelled, terminated or timed out. */
  readonly error?: { readonly code: string; readonly message: string }
}

/**
 * An event of the live stream of a run. docs/reference/events.md describes each event. An event of the stream itself
 * has one word.
 */
export type StreamEvent =
  | WithFields<Exclude<StreamData, { readonly type: 'step.failed' }>>
  /** Another attempt at a unit begins. */
  | ({ readonly type: 'retry' } & UnitFields & EventFields)
  /** The events of this unit so far are void. The first of them has the offset `since`. */
  | ({ readonly type: 'reset'; readonly unit: string; readonly since: string } & EventFields)
  /** Events of this unit, or of the whole run, are missing here. */
  | ({ readonly type: 'gap'; readonly unit?: string } & EventFields)
  /** The run has ended. Always the last event. */
  | ({ readonly type: 'end' } & RunEnd & EventFields)
