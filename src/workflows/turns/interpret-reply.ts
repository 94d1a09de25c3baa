import type { JsonValue } from '../../common/json/json.js'
import { isToolUseBlock, type ModelReply, type ToolUseBlock } from '../../common/agent/messages.js'
import type { SubmittedAnswer } from '../../common/agent/model-turn.js'
import type { DescribedCall } from '../../common/session/steps.js'
import { type AgentStatus, replyText } from '../../common/run/runs.js'
import type { PlanStep } from '../../common/agent/task-modes.js'
import { jsonToText } from '../../common/text/text.js'

type ReplyAction =
  /** Execute the tool uses, and send the results with the next turn. */
  | {
      readonly type: 'execute_tools'
      readonly uses: readonly ToolUseBlock[]
      /** Why the submission among the tool uses was not accepted; undefined without one. */
      readonly problem: string | undefined
    }
  /** Keep the reply and let the model continue. */
  | { readonly type: 'continue' }
  /** The reply is incomplete, so none of its tool uses may run. Repeat the turn with a higher token limit. */
  | { readonly type: 'truncated' }
  | { readonly type: 'prompt_again' }
  /** The text is a call of a tool. Keep the reply and ask for a real call, or end the turns with `failure`. */
  | { readonly type: 'ask_for_call'; readonly prompt: string; readonly failure: string }
  /** The reply is a text, but the turns end with a submission. Keep the reply and ask for a submission. */
  | { readonly type: 'ask_for_answer' }
  | { readonly type: 'plan'; readonly steps: readonly PlanStep[]; readonly toolUseId: string }
  /**
   * End the plain run with the unchanged reply. The client executes its calls, so the reply does not enter the history.
   */
  | { readonly type: 'end_plain'; readonly status: AgentStatus; readonly answer: string }
  | { readonly type: 'end'; readonly status: AgentStatus; readonly answer: string; readonly output?: JsonValue }

interface ExpectedAnswer {
  /** True when a text does not end the turns. */
  readonly mustSubmit: boolean
  readonly submitted: SubmittedAnswer | undefined
  /** The tool that the whole text of the reply calls. */
  readonly textCall?: string | undefined
  /** For a plain run: the described calls of the reply, by tool_use id. Undefined: the run is not plain. */
  readonly plainCalls?: Readonly<Record<string, DescribedCall>> | undefined
}

export function interpretReply(
  { stopReason, content }: ModelReply,
  { mustSubmit, submitted, textCall, plainCalls }: ExpectedAnswer = { mustSubmit: false, submitted: undefined },
): ReplyAction {
  const uses = content.filter(isToolUseBlock)
  const answer = replyText(content)
  switch (stopReason) {
    case 'max_tokens':
      return plainCalls ? { type: 'end_plain', status: 'truncated', answer } : { type: 'truncated' }
    case 'refusal':
      return { type: 'end', status: 'refused', answer }
    case 'model_context_window_exceeded':
      return { type: 'end', status: 'context_full', answer }
    case 'pause_turn':
      return content.length > 0 ? { type: 'continue' } : { type: 'prompt_again' }
    default:
  }
  // Every tool_use needs its tool_result, also with a stop reason that this version does not know.
  switch (submitted?.type) {
    case 'valid': {
      const { output } = submitted
      return { type: 'end', status: 'answered', answer: jsonToText(output), output }
    }
    case 'gave_up':
      return { type: 'end', status: 'gave_up', answer: submitted.reason }
    case 'plan':
      return { type: 'plan', steps: submitted.steps, toolUseId: uses[0]?.id ?? '' }
    default:
  }
  const isForClient = uses.some(({ id }) => plainCalls?.[id]?.refused === null)
  const isEmpty = uses.length === 0 && answer.trim() === ''
  if (isForClient || (plainCalls && isEmpty && !mustSubmit)) return { type: 'end_plain', status: 'answered', answer }
  if (uses.length > 0) return { type: 'execute_tools', uses, problem: submitted?.problem }
  if (isEmpty) return { type: 'prompt_again' }
  if (textCall !== undefined) return askForCall(textCall)
  return mustSubmit ? { type: 'ask_for_answer' } : { type: 'end', status: 'answered', answer }
}

function askForCall(tool: string): ReplyAction {
  const call = `a call of ${tool} as text`
  return {
    type: 'ask_for_call',
    prompt: `Your last reply was ${call}, so nothing was called. Call ${tool} as a tool, or give your answer.`,
    failure:
      `The model wrote ${call}, again and again: its server has no parser for the tool calls of the model. Start the ` +
      'server with one (vLLM: --enable-auto-tool-choice --tool-call-parser; llama.cpp: --jinja), or choose a model ' +
      'whose calls the server parses.',
  }
}
