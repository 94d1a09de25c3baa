import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/**
 * A file that a child inherits open for reading, and that has no name: nothing is left behind when a process dies.
 */
export class InheritedFile {
  readonly descriptor: number
  #isClosed = false

  constructor(content: Uint8Array) {
    const folder = mkdtempSync(path.join(tmpdir(), 'durable-ptc-'))
    try {
      const file = path.join(folder, 'file')
      writeFileSync(file, content, { flag: 'wx', mode: 0o600 })
      this.descriptor = openSync(file, 'r')
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }

  /** Closes the file in this process. Idempotent. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    closeSync(this.descriptor)
  }
}
