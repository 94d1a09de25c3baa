import type { Client } from '@modelcontextprotocol/client'
import type { Effect } from '../../../common/calls/calls.js'
import type { CallAnswers } from '../../../common/calls/questions.js'
import type { Sample } from '../../../common/calls/sampling.js'
import { messageOf } from '../../../common/errors.js'
import type { JsonObject, JsonValue } from '../../../common/json/json.js'
import { type AskingToolContext, InputRequiredError } from '../../input-required-error.js'
import type { ToolRunContext } from '../../calls/run-tool.js'
import { ToolError } from '../../tool-error.js'
import {
  asComplete,
  type ConnectionAccess,
  type SendCall,
  type SendRequest,
} from './interaction/interactive-connection.js'
import type { McpRequest, McpToolDefinition } from './list-definitions.js'
import { NotAuthorizedError } from './oauth/authorization.js'
import { sendRequest } from './requests.js'
import { resultOf, toModelText } from './result.js'
import { type ServerConnection, ServerUnavailableError } from './server-connection.js'

/** A member of `_meta` of each call: the same in every attempt. */
const idempotencyKeyMember = 'durable-ptc/idempotencyKey'

/** A member of `_meta` with which a server of the protocol of 2026 logs what it does for the request. */
const logLevelMember = 'io.modelcontextprotocol/logLevel'

interface CalledTool {
  readonly connection: ServerConnection
  readonly definition: McpToolDefinition
  readonly effect: Effect
  readonly verify: Verify
}

/** Refuses a call of a definition that the server no longer has. */
export type Verify = (definition: McpToolDefinition, signal: AbortSignal) => Promise<void>

/** `addImage`: the result is for a model that sees images. */
type McpToolContext = AskingToolContext & Pick<ToolRunContext, 'addImage'>

type CallOptions = NonNullable<Parameters<Client['callTool']>[1]> & { readonly signal: AbortSignal }

/**
 * Sends a call to its server, once.
 *
 * @throws InputRequiredError when the server asks people a question
 * @throws ToolError when the server did not execute the call, or says that it failed; any other error when the outcome
 *   is not known; the reason of the signal
 */
export async function callTool(
  { connection, definition, effect, verify }: CalledTool,
  input: JsonObject,
  { signal, idempotencyKey, milestone, heartbeat, answers = noAnswers, sample, addImage }: McpToolContext,
): Promise<JsonValue> {
  const { name, outputSchema, request } = definition
  const params = { name, arguments: input, _meta: { [idempotencyKeyMember]: idempotencyKey, [logLevelMember]: 'info' } }
  let nextReportAt = 0
  const report = (text: string): void => {
    if (performance.now() < nextReportAt) return
    nextReportAt = performance.now() + reportMs
    heartbeat()
    milestone(connection.redact(text))
  }
  const options: CallOptions = {
    signal,
    timeout: noTimeoutMs,
    // A request for progress makes servers report it.
    onprogress: ({ progress, total, message }) =>
      report(message ?? (total === undefined ? `${progress}` : `${progress} of ${total}`)),
  }
  try {
    const { asking } = connection
    const access: ConnectionAccess = {
      signal,
      connect: (limited) => connection.client(limited),
      close: (client) => connection.forget(client),
    }
    const requestOf =
      (sent: McpRequest): SendRequest<JsonValue> =>
      (client, onClient) =>
        send({ connection, signal, report }, client, (connected) => {
          onClient(connected)
          return sendRequest(connected, sent, input, options)
        })
    const call: SendCall = (client, more, limited, onClient) =>
      send({ connection, signal: limited, report }, client, async (connected) => {
        onClient(connected)
        await verify(definition, limited)
        const asked = { ...options, signal: limited, ...(asking && { allowInputRequired: true as const }) }
        return connected.callTool({ ...params, ...more }, asked)
      })
    // No credential of the server enters a prompt.
    const redacted: Sample | undefined =
      sample && ((request, limited) => sample(connection.redactAll(request), limited))
    const direct = async () => connection.client(signal)
    if (request !== undefined) {
      const sent = requestOf(request)
      const answered = connection.redactTokens(
        await (asking ? asking.request(access, sent) : sent(await direct(), ignore)),
      )
      return addImage && isBlocks(answered) ? toModelText(answered, addImage) : answered
    }
    const result = asking
      ? await asking.call({ ...access, answers, sample: redacted, send: call })
      : asComplete(await call(await direct(), {}, signal, ignore))
    const returned = connection.redactTokens(result)
    const value = resultOf(returned, outputSchema !== undefined)
    if (!addImage) return value
    const text = toModelText(returned.content as unknown as readonly JsonObject[], addImage)
    // Structured content is checked by its schema, and has its text and its images beside it.
    return outputSchema === undefined ? text : value
  } catch (thrown) {
    signal.throwIfAborted()
    if (thrown instanceof InputRequiredError) throw new InputRequiredError(connection.redactTokens(thrown.questions))
    if (ToolError.isInstance(thrown)) throw thrown
    if (codeOf(thrown) === unsupportedResult)
      throw new ToolError(request !== undefined && connection.asking ? asksForNoCall : cannotAsk, { cause: thrown })
    // Nothing was sent. A tool that may be called again is called again.
    const isRefused =
      isRefusal(thrown) ||
      isNotAuthorized(thrown) ||
      (request !== undefined && codeOf(thrown) === unknownResource) ||
      (thrown instanceof ServerUnavailableError && effect === 'once')
    const messages = messagesOf(thrown)
    const isClean = connection.redact(messages) === messages
    const message = connection.redact(messageOf(thrown))
    // The history has the messages of causes, too.
    if (isRefused) throw new ToolError(message, isClean ? { cause: thrown } : {})
    throw isClean ? thrown : new Error(message)
  }
}

