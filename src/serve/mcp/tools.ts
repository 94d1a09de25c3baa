import type { Tool } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { defined } from '../../common/defined.js'
import { executeCodeTool, searchToolsTool } from '../../common/names.js'
import { isJsonObject, type JsonObject } from '../../common/json/json.js'
import type { OfferedTool, OfferedTools } from './host.js'

/** The tools of the server, besides the direct tools of the configuration. */
export const serverTools = {
  code: executeCodeTool,
  search: searchToolsTool,
  agent: 'run_agent',
  wait: 'wait_for_result',
} as const

const maxWaitSeconds = 3_600
/** Less than the 60 seconds after which most clients give a request up. */
const defaultWaitSeconds = 50

const waitSeconds = z
  .number()
  .min(0)
  .max(maxWaitSeconds)
  .default(defaultWaitSeconds)
  .describe('Seconds to wait for the result. Afterwards the work continues, and wait_for_result continues to wait.')
const session = z
  .string()
  .max(100)
  .exactOptional()
  .describe('Name of a session, whose variables outlive the call. Default: the session of this connection.')

const schemas = {
  code: z.strictObject({
    code: z.string(),
    language: z.string().max(100).exactOptional(),
    session,
    wait_seconds: waitSeconds,
  }),
  agent: z.strictObject({
    question: z.string(),
    agent: z.string().max(200).exactOptional().describe('Name of an agent. Default: the agent of the configuration.'),
    session: session.describe(
      'Name of the session that executes the code of the agent. Default: a sandbox of its own.',
    ),
    wait_seconds: waitSeconds,
  }),
  wait: z.strictObject({
    id: z.string().max(500).describe('The id of the work, from an earlier result.'),
    wait_seconds: waitSeconds,
  }),
  search: z.strictObject({ query: z.string().max(10_000) }),
} as const

/**
 * The checked arguments of a tool of the server.
 *
 * @throws ZodError
 */
export function parseArguments<Name extends keyof typeof schemas>(
  name: Name,
  args: JsonObject,
): z.output<(typeof schemas)[Name]> {
  // The type of an indexed union is lost in the call.
  return schemas[name].parse(args) as z.output<(typeof schemas)[Name]>
}

/** All tools of the server, in the form of the protocol. Equal in each request, so that hosts can cache them. */
export function listServerTools({ tools, agents }: OfferedTools): readonly Tool[] {
  return [...tools.map(serverTool), agentTool(agents), waitTool]
}

function serverTool({ name, description, inputSchema, outputSchema, effect }: OfferedTool): Tool {
  if (name === serverTools.code) return codeTool(description, inputSchema)
  return {
    name,
    description,
    inputSchema: objectSchema(inputSchema),
    ...(outputSchema?.['type'] === 'object' && { outputSchema: objectSchema(outputSchema) }),
    annotations:
      effect === 'read' || effect === undefined
        ? { readOnlyHint: true }
        : { readOnlyHint: false, idempotentHint: effect === 'idempotent' },
  }
}

/** @param offered the schema of the tool for a model, which has `language` if there are several */
function codeTool(description: string, { properties: offered }: JsonObject): Tool {
  const schema = z.toJSONSchema(schemas.code, { io: 'input' }) as JsonObject
  const language = isJsonObject(offered) ? offered['language'] : undefined
  const { language: _, ...others } = isJsonObject(schema['properties']) ? schema['properties'] : {}
  const properties = { ...defined({ language }), ...others }
  return {
    name: serverTools.code,
    title: 'Execute code',
    description:
      `${description}\n\nVariables are kept in the session. The code and its calls are durable: they continue when this ` +
      'connection or a machine is lost.',
    inputSchema: objectSchema({ ...schema, properties }),
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    execution: { taskSupport: 'optional' },
  }
}

function agentTool(agents: readonly string[]): Tool {
  const names = agents.length === 0 ? '' : ` Agents: ${agents.join(', ')}.`
  return {
    name: serverTools.agent,
    title: 'Run an agent',
    description: `Gives a question to an agent, which works on it with its own tools and sandbox, and answers.${names}`,
    inputSchema: toJsonSchema(schemas.agent),
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    execution: { taskSupport: 'optional' },
  }
}

const waitTool: Tool = {
  name: serverTools.wait,
  title: 'Wait for a result',
  description: 'Continues to wait for the result of execute_code, run_agent or a tool, by the id of its work.',
  inputSchema: toJsonSchema(schemas.wait),
  annotations: { readOnlyHint: true, openWorldHint: false },
}

function toJsonSchema(schema: z.ZodType): Tool['inputSchema'] {
  return objectSchema(z.toJSONSchema(schema, { io: 'input' }) as JsonObject)
}

/** The schemas of tools have an object at their root. */
function objectSchema(schema: JsonObject): Tool['inputSchema'] {
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema, type: 'object' }
}
