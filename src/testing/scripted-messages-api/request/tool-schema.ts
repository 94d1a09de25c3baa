import { z } from 'zod'
import { cacheControlSchema, looseBlock } from './block-schema.js'

const schemaHelp =
  'JSON schema is invalid. It must match JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12). ' +
  'Learn more about tool use at https://docs.claude.com/en/docs/tool-use.'

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Detects common mistakes in JSON Schema. Not a full validator. */
function isPlausibleSchema(schema: unknown): boolean {
  if (typeof schema === 'boolean') return true
  if (!isObject(schema)) return false
  const { properties, required, items } = schema
  if (properties !== undefined && !(isObject(properties) && Object.values(properties).every(isPlausibleSchema)))
    return false
  if (required !== undefined && !(Array.isArray(required) && required.every((name) => typeof name === 'string')))
    return false
  return items === undefined || isPlausibleSchema(items)
}

const inputSchema = z
  .looseObject({ type: z.literal('object') })
  .refine((schema) => !['oneOf', 'allOf', 'anyOf'].some((key) => key in schema), {
    error: 'input_schema does not support oneOf, allOf, or anyOf at the top level',
    abort: true,
  })
  .refine(isPlausibleSchema, { error: schemaHelp })

const customTool = z.strictObject({
  type: z.literal('custom'),
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/),
  input_schema: inputSchema,
  description: z.string().optional(),
  allowed_callers: z
    .array(z.enum(['direct', 'code_execution_20250825', 'code_execution_20260120', 'code_execution_20260521']))
    .optional(),
  cache_control: cacheControlSchema,
  defer_loading: z.boolean().optional(),
  eager_input_streaming: z.boolean().nullish(),
  input_examples: z.array(z.record(z.string(), z.unknown())).optional(),
  strict: z.boolean().optional(),
})

const serverToolTypes = [
  'bash_20250124',
  'browser_toolset_20260801',
  'code_execution_20250522',
  'code_execution_20250825',
  'code_execution_20260120',
  'code_execution_20260521',
  'computer_toolset_20260801',
  'memory_20250818',
  'text_editor_20250124',
  'text_editor_20250429',
  'text_editor_20250728',
  'tool_search_tool_bm25',
  'tool_search_tool_bm25_20251119',
  'tool_search_tool_regex',
  'tool_search_tool_regex_20251119',
  'web_fetch_20250910',
  'web_fetch_20260209',
  'web_fetch_20260309',
  'web_fetch_20260318',
  'web_search_20250305',
  'web_search_20260209',
  'web_search_20260318',
]

/** Schema of a tool definition. A definition without `type` is a custom tool. */
export const toolSchema = z.preprocess(
  (tool) => (isObject(tool) && (tool['type'] ?? null) === null ? { ...tool, type: 'custom' } : tool),
  z.discriminatedUnion('type', [customTool, ...serverToolTypes.map(looseBlock)]),
)
