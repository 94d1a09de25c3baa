import { createInterface } from 'node:readline'
import { type LiveText, renderLiveText } from '../rendering/progress/live-text.js'
import { supportsColor } from '../rendering/text/colors.js'
import { canAsk } from '../process/ask-line.js'
import { discardLine, LineQueue } from '../process/line-queue.js'

/** Reads messages from a terminal or a pipe, one a line. Lines that are pasted at a terminal are one message. */
export interface ChatInput extends Disposable {
  readonly isTerminal: boolean
  /** The next message; undefined at the end of the input. */
  next(): Promise<string | undefined>
  /** At a terminal, shows what the model is writing above the line that is being typed. Undefined hides it. */
  setLiveText(liveText: LiveText | undefined): void
  /** Prints above the line that is being typed, and above the live text. */
  printAbove(print: () => void): void
  /**
   * Sets the listener for Ctrl-C at a terminal. It is not called while a line is being typed: Ctrl-C discards that
   * line.
   */
  onInterrupt(listener: () => void): void
}

const prompt = '> '
const defaultColumns = 80

export function openChatInput(): ChatInput {
  const isTerminal = canAsk()
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
  const color = supportsColor(process.stderr)
  let liveText: LiveText | undefined
  /** Rows of the live text on the screen, above the line that is typed. */
  let liveRows = 0
  // An entered line moves the live text out of reach: the live text stays on the screen.
  lines.on('line', () => (liveRows = 0))
  /**
   * Erases the live text and the typed line. A typed line of several rows is left to readline, and so is a live text
   * above it.
   */
  const erase = (): void => {
    const up = lines.getCursorPos().rows > 0 ? 0 : liveRows
    process.stderr.write(up === 0 ? '\r\u001b[K' : `\u001b[${up}A\r\u001b[J`)
    liveRows = 0
  }
  const showLiveText = (): void => {
    if (!liveText || lines.getCursorPos().rows > 0) return
    const rows = renderLiveText(liveText, process.stderr.columns || defaultColumns, color)
    process.stderr.write(rows.join(''))
    liveRows = rows.length
  }
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
    setLiveText(next) {
      if (!isTerminal || (next === undefined && liveText === undefined)) return
      liveText = next
      erase()
      showLiveText()
      showPrompt()
    },
    printAbove(print) {
      if (isTerminal) erase()
      print()
      if (isTerminal) showLiveText()
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
