import type { Client } from '@modelcontextprotocol/client'
import type { Effect } from '../../../common/calls/calls.js'
import { messageOf } from '../../../common/errors.js'
import type { JsonObject, JsonValue } from '../../../common/json/json.js'
import type { ToolContext } from '../../tool-context.js'
import { ToolError } from '../../tool-error.js'
import type { McpToolDefinition } from './list-definitions.js'
import { sendRequest } from './requests.js'
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
 * @throws ToolError when the server did not execute the call, or says that it failed; any other error when the outcome
 *   is not known; the reason of the signal
 */
export async function callTool(
  { connection, definition, effect, verify }: CalledTool,
  input: JsonObject,
  { signal, idempotencyKey, milestone, heartbeat }: ToolContext,
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
    const sendTo = async (client: Client): Promise<JsonValue> => {
      if (request !== undefined) return sendRequest(client, request, input, options)
      await verify(definition, signal)
      return resultOf(await client.callTool(params, options), outputSchema !== undefined)
    }
    return await connection.withLog(report, () => send(connection, signal, sendTo))
  } catch (thrown) {
    signal.throwIfAborted()
    // Nothing was sent. A tool that may be called again is called again.
    const isRefused =
      isRefusal(thrown) ||
      (request !== undefined && codeOf(thrown) === unknownResource) ||
      (thrown instanceof ServerUnavailableError && effect === 'once')
    throw isRefused ? new ToolError(messageOf(thrown), { cause: thrown }) : thrown
  }
}

/** Milliseconds between two reports: a server may report its progress without a pause. */
const reportMs = 200

/** The longest timer of Node. The timeout of the tool, by the signal, is shorter. */
const noTimeoutMs = 2 ** 31 - 1

async function send(
  connection: ServerConnection,
  signal: AbortSignal,
  request: (client: Client) => Promise<JsonValue>,
): Promise<JsonValue> {
  const client = await connection.client(signal)
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

/** The code of older protocols for a resource that the server does not have. */
const unknownResource = -32_002

/** Whether an error of JSON-RPC says that the server has not executed the call. */
function isRefusal(thrown: unknown): boolean {
  return [-32_600, -32_601, -32_602].includes(Number(codeOf(thrown)))
}

function codeOf(thrown: unknown): unknown {
  return thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
}
