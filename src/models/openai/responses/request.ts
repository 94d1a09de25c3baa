import type { InputTokenCountParams } from 'openai/resources/responses/input-tokens'
import type {
  FunctionTool,
  ResponseCreateParamsStreaming,
  ResponseInputContent,
  ResponseInputItem,
  Tool,
} from 'openai/resources/responses/responses'
import {
  type AssistantBlock,
  isTextBlock,
  isToolUseBlock,
  type Message,
  type UserBlock,
} from '../../../common/runs/messages.js'
import { describeWithExamples } from '../../http/describe-examples.js'
import type { ModelRequest, ModelTool } from '../../provider.js'
import type { Dialect } from '../dialect.js'
import { mediaOf } from '../media.js'
import { itemsOf } from '../message-extras.js'
import { joinTexts, toEffort } from '../request.js'

/**
 * The request for the responses API. The server stores nothing: it returns its reasoning encrypted, and gets all items
 * of a reply back as they were. Replies of other models are translated.
 *
 * @param provider name of the provider
 */
export function toResponseParams(
  provider: string,
  request: ModelRequest,
  { includesReasoning }: Pick<Dialect, 'includesReasoning'>,
): ResponseCreateParamsStreaming {
  const { model, maxTokens, temperature, system, messages } = request
  const { serverTools = [] } = request
  // From the configuration, in the form of the API.
  const tools = [...request.tools.map(toTool), ...(serverTools as unknown as readonly Tool[])]
  const effort = toEffort(request)
  return {
    model,
    max_output_tokens: maxTokens,
    ...(temperature === undefined ? {} : { temperature }),
    ...(effort === undefined ? {} : { reasoning: { effort } }),
    stream: true,
    store: false,
    ...(includesReasoning ? { include: ['reasoning.encrypted_content'] } : {}),
    ...(system.trim() === '' ? {} : { instructions: system }),
    ...(tools.length === 0 ? {} : { tools }),
    input: messages.flatMap((message) => toItems({ provider, model }, message)),
  }
}

/** The part of a request that counts as input. */
export function toCountParams(params: ResponseCreateParamsStreaming): InputTokenCountParams {
  const { model, input, instructions, tools, reasoning } = params
  return {
    ...(model !== undefined && { model }),
    ...(input !== undefined && { input }),
    ...(instructions != null && { instructions }),
    ...(tools && { tools }),
    ...(reasoning && { reasoning }),
  }
}

function toTool(tool: ModelTool): FunctionTool {
  const { name, inputSchema } = tool
  const parameters = { ...inputSchema, type: 'object' }
  // In a strict schema each property would have to be required.
  return { type: 'function', name, description: describeWithExamples(tool), parameters, strict: false }
}

type Asked = Parameters<typeof itemsOf>[0]

function toItems(asked: Asked, { role, content }: Message): readonly ResponseInputItem[] {
  return role === 'user' ? toUserItems(content) : toAssistantItems(asked, content)
}

/** The results come first: they must follow the calls. */
function toUserItems(content: readonly UserBlock[]): readonly ResponseInputItem[] {
  const results = content.flatMap((block) =>
    block.type === 'tool_result'
      ? [{ type: 'function_call_output', call_id: block.tool_use_id, output: block.content } as const]
      : [],
  )
  const text = joinTexts(content.flatMap((block) => (block.type === 'text' ? [block.text] : [])))
  const media = content.flatMap(toMediaPart)
  if (media.length === 0) return [...results, ...(text === '' ? [] : [{ role: 'user', content: text } as const])]
  const parts = [...media, ...(text === '' ? [] : [{ type: 'input_text', text } as const])]
  return [...results, { role: 'user', content: parts }]
}

function toMediaPart(block: UserBlock): readonly ResponseInputContent[] {
  const media = mediaOf(block)
  if (media === undefined) return []
  const { url, filename } = media
  if (filename === undefined) return [{ type: 'input_image', image_url: url, detail: 'auto' }]
  return [{ type: 'input_file', filename, file_data: url }]
}

function toAssistantItems(asked: Asked, content: readonly AssistantBlock[]): readonly ResponseInputItem[] {
  const items = itemsOf(asked, content)
  // From the API, and sent back unchanged.
  if (items !== undefined) return items as unknown as readonly ResponseInputItem[]
  const text = joinTexts(content.filter(isTextBlock).map((block) => block.text))
  const calls = content
    .filter(isToolUseBlock)
    .map(
      ({ id, name, input }) =>
        ({ type: 'function_call', call_id: id, name, arguments: JSON.stringify(input) }) as const,
    )
  return [...(text === '' ? [] : [{ role: 'assistant', content: text } as const]), ...calls]
}
