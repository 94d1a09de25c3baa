import { createHash, randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, link, open, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { hasErrorCode } from '../../common/system-error.js'
import type { Duration } from '../../common/text/duration.js'
import { type StreamEntry, type StreamReader, type StreamSink, expiryMs } from '../sink.js'
import { makeFolder } from '../../platform/make-folder.js'

export interface FileStreamOptions {
  /** Folder for all workers and clients of one machine. Relative to the working directory. */
  readonly folder: string
  /** Time without new entries after which the stream of a run is removed. Default 1 day. */
  readonly expires?: Duration
}

/** The first line of a file is a random id: positions of a removed file are not valid in its successor. */
const headerBytes = 37
const pollMs = 25
/** Milliseconds between two looks at a file that has been idle for a while. */
const idlePollMs = 100
const idleAfterMs = 10_000
const maxReadBytes = 256 * 1024
const maxSweepIntervalMs = 60_000
const suffix = '.jsonl'

/**
 * Streams as files, one for each workflow id, for workers and clients on one machine. Entries survive the end of every
 * process, but not always a crash of the machine.
 *
 * @throws PtcError CONFIG_INVALID
 */
export function fileStream({ folder, expires }: FileStreamOptions): StreamSink {
  return new FileStream(resolve(folder), expiryMs(expires))
}

class FileStream implements StreamSink {
  readonly #folder: string
  readonly #expiresMs: number
  /** Files whose last line may be incomplete. */
  readonly #cut = new Set<string>()
  #sweptAt = Number.NEGATIVE_INFINITY
  #sweeping: Promise<void> = Promise.resolve()
  /** Watches by path. Readers of one file share its watch. */
  readonly #watches = new Map<string, FileWatch>()

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
      // One write for whole lines: with O_APPEND, writes of other processes can't split them.
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
    const path = this.#pathOf(stream)
    let watch = this.#watches.get(path)
    if (watch === undefined) {
      watch = new FileWatch(path, () => this.#watches.delete(path))
      this.#watches.set(path, watch)
    }
    return new FileReader(path, watch)
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

  /** Creates a file by a link, so that it always has its first line. */
  async #create(path: string): Promise<void> {
    await makeFolder(this.#folder, 0o700)
    const id = randomUUID()
    const temporary = join(this.#folder, `${id}.new`)
    try {
      await writeFile(temporary, `${id}\n`, { mode: 0o600 })
      await link(temporary, path)
    } catch (thrown) {
      // Another process has created the file first.
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

/** Looks at a file for all its readers. */
class FileWatch {
  readonly #path: string
  readonly #onUnused: () => void
  #readers = 0
  /** Waiting readers, each with the state of the file that it has seen. */
  readonly #waiting = new Map<() => void, string>()
  #isPolling = false

  constructor(path: string, onUnused: () => void) {
    this.#path = path
    this.#onUnused = onUnused
  }

  open(): void {
    this.#readers += 1
  }

  close(): void {
    this.#readers -= 1
    if (this.#readers === 0) this.#onUnused()
  }

  /** A state that changes when an entry is added, and when another file replaces this one. */
  async state(): Promise<string> {
    try {
      const { ino, size } = await stat(this.#path)
      return `${ino}:${size}`
    } catch (thrown) {
      if (hasErrorCode(thrown, 'ENOENT')) return ''
      throw thrown
    }
  }

  /** Resolves when the state of the file differs from `seen`, or after a time. */
  changed(seen: string, waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer)
        this.#waiting.delete(end)
        resolve()
      }
      const timer = setTimeout(end, waitMs)
      this.#waiting.set(end, seen)
      if (!this.#isPolling) void this.#poll()
    })
  }

  async #poll(): Promise<void> {
    this.#isPolling = true
    let changedAt = performance.now()
    while (this.#waiting.size > 0) {
      // The reader gets the error from its own read.
      const state = await this.state().catch(() => undefined)
      for (const [end, seen] of this.#waiting) {
        if (seen === state) continue
        changedAt = performance.now()
        end()
      }
      await delay(performance.now() - changedAt > idleAfterMs ? idlePollMs : pollMs)
    }
    this.#isPolling = false
  }
}

class FileReader implements StreamReader {
  readonly #path: string
  readonly #watch: FileWatch
  #isClosed = false
  /** The state of the file at which it had no entry after this position. */
  #read: { readonly state: string; readonly id: string | undefined } | undefined

  constructor(path: string, watch: FileWatch) {
    this.#path = path
    this.#watch = watch
    watch.open()
  }

  async read(id: string | undefined, waitMs: number): Promise<readonly StreamEntry[]> {
    const end = performance.now() + waitMs
    for (;;) {
      // The state is taken before the read: an entry that is added later changes the state.
      const state = await this.#watch.state()
      const isRead = this.#read?.state === state && this.#read.id === id
      const entries = isRead ? [] : await this.#readNow(id)
      if (entries.length === 0) this.#read = { state, id }
      const leftMs = end - performance.now()
      if (entries.length > 0 || leftMs <= 0) return entries
      await this.#watch.changed(state, leftMs)
    }
  }

  close(): Promise<void> {
    if (!this.#isClosed) this.#watch.close()
    this.#isClosed = true
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

/** The complete lines from this position; none when the first line is incomplete. */
async function readEntries(file: FileHandle, fileId: string, start: number): Promise<readonly StreamEntry[]> {
  let bytes = await readAt(file, start, maxReadBytes)
  // A line that is longer than one read.
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
