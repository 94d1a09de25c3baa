import { CancellationScope, ContinueAsNew } from '@temporalio/workflow'
import type { DeliveredResult } from '../../common/steps.js'
import { DurableTimer } from '../temporal/durable-timer.js'
import type { CellState } from './cell-state.js'
import { PendingCalls, type PendingCallsState } from './pending-calls.js'
import { type Run, showProgress } from '../run.js'
import { Session } from '../session/session.js'
import type { SessionState } from '../session/session.js'

/** The code side of a run: one session, its cells one after the other, and the calls that are open in it. */
export interface CodeRuntime {
  readonly session: Session
  readonly pendingCalls: PendingCalls
  /** When the sandbox is to be given back, or the cell to be stopped. Set while nothing runs in the sandbox. */
  readonly timer: DurableTimer
  /** False: its only cell is the last, and nothing of it need be kept. */
  readonly hasMoreCells: boolean
  /** Between cells the sandbox is given back after so long; null: never. */
  readonly idleMs: number | null
  /** Characters of a cell's output that its reader gets. */
  readonly outputCharacters: number
  /** Asked while a cell waits: goes on in a fresh history when it is time, and then never returns. */
  readonly continueAsNewIfDue: (cell: CellState) => Promise<void>
  /** Whether a cell runs, and when the last one ended; milliseconds since the epoch. */
  readonly usage: { isBusy: boolean; lastUsedAt: number }
}

/** What the next run of the chain must know of it. */
export interface CodeRuntimeState {
  readonly session: SessionState
  readonly pendingCalls: PendingCallsState
}

export interface CodeRuntimeOptions {
  /** Default true. */
  readonly hasMoreCells?: boolean
  readonly idleMs?: number
  /** Default: as many as a model gets. */
  readonly outputCharacters?: number
  readonly continueAsNewIfDue?: CodeRuntime['continueAsNewIfDue']
  readonly state?: CodeRuntimeState | undefined
}

export function createCodeRuntime(run: Run, options: CodeRuntimeOptions = {}): CodeRuntime {
  const { idleMs = null, hasMoreCells = true, outputCharacters = run.config.limits.outputCharacters, state } = options
  return {
    session: new Session(run, state?.session),
    pendingCalls: new PendingCalls(state?.pendingCalls),
    timer: new DurableTimer(),
    hasMoreCells,
    idleMs,
    outputCharacters,
    continueAsNewIfDue: options.continueAsNewIfDue ?? (() => Promise.resolve()),
    usage: { isBusy: false, lastUsedAt: Date.now() },
  }
}

/** To be called when nothing is under way, and nothing begins by itself meanwhile. */
export async function serializeRuntime({ session, pendingCalls, timer }: CodeRuntime): Promise<CodeRuntimeState> {
  timer.cancel()
  return { session: await session.serialize(), pendingCalls: pendingCalls.state }
}

/** Works with a runtime and closes it; unless the run goes on in a fresh history, and with it the sandbox. */
export async function withRuntime<Result>(runtime: CodeRuntime, work: () => Promise<Result>): Promise<Result> {
  const calls = new CancellationScope()
  let continuesAsNew = false
  try {
    return await calls.run(work)
  } catch (thrown) {
    continuesAsNew = thrown instanceof ContinueAsNew
    throw thrown
  } finally {
    calls.cancel() // calls that code started and never waited for
    if (!continuesAsNew) await closeRuntime(runtime)
  }
}

/** Never cancelled; a host that is gone does not fail it. */
export async function closeRuntime({ session, timer }: CodeRuntime): Promise<void> {
  timer.close()
  await session.close()
}

/** No cell runs: the sandbox is kept for the next one, but not for ever. */
export function startIdle(runtime: CodeRuntime): void {
  const { session, pendingCalls, hasMoreCells } = runtime
  if (hasMoreCells && pendingCalls.size === 0) session.snapshotIfDue()
  scheduleIdlePark(runtime)
}

/** The same in a fresh history, which has no alarm yet. */
export function scheduleIdlePark({ session, timer, idleMs }: CodeRuntime): void {
  if (idleMs !== null) timer.schedule(Date.now() + idleMs, () => session.park())
}

export type WaitResult =
  | { readonly type: 'results'; readonly results: readonly DeliveredResult[] }
  | { readonly type: 'overdue' }
  /** Somebody outside wants the cell to stop. */
  | { readonly type: 'interrupted' }

/**
 * Waits until the program can go on, or its cell is to stop. When that takes long, the sandbox is given back on the way.
 *
 * @throws what a call threw: the cancellation of the run
 */
export async function waitForResultsOrTimer(
  run: Run,
  { session, pendingCalls, timer }: CodeRuntime,
  { wakeAt, deadline }: Pick<CellState, 'wakeAt' | 'deadline'>,
): Promise<WaitResult> {
  const now = Date.now()
  if (now >= deadline) return { type: 'overdue' }
  const parkAt = now + run.config.timeouts.parkMs
  const wake = wakeAt ?? Infinity
  let overdue = false
  const watchDeadline = (): void => {
    if (deadline < wake) timer.schedule(deadline, () => (overdue = true))
  }
  const park = (): void => {
    session.park()
    showProgress(run, `cell ${run.counts.cells} waits without a sandbox`)
    watchDeadline()
  }
  if (parkAt < Math.min(wake, deadline)) timer.schedule(parkAt, park)
  else watchDeadline()
  const wakeInMs = wakeAt === null ? null : Math.max(wakeAt - now, 0)
  const results = await pendingCalls.waitForResults(wakeInMs, () => overdue || session.interruption.isRequested)
  timer.cancel()
  if (session.interruption.isRequested) return { type: 'interrupted' }
  return overdue && results.length === 0 ? { type: 'overdue' } : { type: 'results', results }
}
