import type { JsonValue } from '../../common/json/json.js'
import { describeValueWith } from '../shared/describe-value.js'

const words = {
  none: 'None',
  text: 'a str',
  boolean: 'a bool',
  integer: 'an int',
  float: 'a float',
  list: 'a list',
  record: 'a dict',
} as const

/** Describes the type and size of a value in Python's terms. */
export function describeValue(value: JsonValue): string {
  return describeValueWith(words, value)
}
