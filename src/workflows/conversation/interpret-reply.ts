import { isToolUseBlock, type ModelReply, type ToolUseBlock } from '../../common/messages.js'
import { type AgentStatus, replyText } from '../../common/runs.js'

/** What to do with a reply of the model. */
export type ReplyAction =
  /** Run the calls, give the results back. */
  | { readonly type: 'execute_tools'; readonly uses: readonly ToolUseBlock[] }
  /** The reply is to be kept and the model asked to go on. */
  | { readonly type: 'continue' }
  /** Cut in the middle: nothing of it may run. Ask again with more room. */
  | { readonly type: 'truncated' }
  /** Nothing was said. Ask once more. */
  | { readonly type: 'prompt_again' }
  | { readonly type: 'end'; readonly status: AgentStatus; readonly answer: string }

export function interpretReply({ stopReason, content }: ModelReply): ReplyAction {
  const uses = content.filter(isToolUseBlock)
  const answer = replyText(content)
  switch (stopReason) {
    case 'max_tokens':
      return { type: 'truncated' }
    case 'refusal':
      return { type: 'end', status: 'refused', answer }
    case 'model_context_window_exceeded':
      return { type: 'end', status: 'context_full', answer }
    case 'pause_turn':
      return content.length > 0 ? { type: 'continue' } : { type: 'prompt_again' }
    default:
  }
  // Every tool_use needs its tool_result, whatever the stop reason is called tomorrow.
  if (uses.length > 0) return { type: 'execute_tools', uses }
  return answer.trim() === '' ? { type: 'prompt_again' } : { type: 'end', status: 'answered', answer }
}
