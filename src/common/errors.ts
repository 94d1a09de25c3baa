/**
 * Failing for the engine (failing for the model is an outcome, see outcomes.ts). One closed table: the code of an error
 * says whether Temporal retries it.
 */
export const errorTable = {
  // configuration and tools
  CONFIG_INVALID: { retryable: false },
  CONFIG_NOT_FOUND: { retryable: false },
  TOOL_NAME_INVALID: { retryable: false },
  TOOL_DUPLICATE: { retryable: false },
  TOOL_UNKNOWN: { retryable: false },
  TOOL_NOT_ALLOWED: { retryable: false },
  TOOL_INPUT_INVALID: { retryable: false },
  TOOL_OUTPUT_INVALID: { retryable: false },
  TOOL_RESULT_TOO_LARGE: { retryable: false },
  /** The tool said no on purpose, by a ToolError. */
  TOOL_REFUSED: { retryable: false },
  TOOL_FAILED: { retryable: true },
  TOOL_TIMED_OUT: { retryable: true },
  /** The worker that took the call has no tool of this name: another worker may have it. */
  TOOL_NOT_REGISTERED: { retryable: true },
  /** The tool was changed after the run began, and no longer takes these arguments. */
  TOOL_CHANGED: { retryable: false },
  /** Every attempt ended with its worker. */
  TOOL_LOST: { retryable: false },
  /** It blocked the event loop of its worker for longer than its timeout. */
  TOOL_BLOCKED: { retryable: false },
  /** A `once` tool that another worker may have run. */
  TOOL_OUTCOME_UNKNOWN: { retryable: false },
  // model
  MODEL_AUTH: { retryable: false },
  MODEL_BAD_REQUEST: { retryable: false },
  MODEL_CONTEXT_TOO_LONG: { retryable: false },
  MODEL_NOT_FOUND: { retryable: false },
  MODEL_RATE_LIMIT: { retryable: true },
  MODEL_OVERLOADED: { retryable: true },
  MODEL_SERVER: { retryable: true },
  MODEL_TIMEOUT: { retryable: true },
  MODEL_CONNECTION: { retryable: true },
  MODEL_STREAM: { retryable: true },
  // sandbox
  SANDBOX_UNAVAILABLE: { retryable: true },
  /** A worker looks for it before it starts; what is removed later is made again by somebody. */
  SANDBOX_IMAGE_MISSING: { retryable: true },
  /** What is there would run code, but can't hold it back: limits it does not enforce, no seccomp. */
  SANDBOX_UNENFORCED: { retryable: false },
  SANDBOX_LOST: { retryable: false },
  SANDBOX_PROTOCOL: { retryable: false },
  SANDBOX_FENCED: { retryable: false },
  SANDBOX_NAME_TAKEN: { retryable: false },
  // values kept outside of the history
  VALUE_MISSING: { retryable: false },
  /** Other bytes than its key says. */
  VALUE_CORRUPT: { retryable: false },
  VALUE_STORE_UNAVAILABLE: { retryable: true },
  VALUE_STORE_FULL: { retryable: true },
  /** Read-only, access denied, no such bucket: waiting cures none of them. */
  VALUE_STORE_REFUSED: { retryable: false },
  /** Something refers to a value, and whoever reads it was not told where values are. */
  VALUE_STORE_UNKNOWN: { retryable: false },
  // runs, as their client sees them
  RUN_INPUT_INVALID: { retryable: false },
  RUN_EXISTS: { retryable: false },
  RUN_CANCELLED: { retryable: false },
  RUN_TERMINATED: { retryable: false },
  RUN_TIMED_OUT: { retryable: false },
  /** Nobody polls the task queue. */
  WORKER_MISSING: { retryable: false },
  // sessions that outlive a run
  /** There never was one of this name, as far as the server remembers. */
  SESSION_NOT_FOUND: { retryable: false },
  /** It was not used for too long; nothing was executed. */
  SESSION_EXPIRED: { retryable: false },
  SESSION_CLOSED: { retryable: false },
  /** It has had as many executions, or as long a history, as a session may have. */
  SESSION_FULL: { retryable: false },
  /** It is the sandbox of a run, and ends with that. */
  SESSION_OWNED: { retryable: false },
  // engine
  TEMPORAL_UNREACHABLE: { retryable: false },
  TEMPORAL_NOT_FOUND: { retryable: false },
  LIMIT_EXCEEDED: { retryable: false },
  INTERNAL: { retryable: false },
} as const satisfies Record<string, { readonly retryable: boolean }>

export type ErrorCode = keyof typeof errorTable

export interface PtcErrorOptions {
  /** What the reader can do about it, as a full sentence. */
  readonly hint?: string
  readonly cause?: unknown
  /** Ask for the next attempt no sooner than this (a provider's Retry-After). */
  readonly retryAfterMs?: number
}

const marker: unique symbol = Symbol.for('durable-ptc.error')

/** The base of every error the engine throws on purpose. `code` is stable and may be matched on. */
export class PtcError extends Error {
  override readonly name = 'PtcError'
  readonly code: ErrorCode
  readonly hint: string | undefined
  readonly retryAfterMs: number | undefined
  readonly [marker] = true

  constructor(code: ErrorCode, message: string, options: PtcErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.hint = options.hint
    this.retryAfterMs = options.retryAfterMs
  }

  get retryable(): boolean {
    return errorTable[this.code].retryable
  }

  /** True for a PtcError of any copy of this package. */
  static isInstance(value: unknown): value is PtcError {
    return typeof value === 'object' && value !== null && marker in value
  }
}

/** The message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}
