import { digestJson } from '../../common/calls/call-identity.js'
import type { SessionRef } from '../../common/session/session.js'

/** Returns a key for one sandbox of a session in this process. */
export function sessionKey(session: Pick<SessionRef, 'id' | 'epoch'> & { readonly backend: string }): string {
  return `${session.backend}/${session.id}/${session.epoch}`
}

/** Returns the seed of a session. It is the same in every rebuild, so that its random numbers repeat. */
export function sessionSeed(session: string): number {
  return Number.parseInt(digestJson(session).slice(0, 8), 16)
}
