import type { ErrorCode } from '../../common/errors.js'
import type { Attempt } from './attempt-record.js'

export const workerLost: ErrorCode = 'WORKER_LOST'

/** TIMEOUT_TYPE_HEARTBEAT */
const heartbeat = 4

/** Temporal interprets a delay of 0 as "do not retry". */
export const atOnceMs = 1

/** The default heartbeat timeout, after which an attempt of a lost host is tried again. */
const firstDelayMs = 10_000
const maxDoublings = 4

/** The failure of the attempt before the lost one, in the server's description. */
interface LastFailure {
  readonly applicationFailureInfo?: {
    readonly type?: string | null
    readonly nextRetryDelay?: { readonly seconds?: unknown; readonly nanos?: number | null } | null
  } | null
  readonly timeoutFailureInfo?: { readonly timeoutType?: unknown } | null
}

/** An attempt whose worker has died. */
export interface LostAttempt extends Attempt {
  /** Number of consecutive attempts that lost their workers, including this one. */
  readonly lost: number
  /** From 0 for the youngest to 1 for the oldest attempt that the worker had in progress. */
  readonly age: number
}

/** The attempts that a worker had in progress when it died, oldest first. */
export function lostAttempts(attempts: readonly Attempt[]): readonly LostAttempt[] {
  const last = attempts.length - 1
  return attempts.map((attempt, index) => {
    const age = last === 0 ? 0 : (last - index) / last
    return { ...attempt, lost: (attempt.lost ?? 0) + 1, age }
  })
}

/**
 * Milliseconds until the next attempt after one whose worker has died. After the first loss the activity is tried again
 * at once. When the attempt before has lost its worker, too, the activity may be the cause: then the delay grows with
 * each lost worker, so that other activities have time to end. An older attempt waits up to twice as long. So a call
 * that ends its worker at once comes before calls that only ran at the same time, and waits again while they run.
 *
 * @param lastFailure of the attempt before, which another worker may have had
 */
export function retryDelayMs({ lost, age }: LostAttempt, lastFailure?: LastFailure | null): number {
  const doublings = Math.max(lost - 2, doublingsOf(lastFailure))
  return doublings < 0 ? atOnceMs : Math.round(firstDelayMs * 2 ** Math.min(doublings, maxDoublings) * (1 + age))
}

function doublingsOf(lastFailure: LastFailure | null | undefined): number {
  if (!lastFailure || !isWorkerLost(lastFailure)) return -1
  const { seconds, nanos } = lastFailure.applicationFailureInfo?.nextRetryDelay ?? {}
  const earlierMs = Number(seconds ?? 0) * 1_000 + (nanos ?? 0) / 1_000_000
  return earlierMs < firstDelayMs ? 0 : Math.floor(Math.log2(earlierMs / firstDelayMs)) + 1
}

function isWorkerLost({ applicationFailureInfo, timeoutFailureInfo }: LastFailure): boolean {
  return applicationFailureInfo?.type === workerLost || Number(timeoutFailureInfo?.timeoutType) === heartbeat
}
