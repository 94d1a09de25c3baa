import type { Unserved } from '../../../client/workers/unserved.js'
import { describeUnserved } from '../../../client/workers/unserved-queue.js'
import type { Line } from '../text/line.js'
import { textBlock } from '../text/text-block.js'

/** The text of {@link describeUnserved}, wrapped and untruncated. */
export function unservedLines(unserved: Unserved, now: number, columns: number): readonly Line[] {
  return textBlock(describeUnserved(unserved, now), { columns, style: 'yellow', limit: undefined, prose: true })
}
