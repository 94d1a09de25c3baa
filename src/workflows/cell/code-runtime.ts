import {
  allHandlersFinished,
  CancellationScope,
  condition,
  ContinueAsNew,
  defineQuery,
  setHandler,
} from '@temporalio/workflow'
import type { DataLabels } from '../../common/calls/data-flow.js'
import { sessionMessages } from '../../common/names.js'
import type { SessionStatus } from '../../common/session/session.js'
import type { DeliveredResult } from '../../common/session/steps.js'
import type { RunCalls } from '../calls/run-calls.js'
import { showProgress } from '../run/progress.js'
import type { Run } from '../run/run.js'
import { publishWait } from '../run/search-attributes.js'
import { Session, type SessionState } from '../session/session.js'
import { DurableTimer } from '../temporal/durable-timer.js'
import { Semaphore } from '../temporal/semaphore.js'
import type { OutputReader, OutputState } from './output-buffer.js'
import { PendingCalls, type PendingCallsState } from './pending-calls.js'

/** A cell between two of its steps. Times are milliseconds since the epoch. */
export interface CellState {
  /** Number of the cell in its run, from 1. */
  readonly number: number
  readonly turn: number
  /** Id of the tool use that contains the code, for a cell of a model. */
  readonly toolUseId?: string
  readonly deadline: number
  /** When the next timer of the program is due; null without one. */
  readonly wakeAt: number | null
  /** The program continues when it has the results of all its calls, or an error. */
  readonly waitsForAll: boolean
  readonly calls: number
  /** Number of times the cell continued without a new result. */
  readonly wakes: number
  readonly output: OutputState
  /** `RunCalls.waitedMs` when the cell started. */
  readonly waitedBefore: number
}

/** Continues the run as new while a cell waits. */
interface Continuation {
  readonly isDue: () => boolean
  readonly attempt: (cell: CellState) => Promise<void>
}

/** The parts that the cells of a run share: one session, and the calls that are pending in it. */
export interface CodeRuntime {
  readonly run: Run
  readonly calls: RunCalls
  readonly session: Session
  readonly pendingCalls: PendingCalls
  /** Has one slot: the cells of the run and of other runs execute in this session one after the other. */
  readonly queue: Semaphore
  /** The only tools that the code may call. Undefined: all tools of the run. */
  readonly allowedTools: ReadonlySet<string> | undefined
  /** The labels of the model that writes the code, for a cell of another run. Undefined: those of this run. */
  readonly labelsOfAuthor: DataLabels | undefined
  readonly beforeClose: (() => Promise<void>)[]
  /** Parks the sandbox or ends the cell. Scheduled while no step is in progress. */
  readonly timer: DurableTimer
  /** False for a program: its only cell needs no snapshot. */
  readonly hasMoreCells: boolean
  /** Milliseconds without a cell after which the sandbox is parked; null: never. */
  readonly idleMs: number | null
  /** Maximum characters of a cell's output that its reader gets. */
  readonly outputCharacters: number
  readonly outputReader: OutputReader
  /** Undefined: the run does not continue as new. */
  readonly continuation: Continuation | undefined
  /** Whether a cell runs, and when the last one ended, in milliseconds since the epoch. */
  readonly usage: { isBusy: boolean; lastUsedAt: number }
}

export interface CodeRuntimeState {
  readonly session: SessionState
  readonly pendingCalls: PendingCallsState
}

/** Default: the cells of a caller, without parking between them, in a run that does not continue as new. */
type CodeRuntimeOptions = Partial<
  Pick<CodeRuntime, 'hasMoreCells' | 'idleMs' | 'outputCharacters' | 'outputReader' | 'continuation'>
> & { readonly state?: CodeRuntimeState | undefined }

export function createCodeRuntime(calls: RunCalls, { state, ...options }: CodeRuntimeOptions): CodeRuntime {
  const { run } = calls
  return {
    run,
    calls,
    session: new Session(run, state?.session),
    pendingCalls: new PendingCalls(state?.pendingCalls),
    queue: new Semaphore(1), // invariant 1 of `run-cell.ts`
    allowedTools: undefined,
    labelsOfAuthor: undefined,
    beforeClose: [],
    timer: new DurableTimer(),
    hasMoreCells: true,
    idleMs: null,
    outputCharacters: run.config.limits.outputCharacters,
    outputReader: 'caller',
    continuation: undefined,
    usage: { isBusy: false, lastUsedAt: Date.now() },
    ...options,
  }
}

/** Returns the state for the next execution of the chain. Called when no call is in progress, and none can start. */
export async function serializeRuntime({
  calls,
  session,
  pendingCalls,
  timer,
}: CodeRuntime): Promise<CodeRuntimeState> {
  timer.cancel()
  await calls.compensations.store()
  return { session: await session.serialize(), pendingCalls: pendingCalls.state }
}

/**
 * Runs a function with a runtime and then closes the runtime. When the run continues as new, the runtime stays open and
 * its calls keep waiting: the next execution takes them over.
 */
