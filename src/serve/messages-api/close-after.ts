import type { Conversation } from '../../client/index.js'

/**
 * Closes a conversation that nobody will use again. A message that is still on its way may start it, so it is closed
 * once more when the sending has settled. Never rejects: it may not have begun, or have ended.
 */
export async function closeAfter(conversation: Conversation, sending: Promise<unknown>): Promise<void> {
  const close = (): Promise<unknown> => conversation.close().catch(() => undefined)
  await Promise.all([close(), sending.then(close, close)])
}
