import type { SearchProvider, SearchResult } from './search-provider.js'

/**
 * A provider for tests: it always finds the same, or what a function finds for a query.
 */
export function scriptedSearch(
  results: readonly SearchResult[] | ((query: string) => readonly SearchResult[]),
): SearchProvider {
  return {
    name: 'scripted',
    search: (query) => (typeof results === 'function' ? results(query) : results),
  }
}
