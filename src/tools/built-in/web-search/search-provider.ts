import { z } from 'zod'

/** A page that a search has found. */
export interface SearchResult {
  readonly title: string
  readonly url: string
  readonly snippet: string
}

/** Second argument of a search. */
export interface SearchOptions {
  /** Maximum number of results. */
  readonly count: number
  /** Aborted when the call is cancelled or times out. */
  readonly signal: AbortSignal
  /** The value of a credential that the provider declares. */
  readonly credential: (name: string) => string
}

/** A service that searches the web, for `webSearch`. */
export interface SearchProvider {
  /** For messages, such as `brave`. */
  readonly name: string
  /** Names of the credentials of the configuration that it needs. Default: none. */
  readonly credentials?: readonly string[]
  /**
   * Searches. A ToolError is final; any other error is retried by the policy of the tool, such as a refusal because of
   * too many requests.
   */
  search(query: string, options: SearchOptions): Promise<readonly SearchResult[]> | readonly SearchResult[]
}

export const searchProvider = z.custom<SearchProvider>(
  (value) => typeof value === 'object' && value !== null && 'search' in value && typeof value.search === 'function',
  'must be a provider, such as braveSearch({ apiKey })',
)
