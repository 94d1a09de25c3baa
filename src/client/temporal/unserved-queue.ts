import type { UnservedQueue } from '../run-tree/index.js'
import { formatDuration } from '../../common/format.js'
import { toPlainLine } from '../../common/text.js'

/** `waitingSince` is undefined when no task waits on the queue. */
type UnservedQueueStatus = Omit<UnservedQueue, 'waitingSince'> & { readonly waitingSince: number | undefined }

/**
 * Says which task queue no worker polls, for how long, and what to do. A worker with no free slot does not poll either,
 * so the text does not claim that no worker runs.
 *
 * @param now milliseconds since the epoch
 */
export function describeUnserved(
  { taskQueue, role, waitingType, waitingSince, lastPolledAt }: UnservedQueueStatus,
  now: number,
): string {
  const polled =
    lastPolledAt === undefined ? 'no poll in the last 5 minutes' : `last poll ${formatDuration(now - lastPolledAt)} ago`
  const remedy =
    waitingType !== undefined
      ? `start the worker that has ${toPlainLine(waitingType)}`
      : role === undefined
        ? 'its sandbox host is gone or busy'
        : `\`ptc worker --roles ${role}\` starts one`
  const waited = waitingSince === undefined ? '' : `waiting for ${formatDuration(now - waitingSince)}, `
  return `no worker takes tasks from ${toPlainLine(taskQueue)}: ${waited}${polled}; ${remedy}`
}
