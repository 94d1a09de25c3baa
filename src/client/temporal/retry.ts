/*
 * `src/client/temporal` owns the requests to the Temporal server: retries, paging, task queues, mapping of errors.
 *
 * Boundary: requests and their errors. It knows workflow and activity executions, not agents, sessions or output.
 *
 * Invariants:
 * 1. A request that goes through `retryRequest` lasts at most 40 s.
 * 2. A request is retried while the server is unavailable, for at most 60 s.
 * 3. No listener is left on a caller's signal.
 */

import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import { raceWithSignal } from '../../common/async/abort.js'
import { isTransient, temporalError } from './temporal-error.js'
import { withRequestSignal } from './request-signal.js'

/** The server responds to a long poll within 20 s; a connection that is silent for longer is dead. */
const requestTimeoutMs = 40_000
/** Maximum milliseconds during which a request is retried while the server is unavailable. */
const maxUnavailableMs = 60_000
const retryIntervalMs = 500

interface RetryRequestOptions {
  readonly workflowId: string
  readonly signal?: AbortSignal | undefined
}

/**
 * Sends a request about a run, and retries it while the server is unavailable.
 *
 * @throws PtcError TEMPORAL_NOT_FOUND; TEMPORAL_UNREACHABLE when the server was unavailable for a minute; the signal's
 * reason
 */
export async function retryRequest<Result>(
  client: Client,
  request: () => Promise<Result>,
  { workflowId, signal }: RetryRequestOptions,
): Promise<Result> {
  const startedAt = performance.now()
  for (;;) {
    signal?.throwIfAborted()
    const requestWithDeadline = () => client.connection.withDeadline(Date.now() + requestTimeoutMs, request)
    try {
      if (signal === undefined) return await requestWithDeadline()
      // Between its own retries the SDK ignores the signal, for up to 20 s.
      return await raceWithSignal(signal, withRequestSignal(client, signal, requestWithDeadline))
    } catch (thrown) {
      signal?.throwIfAborted()
      if (!isTransient(thrown) || performance.now() - startedAt > maxUnavailableMs) {
        throw temporalError(thrown, `read run ${workflowId}`, workflowId)
      }
      await delay(retryIntervalMs, undefined, signal ? { signal } : {})
    }
  }
}

interface RetryLongPollOptions {
  /** Returns whether this error is retried. Default: errors of an unavailable server are. */
  readonly isRetryable?: (thrown: unknown) => boolean
  /** A long poll that fails after more than these milliseconds had reached the server, so the 60 s start again. */
  readonly aliveAfterMs?: number
}

/**
 * Waits for something that may take days, such as the end of a run; keeps waiting while the server is unavailable.
 *
 * @throws errors of `longPoll`, once the server has been unavailable for a minute
 */
export async function retryLongPoll<Result>(
  longPoll: () => Promise<Result>,
  { isRetryable = isTransient, aliveAfterMs = requestTimeoutMs }: RetryLongPollOptions = {},
): Promise<Result> {
  let unavailableSince: number | undefined
  for (;;) {
    const startedAt = performance.now()
    try {
      return await longPoll()
    } catch (thrown) {
      if (!isRetryable(thrown)) throw thrown
      const now = performance.now()
      unavailableSince = unavailableSince === undefined || now - startedAt > aliveAfterMs ? now : unavailableSince
      if (now - unavailableSince > maxUnavailableMs) throw thrown
      await delay(retryIntervalMs)
    }
  }
}
