import type { UnservedQueue } from '../history/index.js'
import { formatDuration } from './format.js'
import type { Line } from './line.js'
import { oneLine } from './neutralise.js'
import { textBlock } from './text-block.js'

/** `waitingSince` is undefined when nothing waits there yet. */
type DescribedQueue = Omit<UnservedQueue, 'waitingSince'> & { readonly waitingSince: number | undefined }

/**
 * Says which task queue no worker polls, for how long, and what to do. A worker all of whose places are taken does not poll
 * either, so the text does not say that there is none.
 *
 * @param now milliseconds since the epoch
 */
export function describeUnserved({ taskQueue, role, waitingSince, lastPolledAt }: DescribedQueue, now: number): string {
  const polled =
    lastPolledAt === undefined ? 'no poll for minutes' : `last poll ${formatDuration(now - lastPolledAt)} ago`
  const remedy = role === undefined ? 'its sandbox host is gone or busy' : `\`ptc worker --roles ${role}\` starts one`
  const waited = waitingSince === undefined ? '' : `waiting for ${formatDuration(now - waitingSince)}, `
  return `no worker takes tasks from ${oneLine(taskQueue)}: ${waited}${polled}; ${remedy}`
}

/** The same in lines of a terminal, nothing cut off. */
export function unservedLines(queue: UnservedQueue, now: number, columns: number): readonly Line[] {
  return textBlock(describeUnserved(queue, now), { columns, style: 'yellow', limit: undefined, prose: true })
}
