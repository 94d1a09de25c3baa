import { doneCheckArguments } from '../../agents/index.js'
import { defined } from '../../common/defined.js'
import { PtcError } from '../../common/errors.js'
import { failpoint } from '../../common/failpoint.js'
import type { Externalizable } from '../../common/json/external-value.js'
import type { JsonObject, JsonValue } from '../../common/json/json.js'
import { codeCallerOf, codeExecutionTool } from '../../common/agent/hosted-code.js'
import {
  type AssistantBlock,
  isTextBlock,
  isToolUseBlock,
  type ModelReply,
  type UnknownBlock,
} from '../../common/agent/messages.js'
import {
  activateSkillTool,
  deactivateSkillTool,
  executeCodeTool,
  readMoreTool,
  searchToolsTool,
  shareFileTool,
  submitAnswerTool,
  taskTools,
} from '../../common/names.js'
import { environmentCellOf, isEnvironmentTool } from '../../common/run/environment.js'
import type { ModelTurnInput, ModelTurnResult, SubmittedAnswer, TurnLimits } from '../../common/agent/model-turn.js'
import type { DescribedCall } from '../../common/session/steps.js'
import { jsonToText, truncateEnd, utf8Length } from '../../common/text/text.js'
import type { ModelProgress } from '../../models/provider.js'
import type { ModelProviders } from '../../models/providers.js'
import { sentToolNames } from '../../models/request/sendable-request.js'
import { textCallOf } from '../../models/reply/text-call.js'
import { describeCall } from '../../tools/calls/describe-call.js'
import type { Values } from '../../values/values.js'
import { appendTurn, toStored } from './conversation.js'
import { loadTurn, type TurnSources } from './load-turn.js'
import { measureTurn, observeTurn } from './observe-turn.js'
import { toFailure } from '../failures.js'
import type { EventSinks } from '../observe.js'
import { runActivity } from '../run-activity.js'
import { loadRunTools, type RunTools } from '../../tools/sources/tool-set.js'
import { publishRefusals } from '../tool-call/observe-call.js'
import { checkAnswer } from './check-answer.js'

export interface ModelParts extends TurnSources, EventSinks {
  readonly providers: ModelProviders
}

/** Activity `model.turn`: gets one reply of the model, and checks and describes each direct call. */
export function modelTurn(parts: ModelParts) {
  const { providers, registry, values } = parts
  return (input: ModelTurnInput): Promise<ModelTurnResult> =>
    runActivity(async (scope) => {
      failpoint('model.begins')
      const { signal, report, runId, attempt } = scope
      const { turn, model, limits, tools: runTools, history } = input
      const { mode, hosted, requester, skills, isPlain = false } = input
      const { request, now, withoutMedia, outputSchema } = await loadTurn(input, parts, signal)
      const { provider, fallbacks } = model
      const invalidReplies = invalidRepliesIn(scope.previousDetails)
      const origin = { ...scope, requester }
      let isGivenUp = false
      const stored = await observeTurn(parts, input, origin, async ({ onProgress, onDelta }) => {
        const reportAndPublish = (progress: ModelProgress): void => {
          report(invalidReplies === 0 ? progress : { ...progress, invalidReplies })
          onProgress(progress)
        }
        const ask = () => providers.turn(provider, request, { signal, onProgress: reportAndPublish, onDelta })
        const written = await measureTurn(provider, request, ask).catch((thrown: unknown) => {
          if (isInvalidReply(thrown)) report({ invalidReplies: invalidReplies + 1 })
          const isLast = isInvalidReply(thrown) && invalidReplies + 1 >= maxInvalidReplies
          isGivenUp = isLast || (fallbacks !== undefined && leavesToFallback(thrown, attempt))
          throw thrown
        })
        failpoint('model.replied')
        const reply = withEnvironmentCells(written, input)
        const externalized = await externalizeReply(values, reply, { isHosted: hosted !== undefined, isPlain }, signal)
        const extendedHistory = await appendTurn(values, history, [...now, toStored(written.content, model)], signal)
        return { reply, externalized, extendedHistory }
      }).catch((thrown: unknown) => {
        throw isGivenUp ? toFailure(thrown, true) : thrown
      })
      const { reply, externalized, extendedHistory } = stored
      failpoint('turn.stored')
      const { answer } = checkAnswer({ mode, outputSchema }, reply)
      const found = await loadRunTools(registry, runTools, values, signal)
      const known = new Set([...sentToolNames(request)].flat().concat(found.registry.names))
      const textCall = textCallOf(reply.content, known)
      const calls = {
        ...describeCalls(found, limits, reply, externalized, {
          hasOwnToolsOnly: isPlain && outputSchema === undefined,
          hasSkills: skills?.list !== undefined,
          hasSharing: input.heldSessions !== undefined && input.hasFiles === true,
        }),
        ...(await describeDoneCheck(found, input, reply, answer, values, signal)),
      }
      await publishRefusals(parts, Object.values(calls), origin, `${runId}/${turn}`)
      return {
        reply: externalized,
        calls,
        history: extendedHistory,
        conversationBytes: utf8Length(JSON.stringify(withoutMedia)),
        ...defined({ answer, textCall }),
      }
    })
}

