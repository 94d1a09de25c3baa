import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { access, type FileHandle, link, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { failpoint } from '../../common/failpoint.js'
import { hasErrorCode } from '../../common/system-error.js'
import { verifyContent, ContentHasher, corruptError, isKey, missingError, assertKey } from '../content.js'
import { toLocalStoreError } from './local-store-errors.js'
import type { StoredContent, ValueStat, ValueStore } from '../store.js'
import { makeFolder } from '../../platform/make-folder.js'

/** Age after which a temporary file of a killed process is removed. Long, because clocks may jump. */
const staleUploadMs = 6 * 3_600_000
const readChunkBytes = 1024 * 1024

/**
 * Values in a directory: `ab/cd/<key>`. Any number of processes may write concurrently: a value is written to
 * `incoming` and published by rename. Private: files have mode 0600, directories 0700.
 */
export class LocalStore implements ValueStore {
  readonly description: string
  readonly #directory: string
  /** Folder for uploads, on the same file system, so that a rename is atomic. */
  readonly #incoming: string
  #foldersReady: Promise<void> | undefined

  /** @param directory an absolute path; the first put creates it */
  constructor(directory: string) {
    this.#directory = directory
    this.#incoming = join(directory, 'incoming')
    this.description = `the folder ${directory}`
  }

  async put(content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, signal: AbortSignal): Promise<StoredContent> {
    await this.#ensureFolders()
    const path = join(this.#incoming, randomUUID())
    try {
      const stored = await this.#write(path, content, signal)
      failpoint('value.written')
      // Replaces an existing value, which renews `usedAt` and repairs a changed file.
      await this.#toStoreErrors(() => this.#publish(path, stored.sha256))
      failpoint('value.published')
      return stored
    } catch (thrown) {
      await rm(path, { force: true }).catch(() => undefined) // the first error is the one to report
      throw thrown
    }
  }

  async *read(content: StoredContent, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    signal.throwIfAborted()
    const file = await this.#openValue(content)
    try {
      yield* verifyContent(this.#piecesOf(file, content.bytes, signal), content)
    } finally {
      await file.close()
    }
  }

  async stat(sha256: string, signal: AbortSignal): Promise<ValueStat | undefined> {
    signal.throwIfAborted()
    const found = await this.#ifPresent(() => stat(this.#pathOf(sha256)))
    return found && { sha256, bytes: found.size, usedAt: Math.floor(found.mtimeMs) }
  }

  async *list(signal: AbortSignal): AsyncGenerator<ValueStat, void, undefined> {
    for (const outer of await this.#listNames(this.#directory, /^[0-9a-f]{2}$/)) {
      for (const inner of await this.#listNames(join(this.#directory, outer), /^[0-9a-f]{2}$/)) {
        for (const key of (await this.#listNames(join(this.#directory, outer, inner), /./)).filter(isKey)) {
          const found = await this.stat(key, signal)
          if (found !== undefined) yield found
        }
      }
    }
  }

  async remove(sha256: string, signal: AbortSignal, unusedSince?: number): Promise<boolean> {
    signal.throwIfAborted()
    const path = this.#pathOf(sha256)
    if (unusedSince === undefined) return this.#removeIfPresent(() => rm(path))
    // The value is renamed first and then checked: a value that was put again meanwhile is restored.
    await this.#ensureFolders()
    const quarantine = join(this.#incoming, randomUUID())
    if (!(await this.#removeIfPresent(() => rename(path, quarantine)))) return false
    const { mtimeMs } = await this.#toStoreErrors(() => stat(quarantine))
    const wasPutAgain = mtimeMs > unusedSince
    if (wasPutAgain) await this.#toStoreErrors(() => link(quarantine, path)).catch(ignoreExisting)
    await this.#toStoreErrors(() => rm(quarantine))
    return !wasPutAgain
  }

  async putIfAbsent(name: string, content: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
    signal.throwIfAborted()
    const target = join(this.#directory, name)
    const present = await this.#ifPresent(() => readFile(target))
    if (present !== undefined) return present
    await this.#ensureFolders()
    const path = join(this.#incoming, randomUUID())
    try {
      await this.#write(path, [content], signal)
      // Unlike a rename, a link does not replace an existing file.
      await this.#toStoreErrors(() => link(path, target)).catch(ignoreExisting)
      await this.#toStoreErrors(() => syncDirectory(this.#directory))
    } finally {
      await rm(path, { force: true }).catch(() => undefined) // the first error is the one to report
    }
    return this.#toStoreErrors(() => readFile(target))
  }

  close(): Promise<void> {
    return Promise.resolve()
  }

  #pathOf(sha256: string): string {
    const key = assertKey(sha256)
    return join(this.#directory, key.slice(0, 2), key.slice(2, 4), key)
  }

  async #write(path: string, content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, signal: AbortSignal) {
    const file = await this.#toStoreErrors(() => open(path, 'wx', 0o600))
    try {
      const hasher = new ContentHasher()
      for await (const piece of content) {
        signal.throwIfAborted()
        hasher.add(piece)
        await this.#toStoreErrors(() => file.writeFile(piece))
      }
      signal.throwIfAborted()
      await this.#toStoreErrors(() => file.sync())
      return hasher.finish()
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
      if (!hasErrorCode(thrown, 'ENOENT')) throw thrown
      await makeDirectory(dirname(inner))
      await makeDirectory(inner)
      await rename(path, target)
    }
    await syncDirectory(inner)
  }

  async #openValue({ sha256, bytes }: StoredContent): Promise<FileHandle> {
    const path = this.#pathOf(sha256)
    let file: FileHandle
    try {
      file = await open(path, constants.O_RDONLY)
    } catch (thrown) {
      if (!hasErrorCode(thrown, 'ENOENT')) throw toLocalStoreError(thrown, this.#directory)
      // If the directory itself is missing, the disk is unavailable rather than the value missing.
      await this.#toStoreErrors(() => access(this.#directory))
      throw missingError(sha256, this.description)
    }
    const { size } = await this.#toStoreErrors(() => file.stat())
    if (size === bytes) return file
    await file.close()
    throw corruptError({ sha256, bytes }, `${size} bytes instead of ${bytes}`)
  }

  async *#piecesOf(
    file: FileHandle,
    expected: number,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    // One byte more shows that the file is longer.
    const chunkBytes = Math.min(expected + 1, readChunkBytes)
    for (;;) {
      signal.throwIfAborted()
      const { bytesRead, buffer } = await this.#toStoreErrors(() =>
        file.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes, null),
      )
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
    }
  }

  /** Creates the folders once per process, and again after an error. */
  async #ensureFolders(): Promise<void> {
    this.#foldersReady ??= this.#makeFolders()
    try {
      await this.#foldersReady
    } catch (thrown) {
      this.#foldersReady = undefined
      throw thrown
    }
  }

  async #makeFolders(): Promise<void> {
    await this.#toStoreErrors(() => makeFolder(this.#incoming, 0o700))
    for (const name of await this.#listNames(this.#incoming, /./)) {
      const path = join(this.#incoming, name)
      const found = await this.#ifPresent(() => stat(path))
      if (found && Date.now() - found.mtimeMs > staleUploadMs)
        await this.#toStoreErrors(() => rm(path, { force: true }))
    }
  }

  async #listNames(folder: string, pattern: RegExp): Promise<readonly string[]> {
    return ((await this.#ifPresent(() => readdir(folder))) ?? []).filter((name) => pattern.test(name))
  }

  async #removeIfPresent(remove: () => Promise<void>): Promise<boolean> {
    return (await this.#ifPresent(() => remove().then(() => true))) ?? false
  }

  async #ifPresent<Found>(operation: () => Promise<Found>): Promise<Found | undefined> {
    try {
      return await operation()
    } catch (thrown) {
      if (hasErrorCode(thrown, 'ENOENT')) return undefined
      throw toLocalStoreError(thrown, this.#directory)
    }
  }

  async #toStoreErrors<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (thrown) {
      throw toLocalStoreError(thrown, this.#directory)
    }
  }
}

/**
 * Creates a directory, but not its parents: the store of an unmounted disk must not be created again on the file system
 * under the mount point.
 */
async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, 0o700)
    await syncDirectory(dirname(path))
  } catch (thrown) {
    if (!hasErrorCode(thrown, 'EEXIST')) throw thrown
  }
}

/** Syncs a directory: a rename survives a power failure only after that. Windows can't sync directories. */
async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const directory = await open(path, constants.O_RDONLY)
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

function ignoreExisting(thrown: unknown): void {
  if (!(thrown instanceof Error && hasErrorCode(thrown.cause, 'EEXIST'))) throw thrown
}
