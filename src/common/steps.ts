import type { Chain } from './chain.js'
import type { JsonObject } from './json.js'
import type { Limits } from './limits.js'
import type { BackendChoice, ToolSet } from './plan.js'
import type { CallOutcome } from './outcomes.js'
import type { SnapshotMark } from './snapshots.js'
import type { Held } from './values.js'

/** A session as the workflow refers to it. A rebuilt session keeps its id and gets the next epoch. */
export interface SessionRef {
  /** Unique in the namespace. */
  readonly id: string
  readonly epoch: number
  readonly backend: BackendChoice
  /** When it began, by the workflow's clock, in milliseconds since the epoch. Absent: it is from before programs were told. */
  readonly startedAt?: number
}

/** What `session.open` is given. */
export interface OpenInput {
  readonly session: SessionRef
  readonly limits: Limits
  readonly tools?: SessionTools
  /** What the session has been through; for who reads the history. */
  readonly after: 'nothing' | 'parking' | 'loss'
}

/** What `session.open` answers. */
export interface OpenedSession {
  /** As asked for, with the backend that was chosen. */
  readonly session: SessionRef
  /** The queue of the one host that holds this session. */
  readonly hostQueue: string
  /** For people: container name, image, interpreter. */
  readonly description: string
  /** Parked, it may be found again as it was (`session.park`). Absent in histories from before that could be. */
  readonly keepsParked?: boolean
}

/** A call as the program in the sandbox made it. */
export interface RequestedCall {
  /** Within the cell, from 1, in the order the program made them. */
  readonly index: number
  readonly tool: string
  readonly arguments: JsonObject
}

/** A requested call after the host looked at it. */
export interface DescribedCall extends RequestedCall {
  /** One line for people (and for the Temporal UI), at most 200 characters. */
  readonly summary: string
  /** Digest of tool name and arguments: what a rebuild must repeat. */
  readonly digest: string
  /** Why the call must not run (unknown tool, broken schema …); null when it may. */
  readonly refused: CallOutcome | null
}

/** A result given back to the program. */
export interface DeliveredResult {
  readonly index: number
  readonly outcome: CallOutcome
}

/** One advance of the program: start a cell, or go on with what has arrived. */
export type StepInput =
  | { readonly type: 'cell'; readonly cell: number; readonly source: Held<string> }
  /** `results` may be empty: then only time has passed. */
  | { readonly type: 'results'; readonly results: readonly DeliveredResult[] }
  /** The cell is over: its code is cancelled, its variables stay. Answered `failed`, as `timed_out` with this reason. */
  | { readonly type: 'stop'; readonly reason: string }

export interface Step {
  /** Per session, from 1, without gaps. */
  readonly number: number
  /** Milliseconds since the session began, by the workflow's clock: a rebuilt program sees the same. */
  readonly now: number
  /** Milliseconds since the last answer, by the same clock: timers of the program count them. Absent: not known. */
  readonly waited?: number
  readonly input: StepInput
}

/** A call as it is recorded. */
export interface RecordedCall {
  readonly index: number
  readonly digest: string
  /** For people and the model, when it is not repeated. Absent in what is from before it was kept. */
  readonly summary?: string
}

/** A step whose answer is known. A rebuilt program must give the same: that is checked, not hoped. */
export interface RecordedStep extends Omit<Step, 'number'> {
  readonly answer: { readonly type: 'suspended'; readonly calls: readonly RecordedCall[] } | { readonly type: 'ended' }
  /** Milliseconds after its begin the code was interrupted from outside: a rebuild does so too. */
  readonly interruptedAfterMs?: number
}

/** Of a step whose code was interrupted from outside while it ran: milliseconds after the step had begun. */
interface Interruptible {
  readonly interruptedAfterMs?: number
}

/** How a step ended: as the sandbox says it, or with calls described and large output kept elsewhere. */
export type StepAnswer<Call extends RequestedCall = RequestedCall, Output extends Held<string> = string> =
  /** The program can't go on: `calls` are new; earlier ones may still be open. `wakeInMs`: a timer of its own is due then. */
  | (Interruptible & {
      readonly type: 'suspended'
      readonly calls: readonly Call[]
      readonly wakeInMs: number | null
      readonly output: Output
    })
  | (Interruptible & { readonly type: 'completed'; readonly output: Output })
  /** The code raised. Unless `kind` is 'code_error' it was stopped: at a limit, or ('stopped') from outside; the session lives on. */
  | (Interruptible & {
      readonly type: 'failed'
      readonly kind: 'code_error' | 'timed_out' | 'limit_exceeded' | 'stopped'
      readonly error: string
      readonly output: Output
    })
  /** The sandbox is gone: rebuild. `reason` for people; `cause` decides whether a rebuild makes sense. */
  | {
      readonly type: 'lost'
      readonly cause: LostCause
      readonly reason: string
      /** Not only the sandbox: its host does not answer at all. */
      readonly hostGone?: boolean
      /** It lives, and was driven further than this run knows: by a worker that died on the way, or before a reset. */
      readonly fenced?: boolean
    }

/** As it travels. */
export type DescribedAnswer = StepAnswer<DescribedCall, Held<string>>

export type LostCause =
  /** The sandbox died or vanished for no fault of the program. */
  | 'gone'
  /** The program used more memory than it may. */
  | 'out_of_memory'
  /** The program did not stop at its time limit and was killed. */
  | 'killed_at_limit'
  /** The sandbox broke the protocol. */
  | 'protocol'

/** All a session has been through. */
export interface RecordedSteps {
  readonly earlier: Chain | null
  /** What came after it. */
  readonly latest: readonly RecordedStep[]
  /** The first of them need not be repeated. */
  readonly snapshot?: SnapshotMark
}

/**
 * The tools of a session's run; absent in histories from before tools were recorded. The signatures are given until the
 * sandbox has its stubs, then the digest alone.
 */
export type SessionTools = Pick<ToolSet, 'digest'> & Partial<Pick<ToolSet, 'signatures'>>

/** What `session.advance` is given: recorded steps to repeat (only when rebuilding), then at most one new one. */
export interface AdvanceInput {
  readonly session: SessionRef
  readonly tools?: SessionTools
  readonly recorded?: RecordedSteps
  /** Cells among the steps to repeat; each may take its time. */
  readonly recordedCells?: number
  readonly step: Step | null
  /** Characters of output the answer may carry: what its cell has left. */
  readonly outputRoom: number
}

/** What `session.advance` answers; `repeated` when there was no new step. */
export type AdvanceAnswer =
  | DescribedAnswer
  | { readonly type: 'repeated' }
  /** The snapshot among the recorded steps is of no use; the sandbox neither. */
  | { readonly type: 'unrestored'; readonly reason: string }
  /** The program did not do again what is recorded; the reason is for the model as well. */
  | { readonly type: 'diverged'; readonly reason: string }

/** How a new step ended, as whoever asked for it gets to know it: rebuilding is none of its business. */
export type TakenAnswer = Exclude<AdvanceAnswer, { type: 'repeated' | 'unrestored' }>

/** What `session.interrupt` is given. */
export interface InterruptInput {
  readonly session: SessionRef
  readonly step: number
}
