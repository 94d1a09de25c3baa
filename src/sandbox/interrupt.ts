import type { StepAnswer } from '../common/steps.js'
import type { SandboxConnection } from './backend.js'
import { type Deferred, deferred } from './deferred.js'

/** An interrupt that came when no code ran (before its begin, in the middle of a frame) is made again, so often. */
const interrupts = { times: 5, everyMs: 1_000 } as const

/** A step that is under way. */
export interface Interruptible {
  readonly answer: Deferred<StepAnswer>
  /** When its code began, by a clock that never jumps (`performance.now`). */
  since: number
  interruptedAfterMs?: number
  /** The latest interrupt has reached the code. */
  interrupted?: Deferred<void>
}

/** Settles when the interrupt has reached the code, or the step has ended, or it was tried often enough. */
export async function interruptCode(connection: SandboxConnection, step: Interruptible): Promise<void> {
  step.interruptedAfterMs ??= Math.round(performance.now() - step.since)
  step.interrupted = deferred()
  const settled = Promise.race([step.interrupted.promise, step.answer.promise]).then(
    () => true,
    () => true,
  )
  const pause = () => new Promise<false>((resolve) => setTimeout(() => resolve(false), interrupts.everyMs).unref())
  for (let time = 0; time < interrupts.times; time += 1) {
    await connection.interrupt().catch(() => false)
    if (await Promise.race([settled, pause()])) return
  }
}

/** The answer with the moment of the interrupt, which a rebuild repeats. */
export function withInterrupt(answer: StepAnswer, { interruptedAfterMs }: Interruptible): StepAnswer {
  return answer.type === 'lost' || interruptedAfterMs === undefined ? answer : { ...answer, interruptedAfterMs }
}
