import { createInterface, type Interface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { continuesBlock, isWholeBlock } from './python-block.js'

/** Code that a person types, or that comes through a pipe: block by block. */
export interface ReplInput extends Disposable {
  /** Each block once it is whole; ends with `exit`, Ctrl-D, or the input. */
  blocks(): AsyncGenerator<string, void, undefined>
  /** Ctrl-C while something is executed. At the prompt it takes back what was typed, as in Python. */
  onInterrupt(listener: () => void): void
}

const prompts = { first: '>>> ', next: '... ' } as const

export function openReplInput(): ReplInput {
  const isTerminal = process.stdin.isTTY && process.stderr.isTTY
  // stdout is for what the code prints: it may go to a file.
  const lines = createInterface({
    input: process.stdin,
    ...(isTerminal ? { output: process.stderr } : {}),
    terminal: isTerminal,
  })
  let typed: string[] = []
  let isBusy = false
  let interrupted = (): void => undefined
  const ask = (): void => prompt(lines, isTerminal, typed.length === 0 ? prompts.first : prompts.next)
  lines.on('SIGINT', () => {
    if (isBusy) return interrupted()
    const isEmpty = typed.length === 0 && lines.line === ''
    typed = []
    process.stderr.write(isEmpty ? '\n(exit or Ctrl-D leaves)\n' : '\n')
    // What stands in the line is readline's own; Ctrl-U in its words.
    lines.write(null, { ctrl: true, name: 'e' })
    lines.write(null, { ctrl: true, name: 'u' })
    ask()
  })
  // From the beginning: what is said before anybody listens would be lost.
  const queue = new LineQueue(lines)
  return {
    async *blocks() {
      ask()
      for (let text = await queue.next(); text !== undefined; text = await queue.next()) {
        if (typed.length > 0 || text.trim() !== '') typed.push(text)
        if (typed.length === 1 && /^(exit|quit)(\(\))?$/.test(text.trim())) return
        if (typed.length > 0 && isWholeBlock(typed) && !(text.trim() === '' && (await queue.goesOn()))) {
          const block = typed.join('\n')
          typed = []
          isBusy = true
          yield block
          isBusy = false
        }
        ask()
      }
      if (isTerminal) process.stderr.write('\n')
      if (typed.length > 0) yield typed.join('\n')
    },
    onInterrupt(listener) {
      interrupted = listener
    },
    [Symbol.dispose]() {
      lines.close()
    },
  }
}

function prompt(lines: Interface, isTerminal: boolean, text: string): void {
  if (!isTerminal) return
  lines.setPrompt(text)
  lines.prompt()
}

/** Lines that are pasted or piped come in quick succession; a person takes longer for the next one. */
const pastedMs = 50

/** Lines as they come, of which the next may be looked at before it is taken. */
class LineQueue {
  readonly #lines: string[] = []
  #isClosed = false
  #changed = (): void => undefined

  constructor(lines: Interface) {
    lines.on('line', (line) => {
      this.#lines.push(line)
      this.#changed()
    })
    lines.on('close', () => {
      this.#isClosed = true
      this.#changed()
    })
  }

  /** Undefined at the end of the input. */
  async next(): Promise<string | undefined> {
    while (this.#lines.length === 0 && !this.#isClosed) await this.#change()
    return this.#lines.shift()
  }

  /** After an empty line: does what was pasted go on with more lines of the same block? */
  async goesOn(): Promise<boolean> {
    for (;;) {
      const next = this.#lines.find((line) => line.trim() !== '')
      if (next !== undefined) return continuesBlock(next)
      const known = this.#lines.length
      await Promise.race([this.#change(), delay(pastedMs)])
      if (this.#isClosed || this.#lines.length === known) return false
    }
  }

  #change(): Promise<void> {
    return new Promise((resolve) => (this.#changed = resolve))
  }
}
