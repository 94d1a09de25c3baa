import { Runtime } from '@temporalio/worker'
import { messageOf } from '../../common/errors.js'
import { repeat, type Repeated } from './repeat.js'

const intervalMs = 15_000

/**
 * Takes samples for gauges. A sample that fails is left out. The first failure is logged, and the next one after a
 * success.
 *
 * @param what the sampled gauges, for the log
 */
export function startSampler(what: string, sample: () => Promise<void>): Repeated {
  let isFailing = false
  return repeat(intervalMs, async () => {
    try {
      await sample()
      isFailing = false
    } catch (thrown) {
      if (!isFailing) Runtime.instance().logger.warn(`metrics of ${what} can't be sampled: ${messageOf(thrown)}`)
      isFailing = true
    }
  })
}
