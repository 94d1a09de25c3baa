import type { CallToolResult, Client } from '@modelcontextprotocol/client'
import type { Effect } from '../../../common/calls/calls.js'
import { defined } from '../../../common/defined.js'
import { messageOf } from '../../../common/errors.js'
import type { JsonObject, JsonValue } from '../../../common/json/json.js'
import { takeStart } from '../../../common/text/text.js'
import { defineTool } from '../../define-tool.js'
import { describeJsonInput } from '../../definition/json-input.js'
import type { ToolContext } from '../../tool-context.js'
import { sealTool, type Tool } from '../../tool.js'
import { ToolError } from '../../tool-error.js'
import { withoutPatterns } from '../client-tools.js'
import type { McpToolDefinition } from './list-definitions.js'
import { contentSchema, resultOf } from './result.js'
import { type ServerConnection, ServerUnavailableError } from './server-connection.js'
import { credentialsIn, type ParsedMcpServer } from './server-options.js'

/** Descriptions go into every prompt. */
const maxDescriptionCharacters = 4_000

/** A member of `_meta` of each call: the same in every attempt. */
export const idempotencyKeyMember = 'durable-ptc/idempotencyKey'

interface ServerOfTool {
  /** Name of the tool for models and code. */
  readonly toolName: string
  readonly server: ParsedMcpServer
  readonly connection: ServerConnection
}

interface ConnectedServer {
  readonly client: Client
  readonly connection: ServerConnection
}

/**
 * A tool of a server as a tool of ours.
 *
 * @throws PtcError CONFIG_INVALID for a schema that can't be checked
 */
export function toTool(definition: McpToolDefinition, { toolName, server, connection }: ServerOfTool): Tool {
  const { inputSchema = { type: 'object' }, outputSchema } = definition
  const { effect, approval, timeout, allowedCallers } = optionsOf(definition, server)
  const tool = defineTool({
    name: toolName,
    description: describe(definition),
    // A pattern of a server may take hours to match. The server checks it.
    input: withoutPatterns(inputSchema),
    output: outputSchema ? withoutPatterns(outputSchema) : contentSchema,
    effect,
    approval,
    credentials: credentialsIn(server),
    ...defined({ timeout, allowedCallers }),
    run: async (input, context) => {
      const client = await connectedClient(connection, effect, context.signal)
      return callTool({ client, connection }, definition, input as JsonObject, context)
    },
  })
  return sealTool({ ...tool, inputSchema: describeJsonInput(inputSchema) }) as unknown as Tool
}

/** See `McpToolOptions`: the options of the tool, those of the server, the annotations of a trusted server. */
function optionsOf({ name, annotations = {} }: McpToolDefinition, { tools, trusted, ...server }: ParsedMcpServer) {
  const { readOnlyHint, idempotentHint, destructiveHint } = trusted ? annotations : {}
  const annotated = readOnlyHint === true ? 'read' : idempotentHint === true ? 'idempotent' : ('once' as const)
  const isHarmless = readOnlyHint === true || destructiveHint === false
  const own = Object.hasOwn(tools, name) ? tools[name] : undefined
  return {
    effect: own?.effect ?? server.effect ?? annotated,
    approval: own?.approval ?? server.approval ?? (isHarmless ? 'never' : 'always'),
    timeout: own?.timeout ?? server.timeout,
    allowedCallers: own?.allowedCallers ?? server.allowedCallers,
  } as const
}

function describe({ name, title = '', description = '' }: McpToolDefinition): string {
  return takeStart(description.trim() || title.trim() || name, maxDescriptionCharacters)
}

/** @throws ToolError when the server did not execute the call, or says that it failed; any other error: not known */
async function callTool(
  connected: ConnectedServer,
  { name, outputSchema }: McpToolDefinition,
  input: JsonObject,
  { signal, idempotencyKey, milestone, heartbeat }: ToolContext,
): Promise<JsonValue> {
  const params = { name, arguments: input, _meta: { [idempotencyKeyMember]: idempotencyKey } }
  const result = await callServer(connected, params, {
    signal,
    onprogress: ({ progress, total, message }) => {
      heartbeat()
      milestone(message ?? (total === undefined ? `${progress}` : `${progress} of ${total}`))
    },
  })
  return resultOf(result, outputSchema !== undefined)
}

/** The longest timer of Node. The timeout of the tool, by the signal, is shorter. */
const noTimeoutMs = 2 ** 31 - 1

async function callServer(
  { client, connection }: ConnectedServer,
  params: Parameters<Client['callTool']>[0],
  options: NonNullable<Parameters<Client['callTool']>[1]>,
): Promise<CallToolResult> {
  try {
    return await client.callTool(params, { ...options, timeout: noTimeoutMs })
  } catch (thrown) {
    options.signal?.throwIfAborted()
    if (codeOf(thrown) === 'CONNECTION_CLOSED') throw connection.endReason
    throw refusal(thrown) ?? thrown
  }
}

/** JSON-RPC errors with which a server refuses a call that it has not executed. */
const refusals: readonly unknown[] = [-32_600, -32_601, -32_602]

function refusal(thrown: unknown): ToolError | undefined {
  return refusals.includes(codeOf(thrown)) ? new ToolError(messageOf(thrown), { cause: thrown }) : undefined
}

function codeOf(thrown: unknown): unknown {
  return thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
}

/** @throws ToolError for a tool with effect `once`: no request was sent, so the call has had no effect */
async function connectedClient(connection: ServerConnection, effect: Effect, signal: AbortSignal): Promise<Client> {
  try {
    return await connection.client(signal)
  } catch (thrown) {
    if (effect !== 'once' || !(thrown instanceof ServerUnavailableError)) throw thrown
    throw new ToolError(thrown.message, { cause: thrown })
  }
}
