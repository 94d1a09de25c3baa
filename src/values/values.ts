/*
 * Values: JSON values of any size for histories that must stay small.
 *
 * Owns externalizing, loading, the cache of small values, and the retries of an unavailable store.
 *
 * Boundary: class `Values` does not know Temporal (payload-storage.ts is the adapter). Stores (store.ts) know neither
 * JSON nor previews. garbage/ decides which values are still needed, from roots that the caller provides.
 *
 * Invariants:
 * 1. An external value is stored completely before its reference exists.
 * 2. A value that has the form of a reference, or contains one, is always externalized, so data from outside can't
 *    forge a reference.
 * 3. A loaded value is verified: its bytes match the key of its reference.
 * 4. Memory is bounded: the JSON text of a large value is never in memory as a whole.
 * 5. With encryption keys (encryption/), nothing is stored unencrypted, and no name in the store depends on the content
 *    of a value.
 */

import { parseChunked } from '@discoveryjs/json-ext'
import { HeadTailBuffer } from '../common/text/head-tail-buffer.js'
import { PtcError } from '../common/errors.js'
import type { JsonValue } from '../common/json/json.js'
import { metrics } from '../common/telemetry/metrics.js'
import { utf8Length } from '../common/text/text.js'
import {
  type Externalizable,
  externalValue,
  externalValueKey,
  previewCharacters,
  refOf,
  type ValueRef,
} from '../common/json/external-value.js'
import { decodeUtf8, splitText, stringifyInPieces } from './text-pieces.js'
import { EncryptedStore } from './encryption/encrypted-store.js'
import { toLoadError } from './load-error.js'
import { retryWhileUnavailable } from './retry.js'
import { ValueCache } from './value-cache.js'
import type { ValueStore } from './store.js'

export interface ValuesOptions {
  /** The store. {@link Values.close} closes it. */
  readonly store: ValueStore
  /** Maximum bytes of inline JSON. Default 4,096. */
  readonly inlineBytes?: number
  /** Milliseconds to retry while the store is full or unavailable. Default 2 minutes. */
  readonly retryForMs?: number
  /** Called with the reason while operations are retried, and with undefined afterwards. */
  readonly onWait?: (reason: string | undefined) => void
  /** Capacity of the cache of small values, in bytes. Default 32 MiB. */
  readonly cacheBytes?: number
}

/** JSON values for histories: small values inline, others by reference to a value store. */
export class Values {
  readonly valueStore: ValueStore
  readonly #inlineBytes: number
  readonly #retryForMs: number
  readonly #onWait: ValuesOptions['onWait']
  readonly #cache: ValueCache

  constructor(options: ValuesOptions) {
    const { store, inlineBytes = 4_096, retryForMs = 120_000, cacheBytes = 32 * 1024 * 1024 } = options
    this.valueStore = store
    this.#inlineBytes = inlineBytes
    this.#retryForMs = retryForMs
    this.#onWait = options.onWait
    this.#cache = new ValueCache(cacheBytes)
  }

