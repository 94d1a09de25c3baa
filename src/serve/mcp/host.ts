import type { PtcClient } from '../../client/index.js'
import type { ValueReader } from '../../client/run-tree/index.js'
import type { Effect } from '../../common/calls/calls.js'
import type { JsonObject } from '../../common/json/json.js'

/** What an MCP server needs. */
export interface McpHost {
  readonly ptc: PtcClient
  /** Reads large results of calls. */
  readonly values: ValueReader
  /** The tools of the configuration. Listed at the first request, and then kept. */
  readonly tools: () => Promise<OfferedTools>
  /** Receives thrown errors that are not the fault of a client. */
  readonly onError: (thrown: unknown) => void
}

/** What the runs of a configuration offer to a model. */
export interface OfferedTools {
  /**
   * The tools that a model calls: `execute_code`, whose description has the tools that code can call; perhaps
   * `search_tools`; and the direct tools.
   */
  readonly tools: readonly OfferedTool[]
  /** Names of the agents. */
  readonly agents: readonly string[]
  /** Maximum characters of a text for a model. */
  readonly outputCharacters: number
  /** Documentation of the tools that code can call, by their names or by keywords. */
  readonly search: (query: string) => string
}

export interface OfferedTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonObject
  /** Undefined for a tool of the engine. */
  readonly outputSchema: JsonObject | undefined
  /** Undefined for a tool of the engine. */
  readonly effect: Effect | undefined
}
