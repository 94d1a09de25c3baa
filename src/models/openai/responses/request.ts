import type { InputTokenCountParams } from 'openai/resources/responses/input-tokens'
import type {
  ResponseCreateParamsStreaming,
  ResponseInputContent,
  ResponseInputItem,
  Tool,
} from 'openai/resources/responses/responses'
import type { JsonObject, JsonValue } from '../../../common/json/json.js'
import type { AssistantBlock, Message } from '../../../common/agent/messages.js'
import { PtcError } from '../../../common/errors.js'
import type { ToolChoice } from '../../../common/agent/model-settings.js'
import { withDescribedTools } from '../../http/describe-tools.js'
import type { ModelRequest } from '../../provider.js'
import { parseToolInput } from '../../tool-input.js'
import type { Dialect } from '../dialect.js'
import type { Media } from '../media.js'
import { isFunctionCall, itemsOf } from '../message-extras.js'
import { toEffort, toFunction, toMode, toReplyParts, toUserParts } from '../message-parts.js'

interface ResponseForm extends Pick<Dialect, 'includesReasoning'> {
  /** Default: only `tools` describes them. */
  readonly toolsInSystemPrompt?: boolean
}

/**
 * The request for the responses API. The server stores nothing: it returns its reasoning encrypted, and gets all items
 * of a reply back unchanged. Replies of other models are translated.
 *
 * @param provider name of the provider
 */
export function toResponseParams(
  provider: string,
  request: ModelRequest,
  { includesReasoning, toolsInSystemPrompt = false }: ResponseForm,
): ResponseCreateParamsStreaming {
  const { model, maxTokens, temperature, messages, toolChoice, stopSequences } = request
  if (stopSequences && stopSequences.length > 0)
    throw new PtcError('MODEL_BAD_REQUEST', 'the responses API has no stop sequences', {
      hint: "Leave them out, or give the provider `api: 'chat'`.",
    })
  const system = toolsInSystemPrompt ? withDescribedTools(request) : request.system
  const { serverTools = [] } = request
  // The configuration has them in the form of the API.
  const tools = [
    // A strict schema must require each property.
    ...request.tools.map((tool) => ({ type: 'function', ...toFunction(tool), strict: false }) as const),
    ...(serverTools as unknown as readonly Tool[]),
  ]
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
    ...(toolChoice && tools.length > 0 ? toChoice(toolChoice) : {}),
    input: messages.flatMap((message) => toItems({ provider, model }, message)),
  }
}

function toChoice({
  isSingle,
  ...choice
}: ToolChoice): Pick<ResponseCreateParamsStreaming, 'tool_choice' | 'parallel_tool_calls'> {
  return {
    tool_choice: choice.type === 'tool' ? { type: 'function', name: choice.name } : toMode(choice.type),
    ...(isSingle && { parallel_tool_calls: false }),
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

type Asked = Parameters<typeof itemsOf>[0]

function toItems(asked: Asked, { role, content }: Message): readonly ResponseInputItem[] {
  if (role === 'assistant') return toAssistantItems(asked, content)
  return toUserParts(
    content,
    ({ tool_use_id: id, content: output }) => ({ type: 'function_call_output', call_id: id, output }) as const,
    toMediaPart,
    (text) => ({ type: 'input_text', text }),
  )
}

function toMediaPart({ url, filename }: Media): ResponseInputContent {
  if (filename === undefined) return { type: 'input_image', image_url: url, detail: 'auto' }
  return { type: 'input_file', filename, file_data: url }
}

function toAssistantItems(asked: Asked, content: readonly AssistantBlock[]): readonly ResponseInputItem[] {
  const items = itemsOf(asked, content)
  // The items come from the API.
  if (items !== undefined) return withCalls(items, content) as unknown as readonly ResponseInputItem[]
  const { text, calls } = toReplyParts(content, toFunctionCall)
  return [...(text === '' ? [] : [{ role: 'assistant', content: text } as const]), ...calls]
}

function toFunctionCall({ id, ...called }: { readonly id: string; readonly name: string; readonly arguments: string }) {
  return { type: 'function_call', call_id: id, ...called } as const
}

/**
 * Items go back unchanged, except for fields that requests must not have. The ids of calls must match their results.
 */
function withCalls(items: readonly JsonObject[], content: readonly AssistantBlock[]): readonly JsonObject[] {
  const { calls } = toReplyParts(content, toFunctionCall)
  let position = 0
  return items.map((item) => {
    if (!isFunctionCall(item)) return item
    const { call_id, name, arguments: text } = calls[position++] ?? {}
    const isRefused = isInvalid(item['arguments'])
    return { ...item, call_id: call_id ?? null, name: name ?? null, ...(isRefused && { arguments: text ?? '{}' }) }
  })
}

function isInvalid(text: JsonValue | undefined): boolean {
  if (typeof text !== 'string') return true
  const { input_problem: problem } = parseToolInput('', text, false)
  return problem !== undefined || text.trim() === ''
}
