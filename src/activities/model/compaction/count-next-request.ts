import { estimateTokens } from '../../../common/agent/context-window.js'
import type { Message } from '../../../common/agent/messages.js'
import type { CompactionInput } from '../../../common/agent/model-turn.js'
import type { ModelProviders } from '../../../models/providers.js'
import { prepareTurn, type TurnSources } from '../load-turn.js'
import { countCharacters } from './split-messages.js'

/** After this time the tokens are estimated: a compaction does not wait for a slow counter. */
const countMs = 5_000

/** Counts the tokens of the next request, with these messages in place of the stored ones. */
type TokenCounter = (messages: readonly Message[]) => Promise<number>

/**
 * Returns a counter that uses the provider. Without a counter of the provider, or after its failure, the tokens are
 * estimated from the number of removed characters.
 *
 * @param stored the messages to which `input.tokens` applies
 */
export function nextRequestCounter(
  providers: ModelProviders,
  sources: TurnSources,
  { model, history, counted: asked, tokens }: CompactionInput,
  stored: readonly Message[],
  signal: AbortSignal,
): TokenCounter {
  const characters = countCharacters(stored)
  let isAvailable = true
  let prepared: ReturnType<typeof prepareTurn> | undefined

  async function countByProvider(messages: readonly Message[]): Promise<number | undefined> {
    if (!isAvailable || asked === undefined) return undefined
    try {
      prepared ??= prepareTurn({ ...asked.next, model, history }, sources, signal)
      const { request } = await (await prepared)(messages)
      const deadline = AbortSignal.any([signal, AbortSignal.timeout(countMs)])
      return await providers.countTokens(model.provider, request, { signal: deadline })
    } catch {
      signal.throwIfAborted()
      return undefined
    }
  }

  return async (messages) => {
    const counted = await countByProvider(messages)
    isAvailable = counted !== undefined
    return counted ?? Math.max(0, tokens - estimateTokens(characters - countCharacters(messages)))
  }
}
