import { isKey } from './content.js'

const keyCharacters = 64

/**
 * Finds everything in bytes that could be the key of a value: 64 hex digits in a row, also within more of them, also where
 * one piece ends and the next begins. Rather too many than one too few: what is found is kept.
 */
export class KeyFinder {
  readonly #isKnown: (key: string) => boolean
  /** Hex digits at the end of what was seen: the beginning of a key, perhaps. */
  #open = ''

  /** @param isKnown only such keys are given */
  constructor(isKnown: (key: string) => boolean) {
    this.#isKnown = isKnown
  }

  *find(piece: Uint8Array): Generator<string, void, undefined> {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
    const text = this.#open + bytes.toString('latin1')
    for (const [digits] of text.matchAll(/[0-9a-f]{64,}/g)) {
      for (let start = 0; start + keyCharacters <= digits.length; start++) {
        const key = digits.slice(start, start + keyCharacters)
        if (isKey(key) && this.#isKnown(key)) yield key
      }
    }
    this.#open = /[0-9a-f]{0,63}$/.exec(text.slice(1 - keyCharacters))?.[0] ?? ''
  }
}
