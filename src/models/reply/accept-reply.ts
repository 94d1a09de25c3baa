import { randomInt } from 'node:crypto'
import { isDeeperThan, maxInputDepth, toToolInput } from './tool-input.js'
import { isJsonObject, type JsonObject } from '../../common/json/json.js'
import { codeCallerOf } from '../../common/agent/hosted-code.js'
import type { AssistantBlock, CodeContainer, ModelReply, ToolUseBlock, Usage } from '../../common/agent/messages.js'
import { invalidReply } from './invalid-reply.js'
import type { ModelRequest } from '../provider.js'
import { sentToolNames } from '../request/sendable-request.js'
import { isTruncating, toStopReason } from './stop-reason.js'
import { tokenCount } from './token-count.js'
import { idCharacters, idLength } from '../request/tool-use-id.js'
import { toWellFormedJson } from '../request/well-formed.js'

/** Maximum characters of the name of a tool. No tool has a longer name. */
const maxNameCharacters = 200

/**
 * The reply of a provider, as the rest of the engine may rely on it. It is the entry of everything that a model and its
 * server say, of each provider: texts are well-formed, inputs are objects, counts are numbers, tools have their own
 * names, stop reasons are those of the Messages API, and each tool use has an id of our own, which no other tool use of
 * any reply has.
 *
 * @throws PtcError MODEL_REPLY_INVALID; MODEL_SERVER for a reply that the server has broken off
 */
export function acceptReply(given: ModelReply, request: ModelRequest): ModelReply {
  const { model, hostedCode } = request
  // A provider of a user may return any value.
  const reply = given as { readonly [member in keyof ModelReply]?: unknown }
  if (!Array.isArray(reply.content)) throw invalidReply('its content is not a list')
  const stopReason = typeof reply.stopReason === 'string' ? toStopReason(reply.stopReason) : ''
  const isTruncated = isTruncating(stopReason)
  const ids = new Set<string>()
  const ownNames = new Map([...sentToolNames(request)].map(([own, sent]) => [sent, own]))
  const content = (reply.content as readonly unknown[]).flatMap((block): readonly AssistantBlock[] => {
    if (!isJsonObject(block) || typeof block['type'] !== 'string') throw invalidReply('a block without a type')
    const { input: _, ...members } = block
    if (isDeeperThan(block['type'] === 'tool_use' ? members : block, maxInputDepth))
      throw invalidReply('a block is nested too deeply')
    const { type } = block
    if (type === 'text') return typeof block['text'] === 'string' ? [{ ...block, type, text: block['text'] }] : []
    if (type !== 'tool_use') return [{ ...block, type }]
    const use = acceptToolUse(block, isTruncated, hostedCode !== undefined, ids)
    ids.add(use.id)
    return [{ ...use, name: ownNames.get(use.name) ?? use.name }]
  })
  const { costUsd, container, stopSequence } = reply
  return toWellFormedJson({
    model: typeof reply.model === 'string' && reply.model !== '' ? reply.model : model,
    content,
    stopReason: stopReason || (ids.size > 0 ? 'tool_use' : 'end_turn'),
    ...(typeof stopSequence === 'string' && { stopSequence }),
    usage: acceptUsage(reply.usage),
    costUsd: typeof costUsd === 'number' && Number.isFinite(costUsd) && costUsd >= 0 ? costUsd : null,
    requestId: typeof reply.requestId === 'string' ? reply.requestId : null,
    ...acceptContainer(container),
    ...(Array.isArray(reply.contextEdits) && { contextEdits: reply.contextEdits.filter(isContextEdit) }),
  })
}

function acceptToolUse(
  block: JsonObject,
  isTruncated: boolean,
  isHosted: boolean,
  used: ReadonlySet<string>,
): ToolUseBlock {
  const { id, name: givenName, input, input_problem: problem, caller, ...rest } = block
  const name = typeof givenName === 'string' ? givenName.slice(0, maxNameCharacters).toWellFormed() : ''
  const accepted =
    typeof problem === 'string' && isJsonObject(input) && !isDeeperThan(input, maxInputDepth)
      ? { input, input_problem: problem }
      : toToolInput(name, input ?? null, isTruncated)
  const use: ToolUseBlock = { ...rest, type: 'tool_use', id: newToolUseId(), name, ...accepted }
  if (!isHosted || !isCaller(caller)) return use
  // The container that waits for the result of this call knows the call by the provider's id.
  const isKept = codeCallerOf({ ...use, caller }) !== undefined && isUsableId(id) && !used.has(id)
  return { ...use, ...(isKept && { id }), caller }
}

function isContextEdit(value: unknown): value is JsonObject {
  return isJsonObject(value) && !isDeeperThan(value, maxInputDepth)
}

function isCaller(value: unknown): value is NonNullable<ToolUseBlock['caller']> {
  return isJsonObject(value) && typeof value['type'] === 'string' && typeof (value['tool_id'] ?? '') === 'string'
}

/** The id must not be the name of a member that every object has. */
function isUsableId(id: unknown): id is string {
  return typeof id === 'string' && /^[\w-]{1,128}$/.test(id) && !(id in {})
}

function newToolUseId(): string {
  return Array.from({ length: idLength }, () => idCharacters[randomInt(idCharacters.length)]).join('')
}

function acceptUsage(value: unknown): Usage {
  const usage = isJsonObject(value) ? value : {}
  return {
    inputTokens: tokenCount(usage['inputTokens']) ?? 0,
    outputTokens: tokenCount(usage['outputTokens']) ?? 0,
    cacheReadTokens: tokenCount(usage['cacheReadTokens']) ?? 0,
    cacheWriteTokens: tokenCount(usage['cacheWriteTokens']) ?? 0,
  }
}

function acceptContainer(value: unknown): { readonly container?: CodeContainer } {
  if (!isJsonObject(value) || typeof value['id'] !== 'string') return {}
  const { id, expiresAt } = value
  return { container: { id, expiresAt: typeof expiresAt === 'string' ? expiresAt : null } }
}
