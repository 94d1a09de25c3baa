import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { link, lstat, mkdir, open, readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { PtcError } from '../../common/errors.js'
import { hasErrorCode } from '../../common/system-error.js'
import { makeFolder } from '../../platform/make-folder.js'
import { toLocalStoreError } from '../local/local-store-errors.js'
import type { ObjectStore } from './object-store.js'

const noFollow = constants.O_NOFOLLOW ?? 0
const incoming = 'incoming'

/** Each erasure during a write costs one. */
const maxCreateAttempts = 5

/**
 * Objects as files, of mode 0600 in folders of mode 0700. Any number of processes may write at the same time. No name
 * comes from a model. A link in the place of a folder or a file is refused.
 */
export class LocalObjects implements ObjectStore {
  readonly description: string
  readonly #directory: string

  /** @param directory an absolute path; the first write creates it */
  constructor(directory: string) {
    this.#directory = directory
    this.description = `the folder ${directory}`
  }

  async read(name: string, maxBytes: number, signal: AbortSignal): Promise<Uint8Array | undefined> {
    signal.throwIfAborted()
    return this.#ifPresent(async () => {
      await this.#refuseLinks(dirname(name))
      await using file = await open(join(this.#directory, name), constants.O_RDONLY | noFollow)
      const { size } = await file.stat()
      if (size > maxBytes) throw tooLarge(name, maxBytes)
      return file.readFile()
    })
  }

  async create(name: string, content: Uint8Array, signal: AbortSignal): Promise<boolean> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#create(name, content, signal)
      } catch (thrown) {
        // An erasure has removed the unfinished file.
        if (hasErrorCode(thrown, 'ENOENT') && attempt < maxCreateAttempts) continue
        signal.throwIfAborted()
        throw toLocalStoreError(thrown, this.#directory)
      }
    }
  }

  async #create(name: string, content: Uint8Array, signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted()
    const target = join(this.#directory, name)
    const temporary = join(this.#directory, incoming, `${topOf(name)}-${randomUUID()}`)
    try {
      await makeFolder(this.#directory, 0o700)
      await this.#makeFolders(incoming)
      await this.#makeFolders(dirname(name))
      await writeFile(temporary, content)
      signal.throwIfAborted()
      // Unlike a rename, a link does not replace an existing file.
      await link(temporary, target)
      await syncDirectory(dirname(target))
      return true
    } catch (thrown) {
      if (hasErrorCode(thrown, 'EEXIST')) return false
      throw thrown
    } finally {
      await rm(temporary, { force: true }).catch(() => undefined) // the first error is the one to report
    }
  }

  async list(folder: string, signal: AbortSignal): Promise<readonly string[]> {
    signal.throwIfAborted()
    const found = await this.#ifPresent(async () => {
      await this.#refuseLinks(folder)
      return readdir(join(this.#directory, folder))
    })
    return found ?? []
  }

  async *folders(signal: AbortSignal): AsyncGenerator<string, void, undefined> {
    const entries = await this.#ifPresent(() => readdir(this.#directory, { withFileTypes: true }))
    for (const entry of entries ?? []) {
      signal.throwIfAborted()
      if (entry.isDirectory() && entry.name !== incoming) yield entry.name
    }
  }

  async remove(names: readonly string[], signal: AbortSignal): Promise<void> {
    for (const name of names) {
      signal.throwIfAborted()
      await this.#ifPresent(async () => {
        await this.#refuseLinks(dirname(name))
        await rm(join(this.#directory, name), { force: true })
      })
    }
  }

  async removeUnfinished(folder: string, olderThanMs: number, signal: AbortSignal): Promise<void> {
    const names = await this.list(incoming, signal)
    for (const name of names.filter((each) => each.startsWith(`${topOf(folder)}-`))) {
      signal.throwIfAborted()
      const path = join(this.#directory, incoming, name)
      const found = await this.#ifPresent(() => lstat(path))
      if (found && Date.now() - found.mtimeMs >= olderThanMs) await this.#ifPresent(() => rm(path, { force: true }))
    }
  }

  close(): Promise<void> {
    return Promise.resolve()
  }

  /** Creates the folders of an object one by one: a recursive `mkdir` would follow a link. */
  async #makeFolders(folder: string): Promise<void> {
    let path = this.#directory
    for (const name of folder.split('/')) {
      path = join(path, name)
      await mkdir(path, 0o700).catch((thrown: unknown) => {
        if (!hasErrorCode(thrown, 'EEXIST')) throw thrown
      })
    }
    await this.#refuseLinks(folder)
  }

  async #refuseLinks(folder: string): Promise<void> {
    let path = this.#directory
    for (const name of folder.split('/')) {
      path = join(path, name)
      if ((await lstat(path)).isDirectory()) continue
      throw new PtcError('VALUE_STORE_REFUSED', `${path} is not a folder of its own`, {
        hint: 'Somebody else has changed the folder. Remove the link or the file.',
      })
    }
  }

  async #ifPresent<Found>(operation: () => Promise<Found>): Promise<Found | undefined> {
    try {
      return await operation()
    } catch (thrown) {
      if (hasErrorCode(thrown, 'ENOENT')) return undefined
      throw toLocalStoreError(thrown, this.#directory)
    }
  }
}

function topOf(name: string): string {
  return name.split('/')[0] ?? ''
}

async function writeFile(path: string, content: Uint8Array): Promise<void> {
  await using file = await open(path, 'wx', 0o600)
  await file.writeFile(content)
  await file.sync()
}

/** Syncs a directory: a new name survives a power failure only after that. Windows can't sync directories. */
async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return
  await using directory = await open(path, constants.O_RDONLY)
  await directory.sync()
}

export function tooLarge(name: string, maxBytes: number): PtcError {
  return new PtcError('VALUE_CORRUPT', `the object ${name} was changed: it has over ${maxBytes} bytes`)
}
