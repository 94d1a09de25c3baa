import { z } from 'zod'
import type { PtcClient } from '../client/index.js'
import { PtcError } from '../common/errors.js'
import { attachmentLimits } from '../common/conversation/attachments.js'
import { isJsonObject, type JsonObject } from '../common/json/json.js'
import { truncateEnd } from '../common/text/text.js'
import { HttpError, type HttpExchange, readJson } from '../http/index.js'
import { maxMessageCharacters } from './errors.js'

/** A request, its parameters and its response, for a handler. */
export interface Exchange extends HttpExchange {
  readonly ptc: PtcClient
  /** The names of the models in the configuration. */
  readonly models: readonly string[]
  /** The parts of the path that the route names, decoded. */
  readonly params: Readonly<Record<string, string>>
  /** Reports an error that is thrown after the response has begun. */
  readonly onError: (thrown: unknown) => void
  /** Registers work that continues after the response. A server that closes waits for it, up to a limit. */
  readonly waitUntil: (work: Promise<unknown>) => void
}

/** A JSON response. Without a body: 204. */
export interface Reply {
  readonly status?: number
  readonly body?: unknown
}

/** Undefined: the handler has sent the response. */
export type Handler = (exchange: Exchange) => Promise<Reply | undefined>

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT'
  /** `/conversations/:name`: a part with a colon matches any text without a slash; one with a star, also slashes. */
  readonly path: string
  readonly handler: Handler
}

/** @throws HttpError NOT_FOUND, METHOD_NOT_ALLOWED */
export function findRoute(
  routes: readonly Route[],
  method: string | undefined,
  path: string,
): Pick<Route, 'handler'> & Pick<Exchange, 'params'> {
  const matches = routes.flatMap((route) => {
    const params = matchPath(route.path, path)
    return params ? [{ ...route, params }] : []
  })
  if (matches.length === 0) throw new HttpError('NOT_FOUND', `there is no path ${path}`)
  const found = matches.find((each) => each.method === method)
  if (found) return found
  throw new HttpError('METHOD_NOT_ALLOWED', `${path} takes ${matches.map((each) => each.method).join(' and ')}`)
}

function matchPath(pattern: string, path: string): Exchange['params'] | undefined {
  const match = new RegExp(`^${pattern.replaceAll(/:(\w+)/g, '(?<$1>[^/]+)').replace(/\*(\w+)/, '(?<$1>.+)')}$`).exec(
    path,
  )
  if (!match) return undefined
  try {
    const parts = Object.entries(match.groups ?? {})
    return Object.fromEntries(parts.map(([name, part]) => [name, decodeURIComponent(part)]))
  } catch {
    return undefined
  }
}

/** More than the limits for the text of a message and for the arguments of an approval. */
const maxTextBytes = 2 * 1024 * 1024

/** The limit for the attachments of a message, in base64, and its text. */
export const maxMessageBytes = maxTextBytes + Math.ceil((attachmentLimits.totalBytes * 4) / 3)

/** Each value takes two or three of these bytes. A chat of some thousand messages and a large tool schema have fewer. */
const structuralBytes = 400_000
const depth = 200
const maxIssues = 10

/**
 * The body of a request in the form of a schema (invariant 5).
 *
 * @throws PtcError RUN_INPUT_INVALID; HttpError BODY_TOO_LARGE
 */
export async function readBody<Schema extends z.ZodType>(
  { request }: Pick<Exchange, 'request'>,
  schema: Schema,
  bytes = maxTextBytes,
): Promise<z.output<Schema>> {
  const { error, data } = schema.safeParse(await readJson(request, { bytes, structuralBytes, depth }))
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
