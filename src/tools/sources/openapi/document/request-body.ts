import { isJsonObject, type JsonObject, type JsonValue } from '../../../../common/json/json.js'
import type { Body, FormMember, Serialization } from '../operation.js'
import { isJsonType, plainType } from './media-types.js'
import type { References } from './references.js'

/** A body with its schema, as the document has it. */
export interface ReadBody {
  readonly body: Body
  readonly schema: JsonValue
  readonly isRequired: boolean
  readonly description: string | undefined
}

const formStyles = ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'] as const

const formType = 'application/x-www-form-urlencoded'

/** Media types that can be sent, in the order of preference. */
const kinds: readonly (readonly [Body['kind'], (type: string) => boolean])[] = [
  ['json', (type) => isJsonType(type) || type === '*/*'],
  ['form', (type) => type === formType],
  ['multipart', (type) => type === 'multipart/form-data'],
  ['text', (type) => type.startsWith('text/') && !type.includes('*')],
  ['binary', (type) => type === 'application/octet-stream' || /^(?:image|audio|video)\/[^*]+$/.test(type)],
]

/** @throws Error for a body of which no media type can be sent */
export function readBody(value: JsonValue | undefined, references: References): ReadBody | undefined {
  const declared = references.object(value)
  if (declared === undefined) return undefined
  const { content, required, description } = declared
  const types = Object.entries(isJsonObject(content) ? content : {})
  if (types.length === 0) return undefined
  for (const [kind, isKind] of kinds) {
    const [mediaType, media] = types.find(([type]) => isKind(plainType(type))) ?? []
    if (mediaType === undefined) continue
    const { schema = {}, encoding }: JsonObject = isJsonObject(media) ? media : {}
    const contentType = mediaType === '*/*' ? 'application/json' : mediaType
    const body: Body =
      kind === 'form' || kind === 'multipart'
        ? { kind, contentType, members: membersOf(schema, encoding, references) }
        : { kind, contentType }
    return {
      body,
      schema: kind === 'binary' ? base64Schema(schema) : kind === 'text' ? { type: 'string' } : schema,
      isRequired: required === true,
      description: typeof description === 'string' ? description : undefined,
    }
  }
  const listed = types.map(([type]) => type.slice(0, 100)).join(', ')
  throw new Error(`its body has only media types that can't be sent: ${listed}`)
}

/** Adds the form of binary members to a schema of a form. */
export function withBase64(
  schema: JsonObject | boolean,
  members: ReadonlyMap<string, FormMember>,
): JsonObject | boolean {
  if (typeof schema === 'boolean' || !isJsonObject(schema['properties'])) return schema
  const properties = Object.entries(schema['properties']).map(([name, part]): [string, JsonValue] => {
    if (members.get(name)?.isBinary !== true || !isJsonObject(part)) return [name, part]
    const isList = part['type'] === 'array'
    return [name, isList ? { ...part, items: base64Schema(part['items'] ?? {}) } : base64Schema(part)]
  })
  return { ...schema, properties: Object.fromEntries(properties) }
}

function base64Schema(schema: JsonValue): JsonObject {
  const { description }: JsonObject = isJsonObject(schema) ? schema : {}
  const text = [typeof description === 'string' ? description.trim() : '', 'In Base64.'].filter(Boolean).join(' ')
  return { type: 'string', contentEncoding: 'base64', description: text }
}

function membersOf(
  schema: JsonValue,
  encodings: JsonValue | undefined,
  references: References,
): ReadonlyMap<string, FormMember> {
  const names = new Map<string, JsonValue>()
  collectProperties(schema, references, names, new Set())
  for (const name of Object.keys(isJsonObject(encodings) ? encodings : {})) if (!names.has(name)) names.set(name, {})
  return new Map(
    [...names].map(([name, part]) => {
      const encoding = isJsonObject(encodings) && isJsonObject(encodings[name]) ? encodings[name] : {}
      return [name, memberOf(encoding, references.object(part) ?? {}, references)] as const
    }),
  )
}

function collectProperties(
  value: JsonValue,
  references: References,
  names: Map<string, JsonValue>,
  visited: Set<JsonObject>,
): void {
  const schema = references.object(value)
  if (schema === undefined || visited.has(schema)) return
  visited.add(schema)
  const { properties, allOf } = schema
  for (const [name, part] of Object.entries(isJsonObject(properties) ? properties : {})) names.set(name, part)
  for (const part of Array.isArray(allOf) ? allOf : []) collectProperties(part, references, names, visited)
}

function memberOf(encoding: JsonObject, schema: JsonObject, references: References): FormMember {
  const { style, explode, allowReserved, contentType } = encoding
  const isStyled = [style, explode, allowReserved].some((each) => each !== undefined)
  const used = formStyles.find((each) => each === style) ?? 'form'
  const serialization: Serialization = {
    style: used,
    explode: typeof explode === 'boolean' ? explode : used === 'form' || used === 'deepObject',
    allowReserved: allowReserved === true,
  }
  const item = references.object(schema['items']) ?? {}
  const type = typeof contentType === 'string' ? (contentType.split(',')[0] ?? '').trim() : undefined
  return {
    ...(isStyled && { serialization }),
    ...(type !== undefined && !type.includes('*') && { contentType: type }),
    isBinary: isBinary(schema, type) || isBinary(item, type),
  }
}

/** Bytes of a file: in 3.0 by format, from 3.1 by a content type of the schema or of the member. */
function isBinary({ type, format, contentMediaType, contentEncoding }: JsonObject, memberType?: string): boolean {
  if (format === 'binary') return true
  if ((type !== undefined && type !== 'string') || contentEncoding !== undefined) return false
  const media = typeof contentMediaType === 'string' ? contentMediaType : memberType
  return media !== undefined && !isJsonType(media) && !/^text\/|xml/.test(plainType(media))
}
