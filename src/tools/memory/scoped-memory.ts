/*
 * The files of scopes in a store, and their index. Objects of a scope, in a folder named by the digest of its text:
 *
 *   index/000000000007         the index of version 7: paths, contents, and the latest writes
 *   blobs/000000000006-<uuid>  a content, written on the basis of version 6
 *
 * A write stores its content as a new object, and then creates the next version of the index. The creation is
 * exclusive: of two writers on the same basis one fails, reads the new version, and applies its command to that.
 *
 * Old versions are removed. A writer that was suspended for long could therefore create a version that was removed: it
 * looks whether a later version exists, and then counts as the writer that failed. A content whose basis is older than
 * the newest version, and which that version does not have, is referred to by nothing, now and later.
 */
import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { PtcError } from '../../common/errors.js'
import { failpoint } from '../../common/failpoint.js'
import { decodeIndex, encodeIndex, maxIndexBytes, type MemoryFile, type MemoryIndex } from './index-file.js'
import { folderOf } from './scope.js'
import type { ObjectStore } from '../../values/objects/object-store.js'

/** The files after a command. */
export interface Change {
  /** The files that stay, renamed or not. */
  readonly keep: readonly MemoryFile[]
  /** A file that is new or has new content. */
  readonly put?: { readonly path: string; readonly text: string }
  readonly result: string
}

/** The current version of a scope. */
export interface Version {
  /** 0 when nothing was written. */
  readonly number: number
  readonly index: MemoryIndex
}

const empty: MemoryIndex = { changedAt: 0, files: [], calls: [] }
/** Versions that are not removed at once: a reader may be about to read them. */
const keptVersions = 3
/** A write that is this many versions after the last thorough removal looks for what dead writers have left. */
const sweepEvery = 16
const maxAttempts = 100
const maxDelayMs = 250
const unfinishedMs = 3_600_000

export class ScopedMemory {
  readonly #store: ObjectStore
  readonly #scope: string
  readonly #folder: string

  /** @param scope a checked text */
  constructor(store: ObjectStore, scope: string) {
    this.#store = store
    this.#scope = scope
    this.#folder = folderOf(scope)
  }

