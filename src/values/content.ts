import { createHash } from 'node:crypto'
import { PtcError } from '../common/errors.js'
import type { StoredContent } from './store.js'

const keyPattern = /^[0-9a-f]{64}$/

/** Could this be the key of a value? */
export function isKey(text: string): boolean {
  return keyPattern.test(text)
}

/** Before a key becomes part of a path or an object's name. */
export function requireKey(text: string): string {
  if (isKey(text)) return text
  throw new PtcError('VALUE_MISSING', `${JSON.stringify(text.slice(0, 80))} is no key of a value`)
}

/** Key and size of bytes that pass by. */
export class ContentMeter {
  readonly #hash = createHash('sha256')
  #bytes = 0

  add(piece: Uint8Array): void {
    this.#hash.update(piece)
    this.#bytes += piece.byteLength
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Once, at the end. */
  finish(): StoredContent {
    return { sha256: this.#hash.digest('hex'), bytes: this.#bytes }
  }
}

/**
 * Passes pieces on, the last one only when all of them are what the key says.
 *
 * @throws PtcError VALUE_CORRUPT
 */
export async function* checkedPieces(
  pieces: AsyncIterable<Uint8Array>,
  wanted: StoredContent,
): AsyncGenerator<Uint8Array, void, undefined> {
  const meter = new ContentMeter()
  let withheld: Uint8Array | undefined
  for await (const piece of pieces) {
    if (piece.byteLength === 0) continue
    meter.add(piece)
    if (meter.bytes > wanted.bytes) throw corrupt(wanted, `more than ${wanted.bytes} bytes`)
    if (withheld !== undefined) yield withheld
    withheld = piece
  }
  if (meter.bytes < wanted.bytes) throw corrupt(wanted, `${meter.bytes} bytes instead of ${wanted.bytes}`)
  if (meter.finish().sha256 !== wanted.sha256) throw corrupt(wanted, 'other bytes')
  if (withheld !== undefined) yield withheld
}

/** What is kept under a key is not what was put there. */
export function corrupt({ sha256 }: StoredContent, found: string): PtcError {
  return new PtcError('VALUE_CORRUPT', `the value ${sha256} was changed: its store has ${found}`)
}

/** There is nothing under a key. */
export function missing(sha256: string, store: string): PtcError {
  return new PtcError('VALUE_MISSING', `there is no value ${sha256} in ${store}`)
}
