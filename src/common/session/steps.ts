/*
 * Payloads between the workflow and the sandbox host.
 *
 * Invariants:
 * 1. The steps of a session are numbered from 1, without gaps.
 * 2. (epoch, step, attempt) is the fencing token of a step: the sandbox refuses a lower one.
 * 3. A repeated step is compared by the digests of its calls and by whether it ended the cell, never by its output or by
 *    what it used.
 */

import type { FloatMask } from '../json/floats.js'
import type { ValueLog } from '../json/value-log.js'
import type { CallerIdentity } from '../calls/calls.js'
import type { JsonObject } from '../json/json.js'
import type { StepLimits } from '../run/limits.js'
import type { CallOutcome, CellMeasures } from '../calls/outcomes.js'
import type { SessionSnapshot } from './snapshots.js'
import type { StepNetwork } from '../run/network.js'
import type { Requester } from '../run/requester.js'
import type { SessionRef, SessionTools } from './session.js'
import type { Externalizable, ExternalValue } from '../json/external-value.js'
import type { FoundFile, StoredFile } from '../files/files.js'
import type { TextRange } from '../text/text-ranges.js'

/** An unchecked call from the program in the sandbox. */
export interface RequestedCall {
  /**
   * Number of the call in the session, from 1, in the order in which the program makes calls. The numbers of a dropped
   * cell's calls are used again.
   */
  readonly index: number
  readonly tool: string
  readonly arguments: JsonObject
  /** Marks the numbers of the arguments that are floats. Kept only for a remote tool. */
  readonly floats?: FloatMask
}

/** A requested call, checked and described by the host. */
export interface DescribedCall extends RequestedCall {
  /** A description of the call for the Temporal UI: one line of at most 200 characters. */
  readonly summary: string
  /** Digest of tool name and arguments. A rebuild must repeat it. */
  readonly digest: string
  /** The outcome of a call that must not run (unknown tool, invalid arguments …); null when it may run. */
  readonly refused: CallOutcome | null
  /** For a remote tool: true when the arguments match its input schema, and parsing does not change them. */
  readonly isParsed?: true
}

/** The result of a call, delivered to the program. */
export interface DeliveredResult {
  readonly index: number
  readonly outcome: CallOutcome
}

/** Input of one step: start a cell, or continue the suspended program. */
export type StepInput =
  | {
      readonly type: 'cell'
      readonly cell: number
      readonly source: Externalizable<string>
      /** The language of the code. Absent: the first language of the session. */
      readonly language?: string
      /** Value of variable `input_data`, set before the code of the first cell of a session runs. */
      readonly inputData?: Externalizable
      /**
       * True for code of another run that has fewer tools than the session: the sandbox ends its tasks and timers with
       * the cell.
       */
      readonly restricted?: true
      /** True: the sandbox looks for mistakes in the code, and does not run it when it finds one. */
      readonly checked?: true
    }
  /** Writes a part of a file: between two cells, or while a cell waits for calls. */
  | {
      readonly type: 'file'
      readonly path: string
      /** Of the part, in bytes. 0 replaces a file. */
      readonly offset: number
      /** The part in Base64. */
      readonly content: ExternalValue
      /** What events say about the file. Set only for the last part of an upload. */
      readonly whole?: Pick<StoredFile, 'bytes' | 'sha256' | 'mediaType'>
      /** True while a cell waits: the part belongs to the cell, and is dropped with it. */
      readonly inCell?: true
    }
  /** Delivers results. Empty `results`: a timer of the program is due. */
  | { readonly type: 'results'; readonly results: readonly DeliveredResult[] }
  /** Cancels the cell's code; variables stay. The result is `failed` with kind `timed_out` and this reason. */
  | { readonly type: 'stop'; readonly reason: string }

/** The times of a step, by the clock of the workflow or of its worker. A rebuilt program sees the same times. */
export interface StepTimes {
  /** Milliseconds since the start of the session. */
  readonly now: number
  /** Milliseconds since the last step's result. The first step has none. */
  readonly waited?: number
}

