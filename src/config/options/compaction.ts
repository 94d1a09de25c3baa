import { z } from 'zod'
import { PtcError } from '../../common/errors.js'
import type { CompactionConfig, ModelConfig } from '../../common/run/run-config.js'
import { type ProviderOption, providersWith } from '../../models/options/providers.js'

export const compactionOption = z
  .union([
    z.literal(false),
    z.strictObject({
      threshold: z
        .number()
        .min(0.2, 'is a share of the context window; at least 0.2')
        .max(0.95, 'is a share of the context window; at most 0.95')
        .default(0.8),
      provider: z.boolean().default(false),
    }),
  ])
  .prefault({})

/**
 * The part of the option that a run records.
 *
 * @param model of the configuration
 * @throws PtcError CONFIG_INVALID when the provider of a model has no context management
 */
export function compactionConfig(
  { threshold, provider }: Exclude<z.output<typeof compactionOption>, false>,
  model: Pick<ModelConfig, 'provider' | 'name' | 'fallbacks'>,
  providers: Readonly<Record<string, ProviderOption>>,
): CompactionConfig {
  if (!provider) return { threshold }
  const managing = providersWith('managesContext', providers)
  const other = [model, ...(model.fallbacks ?? [])].find((each) => !managing.includes(each.provider))
  if (other === undefined) return { threshold, provider }
  const problem = `compaction.provider: provider ${other.provider} of model ${other.name} has no context management`
  throw new PtcError('CONFIG_INVALID', problem, {
    hint: `Leave \`provider\` out, or choose a model of ${managing.join(' or ')}.`,
  })
}
