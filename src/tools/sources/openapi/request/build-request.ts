import type { JsonValue } from '../../../../common/json/json.js'
import { acceptedEncodings } from '../../../network/read-response.js'
import { type Arguments, bodyArgument, type Operation, type Parameter } from '../operation.js'
import type { GivenParts } from './credentials.js'
import { encodeBody } from './encode-body.js'
import { checkUrl, encodePath } from './encode-path.js'
import { encodePairs, encodeText, type Pair } from './encode-value.js'
import { InvalidRequestError } from './invalid-request.js'

export interface BuiltRequest {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | undefined
}

/** @throws InvalidRequestError for arguments that can't be sent */
export function buildRequest(operation: Operation, args: Arguments, given: GivenParts): BuiltRequest {
  const { method, path, query: ownQuery, parameters, body, baseUrl } = operation
  const at = (location: Parameter['location']) => parameters.filter((parameter) => parameter.location === location)
  const pairsAt = (location: 'query' | 'cookie'): readonly Pair[] =>
    at(location).flatMap((parameter) => pairsOf(parameter, args[parameter.argument]))
  const encodedPath = encodePath(path, at('path'), args)
  const query = [ownQuery, joinPairs([...pairsAt('query'), ...given.query], '&')]
    .filter((part) => part !== '')
    .join('&')
  const url = new URL(`${baseUrl}${encodedPath}`)
  checkUrl(url, baseUrl, encodedPath)
  // The standard of URLs changes some characters, such as an apostrophe. All of them are encoded already.
  url.search = query
  const cookies = joinPairs([...pairsAt('cookie'), ...given.cookies], '; ')
  const own = at('header').flatMap((parameter) => headerOf(parameter, args[parameter.argument]))
  const value = body && args[bodyArgument]
  const encoded = body && value !== undefined ? encodeBody(body, value) : undefined
  const headers = {
    accept: 'application/json, */*;q=0.5',
    'accept-encoding': acceptedEncodings,
    'user-agent': 'durable-ptc',
    ...Object.fromEntries(own),
    ...(encoded && { 'content-type': encoded.contentType }),
    ...(cookies !== '' && { cookie: cookies }),
    // What the configuration says comes last.
    ...given.headers,
  }
  for (const [name, text] of Object.entries(headers)) checkHeader(name, text)
  const isWithoutBody = method === 'get' || method === 'head' || method === 'options'
  const bytes = encoded?.body ?? (isWithoutBody ? undefined : new Uint8Array())
  return { method: method.toUpperCase(), url, headers, body: bytes }
}

function pairsOf({ name, serialization }: Parameter, value: JsonValue | undefined): readonly Pair[] {
  if (value === undefined || value === null) return []
  if (serialization !== 'json') return encodePairs(name, value, serialization)
  return encodePairs(name, JSON.stringify(value), { style: 'form', explode: true, allowReserved: false })
}

function headerOf({ name, serialization }: Parameter, value: JsonValue | undefined): readonly Pair[] {
  if (value === undefined || value === null) return []
  const text = serialization === 'json' ? JSON.stringify(value) : encodeText(name, value, serialization, (part) => part)
  return [[name.toLowerCase(), text]]
}

function joinPairs(pairs: readonly Pair[], separator: string): string {
  return pairs.map(([name, value]) => `${name}=${value}`).join(separator)
}

/** A line break would begin another header. */
function checkHeader(name: string, text: string): void {
  const isPlain = Array.from(text).every(
    (character) => character === '\t' || (character >= ' ' && character <= '\u00FF' && character !== '\u007F'),
  )
  if (!isPlain) throw new InvalidRequestError(`header ${name} has a character that headers may not have`)
}
