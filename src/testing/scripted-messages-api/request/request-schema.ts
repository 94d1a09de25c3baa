import { z } from 'zod'
import {
  toBlocks,
  blockSchema,
  cacheControlSchema,
  looseBlock,
  serverBlockTypes,
  textBlockSchema,
  type TextBlock,
  type ToolResultBlock,
  type ToolUseBlock,
} from './block-schema.js'
import { toolSchema } from './tool-schema.js'

/** An integer; zod's own message says "number". */
const integer = z.int({
  error: ({ code, input }) => {
    if (code !== 'invalid_type') return undefined
    const detail = typeof input === 'number' ? ', got a number with a fractional part' : ''
    return `Input should be a valid integer${detail}`
  },
})

const systemSchema = z.preprocess(toBlocks, z.array(textBlockSchema)).optional()

const toolChoiceSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('auto'), disable_parallel_tool_use: z.boolean().optional() }),
  z.strictObject({ type: z.literal('any'), disable_parallel_tool_use: z.boolean().optional() }),
  z.strictObject({ type: z.literal('tool'), name: z.string(), disable_parallel_tool_use: z.boolean().optional() }),
  z.strictObject({ type: z.literal('none') }),
])

const thinkingDisplay = z.enum(['summarized', 'omitted']).nullish()

const thinkingSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('enabled'), budget_tokens: integer.min(1024), display: thinkingDisplay }),
  z.strictObject({ type: z.literal('disabled') }),
  looseBlock('between_tools'),
  z.strictObject({ type: z.literal('adaptive'), display: thinkingDisplay }),
])

const contextEdit = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('clear_tool_uses_20250919'),
    trigger: z.looseObject({ type: z.enum(['input_tokens', 'tool_uses']), value: integer.min(1) }).optional(),
    keep: z.looseObject({ type: z.literal('tool_uses'), value: integer.min(0) }).optional(),
    clear_at_least: z.looseObject({}).nullish(),
    exclude_tools: z.array(z.string()).nullish(),
    clear_tool_inputs: z.union([z.boolean(), z.array(z.string())]).nullish(),
  }),
  z.strictObject({ type: z.literal('clear_thinking_20251015'), keep: z.unknown().optional() }),
])

/** Fields that API version 2026-10-21 removed. */
const samplingParameters = {
  temperature: z.number().min(0).max(1).optional(),
  top_k: integer.min(0).optional(),
  top_p: z.number().min(0).max(1).optional(),
}

/**
 * Strict schemas of both endpoints' bodies, after the types of `@anthropic-ai/sdk` 1.11. Unknown fields are rejected.
 *
 * @param knownBlockTypes custom block types of the script, which the conversation may send back
 */
export function requestSchema(knownBlockTypes: readonly string[]) {
  const extraTypes = knownBlockTypes.filter((type) => !serverBlockTypes.includes(type))
  const message = z.strictObject({
    role: z.string(),
    content: z.preprocess(toBlocks, z.array(blockSchema(extraTypes))),
  })
  const shared = {
    model: z.string().min(1),
    messages: z.array(message),
    cache_control: cacheControlSchema,
    // A beta field: see checkBetas.
    context_management: z.looseObject({ edits: z.array(contextEdit).optional() }).nullish(),
    output_config: z.looseObject({}).nullish(),
    speed: z.enum(['standard', 'fast']).nullish(),
    system: systemSchema,
    thinking: thinkingSchema.optional(),
    tool_choice: toolChoiceSchema.optional(),
    tools: z.array(toolSchema).optional(),
    user_profile_id: z.string().optional(),
    workspace_id: z.string().optional(),
  }
  const messages = z.strictObject({
    ...shared,
    max_tokens: integer.min(1),
    container: z.union([z.string(), z.looseObject({})]).nullish(),
    diagnostics: z.looseObject({}).nullish(),
    inference_geo: z.string().nullish(),
    metadata: z.strictObject({ user_id: z.string().max(256).nullish() }).optional(),
    service_tier: z.enum(['auto', 'standard_only']).optional(),
    stop_sequences: z.array(z.string()).optional(),
    stream: z.boolean().optional(),
  })
  return {
    countTokens: z.strictObject(shared),
    messages: { '2026-10-21': messages, '2023-06-01': messages.extend(samplingParameters) },
  }
}

type Schemas = ReturnType<typeof requestSchema>

/** A checked request. Its content is always a list of blocks. */
export type MessagesRequest = z.infer<Schemas['messages']['2026-10-21']>
type CountTokensRequest = z.infer<Schemas['countTokens']>
/** The common part of both endpoints: everything that counts as input. */
export type PromptRequest = CountTokensRequest | MessagesRequest
export type RequestMessage = PromptRequest['messages'][number]
export type RequestBlock = RequestMessage['content'][number]

export function isTextBlock(block: RequestBlock): block is TextBlock {
  return block.type === 'text'
}

export function isToolResult(block: RequestBlock): block is ToolResultBlock {
  return block.type === 'tool_result'
}

export function isToolUse(block: RequestBlock): block is ToolUseBlock {
  return block.type === 'tool_use'
}
