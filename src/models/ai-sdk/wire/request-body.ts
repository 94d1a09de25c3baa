import { PtcError } from '../../../common/errors.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../common/json/json.js'
import type { ModelRequest } from '../../provider.js'
import type { Dialect } from './dialect.js'

/** The APIs whose requests and streams differ between servers, or have more than the AI SDK sends. */
export type Api = 'chat' | 'responses' | 'google'

const paths: Readonly<Record<Api, RegExp>> = {
  chat: /\/chat\/completions$/,
  responses: /\/responses$/,
  google: /:streamGenerateContent$/,
}

/** The API at a path; undefined for others, whose requests and streams are left as they are. */
export function apiAt(path: string): Api | undefined {
  return (Object.keys(paths) as Api[]).find((api) => paths[api].test(path))
}

type Asked = Pick<ModelRequest, 'toolChoice' | 'serverTools' | 'thinking' | 'effort' | 'stopSequences'>

/**
 * The body of a request to a vendor, with what the packages of the AI SDK have no option for.
 *
 * @throws PtcError MODEL_BAD_REQUEST for an option that the API does not have
 */
export function toBody(api: Api | undefined, body: JsonObject, request: Asked, dialect: Dialect): JsonObject {
  const { serverTools = [] } = request
  if (serverTools.length > 0 && api === undefined)
    throw new PtcError('MODEL_BAD_REQUEST', 'the API of this model takes no server tools', {
      hint: 'Leave `serverTools` of this provider out.',
    })
  // The configuration has server tools in the form of the API.
  const sent = serverTools.length > 0 ? { ...body, tools: [...listOf(body['tools']), ...serverTools] } : body
  if (api === 'chat') return toChatBody(sent, request, dialect)
  return api === 'responses' ? toResponsesBody(sent, request, dialect) : sent
}

function toChatBody(body: JsonObject, request: Asked, dialect: Dialect): JsonObject {
  const { max_tokens: limit, max_completion_tokens: otherLimit, stream_options: options, ...rest } = body
  const named = otherLimit === undefined ? 'max_tokens' : 'max_completion_tokens'
  const effort = effortOf(request)
  return {
    ...rest,
    [dialect.tokenLimit ?? named]: limit ?? otherLimit ?? null,
    ...(dialect.includesUsage && options !== undefined && { stream_options: options }),
    ...(effort && { reasoning_effort: effort }),
    ...oneCall(body, request),
  }
}

function toResponsesBody(body: JsonObject, request: Asked, { includesReasoning }: Dialect): JsonObject {
  if (request.stopSequences && request.stopSequences.length > 0)
    throw new PtcError('MODEL_BAD_REQUEST', 'the responses API has no stop sequences', {
      hint: "Leave them out, or give the provider `api: 'chat'`.",
    })
  const { tools, include, reasoning, ...rest } = body
  const included = listOf(include).filter((name) => name !== encryptedReasoning)
  const all = includesReasoning ? [...included, encryptedReasoning] : included
  const effort = effortOf(request)
  return {
    ...rest,
    ...(all.length > 0 && { include: all }),
    ...((effort || reasoning) && {
      reasoning: { ...(isJsonObject(reasoning) && reasoning), ...(effort && { effort }) },
    }),
    // A strict schema must require each property.
    ...(tools !== undefined && {
      tools: listOf(tools).map((tool) =>
        isJsonObject(tool) && tool['type'] === 'function' ? { ...tool, strict: false } : tool,
      ),
    }),
    ...oneCall(body, request),
  }
}

/** The part of a body for the responses API that counts as input. */
export function countedPart(body: JsonObject): JsonObject {
  const counted = ['model', 'input', 'instructions', 'tools', 'reasoning']
  return Object.fromEntries(Object.entries(body).filter(([name]) => counted.includes(name)))
}

const encryptedReasoning = 'reasoning.encrypted_content'

/** Models of OpenAI decide themselves how much they think: their API has no number of thinking tokens. */
function effortOf({ thinking, effort }: Asked): string | undefined {
  return thinking === 'off' ? 'none' : effort
}

function oneCall({ tools }: JsonObject, { toolChoice }: Asked): JsonObject {
  return tools !== undefined && toolChoice?.isSingle ? { parallel_tool_calls: false } : {}
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : []
}
