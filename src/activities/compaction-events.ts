import { ApplicationFailure, Context } from '@temporalio/activity'
import type { CompactionInput, CompactionResult } from '../common/runs/model-turn.js'
import type { StreamPublisher } from '../stream/index.js'

/** Publishes the start and the end of a compaction. */
export function streamCompaction(
  stream: StreamPublisher | undefined,
  compact: (input: CompactionInput) => Promise<CompactionResult>,
): (input: CompactionInput) => Promise<CompactionResult> {
  return async (input) => {
    const { workflowExecution, attempt, activityId } = Context.current().info
    const { workflowId = '', runId = '' } = workflowExecution ?? {}
    const { turn, message, tokens: tokensBefore } = input
    // A turn can have several compactions: the provider may refuse the messages of the first one.
    const unit = `compaction/${turn}/${activityId}`
    const publish = stream?.attempt({ workflowId, runId, attempt, unit })
    const fields = { turn, ...(message !== undefined && { message }), tokensBefore }
    publish?.({ type: 'compaction.started', ...fields })
    try {
      const result = await compact(input)
      const { tokens: tokensAfter, shortened, summarized, problem } = result
      const counts = { tokensAfter, shortened, summarized }
      publish?.({ type: 'compaction.completed', ...fields, ...counts, ...(problem !== undefined && { problem }) })
      return result
    } catch (thrown) {
      const code = thrown instanceof ApplicationFailure ? (thrown.type ?? 'UNKNOWN') : 'CANCELLED'
      publish?.({ type: 'compaction.failed', ...fields, code })
      throw thrown
    }
  }
}
