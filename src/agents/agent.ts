import type { z } from 'zod'
import type { Budget } from '../common/runs/budget.js'
import type { JsonObject } from '../common/json/json.js'
import type { Limits } from '../common/runs/limits.js'
import type { Effort, ModelSettings, ServerTools, Thinking } from '../common/runs/model-settings.js'

/** Argument of {@link defineAgent}. */
export interface AgentDefinition<Output extends z.ZodType = z.ZodType> {
  /** Runs name the agent by it. Letters, digits, `_` and `-`, at most 64 characters. */
  readonly name: string
  /** Instructions for the model, in place of `model.instructions` of the configuration. */
  readonly instructions: string
  /** The only tools of the agent, by definition or by name. Default: all tools of the configuration. */
  readonly tools?: readonly (string | { readonly name: string })[]
  /** `PROVIDER/MODEL`, or a model of Anthropic; a list has fallbacks. Default: as configured. */
  readonly model?: string | readonly string[]
  /** From 0 to 2. Default: as configured. Not together with `thinking`. */
  readonly temperature?: number
  /** `'adaptive'`, `'off'` or `{ budgetTokens: 4096 }`. Default: as configured. */
  readonly thinking?: Thinking
  /** From `'low'` to `'max'`. Default: as configured. */
  readonly effort?: Effort
  /** Tools of the model's server, by provider. Default: as configured; `{}`: none. */
  readonly serverTools?: ServerTools
  /** Schema of the answer. Default: the answer is text. */
  readonly output?: Output
  /** Limits that differ from those of the configuration. */
  readonly limits?: Partial<Limits>
  /** What a run may use before it pauses or ends. Amounts here replace those of the configuration. */
  readonly budget?: Budget
}

/** A checked agent, from {@link defineAgent}. Immutable. */
export interface Agent<Output extends z.ZodType = z.ZodType> {
  readonly name: string
  readonly instructions: string
  /** Undefined: all tools of the configuration. */
  readonly tools: readonly (string | { readonly name: string })[] | undefined
  readonly model: string | readonly string[] | undefined
  readonly settings: ModelSettings
  readonly serverTools: ServerTools | undefined
  readonly limits: Partial<Limits>
  readonly budget: Budget
  readonly output: Output | undefined
  /** JSON Schema of what the model submits; undefined without an output schema. */
  readonly outputSchema: JsonObject | undefined
}

const marker: unique symbol = Symbol.for('durable-ptc.agent')

/** Freezes an agent, and marks it for {@link isAgent} of any copy of this package. */
export function sealAgent<A extends Agent>(agent: A): A {
  return Object.freeze(Object.defineProperty(agent, marker, { value: true }))
}

export function isAgent(value: unknown): value is Agent {
  return typeof value === 'object' && value !== null && marker in value
}
