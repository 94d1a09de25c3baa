import { isJsonObject, type JsonObject, type JsonValue } from '../../../../common/json/json.js'
import { isJsonType } from '../document/media-types.js'
import type { Body, FormMember, Serialization } from '../operation.js'
import { encodePairs, encodeStrict, type Pair, textOf } from './encode-value.js'
import { InvalidRequestError } from './invalid-request.js'
import { encodeMultipart, type Part } from './multipart.js'

export interface EncodedBody {
  readonly body: Uint8Array
  readonly contentType: string
}

/** @throws InvalidRequestError for a value that has no form in the media type */
export function encodeBody(body: Body, value: JsonValue): EncodedBody {
  const { contentType } = body
  switch (body.kind) {
    case 'json':
      return { body: Buffer.from(JSON.stringify(value)), contentType }
    case 'text':
      return { body: Buffer.from(textOf(value)), contentType }
    case 'binary':
      return { body: fromBase64('body', value), contentType }
    case 'form':
      return { body: Buffer.from(encodeForm(requireObject(value), body.members)), contentType }
    case 'multipart':
      return encodeMultipart(
        Object.entries(requireObject(value)).flatMap(([name, part]) => partsOf(name, part, body.members.get(name))),
      )
  }
}

function requireObject(value: JsonValue): JsonObject {
  if (isJsonObject(value)) return value
  throw new InvalidRequestError('the body of a form must be an object')
}

const plainForm: Serialization = { style: 'form', explode: true, allowReserved: false }

function encodeForm(value: JsonObject, members: ReadonlyMap<string, FormMember>): string {
  return Object.entries(value)
    .flatMap(([name, part]): readonly Pair[] => {
      const member = members.get(name)
      if (member?.serialization) return encodePairs(name, part, member.serialization)
      if (part === null) return []
      if (isJsonType(member?.contentType ?? '')) return [[encodeStrict(name), encodeStrict(JSON.stringify(part))]]
      // By the standard, an object is JSON, and a list is sent element by element.
      const parts = Array.isArray(part) ? (part as readonly JsonValue[]) : [part]
      return parts.flatMap((each) => encodePairs(name, typeof each === 'object' ? textOf(each) : each, plainForm))
    })
    .map(([name, text]) => `${name}=${text}`.replaceAll('%20', '+'))
    .join('&')
}

function partsOf(name: string, value: JsonValue, member: FormMember | undefined): readonly Part[] {
  if (value === null) return []
  const { contentType, isBinary = false } = member ?? {}
  const isWhole = contentType !== undefined && isJsonType(contentType)
  if (Array.isArray(value) && !isWhole)
    return (value as readonly JsonValue[]).flatMap((each) => partOf(name, each, contentType, isBinary))
  return [partOf(name, value, contentType, isBinary)]
}

function partOf(name: string, value: JsonValue, contentType: string | undefined, isBinary: boolean): Part {
  if (isBinary) {
    const content = fromBase64(name, value)
    return { name, content, contentType: contentType ?? 'application/octet-stream', fileName: name }
  }
  const isStructured = typeof value === 'object' && value !== null
  const type = contentType ?? (isStructured ? 'application/json' : undefined)
  const isJson = isStructured || (type !== undefined && isJsonType(type))
  const content = Buffer.from(isJson ? JSON.stringify(value) : textOf(value))
  return { name, content, ...(type !== undefined && { contentType: type }) }
}

function fromBase64(name: string, value: JsonValue): Uint8Array {
  const text = typeof value === 'string' ? value.replaceAll(/\s/g, '') : undefined
  if (text !== undefined && /^[A-Za-z0-9+/_-]*={0,2}$/.test(text) && text.replace(/=+$/, '').length % 4 !== 1)
    return Buffer.from(text, 'base64')
  throw new InvalidRequestError(`${name} must be bytes in Base64`)
}
