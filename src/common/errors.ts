/**
 * Error codes of the engine. The table is closed: it decides for each code whether Temporal retries the activity. A
 * failure for the model is not an error but an outcome, see outcomes.ts.
 */
export const errorTable = {
  // configuration and tools
  CONFIG_INVALID: { retryable: false },
  CONFIG_NOT_FOUND: { retryable: false },
  TOOL_NAME_INVALID: { retryable: false },
  TOOL_DUPLICATE: { retryable: false },
  /** A source of tools could not list its tools, or be closed. */
  TOOL_SOURCE_FAILED: { retryable: true },
  AGENT_DUPLICATE: { retryable: false },
  /** The configuration of the worker has no agent of this name. */
  AGENT_UNKNOWN: { retryable: false },
  TOOL_UNKNOWN: { retryable: false },
  /** The folder of a skill does not have the open format, or is too large. */
  SKILL_INVALID: { retryable: false },
  /** The run, or the configuration of the worker, has no skill of this name. */
  SKILL_UNKNOWN: { retryable: false },
  TOOL_NOT_ALLOWED: { retryable: false },
  TOOL_INPUT_INVALID: { retryable: false },
  TOOL_OUTPUT_INVALID: { retryable: false },
  TOOL_RESULT_TOO_LARGE: { retryable: false },
  /** The tool threw a ToolError. */
  TOOL_REFUSED: { retryable: false },
  /** The service of the tool asks people. The call is executed again when they have answered. */
  TOOL_INPUT_REQUIRED: { retryable: false },
  TOOL_FAILED: { retryable: true },
  /** The tool threw an error that its retry policy excludes. */
  TOOL_NOT_RETRIED: { retryable: false },
  TOOL_TIMED_OUT: { retryable: true },
  /** The worker that got the call has no tool of this name; another worker may have it. */
  TOOL_NOT_REGISTERED: { retryable: true },
  /** The tool was changed after the run began, and no longer takes these arguments. */
  TOOL_CHANGED: { retryable: false },
  /** The worker of every attempt was lost. */
  TOOL_LOST: { retryable: false },
  /** The tool blocked the event loop of its worker for longer than its timeout. */
  TOOL_BLOCKED: { retryable: false },
  /** A credential that the tool needs could not be read; the tool did not run. */
  CREDENTIAL_UNAVAILABLE: { retryable: true },
  /** A later attempt of the same call has started on the same worker. */
  ATTEMPT_SUPERSEDED: { retryable: true },
  /** Another worker may have run this `once` tool. */
  TOOL_OUTCOME_UNKNOWN: { retryable: false },
  /** The worker of an attempt died; another worker of its host noticed. */
  WORKER_LOST: { retryable: true },
  // model
  MODEL_AUTH: { retryable: false },
  MODEL_BAD_REQUEST: { retryable: false },
  MODEL_CONTEXT_TOO_LONG: { retryable: false },
  MODEL_NOT_FOUND: { retryable: false },
  /** The container of hosted code has expired. The run continues without it. */
  MODEL_CONTAINER_EXPIRED: { retryable: false },
  /** The worker that got the turn has no such provider; another worker may have it. */
  MODEL_PROVIDER_MISSING: { retryable: true },
  MODEL_RATE_LIMIT: { retryable: true },
  MODEL_OVERLOADED: { retryable: true },
  MODEL_SERVER: { retryable: true },
  MODEL_TIMEOUT: { retryable: true },
  MODEL_CONNECTION: { retryable: true },
  MODEL_STREAM: { retryable: true },
  /** A complete reply has an unusable form. The model is asked once more. */
  MODEL_REPLY_INVALID: { retryable: true },
  // sandbox
  SANDBOX_UNAVAILABLE: { retryable: true },
  /** A service that a backend needs, such as the Docker daemon, does not answer. Runs wait for it. */
  SANDBOX_BACKEND_DOWN: { retryable: true },
  /** A worker prepares the image when it starts, so this means a removal afterwards; the next start repairs it. */
  SANDBOX_IMAGE_MISSING: { retryable: true },
  /** An image, or a package in it, could not be installed. The message has the last lines of the log. */
  SANDBOX_IMAGE_BUILD_FAILED: { retryable: false },
  /** A wheel for the embedded sandbox is missing, broken, or for another interpreter. The message names it. */
  SANDBOX_WHEELS_INVALID: { retryable: false },
  /** The backend could run code, but can't enforce its limits, or has no seccomp. */
  SANDBOX_UNENFORCED: { retryable: false },
  /** The run has files for its code, or a tool that returns files, and this backend can't put them into a sandbox. */
  SANDBOX_FILES_UNSUPPORTED: { retryable: false },
  /** The code of the run may reach hosts, and this backend can't give a sandbox a network. */
  SANDBOX_NETWORK_UNSUPPORTED: { retryable: false },
  SANDBOX_LOST: { retryable: false },
  SANDBOX_PROTOCOL: { retryable: false },
  SANDBOX_FENCED: { retryable: false },
  SANDBOX_NAME_TAKEN: { retryable: false },
  // values in the value store
  VALUE_MISSING: { retryable: false },
  /** The stored bytes do not match the key, or are not what was recorded. */
  VALUE_CORRUPT: { retryable: false },
  VALUE_STORE_UNAVAILABLE: { retryable: true },
  VALUE_STORE_FULL: { retryable: true },
  /** The store is read-only, denies access, or has no such bucket: a retry would not help. */
  VALUE_STORE_REFUSED: { retryable: false },
  /** A payload refers to a value, and its reader has no value store configured. */
  VALUE_STORE_UNKNOWN: { retryable: false },
  // encryption
  /** A process does not have the key. The key may be added, and another worker may have it. */
  ENCRYPTION_KEY_UNAVAILABLE: { retryable: true },
  /** The data was changed, or encrypted with another key of the same id. */
  DECRYPTION_FAILED: { retryable: false },
  // audit log
  /** An event could not be written. The reported operation has not begun. */
  AUDIT_UNAVAILABLE: { retryable: true },
  // approvals
  /** People could not be notified of a call that needs approval. */
  APPROVAL_REQUEST_FAILED: { retryable: true },
  // runs, seen by a client
  RUN_INPUT_INVALID: { retryable: false },
  /** The answer of a run does not match the output schema of this client's agent. */
  RUN_OUTPUT_INVALID: { retryable: false },
  RUN_EXISTS: { retryable: false },
  RUN_CANCELLED: { retryable: false },
  RUN_TERMINATED: { retryable: false },
  RUN_TIMED_OUT: { retryable: false },
  /** The completion token is invalid, or of another namespace. */
  COMPLETION_TOKEN_INVALID: { retryable: false },
  /** No call waits for this result: the run has ended or dropped the call, or the token is not of a call. */
  CALL_NOT_FOUND: { retryable: false },
  /** The call has another result. */
  CALL_COMPLETED: { retryable: false },
  CALL_EXPIRED: { retryable: false },
  /** The run is about to continue as new, or its workflow task keeps failing. The client sends the result again. */
  RUN_BUSY: { retryable: true },
  /** No worker polls the task queue. */
  WORKER_MISSING: { retryable: false },
  // named sessions
  /** The server knows no session of this name. */
  /** A use of a session's files failed: the message has the reason. */
  SESSION_FILE_FAILED: { retryable: false },
  SESSION_NOT_FOUND: { retryable: false },
  /** The session expired before the request; nothing was executed. */
  SESSION_EXPIRED: { retryable: false },
  SESSION_CLOSED: { retryable: false },
  /** The session reached its maximum number of executions, or its maximum history. */
  SESSION_FULL: { retryable: false },
  /** The session belongs to a run, and ends with it. */
  SESSION_OWNED: { retryable: false },
  // conversations
  /** The server knows no conversation of this name. */
  CONVERSATION_NOT_FOUND: { retryable: false },
  CONVERSATION_CLOSED: { retryable: false },
  /** Too many messages wait for their answers. */
  CONVERSATION_FULL: { retryable: false },
  /** The conversation works on a message, and its history can't be replaced now. */
  CONVERSATION_BUSY: { retryable: false },
  /** No message has this id, or its answer is no longer kept. */
  MESSAGE_NOT_FOUND: { retryable: false },
  FILE_NOT_FOUND: { retryable: false },
  // evals
  /** A task file, or a file that it names, is invalid. */
  EVAL_TASK_INVALID: { retryable: false },
  /** The database of results can't be opened, or its package is not installed. */
  EVAL_STORE_UNAVAILABLE: { retryable: false },
  EVAL_NOT_FOUND: { retryable: false },
  /** Another process works on the eval. */
  EVAL_BUSY: { retryable: false },
  // engine
  TEMPORAL_UNREACHABLE: { retryable: false },
  TEMPORAL_NOT_FOUND: { retryable: false },
  LIMIT_EXCEEDED: { retryable: false },
  /** An exception or a rejected promise that nothing caught, in the work of an activity. */
  UNCAUGHT_ERROR: { retryable: true },
  INTERNAL: { retryable: false },
} as const satisfies Record<string, { readonly retryable: boolean }>