  /**
   * Returns the value for a history: inline, or stored and replaced by its reference. Retries an unavailable store, so
   * that the tool or model call that returned the value is not repeated.
   *
   * @param value plain JSON; undefined members are left out
   * @throws PtcError VALUE_STORE_UNAVAILABLE or VALUE_STORE_FULL after the retries, VALUE_STORE_REFUSED; the signal's
   * reason
   */
  async externalize<Value extends JsonValue>(value: Value, signal: AbortSignal): Promise<Externalizable<Value>> {
    const json = stringifyUpTo(value, this.#inlineBytes)
    if (isInlineText(json)) return value
    return externalValue(await this.#putValue(value, json, signal))
  }

  /** Returns whether {@link externalize} would return the value itself. */
  isInline(value: JsonValue): boolean {
    return isInlineText(stringifyUpTo(value, this.#inlineBytes))
  }

  /** Returns an upper estimate of the bytes of JSON that {@link externalize} would return. Stores nothing. */
  inlineSize(value: JsonValue): number {
    const json = stringifyUpTo(value, this.#inlineBytes)
    const { start } = json
    if (isInlineText(json)) return utf8Length(start)
    const [preview = ''] = splitText(start, previewCharacters)
    const longest = { sha256: '0'.repeat(64), bytes: Number.MAX_SAFE_INTEGER }
    const stored = this.valueStore instanceof EncryptedStore && { stored: longest }
    return utf8Length(JSON.stringify(externalValue({ ...longest, ...stored, preview })))
  }

  /**
   * Stores a value of any size, and returns its reference.
   *
   * @throws PtcError of {@link externalize}
   */
  async store(value: JsonValue, signal: AbortSignal): Promise<ValueRef> {
    return this.#putValue(value, stringifyUpTo(value, previewCharacters), signal)
  }

  /**
   * Stores JSON text, without retries: the caller can do without the value.
   *
   * @param pieces the pieces of the text
   * @throws PtcError of {@link externalize}
   */
  async storeText(pieces: readonly string[], signal: AbortSignal): Promise<ValueRef> {
    const stored = await this.valueStore.put(encodeUtf8([pieces]), signal)
    metrics.add('ptc_value_bytes_total', stored.bytes, { direction: 'written' })
    return { ...stored, preview: '' }
  }

  /**
   * Returns the value itself. An external value is read from the store.
   *
   * @param neededBy description of the value for error messages: "the result of get_expenses (call 3 of cell 2)"
   * @throws PtcError VALUE_MISSING, VALUE_CORRUPT, VALUE_STORE_UNAVAILABLE after the retries, VALUE_STORE_REFUSED
   */
  async load(value: JsonValue, neededBy: string, signal: AbortSignal): Promise<JsonValue> {
    const ref = refOf(value)
    if (ref === undefined) return value
    return this.#withRetries(ref, neededBy, signal, () => parseJson(this.#readBytes(ref, signal)))
  }

  /**
   * Yields the JSON text of an external value, in pieces of up to about 256K characters that never split a character.
   *
   * @throws PtcError of {@link load}
   */
  readText(ref: ValueRef, neededBy: string, signal: AbortSignal): AsyncGenerator<string, void, undefined> {
    return decodeUtf8(this.readUtf8(ref, neededBy, signal))
  }

  /**
   * Yields the JSON text of an external value as UTF-8, in pieces that may split a character. There are no retries,
   * because pieces are yielded before the last one is read.
   *
   * @throws PtcError of {@link load}
   */
  async *readUtf8(ref: ValueRef, neededBy: string, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      yield* this.#readBytes(ref, signal)
    } catch (thrown) {
      throw toLoadError(thrown, neededBy, ref)
    }
  }

  /**
   * Returns the JSON text of a value, truncated in the middle. Uses constant memory.
   *
   * @param limit characters of head and tail together
   * @throws PtcError of {@link load}
   */
  async excerpt(value: JsonValue, limit: number, neededBy: string, signal: AbortSignal): Promise<string> {
    const ref = refOf(value)
    if (ref === undefined) {
      const excerpt = new HeadTailBuffer(limit)
      for (const piece of stringifyInPieces(value)) excerpt.add(piece)
      return excerpt.text
    }
    return this.#withRetries(ref, neededBy, signal, async () => {
      const excerpt = new HeadTailBuffer(limit)
      for await (const piece of decodeUtf8(this.#readBytes(ref, signal))) excerpt.add(piece)
      return excerpt.text
    })
  }

  /** Closes the store. Idempotent. */
  close(): Promise<void> {
    return this.valueStore.close()
  }

  async #putValue(value: JsonValue, { start, rest }: PartialJson, signal: AbortSignal): Promise<ValueRef> {
    let attempts = 0
    const put = () =>
      this.valueStore.put(encodeUtf8(attempts++ === 0 ? [[start], rest] : [stringifyInPieces(value)]), signal)
    const stored = await retryWhileUnavailable(this.#retryForMs, signal, put, this.#onWait).catch(countFailure)
    metrics.add('ptc_value_bytes_total', stored.bytes, { direction: 'written' })
    const [preview = ''] = splitText(start, previewCharacters)
    return { ...stored, preview }
  }

  async #withRetries<Result>(
    ref: ValueRef,
    neededBy: string,
    signal: AbortSignal,
    work: () => Promise<Result>,
  ): Promise<Result> {
    try {
      return await retryWhileUnavailable(this.#retryForMs, signal, work, this.#onWait).catch(countFailure)
    } catch (thrown) {
      throw toLoadError(thrown, neededBy, ref)
    }
  }

  async *#readBytes(ref: ValueRef, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    const cached = this.#cache.get(ref.sha256, ref.bytes)
    if (cached !== undefined) return yield cached
    const pieces: Uint8Array[] | undefined = this.#cache.fits(ref.bytes) ? [] : undefined
    for await (const piece of this.valueStore.read(ref, signal)) {
      pieces?.push(piece)
      metrics.add('ptc_value_bytes_total', piece.byteLength, { direction: 'read' })
      yield piece
    }
    if (pieces !== undefined) this.#cache.add(ref.sha256, Buffer.concat(pieces))
  }
}

function countFailure(thrown: unknown): never {
  if (PtcError.isInstance(thrown)) metrics.add('ptc_value_failures_total', 1, { code: thrown.code })
  throw thrown
}

/** The start of a JSON text, serialized to compare its length with a limit. `rest` continues it. */
interface PartialJson {
  readonly start: string
  readonly rest: Iterable<string>
  readonly isComplete: boolean
}

const referenceText = JSON.stringify(externalValueKey)

/**
 * Returns whether a value may be inline. It checks the text, because a reference may be at any depth. A text that only
 * contains the key of a reference is also externalized.
 */
function isInlineText({ start, isComplete }: PartialJson): boolean {
  return isComplete && !start.includes(referenceText)
}

/** Serializes JSON until it is complete or longer than the limit. */
function stringifyUpTo(value: JsonValue, limitBytes: number): PartialJson {
  const rest = stringifyInPieces(value)
  let start = ''
  while (Buffer.byteLength(start) <= limitBytes) {
    const { value: piece, done } = rest.next()
    if (done === true) return { start, rest, isComplete: true }
    start += piece
  }
  return { start, rest, isComplete: false }
}

function* encodeUtf8(texts: readonly Iterable<string>[]): Generator<Uint8Array, void, undefined> {
  for (const text of texts) for (const piece of text) yield Buffer.from(piece)
}

/** Parses JSON while reading it, so that the text is never in memory as a whole. */
async function parseJson(bytes: AsyncIterable<Uint8Array>): Promise<JsonValue> {
  try {
    return (await parseChunked(bytes)) as JsonValue
  } catch (thrown) {
    // The parser may fail before the digest is checked. The stored text was JSON.
    if (thrown instanceof SyntaxError)
      throw new PtcError('VALUE_CORRUPT', `it is not JSON: ${thrown.message}`, { cause: thrown })
    throw thrown
  }
}
