import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

const preload = new URL('../../fixtures/fake-clock.mjs', import.meta.url).href

/** The wall clock of a worker process: right at first, then what a test makes of it. */
export class WorkerClock {
  readonly #folder = mkdtempSync(join(tmpdir(), 'ptc-clock-'))
  readonly #file = join(this.#folder, 'clock')

  constructor() {
    onTestFinished(() => rmSync(this.#folder, { recursive: true }))
    this.setOffset(0)
  }

  /** What makes a worker go by this clock. */
  get environment(): NodeJS.ProcessEnv {
    return { NODE_OPTIONS: `--import=${preload}`, TEST_CLOCK: this.#file }
  }

  /** From now on it is wrong by so many milliseconds. */
  setOffset(milliseconds: number): void {
    writeFileSync(this.#file, String(milliseconds))
  }

  /** From now on it stands still. */
  freeze(): void {
    writeFileSync(this.#file, 'frozen')
  }
}
