import { z } from 'zod'
import type { ConversationOptions } from '../../client/index.js'
import type { JsonObject } from '../../common/json/json.js'
import type { ClientTool } from '../../common/runs/client-tools.js'
import { BadRequest } from './errors.js'

/** A content block; `messages.ts` reads the types that it knows. */
export type Block = Readonly<Record<string, unknown>> & { readonly type: string }

export interface ApiMessage {
  readonly role: 'user' | 'assistant'
  readonly content: readonly Block[]
}

/** A request of the Messages API. */
export interface MessagesRequest {
  readonly model: string
  readonly messages: readonly ApiMessage[]
  /** Undefined: a new one. */
  readonly container: string | undefined
  readonly isStream: boolean
  /** How the response names calls of code. */
  readonly codeCallerType: string
  /** What the conversation begins with, and keeps. */
  readonly options: ConversationOptions
}

const jsonObject = z.record(z.string(), z.json()) as z.ZodType<JsonObject>
const block = z.looseObject({ type: z.string() })
const blocks = z
  .union([z.string(), z.array(block)])
  .transform((content): readonly Block[] => (typeof content === 'string' ? [{ type: 'text', text: content }] : content))

/** What changes no response. */
const ignored = z.unknown().optional()

const codeCaller = /^code_execution_(?:20250825|20260120|20260521)$/
const callers = z.array(z.union([z.literal('direct'), z.string().regex(codeCaller)])).min(1)

const customTool = z.strictObject({
  type: z.literal('custom').nullish(),
  name: z.string(),
  description: z.string().optional(),
  input_schema: jsonObject,
  input_examples: z.array(jsonObject).optional(),
  allowed_callers: callers.optional(),
  cache_control: ignored,
  eager_input_streaming: ignored,
  strict: z.literal(false, 'strict tools are not supported').nullish(),
  defer_loading: z.literal(false, 'deferred loading of tools is not supported').optional(),
})

const codeTool = z.strictObject({
  type: z.string().regex(/^code_execution_\d{8}$/),
  name: z.literal('code_execution'),
  allowed_callers: z.array(z.literal('direct')).optional(),
  cache_control: ignored,
})

const thinking = z.discriminatedUnion('type', [
  z.object({ type: z.literal('enabled'), budget_tokens: z.int().min(1_024) }),
  z.object({ type: z.literal('adaptive') }),
  z.object({ type: z.literal('disabled') }),
])

const schema = z.strictObject({
  model: z.string().min(1),
  max_tokens: z.int().min(1),
  messages: z.array(z.strictObject({ role: z.enum(['user', 'assistant']), content: blocks })).min(1),
  system: z.union([z.string(), z.array(z.looseObject({ type: z.literal('text'), text: z.string() }))]).optional(),
  tools: z.array(z.looseObject({ type: z.string().nullish() })).optional(),
  container: z
    .union([z.string(), z.strictObject({ id: z.string().nullish(), skills: z.array(z.never()).nullish() })])
    .nullish(),
  stream: z.boolean().optional(),
  temperature: z.number().min(0).max(1).optional(),
  thinking: thinking.optional(),
  output_config: z.strictObject({ effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).nullish() }).optional(),
  tool_choice: z
    .strictObject(
      { type: z.literal('auto'), disable_parallel_tool_use: z.literal(false).optional() },
      'only the tool choice auto is supported',
    )
    .optional(),
  stop_sequences: z.array(z.string()).max(0, 'stop sequences are not supported').optional(),
  metadata: ignored,
  service_tier: ignored,
  cache_control: ignored,
  inference_geo: ignored,
})

/** @throws BadRequest for what the API would refuse, and for what this server can't do */
export function parseRequest(body: unknown): MessagesRequest {
  assertShallow(body)
  const request = check(schema, body)
  const { tools = [], container, stream = false, system, output_config: output } = request
  const isCode = ({ type, name }: Block): boolean => name === 'code_execution' || type.startsWith('code_execution')
  const given = tools.map((tool): Block => ({ ...tool, type: tool.type ?? 'custom' }))
  const [code, ...more] = given.filter(isCode).map((tool) => check(codeTool, tool, 'tools'))
  if (code === undefined || more.length > 0)
    throw new BadRequest('tools: a request needs the tool code_execution, once: this server runs its code')
  const clientTools = given.filter((tool) => !isCode(tool)).map(toClientTool)
  const instructions = typeof system === 'string' ? system : system?.map(({ text }) => text).join('\n\n')
  const id = typeof container === 'string' ? container : container?.id
  return {
    model: request.model,
    messages: request.messages,
    container: id ?? undefined,
    isStream: stream,
    codeCallerType: code.type === 'code_execution_20250825' ? code.type : 'code_execution_20260120',
    options: {
      model: request.model,
      clientTools,
      instructions: instructions ?? '',
      maxTokens: request.max_tokens,
      ...(request.temperature !== undefined && { temperature: request.temperature }),
      ...(request.thinking && { thinking: thinkingOf(request.thinking) }),
      ...(output?.effort && { effort: output.effort }),
    },
  }
}

/** More than any schema and any arguments have, and less than what reading them recursively takes. */
const maxDepth = 500

/** @throws BadRequest for a value that is nested so deeply that the stack would not hold it */
function assertShallow(body: unknown): void {
  let level: readonly unknown[] = [body]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > maxDepth) throw new BadRequest(`the request is nested deeper than ${maxDepth} levels`)
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []))
  }
}

function thinkingOf(given: z.infer<typeof thinking>) {
  if (given.type === 'enabled') return { budgetTokens: given.budget_tokens }
  return given.type === 'adaptive' ? 'adaptive' : 'off'
}

function toClientTool(tool: Block): ClientTool {
  if (tool.type !== 'custom') throw new BadRequest(`tools: the server tool ${tool.type} is not supported`)
  const { name, description = '', input_schema: inputSchema, ...more } = check(customTool, tool, 'tools')
  const { allowed_callers: allowed = ['direct'], input_examples: inputExamples } = more
  const direct = allowed.includes('direct') ? (['direct'] as const) : []
  const code = allowed.some((caller) => caller !== 'direct') ? (['code_execution'] as const) : []
  return {
    name,
    description,
    inputSchema,
    allowedCallers: [...direct, ...code],
    ...(inputExamples && { inputExamples }),
  }
}

function check<Schema extends z.ZodType>(by: Schema, value: unknown, path = ''): z.output<Schema> {
  const { error, data } = by.safeParse(value)
  if (!error) return data
  const [issue] = error.issues
  const at = [path, ...(issue?.path ?? [])].filter((part) => part !== '').join('.')
  throw new BadRequest(`${at === '' ? '' : `${at}: `}${issue?.message ?? 'the request is not valid'}`)
}
