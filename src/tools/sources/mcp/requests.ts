import type { Client, ServerCapabilities } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../common/json/json.js'
import type { McpRequest, McpToolDefinition } from './list-definitions.js'
import { type ListedKind, listItems } from './list-items.js'
import { contentSchema, withoutAnnotations } from './result.js'

const text = { type: 'string' } as const
const named = { name: text, title: text, description: text } as const

function listOf(properties: JsonObject, required: readonly string[]): JsonObject {
  return { type: 'array', items: { type: 'object', properties, required: [...required] } }
}

function objectOf(properties: JsonObject): JsonObject {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}

/** A tool that sends one kind of request. Its annotations are what the protocol says about the request. */
function define(request: McpRequest, definition: Omit<McpToolDefinition, 'name' | 'request'>): McpToolDefinition {
  return { ...definition, name: request, request, annotations: { readOnlyHint: true } }
}

const resourceTools = [
  define('list_resources', {
    description: 'Lists the resources of the server, and the templates of URIs of more resources (RFC 6570).',
    inputSchema: objectOf({}),
    outputSchema: objectOf({
      resources: listOf({ uri: text, ...named, mimeType: text, size: { type: 'integer' } }, ['uri']),
      templates: listOf({ uriTemplate: text, ...named, mimeType: text }, ['uriTemplate']),
    }),
  }),
  define('read_resource', {
    description:
      'Reads a resource of the server. Its URI is from the list of resources, from a template, or from a resource_link ' +
      'in a result.',
    inputSchema: objectOf({ uri: text }),
    outputSchema: contentSchema,
  }),
]

const promptTools = [
  define('list_prompts', {
    description: 'Lists the prompts of the server, with their arguments.',
    inputSchema: objectOf({}),
    outputSchema: objectOf({
      prompts: listOf({ ...named, arguments: listOf({ ...named, required: { type: 'boolean' } }, ['name']) }, ['name']),
    }),
  }),
  define('get_prompt', {
    description: 'Returns the messages of a prompt of the server. Values of its arguments are texts.',
    inputSchema: {
      ...objectOf({ name: text, arguments: { type: 'object', additionalProperties: text } }),
      required: ['name'],
    },
    outputSchema: {
      type: 'object',
      properties: { description: text, messages: listOf({ role: text, content: {} }, ['role', 'content']) },
      required: ['messages'],
    },
  }),
]

/** The tools for what a server offers besides tools. */
export function requestTools(capabilities: ServerCapabilities | undefined): readonly McpToolDefinition[] {
  return [...(capabilities?.resources ? resourceTools : []), ...(capabilities?.prompts ? promptTools : [])]
}

type RequestOptions = NonNullable<Parameters<Client['callTool']>[1]>

const resourceParams = z.object({ uri: z.string() })
const promptParams = z.object({ name: z.string(), arguments: z.record(z.string(), z.string()).default({}) })

const contents = z.object({ contents: z.array(z.custom<JsonObject>(isJsonObject)) })
const prompt = z.object({
  description: z.string().optional().catch(undefined),
  messages: z.array(z.object({ role: z.string(), content: z.custom<JsonValue>((value) => value !== undefined) })),
})

/** Sends the request of a tool of {@link requestTools}, with arguments that fit its schema. */
export async function sendRequest(
  client: Client,
  request: McpRequest,
  input: JsonObject,
  options: RequestOptions & { readonly signal: AbortSignal },
): Promise<JsonValue> {
  switch (request) {
    case 'list_resources':
      return {
        resources: await list(client, 'resources', 'uri', options.signal),
        templates: await list(client, 'resourceTemplates', 'uriTemplate', options.signal).catch(noneIfUnknown),
      }
    case 'read_resource': {
      const params = resourceParams.parse(input)
      const read = await client.request({ method: 'resources/read', params }, contents, options)
      return contentOf(read.contents)
    }
    case 'list_prompts':
      return { prompts: await list(client, 'prompts', 'name', options.signal) }
    case 'get_prompt': {
      const params = promptParams.parse(input)
      const { description, messages } = await client.request({ method: 'prompts/get', params }, prompt, options)
      const blocks = messages.map(({ role, content }) => ({
        role,
        content: isJsonObject(content) ? withoutAnnotations(content) : content,
      }))
      return { ...(description !== undefined && { description }), messages: blocks }
    }
  }
}

/** Members of resources, templates and prompts that callers get: others are for clients, and cost tokens. */
const listedMembers = ['uri', 'uriTemplate', 'name', 'title', 'description', 'mimeType', 'size', 'arguments']

async function list(client: Client, kind: ListedKind, key: string, signal: AbortSignal): Promise<JsonObject[]> {
  const listed: JsonObject[] = []
  for await (const { item } of listItems(client, kind, signal)) {
    if (!isJsonObject(item) || typeof item[key] !== 'string') continue
    listed.push(Object.fromEntries(Object.entries(item).filter(([name]) => listedMembers.includes(name))))
  }
  return listed
}

/** A server with resources need not know templates. */
function noneIfUnknown(thrown: unknown): JsonObject[] {
  if (thrown instanceof Error && 'code' in thrown && thrown.code === -32_601) return []
  throw thrown
}

/** A text, or blocks as in the result of a tool: a picture is an image that a model can see. */
function contentOf(parts: readonly JsonObject[]): JsonValue {
  const texts = parts.map((part) => part['text'])
  if (texts.every((each) => typeof each === 'string')) return texts.join('\n')
  return parts.map((part): JsonObject => {
    const { mimeType, blob } = part
    const [kind] = typeof mimeType === 'string' ? mimeType.split('/') : []
    if ((kind === 'image' || kind === 'audio') && typeof blob === 'string')
      return { type: kind, data: blob, mimeType: mimeType ?? '' }
    return withoutAnnotations({ type: 'resource', resource: part })
  })
}
