import { omissionMarker, omissionMarkers, takeEnd, takeStart } from './text.js'

/** Keeps the head and the tail of a growing text, cut between characters, and counts the omitted characters. */
export class HeadTailBuffer {
  readonly #headLimit: number
  readonly #tailLimit: number
  /**
   * Head and tail, with one unit after the head and one before the tail: they show whether a cut would split a
   * character.
   */
  #head = ''
  #tail = ''
  #length = 0
  /**
   * Markers in the added text: their position, and the number of characters omitted there, less the length of the
   * marker.
   */
  readonly #earlierCuts: { readonly position: number; readonly missing: number }[] = []

  /** @param limit characters of head and tail together */
  constructor(limit: number) {
    this.#headLimit = Math.ceil(limit / 2)
    this.#tailLimit = limit - this.#headLimit
  }

  /** Number of added characters, with the omitted ones. */
  get length(): number {
    return this.#length
  }

  add(text: string): void {
    for (const { 0: found, 1: count, index } of text.matchAll(omissionMarkers)) {
      this.#earlierCuts.push({ position: this.#length + index, missing: Number(count) - found.length })
    }
    this.#length += text.length
    this.#head += text.slice(0, this.#headLimit + 1 - this.#head.length)
    this.#tail = (this.#tail + text.slice(-this.#tailLimit - 1)).slice(-this.#tailLimit - 1)
  }

  /** The text, with a marker in place of omitted characters. */
  get text(): string {
    const missing = this.#length - this.#head.length
    if (this.#length <= this.#headLimit + this.#tailLimit) {
      return missing > 0 ? this.#head + this.#tail.slice(-missing) : this.#head
    }
    const head = takeStart(this.#head, this.#headLimit)
    const tail = takeEnd(this.#tail, this.#tailLimit)
    const end = this.#length - tail.length
    const gaps = this.#earlierCuts.filter(({ position }) => position >= head.length && position < end)
    const cut = gaps.reduce((sum, { missing }) => sum + missing, end - head.length)
    return head + omissionMarker(cut) + tail
  }
}
