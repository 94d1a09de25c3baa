/*
 * Compaction: makes the messages of a run shorter, because the context window of its model gets full.
 *
 * Phase 1 shortens the results of tools in old messages. If that is not enough, phase 2 asks the model for a summary of
 * the early messages, which takes their place.
 *
 * Boundary: the workflow decides when (`src/workflows/turns/compaction.ts`), and adopts the new messages.
 *
 * Invariants:
 * 1. A `tool_use` and its `tool_result` are both kept, or both summarised.
 * 2. The first text of the user is kept as it is, over all compactions.
 * 3. Thinking in replies after a changed message is left out.
 * 4. The messages as they were stay in the value store: a log is never changed. A crash repeats the activity only.
 * 5. A failure of the model is a result: the messages then have phase 1 only.
 */
import { failpoint } from '../../../common/failpoint.js'
import { PtcError } from '../../../common/errors.js'
import { estimateCharacters, estimateTokens } from '../../../common/runs/context-window.js'
import type { Message, ModelReply, StoredMessage, WholeResults } from '../../../common/runs/messages.js'
import type { CompactionInput, CompactionResult } from '../../../common/runs/model-turn.js'
import { replyText } from '../../../common/runs/runs.js'
import type { ModelRequest } from '../../../models/provider.js'
import type { ModelProviders } from '../../../models/providers.js'
import type { Values } from '../../../values/values.js'
import { type ActivityScope, runActivity } from '../../run-activity.js'
import { appendTurn, loadMessages } from '../conversation.js'
import { measureTurn } from '../model-metrics.js'
import { shortenOldResults } from './shorten-results.js'
import { countCharacters, splitMessages, withoutThinking } from './split-messages.js'
import { compactedMessage, summaryRequest } from './summary.js'

/** The results that the last replies could read stay whole, unless they are summarised. */
const recentTurns = 3

/** After this attempt the run goes on without a summary. */
const maxAttempts = 3

const minTranscriptCharacters = 4_000

/** A summary, or why there is none and what it has used. */
type Summary = { readonly reply: ModelReply } | Pick<CompactionResult, 'problem' | 'summary'>

/** Activity `model.compact`. */
export function compactMessages(providers: ModelProviders, values: Values) {
  return (input: CompactionInput): Promise<CompactionResult> =>
    runActivity(async (scope) => {
      const { history, tokens, targetTokens, keptTokens, readMore = false } = input
      const { signal } = scope
      const messages = await loadMessages(values, history, signal)
      const characters = countCharacters(messages)
      const estimate = (changed: readonly Message[]): number =>
        Math.max(0, tokens - estimateTokens(characters - countCharacters(changed)))
      const store = async (changed: readonly StoredMessage[], result: Omit<CompactionResult, 'history' | 'tokens'>) => {
        const stored = await Promise.all(changed.map((message) => storeWholeResults(values, message, signal)))
        const compacted = await appendTurn(values, null, stored, signal)
        failpoint('messages.compacted')
        return { ...result, history: compacted, tokens: estimate(changed) }
      }

      const { messages: short, shortened } = shortenOldResults(messages, { recentTurns, readMore })
      const withoutSummary = async (summary: Pick<CompactionResult, 'problem' | 'summary'> = {}) => {
        const result = { ...summary, shortened, summarized: 0 }
        return shortened === 0 ? { ...result, history, tokens } : store(short, result)
      }
      if (estimate(short) <= targetTokens) return withoutSummary()

      const split = splitMessages(short, estimateCharacters(keptTokens))
      if (split === undefined) return withoutSummary({ problem: 'the messages are too few for a summary' })
      const early = short.slice(0, split)
      const summarized = await summarize(providers, input, early, scope)
      if (!('reply' in summarized)) return withoutSummary(summarized)
      const { content, ...summary } = summarized.reply
      const first = compactedMessage(early, replyText(content), estimateCharacters(keptTokens / 2))
      const compacted = [first, ...withoutThinking(short.slice(split))]
      return store(compacted, { shortened, summarized: early.length, summary })
    })
}

/** The message with the whole texts of its results as references. */
async function storeWholeResults(values: Values, message: StoredMessage, signal: AbortSignal): Promise<StoredMessage> {
  if (!message.whole) return message
  const store = async ([id, parts]: [string, WholeResults[string]]) =>
    [id, await Promise.all(parts.map((part) => values.externalize(part, signal)))] as const
  return { ...message, whole: Object.fromEntries(await Promise.all(Object.entries(message.whole).map(store))) }
}

/** @throws what a retry may cure, and the reason of a cancellation */
async function summarize(
  providers: ModelProviders,
  { model, targetTokens }: CompactionInput,
  early: readonly Message[],
  { signal, report, attempt }: ActivityScope,
): Promise<Summary> {
  const { name, maxTokens, temperature, provider } = model
  const settings = { maxTokens, ...(temperature !== undefined && { temperature }) }
  // Fewer characters for a token than usual, so that the request surely fits.
  const maxCharacters = Math.max(minTranscriptCharacters, 2 * (targetTokens - maxTokens))
  const request: ModelRequest = { model: name, ...settings, ...summaryRequest(early, maxCharacters) }
  try {
    const ask = async () => providers.require(provider).turn(request, { signal, onProgress: report })
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
