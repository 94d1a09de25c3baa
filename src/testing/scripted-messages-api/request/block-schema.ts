import { z } from 'zod'

export const cacheControlSchema = z
  .strictObject({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).optional() })
  .nullish()

/** The `cache_control` of a tool, a block or a request; undefined without one. */
export function cacheControlOf(holder: object): unknown {
  return 'cache_control' in holder ? (holder.cache_control ?? undefined) : undefined
}

/** A string is shorthand for one text block; an empty string for no content. */
export function toBlocks(content: unknown): unknown {
  if (typeof content !== 'string') return content
  return content === '' ? [] : [{ type: 'text', text: content }]
}

/** A block with a known `type` and unchecked fields. */
export function looseBlock(type: string) {
  return z.looseObject({ type: z.literal(type) })
}

const citations = z.looseObject({}).nullish()

export const textBlockSchema = z.strictObject({
  type: z.literal('text'),
  text: z.string(),
  cache_control: cacheControlSchema,
  citations: z.array(z.looseObject({})).nullish(),
})

export type TextBlock = z.infer<typeof textBlockSchema>

const imageBlock = z.strictObject({
  type: z.literal('image'),
  source: z.discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('base64'),
      data: z.string(),
      media_type: z.enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp']),
    }),
    z.strictObject({ type: z.literal('url'), url: z.string() }),
    z.strictObject({ type: z.literal('file'), file_id: z.string() }),
  ]),
  cache_control: cacheControlSchema,
})

const documentBlock = z.strictObject({
  type: z.literal('document'),
  source: z.looseObject({}),
  title: z.string().nullish(),
  context: z.string().nullish(),
  citations,
  cache_control: cacheControlSchema,
})

const searchResultBlock = z.strictObject({
  type: z.literal('search_result'),
  source: z.string(),
  title: z.string(),
  content: z.array(textBlockSchema),
  citations,
  cache_control: cacheControlSchema,
})

const blockId = z.string().regex(/^[a-zA-Z0-9_-]+$/)

const toolUseBlock = z.strictObject({
  type: z.literal('tool_use'),
  id: blockId,
  name: z.string().min(1).max(200),
  input: z.record(z.string(), z.unknown()),
  caller: z.looseObject({ type: z.string() }).optional(),
  toolset_name: z.string().nullish(),
  cache_control: cacheControlSchema,
})

const toolResultContent = z.discriminatedUnion('type', [
  textBlockSchema,
  imageBlock,
  searchResultBlock,
  documentBlock,
  looseBlock('tool_reference'),
  looseBlock('browser_state'),
])

const toolResultBlock = z.strictObject({
  type: z.literal('tool_result'),
  tool_use_id: blockId,
  // An empty string is a valid result, an empty text block is not. toBlocks maps them differently.
  content: z.preprocess(toBlocks, z.array(toolResultContent).optional()),
  is_error: z.boolean().optional(),
  toolset_name: z.string().nullish(),
  cache_control: cacheControlSchema,
})

export type ToolUseBlock = z.infer<typeof toolUseBlock>
export type ToolResultBlock = z.infer<typeof toolResultBlock>

/** Blocks of server tools: accepted and counted, not interpreted. */
export const serverBlockTypes: readonly string[] = [
  'bash_code_execution_tool_result',
  'code_execution_tool_result',
  'container_upload',
  'server_tool_use',
  'text_editor_code_execution_tool_result',
  'tool_search_tool_result',
  'web_fetch_tool_result',
  'web_search_tool_result',
]

/** Schema of the content blocks of a message. Blocks of `extraTypes` are not checked. */
export function blockSchema(extraTypes: readonly string[]) {
  return z.discriminatedUnion('type', [
    textBlockSchema,
    imageBlock,
    documentBlock,
    searchResultBlock,
    z.strictObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() }),
    z.strictObject({ type: z.literal('redacted_thinking'), data: z.string() }),
    toolUseBlock,
    toolResultBlock,
    ...[...serverBlockTypes, ...extraTypes].map(looseBlock),
  ])
}
