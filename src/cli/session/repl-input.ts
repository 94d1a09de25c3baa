import { createInterface, type Interface } from 'node:readline'
import { canAsk } from '../process/ask-line.js'
import type { Repl } from '../../languages/index.js'
import { discardLine, LineQueue } from '../process/line-queue.js'
import { completeWord, namesIn } from './complete-word.js'
import { historySize, type ReplHistory } from './repl-history.js'

/** Reads code from a terminal or a pipe, block by block. */
export interface ReplInput extends Disposable {
  /** Yields each complete block; ends with `exit`, Ctrl-D, or the end of the input. */
  blocks(): AsyncGenerator<string, void, undefined>
  /**
   * Sets the listener for Ctrl-C while a block is executed. At the prompt Ctrl-C discards the typed block.
   */
  onInterrupt(listener: () => void): void
}

interface ReplInputOptions {
  /** How people type code of the language. */
  readonly repl: Repl
  /** Names that Tab completes, besides those of the language and those that were typed. */
  readonly names: readonly string[]
  /** Opened only at a terminal. */
  readonly openHistory: () => Promise<ReplHistory>
}

export async function openReplInput({ repl, names, openHistory }: ReplInputOptions): Promise<ReplInput> {
  const isTerminal = canAsk()
  const history = isTerminal ? await openHistory() : undefined
  const knownNames = new Set([...repl.names, ...names])
  // stdout is for the output of the code, which may go to a file.
  const lines = createInterface({
    input: process.stdin,
    ...(isTerminal ? { output: process.stderr } : {}),
    terminal: isTerminal,
    history: [...(history?.lines ?? [])],
    historySize,
    removeHistoryDuplicates: true,
    completer: (line: string) => completeWord(line, knownNames, repl.indentation),
  })
  if (history) lines.on('history', (typed: readonly string[]) => history.save(typed))
  let blockLines: string[] = []
  let isExecuting = false
  let interruptListener = (): void => undefined
  const showPrompt = (): void =>
    prompt(lines, isTerminal, blockLines.length === 0 ? repl.prompts.first : repl.prompts.next)
  lines.on('SIGINT', () => {
    if (isExecuting) return interruptListener()
    const isEmpty = blockLines.length === 0 && lines.line === ''
    blockLines = []
    process.stderr.write(isEmpty ? '\n(type exit or Ctrl-D to leave)\n' : '\n')
    discardLine(lines)
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
          repl.isCompleteBlock(blockLines) &&
          !(text.trim() === '' && (await queue.continuesWith((line) => repl.continuesBlock(line))))
        ) {
          const block = blockLines.join('\n')
          blockLines = []
          for (const name of namesIn(block)) knownNames.add(name)
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