/** A model is given up after this number of unusable replies: the next reply is usually the same. */
const maxInvalidReplies = 2

function isInvalidReply(thrown: unknown): boolean {
  return PtcError.isInstance(thrown) && thrown.code === 'MODEL_REPLY_INVALID'
}

/** Returns the number of earlier attempts with such a reply. */
function invalidRepliesIn(details: unknown): number {
  const { invalidReplies } = { ...(details as { readonly invalidReplies?: unknown } | null | undefined) }
  return typeof invalidReplies === 'number' ? invalidReplies : 0
}

/** A model that has a fallback is given up after this number of attempts, */
const attemptsBeforeFallback = 3

/** or when its provider asks to wait for longer than this time. */
const maxWaitBeforeFallbackMs = 10_000

function leavesToFallback(thrown: unknown, attempt: number): boolean {
  if (!PtcError.isInstance(thrown)) return false
  return attempt >= attemptsBeforeFallback || (thrown.retryAfterMs ?? 0) > maxWaitBeforeFallbackMs
}

/** Returns the reply with the uses of environment tools as cells. The stored conversation has what the model wrote. */
function withEnvironmentCells(reply: ModelReply, { environment, limits, heldSessions }: ModelTurnInput): ModelReply {
  if (environment === undefined) return reply
  const content = reply.content.map((block) => {
    if (!isToolUseBlock(block)) return block
    if (block.name === executeCodeTool) return { ...block, input: { ...block.input, tool: null } }
    const cell = environmentCellOf(
      block.name,
      block.input,
      environment,
      limits.outputCharacters,
      heldSessions !== undefined,
    )
    if (cell === undefined) return block
    const input = block.input_problem === undefined ? cell : { tool: cell.tool }
    return { ...block, name: executeCodeTool, input }
  })
  return { ...reply, content }
}

/**
 * Returns the reply for the history: text inline, large tool inputs and large code externalized. Other blocks are
 * reduced to their type; the stored conversation has them in full.
 */
async function externalizeReply(
  values: Values,
  reply: ModelReply,
  { isHosted, isPlain }: { readonly isHosted: boolean; readonly isPlain: boolean },
  signal: AbortSignal,
): Promise<ModelReply> {
  const externalize = (value: JsonValue) => values.externalize(value, signal)
  const externalizeOne = isHosted ? externalizeHostedBlock : isPlain ? externalizePlainBlock : externalizeBlock
  const content = await Promise.all(reply.content.map((block) => externalizeOne(block, externalize)))
  return { ...reply, content }
}

type Externalize = (value: JsonValue) => Promise<Externalizable>

async function externalizeBlock(block: AssistantBlock, externalize: Externalize): Promise<AssistantBlock> {
  if (isTextBlock(block)) return block
  if (!isToolUseBlock(block)) return { type: block.type }
  const { type, id, name, input } = block
  if (name !== executeCodeTool) return externalizePlainBlock(block, externalize)
  const { code = null, language = null, session = null, tool } = input
  const problem = block.input_problem !== undefined && { input_problem: block.input_problem }
  const named = {
    ...(language !== null && { language: truncateEnd(jsonToText(language), maxNameCharacters) }),
    ...(session !== null && { session: truncateEnd(jsonToText(session), maxNameCharacters) }),
  }
  const used = isEnvironmentTool(tool) && { tool }
  return { type, id, name, input: { code: await externalize(code), ...named, ...used }, ...problem }
}

/**
 * The name of a language or a session has fewer characters. The model reads another one in the message that it is
 * unknown.
 */
const maxNameCharacters = 40

/** Externalizes a block of a plain run. No tool is the tool for code, even with the same name. */
async function externalizePlainBlock(block: AssistantBlock, externalize: Externalize): Promise<AssistantBlock> {
  if (!isToolUseBlock(block)) return isTextBlock(block) ? block : { type: block.type }
  const { type, id, name, input } = block
  return { type, id, name, input: (await externalize(input)) as JsonObject }
}

