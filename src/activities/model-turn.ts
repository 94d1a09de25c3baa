import type { JsonObject } from '../common/json.js'
import type { Limits } from '../common/limits.js'
import { isToolUse } from '../common/messages.js'
import { executeCodeTool } from '../common/names.js'
import type { ModelTurnInput, ModelTurnResult } from '../common/runs.js'
import type { DescribedCall } from '../common/steps.js'
import { buildPrompt } from '../models/prompt.js'
import type { ModelProvider } from '../models/provider.js'
import { describeCall } from '../tools/describe-call.js'
import type { ToolRegistry } from '../tools/registry.js'
import { inActivity } from './in-activity.js'

/** Activity `model.turn`: one reply of the model, and a host's look at every direct call in it. */
export function modelTurn(provider: ModelProvider, registry: ToolRegistry, instructions: string | undefined) {
  return ({ model, limits, messages }: ModelTurnInput): Promise<ModelTurnResult> =>
    inActivity(async ({ signal, report }) => {
      const tools = registry.documentation()
      const prompt = buildPrompt({ tools, limits, ...(instructions === undefined ? {} : { instructions }) })
      const request = { model: model.name, maxTokens: model.maxTokens, messages, ...prompt }
      const reply = await provider.turn(request, { signal, onProgress: report })
      const direct = reply.content.filter(isToolUse).filter(({ name }) => name !== executeCodeTool)
      const calls = direct.map(({ id, name, input }, position) => [
        id,
        describe(registry, limits, name, input, position + 1),
      ])
      return { reply, calls: Object.fromEntries(calls) }
    })
}

function describe(
  registry: ToolRegistry,
  limits: Limits,
  tool: string,
  args: JsonObject,
  index: number,
): DescribedCall {
  const call = { tool, arguments: args }
  return { index, ...call, ...describeCall(registry, limits, call, 'direct') }
}
