/**
 * Computes the text that a terminal shows: a progress bar that overwrites its line leaves one line.
 *
 * Within a line it follows carriage returns, backspaces, and the escape sequences that erase or move within the line.
 * Other escape sequences stay unchanged, and so does a line without any of these.
 */
export class TerminalText {
  /** The line that has not ended, with control characters that restore the cursor. More text may continue it. */
  #open = ''
  readonly #write: (text: string) => void

  /** @param write receives text that can't change any more */
  constructor(write: (text: string) => void) {
    this.#write = write
  }

  /** Adds a text. It may end at any place, also within an escape sequence. */
  add(text: string): void {
    const lines = (this.#open + text).split('\n')
    const last = lines.pop() ?? ''
    if (lines.length > 0) this.#write(`${lines.map(showLine).join('\n')}\n`)
    this.#open = foldLine(last)
    if (this.#open.length > longestOpenLine) this.flush()
  }

  /** The line that has not ended. */
  get openLine(): string {
    return this.#open
  }

  /** Writes the open line with its control characters, because later text is added to another object. */
  flush(): void {
    if (this.#open !== '') this.#write(this.#open)
    this.#open = ''
  }

  /** Writes the open line in its final form. */
  end(): void {
    this.#open = showLine(this.#open)
    this.flush()
  }
}

/** Maximum characters of an open line. A longer line is not a progress bar, and repeated folding would take long. */
const longestOpenLine = 4_000
/** The last column to which code can move beyond the end of a line. */
const lastColumn = 500

/** A carriage return at the end of a line is part of the line break. */
// oxlint-disable-next-line no-control-regex -- terminals are driven by control characters
const overwriting = /\r[^\r]|\x08|\u001B\[\d*[KGCD]/

function showLine(line: string): string {
  if (!overwriting.test(line)) return line
  return foldCells(line).text + (line.endsWith('\r') ? '\r' : '')
}

function foldLine(line: string): string {
  if (!overwriting.test(line)) return line
  const { text, column, width, unfinished } = foldCells(line)
  if (column === width) return text + unfinished
  return text + (line.endsWith('\r') ? '\r' : `\u001B[${column + 1}G`) + unfinished
}

const tokens =
  // oxlint-disable-next-line no-control-regex -- terminals are driven by control characters
  /\u001B\[(?<count>\d*)(?<action>[KGCD])|\u001B\[[0-?]*[ -/]*[@-~]|(?<unfinished>\u001B(\[[0-?]*[ -/]*)?$)|[^]/gu

interface FoldedLine {
  readonly text: string
  readonly column: number
  readonly width: number
  /** The beginning of an escape sequence. */
  readonly unfinished: string
}

function foldCells(line: string): FoldedLine {
  const cells: string[] = []
  let column = 0
  let prefix = ''
  let unfinished = ''
  for (const { 0: token, groups = {} } of line.matchAll(tokens)) {
    if (groups['unfinished'] !== undefined) unfinished = token
    else if (token === '\r') column = 0
    else if (token === '\b') column = Math.max(column - 1, 0)
    else if (groups['action'] !== undefined)
      column = applyAction(cells, column, groups['action'], groups['count'] ?? '')
    else if (token.length > 2) prefix += token
    else {
      while (cells.length < column) cells.push(' ')
      cells[column] = prefix + token
      prefix = ''
      column += 1
    }
  }
  const text = cells.join('') + prefix
  return { text, column, width: cells.length, unfinished }
}

/** Returns the new column. */
function applyAction(cells: string[], column: number, action: string, digits: string): number {
  const limit = Math.max(cells.length, lastColumn)
  const count = Number(digits)
  switch (action) {
    case 'G':
      return Math.min(Math.max(count - 1, 0), limit)
    case 'C':
      return Math.min(column + Math.max(count, 1), limit)
    case 'D':
      return Math.max(column - Math.max(count, 1), 0)
    default:
      if (count === 0) cells.length = Math.min(cells.length, column)
      else if (count === 2) cells.length = 0
      else cells.fill(' ', 0, column + 1)
      return column
  }
}
