import { setMaxListeners } from 'node:events'
import type { Client } from '@temporalio/client'
import { withDerivedSignal } from '../../common/async/abort.js'

/**
 * Performs work whose requests end when the signal is aborted. For each request, the SDK leaves a listener on its
 * signal until the work settles: one every 20 s for a long poll. So the work gets a signal of its own, for which Node
 * does not report many listeners as a leak.
 */
export function withRequestSignal<Result>(
  { connection }: Pick<Client, 'connection'>,
  signal: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result> {
  return withDerivedSignal(signal, (derived) => {
    setMaxListeners(0, derived)
    return connection.withAbortSignal(derived, work)
  })
}
