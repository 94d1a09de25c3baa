import { isToolUseBlock, type ModelReply, type ToolUseBlock } from '../../common/messages.js'
import { type AgentStatus, replyText } from '../../common/runs.js'

/** What a reply asks for. */
type ReplyAction =
  /** Execute the tool uses, and send the results with the next turn. */
  | { readonly type: 'execute_tools'; readonly uses: readonly ToolUseBlock[] }
  /** Keep the reply and let the model continue. */
  | { readonly type: 'continue' }
  /** The reply is incomplete, so none of its tool uses may run. Repeat the turn with a higher token limit. */
  | { readonly type: 'truncated' }
  /** The reply is empty. Repeat the turn with another prompt. */
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
  // Every tool_use needs its tool_result, also with a stop reason that this version does not know.
  if (uses.length > 0) return { type: 'execute_tools', uses }
  return answer.trim() === '' ? { type: 'prompt_again' } : { type: 'end', status: 'answered', answer }
}
