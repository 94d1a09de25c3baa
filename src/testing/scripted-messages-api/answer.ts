import type { IncomingMessage } from 'node:http'
import { chooseTurn } from './choose-turn.js'
import { conversationState } from './conversation-state.js'
import { streamEvents } from './event-stream.js'
import { faultsOf } from './fault-schema.js'
import { checkHeaders, type ApiVersion } from './headers.js'
import { messageBody } from './message-body.js'
import type { PromptCache } from './prompt-cache.js'
import { parseAs, parseJson, readBody } from './read-request.js'
import { ApiRefusal } from './refusal.js'
import { buildReply } from './reply.js'
import type { RecordedRequest, RequestLog, RequestOutcome } from './request-log.js'
import { checkOutput, checkPrompt, type ModelLimits } from './request-rules.js'
import type { PromptRequest, requestSchema } from './request-schema.js'
import { errorResponse, planResponse, type ResponseStep } from './response-plan.js'
import type { ScriptedConversation } from './script.js'
import { countTokens } from './token-count.js'

/** What a server answers from. */
export interface AnswerContext {
  readonly script: readonly ScriptedConversation[]
  readonly apiKey: string | undefined
  readonly models: readonly string[] | undefined
  readonly limits: ModelLimits
  readonly schemas: ReturnType<typeof requestSchema>
  readonly cache: PromptCache
  readonly log: RequestLog
}

export interface Answer {
  readonly steps: readonly ResponseStep[]
  /** What the request counts as once the steps are done. */
  readonly outcome: RequestOutcome
}

/** Decides what a request is answered with, and records what it was. */
export async function answer(
  context: AnswerContext,
  request: IncomingMessage,
  entry: RecordedRequest,
): Promise<Answer> {
  try {
    const { body, version } = await receive(context, request, entry)
    return route(entry.path) === 'messages' ? messages(context, body, version, entry) : count(context, body, version)
  } catch (refusal) {
    if (!(refusal instanceof ApiRefusal)) throw refusal
    const { type, message, status } = refusal
    context.log.update(entry, { error: { type, message } })
    return { steps: errorResponse({ status, error: { type, message } }, entry.requestId), outcome: 'refused' }
  }
}

interface Received {
  readonly body: unknown
  readonly version: ApiVersion
}

async function receive(context: AnswerContext, request: IncomingMessage, entry: RecordedRequest): Promise<Received> {
  // Read first: a client that is still sending does not see an early answer.
  const text = await readBody(request)
  context.log.update(entry, { body: text })
  if (route(entry.path) === undefined) throw new ApiRefusal('not_found_error', 'Not found')
  if (request.method !== 'POST') throw new ApiRefusal('invalid_request_error', 'Method Not Allowed', 405)
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

function count(context: AnswerContext, body: unknown, version: ApiVersion): Answer {
  const request = parseAs(context.schemas.countTokens, body)
  check(context, request, version)
  const text = JSON.stringify({ input_tokens: countTokens(request) })
  return {
    steps: planResponse({ requestId: '', ...jsonBody(text), msPerChunk: 0 }, []),
    outcome: 'answered',
  }
}

function messages(context: AnswerContext, body: unknown, version: ApiVersion, entry: RecordedRequest): Answer {
  const request = parseAs(context.schemas.messages[version], body)
  check(context, request, version)
  checkOutput(request, context.limits)
  const state = conversationState(request)
  const { assistantMessages, key: conversation } = state
  const attempt = context.log.nextAttempt(conversation)
  context.log.update(entry, { conversation, assistantMessages, attempt })
  const turn = chooseTurn(context.script, state)
  const faults = faultsOf(turn.faults ?? [], attempt)
  const failed = faults.some(({ type }) => type === 'status' || type === 'close')
  // A request that never got to the model leaves nothing in the cache.
  const input = failed ? { uncached: 0, cacheRead: 0, written5m: 0, written1h: 0 } : context.cache.use(request)
  const reply = buildReply(turn.reply, request, state, input)
  const content = request.stream === true ? streamBody(streamEvents(reply)) : jsonBody(messageBody(reply))
  const { requestId } = entry
  return {
    steps: planResponse({ requestId, ...content, msPerChunk: turn.msPerChunk ?? 0 }, faults),
    outcome: faults.some(({ type }) => type !== 'delay') ? 'faulted' : 'answered',
  }
}

function check({ limits, models }: AnswerContext, request: PromptRequest, version: ApiVersion): void {
  if (models !== undefined && !models.includes(request.model)) {
    throw new ApiRefusal('not_found_error', `model: ${request.model}`)
  }
  checkPrompt(request, version, limits)
}

function jsonBody(text: string) {
  return { contentType: 'application/json', events: [{ name: 'body', block: null, text }] }
}

function streamBody(events: ReturnType<typeof streamEvents>) {
  return { contentType: 'text/event-stream; charset=utf-8', events }
}