export async function withRuntime<Result>(runtime: CodeRuntime, use: () => Promise<Result>): Promise<Result> {
  const scope = new CancellationScope()
  const close = async (): Promise<void> => {
    scope.cancel() // calls that code started and did not await
    await closeRuntime(runtime)
    // Every accepted update must get its response before the workflow ends.
    if (!allHandlersFinished()) await CancellationScope.nonCancellable(() => condition(allHandlersFinished))
  }
  let result: Result
  try {
    result = await scope.run(use)
  } catch (thrown) {
    if (!(thrown instanceof ContinueAsNew)) await close()
    throw thrown
  }
  await close()
  return result
}

/**
 * Closes the session. A cancellation of the run does not stop this, and a host that does not answer does not fail it.
 */
export async function closeRuntime({ session, timer, calls, beforeClose }: CodeRuntime): Promise<void> {
  const ended = Promise.all(beforeClose.map((end) => end()))
  timer.close()
  const closed = calls.close()
  await ended
  await session.close()
  await closed
}

export function interruptCell({ usage, session }: CodeRuntime): void {
  if (usage.isBusy) session.interruption.request()
}

/** Drops a cell that the engine could not end: the next cell starts from the state before it. */
export async function dropCell({ pendingCalls, session, run }: CodeRuntime): Promise<void> {
  pendingCalls.dropCell()
  run.files.dropCell()
  await session.dropCell()
}

const inspect = defineQuery<SessionStatus | null>(sessionMessages.inspect)

/** Answers the query by which clients list sessions. The answer is null while the run has no sandbox. */
export function registerInspectQuery({ run, session, usage }: CodeRuntime): void {
  const createdAt = Date.now()
  setHandler(inspect, () => {
    const { state, backend } = session.sandbox
    if (state === 'none') return null
    return {
      state: state === 'parked' ? 'parked' : usage.isBusy ? 'busy' : 'idle',
      backend,
      createdAt,
      lastUsedAt: usage.lastUsedAt,
      expiresAt: null,
      cells: run.counts.cells,
      toolCalls: run.counts.toolCalls,
    }
  })
}

/**
 * Called after the end of a cell. Takes a snapshot if one is due, and parks the sandbox after {@link
 * CodeRuntime.idleMs}.
 */
export function startIdle(runtime: CodeRuntime): void {
  const { session, pendingCalls, hasMoreCells } = runtime
  if (hasMoreCells && pendingCalls.size === 0) session.snapshotIfDue()
  scheduleIdlePark(runtime)
}

/** Parks the sandbox after {@link CodeRuntime.idleMs}. Called again after continue-as-new, which keeps no timer. */
export function scheduleIdlePark({ session, timer, idleMs }: CodeRuntime): void {
  if (idleMs !== null) timer.schedule(Date.now() + idleMs, 'park the idle session', () => session.park())
}

type WaitResult =
  /** The program can continue. Without results, its timer is due. */
  | { readonly type: 'results'; readonly results: readonly DeliveredResult[] }
  /** The history is long, while the program waits for many results. */
  | { readonly type: 'continue_as_new_due' }
  | { readonly type: 'overdue' }
  | { readonly type: 'interrupted' }

/**
 * Waits until the program can continue, or its cell must stop. Parks the sandbox when that takes long. Time during
 * which a deferred call waits does not count towards the time limit of the cell.
 *
 * @throws what a call threw: the cancellation of the run
 */
export async function waitForResultsOrTimer(
  { run, calls, session, pendingCalls, timer, continuation }: CodeRuntime,
  { number: cell, wakeAt, deadline: deadlineBefore, waitsForAll, waitedBefore }: CellState,
): Promise<WaitResult> {
  const now = Date.now()
  const deadline = deadlineBefore + calls.waitedMs - waitedBefore
  if (now >= deadline) return { type: 'overdue' }
  const parkAt = now + run.config.timeouts.parkMs
  const wake = wakeAt ?? Infinity
  let isOverdue = false
  const watchDeadline = (): void => {
    const expire = () => (isOverdue = !calls.waitsForOthers)
    if (deadline < wake) timer.schedule(deadline, 'time limit of the cell', expire)
  }
  let isParked = session.sandbox.state === 'parked'
  const showWait = () => showProgress(run, { type: 'waiting', cell, wakeAt, deadline, isParked })
  const park = (): void => {
    session.park()
    isParked = true
    showWait()
    publishWait(run, true)
    watchDeadline()
  }
  if (parkAt < Math.min(wake, deadline)) timer.schedule(parkAt, 'park the session while its code waits', park)
  else watchDeadline()
  showWait()
  const isOver = () => pendingCalls.canContinue(waitsForAll) || isOverdue || session.interruption.isRequested
  // The program gets no step for each result, so only this check notices that the history grows.
  const isHistoryLong = () => waitsForAll && continuation?.isDue() === true
  const mustReturn = () => isOver() || isHistoryLong()
  // No promise is made when the results have arrived: follow-up steps bring many results at once.
  if (!mustReturn()) {
    await (wakeAt === null
      ? condition(mustReturn)
      : condition(mustReturn, Math.max(wakeAt - now, 1), { summary: `timer of the code in cell ${cell}` }))
  }
  timer.cancel()
  if (isHistoryLong() && !isOver()) return { type: 'continue_as_new_due' }
  const results = pendingCalls.takeResults()
  if (isParked) publishWait(run, false)
  if (session.interruption.isRequested) return { type: 'interrupted' }
  return isOverdue && results.length === 0 ? { type: 'overdue' } : { type: 'results', results }
}
