import type { IncomingMessage, ServerResponse } from 'node:http'
import { z } from 'zod'
import type { PtcClient } from '../client/index.js'
import { PtcError } from '../common/errors.js'
import { truncateEnd } from '../common/text/text.js'
import { attachmentLimits } from '../common/runs/attachments.js'
import { readBody } from '../http/index.js'
import { HttpError } from './errors.js'
import { parseJson } from './parse-json.js'

/** A request, for its handler. */
export interface Exchange {
  readonly ptc: PtcClient
  /** The names of the models that the configuration names. */
  readonly models: readonly string[]
  /** The parts of the path that the route names, decoded. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Aborted when the client has left, or the server closes. */
  readonly signal: AbortSignal
  /** Reports what is thrown after the response has begun. */
  readonly onError: (thrown: unknown) => void
  /** Work that goes on after the response: a server that closes waits for it, for a while. */
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

/** More than the text of a message may have, and than arguments of an approval. */
const maxTextBytes = 2 * 1024 * 1024

/** For the attachments of a message, which are base64, besides its text. */
export const maxMessageBytes = maxTextBytes + Math.ceil((attachmentLimits.totalBytes * 4) / 3)

/**
 * The body of a request. Without a body: `{}`.
 *
 * @throws PtcError RUN_INPUT_INVALID; HttpError BODY_TOO_LARGE
 */
export async function readJson<Schema extends z.ZodType>(
  { request }: Pick<Exchange, 'request'>,
  schema: Schema,
  maxBytes = maxTextBytes,
): Promise<z.output<Schema>> {
  const text = await readBody(request, maxBytes)
  if (text === undefined) throw new HttpError('BODY_TOO_LARGE', `a body has at most ${maxBytes} bytes`)
  const { error, data } = schema.safeParse(parseJson(text === '' ? '{}' : text))
  if (error) throw new PtcError('RUN_INPUT_INVALID', `the body is not valid:\n${describeIssues(error)}`)
  return data
}

const maxIssues = 20
const maxErrorCharacters = 2_000

/** The first issues: a body may have millions, with names that are as long as the body. */
function describeIssues({ issues }: z.ZodError): string {
  const shown = z.prettifyError(new z.ZodError(issues.slice(0, maxIssues)))
  const more = issues.length > maxIssues ? `\n… and ${issues.length - maxIssues} more` : ''
  return truncateEnd(shown, maxErrorCharacters) + more
}
