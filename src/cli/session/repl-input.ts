import { createInterface, type Interface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { continuesBlock, isCompleteBlock } from './python-block.js'

/** Reads code from a terminal or a pipe, block by block. */
export interface ReplInput extends Disposable {
  /** Yields each complete block; ends with `exit`, Ctrl-D, or the end of the input. */
  blocks(): AsyncGenerator<string, void, undefined>
  /**
   * Sets the listener for Ctrl-C while a block is executed. At the prompt Ctrl-C discards the typed block, as in
   * Python.
   */
  onInterrupt(listener: () => void): void
}

const prompts = { first: '>>> ', next: '... ' } as const

export function openReplInput(): ReplInput {
  const isTerminal = process.stdin.isTTY && process.stderr.isTTY
  // stdout is for the output of the code, which may go to a file.
  const lines = createInterface({
    input: process.stdin,
    ...(isTerminal ? { output: process.stderr } : {}),
    terminal: isTerminal,
  })
  let blockLines: string[] = []
  let isExecuting = false
  let interruptListener = (): void => undefined
  const showPrompt = (): void => prompt(lines, isTerminal, blockLines.length === 0 ? prompts.first : prompts.next)
  lines.on('SIGINT', () => {
    if (isExecuting) return interruptListener()
    const isEmpty = blockLines.length === 0 && lines.line === ''
    blockLines = []
    process.stderr.write(isEmpty ? '\n(exit or Ctrl-D leaves)\n' : '\n')
    // The current line is state of readline: clear it with Ctrl-E, Ctrl-U.
    lines.write(null, { ctrl: true, name: 'e' })
    lines.write(null, { ctrl: true, name: 'u' })
    showPrompt()
  })
  // Created at once: lines that come before a listener is added would be lost.
  const queue = new LineQueue(lines)
  return {
    async *blocks() {
      showPrompt()
      for (let text = await queue.next(); text !== undefined; text = await queue.next()) {
        if (blockLines.length > 0 || text.trim() !== '') blockLines.push(text)
        if (blockLines.length === 1 && /^(exit|quit)(\(\))?$/.test(text.trim())) return
        if (
          blockLines.length > 0 &&
          isCompleteBlock(blockLines) &&
          !(text.trim() === '' && (await queue.blockContinues()))
        ) {
          const block = blockLines.join('\n')
          blockLines = []
          isExecuting = true
          yield block
          isExecuting = false
        }
        showPrompt()
      }
      if (isTerminal) process.stderr.write('\n')
      if (blockLines.length > 0) yield blockLines.join('\n')
    },
    onInterrupt(listener) {
      interruptListener = listener
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

/** Pasted or piped lines come in quick succession; typing takes longer. */
const pasteGapMs = 50

/** A queue of input lines with lookahead. */
class LineQueue {
  readonly #lines: string[] = []
  #isClosed = false
  #notifyChange = (): void => undefined

  constructor(lines: Interface) {
    lines.on('line', (line) => {
      this.#lines.push(line)
      this.#notifyChange()
    })
    lines.on('close', () => {
      this.#isClosed = true
      this.#notifyChange()
    })
  }

  /** Undefined at the end of the input. */
  async next(): Promise<string | undefined> {
    while (this.#lines.length === 0 && !this.#isClosed) await this.#waitForChange()
    return this.#lines.shift()
  }

  /** After an empty line: whether pasted text continues with more lines of the same block. */
  async blockContinues(): Promise<boolean> {
    for (;;) {
      const next = this.#lines.find((line) => line.trim() !== '')
      if (next !== undefined) return continuesBlock(next)
      const known = this.#lines.length
      await Promise.race([this.#waitForChange(), delay(pasteGapMs)])
      if (this.#isClosed || this.#lines.length === known) return false
    }
  }

  #waitForChange(): Promise<void> {
    return new Promise((resolve) => (this.#notifyChange = resolve))
  }
}
