/** A line of a terminal. Its cells are parsed when something is written over them. */
export class TerminalLine {
  /** What was added, until the cells are parsed. */
  #raw = ''
  #cells: string[] | undefined
  #column = 0
  /** Escape sequences before the next character. */
  #prefix = ''
  /** Of all cells. */
  #characters = 0
  /** A carriage return at the end of a line is part of the line break. */
  #endsWithReturn = false

  /** The text ends at no place within an escape sequence. */
  add(text: string): void {
    if (!this.#cells && !overwriting.test(this.#raw + text)) this.#raw += text
    else this.#parse(text)
  }

  /** The column of the cursor, from 0. */
  get column(): number {
    this.#parse('')
    return this.#column
  }

  moveTo(column: number): void {
    this.#parse('')
    this.#column = Math.min(column, lastColumn)
  }

  get characters(): number {
    return this.#raw.length + this.#characters + this.#prefix.length
  }

  /** A longer line is no progress bar, and to parse it again and again would take long. */
  get isTooLong(): boolean {
    return this.characters > longestLine
  }

  /** As it is shown when it has ended. */
  get text(): string {
    if (!this.#cells) return this.#raw
    return this.#cells.join('') + this.#prefix + (this.#endsWithReturn ? '\r' : '')
  }

  /** With control characters that restore the cursor. */
  get openText(): string {
    const restored = this.#endsWithReturn ? 0 : this.#cells?.length
    return !this.#cells || this.#column === restored ? this.text : `${this.text}\u001B[${this.#column + 1}G`
  }

  #parse(text: string): void {
    const cells = (this.#cells ??= [])
    const added = this.#raw + text
    this.#raw = ''
    for (const { 0: token, groups = {} } of added.matchAll(tokens)) {
      const { action, count } = groups
      if (token === '\r') this.#column = 0
      else if (token === '\b') this.#column = Math.max(this.#column - 1, 0)
      else if (action === 'K') this.#erase(cells, Number(count))
      else if (action !== undefined) this.#move(cells, action, Number(count))
      else if (token.length > 2) this.#prefix += token
      else this.#put(cells, token)
    }
    if (added !== '') this.#endsWithReturn = added.endsWith('\r')
  }

  #put(cells: string[], token: string): void {
    while (cells.length < this.#column) {
      cells.push(' ')
      this.#characters += 1
    }
    const cell = this.#prefix + token
    this.#characters += cell.length - (cells[this.#column]?.length ?? 0)
    cells[this.#column] = cell
    this.#prefix = ''
    this.#column += 1
  }

  #move(cells: readonly string[], action: string, count: number): void {
    const limit = Math.max(cells.length, lastColumn)
    if (action === 'G') this.#column = Math.min(Math.max(count - 1, 0), limit)
    else if (action === 'C') this.#column = Math.min(this.#column + Math.max(count, 1), limit)
    else this.#column = Math.max(this.#column - Math.max(count, 1), 0)
  }

  #erase(cells: string[], what: number): void {
    if (what !== 1) {
      const erased = cells.splice(what === 2 ? 0 : this.#column)
      this.#characters -= erased.join('').length
      return
    }
    // In front of the cursor, blanks take the place of what is erased.
    const end = Math.min(this.#column + 1, cells.length)
    for (let at = 0; at < end; at += 1) this.#characters -= (cells[at]?.length ?? 0) - 1
    cells.fill(' ', 0, end)
  }
}

/** Characters. */
const longestLine = 4_000
/** How far code can move beyond the end of a line. */
const lastColumn = 500

// oxlint-disable-next-line no-control-regex -- terminals are driven by control characters
const overwriting = /\r[^\r]|\x08|\u001B\[\d*[KGCD]/

const tokens =
  // oxlint-disable-next-line no-control-regex -- terminals are driven by control characters
  /\u001B\[(?<count>\d*)(?<action>[KGCD])|\u001B\[[0-?]*[ -/]*[@-~]|[^]/gu
