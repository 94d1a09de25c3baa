/*
 * Built-in tools: tools that a configuration gets by a call of a function, such as `tools: [webFetch()]`.
 *
 * Owns: `think`, `subagent`, `web_fetch` (web-fetch/) and `web_search` (web-search/).
 * Boundary: each function returns a `Tool` of `defineTool`. Nothing else knows that a tool is built in. A configuration
 * loads only definitions and schemas; the packages that a tool needs are loaded by its first call.
 *
 * Invariants:
 * 1. What a web server sends is untrusted. It is bounded before it is read, and its text is marked as untrusted in the
 *    description of the tool.
 * 2. Each connection of `web_fetch` goes to an address that was judged for this connection, whatever a URL, a resolver
 *    or a redirect says. A program or a model can't change which addresses are allowed.
 * 3. A refusal is a ToolError and is final. A failure of the network is any other error, and the retry policy of the
 *    tool repeats it.
 */

export { think, type ThinkOptions } from './think.js'
export { subagent, type SubagentOptions } from './subagent.js'
export { webFetch } from './web-fetch/web-fetch.js'
export type { WebFetchOptions } from './web-fetch/options.js'
export { webSearch, type WebSearchOptions } from './web-search/web-search.js'
export { braveSearch, type BraveSearchOptions } from './web-search/brave-search.js'
export { scriptedSearch } from './web-search/scripted-search.js'
export type { SearchOptions, SearchProvider, SearchResult } from './web-search/search-provider.js'
