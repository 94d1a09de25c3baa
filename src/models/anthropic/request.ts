import type {
  CacheControlEphemeral,
  ContentBlockParam,
  MessageCreateParamsStreaming,
  MessageParam,
  ThinkingConfigParam,
  Tool,
  ToolChoice,
  ToolUnion,
} from '@anthropic-ai/sdk/resources/messages'
import type { BetaContextManagementConfig } from '@anthropic-ai/sdk/resources/beta/messages'
import { defined } from '../../common/defined.js'
import type { JsonObject } from '../../common/json/json.js'
import { type NativeToolType, nativeTools } from '../../common/agent/native-tools.js'
import { codeCallerOf, codeExecutionTool, codeExecutionType } from '../../common/agent/hosted-code.js'
import { isToolUseBlock, type Message } from '../../common/agent/messages.js'
import type { Thinking, ToolChoice as ToolChoiceOption } from '../../common/agent/model-settings.js'
import { describeWithExamples } from '../request/describe-tools.js'
import type { ModelRequest, ModelTool } from '../provider.js'
import { toSendable } from './content.js'

export interface RequestOptions {
  /** The API has `input_examples`. Otherwise the descriptions of tools contain the examples. */
  readonly hasInputExamples: boolean
  /** The API searches tools and loads those it finds. Otherwise every request has all definitions. */
  readonly hasToolSearch: boolean
  /** The API knows the types of tools that it defines. Otherwise it gets their descriptions and schemas. */
  readonly hasNativeTools: boolean
  /** The API clears old results. Otherwise it gets no request to do so. */
  readonly managesContext?: true
}

/** Parameters including beta fields of the API. */
export type MessagesParams = MessageCreateParamsStreaming & {
  readonly context_management?: BetaContextManagementConfig
}

const ephemeral: CacheControlEphemeral = { type: 'ephemeral' }

/**
 * The request for the Messages API, with the maximum of four cache breakpoints: the tools, the system prompt, and the
 * last two user messages. The previous turn's request ended with the second to last user message. It needs a
 * breakpoint, because the API looks back only 20 blocks, which a turn with many tool results exceeds.
 */
export function toParams(
  {
    model,
    maxTokens,
    temperature,
    thinking,
    effort,
    system,
    tools,
    serverTools = [],
    messages,
    hostedCode,
    contextManagement,
    toolChoice,
    stopSequences,
  }: ModelRequest,
  options: RequestOptions,
): MessagesParams {
  const sent = toSendable(messages)
  const codeCalls = new Set(sent.flatMap(codeCallsOf))
  const breakpoints = new Set(sent.filter((message) => isPromptOfUser(message, codeCalls)).slice(-2))
  const sentTools = [...(hostedCode ? [{ type: codeExecutionType, name: codeExecutionTool } as const] : []), ...tools]
  const prompt = [system, ...tools.flatMap((tool) => guidanceOf(tool, options))].filter(Boolean).join('\n\n')
  const sentThinking = thinking === undefined || !takesThinking(thinking, sent) ? undefined : toThinking(thinking)
  return {
    model,
    max_tokens: maxTokens,
    ...defined({ temperature, thinking: sentThinking }),
    ...(effort === undefined ? {} : { output_config: { effort } }),
    ...(stopSequences && { stop_sequences: [...stopSequences] }),
    ...(toolChoice && sentTools.length > 0 && { tool_choice: toToolChoice(toolChoice) }),
    stream: true,
    ...(hostedCode?.container && { container: hostedCode.container.id }),
    ...(sentTools.length + serverTools.length === 0 ? {} : { tools: toTools(sentTools, serverTools, options) }),
    ...(prompt.trim() === '' ? {} : { system: [{ type: 'text', text: prompt, cache_control: ephemeral }] }),
    messages: sent.map((message) => toMessage(message, breakpoints.has(message))),
    ...(contextManagement &&
      options.managesContext && { context_management: toEdits(contextManagement, sentThinking) }),
  }
}

function toToolChoice({ isSingle, ...choice }: ToolChoiceOption): ToolChoice {
  if (choice.type === 'none') return { type: 'none' }
  return { ...choice, ...(isSingle && { disable_parallel_tool_use: true }) }
}

/** Edits for the API. The one that clears thinking comes first, and is allowed only with thinking. */
function toEdits(
  { triggerTokens }: NonNullable<ModelRequest['contextManagement']>,
  thinking: ThinkingConfigParam | undefined,
): BetaContextManagementConfig {
  const trigger = triggerTokens !== undefined && { trigger: { type: 'input_tokens', value: triggerTokens } as const }
  return {
    edits: [
      ...(thinking && thinking.type !== 'disabled' ? [{ type: 'clear_thinking_20251015' } as const] : []),
      { type: 'clear_tool_uses_20250919', ...trigger },
    ],
  }
}

