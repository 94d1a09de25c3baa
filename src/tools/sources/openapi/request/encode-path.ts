import { encodeStrict, encodeText } from './encode-value.js'
import type { Arguments, Parameter } from '../operation.js'
import { InvalidRequestError } from './invalid-request.js'

type PathParameter = Pick<Parameter, 'argument' | 'name' | 'serialization' | 'isMultiSegment'>

/**
 * The path of a request: the template with the encoded arguments. An argument stays within its segments: it can't name
 * another operation of the API, which would be called with the same credentials.
 *
 * @throws InvalidRequestError
 */
export function encodePath(template: string, parameters: readonly PathParameter[], args: Arguments): string {
  const segments = template.split('/').map((segment) => {
    const isWhole = /^\{[^{}]+\}$/.test(segment)
    return segment
      .split(/(\{[^{}]+\})/)
      .map((part) => {
        const parameter = parameters.find(({ name }) => part === `{${name}}`)
        return parameter ? encodeArgument(parameter, args, isWhole) : encodeLiteral(part)
      })
      .join('')
  })
  const [, ...sent] = segments.join('/').split('/')
  // A single slash is the path of the whole API, and one at the end belongs to the template.
  const isRefused = (segment: string, index: number) =>
    isDots(segment) || (segment === '' && !(index === sent.length - 1 && template.endsWith('/')))
  if (sent.some(isRefused)) throw new InvalidRequestError('an argument of the path is empty, "." or ".."')
  return segments.join('/')
}

function encodeArgument(parameter: PathParameter, args: Arguments, isWhole: boolean): string {
  const { argument, name, serialization, isMultiSegment } = parameter
  const value = args[argument] ?? null
  if (value === null) throw new InvalidRequestError(`argument ${argument} of the path is missing`)
  const encode = (text: string): string => {
    if (isMultiSegment && isWhole) return text.split('/').map(encodeSegment(argument)).join('/')
    return encodeSegment(argument)(text)
  }
  return serialization === 'json' ? encode(JSON.stringify(value)) : encodeText(name, value, serialization, encode)
}

/** Servers and proxies decode a path before they choose what to do, and some decode it twice. */
function encodeSegment(argument: string): (text: string) => string {
  return (text) => {
    if (/[/\\]|%(?:2e|2f|5c)/i.test(text) || hasControl(text))
      throw new InvalidRequestError(
        `argument ${argument} must be one segment of a path: it has a slash, or a part like one`,
      )
    return encodeStrict(text)
  }
}

function hasControl(text: string): boolean {
  return Array.from(text).some((character) => character < ' ' || character === '\u007F')
}

/** Characters of a template that a path may have stay; `%` of an escape, too. */
function encodeLiteral(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9\-._~!$&'()*+,;=:@%]/gu, (character) => encodeStrict(character))
}

function isDots(segment: string): boolean {
  const plain = segment.replaceAll(/%2e/gi, '.')
  return plain === '.' || plain === '..'
}

/**
 * Compares the URL of a request with its template: the URL must be what it says, without anything that the standard of
 * URLs would resolve or drop.
 *
 * @throws InvalidRequestError
 */
export function checkUrl(url: URL, baseUrl: string, path: string): void {
  const base = new URL(baseUrl)
  const expected = `${base.pathname.replace(/\/+$/, '')}${path}`
  if (url.origin === base.origin && url.pathname === expected) return
  throw new InvalidRequestError('the arguments would change the path of the request')
}
