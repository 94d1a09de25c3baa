import { z } from 'zod'
import { type Effort, type ServerTools, type Thinking } from '../../common/agent/model-settings.js'
import type { Duration } from '../../common/text/duration.js'
import { durationOption } from '../../platform/option-schemas.js'
import { modelSettingFields } from './model-settings.js'

/** The model of runs without another one. */
export interface ModelOption {
  /**
   * `PROVIDER/MODEL`, such as `openai/gpt-5.6`, or a model of Anthropic. A list: when the first one fails, the next
   * one answers. Default `claude-sonnet-5-5`. docs/guides/models.md#fallbacks
   */
  readonly name?: string | readonly string[]
  /** Maximum output tokens of one reply. Default 8,192. */
  readonly maxTokens?: number
  /**
   * Tokens of the context window, for all models of the configuration and its runs. Default: the window of a known
   * model of Anthropic; the window of other models is unknown. docs/guides/context.md describes it.
   */
  readonly contextWindow?: number
  /**
   * With more tools than this, each request has one line of each tool that code can call, and the model searches
   * their documentation. Default 40. docs/guides/context.md describes it.
   */
  readonly documentedTools?: number
  /**
   * From 0 to 2, or to 1 for models of Anthropic; some models accept none. Not together with `thinking`. Default: the
   * API's.
   */
  readonly temperature?: number
  /**
   * How much the model thinks before it replies: `'adaptive'` (as it decides), `'off'`, or `{ budgetTokens: 4096 }`,
   * at least 1,024 and less than `maxTokens`. Default: the API's.
   */
  readonly thinking?: Thinking
  /** How much work the model puts into a reply: `'low'` to `'max'`. Default: the API's. */
  readonly effort?: Effort
  /**
   * Tools that the model's server executes itself, in the form of its API, by provider: `{ anthropic: [{ type:
   * 'web_search_20260318', name: 'web_search' }] }`. Default: none.
   */
  readonly serverTools?: ServerTools
  /** Instructions for the model of runs without an agent, before the engine's own system prompt. Default: none. */
  readonly instructions?: string
  /** A model call fails when the API sends nothing for this long. Default 60 seconds. */
  readonly idleTimeout?: Duration
}

export const modelOption = z
  .strictObject({
    name: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]).optional(),
    maxTokens: z.int().min(1).default(8_192),
    contextWindow: z.int().min(1_000, 'is a number of tokens; at least 1,000').optional(),
    documentedTools: z.int().min(0).default(40),
    ...modelSettingFields,
    serverTools: z.unknown().optional(),
    instructions: z.string().optional(),
    idleTimeout: durationOption('60s'),
  } satisfies { readonly [Key in keyof ModelOption]-?: z.ZodType })
  .prefault({})
