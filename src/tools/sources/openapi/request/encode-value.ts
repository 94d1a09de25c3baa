import { isJsonObject, type JsonValue } from '../../../../common/json/json.js'
import type { Serialization } from '../operation.js'
import { InvalidRequestError } from './invalid-request.js'

/** A member of a query, a cookie or a form, with its name and value as they are sent. */
export type Pair = readonly [name: string, value: string]

type Encode = (text: string) => string

/** Percent-encoding of everything that may have a meaning. */
export function encodeStrict(text: string): string {
  try {
    return encodeURIComponent(text).replaceAll(
      /[!'()*]/g,
      (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
    )
  } catch {
    throw new InvalidRequestError('a text has half of a surrogate pair')
  }
}

/** Keeps reserved characters, except those that would end a member of a query. */
function encodeReserved(text: string): string {
  return encodeStrict(text).replaceAll(/%(?:21|24|27|28|29|2A|2C|2F|3A|3B|3F|40)/g, (code) => decodeURIComponent(code))
}

/**
 * The value of a parameter in a path, or of a header, by its style.
 *
 * @param encode for the parts of the value; delimiters stay
 */
export function encodeText(
  name: string,
  value: JsonValue,
  { style, explode }: Serialization,
  encode: Encode = encodeStrict,
): string {
  const [prefix, separator] = style === 'label' ? ['.', '.'] : style === 'matrix' ? [';', ';'] : ['', ',']
  const isMatrix = style === 'matrix'
  const named = (text: string): string => (text === '' ? encode(name) : `${encode(name)}=${text}`)
  if (Array.isArray(value)) {
    const items = (value as readonly JsonValue[]).map((item) => encode(textOf(item)))
    if (isMatrix) return explode ? items.map((item) => `;${named(item)}`).join('') : `;${named(items.join(','))}`
    return `${prefix}${items.join(explode ? separator : ',')}`
  }
  if (isJsonObject(value)) {
    const members = Object.entries(value).map(([key, item]) => [encode(key), encode(textOf(item))] as const)
    if (explode) return `${prefix}${members.map(([key, item]) => `${key}=${item}`).join(separator)}`
    const flat = members.flat().join(',')
    return isMatrix ? `;${named(flat)}` : `${prefix}${flat}`
  }
  const text = encode(textOf(value))
  return isMatrix ? `;${named(text)}` : `${prefix}${text}`
}

const delimiters = { form: ',', spaceDelimited: '%20', pipeDelimited: '%7C' } as const

/** The members of a query, a cookie or a form that a value becomes. */
export function encodePairs(
  name: string,
  value: JsonValue,
  { style, explode, allowReserved }: Serialization,
): readonly Pair[] {
  const encode = allowReserved ? encodeReserved : encodeStrict
  if (value === null) return []
  if (style === 'deepObject') return deepPairs(name, value).map(([key, text]) => [encodeStrict(key), encode(text)])
  const own = encodeStrict(name)
  const delimiter = style === 'spaceDelimited' || style === 'pipeDelimited' ? delimiters[style] : delimiters.form
  if (Array.isArray(value)) {
    const items = (value as readonly JsonValue[]).map((item) => encode(textOf(item)))
    if (items.length === 0) return []
    return explode ? items.map((item): Pair => [own, item]) : [[own, items.join(delimiter)]]
  }
  if (!isJsonObject(value)) return [[own, encode(textOf(value))]]
  const members = Object.entries(value).filter(([, item]) => item !== null)
  if (members.length === 0) return []
  if (explode) return members.map(([key, item]): Pair => [encodeStrict(key), encode(textOf(item))])
  return [[own, members.flatMap(([key, item]) => [encodeStrict(key), encode(textOf(item))]).join(delimiter)]]
}

/** Nested values deeper than this are refused. */
const maxDepth = 20

/**
 * `filter[state]=open`. OpenAPI leaves lists open: `ids[]=1&ids[]=2`, and `items[0][price]=1` where their elements have
 * members, as most servers read them.
 */
function deepPairs(name: string, value: JsonValue, depth = 0): readonly Pair[] {
  if (depth > maxDepth) throw new InvalidRequestError(`${name.slice(0, 100)} is nested too deeply`)
  if (value === null) return []
  if (Array.isArray(value)) {
    const items = value as readonly JsonValue[]
    const isFlat = items.every((item) => typeof item !== 'object')
    return items.flatMap((item, index) => deepPairs(`${name}[${isFlat ? '' : index}]`, item, depth + 1))
  }
  if (isJsonObject(value))
    return Object.entries(value).flatMap(([key, item]) => deepPairs(`${name}[${key}]`, item, depth + 1))
  return [[name, textOf(value)]]
}

/** A value within a style is one text: an object or a list in it is sent as JSON. */
export function textOf(value: JsonValue): string {
  if (typeof value === 'string') return value
  if (value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
