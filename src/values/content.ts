import { createHash } from 'node:crypto'
import { PtcError } from '../common/errors.js'
import type { StoredContent } from './store.js'
import { takeStart } from '../common/text/text.js'

const keyPattern = /^[0-9a-f]{64}$/

/** Returns whether a text has the form of a key. */
export function isKey(text: string): boolean {
  return keyPattern.test(text)
}

/**
 * Checks a key before it becomes part of a path or of an object's name.
 *
 * @throws PtcError VALUE_MISSING
 */
export function assertKey(text: string): string {
  if (isKey(text)) return text
  throw new PtcError('VALUE_MISSING', `${JSON.stringify(takeStart(text, 80))} is not the key of a value`)
}

/** Computes key and size of content that is added in pieces. */
export class ContentHasher {
  readonly #hash = createHash('sha256')
  #bytes = 0

  add(piece: Uint8Array): void {
    this.#hash.update(piece)
    this.#bytes += piece.byteLength
  }

  get bytes(): number {
    return this.#bytes
  }

  /** May be called once, after the last piece. */
  finish(): StoredContent {
    return { sha256: this.#hash.digest('hex'), bytes: this.#bytes }
  }
}

/**
 * Yields the pieces. Withholds the last piece until the digest matches the key.
 *
 * @throws PtcError VALUE_CORRUPT
 */
export async function* verifyContent(
  pieces: AsyncIterable<Uint8Array>,
  expected: StoredContent,
): AsyncGenerator<Uint8Array, void, undefined> {
  const hasher = new ContentHasher()
  let withheld: Uint8Array | undefined
  for await (const piece of pieces) {
    if (piece.byteLength === 0) continue
    hasher.add(piece)
    if (hasher.bytes > expected.bytes) throw corruptError(expected, `more than ${expected.bytes} bytes`)
    if (withheld !== undefined) yield withheld
    withheld = piece
  }
  if (hasher.bytes < expected.bytes) throw corruptError(expected, `${hasher.bytes} bytes instead of ${expected.bytes}`)
  if (hasher.finish().sha256 !== expected.sha256) throw corruptError(expected, 'other bytes')
  if (withheld !== undefined) yield withheld
}

/** Returns the error for stored bytes that do not match their key. */
export function corruptError({ sha256 }: StoredContent, found: string): PtcError {
  return new PtcError('VALUE_CORRUPT', `the value ${sha256} was changed: its store has ${found}`)
}

/** Returns the error for a key without a value in the store. */
export function missingError(sha256: string, store: string): PtcError {
  return new PtcError('VALUE_MISSING', `there is no value ${sha256} in ${store}`)
}
