import type { DeliveredResult } from '../common/steps.js'
import { Alarm } from './alarm.js'
import { OpenCalls } from './open-calls.js'
import { type Run, showProgress } from './run.js'
import { Session } from './session.js'

/** The code side of a run: one session, its cells one after the other, and the calls that are open in it. */
export interface Notebook {
  readonly session: Session
  readonly openCalls: OpenCalls
  /** When the sandbox is to be given back, or the cell to be stopped. Set while nothing runs in the sandbox. */
  readonly alarm: Alarm
  /** Between cells the sandbox is given back after so long; null: never. */
  readonly idleMs: number | null
  /** Whether a cell runs, and when the last one ended; milliseconds since the epoch. */
  readonly use: { isBusy: boolean; lastAt: number }
}

export function openNotebook(run: Run, { idleMs }: { readonly idleMs: number | null } = { idleMs: null }): Notebook {
  const use = { isBusy: false, lastAt: Date.now() }
  return { session: new Session(run), openCalls: new OpenCalls(), alarm: new Alarm(), idleMs, use }
}

/** Never cancelled; a host that is gone does not fail it. */
export async function closeNotebook({ session, alarm }: Notebook): Promise<void> {
  alarm.close()
  await session.close()
}

/** No cell runs: the sandbox is kept for the next one, but not for ever. */
export function beginIdle({ session, alarm, idleMs }: Notebook): void {
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
 * @param wakeInMs milliseconds until a timer of the program is due
 * @param deadline of the cell, in milliseconds since the epoch
 * @throws what a call threw: the cancellation of the run
 */
export async function untilWoken(
  run: Run,
  { session, openCalls, alarm }: Notebook,
  wakeInMs: number | null,
  deadline: number,
): Promise<Wakening> {
  const now = Date.now()
  if (now >= deadline) return { type: 'overdue' }
  const parkAt = now + run.plan.timings.parkMs
  const wakeAt = wakeInMs === null ? Infinity : now + wakeInMs
  let overdue = false
  const watchDeadline = (): void => {
    if (deadline < wakeAt) alarm.set(deadline, () => (overdue = true))
  }
  const park = (): void => {
    session.park()
    showProgress(run, `cell ${run.counts.cells} waits without a sandbox`)
    watchDeadline()
  }
  if (parkAt < Math.min(wakeAt, deadline)) alarm.set(parkAt, park)
  else watchDeadline()
  const results = await openCalls.next(wakeInMs, () => overdue || session.interruption.isWanted)
  alarm.clear()
  if (session.interruption.isWanted) return { type: 'interrupted' }
  return overdue && results.length === 0 ? { type: 'overdue' } : { type: 'results', results }
}
