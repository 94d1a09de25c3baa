import type { JsonObject } from '../common/json.js'
import type { Limits } from '../common/limits.js'
import { type AssistantBlock, isText, isToolUse, type Message, type ModelReply } from '../common/messages.js'
import { executeCodeTool } from '../common/names.js'
import type { ModelTurnInput, ModelTurnResult } from '../common/runs.js'
import type { DescribedCall } from '../common/steps.js'
import { utf8Length } from '../common/text.js'
import type { ModelRequest } from '../models/provider.js'
import { buildPrompt } from '../models/prompt.js'
import type { ModelProvider } from '../models/provider.js'
import { describeCall } from '../tools/describe-call.js'
import type { ToolRegistry } from '../tools/registry.js'
import type { Values } from '../values/values.js'
import { keepTurn, messagesOf } from './conversation.js'
import { inActivity } from './in-activity.js'

/** Activity `model.turn`: one reply of the model, and a host's look at every direct call in it. */
export function modelTurn(
  provider: ModelProvider,
  registry: ToolRegistry,
  values: Values,
  instructions: string | undefined,
) {
  return ({ model, limits, conversation: past, said }: ModelTurnInput): Promise<ModelTurnResult> =>
    inActivity(async ({ signal, report }) => {
      const tools = registry.documentation()
      const prompt = buildPrompt({ tools, limits, ...(instructions === undefined ? {} : { instructions }) })
      const { earlier, now } = await messagesOf(values, past, said, signal)
      const messages: Message[] = [...earlier, ...now]
      const request: ModelRequest = { model: model.name, maxTokens: model.maxTokens, messages, ...prompt }
      const reply = await provider.turn(request, { signal, onProgress: report })
      return {
        reply: await holdReply(values, reply, signal),
        calls: await describeCalls(values, registry, limits, reply, signal),
        conversation: await keepTurn(values, past, [...now, { role: 'assistant', content: reply.content }], signal),
        conversationBytes: utf8Length(JSON.stringify(messages)),
      }
    })
}

/** The reply as the history has it: text and code to be read there, the rest of it in the conversation only. */
async function holdReply(values: Values, reply: ModelReply, signal: AbortSignal): Promise<ModelReply> {
  const content = await Promise.all(reply.content.map((block) => holdBlock(values, block, signal)))
  return { ...reply, content }
}

async function holdBlock(values: Values, block: AssistantBlock, signal: AbortSignal): Promise<AssistantBlock> {
  if (isText(block)) return block
  if (!isToolUse(block)) return { type: block.type }
  const { type, id, name, input } = block
  if (name !== executeCodeTool) return { type, id, name, input: await values.hold(input, signal) }
  const { code = null } = input
  return { type, id, name, input: { code: await values.hold(code, signal) } }
}

async function describeCalls(
  values: Values,
  registry: ToolRegistry,
  limits: Limits,
  { content }: ModelReply,
  signal: AbortSignal,
): Promise<Record<string, DescribedCall>> {
  const direct = content.filter(isToolUse).filter(({ name }) => name !== executeCodeTool)
  const calls = direct.map(async ({ id, name, input }, position) => {
    const described = await describe(values, registry, limits, name, input, position + 1, signal)
    return [id, described] as const
  })
  return Object.fromEntries(await Promise.all(calls))
}

async function describe(
  values: Values,
  registry: ToolRegistry,
  limits: Limits,
  tool: string,
  args: JsonObject,
  index: number,
  signal: AbortSignal,
): Promise<DescribedCall> {
  const call = { tool, arguments: args }
  const description = describeCall(registry, limits, call, 'direct')
  return { index, tool, arguments: await values.hold(args, signal), ...description }
}
