import type { IncomingMessage, ServerResponse } from 'node:http'
import { z } from 'zod'
import type { PtcClient } from '../client/index.js'
import { messageOf, PtcError } from '../common/errors.js'
import { attachmentLimits } from '../common/conversation/attachments.js'
import { isJsonObject, type JsonObject } from '../common/json/json.js'
import { countStructuralBytes } from '../common/json/structural-bytes.js'
import { decodeText } from '../common/text/decode-text.js'
import { truncateEnd } from '../common/text/text.js'
import { readBody } from '../http/index.js'
import { HttpError, maxMessageCharacters } from './errors.js'

/** A request, its parameters and its response, for a handler. */
export interface Exchange {
  readonly ptc: PtcClient
  /** The names of the models in the configuration. */
  readonly models: readonly string[]
  /** The parts of the path that the route names, decoded. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Aborted when the client has left, or when the server closes. */
  readonly signal: AbortSignal
  /** Reports an error that is thrown after the response has begun. */
  readonly onError: (thrown: unknown) => void
  /** Registers work that continues after the response. A server that closes waits for it, up to a limit. */
  readonly goOn: (work: Promise<unknown>) => void
}

/** A JSON response. Without a body: 204. */
export interface Reply {
  readonly status?: number
  readonly body?: unknown
}

/** Undefined: the handler has sent the response. */
export type Handler = (exchange: Exchange) => Promise<Reply | undefined>

export interface Route {
  readonly method: 'GET' | 'POST'
  /** `/conversations/:name`: a part with a colon matches any text without a slash. */
  readonly path: string
  readonly handler: Handler
}

export interface FoundRoute {
  readonly handler: Handler
  readonly params: Readonly<Record<string, string>>
}

/** @throws HttpError NOT_FOUND, METHOD_NOT_ALLOWED */
export function findRoute(routes: readonly Route[], method: string | undefined, path: string): FoundRoute {
  const matches = routes.flatMap((route) => {
    const params = matchPath(route.path, path)
    return params ? [{ ...route, params }] : []
  })
  if (matches.length === 0) throw new HttpError('NOT_FOUND', `there is nothing at ${path}`)
  const found = matches.find((each) => each.method === method)
  if (found) return found
  throw new HttpError('METHOD_NOT_ALLOWED', `${path} takes ${matches.map((each) => each.method).join(' and ')}`)
}

function matchPath(pattern: string, path: string): Readonly<Record<string, string>> | undefined {
  const names = pattern.split('/')
  const parts = path.split('/')
  if (names.length !== parts.length) return undefined
  const params: Record<string, string> = {}
  for (const [index, name] of names.entries()) {
    const part = parts[index] ?? ''
    if (!name.startsWith(':')) {
      if (name !== part) return undefined
    } else {
      const decoded = decode(part)
      if (decoded === undefined || decoded === '') return undefined
      params[name.slice(1)] = decoded
    }
  }
  return params
}

function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

/** More than the limits for the text of a message and for the arguments of an approval. */
const maxTextBytes = 2 * 1024 * 1024

/** The limit for the attachments of a message, in base64, and its text. */
export const maxMessageBytes = maxTextBytes + Math.ceil((attachmentLimits.totalBytes * 4) / 3)

/**
 * Limit of bytes of a body outside of strings. A body is checked and walked in the thread of all requests, and each
 * value takes two or three of these bytes. A message, a chat of some thousand messages and a large tool schema have
 * fewer.
 */
const maxStructuralBytes = 400_000
const maxDepth = 200
const maxIssues = 10

/**
 * The body of a request; `{}` without a body. Its size, structure and depth are limited before it is parsed, so a
 * schema gets a bounded number of values.
 *
 * @throws PtcError RUN_INPUT_INVALID; HttpError BODY_TOO_LARGE
 */
export async function readJson<Schema extends z.ZodType>(
  { request }: Pick<Exchange, 'request'>,
  schema: Schema,
  maxBytes = maxTextBytes,
): Promise<z.output<Schema>> {
  const bytes = await readBody(request, maxBytes)
  if (bytes === undefined) throw new HttpError('BODY_TOO_LARGE', `a body has at most ${maxBytes} bytes`)
  const { error, data } = schema.safeParse(bytes.length === 0 ? {} : parse(bytes))
  if (error) throw new PtcError('RUN_INPUT_INVALID', `the body is not valid:\n${describeProblems(error)}`)
  return data
}

/** A short message for a person. The schema's own message lists each wrong value and repeats each unknown key. */
export function describeProblems({ issues }: z.core.$ZodError): string {
  const shown = z.prettifyError({ issues: issues.slice(0, maxIssues) })
  const rest = issues.length > maxIssues ? `\n… and ${issues.length - maxIssues} more` : ''
  return truncateEnd(shown, maxMessageCharacters - rest.length) + rest
}

/** A parsed JSON object. The limits of the body bound its size and its depth. */
export const jsonObject = z.custom<JsonObject>(isJsonObject, 'an object is expected')

/**
 * An array whose length is checked before its elements are. The first wrong element ends the work: to describe all
 * takes far longer than to parse them.
 */
export function shortArray<Item extends z.ZodType>(item: Item, maxItems: number) {
  return z
    .array(z.unknown())
    .max(maxItems)
    .transform((values, context) => {
      const items: z.output<Item>[] = []
      for (const [index, value] of values.entries()) {
        const { error, data } = item.safeParse(value)
        if (error) {
          for (const { message, path } of error.issues)
            context.issues.push({ code: 'custom', input: value, message, path: [index, ...path] })
          return z.NEVER
        }
        items.push(data)
      }
      return items
    })
}

function parse(bytes: Buffer): unknown {
  const limit = { bytes: maxStructuralBytes, depth: maxDepth }
  countStructuralBytes(bytes, limit, (problem) => new PtcError('RUN_INPUT_INVALID', `the body ${problem}`))
  const text = decodeText(bytes, 'the body', 'RUN_INPUT_INVALID')
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new PtcError('RUN_INPUT_INVALID', `the body is not JSON: ${messageOf(cause)}`, { cause })
  }
}
