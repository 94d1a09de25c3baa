import { isJsonObject } from '../../common/json/json.js'
import { createHash } from 'node:crypto'
import { codeCallerOf } from '../../common/agent/hosted-code.js'
import { type AssistantBlock, isToolResultBlock, isToolUseBlock, type Message } from '../../common/agent/messages.js'
import type { ModelRequest } from '../provider.js'
import { idCharacters, idLength, isToolUseId } from './tool-use-id.js'
import { toWellFormedJson } from './well-formed.js'

/**
 * A request that each provider accepts, for any conversation. APIs are stricter about requests than about their own
 * replies: they refuse ill-formed texts, ids that are used twice or belong to another vendor, names that no tool can
 * have, and inputs that are not objects. Equal messages become equal messages, so prompts stay cached.
 */
export function toSendableRequest(request: ModelRequest): ModelRequest {
  const { tools, toolChoice } = request
  const names = sentToolNames(request)
  const sentName = (name: string): string => names.get(name) ?? toSendableName(name)
  return toWellFormedJson({
    ...request,
    tools: tools.every(({ name }) => sentName(name) === name)
      ? tools
      : tools.map((tool) => ({ ...tool, name: sentName(tool.name) })),
    messages: toSendableMessages(request.messages, sentName),
    ...(toolChoice?.type === 'tool' && { toolChoice: { ...toolChoice, name: sentName(toolChoice.name) } }),
  })
}

/** The names of tools in a request, by their own names: APIs refuse `math.factorial`. A name that they accept stays. */
export function sentToolNames({
  tools,
  serverTools = [],
}: Pick<ModelRequest, 'tools' | 'serverTools'>): ReadonlyMap<string, string> {
  const taken = new Set<unknown>([...tools, ...serverTools].map(({ name }) => name))
  const sentNameOf = (name: string): string => {
    const plain = toSendableName(name)
    if (plain === name) return name
    let sent = plain
    for (let count = 0; taken.has(sent); count += 1)
      sent = `${plain.slice(0, maxNameCharacters - idLength - 1)}_${deriveId(name, count)}`
    taken.add(sent)
    return sent
  }
  return new Map(tools.map(({ name }) => [name, sentNameOf(name)]))
}

/** Limit of OpenAI. Anthropic's is 128. */
const maxNameCharacters = 64

function toSendableMessages(messages: readonly Message[], sentName: (name: string) => string): readonly Message[] {
  const ids = new SendableIds()
  /** The sent ids of the tool uses without a result, by their own ids. */
  const open = new Map<string, string[]>()

  function sendUse(block: AssistantBlock, ofReply: Map<string, string[]>): AssistantBlock {
    if (!isToolUseBlock(block)) return block
    const { name, input } = block
    const id = ids.take(block.id, codeCallerOf(block) !== undefined)
    ofReply.set(block.id, [...(ofReply.get(block.id) ?? []), id])
    return { ...block, id, name: sentName(name), input: isJsonObject(input) ? input : {} }
  }

  return messages.map((message): Message => {
    if (message.role === 'assistant') {
      const ofReply = new Map<string, string[]>()
      const content = message.content.map((block) => sendUse(block, ofReply))
      for (const [id, sent] of ofReply) open.set(id, sent)
      return { ...message, content }
    }
    const content = message.content.map((block) => {
      if (!isToolResultBlock(block)) return block
      const sent = open.get(block.tool_use_id)?.shift() ?? deriveId(block.tool_use_id, 0)
      return { ...block, tool_use_id: sent }
    })
    return { ...message, content }
  })
}

/** Chooses the ids of the tool uses of one request. */
class SendableIds {
  readonly #used = new Set<string>()
  /** Number of ids that were derived from each id. */
  readonly #derived = new Map<string, number>()

  /**
   * Returns the id to send. Ids of the engine are sent unchanged.
   *
   * @param isOfCode the container of hosted code knows the call by this id
   */
  take(id: string, isOfCode: boolean): string {
    let sent = isOfCode || isToolUseId(id) ? id : this.#derive(id)
    while (this.#used.has(sent)) sent = this.#derive(id)
    this.#used.add(sent)
    return sent
  }

  #derive(id: string): string {
    const count = this.#derived.get(id) ?? 0
    this.#derived.set(id, count + 1)
    return deriveId(id, count)
  }
}

function deriveId(id: string, count: number): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([id, count]))
    .digest()
  return Array.from(digest.subarray(0, idLength), (byte) => idCharacters[byte % idCharacters.length]).join('')
}

function toSendableName(name: unknown): string {
  const text = typeof name === 'string' ? name : ''
  return text.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, maxNameCharacters) || 'unnamed'
}
