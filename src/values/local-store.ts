import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { access, type FileHandle, link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { crashPoint } from '../common/crash-point.js'
import { checkedPieces, ContentMeter, corrupt, isKey, missing, requireKey } from './content.js'
import { errnoOf, localError } from './local-errors.js'
import type { StoredContent, ValueStat, ValueStore } from './store.js'

/** A write that made no progress for so long was killed. Long, because clocks jump. */
const leftoverMs = 6 * 3_600_000
const readBytes = 256 * 1024

/**
 * Values in a folder: `ab/cd/<key>`. Any number of processes may write at once: a value appears by rename, whole or not at
 * all. A private place: files 0600, folders 0700.
 */
export class LocalStore implements ValueStore {
  readonly description: string
  readonly #directory: string
  /** On the same file system, so that a rename is atomic. */
  readonly #incoming: string
  #prepared: Promise<void> | undefined

  /** @param directory absolute; made at the first put */
  constructor(directory: string) {
    this.#directory = directory
    this.#incoming = join(directory, 'incoming')
    this.description = `the folder ${directory}`
  }

  async put(content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, signal: AbortSignal): Promise<StoredContent> {
    await this.#prepare()
    const path = join(this.#incoming, randomUUID())
    try {
      const stored = await this.#write(path, content, signal)
      crashPoint('value.written')
      // Also when it is there already: that makes it used now, and heals one that was changed by hand.
      await this.#disk(() => this.#publish(path, stored.sha256))
      crashPoint('value.published')
      return stored
    } catch (thrown) {
      await rm(path, { force: true }).catch(() => undefined) // the first failure is the one to tell
      throw thrown
    }
  }

  async *read(content: StoredContent, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    signal.throwIfAborted()
    const file = await this.#openValue(content)
    try {
      yield* checkedPieces(this.#piecesOf(file, signal), content)
    } finally {
      await file.close()
    }
  }

  async stat(sha256: string, signal: AbortSignal): Promise<ValueStat | undefined> {
    signal.throwIfAborted()
    const found = await this.#unlessAbsent(() => stat(this.#pathOf(sha256)))
    return found && { sha256, bytes: found.size, usedAt: Math.floor(found.mtimeMs) }
  }

  async *list(signal: AbortSignal): AsyncGenerator<ValueStat, void, undefined> {
    for (const outer of await this.#names(this.#directory, /^[0-9a-f]{2}$/)) {
      for (const inner of await this.#names(join(this.#directory, outer), /^[0-9a-f]{2}$/)) {
        for (const key of (await this.#names(join(this.#directory, outer, inner), /./)).filter(isKey)) {
          const found = await this.stat(key, signal)
          if (found !== undefined) yield found
        }
      }
    }
  }

  async remove(sha256: string, signal: AbortSignal, unusedSince?: number): Promise<boolean> {
    signal.throwIfAborted()
    const path = this.#pathOf(sha256)
    if (unusedSince === undefined) return this.#vanishes(() => rm(path))
    // Moved aside before it is judged: what was put again meanwhile is put back, and never lost.
    await this.#prepare()
    const aside = join(this.#incoming, randomUUID())
    if (!(await this.#vanishes(() => rename(path, aside)))) return false
    const { mtimeMs } = await this.#disk(() => stat(aside))
    const isUsed = mtimeMs > unusedSince
    if (isUsed) await this.#disk(() => link(aside, path)).catch(unlessThere)
    await this.#disk(() => rm(aside))
    return !isUsed
  }

  close(): Promise<void> {
    return Promise.resolve()
  }

  #pathOf(sha256: string): string {
    const key = requireKey(sha256)
    return join(this.#directory, key.slice(0, 2), key.slice(2, 4), key)
  }

  async #write(path: string, content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, signal: AbortSignal) {
    const file = await this.#disk(() => open(path, 'wx', 0o600))
    try {
      const meter = new ContentMeter()
      for await (const piece of content) {
        signal.throwIfAborted()
        meter.add(piece)
        await this.#disk(() => file.writeFile(piece))
      }
      signal.throwIfAborted()
      await this.#disk(() => file.sync())
      return meter.finish()
    } finally {
      await file.close()
    }
  }

  async #publish(path: string, sha256: string): Promise<void> {
    const target = this.#pathOf(sha256)
    const inner = dirname(target)
    try {
      await rename(path, target)
    } catch (thrown) {
      if (errnoOf(thrown) !== 'ENOENT') throw thrown
      await makeFolder(dirname(inner))
      await makeFolder(inner)
      await rename(path, target)
    }
    await syncFolder(inner)
  }

  async #openValue({ sha256, bytes }: StoredContent): Promise<FileHandle> {
    const path = this.#pathOf(sha256)
    let file: FileHandle
    try {
      file = await open(path, constants.O_RDONLY)
    } catch (thrown) {
      if (errnoOf(thrown) !== 'ENOENT') throw localError(thrown, this.#directory)
      // Without the folder itself it is the disk that is missing, not the value.
      await this.#disk(() => access(this.#directory))
      throw missing(sha256, this.description)
    }
    const { size } = await this.#disk(() => file.stat())
    if (size === bytes) return file
    await file.close()
    throw corrupt({ sha256, bytes }, `${size} bytes instead of ${bytes}`)
  }

  async *#piecesOf(file: FileHandle, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      signal.throwIfAborted()
      const { bytesRead, buffer } = await this.#disk(() => file.read(Buffer.allocUnsafe(readBytes), 0, readBytes, null))
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
    }
  }

  /** Once a process; a failure is not remembered. */
  async #prepare(): Promise<void> {
    this.#prepared ??= this.#makeFolders()
    try {
      await this.#prepared
    } catch (thrown) {
      this.#prepared = undefined
      throw thrown
    }
  }

  async #makeFolders(): Promise<void> {
    await this.#disk(() => mkdir(this.#incoming, { recursive: true, mode: 0o700 }))
    for (const name of await this.#names(this.#incoming, /./)) {
      const path = join(this.#incoming, name)
      const found = await this.#unlessAbsent(() => stat(path))
      if (found && Date.now() - found.mtimeMs > leftoverMs) await this.#disk(() => rm(path, { force: true }))
    }
  }

  async #names(folder: string, pattern: RegExp): Promise<readonly string[]> {
    return ((await this.#unlessAbsent(() => readdir(folder))) ?? []).filter((name) => pattern.test(name))
  }

  async #vanishes(remove: () => Promise<void>): Promise<boolean> {
    return (await this.#unlessAbsent(() => remove().then(() => true))) ?? false
  }

  async #unlessAbsent<Found>(look: () => Promise<Found>): Promise<Found | undefined> {
    try {
      return await look()
    } catch (thrown) {
      if (errnoOf(thrown) === 'ENOENT') return undefined
      throw localError(thrown, this.#directory)
    }
  }

  async #disk<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (thrown) {
      throw localError(thrown, this.#directory)
    }
  }
}

/** Not recursive: when the whole store is gone (a disk that was unmounted), it must not be begun anew beneath. */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, 0o700)
    await syncFolder(dirname(path))
  } catch (thrown) {
    if (errnoOf(thrown) !== 'EEXIST') throw thrown
  }
}

/** A name survives a power failure only when its folder is written too. Windows has no such thing. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const folder = await open(path, constants.O_RDONLY)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

function unlessThere(thrown: unknown): void {
  const cause = thrown instanceof Error ? thrown.cause : undefined
  if (errnoOf(cause) !== 'EEXIST') throw thrown
}
