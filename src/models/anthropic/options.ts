import type { ClientOptions } from '@anthropic-ai/sdk'
import { PtcError } from '../../common/errors.js'
import type { ProviderTimeouts } from '../http/endpoint-options.js'

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

/** @throws PtcError CONFIG_INVALID */
export function checkApiKey(apiKey: string | undefined): void {
  if (apiKey?.trim() !== '') return
  throw new PtcError('CONFIG_INVALID', 'apiKey must not be empty; leave it out to use ANTHROPIC_API_KEY.')
}
