import type { ScriptedMessagesApi } from '../../../src/testing/index.js'

/** Replies the model gave in full: what was paid for. */
export function completedReplies(api: ScriptedMessagesApi): number {
  return api.requests.filter(({ outcome, path }) => outcome === 'answered' && path === '/v1/messages').length
}
