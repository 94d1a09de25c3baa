import type { JsonValue } from '../../common/json/json.js'

/**
 * The same value with well-formed texts and member names: half of a surrogate pair becomes U+FFFD, as in UTF-8. APIs
 * refuse a request with an ill-formed text. A well-formed value is returned unchanged.
 */
export function toWellFormedJson<Value>(value: Value): Value {
  // Only texts change, so the type stays.
  return wellFormed(value as JsonValue) as Value
}

function wellFormed(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.isWellFormed() ? value : value.toWellFormed()
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const items = (value as readonly JsonValue[]).map(wellFormed)
    return items.some((item, index) => item !== value[index]) ? items : value
  }
  let isChanged = false
  const members = Object.entries(value).map(([name, member]) => {
    const [goodName, goodMember] = [name.toWellFormed(), wellFormed(member)]
    isChanged ||= goodName !== name || goodMember !== member
    return [goodName, goodMember] as const
  })
  return isChanged ? Object.fromEntries(members) : value
}
