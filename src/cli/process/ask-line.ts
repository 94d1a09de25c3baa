import { createInterface } from 'node:readline'

interface AskLineOptions {
  /** Text that the user may edit. */
  readonly prefill?: string
  /** Ends the question without an answer. */
  readonly signal: AbortSignal
}

/** The end of a question at the terminal. `left`: Ctrl-D, or the signal. */
export type LineAnswer =
  | { readonly type: 'line'; readonly text: string }
  | { readonly type: 'interrupted' }
  | { readonly type: 'left' }

/** Whether a person can answer. Questions go to stderr, because stdout has the results. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY
}

/** Rings the terminal bell, so that the person comes back. */
export function ringBell(): void {
  process.stderr.write('\u0007')
}

export function askLine(prompt: string, { prefill, signal }: AskLineOptions): Promise<LineAnswer> {
  return new Promise((settle) => {
    const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: true, prompt })
    let answer: LineAnswer = { type: 'left' }
    const end = (): void => lines.close()
    lines.once('line', (text) => {
      answer = { type: 'line', text }
      end()
    })
    lines.once('SIGINT', () => {
      answer = { type: 'interrupted' }
      end()
    })
    lines.once('close', () => {
      signal.removeEventListener('abort', end)
      if (answer.type !== 'line') process.stderr.write('\n')
      settle(answer)
    })
    if (signal.aborted) return end()
    signal.addEventListener('abort', end, { once: true })
    lines.prompt()
    if (prefill !== undefined) lines.write(prefill)
  })
}
