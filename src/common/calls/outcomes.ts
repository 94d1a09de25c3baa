import { defined } from '../defined.js'
import type { LostFile, StoredFile } from '../files/files.js'
import type { ErrorCode } from '../errors.js'
import type { Effect } from './calls.js'
import type { FloatMask } from '../json/floats.js'
import type { JsonValue } from '../json/json.js'
import type { TextRange } from '../text/text-ranges.js'

/**
 * The outcome of a tool call, for the model or its code. A failed call is data, never a thrown error: code in a sandbox
 * gets an exception that it can catch, and the model a `tool_result` with `is_error`.
 */
export type CallOutcome =
  | {
      readonly status: 'ok'
      readonly value: JsonValue
      /** Marks the numbers of the value that are floats. Set for a remote tool that is called by code. */
      readonly floats?: FloatMask
      /**
       * The file that the tool has returned; `value` is its path. Set only inside of a workflow, until the sandbox has
       * the file.
       */
      readonly file?: StoredFile
    }
  /** The tool rejected the call, threw, or returned a value that does not match its output schema. */
  | { readonly status: 'tool_error'; readonly message: string }
  /** The arguments do not match the tool's input schema; the tool did not run. */
  | { readonly status: 'invalid_arguments'; readonly message: string }
  /** The tool does not exist, or this caller may not call it; nothing ran. */
  | {
      readonly status: 'denied'
      readonly message: string
      /** Set only inside of a workflow: the person who denied the call wants the earlier calls to be compensated. */
      readonly compensates?: true
    }
  | { readonly status: 'timed_out'; readonly message: string }
  /** An `effect: 'once'` tool was interrupted: its effect may or may not have happened. */
  | { readonly status: 'outcome_unknown'; readonly message: string }
  | { readonly status: 'cancelled'; readonly message: string }

export type CallStatus = CallOutcome['status']

type FailedCallStatus = Exclude<CallStatus, 'ok'>

/** Error codes of a tool activity that have a separate call status. */
const statusByErrorCode: { readonly [Code in ErrorCode]?: FailedCallStatus } = {
  TOOL_UNKNOWN: 'denied',
  TOOL_NOT_ALLOWED: 'denied',
  TOOL_INPUT_INVALID: 'invalid_arguments',
  TOOL_TIMED_OUT: 'timed_out',
  TOOL_NOT_REGISTERED: 'denied',
  TOOL_CHANGED: 'invalid_arguments',
  TOOL_LOST: 'timed_out',
  TOOL_BLOCKED: 'timed_out',
  TOOL_OUTCOME_UNKNOWN: 'outcome_unknown',
}

/** Returns the call status for the error code of a tool activity; `tool_error` for any other code. */
export function toCallStatus(code: string): FailedCallStatus {
  return statusByErrorCode[code as ErrorCode] ?? 'tool_error'
}

/** Returns the outcome of a `once` call when its effect may have happened. */
export function outcomeUnknown(tool: string, why: string): CallOutcome {
  return {
    status: 'outcome_unknown',
    message: `${tool} may or may not have happened: ${why}. It is not repeated by itself.`,
  }
}

/**
 * Returns the outcome of a call whose tool, or whose attempt, failed with this error code.
 *
 * @param code of the engine's errors
 */
export function outcomeOfFailure(
  { name, effect }: { readonly name: string; readonly effect: Effect },
  code: string | null | undefined,
  message: string,
): CallOutcome {
  const status = toCallStatus(code ?? '')
  if (status === 'outcome_unknown') return outcomeUnknown(name, message)
  if (status === 'timed_out' && effect === 'once') return outcomeUnknown(name, 'it did not answer in time')
  // The tool threw, or its result was lost. Only a `ToolError` says that the tool had no effect.
  const isUnknown = code === 'TOOL_FAILED' || code?.startsWith('VALUE_') === true
  return effect === 'once' && isUnknown ? outcomeUnknown(name, message) : { status, message }
}

/**
 * Failure types of an attempt that ended with its worker: the type of Temporal's SDK for a shutdown, and the engine's
 * type for a worker that died.
 */
export const lostWorkerFailureTypes = ['WorkerShutdown', 'WORKER_LOST'] as const

/** Returns whether an attempt with this type of failure ended with its worker. */
export function isLostWorkerFailure(type: string | null | undefined): boolean {
  return lostWorkerFailureTypes.some((lost) => lost === type)
}

/**
 * What a cell used, measured inside the sandbox: code that took over its runner can forge it. After a rebuild in the
 * middle of a cell, it is what the repeated execution used. See `usage` of the step protocol.
 */
export interface CellUsage {
  /** Milliseconds for which the code ran. Waiting for tools and timers is not counted. */
  readonly runMs: number
  /** Milliseconds of CPU time of the process and of its children that have ended. Absent: unknown. */
  readonly cpuMs?: number
  /** The highest memory of the process during the cell, without its children. Absent: unknown. */
  readonly peakMemoryBytes?: number
}

/** What the runner reports at the end of a cell. Absent for a cell whose sandbox was lost. */
export interface CellMeasures {
  /** The exit code of the program, or of the process that ran the cell. Absent: 0 after `ok`, 1 after `code_error`. */
  readonly exitCode?: number
  readonly usage?: CellUsage
}

/** Returns what the runner has reported, without the other members of a result. */
export function measuresOf({ exitCode, usage }: CellMeasures): CellMeasures {
  return defined({ exitCode, usage })
}

/** What the outcome of a cell has beside its status, its output and its error. */
interface CellReport extends CellMeasures {
  /** The parts of `output` that were printed to stderr. Absent: none. */
  readonly stderr?: readonly TextRange[]
  /** Milliseconds from the start of the cell to its end, waiting included. Absent: it did not start. */
  readonly durationMs?: number
  /** The artifacts that the cell has created or changed. Absent: none. */
  readonly files?: readonly StoredFile[]
  /** The artifacts that could not be kept. Absent: none. */
  readonly lostFiles?: readonly LostFile[]
}

/**
 * The outcome of a cell (one `execute_code`), for the model. `sessionKept`: the variables of earlier cells still exist.
 */
export type CellOutcome = CellReport &
  (
    | { readonly status: 'ok'; readonly output: string }
    /** The code raised; `error` is a readable traceback of the cell's own lines. */
    | { readonly status: 'code_error'; readonly output: string; readonly error: string }
    /** The cell reached its time limit. */
    | { readonly status: 'timed_out'; readonly output: string; readonly error: string; readonly sessionKept: boolean }
    /** The cell reached another limit: memory, calls, frame size … */
    | {
        readonly status: 'limit_exceeded'
        readonly output: string
        readonly error: string
        readonly sessionKept: boolean
      }
    /** A person interrupted the cell, for example with Ctrl-C. */
    | { readonly status: 'stopped'; readonly output: string; readonly error: string; readonly sessionKept: boolean }
    /** A rebuilt session did not repeat its recorded calls. */
    | { readonly status: 'diverged'; readonly output: string; readonly error: string }
    /** The sandbox died and could not be rebuilt; all variables are lost. */
    | { readonly status: 'lost'; readonly output: string; readonly error: string }
  )

export type CellStatus = CellOutcome['status']

type DistributiveOmit<Union, Key extends string> = Union extends unknown ? Omit<Union, Key> : never

/** The outcome of a cell without its output. */
export type CellEnd = DistributiveOmit<CellOutcome, 'output' | 'stderr' | 'files' | 'lostFiles'>
