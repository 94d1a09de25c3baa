/*
 * Sessions: references and payloads of the session activities, and the messages of a named session.
 *
 * Invariants:
 * 1. A session keeps its id; every rebuild uses the next epoch.
 * 2. All times are by the workflow's clock.
 */

import type { JsonObject, JsonValue } from '../json/json.js'
import type { Limits } from '../run/limits.js'
import type { ImageChoice } from '../run/sandbox-image.js'
import type { CellOutcome } from '../calls/outcomes.js'
import type { BackendChoice, ToolSet, ToolSetId } from '../run/run-config.js'
import type { StoredFile } from '../files/files.js'
import type { ExternalValue } from '../json/external-value.js'
import type { RunOptions } from '../run/runs.js'
import type { DescribedStepResult, NewStep } from './steps.js'

/** Reference to a session. A rebuild keeps the id and uses the next epoch. */
export interface SessionRef {
  /** Unique in the namespace. */
  readonly id: string
  readonly epoch: number
  readonly backend: BackendChoice
  /** Start of the session by the workflow's clock, in milliseconds since 1970. */
  readonly startedAt: number
}

/** The tools of a session's run. The signatures are present until the sandbox has its stubs. */
export type SessionTools = ToolSetId & Partial<Pick<ToolSet, 'signatures'>>

/** Input of activity `session.open`. */
export interface OpenInput {
  readonly session: SessionRef
  /** Name of the language that the sandbox runs. */
  readonly language: string
  readonly limits: Limits
  readonly tools: SessionTools
  /** The files of the sandbox, one set for each skill that has some. Absent: there are none. */
  readonly files?: readonly ExternalValue[]
  /** The image of the run. Absent: as the host is configured. */
  readonly image?: ImageChoice
  /** The image that the sandbox before had: {@link OpenedSession.image}. Absent: none is known. */
  readonly pinnedImage?: string
  /** True when the code has a network. Absent: it has none. */
  readonly network?: true
  /** The first step of the session, which the worker executes as well if it is short. Absent: it executes none. */
  readonly firstStep?: NewStep
  /** The reason why a sandbox is opened, for readers of the history. */
  readonly reason: 'new' | 'unpark' | 'rebuild'
}

/** Result of activity `session.open`. */
export interface OpenedSession {
  /** The requested session, with the backend that was chosen. */
  readonly session: SessionRef
  /** The task queue of the host that has the sandbox. */
  readonly hostQueue: string
  /** Container name, image and interpreter, for readers of the history. */
  readonly description: string
  /** True when the host can keep a parked sandbox as a checkpoint (`session.park`). */
  readonly supportsCheckpoint: boolean
  /** The immutable id of the image of the sandbox. Absent: the backend has no images. */
  readonly image?: string
  /** The result of the first step. Absent: it was not executed, or had not ended. A request for the step joins it. */
  readonly firstStep?: DescribedStepResult
}

/** Input of activity `session.interrupt`. */
export interface InterruptInput {
  readonly session: SessionRef
  readonly step: number
}

/** Argument of workflow `session`: a named session, which outlives a run. */
export interface SessionInput extends Omit<RunOptions, 'model'> {
  readonly name: string
  /** Update id of the execution that started the session. This execution returns `isNew: true`. */
  readonly startedByUpdateId: string
  /** The session executes uses of environment tools, too. */
  readonly environment?: true
  /** The run that holds the session, and its name for it. Absent: no run does, and any run may use it. */
  readonly heldBy?: { readonly workflowId: string; readonly name: string }
  readonly image?: ImageChoice
  /** Data for the code, in variable `input_data`. */
  readonly input?: JsonValue
  /** Digest of `input`. */
  readonly inputDigest?: string
  /** Digest of `network`. */
  readonly networkDigest?: string
  /** Set only for a session with files: none, because each execution brings its own. */
  readonly files?: readonly StoredFile[]
}

/** Describes a session for lists of workflows. */
export function sessionSummary({ name, heldBy }: Pick<SessionInput, 'name' | 'heldBy'>): string {
  return heldBy ? `session ${heldBy.name} of ${heldBy.workflowId}` : `session ${name}`
}

/** Argument of update `execute`. */
export interface ExecuteInput {
  readonly source: string
  /** The language of the code, one of those of the session. Undefined: its first. */
  readonly cellLanguage?: string
  /** The expected backend. A session with another backend refuses the execution. */
  readonly sandbox?: BackendChoice
  /** The expected language, by its name. A session in another language refuses the execution. Undefined: any. */
  readonly language?: string
  /** The expected context. A session with another context refuses the execution. */
  readonly context?: JsonObject
  /** Files for the code, from then on. Absent: none. */
  readonly files?: readonly StoredFile[]
  /** Digest of the expected input data. A session with other input data refuses the execution. */
  readonly inputDigest?: string
  /** Digest of the expected option `network`. A session that was started with another one refuses the execution. */
  readonly networkDigest?: string
}

/** Result of update `execute`. */
export interface ExecuteResult {
  readonly outcome: CellOutcome
  /** Number of the cell in its session, from 1. */
  readonly cell: number
  /** Tool calls of the cell. */
  readonly toolCalls: number
  /** True when this execution started the session, so that there are no variables of earlier executions. */
  readonly isNew: boolean
}

/** Argument of signal `interrupt`. */
export interface InterruptSignalInput {
  /** Update id of the execution to interrupt, running or queued; undefined: the running one, if any. */
  readonly updateId?: string
}

/** Result of query `inspect`; null for a run without a session. Times are milliseconds since 1970. */
export interface SessionStatus {
  /** `parked`: the session waits without a running sandbox. */
  readonly state: 'busy' | 'idle' | 'parked' | 'ending'
  /** The backend of the sandbox; before the first sandbox, the requested one. */
  readonly backend: BackendChoice
  /** Name of the language, or names with commas between them. Undefined before the configuration is read, and for the sandbox of a run. */
  readonly language?: string
  readonly createdAt: number
  /** End of the latest execution. */
  readonly lastUsedAt: number
  /** Time at which the session expires; null during an execution, and for the session of a run. */
  readonly expiresAt: number | null
  readonly cells: number
  readonly toolCalls: number
}

/** Result of workflow `session`. */
export interface SessionResult {
  readonly ended: 'idle' | 'closed'
  readonly cells: number
  readonly toolCalls: number
}

/** Maximum bytes of source in an update. The configured `sourceBytes` is the smaller limit. */
export const maxExecuteSourceBytes = 1_500_000
