import type { CompactionNode } from '../../../client/run-tree/index.js'
import { describeCompaction } from '../text/compaction.js'
import { justify, part } from '../text/line.js'
import { textBlock } from '../text/text-block.js'
import type { Branch } from './branch.js'
import { formatAttempts, formatSpan, joinFacts, type RenderContext } from './render-context.js'
import { statusMark } from './status-mark.js'

/** The compaction of the messages before a turn. */
export function compactionBranch(compaction: CompactionNode, context: RenderContext): Branch {
  const { status } = compaction
  const failure = status === 'failed' ? compaction.failure : status === 'ok' ? undefined : compaction.lastFailure
  return {
    head: (columns) =>
      justify(
        [statusMark(status), part(' compaction', 'bold'), part(` ${describeCompaction(compaction)}`)],
        joinFacts(formatSpan(compaction, context), formatAttempts(compaction)),
        columns,
      ),
    body: (columns) => {
      if (!failure) return []
      const style = status === 'failed' ? 'red' : 'yellow'
      return textBlock(`${failure.code}: ${failure.message}`, { columns, limit: 4, style, prose: true })
    },
  }
}
