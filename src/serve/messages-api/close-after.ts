import type { Conversation } from '../../client/index.js'

/**
 * Closes a conversation that no request will use again. A message that is still being sent may start the conversation,
 * so it is closed once more after the sending has settled. Never rejects: the conversation may not have started, or may
 * have ended.
 */
export async function closeAfter(conversation: Conversation, sending: Promise<unknown>): Promise<void> {
  const close = (): Promise<unknown> => conversation.close().catch(() => undefined)
  await Promise.all([close(), sending.then(close, close)])
}
