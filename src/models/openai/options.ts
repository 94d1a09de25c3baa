import { checkBaseURL, type ProviderTimeouts, resolveTimeouts } from '../http/endpoint-options.js'

/** The APIs of OpenAI. Most compatible servers have only chat completions. */
export type OpenAIApi = 'chat' | 'responses'

export interface OpenAIProviderOptions extends Partial<ProviderTimeouts> {
  /** Name of the provider in the configuration. Default `openai`. */
  readonly name?: string
  /** Default: `chat`. */
  readonly api?: OpenAIApi | undefined
  /** Default: `OPENAI_BASE_URL`, or else OpenAI's API. */
  readonly baseURL?: string | undefined
  /**
   * The environment variable with the key. Default: `OPENAI_API_KEY`; with a `baseURL` none, so that no other server
   * gets the key of OpenAI.
   */
  readonly keyVariable?: string | undefined
  /** The system prompt describes the tools, too. Default: {@link isOwnServer}. */
  readonly toolsInSystemPrompt?: boolean | undefined
}

/**
 * Whether the user runs the server, which an `http:` URL indicates. Its model may have a template that ignores `tools`;
 * models of vendors do not.
 */
export function isOwnServer(baseURL: string | undefined): boolean {
  return baseURL !== undefined && /^http:/i.test(baseURL)
}

/** @throws PtcError CONFIG_INVALID */
export function checkOptions(options: OpenAIProviderOptions): void {
  const baseURL = options.baseURL ?? process.env['OPENAI_BASE_URL']
  resolveTimeouts(options)
  if (baseURL !== undefined && baseURL !== '') checkBaseURL(baseURL)
}
