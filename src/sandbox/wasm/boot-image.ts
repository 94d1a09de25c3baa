import { spawn } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { access, constants, mkdir, readdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { messageOf, PtcError } from '../../common/errors.js'
import { childEnvironment, type JailCommand } from './jail-command.js'

const makeMs = 60_000
const abandonedMs = 3_600_000
const digestBytes = 32

/** Where a boot image is, or would be, and if it can't be there why not. */
export type BootImageState =
  | { readonly state: 'kept' | 'to be made'; readonly folder: string }
  | { readonly state: 'impossible'; readonly folder: string; readonly reason: string }

/**
 * A file with the memory of a Python that has just booted and has seen no program: an interpreter that is laid over it is ready in a third
 * of the time. It is made once, by a jailed child like every other, and kept where it can be had again: a SHA-256, then the image.
 */
export class BootImage {
  readonly #file: string
  #kept: Promise<boolean> | undefined

  constructor(folder: string) {
    this.#file = path.join(folder, 'boot.image')
  }

  /**
   * Where it is; undefined where it can't be made or kept, and then Python boots.
   *
   * @param maker the child that writes it to its output
   */
  async path(maker: () => JailCommand, signal: AbortSignal): Promise<string | undefined> {
    this.#kept ??= this.#isWhole().then((isWhole) => isWhole || this.#make(maker(), signal))
    if (!(await this.#kept)) return undefined
    const found = await realpath(this.#file).catch(() => undefined)
    // Somebody has cleared the cache: whoever asks next makes it again.
    if (found === undefined) this.#kept = undefined
    return found
  }

  /** Whether it is there, or could be; looks only, and makes nothing. Never rejects. */
  async look(): Promise<BootImageState> {
    const folder = path.dirname(this.#file)
    const isWhole = this.#isWhole()
    if (await isWhole) {
      this.#kept ??= isWhole // a worker looks before its first start, which need not read all of it again
      return { state: 'kept', folder }
    }
    try {
      await access(await existing(folder), constants.W_OK | constants.X_OK)
      return { state: 'to be made', folder }
    } catch (thrown) {
      return { state: 'impossible', folder, reason: messageOf(thrown) }
    }
  }

  async #isWhole(): Promise<boolean> {
    const file = await readFile(this.#file).catch(() => Buffer.alloc(0))
    return file.length > digestBytes && digestOf(file.subarray(digestBytes)).equals(file.subarray(0, digestBytes))
  }

  async #make(maker: JailCommand, signal: AbortSignal): Promise<boolean> {
    const unfinished = `${this.#file}.${randomUUID()}`
    try {
      const image = await outputOf(maker, signal)
      await mkdir(path.dirname(this.#file), { recursive: true })
      await removeAbandoned(path.dirname(this.#file))
      await writeFile(unfinished, Buffer.concat([digestOf(image), image]))
      await rename(unfinished, this.#file)
      return true
    } catch {
      await rm(unfinished, { force: true }).catch(() => {}) // nothing can be written there
      return false
    }
  }
}

/** The folder, or the nearest one above it that is there. */
async function existing(folder: string): Promise<string> {
  const found = await stat(folder).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === 'ENOENT') return undefined
    throw thrown
  })
  if (found === undefined) return existing(path.dirname(folder))
  if (!found.isDirectory()) throw new Error(`${folder} is not a folder`)
  return folder
}

/** What killed workers have begun; a living one is done in a moment. */
async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const file = path.join(folder, name)
    const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Date.now() })) // gone by now
    if (Date.now() - mtimeMs > abandonedMs) await rm(file, { force: true })
  }
}

async function outputOf({ file, args }: JailCommand, signal: AbortSignal): Promise<Buffer> {
  const child = spawn(file, args, {
    env: childEnvironment,
    cwd: '/',
    // The descriptors of an interpreter: nobody interrupts it, and nobody reads what it says of itself.
    stdio: ['ignore', 'pipe', 'ignore', 'ignore', 'ignore'],
    signal,
    timeout: makeMs,
    killSignal: 'SIGKILL',
    windowsHide: true,
  })
  const ended = once(child, 'exit')
  const [image, [exitCode]] = await Promise.all([child.stdout ? buffer(child.stdout) : Buffer.alloc(0), ended])
  if (exitCode !== 0) throw new PtcError('SANDBOX_UNAVAILABLE', `no boot image was made: exit code ${exitCode}`)
  return image
}

function digestOf(image: Uint8Array): Buffer {
  return createHash('sha256').update(image).digest()
}
