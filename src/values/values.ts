import { parseChunked } from '@discoveryjs/json-ext'
import { CellOutput } from '../common/cell-output.js'
import { PtcError } from '../common/errors.js'
import type { JsonValue } from '../common/json.js'
import { utf8Length } from '../common/text.js'
import { type Held, heldElsewhere, isHeldElsewhere, previewCharacters, refOf, type ValueRef } from '../common/values.js'
import { cutText, jsonPieces } from './json-pieces.js'
import { neededError } from './needed.js'
import { withPatience } from './patience.js'
import { RecentValues } from './recent.js'
import type { ValueStore } from './store.js'
import { textOf } from './text-of.js'

export interface ValuesOptions {
  /** Closed with these. */
  readonly store: ValueStore
  /** The biggest JSON, in bytes, that travels in place. Default 4,096. */
  readonly inlineBytes?: number
  /** How long a store that is full or does not answer is tried again, in milliseconds. Default 2 minutes. */
  readonly patienceMs?: number
  /** Bytes of small values, used lately, that are kept in memory. Default 32 MiB. */
  readonly recentBytes?: number
}

/** JSON values as they travel through a history: small ones in place, others by reference to a store. */
export class Values {
  readonly store: ValueStore
  readonly #inlineBytes: number
  readonly #patienceMs: number
  readonly #recent: RecentValues

  constructor(options: ValuesOptions) {
    const { store, inlineBytes = 4_096, patienceMs = 120_000, recentBytes = 32 * 1024 * 1024 } = options
    this.store = store
    this.#inlineBytes = inlineBytes
    this.#patienceMs = patienceMs
    this.#recent = new RecentValues(recentBytes)
  }

