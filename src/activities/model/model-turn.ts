import type { AuditLog } from '../../audit/index.js'
import { PtcError } from '../../common/errors.js'
import { failpoint } from '../../common/failpoint.js'
import type { JsonObject, JsonValue } from '../../common/json/json.js'
import type { Limits } from '../../common/runs/limits.js'
import {
  type AssistantBlock,
  isTextBlock,
  isToolUseBlock,
  type Message,
  type ModelReply,
  toMessage,
  type ToolUseBlock,
} from '../../common/runs/messages.js'
import { executeCodeTool, readMoreTool, searchToolsTool, submitAnswerTool } from '../../common/names.js'
import type { ModelTurnInput, ModelTurnResult } from '../../common/runs/model-turn.js'
import type { DescribedCall } from '../../common/session/steps.js'
import { utf8Length } from '../../common/text/text.js'
import { buildPrompt, type PromptOptions } from '../../models/prompt.js'
import type { ModelDelta, ModelProgress, ModelRequest } from '../../models/provider.js'
import type { ModelProviders } from '../../models/providers.js'
import { describeCall } from '../../tools/describe-call.js'
import type { ToolRegistry } from '../../tools/registry.js'
import type { StreamPublisher } from '../../stream/index.js'
import type { Values } from '../../values/values.js'
import { auditRefusals } from '../audit-events.js'
import { appendTurn, loadMessages, loadPending } from './conversation.js'
import { measureTurn } from './model-metrics.js'
import { toFailure } from '../failures.js'
import { runActivity } from '../run-activity.js'
import { TurnStream } from '../stream-events.js'
import { findRunTools, loadDocumentation, type RunTools } from '../run/tool-set.js'
import { checkAnswer } from './check-answer.js'

/** Activity `model.turn`: one reply of the model, with each direct call checked and described. */
export function modelTurn(
  providers: ModelProviders,
  registry: ToolRegistry,
  values: Values,
  options: Pick<PromptOptions, 'hasPackages'>,
  audit?: AuditLog,
  stream?: StreamPublisher,
) {
  return (input: ModelTurnInput): Promise<ModelTurnResult> =>
    runActivity(async (scope) => {
      failpoint('model.begins')
      const { signal, report, workflowId, runId, attempt } = scope
      const { turn, model, limits, tools: runTools, history, pending, requester } = input
      const { inputDescription, isCompacted, readMore, toolSearch } = input
      const tools = await loadDocumentation(runTools, registry, values, signal)
      const { instructions, outputSchema } = await loadAgent(input, values, signal)
      const described = { inputDescription, isCompacted, readMore, toolSearch, ...options }
      const prompt = buildPrompt({ tools, limits, instructions, outputSchema, ...described })
      const now = await loadPending(values, pending, readMore === true, signal)
      const messages = [...(await loadMessages(values, history, signal)), ...now].map(toMessage)
      const { name: modelName, maxTokens, temperature, fallbacks } = model
      const settings = { maxTokens, ...(temperature !== undefined && { temperature }) }
      const request: ModelRequest = { model: modelName, ...settings, messages, ...prompt }
      const published = { turn, model: modelName, messages: history?.length ?? 0, fallbacks: fallbacks?.length ?? 0 }
      const live = TurnStream.begin(stream, published, scope)
      const onProgress = (progress: ModelProgress): void => {
        report(progress)
        live?.progress(progress)
      }
      const callbacks = { signal, onProgress, onDelta: live && ((delta: ModelDelta) => live.delta(delta)) }
      const ask = async () => providers.require(model.provider).turn(request, callbacks)
      const reply = await measureTurn(model.provider, request, ask).catch((thrown: unknown) => {
        live?.fail(thrown)
        throw fallbacks && isGivenUp(thrown, attempt) ? toFailure(thrown, true) : thrown
      })
      failpoint('model.replied')
      const externalized = await externalizeReply(values, reply, signal)
      const assistantMessage: Message = { role: 'assistant', content: reply.content }
      const extendedHistory = await appendTurn(values, history, [...now, assistantMessage], signal)
      live?.end(reply)
      failpoint('turn.stored')
      const calls = describeCalls(findRunTools(registry, runTools), limits, reply, externalized)
      const origin = { workflowId, runId, attempt, requester }
      const id = `${runId}/${turn}`
      const { model: name, stopReason } = reply
      const replied = { kind: 'model.replied', turn, model: name, stopReason } as const
      await audit?.after({ workflowId, runId, attempt, ...requester, id: `${id}/model.replied`, ...replied })
      await auditRefusals(audit, Object.values(calls), id, origin)
      return {
        reply: externalized,
        calls,
        history: extendedHistory,
        conversationBytes: utf8Length(JSON.stringify(messages)),
        ...(outputSchema && checkAnswer(outputSchema, reply)),
      }
    })
}

