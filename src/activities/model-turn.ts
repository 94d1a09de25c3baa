import { crashPoint } from '../common/crash-point.js'
import type { Limits } from '../common/limits.js'
import {
  type AssistantBlock,
  isText,
  isToolUse,
  type Message,
  type ModelReply,
  type ToolUseBlock,
} from '../common/messages.js'
import { executeCodeTool } from '../common/names.js'
import type { ModelTurnInput, ModelTurnResult } from '../common/runs.js'
import type { DescribedCall } from '../common/steps.js'
import { utf8Length } from '../common/text.js'
import { buildPrompt, type PromptOptions } from '../models/prompt.js'
import type { ModelProvider, ModelRequest } from '../models/provider.js'
import { describeCall } from '../tools/describe-call.js'
import type { ToolRegistry } from '../tools/registry.js'
import type { Values } from '../values/values.js'
import { keepTurn, messagesOf } from './conversation.js'
import { inActivity } from './in-activity.js'
import { documentationOf, isRunsRegistry } from './tool-set.js'

/** Activity `model.turn`: one reply of the model, and a host's look at every direct call in it. */
export function modelTurn(
  provider: ModelProvider,
  registry: ToolRegistry,
  values: Values,
  options: Pick<PromptOptions, 'instructions' | 'hasPackages'>,
) {
  return ({ model, limits, tools: runTools, conversation: past, said }: ModelTurnInput): Promise<ModelTurnResult> =>
    inActivity(async ({ signal, report }) => {
      crashPoint('model.begins')
      const tools = await documentationOf(runTools, registry, values, signal)
      const prompt = buildPrompt({ tools, limits, ...options })
      const { earlier, now } = await messagesOf(values, past, said, signal)
      const messages: Message[] = [...earlier, ...now]
      const request: ModelRequest = { model: model.name, maxTokens: model.maxTokens, messages, ...prompt }
      const reply = await provider.turn(request, { signal, onProgress: report })
      crashPoint('model.replied')
      const held = await holdReply(values, reply, signal)
      const conversation = await keepTurn(values, past, [...now, { role: 'assistant', content: reply.content }], signal)
      crashPoint('model.kept')
      return {
        reply: held,
        calls: describeCalls(registry, isRunsRegistry(registry, runTools), limits, reply, held),
        conversation,
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

/** @param held the same reply: arguments go into the history as they stand there */
function describeCalls(
  registry: ToolRegistry,
  isRuns: boolean,
  limits: Limits,
  reply: ModelReply,
  held: ModelReply,
): Record<string, DescribedCall> {
  const [made, kept] = [directUses(reply), directUses(held)]
  const calls = made.map(({ id, name: tool, input }, position) => {
    const description = describeCall(registry, limits, { tool, arguments: input }, 'direct', isRuns)
    return [id, { index: position + 1, tool, arguments: kept[position]?.input ?? {}, ...description }] as const
  })
  return Object.fromEntries(calls)
}

function directUses({ content }: ModelReply): ToolUseBlock[] {
  return content.filter(isToolUse).filter(({ name }) => name !== executeCodeTool)
}
