import type { Interface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'

/** Pasted or piped lines arrive in quick succession. Typed lines take longer. */
const pasteGapMs = 50

/** Discards the line that is being typed. Readline keeps it; Ctrl-E and Ctrl-U clear it. */
export function discardLine(lines: Interface): void {
  lines.write(null, { ctrl: true, name: 'e' })
  lines.write(null, { ctrl: true, name: 'u' })
}

/** A queue of input lines with lookahead. */
export class LineQueue {
  readonly #lines: string[] = []
  #isClosed = false
  #notifyChange = (): void => undefined

  constructor(lines: Interface) {
    let isFirst = true
    lines.on('line', (line) => {
      // Piped text may begin with a byte order mark.
      this.#lines.push(isFirst ? line.replace(/^\uFEFF/, '') : line)
      isFirst = false
      this.#notifyChange()
    })
    lines.on('close', () => {
      this.#isClosed = true
      this.#notifyChange()
    })
  }

  /** @returns undefined at the end of the input */
  async next(): Promise<string | undefined> {
    while (this.#lines.length === 0 && !this.#isClosed) await this.#waitForChange()
    return this.#lines.shift()
  }

  /** Whether the pasted text continues with a line that is not empty and that belongs to the lines before it. */
  async continuesWith(belongs: (line: string) => boolean): Promise<boolean> {
    for (;;) {
      const next = this.#lines.find((line) => line.trim() !== '')
      if (next !== undefined) return belongs(next)
      const known = this.#lines.length
      await Promise.race([this.#waitForChange(), delay(pasteGapMs)])
      if (this.#isClosed || this.#lines.length === known) return false
    }
  }

  #waitForChange(): Promise<void> {
    return new Promise((resolve) => (this.#notifyChange = resolve))
  }
}
