import type { PtcClient } from '../../client/index.js'
import type { ValueReader } from '../../client/run-tree/index.js'
import type { EnvironmentLimits } from '../../languages/index.js'
import type { ToolRegistry } from '../../tools/registry.js'

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

/** The tools of a configuration, and what the tool `execute_code` tells of its environment. */
export interface OfferedTools {
  readonly registry: ToolRegistry
  /** Names of the agents of the configuration. */
  readonly agents: readonly string[]
  readonly limits: EnvironmentLimits
  /** The sandbox may have more than the standard library. */
  readonly hasPackages: boolean
  /** With more tools than this, a host searches their documentation. */
  readonly documentedTools: number
}
