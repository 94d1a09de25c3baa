import type { AnthropicProviderOptions } from '../../models/anthropic/options.js'
import { createLazyAnthropicProvider } from '../../models/anthropic/lazy-provider.js'
import type { ModelProvider } from '../../models/provider.js'
import { withScriptedModel } from '../../models/scripted-model.js'
import type { ResolvedConfig } from '../config/parse-config.js'

export interface ProviderOptions {
  readonly config: ResolvedConfig
  /** Where the model is, and its key. Default: from the environment variables of the provider. */
  readonly modelApi?: Pick<AnthropicProviderOptions, 'apiKey' | 'baseURL'> | undefined
  /** Address of a local Messages API that replies to requests for the scripted model. Default: there is none. */
  readonly scriptedModelUrl?: string | undefined
}

/** @throws PtcError CONFIG_INVALID */
export function createProvider({ config, modelApi, scriptedModelUrl }: ProviderOptions): ModelProvider {
  const timeouts = { idleTimeoutMs: config.idleTimeoutMs, timeoutMs: config.runConfig.timeouts.modelMs }
  const provider = createLazyAnthropicProvider({ ...modelApi, ...timeouts })
  if (scriptedModelUrl === undefined) return provider
  // The server wants a key, and accepts any.
  const scripted = createLazyAnthropicProvider({ ...timeouts, apiKey: 'scripted', baseURL: scriptedModelUrl })
  return withScriptedModel(provider, scripted)
}
