import type { ScriptedMessagesApi } from '../../../src/testing/index.js'

/** Number of complete model replies, which are paid. */
export function completedReplies(api: ScriptedMessagesApi): number {
  return api.requests.filter(({ outcome, path }) => outcome === 'answered' && path === '/v1/messages').length
}