/**
 * Externalizes a block of hosted code. The workflow also needs to know which code made a call, and which code has
 * ended.
 */
async function externalizeHostedBlock(block: AssistantBlock, externalize: Externalize): Promise<AssistantBlock> {
  if (isToolUseBlock(block) && codeCallerOf(block) !== undefined) {
    const { type, id, name, input, caller } = block
    return { type, id, name, input: (await externalize(input)) as JsonObject, ...defined({ caller }) }
  }
  if (isToolUseBlock(block)) return externalizeBlock(block, externalize)
  const { type, id, name, input, tool_use_id: useId, content } = block as UnknownBlock
  if (type === 'server_tool_use' && id !== undefined && name !== undefined) {
    const { code = null } = (input ?? {}) as JsonObject
    return { type, id, name, ...(name === codeExecutionTool && { input: { code: await externalize(code) } }) }
  }
  if (useId !== undefined && content !== undefined)
    return { type, tool_use_id: useId, content: await externalizeCodeResult(content as JsonObject, externalize) }
  return externalizeBlock(block, externalize)
}

/** Externalizes the result of hosted code, without files and ciphers: the stored conversation has them. */
async function externalizeCodeResult(content: JsonObject, externalize: Externalize): Promise<JsonObject> {
  const { type = '', error_code: code, stdout, stderr = '', return_code: returnCode = 0 } = content
  if (code !== undefined) return { type, error_code: code }
  if (stdout === undefined) return { type }
  return { type, stdout: await externalize(stdout), stderr: await externalize(stderr), return_code: returnCode }
}

/**
 * @param externalized the same reply with external inputs: the source of the arguments in the history
 * @param hasOwnToolsOnly true when the model has no tool of the engine: each name is the name of a tool of the run
 */
function describeCalls(
  { registry, registryMatchesRun }: RunTools,
  limits: TurnLimits,
  reply: ModelReply,
  externalized: ModelReply,
  {
    hasOwnToolsOnly,
    hasSkills,
    hasSharing,
  }: { readonly hasOwnToolsOnly: boolean; readonly hasSkills: boolean; readonly hasSharing: boolean },
): Record<string, DescribedCall> {
  const engineNames = [...engineTools, ...(hasSkills ? skillTools : []), ...(hasSharing ? [shareFileTool] : [])]
  const usesOf = ({ content }: ModelReply) =>
    content.filter(isToolUseBlock).filter(({ name }) => hasOwnToolsOnly || !engineNames.includes(name))
  const [uses, externalizedUses] = [usesOf(reply), usesOf(externalized)]
  const allUses = reply.content.filter(isToolUseBlock)
  const calls = uses.map((use, position) => {
    // The workflow numbers all tool uses in the same way, including code.
    const index = allUses.indexOf(use) + 1
    const { id, name: tool, input, input_problem: message } = use
    const caller = codeCallerOf(use) === undefined ? 'direct' : 'code_execution'
    const description = describeCall(registry, limits, { tool, arguments: input }, caller, registryMatchesRun)
    const refused = message === undefined ? description.refused : ({ status: 'invalid_arguments', message } as const)
    return [id, { index, tool, arguments: externalizedUses[position]?.input ?? {}, ...description, refused }] as const
  })
  return Object.fromEntries(calls)
}

/** Returns the call that checks whether the work is done, by the id of the tool use that submits the answer. */
async function describeDoneCheck(
  { registry, registryMatchesRun }: RunTools,
  { doneCheck, limits }: ModelTurnInput,
  { content }: ModelReply,
  answer: SubmittedAnswer | undefined,
  values: Values,
  signal: AbortSignal,
): Promise<Record<string, DescribedCall>> {
  const use = content.filter(isToolUseBlock).find(({ name }) => name === submitAnswerTool)
  if (doneCheck === undefined || !use || answer?.type !== 'valid') return {}
  const call = { tool: doneCheck, arguments: doneCheckArguments(registry.get(doneCheck), answer.output) }
  const description = describeCall(registry, limits, call, 'direct', registryMatchesRun)
  const args = await values.externalize(call.arguments, signal)
  return { [use.id]: { index: 1, tool: doneCheck, ...description, arguments: args } }
}

/** Names of the engine's tools. A tool of a user can't have such a name. */
const engineTools: readonly string[] = [executeCodeTool, readMoreTool, searchToolsTool, ...taskTools]
const skillTools: readonly string[] = [activateSkillTool, deactivateSkillTool]