  /** Reads the current version. */
  async current(signal: AbortSignal): Promise<Version> {
    return currentVersion(this.#store, this.#folder, signal)
  }

  /** The text of a file of a version. Undefined when the version was replaced and its content removed. */
  async text(file: MemoryFile, signal: AbortSignal): Promise<string | undefined> {
    const content = await this.#store.read(`${this.#folder}/blobs/${file.blob}`, file.bytes, signal)
    if (content === undefined) return undefined
    if (digest(content) !== file.sha256) {
      throw new PtcError('VALUE_CORRUPT', `the content of a file of a memory was changed in ${this.#store.description}`)
    }
    // `ignoreBOM` keeps the byte order mark.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content)
  }

  /**
   * Reads a version and something of it. Reads again when another writer has replaced the version meanwhile.
   *
   * @param read returns undefined when a content is gone
   */
  async read<Result>(read: (version: Version) => Promise<Result | undefined>, signal: AbortSignal): Promise<Result> {
    let before: number | undefined
    for (;;) {
      const version = await this.current(signal)
      const result = await read(version)
      if (result !== undefined) return result
      if (version.number === before) {
        throw new PtcError('VALUE_MISSING', `a content of a memory is missing in ${this.#store.description}`)
      }
      before = version.number
    }
  }

  /**
   * Applies a change to the current version, and again to the new one when another writer was faster.
   *
   * @param idempotencyKey a write with a known key returns its first result
   * @param change is called for each attempt; throws what refuses the write. Undefined when a content is gone
   */
  async write(
    idempotencyKey: string,
    change: (version: Version, attempt: number) => Promise<Change | undefined>,
    signal: AbortSignal,
  ): Promise<string> {
    const key = digest(idempotencyKey)
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      if (attempt > 0) await delay(Math.random() * Math.min(maxDelayMs, 10 * attempt), undefined, { signal })
      const { version, changed } = await this.read(async (current) => {
        const done = current.index.calls.find((call) => call.key === key)
        if (done) return { version: current, changed: done.result }
        const planned = await change(current, attempt)
        return planned && { version: current, changed: planned }
      }, signal)
      if (typeof changed === 'string') return changed
      if (await this.#publish(version, changed, key, signal)) return changed.result
    }
    const message = `a memory in ${this.#store.description} has too many writers at once`
    throw new PtcError('VALUE_STORE_UNAVAILABLE', message)
  }

  /** Removes all files, recorded results and the text of the scope. Returns what was removed. */
  async erase(signal: AbortSignal): Promise<readonly MemoryFile[]> {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const { number, index } = await this.current(signal)
      const blobs = await this.#store.list(`${this.#folder}/blobs`, signal)
      const isErased = blobs.length + index.files.length + index.calls.length === 0 && index.scope === undefined
      const next = isErased ? number : number + 1
      const erased = encodeIndex({ ...empty, changedAt: Date.now() })
      if (!isErased && !(await this.#store.create(this.#indexName(next), erased, signal))) continue
      if (next !== (await latestNumber(this.#store, this.#folder, signal))) continue
      await this.#sweep({ number: next, index: empty }, 1, signal)
      await this.#store.removeUnfinished(this.#folder, 0, signal)
      return index.files
    }
    throw new PtcError('VALUE_STORE_UNAVAILABLE', `a memory in ${this.#store.description} has too many writers at once`)
  }

  /** Returns false when another writer was faster. */
  async #publish({ number, index }: Version, change: Change, key: string, signal: AbortSignal): Promise<boolean> {
    const put = change.put && (await this.#put(change.put, number, signal))
    failpoint('memory.stored')
    const next = number + 1
    const files = put ? [...change.keep, put] : change.keep
    const calls = [...index.calls, { key, result: change.result }]
    const content = encodeIndex({ scope: this.#scope, changedAt: Date.now(), files, calls })
    const isCreated = await this.#store.create(this.#indexName(next), content, signal)
    if (!isCreated || next !== (await latestNumber(this.#store, this.#folder, signal))) {
      // With a version in between, this write may yet be part of it: the next attempt finds its key there.
      if (!isCreated && put) await this.#removeLoser(put, number, signal)
      return false
    }
    failpoint('memory.written')
    await this.#tidy({ number: next, index: { ...index, files } }, index, signal)
    return true
  }

  async #put({ path, text }: { path: string; text: string }, basis: number, signal: AbortSignal): Promise<MemoryFile> {
    const content = Buffer.from(text, 'utf8')
    const file = { path, blob: `${padded(basis)}-${randomUUID()}`, bytes: content.byteLength, sha256: digest(content) }
    await this.#store.create(`${this.#folder}/blobs/${file.blob}`, content, signal)
    return file
  }

  /**
   * Removes the content of a write that failed, unless it did not: S3 also reports a conflict when the reply to the
   * request that created the version was lost. Without a newer version, that request may still be on its way.
   */
  async #removeLoser({ blob }: MemoryFile, basis: number, signal: AbortSignal): Promise<void> {
    const { number, index } = await this.current(signal)
    if (number === basis || index.files.some((file) => file.blob === blob)) return
    await this.#store.remove([`${this.#folder}/blobs/${blob}`], signal)
  }

  /** Removes what this write replaced. Its failure is not that of the write: a later write removes the rest. */
  async #tidy(version: Version, before: MemoryIndex, signal: AbortSignal): Promise<void> {
    try {
      const used = new Set(version.index.files.map(({ blob }) => blob))
      const replaced = before.files.filter(({ blob }) => !used.has(blob))
      const names = replaced.map(({ blob }) => `${this.#folder}/blobs/${blob}`)
      const old = version.number - keptVersions
      await this.#store.remove([...names, ...(old > 0 ? [this.#indexName(old)] : [])], signal)
      if (version.number % sweepEvery > 0) return
      await this.#sweep(version, keptVersions, signal)
      await this.#store.removeUnfinished(this.#folder, unfinishedMs, signal)
    } catch {
      // The write has happened.
    }
  }

  /** Removes old versions, and the contents that neither the current version nor a writer refers to. */
  async #sweep({ number, index }: Version, kept: number, signal: AbortSignal): Promise<void> {
    const versions = await this.#store.list(`${this.#folder}/index`, signal)
    const old = versions.filter((name) => Number(name) <= number - kept)
    const used = new Set(index.files.map(({ blob }) => blob))
    const blobs = await this.#store.list(`${this.#folder}/blobs`, signal)
    const unused = blobs.filter((name) => !used.has(name) && basisOf(name) < number)
    await this.#store.remove(
      [...old.map((name) => `${this.#folder}/index/${name}`), ...unused.map((name) => `${this.#folder}/blobs/${name}`)],
      signal,
    )
  }

  #indexName(version: number): string {
    return `${this.#folder}/index/${padded(version)}`
  }
}

/** Reads the newest version in a folder, of a scope that may be unknown. */
export async function currentVersion(store: ObjectStore, folder: string, signal: AbortSignal): Promise<Version> {
  for (;;) {
    const number = await latestNumber(store, folder, signal)
    if (number === 0) return { number, index: empty }
    const name = `${folder}/index/${padded(number)}`
    const content = await store.read(name, maxIndexBytes, signal)
    // Undefined: newer versions were written, and this one was removed.
    if (content !== undefined) return { number, index: decodeIndex(content, name) }
  }
}

async function latestNumber(store: ObjectStore, folder: string, signal: AbortSignal): Promise<number> {
  const names = await store.list(`${folder}/index`, signal)
  return Math.max(0, ...names.filter((name) => /^\d{12}$/.test(name)).map(Number))
}

function padded(version: number): string {
  return String(version).padStart(12, '0')
}

function basisOf(blob: string): number {
  return Number(blob.slice(0, 12))
}

function digest(content: Uint8Array | string): string {
  return createHash('sha256').update(content).digest('hex')
}
