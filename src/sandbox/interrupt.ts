import type { StepAnswer } from '../common/steps.js'
import type { SandboxConnection } from './backend.js'
import type { Restored } from './protocol/answers.js'
import { type Deferred, deferred } from './deferred.js'

/** An interrupt that came when no code ran (before its begin, in the middle of a frame) is made again, so often. */
const interrupts = { times: 5, everyMs: 1_000 } as const

/** The code of one step, over all connections that the step takes. */
export interface RunningCode {
  /** It was to be interrupted. */
  isToStop?: boolean
  /** The runner has said that an interrupt has reached it. */
  wasReached?: boolean
  /** When it reaches its limit of time, by `performance.now()`. */
  stopsAt?: number
  /** Connections over which it was told to stop at its limit. */
  stops?: number
}

/** A step that is under way over one connection. */
export interface Interruptible {
  readonly answer: Deferred<StepAnswer | Restored>
  readonly code: RunningCode
  /** The latest interrupt has reached the code. */
  interrupted?: Deferred<void>
}

/** Settles when the interrupt has reached the code, or the step has ended, or it was tried often enough. */
export async function interruptCode(connection: SandboxConnection, step: Interruptible): Promise<void> {
  const { code } = step
  code.isToStop = true
  step.interrupted = deferred()
  const reached = step.interrupted.promise.then(() => (code.wasReached = true))
  const settled = Promise.race([reached, step.answer.promise]).then(
    () => true,
    () => true,
  )
  const pause = () => new Promise<false>((resolve) => setTimeout(() => resolve(false), interrupts.everyMs).unref())
  for (let time = 0; time < interrupts.times; time += 1) {
    await connection.interrupt().catch(() => false)
    if (await Promise.race([settled, pause()])) return
  }
}

/** An interrupt went under with the connection it was made over. */
export function mustInterruptAgain({ isToStop = false, wasReached = false }: RunningCode): boolean {
  return isToStop && !wasReached
}

/**
 * Interrupts what runs, if that can be done, and gives it a moment to come to this end.
 *
 * @throws what interrupting throws: the sandbox can't be told anything
 */
export async function interruptFor(
  connection: SandboxConnection,
  end: Promise<unknown>,
  graceMs: number,
): Promise<void> {
  if (!(await connection.interrupt())) return
  await Promise.race([end, new Promise((resolve) => setTimeout(resolve, graceMs).unref())])
}

/** Connections over which code is told to stop at its limit. */
const maximumStops = 3

/**
 * Tells code at its limit to stop, and gives it a moment to. A connection that breaks meanwhile takes that moment from
 * it, so it has another one over the next connection, but not over each.
 *
 * @throws what interrupting throws: the sandbox can't be told anything
 */
export async function stopAtLimit(
  connection: SandboxConnection,
  code: RunningCode,
  end: Promise<unknown>,
  graceMs: number,
): Promise<void> {
  code.stops = (code.stops ?? 0) + 1
  if (code.stops <= maximumStops) await interruptFor(connection, end, graceMs)
}
