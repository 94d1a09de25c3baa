/*
 * Compaction: makes the messages of a run shorter, because the context window of its model is almost full.
 *
 * Phase 1 shortens the results of tools in old messages. If that is not enough, phase 2 asks the model for a summary of
 * the early messages, which takes their place. The tokens that the provider counts decide how much each phase changes.
 * Without a counter, estimates decide.
 *
 * Boundary: the workflow decides when a compaction is due (`src/workflows/turns/compaction.ts`), and adopts the new
 * messages.
 *
 * Invariants:
 * 1. A `tool_use` and its `tool_result` are both kept, or both summarised.
 * 2. The first text of the user stays unchanged over all compactions.
 * 3. Thinking in replies after a changed message is left out.
 * 4. The earlier messages stay in the value store, because a log is never changed. After a crash, only the activity is
 *    repeated.
 * 5. A failure of the model is a result. The messages then have only phase 1.
 */
import { activityInfo } from '@temporalio/activity'
import { defined } from '../../../common/defined.js'
import { failpoint } from '../../../common/failpoint.js'
import { PtcError } from '../../../common/errors.js'
import { estimateCharacters, estimateTokens } from '../../../common/agent/context-window.js'
import type { Message, ModelReply, StoredMessage, WholeResults } from '../../../common/agent/messages.js'
import type { CompactionInput, CompactionResult } from '../../../common/agent/model-turn.js'
import { replyText } from '../../../common/run/runs.js'
import type { ModelRequest } from '../../../models/provider.js'
import type { ModelProviders } from '../../../models/providers.js'
import type { Values } from '../../../values/values.js'
import { codeOf, Observer } from '../../observe.js'
import { type ActivityScope, runActivity } from '../../run-activity.js'
import { appendTurn, loadMessages } from '../conversation.js'
import type { ModelParts } from '../model-turn.js'
import { measureTurn } from '../observe-turn.js'
import { nextRequestCounter } from './count-next-request.js'
import { shortenOldResults } from './shorten-results.js'
import { splitMessages, withoutThinking } from './split-messages.js'
import { compactedMessage, summaryRequest } from './summary.js'

/** Number of latest replies. Results that these replies could read stay whole, unless a summary replaces them. */
const recentTurns = 3

/** After this attempt the run continues without a summary. */
const maxAttempts = 3

const minTranscriptCharacters = 4_000

/** A summary, or the reason why there is none, with its usage. */
type Summary = { readonly reply: ModelReply } | Pick<CompactionResult, 'problem' | 'summary'>

/** Maximum number of counted splits. Each split keeps half of the messages that the previous one kept. */
const maxSplits = 3

/** Activity `model.compact`. */
export function compactMessages(parts: ModelParts) {
  return (input: CompactionInput): Promise<CompactionResult> =>
    runActivity((scope) => {
      const { turn, message, tokens: tokensBefore } = input
      const fields = { turn, ...defined({ message }), tokensBefore }
      // A turn can have several compactions: the provider may refuse the messages of the first one.
      const unit = `compaction/${turn}/${activityInfo().activityId}`
      return new Observer(parts, scope, { unit }).observe(
        {
          started: { type: 'compaction.started', ...fields },
          completed: ({ tokens: tokensAfter, shortened, summarized, problem }) => {
            const counts = { tokensAfter, shortened, summarized, ...defined({ problem }) }
            return [{ type: 'compaction.completed', ...fields, ...counts }]
          },
          failed: (thrown) => ({ type: 'compaction.failed', ...fields, code: codeOf(thrown, scope) }),
        },
        () => compact(parts, input, scope),
      )
    })
}