/** One advance of the program, from one suspension to the next. */
export interface Step extends StepTimes {
  /** Number of the step in the session, from 1, without gaps. */
  readonly number: number
  readonly input: StepInput
  /**
   * Number of the last step with a result in the history. The sandbox keeps later results, because a lost activity is
   * retried and requests them again. Default: all steps before this one.
   */
  readonly recorded?: number
}

/** A call in the journal. */
export interface RecordedCall {
  readonly index: number
  readonly digest: string
  /** Description of the call for the message of a divergence. */
  readonly summary: string
}

/** A step with its result, in the journal. A rebuild verifies that the program repeats it. */
export interface RecordedStep extends Omit<Step, 'number' | 'recorded'> {
  readonly result: { readonly type: 'suspended'; readonly calls: readonly RecordedCall[] } | { readonly type: 'ended' }
  /** Milliseconds from the start of the step to the interruption of the code. A rebuild interrupts it again. */
  readonly interruptedAfterMs?: number
}

interface ProgramResultBase<Output> {
  /** Output printed during the step: to stdout and stderr, in the order of printing. */
  readonly output: Output
  /** The parts of `output` that were printed to stderr. Absent: none. */
  readonly stderr?: readonly TextRange[]
  /** Length of an external `output` in UTF-16 code units. Absent: the output is not external. */
  readonly outputLength?: number
  /** Milliseconds from the start of the step to the interruption of the code by a person. */
  readonly interruptedAfterMs?: number
  /** Set when the sandbox had executed the step for a lost attempt: the times of that execution. */
  readonly executedAt?: StepTimes
}

/** The program waits for results of calls, or for its own timer. */
interface SuspendedResult<Call, Output> extends ProgramResultBase<Output> {
  readonly type: 'suspended'
  /** New calls. Earlier ones may still be pending. */
  readonly calls: readonly Call[]
  /** Milliseconds until the program's next timer is due; null without one. */
  readonly wakeInMs: number | null
  /** True when no code can run before the program has the results of all pending calls, or an error. */
  readonly waitsForAll?: true
}

interface CellEndBase<Output> extends ProgramResultBase<Output>, CellMeasures {
  /** The artifacts that the cell has created or changed. Absent: none. */
  readonly files?: readonly FoundFile[]
  /** Set when the worker has removed the sandbox afterwards: see `ExecuteStepInput.isLastCell`. */
  readonly closed?: true
}

interface CompletedResult<Output> extends CellEndBase<Output> {
  readonly type: 'completed'
}

/**
 * The code raised (`code_error`), reached a limit, or was interrupted by a person (`stopped`). The session continues.
 */
interface FailedResult<Output> extends CellEndBase<Output> {
  readonly type: 'failed'
  readonly kind: 'code_error' | 'timed_out' | 'limit_exceeded' | 'stopped'
  readonly error: string
}

/** The sandbox can't be used any more. */
interface LostResult {
  readonly type: 'lost'
  /** Decides whether a rebuild makes sense. */
  readonly cause: LostCause
  /** The reason for readers of the history. */
  readonly reason: string
  /** True when the host of the sandbox does not answer. */
  readonly hostUnreachable?: boolean
  /**
   * True when the sandbox runs, but is ahead of this run: another worker, or the run before a reset, executed later
   * steps.
   */
  readonly fenced?: boolean
}

/** The result of a step: from the sandbox, or with described calls and externalized output. */
export type StepResult<Call extends RequestedCall = RequestedCall, Output extends Externalizable<string> = string> =
  | SuspendedResult<Call, Output>
  | CompletedResult<Output>
  | FailedResult<Output>
  | LostResult

/** A step result in the history: with described calls and externalized output. */
export type DescribedStepResult = StepResult<DescribedCall, Externalizable<string>>