/** The ids of the calls of hosted code in a message. */
function codeCallsOf({ role, content }: Message): readonly string[] {
  if (role === 'user') return []
  return content.filter(isToolUseBlock).flatMap((use) => (codeCallerOf(use) === undefined ? [] : [use.id]))
}

/** Whether a message is part of the user's prompt. Results for code are not, so nothing is cached up to them. */
function isPromptOfUser(message: Message, codeCalls: ReadonlySet<string>): boolean {
  if (message.role !== 'user') return false
  const last = message.content.at(-1)
  return !(last?.type === 'tool_result' && codeCalls.has(last.tool_use_id))
}

type CodeExecutionTool = Extract<ToolUnion, { type: typeof codeExecutionType }>

/**
 * Whether a turn may think. With a budget, the reply whose tool uses have their results now must begin with thinking.
 * The reply of another model does not, so such a turn is without thinking.
 */
function takesThinking(thinking: Thinking, messages: readonly Message[]): boolean {
  if (typeof thinking === 'string') return true
  const last = messages.findLast(({ role }) => role === 'assistant')?.content ?? []
  return !last.some(({ type }) => type === 'tool_use') || /^(?:redacted_)?thinking$/.test(last[0]?.type ?? '')
}

function toThinking(thinking: Thinking): ThinkingConfigParam {
  if (thinking === 'adaptive') return { type: 'adaptive' }
  return thinking === 'off' ? { type: 'disabled' } : { type: 'enabled', budget_tokens: thinking.budgetTokens }
}

const toolSearch: ToolUnion = { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' }

/**
 * Server tools come first, so that the breakpoint of the last tool is after them. The tools that a search loads come
 * last: they are not part of the prompt until the search has found them, and have no breakpoint.
 */
function toTools(
  tools: readonly (ModelTool | CodeExecutionTool)[],
  serverTools: readonly JsonObject[],
  options: RequestOptions,
): ToolUnion[] {
  const isSearched = (tool: ModelTool | CodeExecutionTool) => options.hasToolSearch && 'loadedBySearch' in tool
  const searched = tools.filter(isSearched)
  const present = tools.filter((tool) => !isSearched(tool)).map((tool) => toToolUnion(tool, options))
  const hasSearch = serverTools.some(({ type }) => typeof type === 'string' && type.startsWith('tool_search_tool_'))
  return [
    ...(serverTools as unknown as readonly ToolUnion[]),
    ...[...(searched.length > 0 && !hasSearch ? [toolSearch] : []), ...present].map((tool, position, { length }) =>
      position === length - 1 ? { ...tool, cache_control: ephemeral } : tool,
    ),
    ...searched.map((tool) => ({ ...toToolUnion(tool, options), defer_loading: true })),
  ]
}

function toToolUnion(tool: ModelTool | CodeExecutionTool, options: RequestOptions): ToolUnion {
  if ('type' in tool) return tool
  const type = nativeTypeOf(tool, options)
  return type === undefined
    ? toTool(tool, options)
    : { type, name: nativeTools[type], ...toAllowedCallers(tool.allowedCallers) }
}

function nativeTypeOf({ name, nativeType }: ModelTool, { hasNativeTools }: RequestOptions): NativeToolType | undefined {
  return hasNativeTools && nativeType !== undefined && name === nativeTools[nativeType] ? nativeType : undefined
}

/** The API describes such a tool by itself, and takes no description. Ours has the limits and the rules. */
function guidanceOf(tool: ModelTool, options: RequestOptions): readonly string[] {
  return nativeTypeOf(tool, options) === undefined ? [] : [`The tool ${tool.name}: ${tool.description}`]
}

function toAllowedCallers(callers: ModelTool['allowedCallers']): Pick<Tool, 'allowed_callers'> {
  if (callers === undefined) return {}
  return { allowed_callers: callers.map((caller) => (caller === 'direct' ? caller : codeExecutionType)) }
}

function toTool(tool: ModelTool, { hasInputExamples }: RequestOptions): Tool {
  const { name, description, inputSchema, inputExamples, allowedCallers } = tool
  return {
    name,
    description: hasInputExamples ? description : describeWithExamples(tool),
    input_schema: { ...inputSchema, type: 'object' },
    ...(hasInputExamples && inputExamples.length > 0 && { input_examples: [...inputExamples] }),
    ...toAllowedCallers(allowedCallers),
  }
}

function toMessage({ role, content }: Message, breakpoint: boolean): MessageParam {
  // Known blocks have the shape of the API's blocks. Unknown blocks come from the API, and are sent back unchanged.
  const blocks = content as unknown as readonly ContentBlockParam[]
  if (!breakpoint) return { role, content: [...blocks] }
  return { role, content: [...blocks.slice(0, -1), ...blocks.slice(-1).map(withBreakpoint)] }
}

function withBreakpoint(block: ContentBlockParam): ContentBlockParam {
  return { ...block, cache_control: ephemeral } as ContentBlockParam
}
