import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/**
 * One byte of shared memory with a child, as an unlinked file: the child looks at it now and then while Python runs, and
 * takes a change for an interrupt. A signal would need the child's event loop, which Python never gives back.
 */
export class InterruptLine {
  /** Read-only; to be handed to the child at its start, and closed here afterwards. */
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

  started(): void {
    closeSync(this.childDescriptor)
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    closeSync(this.#descriptor)
  }
}
