import { createHash, randomUUID } from 'node:crypto'
import { access, constants, readdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { messageOf } from '../../../common/errors.js'
import type { JailCommand } from '../jail/jail-command.js'
import { makeFolder } from '../../../platform/make-folder.js'
import { runForOutput } from './run-for-output.js'

const staleFileMs = 3_600_000
const digestBytes = 32

/** The state of the boot image in its folder; `unavailable` with the reason why it can't be cached there. */
export type BootImageState =
  | { readonly state: 'cached' | 'missing'; readonly folder: string }
  | { readonly state: 'unavailable'; readonly folder: string; readonly reason: string }

/**
 * A file with the memory of a booted Python that has not run a program: an interpreter that is restored from it is
 * ready in a third of the time. A jailed child creates it once. The file is cached on disk: a SHA-256, then the image.
 * (It is neither a Docker image nor the snapshot of a session.)
 */
export class BootImage {
  readonly #file: string
  #cached: Promise<boolean> | undefined

  constructor(folder: string) {
    this.#file = path.join(folder, 'boot.image')
  }

  /**
   * Returns the path of the file, and creates the file if necessary. Returns undefined when that fails; then Python
   * boots.
   *
   * @param command the child that writes the image to its stdout
   */
  async ensure(command: () => JailCommand, signal: AbortSignal): Promise<string | undefined> {
    this.#cached ??= this.#isValid().then((isValid) => isValid || this.#create(command(), signal))
    if (!(await this.#cached)) return undefined
    const found = await realpath(this.#file).catch(() => undefined)
    // The cache was cleared: the next start recreates the file.
    if (found === undefined) this.#cached = undefined
    return found
  }

  /** Reads the state without creating the file. Never rejects. */
  async inspect(): Promise<BootImageState> {
    const folder = path.dirname(this.#file)
    const isValid = this.#isValid()
    if (await isValid) {
      this.#cached ??= isValid // the first start need not read the whole file again
      return { state: 'cached', folder }
    }
    try {
      await access(await nearestExistingFolder(folder), constants.W_OK | constants.X_OK)
      return { state: 'missing', folder }
    } catch (thrown) {
      return { state: 'unavailable', folder, reason: messageOf(thrown) }
    }
  }

  async #isValid(): Promise<boolean> {
    const file = await readFile(this.#file).catch(() => Buffer.alloc(0))
    return file.length > digestBytes && sha256(file.subarray(digestBytes)).equals(file.subarray(0, digestBytes))
  }

  async #create(command: JailCommand, signal: AbortSignal): Promise<boolean> {
    const temporaryFile = `${this.#file}.${randomUUID()}`
    try {
      const { exitCode, stdout: image } = await runForOutput(command, signal)
      if (exitCode !== 0) throw new Error(`exit code ${exitCode}`)
      await makeFolder(path.dirname(this.#file))
      await removeStaleFiles(path.dirname(this.#file))
      await writeFile(temporaryFile, Buffer.concat([sha256(image), image]))
      await rename(temporaryFile, this.#file)
      return true
    } catch {
      await rm(temporaryFile, { force: true }).catch(() => {}) // the folder is not writable
      return false
    }
  }
}

/** Returns the folder, or its nearest existing ancestor. */
async function nearestExistingFolder(folder: string): Promise<string> {
  const found = await stat(folder).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === 'ENOENT') return undefined
    throw thrown
  })
  if (found === undefined) return nearestExistingFolder(path.dirname(folder))
  if (!found.isDirectory()) throw new Error(`${folder} is not a folder`)
  return folder
}

/** Removes incomplete files of killed workers; a living worker completes its file in seconds. */
async function removeStaleFiles(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const file = path.join(folder, name)
    const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Date.now() })) // the file was removed meanwhile
    if (Date.now() - mtimeMs > staleFileMs) await rm(file, { force: true })
  }
}

function sha256(image: Uint8Array): Buffer {
  return createHash('sha256').update(image).digest()
}
