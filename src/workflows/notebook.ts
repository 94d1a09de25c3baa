import { CancellationScope, ContinueAsNew } from '@temporalio/workflow'
import type { DeliveredResult } from '../common/steps.js'
import { Alarm } from './alarm.js'
import type { CellState } from './cell-state.js'
import { OpenCalls, type OpenCallsState } from './open-calls.js'
import { type Run, showProgress } from './run.js'
import { Session } from './session.js'
import type { SessionState } from './session-state.js'

/** The code side of a run: one session, its cells one after the other, and the calls that are open in it. */
export interface Notebook {
  readonly session: Session
  readonly openCalls: OpenCalls
  /** When the sandbox is to be given back, or the cell to be stopped. Set while nothing runs in the sandbox. */
  readonly alarm: Alarm
  /** False: its only cell is the last, and nothing of it need be kept. */
  readonly hasMoreCells: boolean
  /** Between cells the sandbox is given back after so long; null: never. */
  readonly idleMs: number | null
  /** Characters of a cell's output that its reader gets. */
  readonly outputCharacters: number
  /** Asked while a cell waits: goes on in a fresh history when it is time, and then never returns. */
  readonly mayContinue: (cell: CellState) => Promise<void>
  /** Whether a cell runs, and when the last one ended; milliseconds since the epoch. */
  readonly use: { isBusy: boolean; lastAt: number }
}

/** What the next run of the chain must know of it. */
export interface NotebookState {
  readonly session: SessionState
  readonly openCalls: OpenCallsState
}

export interface NotebookOptions {
  /** Default true. */
  readonly hasMoreCells?: boolean
  readonly idleMs?: number
  /** Default: as many as a model gets. */
  readonly outputCharacters?: number
  readonly mayContinue?: Notebook['mayContinue']
  readonly state?: NotebookState | undefined
}

export function openNotebook(run: Run, options: NotebookOptions = {}): Notebook {
  const { idleMs = null, hasMoreCells = true, outputCharacters = run.plan.limits.outputCharacters, state } = options
  return {
    session: new Session(run, state?.session),
    openCalls: new OpenCalls(state?.openCalls),
    alarm: new Alarm(),
    hasMoreCells,
    idleMs,
    outputCharacters,
    mayContinue: options.mayContinue ?? (() => Promise.resolve()),
    use: { isBusy: false, lastAt: Date.now() },
  }
}

/** To be called when nothing is under way, and nothing begins by itself meanwhile. */
export async function handOver({ session, openCalls, alarm }: Notebook): Promise<NotebookState> {
  alarm.clear()
  return { session: await session.handOver(), openCalls: openCalls.state }
}

/** Works with a notebook and closes it; unless the run goes on in a fresh history, and with it the sandbox. */
export async function inNotebook<Result>(notebook: Notebook, work: () => Promise<Result>): Promise<Result> {
  const calls = new CancellationScope()
  let goesOn = false
  try {
    return await calls.run(work)
  } catch (thrown) {
    goesOn = thrown instanceof ContinueAsNew
    throw thrown
  } finally {
    calls.cancel() // calls that code started and never waited for
    if (!goesOn) await closeNotebook(notebook)
  }
}

/** Never cancelled; a host that is gone does not fail it. */
export async function closeNotebook({ session, alarm }: Notebook): Promise<void> {
  alarm.close()
  await session.close()
}

/** No cell runs: the sandbox is kept for the next one, but not for ever. */
export function beginIdle(notebook: Notebook): void {
  const { session, openCalls, hasMoreCells } = notebook
  if (hasMoreCells && openCalls.size === 0) session.snapshot()
  goOnIdle(notebook)
}

/** The same in a fresh history, which has no alarm yet. */
export function goOnIdle({ session, alarm, idleMs }: Notebook): void {
  if (idleMs !== null) alarm.set(Date.now() + idleMs, () => session.park())
}

export type Wakening =
  | { readonly type: 'results'; readonly results: readonly DeliveredResult[] }
  | { readonly type: 'overdue' }
  /** Somebody outside wants the cell to stop. */
  | { readonly type: 'interrupted' }

/**
 * Waits until the program can go on, or its cell is to stop. When that takes long, the sandbox is given back on the way.
 *
 * @throws what a call threw: the cancellation of the run
 */
export async function untilWoken(
  run: Run,
  { session, openCalls, alarm }: Notebook,
  { wakeAt, deadline }: Pick<CellState, 'wakeAt' | 'deadline'>,
): Promise<Wakening> {
  const now = Date.now()
  if (now >= deadline) return { type: 'overdue' }
  const parkAt = now + run.plan.timings.parkMs
  const wake = wakeAt ?? Infinity
  let overdue = false
  const watchDeadline = (): void => {
    if (deadline < wake) alarm.set(deadline, () => (overdue = true))
  }
  const park = (): void => {
    session.park()
    showProgress(run, `cell ${run.counts.cells} waits without a sandbox`)
    watchDeadline()
  }
  if (parkAt < Math.min(wake, deadline)) alarm.set(parkAt, park)
  else watchDeadline()
  const wakeInMs = wakeAt === null ? null : Math.max(wakeAt - now, 0)
  const results = await openCalls.next(wakeInMs, () => overdue || session.interruption.isWanted)
  alarm.clear()
  if (session.interruption.isWanted) return { type: 'interrupted' }
  return overdue && results.length === 0 ? { type: 'overdue' } : { type: 'results', results }
}
