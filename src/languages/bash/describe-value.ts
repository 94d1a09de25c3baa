import type { JsonValue } from '../../common/json/json.js'
import { describeValueWith } from '../shared/describe-value.js'

const words = {
  none: 'null',
  text: 'a string',
  boolean: 'a boolean',
  integer: 'a number',
  float: 'a number',
  list: 'an array',
  record: 'an object',
} as const

/** Describes the type and size of a value, which a script has as JSON. */
export function describeValue(value: JsonValue): string {
  return `JSON, ${describeValueWith(words, value)}`
}
