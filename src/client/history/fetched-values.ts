import { PtcError } from '../../common/errors.js'
import type { JsonObject, JsonValue } from '../../common/json.js'
import { shortNumber } from '../../common/text.js'
import type { Held, ValueRef } from '../../common/values.js'
import { heldElsewhere } from '../../common/values.js'
import type { Values } from '../../values/values.js'
import { beginningOfText, refIn } from './elsewhere.js'

/** Where values can be read that are kept outside of the history. */
export type ValueReader = Pick<Values, 'load' | 'readText'>

/** What is to be fetched. */
export interface WantedValues {
  /** As a whole. */
  readonly whole: readonly ValueRef[]
  /** Only its first characters. */
  readonly beginnings: readonly ValueRef[]
}

/** What is larger is known by its beginning only: it is for people to read. */
const mostBytes = 4 * 1024 * 1024
const atOnce = 8
/** A store that is slow must not keep a tree from being drawn. */
const patienceMs = 10_000

/** Values that are kept elsewhere, as far as somebody has fetched them. */
export class FetchedValues {
  readonly #previewCharacters: number
  /** By their hash; undefined: tried in vain. */
  readonly #whole = new Map<string, JsonValue | undefined>()
  readonly #beginnings = new Map<string, string | undefined>()
  #isUnreachable = false

  constructor(previewCharacters: number) {
    this.#previewCharacters = previewCharacters
  }

  /** A text: as it is, as it was fetched, or what is known of it. */
  text(held: Held<string>): string {
    const ref = refIn(held)
    if (ref === undefined) return typeof held === 'string' ? held : ''
    const whole = this.#whole.get(ref.sha256)
    return typeof whole === 'string' ? whole : `[${describeRef(ref)}; it begins:]\n${beginningOfText(ref)}…\n`
  }

  /** Arguments: as they are, as they were fetched, or their reference. */
  arguments(args: JsonObject): JsonObject {
    const whole = this.#whole.get(refIn(args)?.sha256 ?? '')
    return typeof whole === 'object' && whole !== null && !Array.isArray(whole) ? (whole as JsonObject) : args
  }

  /** The beginning of a value as JSON. */
  beginning(ref: ValueRef): string {
    return this.#beginnings.get(ref.sha256) ?? ref.preview
  }

  /** Never rejects: what can't be fetched is not there, and a store that does not answer is not asked again. */
  async fetch({ whole, beginnings }: WantedValues, reader: ValueReader, signal?: AbortSignal): Promise<void> {
    if (this.#isUnreachable) return
    const deadline = AbortSignal.timeout(patienceMs)
    const within = signal ? AbortSignal.any([signal, deadline]) : deadline
    const load = async (ref: ValueRef): Promise<void> => {
      this.#whole.set(ref.sha256, undefined)
      this.#whole.set(ref.sha256, await reader.load(heldElsewhere(ref), neededBy, within))
    }
    const begin = async (ref: ValueRef): Promise<void> => {
      this.#beginnings.set(ref.sha256, undefined)
      this.#beginnings.set(ref.sha256, await this.#readBeginning(ref, reader, within))
    }
    const small = whole.filter(({ sha256, bytes }) => bytes <= mostBytes && !this.#whole.has(sha256))
    const shown = beginnings.filter(({ sha256 }) => !this.#beginnings.has(sha256))
    this.#isUnreachable = !(await fetchAll([
      ...small.map((ref) => () => load(ref)),
      ...shown.map((ref) => () => begin(ref)),
    ]))
  }

  async #readBeginning(ref: ValueRef, reader: ValueReader, signal: AbortSignal): Promise<string> {
    let text = ''
    for await (const piece of reader.readText(ref, neededBy, signal)) {
      text += piece
      if (text.length >= this.#previewCharacters) break
    }
    return text.slice(0, this.#previewCharacters)
  }
}

const neededBy = 'a value of the run'

/** For people: the beginning of its hash, and how large it is. */
export function describeRef({ bytes, sha256 }: ValueRef): string {
  return `value ${shortHash({ sha256 })}, ${shortNumber(bytes)} bytes`
}

/** Enough of a hash to tell values apart. */
export function shortHash({ sha256 }: Pick<ValueRef, 'sha256'>): string {
  return sha256.slice(0, 12)
}

/** False when there is no sense in asking for more. */
async function fetchAll(fetches: readonly (() => Promise<void>)[]): Promise<boolean> {
  for (let start = 0; start < fetches.length; start += atOnce) {
    const ends = await Promise.allSettled(fetches.slice(start, start + atOnce).map((fetch) => fetch()))
    if (ends.some((end) => end.status === 'rejected' && !isAboutOneValue(end.reason))) return false
  }
  return true
}

function isAboutOneValue(thrown: unknown): boolean {
  return PtcError.isInstance(thrown) && (thrown.code === 'VALUE_MISSING' || thrown.code === 'VALUE_CORRUPT')
}
