import type { Chain } from '../common/chain.js'
import type { Message, SaidBlock, UserBlock } from '../common/messages.js'
import type { Values } from '../values/values.js'
import { appendToChain, readChain } from './chains.js'
import { textOfHeld } from './join-text.js'

const conversation = 'the conversation'

/** What a model is sent: what was said before, and what is said now (nothing, or one message of the user's side). */
export async function messagesOf(
  values: Values,
  past: Chain | null,
  said: readonly SaidBlock[],
  signal: AbortSignal,
): Promise<{ readonly earlier: readonly Message[]; readonly now: readonly Message[] }> {
  const earlier = await readChain<Message>(values, past, conversation, signal)
  const content = await Promise.all(said.map((block) => inFull(values, block, signal)))
  return { earlier, now: content.length === 0 ? [] : [{ role: 'user', content }] }
}

/** The conversation with a turn behind it. */
export function keepTurn(
  values: Values,
  past: Chain | null,
  messages: readonly Message[],
  signal: AbortSignal,
): Promise<Chain> {
  return appendToChain(values, past, messages, conversation, signal)
}

async function inFull(values: Values, block: SaidBlock, signal: AbortSignal): Promise<UserBlock> {
  if (!('held' in block)) return block
  const { held, ...rest } = block
  const text = await textOfHeld(values, held, signal)
  return { ...rest, content: text === '' ? '(empty)' : text }
}
