import { type FileHandle, open, stat } from 'node:fs/promises'
import type { AuditEvent, AuditSink } from './audit-log.js'

/** Milliseconds between two comparisons of the path with the open file. */
const checkMs = 1_000

interface Waiting {
  readonly line: string
  readonly resolve: () => void
  readonly reject: (reason: unknown) => void
}

/**
 * Appends events to a file, one JSON object a line. Several workers may append to one file.
 *
 * `write` resolves after `fdatasync`: the event survives a crash of the machine. Events that wait at the same time
 * share one write and one sync. After logrotate has renamed or removed the file, the next events go to a new file.
 */
export class FileAuditSink implements AuditSink {
  readonly #path: string
  #file: FileHandle | undefined
  #checkedAt = 0
  #waiting: Waiting[] = []
  #writing: Promise<void> | undefined

  constructor(path: string) {
    this.#path = path
  }

  write(event: AuditEvent): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ line: `${JSON.stringify(event)}\n`, resolve, reject })
      this.#writing ??= this.#writeAll().finally(() => (this.#writing = undefined))
    })
  }

  async close(): Promise<void> {
    await this.#writing
    await this.#file?.close()
    this.#file = undefined
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting
      this.#waiting = []
      try {
        const file = await this.#openFile()
        // One write for whole lines: with O_APPEND, writes of other processes can't split them.
        await file.appendFile(batch.map(({ line }) => line).join(''))
        await file.datasync()
        for (const { resolve } of batch) resolve()
      } catch (thrown) {
        await this.#file?.close().catch(() => undefined)
        this.#file = undefined
        for (const { reject } of batch) reject(thrown)
      }
    }
  }

  async #openFile(): Promise<FileHandle> {
    if (this.#file && performance.now() - this.#checkedAt > checkMs && !(await this.#isCurrent(this.#file))) {
      await this.#file.close()
      this.#file = undefined
    }
    if (this.#file === undefined) {
      this.#file = await open(this.#path, 'a', 0o600)
      this.#checkedAt = performance.now()
    }
    return this.#file
  }

  async #isCurrent(file: FileHandle): Promise<boolean> {
    this.#checkedAt = performance.now()
    const [opened, named] = await Promise.all([file.stat(), stat(this.#path).catch(() => undefined)])
    return named !== undefined && named.ino === opened.ino && named.dev === opened.dev
  }
}