/** A model that has a fallback is given up after this many attempts… */
const attemptsBeforeFallback = 3

/** … or when its provider asks to wait for longer. */
const maxWaitBeforeFallbackMs = 10_000

function isGivenUp(thrown: unknown, attempt: number): boolean {
  if (!PtcError.isInstance(thrown)) return false
  return attempt >= attemptsBeforeFallback || (thrown.retryAfterMs ?? 0) > maxWaitBeforeFallbackMs
}

/** What the agent of the run has, as it was when the run began. */
async function loadAgent(
  { instructions, outputSchema }: ModelTurnInput,
  values: Values,
  signal: AbortSignal,
): Promise<{ readonly instructions?: string; readonly outputSchema?: JsonObject }> {
  const load = (value: JsonValue) => values.load(value, 'the agent of the run', signal)
  return {
    ...(instructions !== undefined && { instructions: (await load(instructions)) as string }),
    ...(outputSchema !== undefined && { outputSchema: (await load(outputSchema)) as JsonObject }),
  }
}

/**
 * The reply for the history: text inline, tool inputs and code externalized where large. Other blocks are reduced to
 * their type; the stored conversation has them in full.
 */
async function externalizeReply(values: Values, reply: ModelReply, signal: AbortSignal): Promise<ModelReply> {
  const content = await Promise.all(reply.content.map((block) => externalizeBlock(values, block, signal)))
  return { ...reply, content }
}

async function externalizeBlock(values: Values, block: AssistantBlock, signal: AbortSignal): Promise<AssistantBlock> {
  if (isTextBlock(block)) return block
  if (!isToolUseBlock(block)) return { type: block.type }
  const { type, id, name, input } = block
  if (name !== executeCodeTool) return { type, id, name, input: await values.externalize(input, signal) }
  const { code = null } = input
  return { type, id, name, input: { code: await values.externalize(code, signal) } }
}

/** @param externalized the same reply with external inputs: the source of the arguments in the history */
function describeCalls(
  { registry, registryMatchesRun }: RunTools,
  limits: Limits,
  reply: ModelReply,
  externalized: ModelReply,
): Record<string, DescribedCall> {
  const [uses, externalizedUses] = [directToolUses(reply), directToolUses(externalized)]
  const calls = uses.map(({ id, name: tool, input, input_problem: message }, position) => {
    const description = describeCall(registry, limits, { tool, arguments: input }, 'direct', registryMatchesRun)
    const refused = message === undefined ? description.refused : ({ status: 'invalid_arguments', message } as const)
    return [
      id,
      { index: position + 1, tool, arguments: externalizedUses[position]?.input ?? {}, ...description, refused },
    ] as const
  })
  return Object.fromEntries(calls)
}

function directToolUses({ content }: ModelReply): ToolUseBlock[] {
  return content.filter(isToolUseBlock).filter(({ name }) => !engineTools.includes(name))
}

/** No tool of a user has such a name. */
const engineTools: readonly string[] = [executeCodeTool, submitAnswerTool, readMoreTool, searchToolsTool]
