import { PtcError } from '../common/errors.js'
import { type Duration, parseDuration } from '../common/text/duration.js'

/** An entry of a stream. */
export interface StreamEntry {
  /** Identifies the entry in its stream. A sink never uses an id again. */
  readonly id: string
  readonly text: string
}

/** Reads one stream. */
export interface StreamReader {
  /**
   * Returns entries after `id` in order, but not necessarily all. When there are none, waits up to `waitMs` for one,
   * and then returns none.
   *
   * @param id of an entry; undefined: from the oldest existing entry. After an entry that no longer exists come the
   *   later ones.
   */
  read(id: string | undefined, waitMs: number): Promise<readonly StreamEntry[]>
  /** Idempotent. */
  close(): Promise<void>
}

/** Stores the streams of runs, and removes a stream when it has got no entry for a while. */
export interface StreamSink {
  /**
   * Appends entries: all or none, as far as the caller can tell. When it rejects, the caller appends the same entries
   * again; readers ignore the second copy.
   */
  append(stream: string, entries: readonly string[]): Promise<void>
  /** Removes all entries of a stream. A missing stream is not an error. */
  remove(stream: string): Promise<void>
  /** Creates a reader. Sends no request yet. */
  reader(stream: string): StreamReader
  /** Closes the connections. A later request opens them again. Idempotent. */
  close(): Promise<void>
}

/** Name of the stream of a workflow id. Runs that reuse the id share it. */
export function streamName(namespace: string, workflowId: string): string {
  return `${namespace}/${workflowId}`
}

/**
 * Milliseconds after which a stream is removed.
 *
 * @throws PtcError CONFIG_INVALID
 */
export function expiryMs(expires: Duration = '1d'): number {
  const ms = parseDuration(expires)
  if (ms !== undefined) return ms
  throw new PtcError('CONFIG_INVALID', 'the stream has an invalid `expires`', {
    hint: "Give milliseconds, or text such as '1d', above 0 and at most 24 days.",
  })
}
