/** An entry of a stream. */
export interface StreamEntry {
  /** Identifies the entry in its stream, and is never used again there. */
  readonly id: string
  readonly text: string
}

/** Reads one stream. */
export interface StreamReader {
  /**
   * The entries after `id`, in their order; not necessarily all of them. Without any, waits for one for at most
   * `waitMs`, and returns none.
   *
   * @param id of an entry; undefined: from the oldest entry that there is. An entry that no longer exists is followed
   *   by the later ones.
   */
  read(id: string | undefined, waitMs: number): Promise<readonly StreamEntry[]>
  /** Idempotent. */
  close(): Promise<void>
}

/** Stores the streams of runs, and removes each when nothing was added to it for a while. */
export interface StreamSink {
  /**
   * Appends entries: all or none, as far as the caller can tell. When it rejects, the caller appends the same entries
   * again; readers ignore the second copy.
   */
  append(stream: string, entries: readonly string[]): Promise<void>
  /** Removes all entries of a stream. One that does not exist is no error. */
  remove(stream: string): Promise<void>
  /** Sends no request yet. */
  reader(stream: string): StreamReader
  /** Connections are opened again when they are needed. Idempotent. */
  close(): Promise<void>
}

/** Name of the stream of a workflow id. Runs that reuse the id share it. */
export function streamName(namespace: string, workflowId: string): string {
  return `${namespace}/${workflowId}`
}
