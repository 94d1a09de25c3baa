import { z } from 'zod'
import type { ConversationOptions } from '../../client/index.js'
import { defined } from '../../common/defined.js'
import type { JsonObject } from '../../common/json/json.js'
import { type ClientTool, clientToolLimits } from '../../common/calls/client-tools.js'
import type { ModelSettings, Thinking, ToolChoice } from '../../common/agent/model-settings.js'
import { truncateEnd } from '../../common/text/text.js'
import { jsonObject, shortArray } from '../router.js'
import type { ApiMessage, Block } from './blocks.js'
import { BadRequest } from './errors.js'
import { checkFields, ignoredFields, ignoredThinking } from './fields.js'
import { joinMessages } from './messages.js'

export interface MessagesRequest {
  readonly model: string
  /** Messages of the user and the assistant, alternating. */
  readonly messages: readonly ApiMessage[]
  /** Undefined: a new container. */
  readonly container: string | undefined
  readonly isStream: boolean
  /** The name of code in the caller of its calls. Undefined: a plain request, whose model has no code. */
  readonly codeCallerType: string | undefined
  /** Options of a new conversation, which keeps them. */
  readonly options: ConversationOptions
  /** The fields of the request without effect here. */
  readonly ignored: readonly string[]
}

/** Limit of the API for messages. */
const maxMessages = 100_000
const maxBlocks = 100_000
const maxSystemBlocks = 1_000

const block = z.custom<Block>(
  (value) => typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string',
  'a block with a type is expected',
)
const blocks = z
  .union([z.string(), shortArray(block, maxBlocks)])
  .transform((content): readonly Block[] => (typeof content === 'string' ? [{ type: 'text', text: content }] : content))

/** `ignoredFields` reports it. */
const ignored = z.unknown().optional()

const codeCaller = /^code_execution_(?:20250825|20260120|20260521)$/
const callers = shortArray(z.union([z.literal('direct'), z.string().regex(codeCaller)]), 10).refine(
  ({ length }) => length > 0,
  'a caller is missing',
)

const customTool = z.strictObject({
  type: z.literal('custom').nullish(),
  name: z.string(),
  description: z.string().nullish(),
  input_schema: jsonObject,
  input_examples: shortArray(jsonObject, clientToolLimits.examples).nullish(),
  allowed_callers: callers.nullish(),
  cache_control: ignored,
  eager_input_streaming: ignored,
  // The arguments of all tools are checked, strict or not.
  strict: z.boolean().nullish(),
  defer_loading: ignored,
})

const codeTool = z.strictObject({
  type: z.string().regex(/^code_execution_\d{8}$/),
  name: z.literal('code_execution'),
  allowed_callers: shortArray(z.literal('direct'), 1).nullish(),
  cache_control: ignored,
})

const thinking = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('enabled'), budget_tokens: z.int().min(1_024), display: ignored }),
  z.strictObject({ type: z.literal('adaptive'), display: ignored }),
  z.strictObject({ type: z.literal('disabled'), display: ignored }),
])

const format = z.strictObject({ type: z.literal('json_schema'), schema: jsonObject })

const toolChoice = z.discriminatedUnion('type', [
  z.strictObject({ type: z.enum(['auto', 'any', 'none']), disable_parallel_tool_use: z.boolean().nullish() }),
  z.strictObject({
    type: z.literal('tool'),
    name: z.string(),
    disable_parallel_tool_use: z.boolean().nullish(),
  }),
])

/** The limit of the API, including tools of the server. */
const maxTools = clientToolLimits.count + 10

const schema = z.looseObject({
  model: z.string().min(1).max(256),
  max_tokens: z.int().min(1),
  messages: shortArray(z.strictObject({ role: z.enum(['user', 'assistant', 'system']), content: blocks }), maxMessages),
  system: z
    .union([z.string(), shortArray(z.looseObject({ type: z.literal('text'), text: z.string() }), maxSystemBlocks)])
    .nullish(),
  tools: shortArray(z.looseObject({ type: z.string().nullish() }), maxTools).nullish(),
  container: z
    .union([z.string(), z.strictObject({ id: z.string().nullish(), skills: shortArray(z.never(), 0).nullish() })])
    .nullish(),
  stream: z.boolean().nullish(),
  temperature: z.number().min(0).max(1).nullish(),
  thinking: thinking.nullish(),
  output_config: z
    .strictObject({
      effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).nullish(),
      format: format.nullish(),
    })
    .nullish(),
  output_format: format.nullish(),
  tool_choice: toolChoice.nullish(),
  stop_sequences: shortArray(z.string().min(1), 100).nullish(),
})

type Parsed = z.output<typeof schema>

