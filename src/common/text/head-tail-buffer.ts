import { omissionMarker, omissionMarkers } from './text.js'

/** Keeps the head and the tail of a growing text, and counts the characters omitted between them. */
export class HeadTailBuffer {
  readonly #headLimit: number
  readonly #tailLimit: number
  #head = ''
  #tail = ''
  #length = 0
  /** Markers in the added text: their position, and the characters omitted there less the marker's own length. */
  readonly #earlierCuts: { readonly position: number; readonly missing: number }[] = []

  /** @param limit characters of head and tail together */
  constructor(limit: number) {
    this.#headLimit = Math.ceil(limit / 2)
    this.#tailLimit = limit - this.#headLimit
  }

  /** Characters added so far, omitted ones included. */
  get length(): number {
    return this.#length
  }

  add(text: string): void {
    for (const { 0: found, 1: count, index } of text.matchAll(omissionMarkers)) {
      this.#earlierCuts.push({ position: this.#length + index, missing: Number(count) - found.length })
    }
    this.#length += text.length
    const headSpace = this.#headLimit - this.#head.length
    this.#head += text.slice(0, headSpace)
    if (text.length > headSpace) this.#tail = takeLast(this.#tail + text.slice(headSpace), this.#tailLimit)
  }

  /** The text, with a marker in place of omitted characters. */
  get text(): string {
    const end = this.#length - this.#tail.length
    if (end === this.#head.length) return this.#head + this.#tail
    const gaps = this.#earlierCuts.filter(({ position }) => position >= this.#head.length && position < end)
    const cut = gaps.reduce((sum, { missing }) => sum + missing, end - this.#head.length)
    return this.#head + omissionMarker(cut) + this.#tail
  }
}

function takeLast(text: string, count: number): string {
  return text.length <= count ? text : text.slice(text.length - count)
}
