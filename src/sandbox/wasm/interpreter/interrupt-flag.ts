import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/**
 * One byte that is shared with a child through an unlinked file. The child reads it every 20 ms while Python runs, and
 * treats a change as an interrupt. A signal would need the child's event loop, to which Python never returns.
 */
export class InterruptFlag {
  /** Read-only. The child inherits it at its start; the parent closes its own copy afterwards. */
  readonly childDescriptor: number
  readonly #descriptor: number
  #value = 0
  #closed = false

  constructor() {
    const folder = mkdtempSync(path.join(tmpdir(), 'durable-ptc-'))
    const file = path.join(folder, 'interrupt')
    this.#descriptor = openSync(file, 'wx', 0o600)
    writeSync(this.#descriptor, Uint8Array.of(0), 0, 1, 0)
    this.childDescriptor = openSync(file, 'r')
    rmSync(folder, { recursive: true, force: true })
  }

  raise(): void {
    if (this.#closed) return
    this.#value = (this.#value + 1) % 256
    writeSync(this.#descriptor, Uint8Array.of(this.#value), 0, 1, 0)
  }

  closeChildDescriptor(): void {
    closeSync(this.childDescriptor)
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    closeSync(this.#descriptor)
  }
}
