/*
 * Messages between a run and the owner of its session: the workflow that executes the cells of the run. A cell is
 * identified by its id, and every message may arrive twice.
 */

import type { DataLabels } from '../calls/data-flow.js'
import type { CellEnd } from '../calls/outcomes.js'
import type { KeptFiles, StoredFile } from '../files/files.js'
import type { JsonObject } from '../json/json.js'
import type { Externalizable } from '../json/external-value.js'
import type { TextParts } from '../agent/messages.js'
import type { BackendChoice } from '../run/run-config.js'
import type { SessionInput } from './session.js'

/** Signal to the owner: a cell to execute after all earlier cells. */
export interface ExecuteCell {
  readonly type: 'execute'
  readonly id: string
  /** Workflow id of the run, which gets the reply. */
  readonly requester: string
  /** Run id of the execution that waits for the cell. */
  readonly requesterRunId: string
  /** For a sub-agent: the key of `SandboxOwner`. */
  readonly key?: string
  /** Number of the cell in the run, for readers of the history. */
  readonly cell: number
  /** The name of the session among those that the run holds, for readers of the history. */
  readonly session?: string
  /** Calls of the run that count towards its limit. Absent: the limit counts the calls of this cell only. */
  readonly callsBefore?: number
  readonly source: Externalizable<string>
  /** Maximum characters of output that the run reads. */
  readonly outputCharacters: number
  /** The only tools of the owner that the code may call. Undefined: all. */
  readonly tools?: readonly string[]
  /** The expected context of the calls. An owner with another context refuses the cell. */
  readonly context: JsonObject
  /** Digest of the rules on data of the run. An owner with other rules refuses the cell. Absent: the run has none. */
  readonly rules?: string
  /** The labels of what the author of the code has read. Absent: none. */
  readonly labels?: DataLabels
  /** The expected backend. Undefined: any. */
  readonly sandbox?: BackendChoice
  /** The language of the run. An owner with another language refuses the cell. Absent: the default language. */
  readonly language?: string
  /** The language of the code. Absent: the first language of the run. */
  readonly cellLanguage?: string
  /** Uploads that the session does not have yet. Absent: none. */
  readonly files?: readonly StoredFile[]
}

/** Signal to the owner. */
export type CellMessage =
  | ExecuteCell
  /** Interrupts the cell, as Ctrl-C does. The cell may run, wait, or have ended. */
  | { readonly type: 'interrupt'; readonly id: string }
  /** Asks for the reply again if the cell has ended. The signal fails when the owner has ended. */
  | { readonly type: 'check'; readonly id: string; readonly requester: string }

export type CellResult =
  | {
      readonly type: 'ended'
      readonly end: CellEnd
      readonly output: string | TextParts
      /** What became of artifacts and uploads. Absent: there were none. */
      readonly kept?: KeptFiles
      /** Files that tools have returned to the code. Absent: none. */
      readonly returned?: readonly StoredFile[]
      /** The labels of the output. Absent: none. */
      readonly labels?: DataLabels
      /** Tool calls that the cell made. */
      readonly toolCalls: number
      /** True when the session began for this cell, so that it had no variables. */
      readonly isNew: boolean
    }
  /** `code` is a code of the error table, or of a failure of Temporal. */
  | { readonly type: 'failed'; readonly code: string; readonly message: string }

/** Signal to the run. */
export interface CellReply {
  readonly id: string
  readonly result: CellResult
}

/** Input of activity `session.start`, which starts a named session unless it runs. Returns its run id. */
export interface StartSessionInput {
  readonly workflowId: string
  readonly taskQueue: string
  readonly session: SessionInput
}