export type ErrorCode = keyof typeof errorTable

/**
 * Error codes that the retry policy of every activity excludes. Temporal's SDK marks each failure to decode the input
 * of an activity as retryable, even if the codec marks it as permanent.
 */
export const notRetriedInputErrors: readonly ErrorCode[] = ['DECRYPTION_FAILED']

export interface PtcErrorOptions {
  /** Advice for the reader, as a full sentence. */
  readonly hint?: string
  readonly cause?: unknown
  /** Minimum delay before the next attempt, such as a provider's Retry-After. */
  readonly retryAfterMs?: number
  /** Data for the workflow, as JSON. */
  readonly details?: unknown
}

const marker: unique symbol = Symbol.for('durable-ptc.error')

/** The base of every error the engine throws on purpose. `code` is stable and may be matched on. */
export class PtcError extends Error {
  override readonly name = 'PtcError'
  readonly code: ErrorCode
  readonly hint: string | undefined
  readonly retryAfterMs: number | undefined
  readonly details: unknown
  readonly [marker] = true

  constructor(code: ErrorCode, message: string, options: PtcErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.hint = options.hint
    this.retryAfterMs = options.retryAfterMs
    this.details = options.details
  }

  get retryable(): boolean {
    return errorTable[this.code].retryable
  }

  /** True for a PtcError of any copy of this package. */
  static isInstance(value: unknown): value is PtcError {
    return typeof value === 'object' && value !== null && marker in value
  }
}

/** Returns the message of any thrown value. Never throws, even when a proxy or a getter does. */
export function messageOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown)
  } catch {
    return 'something was thrown that can not be read'
  }
}
