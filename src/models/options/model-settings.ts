import { z } from 'zod'
import { efforts, type ModelSettings, problemOfSettings, type Thinking } from '../../common/agent/model-settings.js'
import { defined } from '../../common/defined.js'

const thinking: z.ZodType<Thinking> = z.union(
  [z.enum(['adaptive', 'off']), z.strictObject({ budgetTokens: z.int().min(1_024) })],
  'must be "adaptive", "off" or { budgetTokens: 4096 }',
)

/** The settings of a model in a configuration, an agent, or the options of a run. */
export const modelSettingFields = {
  temperature: z.number().min(0).max(2).optional(),
  thinking: thinking.optional(),
  effort: z.enum(efforts).optional(),
} as const satisfies { readonly [Key in keyof ModelSettings]-?: z.ZodType }

const schema = z.object(modelSettingFields)

/**
 * Returns the settings among the members of a value.
 *
 * @param fail throws the error with this message
 * @param maxTokens maximum tokens of a reply; undefined: unknown
 */
export function parseModelSettings(
  value: unknown,
  fail: (problem: string) => never,
  maxTokens?: number,
): ModelSettings {
  const { error, data } = schema.safeParse(value)
  if (error) return fail(z.prettifyError(error))
  const { temperature, thinking: mode, effort } = data
  const settings: ModelSettings = defined({ temperature, thinking: mode, effort })
  const problem = problemOfSettings(settings, maxTokens)
  return problem === undefined ? settings : fail(problem)
}
