import { checkEndpoint, type ProviderTimeouts } from '../http/endpoint-options.js'
import { lazyProvider } from '../http/lazy-provider.js'
import type { ModelProvider } from '../provider.js'

export interface AiSdkProviderOptions extends Partial<ProviderTimeouts> {
  /** Name of the provider in the configuration. */
  readonly name: string
  /** The package of the vendor, such as `@ai-sdk/google`. Default: that of OpenAI and compatible servers. */
  readonly package?: string | undefined
  /** The API of OpenAI and of compatible servers. Most of these have only chat completions, the default. */
  readonly api?: OpenAIApi | undefined
  /** Default: that of the package; of OpenAI `OPENAI_BASE_URL`, or else its API. */
  readonly baseURL?: string | undefined
  /**
   * The environment variable with the key. Default: `OPENAI_API_KEY`; with a `baseURL` none, so that no other server
   * gets the key of OpenAI. A `package` finds its own.
   */
  readonly keyVariable?: string | undefined
  /** Other settings of the package. */
  readonly settings?: Readonly<Record<string, unknown>> | undefined
  /** The system prompt describes the tools, too. Default: {@link isOwnServer}. */
  readonly toolsInSystemPrompt?: boolean | undefined
}

export type OpenAIApi = 'chat' | 'responses'

/**
 * Whether the user runs the server, which an `http:` URL indicates. Its model may have a template that ignores `tools`;
 * models of vendors do not.
 */
export function isOwnServer(baseURL: string | undefined): boolean {
  return baseURL !== undefined && /^http:/i.test(baseURL)
}

/**
 * Like `createAiSdkProvider`, but its first call loads the package.
 *
 * @throws PtcError CONFIG_INVALID for invalid options
 */
export function createLazyAiSdkProvider(options: AiSdkProviderOptions): ModelProvider {
  checkOptions(options)
  return lazyProvider(async () => (await import('./provider.js')).createAiSdkProvider(options))
}

/** @throws PtcError CONFIG_INVALID */
export function checkOptions(options: AiSdkProviderOptions): void {
  checkEndpoint(options, options.package === undefined ? process.env['OPENAI_BASE_URL'] : undefined)
}
