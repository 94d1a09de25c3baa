/** Joins pieces of a page to lines: white space collapses, and breaks between blocks count once. */
export class TextWriter {
  readonly #parts: string[] = []
  /** Line breaks before the next piece. */
  #breaks = 0
  /** A space before the next piece, when it is in the same line. */
  #hasSpace = false
  /** Text before the next piece, after its line break. */
  #prefix = ''
  /** Characters before the row of a table. */
  #rowBegun = 0
  /** Characters before the text of a cell. */
  #cellBegun = -1
  #characters = 0

  get characters(): number {
    return this.#characters
  }

  add(text: string): void {
    const words = text.replace(/[ \t\n\r\f]+/g, ' ')
    this.#hasSpace ||= words.startsWith(' ')
    const trimmed = words.trim()
    if (trimmed === '') return
    this.#begin()
    this.#push(trimmed)
    this.#hasSpace = words.endsWith(' ')
  }

  /** Adds a text with its white space. */
  addPreformatted(text: string): void {
    if (text === '') return
    this.#begin()
    this.#push(text)
  }

  /** Adds to the last piece, before a break that waits for the next one. */
  attach(text: string): void {
    this.#push(text)
  }

  /** @param count line breaks: 2 for an empty line */
  break(count: 1 | 2): void {
    if (this.#parts.length > 0 && this.#characters !== this.#cellBegun) this.#breaks = Math.max(this.#breaks, count)
    this.#hasSpace = false
  }

  /** Begins a row of a table. */
  beginRow(): void {
    this.#cellBegun = -1
    this.break(1)
    this.#rowBegun = this.#characters
  }

  /** Begins a cell. Blocks in the cell before it do not break the row; empty cells at its begin are left out. */
  beginCell(): void {
    if (this.#characters === this.#rowBegun) return
    this.#breaks = 0
    this.#hasSpace = false
    this.#push(' | ')
    this.#cellBegun = this.#characters
  }

  /** A block after the cell breaks its row. */
  endCell(): void {
    this.#cellBegun = -1
  }

  /** Begins a line with a text, if anything follows. */
  beginLine(prefix: string, breaks: 1 | 2): void {
    this.break(breaks)
    this.#prefix = prefix
  }

  toString(): string {
    return this.#parts.join('').trim()
  }

  #begin(): void {
    if (this.#breaks > 0) this.#push('\n'.repeat(this.#breaks))
    else if (this.#hasSpace && this.#parts.length > 0) this.#push(' ')
    if (this.#prefix !== '') this.#push(this.#prefix)
    this.#breaks = 0
    this.#hasSpace = false
    this.#prefix = ''
  }

  #push(text: string): void {
    this.#parts.push(text)
    this.#characters += text.length
  }
}
