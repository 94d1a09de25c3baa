/*
 * Scripted Messages API: an HTTP server that speaks Anthropic's Messages API and replies from a script.
 *
 * Owns the server, the checks of requests (`request/`), the script and its faults (`script/`), the responses
 * (`response/`) and the log of requests. Boundary: imports common only. Clients reach it by HTTP.
 *
 * Invariants:
 * 1. A reply depends only on the conversation and the script, so retries get the same bytes (except for cache usage and
 *    the expiry of a container).
 * 2. A request that the API rejects is rejected with the API's status and error type, and with its text if that is
 *    public.
 * 3. The whole response, with its faults, is planned before the first byte.
 * 4. The log of requests has no credentials.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { z } from 'zod'
import { messageOf, PtcError } from '../../common/errors.js'
import { handleRequest } from './handle-request.js'
import { identifier } from './response/identifiers.js'
import { PromptCache } from './request/prompt-cache.js'
import { RequestLog, type RecordedRequest } from './request-log.js'
import { requestSchema } from './request/request-schema.js'
import { parseScript, type Script, type ScriptedConversation } from './script/script.js'
import { sendResponse } from './response/send-response.js'

interface ScriptedMessagesApiOptions {
  readonly script: Script
  /** Default: a free port. */
  readonly port?: number
  /** Default: `127.0.0.1`. */
  readonly host?: string
  /** The accepted key. Default: any key, but a request must have one. */
  readonly apiKey?: string
  /** The accepted models. Default: any. */
  readonly models?: readonly string[]
  /** Maximum input tokens of a request. Default 200,000. */
  readonly contextTokens?: number
  /** Maximum `max_tokens`. Default 128,000. */
  readonly outputTokens?: number
  /** Minimum tokens of a cached prompt, as in the real API (where it depends on the model). Default 1,024. */
  readonly cacheMinimumTokens?: number
}

/** A running server. */
export interface ScriptedMessagesApi extends AsyncDisposable {
  /** For `ANTHROPIC_BASE_URL` or the client's `baseURL`. */
  readonly url: string
  /** All requests so far, oldest first. */
  readonly requests: readonly RecordedRequest[]
  /**
   * Returns the first past or future request that meets the condition.
   *
   * @throws the reason of the signal; default: a timeout of 30 seconds
   */
  waitForRequest(condition: (request: RecordedRequest) => boolean, signal?: AbortSignal): Promise<RecordedRequest>
  /** Closes every connection and the port. Idempotent. */
  close(): Promise<void>
}

const optionsSchema = z.strictObject({
  script: z.unknown(),
  port: z.int().min(0).max(65_535).default(0),
  host: z.string().min(1).default('127.0.0.1'),
  apiKey: z.string().min(1).optional(),
  models: z.array(z.string().min(1)).min(1).optional(),
  contextTokens: z.int().min(1).default(200_000),
  outputTokens: z.int().min(1).default(128_000),
  cacheMinimumTokens: z.int().min(0).default(1_024),
})

/**
 * Starts a server that speaks Anthropic's Messages API and replies from a script. It rejects requests that the real API
 * rejects, and fails as scripted.
 *
 * @throws PtcError CONFIG_INVALID for invalid options, an invalid script, or a port that is in use
 */
export async function startScriptedMessagesApi(options: ScriptedMessagesApiOptions): Promise<ScriptedMessagesApi> {
  const parsed = optionsSchema.safeParse(options)
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'options'}: ${message}`)
    throw new PtcError('CONFIG_INVALID', `the Messages API server's options are wrong: ${problems.join('; ')}`)
  }
  const { port, host, apiKey, models, contextTokens, outputTokens, cacheMinimumTokens } = parsed.data
  const script = parseScript(parsed.data.script)
  const log = new RequestLog()
  const closing = new AbortController()
  const context = {
    script,
    apiKey,
    models,
    limits: { contextTokens, outputTokens },
    schemas: requestSchema(blockTypesOf(script)),
    cache: new PromptCache(cacheMinimumTokens),
    containers: new Map<string, number>(),
    log,
  }
  const organization = randomUUID()
  const server = createServer((request, response) => {
    const requestId = identifier('req_011C', [organization, log.requests.length])
    const entry = log.add(requestId, request.method ?? '', request.url ?? '', request.headers)
    respond(request, response, entry).catch((error: unknown) => {
      // The client disconnected while it was sending. The error concerns this connection only.
      log.update(entry, { outcome: 'abandoned', error: { type: 'api_error', message: messageOf(error) } })
      response.destroy()
    })
  })

  async function respond(request: IncomingMessage, response: ServerResponse, entry: RecordedRequest): Promise<void> {
    const { requestId } = entry
    const disconnected = new AbortController()
    response.once('close', () => disconnected.abort())
    const signal = AbortSignal.any([disconnected.signal, closing.signal])
    const { steps, outcome } = await handleRequest(context, request, entry)
    const headers = { 'request-id': requestId, 'anthropic-organization-id': organization, 'cache-control': 'no-cache' }
    const ending = await sendResponse(response, steps, headers, signal)
    log.update(entry, { outcome: ending === 'abandoned' && outcome !== 'rejected' ? 'abandoned' : outcome })
  }

  await listen(server, port, host)
  let closed: Promise<void> | undefined
  function close(): Promise<void> {
    closed ??= shutDown(server, closing)
    return closed
  }
  return {
    url: urlOf(server),
    requests: log.requests,
    waitForRequest: (condition, signal = AbortSignal.timeout(30_000)) => log.waitFor(condition, signal),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Custom block types of a script. A conversation may send them back, as with the real API's own blocks. */
function blockTypesOf(script: readonly ScriptedConversation[]): readonly string[] {
  const blocks = script.flatMap(({ turns }) => turns.flatMap(({ reply }) => reply.content))
  const builtIn = [
    'text',
    'tool_use',
    'tool_result',
    'thinking',
    'redacted_thinking',
    'image',
    'document',
    'search_result',
  ]
  return [...new Set(blocks.map(({ type }) => type))].filter((type) => !builtIn.includes(type))
}

async function listen(server: Server, port: number, host: string): Promise<void> {
  server.listen(port, host)
  try {
    await once(server, 'listening')
  } catch (cause) {
    throw new PtcError('CONFIG_INVALID', `the Messages API server can't listen on ${host}:${port}`, {
      hint: 'Choose another port, or 0 for a free one.',
      cause,
    })
  }
}

function urlOf(server: Server): string {
  // A server that listens on a port has an AddressInfo.
  const { address, family, port } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

async function shutDown(server: Server, closing: AbortController): Promise<void> {
  closing.abort()
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}
