import { type AssistantBlock, isToolUseBlock, type Message, type UserBlock } from '../../src/common/agent/messages.js'
import { checkToolPairing } from '../../src/testing/scripted-messages-api/request/check-tool-pairing.js'
import type { RequestMessage } from '../../src/testing/scripted-messages-api/request/request-schema.js'
import { Random } from './random.js'

const characters = (random: Random, limit: number) => 'x'.repeat(1 + random.below(limit))

/**
 * A conversation similar to that of an agent: replies with thinking, text and several tool uses, replies that continue
 * a paused one, messages of the user that come with results, and several consecutive messages of the user. It ends with
 * a reply whose results are pending.
 */
export function randomMessages(seed: number): readonly Message[] {
  const random = new Random(seed)
  const messages: Message[] = [{ role: 'user', content: [{ type: 'text', text: `question ${seed}` }] }]
  let uses = 0
  const replies = 1 + random.below(25)
  for (let reply = 0; reply < replies; reply += 1) {
    const content: AssistantBlock[] = []
    if (random.below(2) === 0) content.push({ type: 'thinking', thinking: characters(random, 500), signature: 's' })
    if (random.below(3) === 0) content.push({ type: 'text', text: characters(random, 2_000) })
    const asked = content.at(-1)?.type === 'text' ? random.below(4) : 1 + random.below(3)
    const ids = Array.from({ length: asked }, () => `toolu_${(uses += 1)}`)
    for (const id of ids) {
      content.push({ type: 'tool_use', id, name: 'execute_code', input: { code: characters(random, 800) } })
    }
    messages.push({ role: 'assistant', content })
    if (reply === replies - 1) break
    // A paused reply is continued by another one.
    if (ids.length === 0 && random.below(4) === 0) continue
    const results = ids.map((id): UserBlock => {
      return { type: 'tool_result', tool_use_id: id, content: characters(random, 12_000) }
    })
    const steering = ids.length === 0 || random.below(4) === 0 ? [{ type: 'text', text: `note ${reply}` } as const] : []
    messages.push({ role: 'user', content: [...results, ...steering] })
    if (random.below(8) === 0) messages.push({ role: 'user', content: [{ type: 'text', text: `more ${reply}` }] })
  }
  return messages
}

/**
 * Checks messages that end with a reply, with results for it, by the rules of the Messages API for tool uses.
 *
 * @throws Error naming the rule
 */
export function checkMessages(messages: readonly Message[]): void {
  const last = messages.at(-1)
  const uses = last?.role === 'assistant' ? last.content.filter(isToolUseBlock) : []
  const pending = { role: 'user', content: uses.map(({ id }) => ({ type: 'tool_result', tool_use_id: id })) }
  checkToolPairing([...messages, pending] as unknown as readonly RequestMessage[])
}
