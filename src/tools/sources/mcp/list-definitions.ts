import type { Client } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { isJsonObject, type JsonObject } from '../../../common/json/json.js'
import { listItems } from './list-items.js'

/** A tool as its server defines it. */
export interface McpToolDefinition {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly inputSchema?: JsonObject | undefined
  readonly outputSchema?: JsonObject | undefined
  readonly annotations?: McpAnnotations | undefined
  readonly execution?: { readonly taskSupport?: string | undefined } | undefined
  /** A request of the protocol that the tool stands for. Undefined: the server has the tool, and the request calls it. */
  readonly request?: McpRequest | undefined
}

/** What a tool of ours, which the server does not list, asks the server for. */
export type McpRequest = 'list_resources' | 'read_resource' | 'list_prompts' | 'get_prompt'

export interface McpAnnotations {
  readonly readOnlyHint?: boolean | undefined
  readonly destructiveHint?: boolean | undefined
  readonly idempotentHint?: boolean | undefined
}

/** Bytes of JSON of one tool. */
const maxToolBytes = 256 * 1024

const optional = <Part>(schema: z.ZodType<Part>) => schema.optional().catch(undefined)

const schemaDocument = z.custom<JsonObject>(isJsonObject)

/** A tool with a wrong member is a tool without it: one bad tool does not hide the others. */
const definition: z.ZodType<McpToolDefinition> = z.object({
  name: z.string().min(1),
  title: optional(z.string()),
  description: optional(z.string()),
  inputSchema: optional(schemaDocument),
  outputSchema: optional(schemaDocument),
  annotations: optional(
    z.object({
      readOnlyHint: optional(z.boolean()),
      destructiveHint: optional(z.boolean()),
      idempotentHint: optional(z.boolean()),
    }),
  ),
  execution: optional(z.object({ taskSupport: optional(z.string()) })),
})

/** Tools of a server, and what is wrong with the others. */
export interface ListedDefinitions {
  readonly definitions: readonly McpToolDefinition[]
  readonly problems: readonly string[]
}

/** @throws errors of {@link listItems} */
export async function listDefinitions(client: Client, signal: AbortSignal): Promise<ListedDefinitions> {
  if (client.getServerCapabilities()?.tools === undefined) return { definitions: [], problems: [] }
  const definitions = new Map<string, McpToolDefinition>()
  const problems: string[] = []
  for await (const { item, bytes } of listItems(client, 'tools', signal)) {
    const { data } = definition.safeParse(item)
    if (data !== undefined && bytes > maxToolBytes) problems.push(`${data.name}: it has ${bytes} bytes of JSON`)
    else if (data === undefined) problems.push('a tool without a name')
    else if (definitions.has(data.name)) problems.push(`${data.name}: the server lists it twice`)
    else definitions.set(data.name, data)
  }
  return { definitions: [...definitions.values()], problems }
}