  /**
   * The value as it may enter a history. One that looks like a reference itself is always kept elsewhere, so that nothing from
   * outside can make one up. A store that is gone for a while is waited for: what made the value need not run again.
   *
   * @param value plain JSON; members that are undefined are left out
   * @throws PtcError VALUE_STORE_UNAVAILABLE or VALUE_STORE_FULL when patience is over, VALUE_STORE_REFUSED; the signal's reason
   */
  async hold<Value extends JsonValue>(value: Value, signal: AbortSignal): Promise<Held<Value>> {
    const json = beginJson(value, this.#inlineBytes)
    if (json.isWhole && !isHeldElsewhere(value)) return value
    return heldElsewhere(await this.#put(value, json, signal))
  }

  /** Bytes of JSON that {@link hold} would put into a history, or a few more. Stores nothing. */
  heldBytes(value: JsonValue): number {
    const { start, isWhole } = beginJson(value, this.#inlineBytes)
    if (isWhole && !isHeldElsewhere(value)) return utf8Length(start)
    const [preview = ''] = cutText(start, previewCharacters)
    const ref = { sha256: '0'.repeat(64), bytes: Number.MAX_SAFE_INTEGER, preview }
    return utf8Length(JSON.stringify(heldElsewhere(ref)))
  }

  /**
   * Keeps a value, however small, and gives its reference.
   *
   * @throws PtcError as {@link hold}
   */
  async keep(value: JsonValue, signal: AbortSignal): Promise<ValueRef> {
    return this.#put(value, beginJson(value, previewCharacters), signal)
  }

  /**
   * Keeps a value that is JSON text already. Tried once: who has it can do without.
   *
   * @param pieces together the text
   * @throws PtcError as {@link hold}
   */
  async keepText(pieces: readonly string[], signal: AbortSignal): Promise<ValueRef> {
    return { ...(await this.store.put(utf8([pieces]), signal)), preview: '' }
  }

  /**
   * The value itself, fetched if it is kept elsewhere.
   *
   * @param neededBy for errors: what can't go on without it, such as "the result of get_expenses (call 3 of cell 2)"
   * @throws PtcError VALUE_MISSING, VALUE_CORRUPT, VALUE_STORE_UNAVAILABLE when patience is over, VALUE_STORE_REFUSED
   */
  async load(held: JsonValue, neededBy: string, signal: AbortSignal): Promise<JsonValue> {
    const ref = refOf(held)
    if (ref === undefined) return held
    return this.#patiently(ref, neededBy, signal, () => parse(this.#bytesOf(ref, signal)))
  }

  /**
   * The JSON text of a value kept elsewhere, in pieces of up to about 256K characters that never cut a character in two. Not
   * waited for: what has been passed on can't be taken back.
   *
   * @throws PtcError as {@link load}
   */
  async *readText(ref: ValueRef, neededBy: string, signal: AbortSignal): AsyncGenerator<string, void, undefined> {
    try {
      yield* textOf(this.#bytesOf(ref, signal))
    } catch (thrown) {
      throw neededError(thrown, neededBy, ref)
    }
  }

  /**
   * The JSON text of a value; of a longer one its head and tail, and how much is missing. In constant memory.
   *
   * @param limit characters of head and tail together
   * @throws PtcError as {@link load}
   */
  async excerpt(held: JsonValue, limit: number, neededBy: string, signal: AbortSignal): Promise<string> {
    const ref = refOf(held)
    if (ref === undefined) {
      const excerpt = new CellOutput(limit)
      for (const piece of jsonPieces(held)) excerpt.add(piece)
      return excerpt.text
    }
    return this.#patiently(ref, neededBy, signal, async () => {
      const excerpt = new CellOutput(limit)
      for await (const piece of textOf(this.#bytesOf(ref, signal))) excerpt.add(piece)
      return excerpt.text
    })
  }

  /** Idempotent. */
  close(): Promise<void> {
    return this.store.close()
  }

  async #put(value: JsonValue, { start, rest }: BegunJson, signal: AbortSignal): Promise<ValueRef> {
    let attempts = 0
    const stored = await withPatience(this.#patienceMs, signal, () =>
      this.store.put(utf8(attempts++ === 0 ? [[start], rest] : [jsonPieces(value)]), signal),
    )
    const [preview = ''] = cutText(start, previewCharacters)
    return { ...stored, preview }
  }

  async #patiently<Result>(
    ref: ValueRef,
    neededBy: string,
    signal: AbortSignal,
    work: () => Promise<Result>,
  ): Promise<Result> {
    try {
      return await withPatience(this.#patienceMs, signal, work)
    } catch (thrown) {
      throw neededError(thrown, neededBy, ref)
    }
  }

  async *#bytesOf(ref: ValueRef, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    const recent = this.#recent.get(ref.sha256)
    if (recent !== undefined) return yield recent
    const pieces: Uint8Array[] | undefined = this.#recent.fits(ref.bytes) ? [] : undefined
    for await (const piece of this.store.read(ref, signal)) {
      pieces?.push(piece)
      yield piece
    }
    if (pieces !== undefined) this.#recent.add(ref.sha256, Buffer.concat(pieces))
  }
}

/** JSON of which the first pieces are made, so that none is made twice to learn how long it is. */
interface BegunJson {
  readonly start: string
  readonly rest: Iterable<string>
  readonly isWhole: boolean
}

/** Makes JSON until it is complete, or over so many bytes. */
function beginJson(value: JsonValue, bytes: number): BegunJson {
  const rest = jsonPieces(value)
  let start = ''
  while (Buffer.byteLength(start) <= bytes) {
    const { value: piece, done } = rest.next()
    if (done === true) return { start, rest, isWhole: true }
    start += piece
  }
  return { start, rest, isWhole: false }
}

function* utf8(texts: readonly Iterable<string>[]): Generator<Uint8Array, void, undefined> {
  for (const text of texts) for (const piece of text) yield Buffer.from(piece)
}

/** Parses while it reads, so the text is never whole. */
async function parse(bytes: AsyncIterable<Uint8Array>): Promise<JsonValue> {
  try {
    return (await parseChunked(bytes)) as JsonValue
  } catch (thrown) {
    // Seen before the digest is: what was put was JSON.
    if (thrown instanceof SyntaxError)
      throw new PtcError('VALUE_CORRUPT', `it is no JSON: ${thrown.message}`, { cause: thrown })
    throw thrown
  }
}
