import { TerminalLine } from './terminal-line.js'

/**
 * The text that a terminal shows: a progress bar that writes over its lines leaves these lines.
 *
 * It follows carriage returns, backspaces, the escape sequences that erase or move within a line, and those that move
 * up to one of the last lines. Other escape sequences stay as they are, and so does a line without any of these.
 *
 * Invariants: 1. Its time grows linearly with the text. 2. What it holds back is the text with control characters that
 * restore the cursor, so another object can continue it.
 */
export class TerminalText {
  /** The last lines, to which code may move back. */
  #lines = [new TerminalLine()]
  /** The line of the cursor. */
  #at = 0
  /** The beginning of an escape sequence. */
  #unfinished = ''
  readonly #write: (text: string) => void

  /** @param write receives text that can't change any more */
  constructor(write: (text: string) => void) {
    this.#write = write
  }

  /** Adds a text. It may end at any place, also within an escape sequence. */
  add(text: string): void {
    const whole = this.#unfinished + text
    const [unfinished = ''] = unfinishedSequence.exec(whole) ?? []
    this.#unfinished = unfinished.length > longestSequence ? '' : unfinished
    let written = ''
    // Joined again: a line parses what it gets at once.
    let added = ''
    for (const piece of whole.slice(0, whole.length - this.#unfinished.length).split(moves)) {
      const [, count, action] = moveUp.exec(piece) ?? []
      const up = action === undefined ? 0 : Math.max(Number(count), 1)
      if (piece !== '\n' && (up === 0 || up > this.#at)) {
        added += piece
        continue
      }
      written += this.#addToLine(added)
      added = ''
      if (piece === '\n') written += this.#newLine()
      else if (up > this.#at) added = piece
      else this.#moveUp(up, action === 'F' ? 0 : this.#line.column)
    }
    written += this.#addToLine(added)
    if (written !== '') this.#write(written)
  }

  /** The last lines, with control characters that restore the cursor: text may continue them. */
  get openText(): string {
    return this.#heldText() + this.#unfinished
  }

  /** Writes the open text with its control characters: later text is added to another object. */
  flush(): void {
    const text = this.openText
    this.#clear()
    this.#unfinished = ''
    if (text !== '') this.#write(text)
  }

  /** Writes the open text as it is shown at the end. */
  end(): void {
    const text = this.#lines.map(({ text: shown }) => shown).join('\n') + this.#unfinished
    this.#clear()
    this.#unfinished = ''
    if (text !== '') this.#write(text)
  }

  get #line(): TerminalLine {
    const line = this.#lines[this.#at]
    if (!line) throw new RangeError('the cursor is on no line')
    return line
  }

  /** Returns the text of lines that are not held any more. */
  #addToLine(text: string): string {
    if (text !== '') this.#line.add(text)
    if (!this.#line.isTooLong) return ''
    const written = this.#heldText()
    this.#clear()
    return written
  }

  #clear(): void {
    this.#lines = [new TerminalLine()]
    this.#at = 0
  }

  /** Returns the text of lines that are not held any more. */
  #newLine(): string {
    this.#at += 1
    const next = this.#lines[this.#at]
    if (next) next.moveTo(0)
    else this.#lines.push(new TerminalLine())
    let written = ''
    while (this.#at > 0 && (this.#lines.length > mostLines || this.#heldCharacters > mostCharacters)) {
      written += `${this.#lines.shift()?.text}\n`
      this.#at -= 1
    }
    return written
  }

  #moveUp(count: number, column: number): void {
    this.#at -= count
    this.#line.moveTo(column)
  }

  get #heldCharacters(): number {
    return this.#lines.reduce((sum, { characters }) => sum + characters, 0)
  }

  #heldText(): string {
    const below = this.#lines.length - 1 - this.#at
    if (below > 0) {
      const text = this.#lines.map(({ text: shown }) => shown).join('\n')
      return `${text}\u001B[${below}A\u001B[${this.#line.column + 1}G`
    }
    const above = this.#lines.slice(0, -1).map(({ text }) => `${text}\n`)
    return above.join('') + this.#line.openText
  }
}

/** Bars in one another have one line each. */
const mostLines = 20
/** Characters of the held lines; those of the line of the cursor may be more. */
const mostCharacters = 4_000
/** Characters. A longer sequence is text. */
const longestSequence = 100

// oxlint-disable-next-line no-control-regex -- terminals are driven by control characters
const unfinishedSequence = /\u001B(?:\[[0-?]*[ -/]*)?$/
// oxlint-disable-next-line no-control-regex -- terminals are driven by control characters
const moves = /(\n|\u001B\[\d{0,4}[AF])/
// oxlint-disable-next-line no-control-regex -- terminals are driven by control characters
const moveUp = /^\u001B\[(\d*)([AF])$/
