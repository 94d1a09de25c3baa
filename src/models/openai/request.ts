import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionContentPart,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionMessageParam,
  ChatCompletionTool,
} from 'openai/resources/chat/completions'
import type { AssistantBlock, Message } from '../../common/agent/messages.js'
import type { ToolChoice } from '../../common/agent/model-settings.js'
import { withDescribedTools } from '../http/describe-tools.js'
import type { ModelRequest } from '../provider.js'
import type { Dialect } from './dialect.js'
import type { Media } from './media.js'
import { extrasOf } from './message-extras.js'
import { toEffort, toFunction, toMode, toReplyParts, toUserParts } from './message-parts.js'

interface ChatForm extends Pick<Dialect, 'tokenLimit' | 'includesUsage'> {
  /** Default false: only `tools` describes them. */
  readonly toolsInSystemPrompt?: boolean
}

/**
 * The request for chat completions. Blocks of other vendors (thinking of Claude, server tools) have no equivalent, and
 * are left out.
 *
 * @param provider name of the provider, which gets back the extras of its own replies
 */
export function toParams(
  provider: string,
  request: ModelRequest,
  { tokenLimit, includesUsage, toolsInSystemPrompt = false }: ChatForm,
): ChatCompletionCreateParamsStreaming {
  const { model, maxTokens, temperature, messages, toolChoice, stopSequences } = request
  const system = toolsInSystemPrompt ? withDescribedTools(request) : request.system
  const { serverTools = [] } = request
  // The configuration has them in the form of the API.
  const tools = [
    ...request.tools.map((tool) => ({ type: 'function', function: toFunction(tool) }) as const),
    ...(serverTools as unknown as readonly ChatCompletionTool[]),
  ]
  const effort = toEffort(request)
  return {
    model,
    [tokenLimit]: maxTokens,
    ...(temperature === undefined ? {} : { temperature }),
    ...(effort === undefined ? {} : { reasoning_effort: effort }),
    stream: true,
    ...(includesUsage ? { stream_options: { include_usage: true } } : {}),
    ...(tools.length === 0 ? {} : { tools }),
    ...(stopSequences ? { stop: [...stopSequences] } : {}),
    ...(toolChoice && tools.length > 0 ? toChoice(toolChoice) : {}),
    messages: [
      ...(system.trim() === '' ? [] : [{ role: 'system', content: system } as const]),
      ...messages.flatMap((message) => toMessages(provider, message)),
    ],
  }
}

function toChoice({
  isSingle,
  ...choice
}: ToolChoice): Pick<ChatCompletionCreateParamsStreaming, 'tool_choice' | 'parallel_tool_calls'> {
  return {
    tool_choice: choice.type === 'tool' ? { type: 'function', function: { name: choice.name } } : toMode(choice.type),
    ...(isSingle && { parallel_tool_calls: false }),
  }
}

function toMessages(provider: string, { role, content }: Message): readonly ChatCompletionMessageParam[] {
  if (role === 'assistant') return toAssistantMessage(provider, content)
  return toUserParts(
    content,
    // Each result is its own message.
    ({ tool_use_id: id, content: result }) => ({ role: 'tool', tool_call_id: id, content: result }) as const,
    toMediaPart,
    (text) => ({ type: 'text', text }),
  )
}

function toMediaPart({ url, filename }: Media): ChatCompletionContentPart {
  if (filename === undefined) return { type: 'image_url', image_url: { url } }
  return { type: 'file', file: { filename, file_data: url } }
}

function toAssistantMessage(
  provider: string,
  content: readonly AssistantBlock[],
): readonly ChatCompletionAssistantMessageParam[] {
  const { message, toolCalls } = extrasOf(provider, content)
  const { text, calls } = toReplyParts(
    content,
    ({ id, ...called }, position) => ({ ...toolCalls[position], id, type: 'function', function: called }) as const,
  )
  if (text === '' && calls.length === 0) return []
  // Some servers require the member `content`, even without text.
  return [
    { ...message, role: 'assistant', content: text || null, ...(calls.length === 0 ? {} : { tool_calls: calls }) },
  ]
}