/** The code of the SDK for a server that asks although the client says that nobody can be asked. */
const unsupportedResult = 'UNSUPPORTED_RESULT_TYPE'
const cannotAsk = 'the server asks people or a model, which the configuration does not allow'
const asksForNoCall = 'the server asks people or a model about a request that is no call of a tool'

/** Whether the answer to a request has content of any type. The schema of lists and prompts has objects. */
function isBlocks(answered: JsonValue): answered is readonly JsonObject[] & JsonValue {
  return Array.isArray(answered)
}

const ignore = (): void => undefined

const noAnswers: CallAnswers = { answered: [] }

/** Milliseconds between two reports: a server may report its progress without a pause. */
const reportMs = 200

/** The longest timer of Node. The timeout of the tool, by the signal, is shorter. */
const noTimeoutMs = 2 ** 31 - 1

interface Sending {
  readonly connection: ServerConnection
  readonly signal: AbortSignal
  /** Reads what the server logs meanwhile. */
  readonly report: (line: string) => void
}

async function send<Result>(
  { connection, signal, report }: Sending,
  client: Client,
  request: (client: Client) => Promise<Result>,
): Promise<Result> {
  try {
    return await connection.use(client, request, report)
  } catch (thrown) {
    if (codeOf(thrown) === 'CONNECTION_CLOSED') throw connection.endReason
    if (!isUnknownSession(thrown) || signal.aborted) throw thrown
    // A server that was restarted has not executed the call.
    await connection.forget(client)
    return connection.use(await connection.client(signal), request, report)
  }
}

/** Whether a server answered HTTP status 404, with which it ends a session. */
function isUnknownSession(thrown: unknown): boolean {
  return thrown instanceof Error && 'status' in thrown && thrown.status === 404
}

/** Whether the server did not let the request in, and so did not execute it. */
function isNotAuthorized(thrown: unknown): boolean {
  if (thrown instanceof ServerUnavailableError) return isNotAuthorized(thrown.cause)
  return (
    thrown instanceof NotAuthorizedError || (thrown instanceof Error && 'status' in thrown && thrown.status === 401)
  )
}

/** The code of older protocols for a resource that the server does not have. */
const unknownResource = -32_002

/** Whether an error of JSON-RPC says that the server has not executed the call. */
function isRefusal(thrown: unknown): boolean {
  return [-32_600, -32_601, -32_602].includes(Number(codeOf(thrown)))
}

const maxCauses = 10

/** The messages of an error and of its causes. */
function messagesOf(thrown: unknown, depth = 0): string {
  if (!(thrown instanceof Error) || depth >= maxCauses) return messageOf(thrown)
  return `${thrown.message}\n${thrown.cause === undefined ? '' : messagesOf(thrown.cause, depth + 1)}`
}

function codeOf(thrown: unknown): unknown {
  return thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
}
