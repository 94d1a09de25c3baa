import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import { underOwnSignal, unlessAborted } from '../common/abort.js'
import { mayPass, temporalError } from './temporal-error.js'

/** The server answers a long poll after 20 s at the latest; a connection that is silent for longer is dead. */
const answerMs = 40_000
/** How long a server may be away before we stop waiting for it. */
const patienceMs = 60_000
const pauseMs = 500

export interface Asking {
  readonly workflowId: string
  readonly signal?: AbortSignal | undefined
}

/**
 * Asks the server about a run, again while it is away.
 *
 * @throws PtcError TEMPORAL_NOT_FOUND; TEMPORAL_UNREACHABLE after a minute without a server; the signal's reason
 */
export async function askPatiently<Answer>(
  { connection }: Client,
  ask: () => Promise<Answer>,
  { workflowId, signal }: Asking,
): Promise<Answer> {
  const began = performance.now()
  for (;;) {
    signal?.throwIfAborted()
    const within = () => connection.withDeadline(Date.now() + answerMs, ask)
    try {
      if (signal === undefined) return await within()
      const asked = underOwnSignal(signal, (own) => connection.withAbortSignal(own, within))
      // Between its own retries the SDK does not look at the signal, for up to 20 s.
      return await unlessAborted(signal, asked)
    } catch (thrown) {
      signal?.throwIfAborted()
      if (!mayPass(thrown) || performance.now() - began > patienceMs) {
        throw temporalError(thrown, `read run ${workflowId}`, workflowId)
      }
      await delay(pauseMs, undefined, signal ? { signal } : {})
    }
  }
}

export interface Waiting {
  /** Is this no end of the waiting? Default: what says that the server is away for the moment. */
  readonly passes?: (thrown: unknown) => boolean
  /** Milliseconds after which the server must have answered in between. */
  readonly answeredMs?: number
}

/**
 * Waits for something that may take days, such as the end of a run; waits on while the server is away.
 *
 * @throws what `wait` throws, once the server has been away for a minute
 */
export async function waitPatiently<Result>(
  wait: () => Promise<Result>,
  { passes = mayPass, answeredMs = answerMs }: Waiting = {},
): Promise<Result> {
  let awaySince: number | undefined
  for (;;) {
    const began = performance.now()
    try {
      return await wait()
    } catch (thrown) {
      if (!passes(thrown)) throw thrown
      const now = performance.now()
      awaySince = awaySince === undefined || now - began > answeredMs ? now : awaySince
      if (now - awaySince > patienceMs) throw thrown
      await delay(pauseMs)
    }
  }
}
