import { isToolUse, type ModelReply, type ToolUseBlock } from '../common/messages.js'
import { type AgentStatus, textOf } from '../common/runs.js'

/** What to do with a reply of the model. */
export type Decision =
  /** Run the calls, give the results back. */
  | { readonly type: 'serve'; readonly uses: readonly ToolUseBlock[] }
  /** The reply is to be kept and the model asked to go on. */
  | { readonly type: 'continue' }
  /** Cut in the middle: nothing of it may run. Ask again with more room. */
  | { readonly type: 'more_room' }
  /** Nothing was said. Ask once more. */
  | { readonly type: 'nudge' }
  | { readonly type: 'end'; readonly status: AgentStatus; readonly answer: string }

export function decide({ stopReason, content }: ModelReply): Decision {
  const uses = content.filter(isToolUse)
  const answer = textOf(content)
  switch (stopReason) {
    case 'max_tokens':
      return { type: 'more_room' }
    case 'refusal':
      return { type: 'end', status: 'refused', answer }
    case 'model_context_window_exceeded':
      return { type: 'end', status: 'context_full', answer }
    case 'pause_turn':
      return content.length > 0 ? { type: 'continue' } : { type: 'nudge' }
    default:
  }
  // Every tool_use needs its tool_result, whatever the stop reason is called tomorrow.
  if (uses.length > 0) return { type: 'serve', uses }
  return answer.trim() === '' ? { type: 'nudge' } : { type: 'end', status: 'answered', answer }
}
