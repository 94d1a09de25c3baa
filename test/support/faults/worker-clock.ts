import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

const preload = new URL('../../fixtures/fake-clock.mjs', import.meta.url).href

/** The wall clock of a worker, or of another process of this package, which a test can change. */
export class WorkerClock {
  readonly #folder = mkdtempSync(join(tmpdir(), 'ptc-clock-'))
  readonly #file = join(this.#folder, 'clock')

  constructor() {
    onTestFinished(() => rmSync(this.#folder, { recursive: true }))
    this.setOffset(0)
  }

  /** Environment variables with which a process uses this clock. */
  get environment(): Readonly<Record<string, string>> {
    return { NODE_OPTIONS: `--import=${preload}`, TEST_CLOCK: this.#file }
  }

  /** Adds an offset in milliseconds to the clock. */
  setOffset(milliseconds: number): void {
    writeFileSync(this.#file, String(milliseconds))
  }

  /** Stops the clock. */
  freeze(): void {
    writeFileSync(this.#file, 'frozen')
  }
}
