import { type Agents, subagents, toolsNamedBy } from '../agents/index.js'
import { messageOf, PtcError } from '../common/errors.js'
import type { Redact } from '../common/text/redact.js'
import { type LiveRegistry, liveRegistry } from '../tools/live-registry.js'
import { createRegistry, type ToolRegistry } from '../tools/registry.js'
import { isToolSource, type ListFor, listTools, type ToolSource } from '../tools/sources/tool-source.js'
import type { ToolLog } from '../tools/tool-context.js'
import { requireTool, type Tool } from '../tools/tool.js'

/** The tools and agents of a configuration. Its sources of tools have not listed theirs. */
export interface ConfiguredTools {
  /** The tools of the configuration and of its sub-agents, without those of its sources. */
  readonly known: ToolRegistry
  readonly sources: readonly ToolSource[]
  /**
   * Lists the tools of the sources.
   *
   * @throws PtcError TOOL_SOURCE_FAILED, and errors of {@link configuredTools}
   */
  open(log?: ToolLog, options?: Pick<ListFor, 'callsTools'>): Promise<OpenTools>
}

/** All tools and agents of a configuration. The registry changes when those of a source do. */
export interface OpenTools {
  readonly registry: ToolRegistry
  readonly agents: Agents
  /** Closes the sources of tools. Idempotent. */
  readonly close: () => Promise<void>
}

interface ToolOptions {
  readonly tools: readonly unknown[]
  readonly agents: readonly unknown[]
  readonly redact: Redact
  /** Checks tools and agents against the rest of the configuration. */
  readonly check: (registry: ToolRegistry) => Agents
  /** Names of tools in other options. */
  readonly named: readonly string[]
}

/**
 * Checks everything now, unless the configuration has sources of tools. Then tools, agents and credentials are checked
 * when the sources have listed theirs.
 *
 * @throws PtcError CONFIG_INVALID, TOOL_DUPLICATE, and errors of `check`
 */
export function configuredTools({ tools, agents, redact, check, named }: ToolOptions): ConfiguredTools {
  const entries = tools.map((entry, index) => toEntry(entry, `tools[${index}]`))
  const sources = entries.filter(isToolSource)
  const toRegistry = (all: readonly Tool[]) => createRegistry([...all, ...subagents(agents, all)], redact)
  const known = toRegistry(entries.filter((entry): entry is Tool => !isToolSource(entry)))
  const checked = sources.length === 0 ? check(known) : undefined
  return {
    known,
    sources,
    async open(log, { callsTools = true } = {}) {
      if (checked) return { registry: known, agents: checked, close: () => Promise.resolve() }
      let live: LiveRegistry | undefined
      let latest: readonly Tool[] | undefined
      const replace = (changed: readonly Tool[]): void => {
        latest = changed
        if (!live) return
        try {
          const next = toRegistry(changed)
          check(next)
          live.replace(next)
        } catch (thrown) {
          log?.warn(`new runs keep the tools of before, because the changed ones are refused: ${messageOf(thrown)}`)
        }
      }
      const namedTools = [...toolsNamedBy(agents), ...named]
      const listed = await listTools(entries, log, { callsTools, namedTools, onChanged: replace })
      try {
        live = liveRegistry(toRegistry(latest ?? listed.tools))
        return { registry: live.registry, agents: check(live.registry), close: listed.close }
      } catch (thrown) {
        await listed.close().catch(() => undefined)
        throw thrown
      }
    },
  }
}

function toEntry(entry: unknown, where: string): Tool | ToolSource {
  if (!isToolSource(entry)) return requireTool(entry, where)
  if (typeof entry.name === 'string' && entry.name !== '') return entry
  throw new PtcError('CONFIG_INVALID', `${where} is a source of tools without a name`)
}
