import type { JsonValue } from '../../common/json/json.js'
import { describeValueWith, jsonTypes } from '../shared/describe-value.js'

/** Describes the type and size of a value in the terms of JavaScript. */
export function describeValue(value: JsonValue): string {
  return describeValueWith(jsonTypes, value)
}
