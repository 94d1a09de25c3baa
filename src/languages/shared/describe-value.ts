import type { JsonValue } from '../../common/json/json.js'
import { pluralize, toPlainLine, truncateEnd } from '../../common/text/text.js'

/** What a language calls its types, with an article. */
interface TypeWords {
  readonly none: string
  readonly text: string
  readonly boolean: string
  readonly integer: string
  readonly float: string
  readonly list: string
  readonly record: string
}

/** The types of JSON, which are those of JavaScript. */
export const jsonTypes: TypeWords = {
  none: 'null',
  text: 'a string',
  boolean: 'a boolean',
  integer: 'a number',
  float: 'a number',
  list: 'an array',
  record: 'an object',
}

const maxKeys = 20
const maxKeyCharacters = 40

/**
 * Describes the type and size of a value in the terms of a language. Of the content, the text has only the names of
 * members.
 */
export function describeValueWith(words: TypeWords, value: JsonValue): string {
  if (value === null) return words.none
  if (typeof value === 'string') return `${words.text} of ${pluralize(value.length, 'character')}`
  if (typeof value === 'boolean') return words.boolean
  if (typeof value === 'number') return Number.isInteger(value) ? words.integer : words.float
  if (!Array.isArray(value)) return `${words.record}${describeKeys(value)}`
  return `${words.list} of ${pluralize(value.length, 'item')}${describeItems(words, value)}`
}

function describeItems({ record }: TypeWords, items: readonly JsonValue[]): string {
  const [first] = items
  const isRecord = typeof first === 'object' && first !== null && !Array.isArray(first)
  return isRecord ? `; the first is ${record}${describeKeys(first)}` : ''
}

function describeKeys(value: object): string {
  const keys = Object.keys(value)
  if (keys.length === 0) return ' without keys'
  const shown = keys.slice(0, maxKeys).map((key) => JSON.stringify(truncateEnd(toPlainLine(key), maxKeyCharacters)))
  const rest = keys.length > shown.length ? ` and ${keys.length - shown.length} more` : ''
  return ` with the keys ${shown.join(', ')}${rest}`
}
