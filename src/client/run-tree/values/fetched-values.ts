import { withTimeLimit } from '../../../common/async/abort.js'
import { PtcError } from '../../../common/errors.js'
import type { JsonObject, JsonValue } from '../../../common/json/json.js'
import { formatCompactNumber, takeStart } from '../../../common/text/text.js'
import type { Externalizable, ValueRef } from '../../../common/json/external-value.js'
import { externalValue } from '../../../common/json/external-value.js'
import type { Values } from '../../../values/values.js'
import type { RunTree } from '../tree.js'
import { previewText, parseRef } from './external-values.js'

/** Reads external values. */
export type ValueReader = Pick<Values, 'load' | 'readText'>

/** External values that a tree shows. */
interface ValuesToFetch {
  /** Values that are fetched completely. */
  readonly whole: readonly ValueRef[]
  /** Values of which only the first characters are fetched. */
  readonly previews: readonly ValueRef[]
}

/** Returns the external values that a rendered tree shows. */
export function valuesToFetch({ turns }: RunTree, full: boolean): ValuesToFetch {
  const cells = turns.flatMap((turn) => turn.cells)
  const texts = cells.flatMap(({ codeRef, outputRefs }) => (codeRef ? [codeRef, ...outputRefs] : outputRefs))
  if (!full) return { whole: texts, previews: [] }
  const calls = [...cells.flatMap((cell) => cell.calls), ...turns.flatMap((turn) => turn.directCalls)]
  return {
    whole: [...texts, ...calls.flatMap((call) => parseRef(call.arguments) ?? [])],
    previews: calls.flatMap(({ resultRef }) => resultRef ?? []),
  }
}

/** Maximum bytes of a fetched value. For larger values, only the preview is shown. */
const maxFetchBytes = 4 * 1024 * 1024
const fetchConcurrency = 8
/** A slow store must not block the tree. */
const fetchTimeoutMs = 10_000

/** The external values fetched so far. */
export class FetchedValues {
  readonly #previewCharacters: number
  /** Values by their hash; undefined when the fetch failed. */
  readonly #whole = new Map<string, JsonValue | undefined>()
  readonly #previews = new Map<string, string | undefined>()
  #isUnreachable = false

  constructor(previewCharacters: number) {
    this.#previewCharacters = previewCharacters
  }

  /** Returns an inline text, a fetched text, or a description with the preview. */
  text(value: Externalizable<string>): string {
    const ref = parseRef(value)
    if (ref === undefined) return typeof value === 'string' ? value : ''
    const whole = this.#whole.get(ref.sha256)
    return typeof whole === 'string' ? whole : `[${describeRef(ref)}; it begins:]\n${previewText(ref)}…\n`
  }

  /** Returns whether {@link text} returns the text itself. */
  has(value: Externalizable<string>): boolean {
    const ref = parseRef(value)
    return ref === undefined || typeof this.#whole.get(ref.sha256) === 'string'
  }

  /** Returns inline arguments, fetched arguments, or their reference. */
  arguments(args: JsonObject): JsonObject {
    const whole = this.#whole.get(parseRef(args)?.sha256 ?? '')
    return typeof whole === 'object' && whole !== null && !Array.isArray(whole) ? (whole as JsonObject) : args
  }

  /** Returns the start of an external value as JSON. */
  preview(ref: ValueRef): string {
    return this.#previews.get(ref.sha256) ?? ref.preview
  }

  /**
   * Never rejects: values that can't be fetched stay unknown, and an unavailable store is not used again.
   *
   * @returns whether there was anything to fetch
   */
  async fetch({ whole, previews }: ValuesToFetch, reader: ValueReader, signal?: AbortSignal): Promise<boolean> {
    if (this.#isUnreachable) return false
    const fetchable = whole.filter(({ sha256, bytes }) => bytes <= maxFetchBytes && !this.#whole.has(sha256))
    const newPreviews = previews.filter(({ sha256 }) => !this.#previews.has(sha256))
    if (fetchable.length + newPreviews.length === 0) return false
    this.#isUnreachable = !(await withTimeLimit(signal, fetchTimeoutMs, (fetchSignal) => {
      const load = async (ref: ValueRef): Promise<void> => {
        this.#whole.set(ref.sha256, undefined)
        this.#whole.set(ref.sha256, await reader.load(externalValue(ref), purpose, fetchSignal))
      }
      const loadPreview = async (ref: ValueRef): Promise<void> => {
        this.#previews.set(ref.sha256, undefined)
        this.#previews.set(ref.sha256, await this.#readPreview(ref, reader, fetchSignal))
      }
      return fetchAll([...fetchable.map((ref) => () => load(ref)), ...newPreviews.map((ref) => () => loadPreview(ref))])
    }))
    return true
  }

  async #readPreview(ref: ValueRef, reader: ValueReader, signal: AbortSignal): Promise<string> {
    let text = ''
    for await (const piece of reader.readText(ref, purpose, signal)) {
      text += piece
      if (text.length >= this.#previewCharacters) break
    }
    return takeStart(text, this.#previewCharacters)
  }
}

const purpose = 'a value of the run'

/** Describes a reference for display: the start of the hash, and the size. */
export function describeRef({ bytes, sha256 }: ValueRef): string {
  return `value ${shortHash({ sha256 })}, ${formatCompactNumber(bytes)} bytes`
}

/** Returns the start of a hash, for display. */
export function shortHash({ sha256 }: Pick<ValueRef, 'sha256'>): string {
  return sha256.slice(0, 12)
}

/** Returns false when the store is unavailable. */
async function fetchAll(fetches: readonly (() => Promise<void>)[]): Promise<boolean> {
  for (let start = 0; start < fetches.length; start += fetchConcurrency) {
    const results = await Promise.allSettled(fetches.slice(start, start + fetchConcurrency).map((fetch) => fetch()))
    if (results.some((result) => result.status === 'rejected' && !isSingleValueError(result.reason))) return false
  }
  return true
}

const singleValueCodes: ReadonlySet<string> = new Set([
  'VALUE_MISSING',
  'VALUE_CORRUPT',
  'ENCRYPTION_KEY_UNAVAILABLE',
  'DECRYPTION_FAILED',
])

function isSingleValueError(thrown: unknown): boolean {
  return PtcError.isInstance(thrown) && singleValueCodes.has(thrown.code)
}
