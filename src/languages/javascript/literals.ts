import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json/json.js'
import { toPrintable } from '../shared/texts.js'

/** Whether a name may be the key of a member without quotes. Only ASCII, so that no two keys look alike. */
function isPlainKey(key: string): boolean {
  return /^[A-Za-z_$][A-Za-z0-9_$]*$/.test(key)
}

/** The key of a member. */
export function memberKey(key: string): string {
  return isPlainKey(key) ? key : JSON.stringify(key)
}

/** A JSON value as an expression on one line. */
export function javascriptLiteral(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(javascriptLiteral).join(', ')}]`
  return isJsonObject(value) ? objectLiteral(value) : JSON.stringify(value)
}

/** In brackets, because the key `__proto__` would set the prototype of the object. */
function objectLiteral(value: JsonObject): string {
  const members = Object.entries(value).map(([key, member]) => {
    const written = key === '__proto__' ? '["__proto__"]' : memberKey(key)
    return `${written}: ${javascriptLiteral(member)}`
  })
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}

/** The lines of a documentation comment: none ends the comment. */
export function commentLines(text: string): string[] {
  return escapeComment(toPrintable(text))
    .trim()
    .split('\n')
    .map((line) => line.trimEnd())
}

/** A text in which nothing ends a comment. */
export function escapeComment(text: string): string {
  return text.replaceAll('*/', '*\\/')
}
