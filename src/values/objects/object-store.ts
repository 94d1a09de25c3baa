/** Small objects by name: what a memory, or the tokens of a server, need of a folder or a bucket. Names are made by this package. */
export interface ObjectStore {
  /** For messages: `the folder /srv/memory`. */
  readonly description: string
  /** Undefined when there is no such object. @throws PtcError VALUE_CORRUPT for more than `maxBytes` */
  read(name: string, maxBytes: number, signal: AbortSignal): Promise<Uint8Array | undefined>
  /** Creates an object, whole or not at all. False when it exists: of several writers of a name, one gets true. */
  create(name: string, content: Uint8Array, signal: AbortSignal): Promise<boolean>
  /** The last parts of the names of the objects in a folder, in no order. */
  list(folder: string, signal: AbortSignal): Promise<readonly string[]>
  /** The folders at the top. */
  folders(signal: AbortSignal): AsyncIterable<string>
  /** Removes objects. A missing object is not an error. */
  remove(names: readonly string[], signal: AbortSignal): Promise<void>
  /** Removes what writers of a folder that died have left, after this many milliseconds. */
  removeUnfinished(folder: string, olderThanMs: number, signal: AbortSignal): Promise<void>
  close(): Promise<void>
}
