import { defined } from '../../common/defined.js'
import { createLazyAiSdkProvider } from '../../models/ai-sdk/options.js'
import {
  type AnthropicProviderOptions,
  createLazyAnthropicProvider,
  createLazyBedrockProvider,
} from '../../models/anthropic/options.js'
import type { ProviderTimeouts } from '../../models/http/endpoint-options.js'
import { defaultProvider } from '../../models/facts/model-name.js'
import type { ModelProvider } from '../../models/provider.js'
import { ModelProviders } from '../../models/providers.js'
import { withScriptedModel } from '../../models/scripted-model.js'
import type { ResolvedConfig } from '../../config/parse-config.js'
import { type AnthropicProviderOption, isModelProvider, type ProviderOption } from '../../models/options/providers.js'

export interface ProviderOptions {
  readonly config: Pick<ResolvedConfig, 'providers' | 'models' | 'idleTimeoutMs' | 'runConfig'>
  /** Address and key of Anthropic's API. Default: from the configuration, or else from environment variables. */
  readonly modelApi?: Pick<AnthropicProviderOptions, 'apiKey' | 'baseURL'> | undefined
  /** Address of a local Messages API that replies to requests for the scripted model. Default: none. */
  readonly scriptedModelUrl?: string | undefined
}

/** @throws PtcError CONFIG_INVALID */
export function createProviders({ config, modelApi, scriptedModelUrl }: ProviderOptions): ModelProviders {
  const timeouts = { idleTimeoutMs: config.idleTimeoutMs, timeoutMs: config.runConfig.timeouts.modelMs }
  const entries = Object.entries(config.providers).map(([name, option]) => {
    const provider = createProvider(name, option, modelApi, timeouts)
    if (scriptedModelUrl === undefined || name !== defaultProvider) return [name, provider] as const
    // The server requires a key, and accepts any key.
    const scripted = createLazyAnthropicProvider({ ...timeouts, apiKey: 'no-api-key', baseURL: scriptedModelUrl })
    return [name, withScriptedModel(provider, scripted)] as const
  })
  return new ModelProviders(Object.fromEntries(entries), config.models)
}

function createProvider(
  name: string,
  option: ProviderOption,
  modelApi: ProviderOptions['modelApi'],
  timeouts: ProviderTimeouts,
): ModelProvider {
  if (isModelProvider(option)) return option
  const { kind, baseURL } = option
  const endpoint = { ...timeouts, ...defined({ baseURL }) }
  switch (kind) {
    case 'anthropic':
      return createLazyAnthropicProvider({ ...endpoint, ...keyOf(option), ...modelApi })
    case 'openai':
    case 'ai-sdk': {
      const { kind: _, apiKey, ...settings } = option
      return createLazyAiSdkProvider({ name, ...settings, ...endpoint, ...keyOf({ apiKey }) })
    }
    case 'bedrock':
      return createLazyBedrockProvider({ ...endpoint, ...defined({ region: option.region }) })
  }
}

function keyOf({ apiKey }: Pick<AnthropicProviderOption, 'apiKey'>): { readonly keyVariable?: string } {
  return apiKey ? { keyVariable: apiKey.environment } : {}
}
