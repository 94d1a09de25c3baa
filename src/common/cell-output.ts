/** Left by the runner where it kept something back; see `cutMiddle`. */
const mark = /\n\[\.\.\. (\d+) characters cut \.\.\.\]\n/g

/** What a cell has printed so far: its head and its tail, and how much is missing between them. */
export class CellOutput {
  readonly #headRoom: number
  readonly #tailRoom: number
  #head = ''
  #tail = ''
  #length = 0
  /** Where something was missing already: the place of the mark, and characters it stands for beyond its own. */
  readonly #gaps: { readonly at: number; readonly missing: number }[] = []

  /** @param limit characters that are kept */
  constructor(limit: number) {
    this.#headRoom = Math.ceil(limit / 2)
    this.#tailRoom = limit - this.#headRoom
  }

  /** Characters that were added, kept or not. */
  get length(): number {
    return this.#length
  }

  add(text: string): void {
    for (const { 0: found, 1: count, index } of text.matchAll(mark)) {
      this.#gaps.push({ at: this.#length + index, missing: Number(count) - found.length })
    }
    this.#length += text.length
    const room = this.#headRoom - this.#head.length
    this.#head += text.slice(0, room)
    if (text.length > room) this.#tail = lastOf(this.#tail + text.slice(room), this.#tailRoom)
  }

  /** The text, with a mark where some is missing. */
  get text(): string {
    const end = this.#length - this.#tail.length
    if (end === this.#head.length) return this.#head + this.#tail
    const gaps = this.#gaps.filter(({ at }) => at >= this.#head.length && at < end)
    const cut = gaps.reduce((sum, { missing }) => sum + missing, end - this.#head.length)
    return `${this.#head}\n[... ${cut} characters cut ...]\n${this.#tail}`
  }
}

function lastOf(text: string, count: number): string {
  return text.length <= count ? text : text.slice(text.length - count)
}
