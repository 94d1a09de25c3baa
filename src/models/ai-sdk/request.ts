import type {
  JSONSchema7,
  LanguageModelV3CallOptions,
  LanguageModelV3FilePart,
  LanguageModelV3FunctionTool,
  LanguageModelV3Message,
  SharedV3ProviderOptions,
} from '@ai-sdk/provider'
import { defined } from '../../common/defined.js'
import { PtcError } from '../../common/errors.js'
import { isTextBlock, isToolUseBlock, type Message, type UserBlock } from '../../common/agent/messages.js'
import type { ToolChoice } from '../../common/agent/model-settings.js'
import { describeWithExamples, withDescribedTools } from '../request/describe-tools.js'
import type { ModelRequest, ModelTool } from '../provider.js'
import { messageOf, toCall } from './vendor-block.js'

interface RequestForm {
  /** Name of the provider, which gets back everything in its own replies. */
  readonly provider: string
  /** The system prompt is an option of the vendor, which stores nothing. */
  readonly hasInstructions: boolean
  /** The system prompt describes the tools, too. */
  readonly toolsInSystemPrompt: boolean
}

/**
 * The request in the form of the AI SDK. Blocks of other vendors (thinking of Claude, server tools) have no equivalent,
 * and are left out. `wire/request-body.ts` adds what the AI SDK has no option for.
 */
export function toCallOptions(request: ModelRequest, form: RequestForm): LanguageModelV3CallOptions {
  const { model, maxTokens, temperature, tools, toolChoice, stopSequences, messages } = request
  const system = form.toolsInSystemPrompt ? withDescribedTools(request) : request.system
  const hasSystem = system.trim() !== ''
  const names = toolNamesIn(messages)
  return {
    maxOutputTokens: maxTokens,
    ...defined({ temperature }),
    ...(stopSequences && { stopSequences: [...stopSequences] }),
    ...(tools.length > 0 && { tools: tools.map(toTool) }),
    ...(toolChoice && tools.length > 0 && { toolChoice: toChoice(toolChoice) }),
    prompt: [
      ...(hasSystem && !form.hasInstructions ? [{ role: 'system', content: system } as const] : []),
      ...messages.flatMap((message) => toMessages({ provider: form.provider, model }, message, names)),
    ],
    providerOptions: {
      ...(form.hasInstructions && { openai: { store: false, ...(hasSystem && { instructions: system }) } }),
      ...googleOptions(request),
    },
  }
}

/** Models of Google take a number of thinking tokens, or a level. Other vendors ignore these options. */
function googleOptions({ thinking, effort }: ModelRequest): SharedV3ProviderOptions {
  if (thinking === 'off') return { google: { thinkingConfig: { thinkingBudget: 0 } } }
  if (typeof thinking === 'object') return { google: { thinkingConfig: { thinkingBudget: thinking.budgetTokens } } }
  if (effort === undefined) return {}
  const thinkingLevel = effort === 'low' || effort === 'medium' ? effort : 'high'
  return { google: { thinkingConfig: { thinkingLevel } } }
}

function toTool(tool: ModelTool): LanguageModelV3FunctionTool {
  const { name, inputSchema } = tool
  const schema = { ...inputSchema, type: 'object' } as JSONSchema7
  return { type: 'function', name, description: describeWithExamples(tool), inputSchema: schema }
}

function toChoice(choice: ToolChoice): NonNullable<LanguageModelV3CallOptions['toolChoice']> {
  if (choice.type === 'tool') return { type: 'tool', toolName: choice.name }
  return { type: choice.type === 'any' ? 'required' : choice.type }
}

/** The names of the called tools by the ids of their calls. */
function toolNamesIn(messages: readonly Message[]): ReadonlyMap<string, string> {
  const replies = messages.flatMap(({ role, content }) => (role === 'assistant' ? content.filter(isToolUseBlock) : []))
  return new Map(replies.map(({ id, name }) => [id, name]))
}

function toMessages(
  asked: { readonly provider: string; readonly model: string },
  { role, content }: Message,
  names: ReadonlyMap<string, string>,
): readonly LanguageModelV3Message[] {
  if (role === 'user') return toUserMessages(content, names)
  const own = messageOf(asked, content)
  if (own) return [own]
  const text = joinTexts(content.filter(isTextBlock).map((block) => block.text))
  const calls = content.filter(isToolUseBlock).map(toCall)
  const parts = [...(text === '' ? [] : [{ type: 'text', text } as const]), ...calls]
  return parts.length === 0 ? [] : [{ role: 'assistant', content: parts }]
}

/** The results of tools, which must follow the reply with the calls, and then the other blocks as one message. */
function toUserMessages(
  content: readonly UserBlock[],
  names: ReadonlyMap<string, string>,
): readonly LanguageModelV3Message[] {
  const results = content.flatMap((block) =>
    block.type === 'tool_result'
      ? [
          {
            type: 'tool-result',
            toolCallId: block.tool_use_id,
            toolName: names.get(block.tool_use_id) ?? 'unnamed',
            output: { type: block.is_error ? 'error-text' : 'text', value: block.content },
          } as const,
        ]
      : [],
  )
  const text = joinTexts(content.flatMap((block) => (block.type === 'text' ? [block.text] : [])))
  const parts = [...content.flatMap(toFiles), ...(text === '' ? [] : [{ type: 'text', text } as const])]
  return [
    ...(results.length === 0 ? [] : [{ role: 'tool', content: results } as const]),
    ...(parts.length === 0 ? [] : [{ role: 'user', content: parts } as const]),
  ]
}

function joinTexts(texts: readonly string[]): string {
  return texts.filter((text) => text.trim() !== '').join('\n\n')
}

/**
 * The image or document of a block.
 *
 * @throws PtcError MODEL_BAD_REQUEST for one without data
 */
function toFiles(block: UserBlock): readonly LanguageModelV3FilePart[] {
  if (block.type !== 'image' && block.type !== 'document') return []
  const { data, media_type: mediaType } = block.source
  // Messages from other sources may have the URL or the id of a file.
  const { type: kind, url } = block.source as { readonly type: string; readonly url?: unknown }
  if (block.type === 'image' && kind === 'url' && typeof url === 'string' && URL.canParse(url))
    return [{ type: 'file', mediaType: 'image/*', data: new URL(url) }]
  if (typeof data !== 'string') {
    const what = block.type === 'image' ? 'an image' : 'a document'
    throw new PtcError('MODEL_BAD_REQUEST', `the model can't read ${what} from a source of type ${kind}`, {
      hint: 'Give its data as base64.',
    })
  }
  return [
    { type: 'file', mediaType, data, ...(block.type === 'document' && { filename: block.title ?? 'document.pdf' }) },
  ]
}
