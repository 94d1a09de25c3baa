import { defined } from '../defined.js'
import type { JsonObject } from '../json/json.js'

/** Thinking of a model before its reply: the model decides, no thinking, or up to a number of tokens. */
export type Thinking = 'adaptive' | 'off' | { readonly budgetTokens: number }

/** The effort of a model for a reply. */
export type Effort = 'low' | 'medium' | 'high' | 'xhigh' | 'max'

export const efforts = ['low', 'medium', 'high', 'xhigh', 'max'] as const satisfies readonly Effort[]

/** Tools that the server of a model executes, in the format of its API, by the name of the provider. */
export type ServerTools = Readonly<Record<string, readonly JsonObject[]>>

/**
 * Settings of a model's replies. Undefined: the API's default. docs/guides/models.md describes what each provider
 * sends.
 */
export interface ModelSettings {
  /** From 0 to 2, or to 1 for models of Anthropic; some models refuse it. Not together with `thinking`. */
  readonly temperature?: number
  readonly thinking?: Thinking
  readonly effort?: Effort
}

/** The tools that a model may use, or must use, in each reply. */
export type ToolChoice = (
  | { readonly type: 'auto' | 'any' | 'none' }
  | { readonly type: 'tool'; readonly name: string }
) & {
  /** True when a reply may have at most one tool use. */
  readonly isSingle?: true
}

/** Options of a client for the replies of a model, in addition to the settings. */
export interface ReplyOptions {
  /** Default: `auto`. */
  readonly toolChoice?: ToolChoice
  /** Texts at which the model stops writing. Default: none. */
  readonly stopSequences?: readonly string[]
}

/**
 * Replaces settings by those of an agent or a run. Models refuse a temperature while they think, so each of the two
 * replaces the other.
 */
export function overrideSettings<Base extends ModelSettings>(base: Base, overrides: ModelSettings): Base {
  const { temperature, thinking, effort } = overrides
  const { temperature: baseTemperature, thinking: baseThinking, ...rest } = base
  const keepsTemperature = baseTemperature !== undefined && !isThinking(thinking)
  const keepsThinking = baseThinking !== undefined && !(temperature !== undefined && isThinking(baseThinking))
  const merged = {
    ...rest,
    ...(keepsTemperature && { temperature: baseTemperature }),
    ...(keepsThinking && { thinking: baseThinking }),
    ...defined({ temperature, thinking, effort }),
  }
  // Both members are optional in every Base.
  return merged as unknown as Base
}

/** Returns why every model refuses these settings together; undefined when some model may accept them. */
export function problemOfSettings(
  { temperature, thinking }: ModelSettings,
  maxTokens = Number.POSITIVE_INFINITY,
): string | undefined {
  if (!isThinking(thinking)) return undefined
  if (temperature !== undefined) return 'temperature and thinking exclude each other'
  if (thinking === 'adaptive' || thinking.budgetTokens < maxTokens) return undefined
  return `thinking.budgetTokens is ${thinking.budgetTokens}; it must be less than model.maxTokens (${maxTokens})`
}

function isThinking(thinking: Thinking | undefined): thinking is Exclude<Thinking, 'off'> {
  return thinking !== undefined && thinking !== 'off'
}
