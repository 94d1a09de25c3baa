import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionContentPart,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionFunctionTool,
  ChatCompletionMessageParam,
  ChatCompletionTool,
} from 'openai/resources/chat/completions'
import {
  type AssistantBlock,
  isTextBlock,
  isToolUseBlock,
  type Message,
  type UserBlock,
} from '../../common/runs/messages.js'
import type { Effort } from '../../common/runs/model-settings.js'
import { describeWithExamples } from '../http/describe-examples.js'
import type { ModelRequest, ModelTool } from '../provider.js'
import { mediaOf } from './media.js'
import { extrasOf } from './message-extras.js'
import type { Dialect } from './dialect.js'

/**
 * The request for chat completions. Blocks of other vendors (thinking of Claude, server tools) have no equivalent, and
 * are left out.
 *
 * @param provider name of the provider, which gets back what only its own replies have
 */
export function toParams(
  provider: string,
  request: ModelRequest,
  { tokenLimit, includesUsage }: Pick<Dialect, 'tokenLimit' | 'includesUsage'>,
): ChatCompletionCreateParamsStreaming {
  const { model, maxTokens, temperature, system, messages } = request
  const { serverTools = [] } = request
  // From the configuration, in the form of the API.
  const tools = [...request.tools.map(toTool), ...(serverTools as unknown as readonly ChatCompletionTool[])]
  const effort = toEffort(request)
  return {
    model,
    [tokenLimit]: maxTokens,
    ...(temperature === undefined ? {} : { temperature }),
    ...(effort === undefined ? {} : { reasoning_effort: effort }),
    stream: true,
    ...(includesUsage ? { stream_options: { include_usage: true } } : {}),
    ...(tools.length === 0 ? {} : { tools }),
    messages: [
      ...(system.trim() === '' ? [] : [{ role: 'system', content: system } as const]),
      ...messages.flatMap((message) => toMessages(provider, message)),
    ],
  }
}

/** Models of OpenAI decide themselves how much they think: there is no number of tokens. */
export function toEffort({ thinking, effort }: ModelRequest): Effort | 'none' | undefined {
  return thinking === 'off' ? 'none' : effort
}

function toTool(tool: ModelTool): ChatCompletionFunctionTool {
  const { name, inputSchema } = tool
  return {
    type: 'function',
    function: { name, description: describeWithExamples(tool), parameters: { ...inputSchema, type: 'object' } },
  }
}

function toMessages(provider: string, { role, content }: Message): readonly ChatCompletionMessageParam[] {
  return role === 'user' ? toUserMessages(content) : toAssistantMessage(provider, content)
}

/** Each tool result is a message of its own. They come first: they must follow the reply with the calls. */
function toUserMessages(content: readonly UserBlock[]): readonly ChatCompletionMessageParam[] {
  const results = content.flatMap((block) =>
    block.type === 'tool_result'
      ? [{ role: 'tool', tool_call_id: block.tool_use_id, content: block.content } as const]
      : [],
  )
  const text = joinTexts(content.flatMap((block) => (block.type === 'text' ? [block.text] : [])))
  const media = content.flatMap(toMediaPart)
  if (media.length === 0) return [...results, ...(text === '' ? [] : [{ role: 'user', content: text } as const])]
  const parts = [...media, ...(text === '' ? [] : [{ type: 'text', text } as const])]
  return [...results, { role: 'user', content: parts }]
}

function toMediaPart(block: UserBlock): readonly ChatCompletionContentPart[] {
  const media = mediaOf(block)
  if (media === undefined) return []
  const { url, filename } = media
  if (filename === undefined) return [{ type: 'image_url', image_url: { url } }]
  return [{ type: 'file', file: { filename, file_data: url } }]
}

function toAssistantMessage(
  provider: string,
  content: readonly AssistantBlock[],
): readonly ChatCompletionAssistantMessageParam[] {
  const { message, toolCalls } = extrasOf(provider, content)
  const text = joinTexts(content.filter(isTextBlock).map((block) => block.text))
  const calls = content.filter(isToolUseBlock).map(
    ({ id, name, input }) =>
      ({
        ...toolCalls[id],
        id,
        type: 'function',
        function: { name, arguments: JSON.stringify(input) },
      }) as const,
  )
  if (text === '' && calls.length === 0) return []
  // Some servers want the member `content`, also without text.
  return [
    { ...message, role: 'assistant', content: text || null, ...(calls.length === 0 ? {} : { tool_calls: calls }) },
  ]
}

export function joinTexts(texts: readonly string[]): string {
  return texts.filter((text) => text.trim() !== '').join('\n\n')
}
