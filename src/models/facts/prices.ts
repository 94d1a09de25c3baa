import type { Usage } from '../../common/agent/messages.js'
import { promptTokens } from '../../common/run/runs.js'
import { findModel } from './find-model.js'

/** US dollars per million tokens. */
interface Price {
  readonly input: number
  readonly output: number
  /** Default: `input`. */
  readonly cacheRead?: number | undefined
  /** Writing to the five-minute cache, which the requests use. Default: `input`. */
  readonly cacheWrite?: number | undefined
}

export interface ModelPrice extends Price {
  /** Price of the whole call if its prompt (including cached tokens) has more than `overTokens` tokens. */
  readonly longPrompt?: (Price & { readonly overTokens: number }) | undefined
}

function price(input: number, output: number, cacheRead: number, cacheWrite: number): Required<Price> {
  return { input, output, cacheRead, cacheWrite }
}

// Source: platform.claude.com/docs/en/about-claude/pricing and the pages of the models, as of November 2026. The price
// of Fable 5.2 is from a public tool that reads the same page. Mythos 5.2 and Mythos Preview have no confirmed price:
// null.
const prices: Readonly<Record<string, ModelPrice>> = {
  'claude-fable-5-2': price(8, 40, 0.2, 10),
  'claude-fable-5-1': price(10, 50, 0.25, 12.5),
  'claude-mythos-5-1': price(10, 50, 0.25, 12.5),
  'claude-fable-5': price(10, 50, 1, 12.5),
  'claude-mythos-5': price(10, 50, 1, 12.5),
  'claude-opus-5-5': price(4, 20, 0.2, 5),
  'claude-opus-5': price(5, 25, 0.5, 6.25),
  'claude-opus-4-8': price(5, 25, 0.5, 6.25),
  'claude-opus-4-7': price(5, 25, 0.5, 6.25),
  'claude-opus-4-6': price(5, 25, 0.5, 6.25),
  'claude-opus-4-5': price(5, 25, 0.5, 6.25),
  'claude-sonnet-5-5': price(2, 10, 0.1, 2.5),
  'claude-sonnet-5': price(2, 10, 0.2, 2.5),
  'claude-sonnet-4-6': price(3, 15, 0.3, 3.75),
  'claude-sonnet-4-5': price(3, 15, 0.3, 3.75),
  'claude-haiku-5-5': {
    ...price(0.1, 0.5, 0.01, 0.125),
    longPrompt: { overTokens: 100_000, ...price(0.5, 2.5, 0.05, 0.625) },
  },
  'claude-haiku-4-5': price(1, 5, 0.1, 1.25),
}

/** The models with a known price. A provider may have others. */
export const knownModels: readonly string[] = Object.keys(prices)

/** The default model: balanced, writes code well, and costs half of the next larger model. */
export const defaultModel = 'claude-sonnet-5-5'

/** US dollars of one model call; null when the model's price is unknown (test models, other vendors). */
export function costOf(model: string, usage: Usage): number | null {
  const known = findModel(prices, model)
  return known === undefined ? null : priceOf(known, usage)
}

/** US dollars of one model call at this price. */
export function priceOf(price: ModelPrice, usage: Usage): number {
  const { longPrompt } = price
  const rate = longPrompt !== undefined && promptTokens(usage) > longPrompt.overTokens ? longPrompt : price
  const millionths =
    usage.inputTokens * rate.input +
    usage.outputTokens * rate.output +
    usage.cacheReadTokens * (rate.cacheRead ?? rate.input) +
    usage.cacheWriteTokens * (rate.cacheWrite ?? rate.input)
  return millionths / 1_000_000
}
