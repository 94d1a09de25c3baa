import type { JsonValue } from '../../common/json/json.js'
import { pluralize, toPlainLine, truncateEnd } from '../../common/text/text.js'

const maxKeys = 20
const maxKeyCharacters = 40

/** Describes the type and size of a value in Python's terms. Of the content, the text has only the names of members. */
export function describeValue(value: JsonValue): string {
  if (value === null) return 'None'
  if (typeof value === 'string') return `a str of ${pluralize(value.length, 'character')}`
  if (typeof value === 'boolean') return 'a bool'
  if (typeof value === 'number') return Number.isInteger(value) ? 'an int' : 'a float'
  if (Array.isArray(value)) return `a list of ${pluralize(value.length, 'item')}${describeItems(value)}`
  return `a dict${describeKeys(value)}`
}

function describeItems(items: readonly JsonValue[]): string {
  const [first] = items
  const isRecord = typeof first === 'object' && first !== null && !Array.isArray(first)
  return isRecord ? `; the first is a dict${describeKeys(first)}` : ''
}

function describeKeys(value: object): string {
  const keys = Object.keys(value)
  if (keys.length === 0) return ' without keys'
  const shown = keys.slice(0, maxKeys).map((key) => JSON.stringify(truncateEnd(toPlainLine(key), maxKeyCharacters)))
  const rest = keys.length > shown.length ? ` and ${keys.length - shown.length} more` : ''
  return ` with the keys ${shown.join(', ')}${rest}`
}
