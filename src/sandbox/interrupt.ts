import type { StepAnswer } from '../common/steps.js'
import type { SandboxConnection } from './backend.js'
import { type Deferred, deferred } from './deferred.js'

/** An interrupt that came when no code ran (before its begin, in the middle of a frame) is made again, so often. */
const interrupts = { times: 5, everyMs: 1_000 } as const

/** The code of one step, over all connections that the step takes. */
export interface RunningCode {
  /** When it began, by a clock that never jumps (`performance.now`). */
  since?: number
  /** It was to be interrupted, so long after that. */
  interruptedAfterMs?: number
  /** The runner has said that an interrupt has reached it. */
  wasReached?: boolean
}

/** A step that is under way over one connection. */
export interface Interruptible {
  readonly answer: Deferred<StepAnswer>
  readonly code: RunningCode
  /** The latest interrupt has reached the code. */
  interrupted?: Deferred<void>
}

/** Settles when the interrupt has reached the code, or the step has ended, or it was tried often enough. */
export async function interruptCode(connection: SandboxConnection, step: Interruptible): Promise<void> {
  const { code } = step
  const now = performance.now()
  code.interruptedAfterMs ??= Math.round(now - (code.since ?? now))
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
export function mustInterruptAgain({ interruptedAfterMs, wasReached }: RunningCode): boolean {
  return interruptedAfterMs !== undefined && wasReached !== true
}

/** The answer with the moment of the interrupt, which a rebuild repeats. */
export function withInterrupt(answer: StepAnswer, { interruptedAfterMs }: RunningCode): StepAnswer {
  return answer.type === 'lost' || interruptedAfterMs === undefined ? answer : { ...answer, interruptedAfterMs }
}