export type LostCause =
  /** An interrupt arrived while no sandbox was open. */
  | 'interrupted'
  /** The sandbox died or disappeared. Not caused by the program. */
  | 'gone'
  /** The process of the program ended by itself: because of the program, or of a broken connection. */
  | 'exited'
  /** The program exceeded its memory limit. */
  | 'out_of_memory'
  /** The program did not stop at its time limit and was killed. */
  | 'killed_at_limit'
  /** The sandbox broke the protocol. */
  | 'protocol'

/** The journal of a session: all its recorded steps. */
export interface RecordedSteps {
  readonly log: ValueLog | null
  /** Steps that are not in the log yet. */
  readonly latest: readonly RecordedStep[]
  /** The snapshot that replaces the first steps in a rebuild. */
  readonly snapshot?: SessionSnapshot
}

/** Input of activity `session.step`: recorded steps to repeat (only in a rebuild), then at most one new step. */
export interface ExecuteStepInput {
  readonly session: SessionRef
  readonly tools: SessionTools
  readonly limits: StepLimits
  readonly recorded?: RecordedSteps
  /** Number of cells among the steps to repeat. Each has the full time limit of a cell. */
  readonly cellsToRepeat?: number
  readonly step: Step | null
  /** Maximum characters of output in the result: the rest of the cell's limit. */
  readonly outputLimit: number
  /** Absent: the worker executes no follow-up step. */
  readonly localCalls?: LocalCallAllowance
  /** True when the worker may remove the sandbox at the end of the cell. Absent: it must not. */
  readonly isLastCell?: true
  /** Absent: the context of the run has no requester. */
  readonly requester?: Requester
  /** Absent: the code has no network. */
  readonly network?: StepNetwork
}

/** A step for a worker that has the session, its tools and its limits from elsewhere. */
export type NewStep = Pick<ExecuteStepInput, 'outputLimit' | 'localCalls' | 'isLastCell' | 'requester' | 'network'> & {
  readonly step: Step
}

/** The calls of local tools that a worker may make by itself, for a program that waits only for these calls. */
export interface LocalCallAllowance extends CallerIdentity {
  readonly maxCalls: number
  readonly turn: number
  readonly cell: number
  /** Has the meaning of `CallPosition.toolUseId`. */
  readonly toolUseId?: string
  readonly firstExecutionRunId: string
  /** Has the meaning of `Limits.resultBytes`. */
  readonly resultBytes: number
}

/**
 * A step that a worker executed in the activity of the previous step or call, because it had the sandbox and all
 * results for which the program waited.
 */
export interface FollowUpStep extends StepTimes {
  readonly number: number
  /** Results of calls of local tools. Absent: the result of the call of this activity. */
  readonly results?: readonly DeliveredResult[]
  /** Absent: the step had not ended yet. A second request for the step joins it. */
  readonly result?: DescribedStepResult
  /** Duration in milliseconds; absent below 10. */
  readonly tookMs?: number
}

/** Result of activity `session.step`, with the follow-up steps of the same activity. */
export type StepActivityResult = ExecuteStepResult & { readonly followUps?: readonly FollowUpStep[] }

export type ExecuteStepResult =
  | DescribedStepResult
  /** The recorded steps were repeated, and the input had no new step. */
  | { readonly type: 'rebuilt' }
  /** The snapshot could not be restored. The sandbox is in an undefined state. */
  | { readonly type: 'restore_failed'; readonly reason: string }
  /** The program did not repeat a recorded step. The model also reads the reason. */
  | { readonly type: 'diverged'; readonly reason: string }

/** The result of a new step, without the results of a rebuild. */
export type StepOutcome = Exclude<ExecuteStepResult, { type: 'rebuilt' | 'restore_failed' }>

/** Input of activity `journal.append`. The result has the log after each batch. */
export interface AppendJournalInput {
  readonly log: ValueLog | null
  readonly batches: readonly (readonly RecordedStep[])[]
}
