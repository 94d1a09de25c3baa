/** Head and tail of a text that passes by, in constant memory; like `cutMiddle` of common/text.ts, for texts that are never whole. */
export class Excerpt {
  readonly #headLimit: number
  readonly #tailLimit: number
  #head = ''
  #tail = ''
  #characters = 0

  /** @param limit characters of head and tail together */
  constructor(limit: number) {
    this.#headLimit = Math.ceil(limit / 2)
    this.#tailLimit = limit - this.#headLimit
  }

  add(text: string): void {
    this.#characters += text.length
    const room = this.#headLimit - this.#head.length
    this.#head += text.slice(0, room)
    if (text.length <= room) return
    this.#tail += text.slice(room)
    // Not at each piece: cutting copies.
    if (this.#tail.length > 4 * this.#tailLimit + 65_536) this.#tail = lastOf(this.#tail, this.#tailLimit)
  }

  toString(): string {
    const cut = this.#characters - this.#headLimit - this.#tailLimit
    if (cut <= 0) return this.#head + this.#tail
    return `${this.#head}\n[... ${cut} characters cut ...]\n${lastOf(this.#tail, this.#tailLimit)}`
  }
}

function lastOf(text: string, characters: number): string {
  return text.slice(text.length - characters)
}
