import type { Client } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { utf8Length } from '../../../common/text/text.js'
import { isJsonObject, type JsonObject } from '../../../common/json/json.js'

/** A tool as its server defines it. */
export interface McpToolDefinition {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly inputSchema?: JsonObject | undefined
  readonly outputSchema?: JsonObject | undefined
  readonly annotations?: McpAnnotations | undefined
  readonly execution?: { readonly taskSupport?: string | undefined } | undefined
}

export interface McpAnnotations {
  readonly readOnlyHint?: boolean | undefined
  readonly destructiveHint?: boolean | undefined
  readonly idempotentHint?: boolean | undefined
}

/** Limits of a server's list. The bytes are of JSON. */
const maxPages = 100
const maxTools = 2_000
const maxToolBytes = 256 * 1024
const maxBytes = 8 * 1024 * 1024

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

const page = z.object({ tools: z.array(z.unknown()), nextCursor: z.string().nullish() })

/** Tools of a server, and what is wrong with the others. */
export interface ListedDefinitions {
  readonly definitions: readonly McpToolDefinition[]
  readonly problems: readonly string[]
}

/** @throws Error for a list that does not end, or is too long; errors of the SDK */
export async function listDefinitions(client: Client, signal: AbortSignal): Promise<ListedDefinitions> {
  if (client.getServerCapabilities()?.tools === undefined) return { definitions: [], problems: [] }
  const definitions = new Map<string, McpToolDefinition>()
  const problems: string[] = []
  const cursors = new Set<string>()
  let cursor: string | undefined
  let bytes = 0
  do {
    const params = cursor === undefined ? {} : { cursor }
    const { tools, nextCursor } = await client.request({ method: 'tools/list', params }, page, { signal })
    for (const tool of tools) {
      const toolBytes = utf8Length(JSON.stringify(tool))
      bytes += toolBytes
      if (bytes > maxBytes) throw new Error(`the list of tools has more than ${maxBytes} bytes`)
      const { data } = definition.safeParse(tool)
      if (data !== undefined && toolBytes > maxToolBytes)
        problems.push(`${data.name}: it has ${toolBytes} bytes of JSON`)
      else if (data === undefined) problems.push('a tool without a name')
      else if (definitions.has(data.name)) problems.push(`${data.name}: the server lists it twice`)
      else definitions.set(data.name, data)
    }
    if (definitions.size > maxTools) throw new Error(`the server lists more than ${maxTools} tools`)
    if (nextCursor !== undefined && nextCursor !== null && cursors.has(nextCursor)) break
    cursor = nextCursor ?? undefined
    if (cursor !== undefined) cursors.add(cursor)
    if (cursors.size >= maxPages) throw new Error(`the list of tools has more than ${maxPages} pages`)
  } while (cursor !== undefined)
  return { definitions: [...definitions.values()], problems }
}
