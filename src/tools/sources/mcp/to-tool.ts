import { digestJson } from '../../../common/calls/call-identity.js'
import { defined } from '../../../common/defined.js'
import type { JsonObject } from '../../../common/json/json.js'
import { takeStart } from '../../../common/text/text.js'
import { defineTool } from '../../define-tool.js'
import { describeJsonInput } from '../../definition/json-input.js'
import { sealTool, type Tool } from '../../tool.js'
import { withoutPatterns } from '../client-tools.js'
import { callTool, type Verify } from './call-tool.js'
import type { McpToolDefinition } from './list-definitions.js'
import { contentSchema } from './result.js'
import type { ServerConnection } from './server-connection.js'
import { credentialsIn, type ParsedMcpServer } from './server-options.js'

/** Descriptions go into every prompt. */
const maxDescriptionCharacters = 4_000

interface ServerOfTool {
  /** Name of the tool for models and code. */
  readonly toolName: string
  readonly server: ParsedMcpServer
  readonly connection: ServerConnection
  readonly verify: Verify
}

/**
 * A tool of a server as a tool of ours.
 *
 * @throws PtcError CONFIG_INVALID for a schema that can't be checked
 */
export function toTool(definition: McpToolDefinition, { toolName, server, connection, verify }: ServerOfTool): Tool {
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
    run: (input, context) => callTool({ connection, definition, effect, verify }, input as JsonObject, context),
  })
  const { name, description = '' } = definition
  // A run calls the definition that it began with, or none.
  const inputDigest = digestJson([name, description, inputSchema, outputSchema ?? null])
  const asks = server.elicitation === 'ask' && definition.request === undefined && { asks: true as const }
  const samples = server.sampling && definition.request === undefined && { from: connection.from, ...server.sampling }
  const own = {
    inputSchema: describeJsonInput(inputSchema),
    inputDigest,
    refusesChanges: true,
    repairsArguments: true,
  } as const
  return sealTool({ ...tool, ...asks, ...(samples && { samples }), ...own })
}

/**
 * See `McpToolOptions`: the options of the tool, those of the server, the annotations of a trusted server. A request that
 * is no call of a tool has effect `read` by the protocol.
 */
function optionsOf(
  { name, annotations = {}, request }: McpToolDefinition,
  { tools, trusted, ...server }: ParsedMcpServer,
) {
  const { readOnlyHint, idempotentHint, destructiveHint } = trusted ? annotations : {}
  const isRead = readOnlyHint === true || request !== undefined
  const annotated = isRead ? 'read' : idempotentHint === true ? 'idempotent' : ('once' as const)
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
