import type { IncomingMessage } from 'node:http'
import type { JsonObject } from '../../common/json/json.js'
import { chooseTurn } from './script/choose-turn.js'
import { conversationState } from './script/conversation-state.js'
import { streamEvents } from './response/event-stream.js'
import { faultsForAttempt } from './script/faults.js'
import { checkBetas, checkHeaders, type ApiVersion } from './request/check-headers.js'
import { messageBody } from './response/message-body.js'
import type { PromptCache } from './request/prompt-cache.js'
import { parseAs, parseJson, readBody } from './request/read-request.js'
import { ApiError } from './request/api-error.js'
import { buildReply, type Reply } from './response/build-reply.js'
import type { RecordedRequest, RequestLog, RequestOutcome } from './request-log.js'
import { checkCodeCalls } from './request/check-code-calls.js'
import { checkOutputLimits, checkPrompt, type ModelLimits } from './request/check-request.js'
import type { PromptRequest, requestSchema } from './request/request-schema.js'
import { errorResponse, planResponse, type ResponseStep } from './response/plan-response.js'
import type { ScriptedConversation } from './script/script.js'
import { countTokens } from './request/token-count.js'

/** The configuration and state of a server. */
interface RequestContext {
  readonly script: readonly ScriptedConversation[]
  readonly apiKey: string | undefined
  readonly models: readonly string[] | undefined
  readonly limits: ModelLimits
  readonly schemas: ReturnType<typeof requestSchema>
  readonly cache: PromptCache
  /** Expiry of each container of a reply, in milliseconds since the epoch. */
  readonly containers: Map<string, number>
  readonly log: RequestLog
}

interface PlannedResponse {
  readonly steps: readonly ResponseStep[]
  /** Outcome of the request after the last step. */
  readonly outcome: RequestOutcome
}

/** Checks and records a request, and plans the response. */
export async function handleRequest(
  context: RequestContext,
  request: IncomingMessage,
  entry: RecordedRequest,
): Promise<PlannedResponse> {
  try {
    const { body, version } = await readAndCheckRequest(context, request, entry)
    return route(entry.path) === 'messages'
      ? messagesResponse(context, body, version, entry)
      : countTokensResponse(context, body, version, entry)
  } catch (thrown) {
    if (!(thrown instanceof ApiError)) throw thrown
    const { type, message, status } = thrown
    context.log.update(entry, { error: { type, message } })
    return { steps: errorResponse({ status, error: { type, message } }, entry.requestId), outcome: 'rejected' }
  }
}

interface ReceivedRequest {
  readonly body: unknown
  readonly version: ApiVersion
}

async function readAndCheckRequest(
  context: RequestContext,
  request: IncomingMessage,
  entry: RecordedRequest,
): Promise<ReceivedRequest> {
  // Reads the body first: a client that is still sending does not see an early response.
  const text = await readBody(request)
  context.log.update(entry, { body: text })
  if (route(entry.path) === undefined) throw new ApiError('not_found_error', 'Not found')
  if (request.method !== 'POST') throw new ApiError('invalid_request_error', 'Method Not Allowed', 405)
  const version = checkHeaders(request.headers, context.apiKey)
  const body = parseJson(text)
  context.log.update(entry, { body })
  return { body, version }
}

const routes: Readonly<Record<string, 'messages' | 'count_tokens'>> = {
  '/v1/messages': 'messages',
  '/v1/messages/count_tokens': 'count_tokens',
}

function route(path: string): 'messages' | 'count_tokens' | undefined {
  return routes[path.replace(/\?.*/s, '')]
}

function countTokensResponse(
  context: RequestContext,
  body: unknown,
  version: ApiVersion,
  { requestId, headers }: RecordedRequest,
): PlannedResponse {
  const request = parseAs(context.schemas.countTokens, body)
  checkBetas(headers, request)
  checkPromptAndModel(context, request, version)
  const text = JSON.stringify({ input_tokens: countTokens(request) })
  return {
    steps: planResponse({ requestId, ...jsonBody(text), msPerChunk: 0 }, []),
    outcome: 'answered',
  }
}

function messagesResponse(
  context: RequestContext,
  body: unknown,
  version: ApiVersion,
  entry: RecordedRequest,
): PlannedResponse {
  const request = parseAs(context.schemas.messages[version], body)
  checkBetas(entry.headers, request)
  checkPromptAndModel(context, request, version)
  checkOutputLimits(request, context.limits)
  checkCodeCalls(request, (container) => context.containers.get(container))
  const state = conversationState(request)
  const { assistantMessages, key: conversation } = state
  const attempt = context.log.nextAttempt(conversation)
  context.log.update(entry, { conversation, assistantMessages, attempt })
  const turn = chooseTurn(context.script, state)
  const faults = faultsForAttempt(turn.faults ?? [], attempt)
  const failed = faults.some(({ type }) => type === 'status' || type === 'close')
  // A request that did not reach the model adds nothing to the cache.
  const input = failed ? { uncached: 0, cacheRead: 0, written5m: 0, written1h: 0 } : context.cache.use(request)
  const reply = buildReply(turn.reply, request, state, input)
  rememberContainer(context.containers, reply)
  const content = request.stream === true ? streamBody(streamEvents(reply)) : jsonBody(messageBody(reply))
  const { requestId } = entry
  return {
    steps: planResponse({ requestId, ...content, msPerChunk: turn.msPerChunk ?? 0 }, faults),
    outcome: faults.some(({ type }) => type !== 'delay') ? 'faulted' : 'answered',
  }
}

function rememberContainer(containers: Map<string, number>, { container }: Reply): void {
  const { id, expires_at: expiresAt } = (container ?? {}) as JsonObject
  if (typeof id === 'string' && typeof expiresAt === 'string') containers.set(id, Date.parse(expiresAt))
}

function checkPromptAndModel({ limits, models }: RequestContext, request: PromptRequest, version: ApiVersion): void {
  if (models !== undefined && !models.includes(request.model)) {
    throw new ApiError('not_found_error', `model: ${request.model}`)
  }
  checkPrompt(request, version, limits)
}

function jsonBody(text: string) {
  return { contentType: 'application/json', events: [{ name: 'body', block: null, text }] }
}

function streamBody(events: ReturnType<typeof streamEvents>) {
  return { contentType: 'text/event-stream; charset=utf-8', events }
}
