import { createInterface } from 'node:readline'
import { discardLine, LineQueue } from '../process/line-queue.js'

/** Reads messages from a terminal or a pipe, one a line. Lines that are pasted at a terminal are one message. */
export interface ChatInput extends Disposable {
  readonly isTerminal: boolean
  /** The next message; undefined at the end of the input. */
  next(): Promise<string | undefined>
  /** Prints above the line that is typed. */
  printAbove(print: () => void): void
  /** Sets the listener for Ctrl-C at a terminal. It is not called while a line is typed: that line is discarded. */
  onInterrupt(listener: () => void): void
}

const prompt = '> '

export function openChatInput(): ChatInput {
  const isTerminal = process.stdin.isTTY && process.stderr.isTTY
  // stdout is for the answers, which may go to a file.
  const lines = createInterface({
    input: process.stdin,
    ...(isTerminal ? { output: process.stderr, prompt } : {}),
    terminal: isTerminal,
  })
  let interruptListener = (): void => undefined
  const showPrompt = (): void => {
    if (isTerminal) lines.prompt(true)
  }
  lines.on('SIGINT', () => {
    if (lines.line === '') return interruptListener()
    discardLine(lines)
  })
  // Created at once: lines that come before a listener is added would be lost.
  const queue = new LineQueue(lines)
  return {
    isTerminal,
    async next() {
      showPrompt()
      const first = await queue.next()
      if (first === undefined || !isTerminal) return first
      const pasted = [first]
      while (await queue.continuesWith(() => true)) pasted.push((await queue.next()) ?? '')
      return pasted.join('\n')
    },
    printAbove(print) {
      if (isTerminal) process.stderr.write('\r\u001b[K')
      print()
      showPrompt()
    },
    onInterrupt(listener) {
      interruptListener = listener
    },
    [Symbol.dispose]() {
      lines.close()
    },
  }
}
