import type { JsonValue } from './json.js'

/**
 * How a tool call ended, as the model or its code gets to know it. Failing for the model is data, never a thrown error:
 * code in a sandbox sees an exception it can catch, a direct call a `tool_result` with `is_error`.
 */
export type CallOutcome =
  | { readonly status: 'ok'; readonly value: JsonValue }
  /** The tool ran and said no, threw, or gave what its output schema forbids. */
  | { readonly status: 'tool_error'; readonly message: string }
  /** The arguments do not fit the tool's input schema; the tool did not run. */
  | { readonly status: 'invalid_arguments'; readonly message: string }
  /** There is no such tool, or this caller may not call it; nothing ran. */
  | { readonly status: 'denied'; readonly message: string }
  | { readonly status: 'timed_out'; readonly message: string }
  /** An `effect: 'once'` tool was interrupted: it may or may not have happened. */
  | { readonly status: 'outcome_unknown'; readonly message: string }
  | { readonly status: 'cancelled'; readonly message: string }

export type CallStatus = CallOutcome['status']

/** How a cell (one `execute_code`) ended, as the model gets to know it. */
export type CellOutcome =
  | { readonly status: 'ok'; readonly output: string }
  /** The code raised; `error` is a readable traceback of the cell's own lines. */
  | { readonly status: 'code_error'; readonly output: string; readonly error: string }
  /** The cell used up its time; `sessionKept` says whether variables are still there. */
  | { readonly status: 'timed_out'; readonly output: string; readonly error: string; readonly sessionKept: boolean }
  /** A limit other than time (memory, calls, frame size …). */
  | {
      readonly status: 'limit_exceeded'
      readonly output: string
      readonly error: string
      readonly sessionKept: boolean
    }
  /** Somebody stopped it, as by Ctrl-C. */
  | { readonly status: 'stopped'; readonly output: string; readonly error: string; readonly sessionKept: boolean }
  /** A rebuilt session did not repeat its recorded calls. */
  | { readonly status: 'diverged'; readonly output: string; readonly error: string }
  /** The sandbox died and could not be rebuilt; variables are gone. */
  | { readonly status: 'lost'; readonly output: string; readonly error: string }

export type CellStatus = CellOutcome['status']
