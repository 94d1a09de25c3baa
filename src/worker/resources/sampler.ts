import { Runtime } from '@temporalio/worker'
import { messageOf } from '../../common/errors.js'

const intervalMs = 15_000

/** Takes samples for gauges until it is closed. */
export interface Sampler {
  /** Waits for the sample in progress. Idempotent. */
  close(): Promise<void>
}

/**
 * Takes a sample at once, and then 15 seconds after the end of each sample. A sample that fails is left out. The first
 * failure is logged, and the next one after a success.
 *
 * @param what the sampled gauges, for the log
 */
export function startSampler(what: string, sample: () => Promise<void>): Sampler {
  let round: Promise<void> | undefined
  let isFailing = false
  const takeSample = async (): Promise<void> => {
    try {
      await sample()
      isFailing = false
    } catch (thrown) {
      if (!isFailing) Runtime.instance().logger.warn(`metrics of ${what} can't be sampled: ${messageOf(thrown)}`)
      isFailing = true
    }
  }
  const next = (): void => {
    round ??= takeSample().finally(() => (round = undefined))
  }
  next()
  const timer = setInterval(next, intervalMs)
  return {
    async close() {
      clearInterval(timer)
      await round
    },
  }
}