async function compact(parts: ModelParts, input: CompactionInput, scope: ActivityScope): Promise<CompactionResult> {
  const { history, targetTokens, counted } = input
  const { signal } = scope
  const { providers, values } = parts
  const messages = await loadMessages(values, history, signal)
  const count = nextRequestCounter(providers, parts, input, messages, signal)
  const tokensBefore = await count(messages)
  // The estimate was too high. A change of the messages would void the prompt cache.
  if (counted && tokensBefore <= counted.dueTokens)
    return { history, tokens: tokensBefore, shortened: 0, summarized: 0 }
  const store = async (changed: readonly StoredMessage[], result: Omit<CompactionResult, 'history'>) => {
    const stored = await Promise.all(changed.map((message) => storeWholeResults(values, message, signal)))
    const compacted = await appendTurn(values, null, stored, signal)
    failpoint('messages.compacted')
    return { ...result, history: compacted }
  }

  const { messages: short, shortened } = shortenOldResults(messages, recentTurns)
  const tokens = shortened === 0 ? tokensBefore : await count(short)
  const withoutSummary = async (summary: Pick<CompactionResult, 'problem' | 'summary'> = {}) => {
    const result = { ...summary, shortened, summarized: 0, tokens }
    return shortened === 0 ? { ...result, history } : store(short, result)
  }
  if (tokens <= targetTokens) return withoutSummary()

  const split = await chooseSplit(short, input, count)
  if (split === undefined) return withoutSummary({ problem: 'the messages are too few for a summary' })
  const summarized = await summarize(providers, input, short.slice(0, split.position), scope)
  if (!('reply' in summarized)) return withoutSummary(summarized)
  const { content, ...summary } = summarized.reply
  const text = replyText(content)
  const result = {
    shortened,
    summarized: split.position,
    summary,
    tokens: split.tokens + estimateTokens(text.length),
  }
  return store(replaceEarly(short, split.position, text, input), result)
}

interface Split {
  /** Position of the first message that stays. */
  readonly position: number
  /** Tokens of the next request, without the text of the summary. */
  readonly tokens: number
}

/**
 * Chooses the early messages that a summary replaces, so that the next request has at most the target number of tokens.
 */
async function chooseSplit(
  messages: readonly StoredMessage[],
  input: CompactionInput,
  count: (changed: readonly Message[]) => Promise<number>,
): Promise<Split | undefined> {
  let chosen: Split | undefined
  for (let round = 0; round < maxSplits; round += 1) {
    const position = splitMessages(messages, estimateCharacters(input.keptTokens / 2 ** round))
    if (position === undefined || position === chosen?.position) continue
    chosen = { position, tokens: await count(replaceEarly(messages, position, '', input)) }
    if (chosen.tokens <= input.targetTokens) break
  }
  return chosen
}

/** Returns the messages with a summary in place of those before a position. */
function replaceEarly(
  messages: readonly StoredMessage[],
  position: number,
  summary: string,
  { keptTokens }: CompactionInput,
): readonly StoredMessage[] {
  const first = compactedMessage(messages.slice(0, position), summary, estimateCharacters(keptTokens / 2))
  return [first, ...withoutThinking(messages.slice(position))]
}

/** Returns the message with references to the whole texts of its results. */
async function storeWholeResults(values: Values, message: StoredMessage, signal: AbortSignal): Promise<StoredMessage> {
  if (!message.whole) return message
  const store = async ([id, parts]: [string, WholeResults[string]]) =>
    [id, await Promise.all(parts.map((part) => values.externalize(part, signal)))] as const
  return { ...message, whole: Object.fromEntries(await Promise.all(Object.entries(message.whole).map(store))) }
}

/** @throws errors that a retry may solve, and the reason of a cancellation */
async function summarize(
  providers: ModelProviders,
  { model, targetTokens }: CompactionInput,
  early: readonly Message[],
  { signal, report, attempt }: ActivityScope,
): Promise<Summary> {
  const { name, maxTokens, temperature, provider } = model
  const settings = { maxTokens, ...defined({ temperature }) }
  // This assumes fewer characters per token than usual, so that the request always fits.
  const maxCharacters = Math.max(minTranscriptCharacters, 2 * (targetTokens - maxTokens))
  const request: ModelRequest = { model: name, ...settings, ...summaryRequest(early, maxCharacters) }
  try {
    const ask = () => providers.turn(provider, request, { signal, onProgress: report })
    const reply = await measureTurn(provider, request, ask)
    failpoint('messages.summarized')
    if (replyText(reply.content).trim() !== '' && reply.stopReason !== 'refusal') return { reply }
    const { content: _, ...summary } = reply
    return { problem: `the model wrote no summary (${reply.stopReason})`, summary }
  } catch (thrown) {
    if (!PtcError.isInstance(thrown) || (thrown.retryable && attempt < maxAttempts)) throw thrown
    return { problem: thrown.message }
  }
}
