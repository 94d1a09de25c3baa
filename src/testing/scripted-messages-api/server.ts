import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { z } from 'zod'
import { messageOf, PtcError } from '../../common/errors.js'
import { answer } from './answer.js'
import { identifier } from './identifiers.js'
import { PromptCache } from './prompt-cache.js'
import { RequestLog, type RecordedRequest } from './request-log.js'
import { requestSchema } from './request-schema.js'
import { parseScript, type Script, type ScriptedConversation } from './script.js'
import { sendResponse } from './send-response.js'

export interface ScriptedMessagesApiOptions {
  readonly script: Script
  /** Default: a free one. */
  readonly port?: number
  /** Default: `127.0.0.1`. */
  readonly host?: string
  /** The only key that is accepted; default: any, but one there must be. */
  readonly apiKey?: string
  /** The only models there are; default: any. */
  readonly models?: readonly string[]
  /** Input tokens a request may have. Default 200,000. */
  readonly contextTokens?: number
  /** The highest `max_tokens`. Default 128,000. */
  readonly outputTokens?: number
  /** Prompts shorter than this are not cached, as with the real API (there it depends on the model). Default 1,024. */
  readonly cacheMinimumTokens?: number
}

/** A running server. */
export interface ScriptedMessagesApi extends AsyncDisposable {
  /** For `ANTHROPIC_BASE_URL` or the client's `baseURL`. */
  readonly url: string
  /** Everything that was asked so far, oldest first. */
  readonly requests: readonly RecordedRequest[]
  /**
   * The first request, past or future, of which the condition holds.
   *
   * @throws the signal's reason; default: a timeout of 30 seconds
   */
  waitForRequest(condition: (request: RecordedRequest) => boolean, signal?: AbortSignal): Promise<RecordedRequest>
  /** Ends every connection and frees the port. Idempotent. */
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
 * Starts a server that speaks Anthropic's Messages API and answers from a script. It refuses what the real API refuses, and
 * can be told to fail as the real one does.
 *
 * @throws PtcError CONFIG_INVALID for options or a script that are wrong, or a port that can't be had
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
    log,
  }
  const organization = randomUUID()
  const server = createServer((request, response) => {
    const requestId = identifier('req_011C', [organization, log.requests.length])
    const entry = log.add(requestId, request.method ?? '', request.url ?? '', request.headers)
    serve(request, response, entry).catch((error: unknown) => {
      // The client broke off while it was sending: whatever went wrong has to do with this one connection.
      log.update(entry, { outcome: 'abandoned', error: { type: 'api_error', message: messageOf(error) } })
      response.destroy()
    })
  })

  async function serve(request: IncomingMessage, response: ServerResponse, entry: RecordedRequest): Promise<void> {
    const { requestId } = entry
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const signal = AbortSignal.any([gone.signal, closing.signal])
    const { steps, outcome } = await answer(context, request, entry)
    const headers = { 'request-id': requestId, 'anthropic-organization-id': organization, 'cache-control': 'no-cache' }
    const ending = await sendResponse(response, steps, headers, signal)
    log.update(entry, { outcome: ending === 'abandoned' && outcome !== 'refused' ? 'abandoned' : outcome })
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

/** Types of the blocks a script sends: the real API would take its own blocks back. */
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
  // A server that listens on a port has an address of this kind.
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
