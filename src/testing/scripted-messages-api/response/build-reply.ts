import type { JsonObject, JsonValue } from '../../../common/json/json.js'
import type { ConversationState } from '../script/conversation-state.js'
import { identifier } from './identifiers.js'
import { truncateReply } from './truncate-reply.js'
import type { InputUsage } from '../request/prompt-cache.js'
import { countCharacters, type ReplyBlock } from './reply-block.js'
import type { MessagesRequest } from '../request/request-schema.js'
import {
  isScriptedText,
  isScriptedToolUse,
  type ScriptedBlock,
  type ScriptedReply,
  type ScriptedToolUse,
} from '../script/script.js'
import { fillTemplate } from '../script/template.js'
import { tokensForCharacters } from '../request/token-count.js'

/** The reply to a request, before it is written as JSON or as a stream. */
export interface Reply {
  readonly id: string
  readonly model: string
  readonly blocks: readonly ReplyBlock[]
  readonly stopReason: string
  readonly stopSequence: string | null
  readonly stopDetails: JsonValue
  readonly container: JsonValue | undefined
  readonly usage: JsonObject
  readonly contextManagement: JsonObject | undefined
  /** Code continues with results and makes more calls: the model was not called. */
  readonly continuesCode: boolean
}

/** Builds the reply. The same conversation and script give the same bytes, except for cache usage. */
export function buildReply(
  scripted: ScriptedReply,
  request: MessagesRequest,
  state: ConversationState,
  input: InputUsage,
): Reply {
  const all = scripted.content.map((block, index) => replyBlock(block, index, state))
  const limited = truncateReply(all, request.max_tokens, request.stop_sequences ?? [])
  const continuesCode = state.answersCode && limited.blocks.every(isCallOfCode)
  const hasToolUse = limited.blocks.some(({ opening }) => opening['type'] === 'tool_use')
  return {
    id: identifier('msg_01', [state.key]),
    model: request.model,
    blocks: limited.blocks,
    stopReason: limited.stopReason ?? scripted.stop_reason ?? (hasToolUse ? 'tool_use' : 'end_turn'),
    stopSequence: limited.stopSequence ?? scripted.stop_sequence ?? null,
    stopDetails: scripted.stop_details ?? null,
    container: scripted.container
      ? { skills: null, ...expiryOf(scripted.container), ...scripted.container }
      : undefined,
    usage: { ...(continuesCode ? noUsage : countUsage(input, limited.blocks)), ...scripted.usage },
    contextManagement: scripted.context_management,
    continuesCode,
  }
}

/** Milliseconds after which a container expires. */
const containerLifetime = 300_000

function expiryOf(container: JsonObject): JsonObject {
  return 'expires_at' in container ? {} : { expires_at: new Date(Date.now() + containerLifetime).toISOString() }
}

function isCallOfCode({ opening: { type, caller } }: ReplyBlock): boolean {
  return type === 'tool_use' && typeof caller === 'object' && caller !== null && 'tool_id' in caller
}

const noUsage: JsonObject = {
  input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  output_tokens: 0,
  service_tier: 'standard',
  inference_geo: 'not_available',
}

function replyBlock(block: ScriptedBlock, index: number, state: ConversationState): ReplyBlock {
  if (isScriptedText(block)) {
    const text = fillTemplate(block.text, state)
    return { opening: { type: 'text', text: '' }, streamed: { delta: 'text_delta', text } }
  }
  if (!isScriptedToolUse(block)) return { opening: fillTemplate(block, state), streamed: null }
  const { id = identifier('toolu_01', [state.key, index]), name, caller = { type: 'direct' } } = block
  return {
    opening: { type: 'tool_use', id, name, input: {}, caller },
    streamed: { delta: 'input_json_delta', text: toolInputText(block, state) },
  }
}

function toolInputText(block: ScriptedToolUse, state: ConversationState): string {
  if ('partial_json' in block) return fillTemplate(block.partial_json, state)
  const json = JSON.stringify(fillTemplate(block.input, state))
  // Empty arguments are streamed without text.
  return json === '{}' ? '' : json
}

function countUsage(input: InputUsage, blocks: readonly ReplyBlock[]): JsonObject {
  const characters = blocks.reduce((sum, block) => sum + countCharacters(block), 0)
  return {
    input_tokens: input.uncached,
    cache_creation_input_tokens: input.written5m + input.written1h,
    cache_read_input_tokens: input.cacheRead,
    cache_creation: { ephemeral_5m_input_tokens: input.written5m, ephemeral_1h_input_tokens: input.written1h },
    output_tokens: Math.max(1, tokensForCharacters(characters)),
    service_tier: 'standard',
    inference_geo: 'not_available',
  }
}
