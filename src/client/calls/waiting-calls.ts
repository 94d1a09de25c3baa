import type { WaitOfRun } from '../run/open-waits.js'
import type { CallWait } from '../run-tree/index.js'

/** A call that waits for its result, or for its approval. Times are ISO 8601. */
export interface ListedCall extends Omit<CallWait, 'type' | 'since' | 'expiresAt'> {
  readonly waitsFor: 'result' | 'approval'
  readonly since: string
  readonly expiresAt: string
}

/** Returns the waits of calls as lists of calls show them. */
export function waitingCalls(waits: readonly WaitOfRun[]): readonly ListedCall[] {
  return waits.flatMap(({ wait }) => {
    if (wait.type === 'budget') return []
    const { type, since, expiresAt, ...call } = wait
    const times = { since: new Date(since).toISOString(), expiresAt: new Date(expiresAt).toISOString() }
    return [{ waitsFor: type === 'approval' ? ('approval' as const) : ('result' as const), ...call, ...times }]
  })
}
