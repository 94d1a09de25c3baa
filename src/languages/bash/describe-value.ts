import type { JsonValue } from '../../common/json/json.js'
import { describeValueWith, jsonTypes } from '../shared/describe-value.js'

/** Describes the type and size of a value, which a script has as JSON. */
export function describeValue(value: JsonValue): string {
  return `JSON, ${describeValueWith(jsonTypes, value)}`
}
