import type { ClientOptions } from '@anthropic-ai/sdk'
import { PtcError } from '../../common/errors.js'
import { checkEndpoint, type ProviderTimeouts } from '../http/endpoint-options.js'
import { importOptional, lazyProvider } from '../http/lazy-provider.js'
import type { ModelProvider } from '../provider.js'

export interface AnthropicProviderOptions extends Partial<ProviderTimeouts> {
  /** Default: from the SDK (`ANTHROPIC_API_KEY`, `ANTHROPIC_AUTH_TOKEN`, a profile of the Anthropic CLI). */
  readonly apiKey?: string
  /** The environment variable that has the key. Default: `apiKey`. */
  readonly keyVariable?: string
  /** Default: `ANTHROPIC_BASE_URL`, or else Anthropic's API. */
  readonly baseURL?: string
  /** Logger of the SDK. Default: the console, warnings only (`ANTHROPIC_LOG` changes the level). */
  readonly logger?: NonNullable<ClientOptions['logger']>
}

export interface BedrockProviderOptions extends Partial<ProviderTimeouts> {
  /** Default: `AWS_REGION`, or else us-east-1. */
  readonly region?: string
  /** Default: `ANTHROPIC_BEDROCK_BASE_URL`, or else the endpoint of the region. */
  readonly baseURL?: string
}

/** @throws PtcError CONFIG_INVALID */
export function checkApiKey(apiKey: string | undefined): void {
  if (apiKey?.trim() !== '') return
  throw new PtcError('CONFIG_INVALID', 'apiKey must not be empty; leave it out to use ANTHROPIC_API_KEY.')
}

/**
 * Like `createAnthropicProvider`, but its first call loads the SDK.
 *
 * @throws PtcError CONFIG_INVALID for invalid options
 */
export function createLazyAnthropicProvider(options: AnthropicProviderOptions): ModelProvider {
  checkEndpoint(options, process.env['ANTHROPIC_BASE_URL'])
  checkApiKey(options.apiKey)
  const provider = lazyProvider(async () => (await import('./provider.js')).createAnthropicProvider(options))
  return { ...provider, hostsCode: true, managesContext: true }
}

/**
 * Like `createBedrockProvider`, but its first call loads the SDK, which may not be installed.
 *
 * @throws PtcError CONFIG_INVALID for invalid options
 */
export function createLazyBedrockProvider(options: BedrockProviderOptions): ModelProvider {
  checkEndpoint(options, process.env['ANTHROPIC_BEDROCK_BASE_URL'])
  return lazyProvider(async () => {
    const loaded = await importOptional('@anthropic-ai/bedrock-sdk', () => import('./bedrock-provider.js'))
    return loaded.createBedrockProvider(options)
  })
}
