/*
 * Payloads between the workflow and the sandbox host.
 *
 * Invariants:
 * 1. The steps of a session are numbered from 1, without gaps.
 * 2. (epoch, step, attempt) is the fencing token of a step: the sandbox refuses a lower one.
 * 3. A repeated step is compared by the digests of its calls and by whether it ended the cell, never by its output.
 */

import type { FloatMask } from '../json/floats.js'
import type { ValueLog } from '../json/value-log.js'
import type { CallerIdentity } from '../calls/calls.js'
import type { JsonObject } from '../json/json.js'
import type { StepLimits } from '../runs/limits.js'
import type { CallOutcome } from '../calls/outcomes.js'
import type { SessionSnapshot } from './snapshots.js'
import type { Requester } from '../runs/requester.js'
import type { SessionRef, SessionTools } from './session.js'
import type { Externalizable } from '../json/external-value.js'

/** A call as the program in the sandbox made it. Unchecked. */
export interface RequestedCall {
  /**
   * Per session, from 1, in the order the program makes calls. The numbers of a dropped cell's calls are used again.
   */
  readonly index: number
  readonly tool: string
  readonly arguments: JsonObject
  /** Which numbers of the arguments are floats; kept for a remote tool alone. */
  readonly floats?: FloatMask
}

/** A requested call, checked and described by the host. */
export interface DescribedCall extends RequestedCall {
  /** One line for the Temporal UI, at most 200 characters. */
  readonly summary: string
  /** Digest of tool name and arguments: what a rebuild must repeat. */
  readonly digest: string
  /** Why the call must not run (unknown tool, broken schema …); null when it may. */
  readonly refused: CallOutcome | null
  /** Of a remote tool: the arguments fit its input schema, which changes nothing of them. */
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
      /** Sets variable `input_data` before the code runs: in the first cell of a session. */
      readonly inputData?: Externalizable
      /**
       * Code of another run, with fewer tools than the session: the sandbox ends its tasks and timers with the cell.
       */
      readonly guest?: true
    }
  /** Empty `results`: a timer of the program is due. */
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
  /** Per session, from 1, without gaps. */
  readonly number: number
  readonly input: StepInput
  /**
   * The history has the results of the steps up to this number. The sandbox keeps the later ones: an activity that is
   * lost is tried again, and requests them again. Default: all steps before this one.
   */
  readonly recorded?: number
}

/** A call in the journal. */
export interface RecordedCall {
  readonly index: number
  readonly digest: string
  /** Names the call in the message of a divergence. */
  readonly summary: string
}

/** A step with its result, in the journal. A rebuild verifies that the program repeats it. */
export interface RecordedStep extends Omit<Step, 'number' | 'recorded'> {
  readonly result: { readonly type: 'suspended'; readonly calls: readonly RecordedCall[] } | { readonly type: 'ended' }
  /** The code was interrupted this many milliseconds after the start of the step; a rebuild interrupts it again. */
  readonly interruptedAfterMs?: number
}

interface ProgramResultBase<Output> {
  /** Output printed during the step. */
  readonly output: Output
  /** The code was interrupted by a person this many milliseconds after the start of the step. */
  readonly interruptedAfterMs?: number
  /** The sandbox had executed the step before, for an attempt that was lost: the times of that execution. */
  readonly executedAt?: StepTimes
}

/** The program waits for results of calls, or for a timer of its own. */
interface SuspendedResult<Call, Output> extends ProgramResultBase<Output> {
  readonly type: 'suspended'
  /** New calls. Earlier ones may still be pending. */
  readonly calls: readonly Call[]
  /** Milliseconds until the program's next timer is due; null without one. */
  readonly wakeInMs: number | null
  /** No code can run before the program has the results of all its pending calls, or an error. */
  readonly waitsForAll?: true
}

interface CompletedResult<Output> extends ProgramResultBase<Output> {
  readonly type: 'completed'
}

/**
 * The code raised (`code_error`), reached a limit, or was interrupted by a person (`stopped`). The session lives on.
 */
interface FailedResult<Output> extends ProgramResultBase<Output> {
  readonly type: 'failed'
  readonly kind: 'code_error' | 'timed_out' | 'limit_exceeded' | 'stopped'
  readonly error: string
}

/** The sandbox can't be used any more. */
interface LostResult {
  readonly type: 'lost'
  /** Decides whether a rebuild makes sense. */
  readonly cause: LostCause
  /** For the history's reader. */
  readonly reason: string
  /** The host of the sandbox does not answer at all. */
  readonly hostUnreachable?: boolean
  /** The sandbox lives, but is ahead of this run: another worker, or the run before a reset, executed later steps. */
  readonly fenced?: boolean
}

/** How a step ended: from the sandbox, or with described calls and externalized output. */
export type StepResult<Call extends RequestedCall = RequestedCall, Output extends Externalizable<string> = string> =
  | SuspendedResult<Call, Output>
  | CompletedResult<Output>
  | FailedResult<Output>
  | LostResult

/** A step result in the history: with described calls and externalized output. */
export type DescribedStepResult = StepResult<DescribedCall, Externalizable<string>>

export type LostCause =
  /** An interrupt came while no sandbox was open. */
  | 'interrupted'
  /** The sandbox died or disappeared. Not caused by the program. */
  | 'gone'
  /** The process of the program ended by itself: the program ended it, or a broken connection did. */
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
  /** Replaces the first steps in a rebuild. */
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
  /** Maximum characters of output in the result: what remains of the cell's limit. */
  readonly outputLimit: number
  /** Absent: the worker executes no follow-up step. */
  readonly localCalls?: LocalCallAllowance
  /** Absent: the context of the run names nobody. */
  readonly requester?: Requester
}

/** The calls of local tools that a worker may make by itself for a program that waits for nothing else. */
export interface LocalCallAllowance extends CallerIdentity {
  readonly maxCalls: number
  readonly turn: number
  readonly cell: number
  /** As in `CallPosition`. */
  readonly toolUseId?: string
  readonly firstExecutionRunId: string
  /** As in `Limits`. */
  readonly resultBytes: number
}

/**
 * A step that a worker executed in the activity of the step or call before it, because it had the sandbox and all
 * results that the program waits for.
 */
export interface FollowUpStep extends StepTimes {
  readonly number: number
  /** Of calls of local tools. Absent: of the call whose activity this is. */
  readonly results?: readonly DeliveredResult[]
  /** Absent: the step had not ended yet. Whoever requests it again joins it. */
  readonly result?: DescribedStepResult
  /** Milliseconds; absent below 10. */
  readonly tookMs?: number
}

/** Result of activity `session.step`, with the steps that followed in the same activity. */
export type StepActivityResult = ExecuteStepResult & { readonly followUps?: readonly FollowUpStep[] }

export type ExecuteStepResult =
  | DescribedStepResult
  /** The recorded steps were repeated, and there was no new step. */
  | { readonly type: 'rebuilt' }
  /** The snapshot could not be restored. The sandbox is in an undefined state. */
  | { readonly type: 'restore_failed'; readonly reason: string }
  /** The program did not repeat a recorded step. The model reads the reason, too. */
  | { readonly type: 'diverged'; readonly reason: string }

/** How a new step ended, without the results of a rebuild. */
export type StepOutcome = Exclude<ExecuteStepResult, { type: 'rebuilt' | 'restore_failed' }>

/** Input of activity `journal.append`. The result has the log after each batch. */
export interface AppendJournalInput {
  readonly log: ValueLog | null
  readonly batches: readonly (readonly RecordedStep[])[]
}
