/*
 * Sources of tools: the configuration, sub-agents, the client of a run.
 *
 * Owns: how tools are listed, how a run records them, and how a worker finds them again (tool-set.ts).
 * Boundary: a source makes tools, in its own file or folder. Registry, documentation, activities and workflow see only
 * tools and their `ToolConfig`, and never which source a tool is from.
 *
 * Invariants:
 * 1. A tool says how its calls are executed: `run` in an activity, `deferred` from outside, `remote` by another worker,
 *    or by the client of the run. A workflow chooses the executor by these members of the recorded `ToolConfig`.
 * 2. A source lists the same tools in each process that has the same configuration or the same record of a run. The
 *    digest of the registry tells a difference.
 */
import { isTool, type Tool } from '../tool.js'

/** What lists tools. Each tool calls what the source has. */
export interface ToolSource {
  /** @throws PtcError CONFIG_INVALID, TOOL_NAME_INVALID */
  list(): readonly Tool[]
}

/** The source of a configuration: its tools, and those of the sources among them. */
export function configuredTools(entries: readonly unknown[]): ToolSource {
  // `createRegistry` checks that each of the others is a tool.
  return { list: () => entries.flatMap((entry) => (isToolSource(entry) ? entry.list() : [entry as Tool])) }
}

function isToolSource(value: unknown): value is ToolSource {
  const hasList = typeof value === 'object' && value !== null && 'list' in value && typeof value.list === 'function'
  return hasList && !isTool(value)
}