/** @throws BadRequest for requests that the API would refuse, and for features that this server does not have */
export function parseRequest(body: unknown): MessagesRequest {
  checkFields(body, Object.keys(schema.shape))
  const request = check(schema, body)
  const { model, container, stream, stop_sequences: stopSequences } = request
  const tools = toolsOf(request)
  const { system, messages } = joinMessages(request.messages)
  const id = typeof container === 'string' ? container : container?.id
  const outputSchema = formatOf(request)
  const choice = choiceOf(request, tools.code !== undefined)
  // Without tools, the model may use none. The tool for an answer with a schema stays.
  const noTools = choice?.type === 'none' && outputSchema !== undefined
  return {
    model,
    messages,
    container: id ?? undefined,
    isStream: stream ?? false,
    codeCallerType: tools.code && (tools.code === 'code_execution_20250825' ? tools.code : 'code_execution_20260120'),
    ignored: [...ignoredFields(request), ...ignoredThinking(request.thinking, messages, tools.code === undefined)],
    options: {
      model,
      clientTools: noTools ? [] : tools.client,
      instructions: [...systemOf(request), ...system].join('\n\n'),
      maxTokens: request.max_tokens,
      ...(!tools.code && { isPlain: true }),
      ...settingsOf(request),
      ...defined({ outputSchema }),
      ...(choice && !noTools && { toolChoice: choice }),
      ...(stopSequences && stopSequences.length > 0 && { stopSequences }),
    },
  }
}

function settingsOf({ temperature, thinking: given, output_config: output }: Parsed): ModelSettings {
  return {
    ...(typeof temperature === 'number' && { temperature }),
    ...(given && { thinking: thinkingOf(given) }),
    ...(output?.effort && { effort: output.effort }),
  }
}

function systemOf({ system }: Parsed): readonly string[] {
  return typeof system === 'string' ? [system] : (system?.map(({ text }) => text) ?? [])
}

function formatOf({ output_config: output, output_format: older }: Parsed): JsonObject | undefined {
  if (output?.format && older)
    throw new BadRequest('output_format: the request has both output_format and output_config.format')
  return (output?.format ?? older)?.schema
}

/** Undefined: the model decides. */
function choiceOf({ tool_choice: given, tools }: Parsed, hasCode: boolean): ToolChoice | undefined {
  if (!given) return undefined
  const { disable_parallel_tool_use: disabled, ...choice } = given
  const isSingle = disabled === true && choice.type !== 'none'
  if (choice.type === 'auto' && !isSingle) return undefined
  if (choice.type === 'any' && !tools?.length) throw new BadRequest('tool_choice: any needs tools')
  const what = isSingle ? 'disable_parallel_tool_use' : choice.type
  if (hasCode) throw new BadRequest(`tool_choice: ${what} is not supported together with code_execution, only auto`)
  return { ...choice, ...(isSingle && { isSingle }) }
}

function thinkingOf(given: z.infer<typeof thinking>): Thinking {
  if (given.type === 'enabled') return { budgetTokens: given.budget_tokens }
  return given.type === 'adaptive' ? 'adaptive' : 'off'
}

interface RequestTools {
  /** The type of the tool for code. Undefined: the request has none. */
  readonly code: string | undefined
  readonly client: readonly ClientTool[]
}

function toolsOf({ tools }: Parsed): RequestTools {
  const isCode = ({ type, name }: Block): boolean => name === 'code_execution' || type.startsWith('code_execution')
  const given = (tools ?? []).map((tool): Block => ({ ...tool, type: tool.type ?? 'custom' }))
  const [code, ...more] = given.filter(isCode).map((tool) => check(codeTool, tool, 'tools'))
  if (more.length > 0) throw new BadRequest('tools: code_execution appears twice')
  const client = given.filter((tool) => !isCode(tool) && !isToolSearch(tool.type)).map(toClientTool)
  const forCode = client.find(({ allowedCallers }) => !allowedCallers.includes('direct'))
  if (!code && forCode)
    throw new BadRequest(`tools: only code may call ${forCode.name}, and code_execution is not among the tools`)
  if (code) return { code: code.type, client }
  return { code: undefined, client: client.map((tool) => ({ ...tool, allowedCallers: ['direct'] })) }
}

/** Tools that search for tools are ignored: the model has the definitions of all tools. */
function isToolSearch(type: unknown): boolean {
  return typeof type === 'string' && type.startsWith('tool_search_tool_')
}

function toClientTool(tool: Block): ClientTool {
  if (tool.type !== 'custom')
    throw new BadRequest(`tools: the server tool ${truncateEnd(tool.type, 100)} is not supported`)
  const { name, description, input_schema: inputSchema, ...more } = check(customTool, tool, 'tools')
  const { allowed_callers: callersOfTool, input_examples: inputExamples } = more
  const allowed = callersOfTool ?? ['direct']
  const direct = allowed.includes('direct') ? (['direct'] as const) : []
  const code = allowed.some((caller) => caller !== 'direct') ? (['code_execution'] as const) : []
  return {
    name,
    description: description ?? '',
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
  throw new BadRequest(
    truncateEnd(`${at === '' ? '' : `${at}: `}${issue?.message ?? 'the request is not valid'}`, 2_000),
  )
}
