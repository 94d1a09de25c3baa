import type { Client } from '@modelcontextprotocol/client'
import type { Effect } from '../../../common/calls/calls.js'
import type { CallAnswers } from '../../../common/calls/questions.js'
import { messageOf } from '../../../common/errors.js'
import type { JsonObject, JsonValue } from '../../../common/json/json.js'
import { type AskingToolContext, InputRequiredError } from '../../input-required-error.js'
import { ToolError } from '../../tool-error.js'
import type { McpToolDefinition } from './list-definitions.js'
import { NotAuthorizedError } from './oauth/authorization.js'
import { sendRequest } from './requests.js'
import type { InteractiveConnection } from './interaction/interactive-connection.js'
import { resultOf } from './result.js'
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
  { signal, idempotencyKey, milestone, heartbeat, answers = noAnswers }: AskingToolContext,
): Promise<JsonValue> {
  const { name, outputSchema, request } = definition
  const params = { name, arguments: input, _meta: { [idempotencyKeyMember]: idempotencyKey, [logLevelMember]: 'info' } }
  let nextReportAt = 0
  const report = (text: string): void => {
    if (performance.now() < nextReportAt) return
    nextReportAt = performance.now() + reportMs
    heartbeat()
    milestone(text)
  }
  const options: CallOptions = {
    signal,
    timeout: noTimeoutMs,
    // A request for progress makes servers report it.
    onprogress: ({ progress, total, message }) =>
      report(message ?? (total === undefined ? `${progress}` : `${progress} of ${total}`)),
  }
  try {
    const sendTo = async <Result>(to: (client: Client) => Promise<Result>): Promise<Result> =>
      send(connection, await connection.client(signal), signal, to)
    const callOnce = async (client: Client) => {
      await verify(definition, signal)
      return client.callTool(params, options)
    }
    const callAsking = (asking: InteractiveConnection) =>
      asking.call({
        answers,
        signal,
        connect: (limited) => connection.client(limited),
        send: (client, more, limited) =>
          send(connection, client, limited, async (connected) => {
            await verify(definition, limited)
            const asked = { ...options, signal: limited, allowInputRequired: true } as const
            return connected.callTool({ ...params, ...more }, asked)
          }),
        close: (client) => connection.forget(client),
      })
    return await connection.withLog(report, async () => {
      if (request !== undefined)
        return connection.redactTokens(await sendTo((client) => sendRequest(client, request, input, options)))
      const result = await (connection.asking ? callAsking(connection.asking) : sendTo(callOnce))
      return resultOf(connection.redactTokens(result), outputSchema !== undefined)
    })
  } catch (thrown) {
    signal.throwIfAborted()
    if (thrown instanceof InputRequiredError || ToolError.isInstance(thrown)) throw thrown
    if (codeOf(thrown) === unsupportedResult) throw new ToolError(cannotAsk, { cause: thrown })
    // Nothing was sent. A tool that may be called again is called again.
    const isRefused =
      isRefusal(thrown) ||
      isNotAuthorized(thrown) ||
      (request !== undefined && codeOf(thrown) === unknownResource) ||
      (thrown instanceof ServerUnavailableError && effect === 'once')
    throw isRefused ? new ToolError(connection.redact(messageOf(thrown)), { cause: thrown }) : thrown
  }
}

/** The code of the SDK for a server that asks people although the client says that nobody can be asked. */
const unsupportedResult = 'UNSUPPORTED_RESULT_TYPE'
const cannotAsk = 'the server asks people, which `elicitation` of the configuration does not allow'

const noAnswers: CallAnswers = { answered: [] }

/** Milliseconds between two reports: a server may report its progress without a pause. */
const reportMs = 200

/** The longest timer of Node. The timeout of the tool, by the signal, is shorter. */
const noTimeoutMs = 2 ** 31 - 1

async function send<Result>(
  connection: ServerConnection,
  client: Client,
  signal: AbortSignal,
  request: (client: Client) => Promise<Result>,
): Promise<Result> {
  try {
    return await connection.use(client, request)
  } catch (thrown) {
    if (codeOf(thrown) === 'CONNECTION_CLOSED') throw connection.endReason
    if (!isUnknownSession(thrown) || signal.aborted) throw thrown
    // A server that was restarted has not executed the call.
    await connection.forget(client)
    return connection.use(await connection.client(signal), request)
  }
}

/** Whether a server answered HTTP status 404, with which it ends a session. */
function isUnknownSession(thrown: unknown): boolean {
  return thrown instanceof Error && 'status' in thrown && thrown.status === 404
}

/** Whether the server did not let the request in, and so did not execute it. */
function isNotAuthorized(thrown: unknown): boolean {
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

function codeOf(thrown: unknown): unknown {
  return thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
}
