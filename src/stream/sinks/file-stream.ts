import { createHash, randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, link, open, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { hasErrorCode } from '../../common/system-error.js'
import type { Duration } from '../../tools/duration.js'
import type { StreamEntry, StreamReader, StreamSink } from '../sink.js'
import { expiryMs } from './expiry.js'
import { makeFolder } from '../../platform/make-folder.js'

export interface FileStreamOptions {
  /** For all workers and clients of one machine. Relative to the working directory. */
  readonly folder: string
  /** The stream of a run is removed when nothing was added to it for this long. Default 1 day. */
  readonly expires?: Duration
}

/** The first line of a file is a random id: positions of a file that was removed mean nothing in its successor. */
const headerBytes = 37
const pollMs = 25
const maxReadBytes = 256 * 1024
const maxSweepIntervalMs = 60_000
const suffix = '.jsonl'

/**
 * Streams as files, one for each workflow id: for workers and clients on one machine. What was appended survives the
 * end of every process, but not always a crash of the machine.
 *
 * @throws PtcError CONFIG_INVALID
 */
export function fileStream({ folder, expires }: FileStreamOptions): StreamSink {
  return new FileStream(resolve(folder), expiryMs(expires))
}

class FileStream implements StreamSink {
  readonly #folder: string
  readonly #expiresMs: number
  /** Files whose last line may be cut. */
  readonly #cut = new Set<string>()
  #sweptAt = Number.NEGATIVE_INFINITY
  #sweeping: Promise<void> = Promise.resolve()

  constructor(folder: string, expiresMs: number) {
    this.#folder = folder
    this.#expiresMs = expiresMs
  }

  async append(stream: string, entries: readonly string[]): Promise<void> {
    const path = this.#pathOf(stream)
    const file = await this.#openForAppend(path)
    try {
      const isCut = this.#cut.has(path)
      this.#cut.add(path)
      const bytes = Buffer.from(`${isCut ? '\n' : ''}${entries.map((entry) => `${entry}\n`).join('')}`)
      // One write for whole lines: with O_APPEND, those of other processes do not come between.
      const { bytesWritten } = await file.write(bytes)
      if (bytesWritten < bytes.length) throw new Error('the disk is full')
      this.#cut.delete(path)
    } finally {
      await file.close()
    }
    this.#sweepIfDue()
  }

  async remove(stream: string): Promise<void> {
    await rm(this.#pathOf(stream), { force: true })
  }

  reader(stream: string): StreamReader {
    return new FileReader(this.#pathOf(stream))
  }

  async close(): Promise<void> {
    await this.#sweeping
  }

  #pathOf(stream: string): string {
    return join(this.#folder, `${createHash('sha256').update(stream).digest('hex')}${suffix}`)
  }

  async #openForAppend(path: string): Promise<FileHandle> {
    const flags = constants.O_WRONLY | constants.O_APPEND
    try {
      return await open(path, flags)
    } catch (thrown) {
      if (!hasErrorCode(thrown, 'ENOENT')) throw thrown
    }
    await this.#create(path)
    return open(path, flags)
  }

  /** By a link, so that a file has its first line from the beginning. */
  async #create(path: string): Promise<void> {
    await makeFolder(this.#folder, 0o700)
    const id = randomUUID()
    const temporary = join(this.#folder, `${id}.new`)
    try {
      await writeFile(temporary, `${id}\n`, { mode: 0o600 })
      await link(temporary, path)
    } catch (thrown) {
      // Another process was faster.
      if (!hasErrorCode(thrown, 'EEXIST')) throw thrown
    } finally {
      await rm(temporary, { force: true })
    }
  }

  #sweepIfDue(): void {
    const now = performance.now()
    if (now - this.#sweptAt < Math.min(maxSweepIntervalMs, this.#expiresMs)) return
    this.#sweptAt = now
    // A file that can't be removed now is removed later, or by another process.
    this.#sweeping = this.#sweep().catch(() => undefined)
  }

  async #sweep(): Promise<void> {
    const oldest = Date.now() - this.#expiresMs
    for (const name of await readdir(this.#folder)) {
      const path = join(this.#folder, name)
      const { mtimeMs } = await stat(path)
      if (mtimeMs < oldest && (name.endsWith(suffix) || name.endsWith('.new'))) await rm(path, { force: true })
    }
  }
}

class FileReader implements StreamReader {
  readonly #path: string

  constructor(path: string) {
    this.#path = path
  }

  async read(id: string | undefined, waitMs: number): Promise<readonly StreamEntry[]> {
    const end = performance.now() + waitMs
    for (;;) {
      const entries = await this.#readNow(id)
      if (entries.length > 0 || performance.now() >= end) return entries
      await delay(pollMs)
    }
  }

  close(): Promise<void> {
    return Promise.resolve()
  }

  async #readNow(id: string | undefined): Promise<readonly StreamEntry[]> {
    let file: FileHandle
    try {
      file = await open(this.#path)
    } catch (thrown) {
      if (hasErrorCode(thrown, 'ENOENT')) return []
      throw thrown
    }
    try {
      const fileId = (await readAt(file, 0, headerBytes)).toString().trimEnd()
      const position = id?.startsWith(`${fileId}:`) === true ? Number(id.slice(fileId.length + 1)) : headerBytes
      return await readEntries(file, fileId, position)
    } finally {
      await file.close()
    }
  }
}

/** The whole lines from this position; none when the first is not complete. */
async function readEntries(file: FileHandle, fileId: string, start: number): Promise<readonly StreamEntry[]> {
  let bytes = await readAt(file, start, maxReadBytes)
  // A line that is longer than a read.
  while (bytes.length > 0 && !bytes.includes(10)) {
    const more = await readAt(file, start + bytes.length, maxReadBytes)
    if (more.length === 0) return []
    bytes = Buffer.concat([bytes, more])
  }
  const entries: StreamEntry[] = []
  for (let from = 0, end = bytes.indexOf(10); end >= 0; from = end + 1, end = bytes.indexOf(10, from)) {
    if (end > from) entries.push({ id: `${fileId}:${start + end + 1}`, text: bytes.toString('utf8', from, end) })
  }
  return entries
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position)
  return buffer.subarray(0, bytesRead)
}
