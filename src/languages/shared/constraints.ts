import type { JsonObject, JsonValue } from '../../common/json/json.js'

/**
 * The constraints that a type annotation can't express: `1 to 100`, `format date-time`, `at most 10 items`; may be
 * empty.
 */
export function constraintsOf(schema: JsonObject): string {
  const {
    format,
    minimum,
    maximum,
    exclusiveMinimum,
    exclusiveMaximum,
    minLength,
    maxLength,
    minItems,
    maxItems,
    pattern,
  } = schema
  const parts = [
    typeof format === 'string' && !/^(?:u?int|float|double)\d*$/.test(format) ? `format ${format}` : '',
    range(minimum, maximum, ''),
    typeof exclusiveMinimum === 'number' ? `above ${exclusiveMinimum}` : '',
    typeof exclusiveMaximum === 'number' ? `below ${exclusiveMaximum}` : '',
    range(minLength, maxLength, 'characters'),
    range(minItems, maxItems, 'items'),
    typeof pattern === 'string' && pattern.length <= 60 ? `like ${pattern.replace(/\s/g, ' ')}` : '',
  ]
  return parts.filter((part) => part !== '').join(', ')
}

function range(low: JsonValue | undefined, high: JsonValue | undefined, unit: string): string {
  const text = rangeText(typeof low === 'number' ? low : undefined, typeof high === 'number' ? high : undefined)
  return text === '' || unit === '' ? text : `${text} ${unit}`
}

function rangeText(low: number | undefined, high: number | undefined): string {
  if (low === undefined) return high === undefined ? '' : `at most ${high}`
  if (high === undefined) return `at least ${low}`
  return low === high ? `exactly ${low}` : `${low} to ${high}`
}
