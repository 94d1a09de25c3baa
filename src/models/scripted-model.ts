import { scriptedModelName } from '../common/names.js'
import type { ModelProvider, ModelRequest } from './provider.js'

/**
 * Sends requests for the scripted model to its own provider, and all others to the real provider. So a run that began
 * with the real model never gets a scripted reply.
 */
export function withScriptedModel(real: ModelProvider, scripted: ModelProvider): ModelProvider {
  const providerOf = ({ model }: ModelRequest): ModelProvider => (model === scriptedModelName ? scripted : real)
  return {
    ...(real.hostsCode && { hostsCode: true }),
    ...(real.managesContext && { managesContext: true }),
    load: async () => real.load?.(),
    turn: (request, options) => providerOf(request).turn(request, options),
    countTokens: async (request, options) => providerOf(request).countTokens?.(request, options),
    close: async () => {
      await Promise.all([real.close(), scripted.close()])
    },
  }
}
