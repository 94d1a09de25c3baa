import { isKey } from '../content.js'

const keyLength = 64

/**
 * Finds each part of bytes that may be a key: 64 consecutive hex digits, also within a longer sequence, and also across
 * the border of two pieces. False positives are harmless: they only keep a value.
 */
export class KeyFinder {
  readonly #isKnown: (key: string) => boolean
  /** Hex digits at the end of the previous piece, which may be the start of a key. */
  #tail = ''

  /** @param isKnown selects the keys to return */
  constructor(isKnown: (key: string) => boolean) {
    this.#isKnown = isKnown
  }

  *find(piece: Uint8Array): Generator<string, void, undefined> {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
    const text = this.#tail + bytes.toString('latin1')
    for (const [digits] of text.matchAll(/[0-9a-f]{64,}/g)) {
      for (let start = 0; start + keyLength <= digits.length; start++) {
        const key = digits.slice(start, start + keyLength)
        if (isKey(key) && this.#isKnown(key)) yield key
      }
    }
    this.#tail = /[0-9a-f]{0,63}$/.exec(text.slice(1 - keyLength))?.[0] ?? ''
  }
}
